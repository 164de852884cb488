"""Log loss, accuracy and calibration error on public tables: `python benchmarks/quality.py [table …]`.

Needs the data sets in the folder named by SUFFICE_DATA. Every model is fitted afresh in 5 folds, families and
the weight of their evidence included. Choices were made on the tables named in DEVELOP; the others only
confirm them.
"""

import sys
import warnings

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
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


MODELS = {
    "product of families": lambda: suffice.BayesClassifier(evidence_weight=1.0),
    "BayesClassifier()": suffice.BayesClassifier,
    "GaussianNB": lambda: encoded(GaussianNB(), scaled=False),
    "logistic regression": lambda: encoded(LogisticRegression(max_iter=2000), scaled=True),
    "gradient boosting": boosting,
}


def measured(name):
    """The log loss of the class shares, and of each model log loss, accuracy and calibration error."""
    X, y = table(name)
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    shares = np.unique(y, return_counts=True)[1] / len(y)
    found = []
    for make in MODELS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = suffice.evaluate(make(), X, y, cv=splits, refit_schema=True)
        found.append([report.log_loss, report.accuracy, report.ece])
    return float(-shares @ np.log(shares)), np.array(found)


def show(rows):
    """Medians, and on how many tables each model is better than the class shares."""
    shares = np.array([one for one, _ in rows])
    found = np.array([models for _, models in rows])
    for k, name in enumerate(MODELS):
        losses, accuracy, ece = np.median(found[:, k], axis=0)
        better = np.mean(found[:, k, 0] < shares)
        worse = np.max(found[:, k, 0] - shares)
        print(
            f"  {name:20} log loss {losses:.3f}, accuracy {accuracy:.3f}, calibration error {ece:.3f}; "
            f"better than the class shares on {better:.0%}, at most {max(worse, 0.0):.3f} nats worse"
        )


def main() -> int:
    if FOLDER is None:
        print("SUFFICE_DATA does not name the folder of public data sets.")
        return 1
    names = sys.argv[1:] or list(TARGETS)
    print(f"| table | rows | class shares | {' | '.join(MODELS)} |\n|{'---|' * (3 + len(MODELS))}")
    rows = {}
    for name in names:
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
            print(f"{part}: {len(some)} tables, medians")
            show([rows[name] for name in some])
    return 0


if __name__ == "__main__":
    sys.exit(main())
