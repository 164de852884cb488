"""Log loss, accuracy, calibration error and fitting time on public tables: `make bench PARTS=quality`.

`python benchmarks/quality.py [table …]` measures some of them. It needs the data sets in the folder named by
SUFFICE_DATA. Every model is fitted afresh in 5 folds, families and weights included. Choices were made on the
tables named in DEVELOP; the others only confirm them.
"""

import sys
import time
import warnings
from importlib.util import find_spec

import numpy as np
from scipy.stats import rankdata
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler

import suffice
from tables import FOLDER, TARGETS, table

DEVELOP = {
    "adult",
    "bank_marketing",
    "credit_approval",
    "german_credit",
    "heart_cleveland",
    "letter",
    "pima_na",
    "satimage",
    "segment",
    "spambase",
    "titanic1309",
    "wdbc",
    "weather_aus",
}
NUMBERS, TEXT = make_column_selector(dtype_include="number"), make_column_selector(dtype_exclude="number")
WEIGHED = "EvidenceClassifier()"
MEASURES = ("log loss", "accuracy", "calibration error", "seconds to fit")


def encoded(model, *, scaled: bool):
    """Numbers with the median for gaps, categories one-hot."""
    numbers = make_pipeline(
        SimpleImputer(strategy="median"), StandardScaler() if scaled else FunctionTransformer()
    )
    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((numbers, NUMBERS), (levels, TEXT)), model)


def boosting():
    """Boosted trees with their defaults, which read gaps and categories themselves."""
    levels = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=255)
    columns = make_column_transformer(
        (levels, TEXT), remainder="passthrough", verbose_feature_names_out=False
    )
    columns.set_output(transform="pandas")
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0))


def explainable_boosting():
    """The explainable boosting machine of `interpret`, which reads gaps and categories itself."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(outer_bags=4, interactions=0, random_state=0, n_jobs=1)


MODELS = {
    WEIGHED: suffice.EvidenceClassifier,
    "product of families": lambda: suffice.BayesClassifier(evidence_weight=1.0),
    "BayesClassifier()": suffice.BayesClassifier,
    "GaussianNB": lambda: encoded(GaussianNB(), scaled=False),
    "shrunk LDA": lambda: encoded(LinearDiscriminantAnalysis("lsqr", shrinkage="auto"), scaled=True),
    "one covariance": lambda: encoded(suffice.GaussianDiscriminant("shared", shrinkage="oas"), scaled=True),
    "own covariances": lambda: encoded(suffice.GaussianDiscriminant("full", shrinkage="oas"), scaled=True),
    "logistic regression": lambda: encoded(LogisticRegression(max_iter=2000), scaled=True),
    "gradient boosting": boosting,
}
if find_spec("interpret") is not None:
    MODELS["explainable boosting"] = explainable_boosting


def held_out(make, X, y, splits):
    """The posteriors of all rows by models that were fitted without them, and the median seconds to fit."""
    classes, seconds = np.unique(y), []
    posteriors = np.zeros((len(y), len(classes)))
    for train, test in splits:
        start = time.perf_counter()
        model = make().fit(X.iloc[train], y[train])
        seconds.append(time.perf_counter() - start)
        places = np.searchsorted(classes, np.asarray(model.classes_, dtype=classes.dtype))
        posteriors[np.ix_(test, places)] = model.predict_proba(X.iloc[test])
    return posteriors, float(np.median(seconds))


def measured(name):
    """The log loss of the class shares, and the measures of each model, (models, measures)."""
    X, y = table(name)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    found = []
    for make in MODELS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            posteriors, seconds = held_out(make, X, y, splits)
            report = suffice.Evaluation.of(y, posteriors)
        found.append([report.log_loss, report.accuracy, report.ece, seconds])
    return float(-shares @ np.log(shares)), np.array(found)


def show(rows):
    """Medians, mean ranks by log loss, and how often the weighed evidence is ahead."""
    shares = np.array([one for one, _ in rows])
    found = np.array([models for _, models in rows])
    losses = found[:, :, 0]
    ranks = rankdata(losses, axis=1).mean(axis=0)
    ahead = np.mean(losses[:, :1] < losses, axis=0)
    worst = np.max(losses - shares[:, np.newaxis], axis=0)
    head = [
        f"median of {len(rows)}",
        *MEASURES,
        "mean rank",
        f"{WEIGHED} is ahead on",
        "at most above shares",
    ]
    print(f"| {' | '.join(head)} |")
    print("|---" * len(head) + "|")
    for k, name in enumerate(MODELS):
        middle = [f"{one:.3f}" for one in np.median(found[:, k], axis=0)]
        often = "" if name == WEIGHED else f"{ahead[k]:.0%}"
        print(f"| {' | '.join([name, *middle, f'{ranks[k]:.2f}', often, f'{max(worst[k], 0.0):.3f}'])} |")


def quality(names=()):
    """Measure all tables or some, print the results, and return them for each table and model."""
    if FOLDER is None:
        print("SUFFICE_DATA does not name the folder of public data sets.")
        return {}
    print(f"log loss\n| table | rows | class shares | {' | '.join(MODELS)} |\n|{'---|' * (3 + len(MODELS))}")
    rows = {}
    for name in names or TARGETS:
        shares, found = rows[name] = measured(name)
        losses = " | ".join(f"{one[0]:.3f}" for one in found)
        kind = "" if name in DEVELOP else " (confirms)"
        print(f"| {name}{kind} | {len(table(name)[1]):,} | {shares:.3f} | {losses} |", flush=True)
    for part, some in (
        ("develop", [name for name in rows if name in DEVELOP]),
        ("confirm", [name for name in rows if name not in DEVELOP]),
        ("all", list(rows)),
    ):
        if some:
            print(f"\n{part}")
            show([rows[name] for name in some])
    return {
        name: {
            model: dict(zip(MEASURES, one, strict=True))
            for model, one in zip(MODELS, found.tolist(), strict=True)
        }
        | {"class shares": {"log loss": shares}}
        for name, (shares, found) in rows.items()
    }


def main() -> int:
    return int(not quality(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
