"""Columns that are selected from sums are those that refits would select, with the scores of refits."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn import discriminant_analysis, naive_bayes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, OnePassSearchCV, OnePassSelector, dropin, families

N_ROWS = 120
RNG = np.random.default_rng(5)
Y = np.array(["a", "b", "c"])[RNG.integers(3, size=N_ROWS)]
CODES = np.searchsorted(["a", "b", "c"], Y)
WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 3.0], N_ROWS)
NUMBERS = RNG.normal(size=(N_ROWS, 5)) + CODES[:, np.newaxis] * np.array([1.0, 0.0, 0.5, 0.0, 0.2])
NUMBERS[:, 3] += NUMBERS[:, 0]
COUNTS = RNG.poisson(1.0 + CODES[:, np.newaxis] * np.array([0.1, 1.0, 0.0, 0.3]), (N_ROWS, 4))


def with_gaps(X, share=0.1):
    X = np.array(X, dtype=np.float64)
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    return X


MIXED = pd.DataFrame(
    {
        "size": with_gaps(NUMBERS)[:, 0],
        "wait": np.exp(NUMBERS[:, 1]),
        "visits": COUNTS[:, 1],
        "colour": np.where(RNG.random(N_ROWS) < 0.5, np.array(["red", "blue", None])[CODES % 2], "green"),
        "text": [" ".join(RNG.choice(["good", "bad", "film", "fun"], 3 + k % 2)) for k in CODES],
        "flag": COUNTS[:, 3] > 1,
        "empty": [None] * N_ROWS,
        "other": with_gaps(NUMBERS)[:, 3],
    }
)
MODELS = {
    "mixed": (BayesClassifier(evidence_weight=1.0), MIXED),
    "chosen families": (
        BayesClassifier(
            {"wait": families.Gamma(), "visits": "categorical", "colour": None}, evidence_weight=1.0
        ),
        MIXED,
    ),
    "blocks": (
        BayesClassifier(
            {("size", "other", "wait"): families.MultivariateNormal("shared"), "text": None},
            evidence_weight=1.0,
        ),
        MIXED,
    ),
    "predictive": (
        BayesClassifier(posterior="predictive", priors="uniform", evidence_weight=1.0),
        MIXED.drop(columns="text"),
    ),
    "impossible cells": (
        BayesClassifier(families.Categorical(alpha=0.0), priors=[0.5, 0.5, 0.0]),
        with_gaps(COUNTS),
    ),
    "certain cells": (BayesClassifier(families.Normal(alpha=0.0)), np.where(COUNTS > 2, 3.0, COUNTS % 2)),
    "positions": (BayesClassifier({3: families.Histogram(), -1: None}), with_gaps(NUMBERS)),
    "steps": (BayesClassifier(families.Steps()), with_gaps(NUMBERS)),
    "hurdle": (BayesClassifier(families.Hurdle(families.Normal())), np.maximum(NUMBERS, 0.0)),
    "words that ignore priors": (
        BayesClassifier({"text": families.Words(event="complement")}),
        MIXED[["text", "size", "flag"]],
    ),
    "sparse numbers": (BayesClassifier(families.Normal()), sparse.csr_array(COUNTS)),
    "shared": (GaussianDiscriminant(), NUMBERS),
    "full, gaps by em": (GaussianDiscriminant("full", shrinkage=0.1), with_gaps(NUMBERS)),
    "full, gaps by pairs": (GaussianDiscriminant("full", missing="pairwise"), with_gaps(NUMBERS)),
    "groups": (GaussianDiscriminant([["a", "b"], ["c"]], shrinkage="oas"), NUMBERS),
    "ledoit wolf": (GaussianDiscriminant("full", shrinkage="ledoit_wolf", ddof=1), NUMBERS),
    "t": (GaussianDiscriminant(posterior="predictive"), NUMBERS),
    "GaussianNB": (dropin.GaussianNB(var_smoothing=0.1), NUMBERS * [1.0, 9.0, 1.0, 1.0, 1.0]),
    "BernoulliNB": (dropin.BernoulliNB(binarize=1.0), COUNTS),
    "CategoricalNB": (dropin.CategoricalNB(min_categories=20), COUNTS),
    "LDA": (dropin.LinearDiscriminantAnalysis("lsqr", shrinkage="auto"), NUMBERS),
    "QDA": (dropin.QuadraticDiscriminantAnalysis(), NUMBERS),
    "MultinomialNB": (dropin.MultinomialNB(), COUNTS),
    "sparse counts": (BayesClassifier(), sparse.csr_array(COUNTS)),
    "regression": (suffice.LogisticRegression(), NUMBERS[:, :3]),
    "theirs": (naive_bayes.GaussianNB(), NUMBERS),
}
FOLDS = KFold(4, shuffle=True, random_state=0)
NO_WEIGHTS_OF_ZERO = ("QDA", "LDA", "regression", "theirs")


def columns_of(X, positions):
    return X.iloc[:, positions] if isinstance(X, pd.DataFrame) else X[:, positions]


def names_of(X):
    return list(X.columns) if isinstance(X, pd.DataFrame) else list(range(X.shape[1]))


def model_of(model, X, positions, weights=None):
    """The model, unfitted, for a table of some columns; its families are those that all rows have."""
    if type(model) is not BayesClassifier:
        return clone(model)
    schema = clone(model).fit(X, Y, weights).schema_
    some = type(schema)(tuple(schema.columns[j] for j in positions), schema.named)
    return clone(model).set_params(families=some)


def refitted_scores(model, X, positions, weights):
    part, one = columns_of(X, positions), model_of(model, X, positions, weights)
    return suffice.cross_val_scores(one, part, Y, cv=FOLDS, sample_weight=weights, refit_schema=True)


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", MODELS)
def test_every_step_scores_as_a_refit_to_its_columns_does(name, direction):
    model, X = MODELS[name]
    weights = None if name in NO_WEIGHTS_OF_ZERO else WEIGHTS
    selector = OnePassSelector(model, direction=direction, cv=FOLDS).fit(X, Y, weights)
    history, names = selector.history_, names_of(X)
    if direction == "forward":
        selected = []
    else:
        assert history["column"][0] is None
        schema = getattr(selector.best_estimator_, "schema_", None)
        whole = [] if schema is None else clone(model).fit(X, Y, weights).schema_
        left_out = [column.name for column in whole if column.family is None]
        selected = [j for j, name in enumerate(names) if name not in left_out]
    for step, column in enumerate(history["column"]):
        if column is not None:
            selected = sorted({*selected} ^ {names.index(column)})
        assert history["n_features"][step] == len(selected)
        found = [history[f"split{split}_test_score"][step] for split in range(4)]
        np.testing.assert_allclose(found, refitted_scores(model, X, selected, weights), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(history["mean_test_score"][step], np.mean(found), rtol=1e-12)
        np.testing.assert_allclose(history["std_test_score"][step], np.std(found), rtol=1e-9, atol=1e-12)
    assert selector.get_support(indices=True).tolist() == selected
    assert selector.best_score_ == history["mean_test_score"][-1]
    best = model_of(model, X, selected, weights).fit(columns_of(X, selected), Y, weights)
    np.testing.assert_allclose(
        selector.predict_proba(X), best.predict_proba(columns_of(X, selected)), atol=1e-9
    )


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", ["mixed", "blocks", "full, gaps by em", "GaussianNB", "sparse counts"])
def test_each_step_is_the_best_of_all_that_could_be_taken(name, direction):
    model, X = MODELS[name]
    selector = OnePassSelector(model, direction=direction, cv=FOLDS, n_features_to_select=2).fit(X, Y)
    names, forward = names_of(X), direction == "forward"
    free = [j for j, c in enumerate(clone(model).fit(X, Y).schema_) if c.family is not None]
    selected = set() if forward else set(free)
    for column in selector.history_["column"]:
        if column is None:
            continue
        could = {j: sorted(selected ^ {j}) for j in free if (j in selected) != forward}
        means = {j: refitted_scores(model, X, columns, None).mean() for j, columns in could.items()}
        taken = names.index(column)
        np.testing.assert_allclose(means[taken], max(means.values()), rtol=0, atol=1e-9)
        selected ^= {taken}
    assert len(selected) == selector.n_features_ == 2


TWINS = {
    "GaussianNB": (dropin.GaussianNB(), naive_bayes.GaussianNB()),
    "LDA": (dropin.LinearDiscriminantAnalysis(), discriminant_analysis.LinearDiscriminantAnalysis()),
    "QDA": (dropin.QuadraticDiscriminantAnalysis(), discriminant_analysis.QuadraticDiscriminantAnalysis()),
}


@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy", "roc_auc_ovr"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", TWINS)
def test_the_columns_are_those_that_scikit_learn_selects(name, direction, scoring):
    ours, theirs = TWINS[name]
    settings = {"direction": direction, "n_features_to_select": 3, "cv": FOLDS, "scoring": scoring}
    found = OnePassSelector(ours, **settings).fit(NUMBERS, Y)
    expected = SequentialFeatureSelector(theirs, **settings).fit(NUMBERS, Y)
    assert found.get_support().tolist() == expected.get_support().tolist()
    np.testing.assert_array_equal(found.transform(NUMBERS), expected.transform(NUMBERS))


def test_rows_are_read_once_for_their_sums_and_once_to_be_scored(monkeypatch):
    read = []
    take = suffice.tables.table.Table.take
    monkeypatch.setattr(
        suffice.tables.table.Table, "take", lambda self, rows: read.append(len(rows)) or take(self, rows)
    )
    for model in (BayesClassifier(), GaussianDiscriminant("full"), dropin.GaussianNB()):
        read.clear()
        OnePassSelector(model, direction="backward", n_features_to_select=1, cv=FOLDS).fit(NUMBERS, Y)
        assert sum(read) == 2 * N_ROWS


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_selection_stops_when_the_score_improves_no_more(direction):
    model = GaussianDiscriminant("full", shrinkage=0.2)
    selector = OnePassSelector(model, direction=direction, cv=KFold(6)).fit(NUMBERS, Y)
    scores = selector.history_["mean_test_score"]
    assert (np.diff(scores) > 0).all() if direction == "forward" else (np.diff(scores) >= 0).all()
    onward = selector.n_features_ + (1 if direction == "forward" else -1)
    further = clone(selector).set_params(n_features_to_select=onward).fit(NUMBERS, Y)
    np.testing.assert_array_equal(further.history_["mean_test_score"][:-1], scores)
    gain = further.history_["mean_test_score"][-1] - scores[-1]
    assert gain <= 0
    lenient = clone(selector).set_params(tol=2 * gain if direction == "forward" else -2 * gain)
    changed = lenient.fit(NUMBERS, Y).n_features_ - selector.n_features_
    assert changed > 0 if direction == "forward" else changed < 0


def test_a_useless_column_is_left_out_and_the_score_says_so():
    noise = np.column_stack([NUMBERS[:, 0], np.random.default_rng(3).normal(size=(N_ROWS, 6))])
    forward = OnePassSelector(BayesClassifier(), cv=FOLDS).fit(noise, Y)
    assert forward.support_[0]
    assert forward.n_features_ < 7
    whole = suffice.cross_val_scores(BayesClassifier(), noise, Y, cv=FOLDS).mean()
    assert forward.best_score_ > whole
    nested = suffice.cross_val_scores(forward, noise, Y, cv=FOLDS)
    assert nested.mean() < forward.best_score_  # what was selected on the same rows looks better than it is
    np.testing.assert_allclose(
        nested, cross_val_score(forward, noise, Y, cv=FOLDS, scoring="neg_log_loss"), rtol=0, atol=1e-9
    )


CONTAINERS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "record batch": lambda frame: pa.RecordBatch.from_pandas(frame, preserve_index=False),
    "objects": lambda frame: frame.to_numpy(dtype=object),
    "rows": lambda frame: frame.to_numpy(dtype=object).tolist(),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_any_container_is_selected_from_and_keeps_its_kind(kind):
    frame = MIXED[["size", "colour", "flag", "visits"]]
    families_of_all = BayesClassifier().fit(frame, Y).schema_
    X = CONTAINERS[kind](frame)
    selector = OnePassSelector(BayesClassifier(families_of_all), cv=FOLDS, n_features_to_select=2).fit(X, Y)
    plain = OnePassSelector(BayesClassifier(), cv=FOLDS, n_features_to_select=2).fit(frame, Y)
    assert selector.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(
        selector.history_["mean_test_score"], plain.history_["mean_test_score"], rtol=1e-12
    )
    np.testing.assert_allclose(selector.predict_proba(X), plain.predict_proba(frame), rtol=1e-12)
    assert selector.predict(X).tolist() == plain.predict(frame).tolist()
    part = selector.transform(X)
    assert isinstance(part, np.ndarray if kind == "rows" else type(X))
    cells = pd.DataFrame(part if kind not in ("polars", "pyarrow", "record batch") else part.to_pandas())
    expected = frame.loc[:, plain.support_]
    assert cells.shape == expected.shape
    for j in range(2):
        assert cells.iloc[:, j].dropna().tolist() == expected.iloc[:, j].dropna().tolist()
    if kind in ("pandas", "polars", "pyarrow"):
        assert selector.get_feature_names_out().tolist() == list(expected.columns)


def test_a_selector_is_an_estimator_like_any_other():
    selector = OnePassSelector(GaussianDiscriminant(), cv=3)
    before = dict(vars(selector.estimator))
    with pytest.raises(NotFittedError):
        selector.predict(NUMBERS)
    with pytest.raises(NotFittedError):
        selector.transform(NUMBERS)
    selector.fit(NUMBERS, Y)
    assert vars(selector.estimator) == before
    assert not hasattr(clone(selector), "support_")
    again = pickle.loads(pickle.dumps(selector))  # noqa: S301  our own bytes
    np.testing.assert_array_equal(again.predict_proba(NUMBERS), selector.predict_proba(NUMBERS))
    assert selector.classes_.tolist() == ["a", "b", "c"]
    assert selector.score(NUMBERS, Y) == np.mean(selector.predict(NUMBERS) == Y)
    assert selector.get_feature_names_out(list("vwxyz")).tolist() == [
        name for name, chosen in zip("vwxyz", selector.support_, strict=True) if chosen
    ]
    piped = make_pipeline(clone(selector), dropin.LinearDiscriminantAnalysis()).fit(NUMBERS, Y)
    assert piped[-1].n_features_in_ == selector.n_features_
    with pytest.raises(ValueError, match="features"):
        selector.predict(NUMBERS[:, :2])
    named = OnePassSelector(BayesClassifier(), cv=3).fit(MIXED, Y)
    with pytest.raises(ValueError, match="now missing"):
        named.transform(MIXED.drop(columns="size"))


def test_the_selected_model_holds_what_the_user_chose_for_its_columns():
    chosen = {
        ("size", "other"): families.MultivariateNormal("shared"),
        "wait": families.Gamma(),
        "text": None,
    }
    selector = OnePassSelector(
        BayesClassifier(chosen), direction="backward", n_features_to_select=3, cv=FOLDS
    )
    schema = selector.fit(MIXED, Y).best_estimator_.schema_
    whole = BayesClassifier(chosen).fit(MIXED, Y).schema_
    assert [c.name for c in schema] == selector.get_feature_names_out().tolist()
    assert all(column.family == whole[column.name].family for column in schema)


def test_groups_and_splits_that_overlap_are_scored_as_in_cross_validation():
    groups = np.arange(N_ROWS) // 10
    for cv, of_rows in ((GroupKFold(4), groups), (ShuffleSplit(3, random_state=0), None)):
        selector = OnePassSelector(BayesClassifier(), cv=cv).fit(NUMBERS, Y, groups=of_rows)
        alone = suffice.cross_val_scores(
            BayesClassifier(), selector.transform(NUMBERS), Y, cv=cv, groups=of_rows
        )
        np.testing.assert_allclose(selector.best_score_, alone.mean(), rtol=0, atol=1e-9)


def test_a_class_without_training_rows_has_the_posterior_zero():
    y = np.repeat(["a", "b", "c"], N_ROWS // 3)
    selector = OnePassSelector(BayesClassifier(), cv=KFold(3)).fit(NUMBERS, y)
    alone = suffice.cross_val_scores(BayesClassifier(), selector.transform(NUMBERS), y, cv=KFold(3))
    np.testing.assert_allclose(selector.best_score_, alone.mean(), rtol=1e-9)


def test_a_scorer_of_the_user_sees_fitted_models_and_the_selected_columns():
    seen = set()

    def accuracy(model, X, y):
        seen.add(X.shape[1])
        return np.mean(model.predict(X) == y)

    settings = {"cv": FOLDS, "n_features_to_select": 2}
    own = OnePassSelector(dropin.GaussianNB(), scoring=accuracy, **settings).fit(NUMBERS, Y)
    named = OnePassSelector(dropin.GaussianNB(), scoring="accuracy", **settings).fit(NUMBERS, Y)
    assert seen == {1, 2}
    assert own.support_.tolist() == named.support_.tolist()
    np.testing.assert_allclose(own.best_score_, named.best_score_, rtol=1e-12)


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"direction": "sideways"}, "direction must be one of"),
        ({"n_features_to_select": 0}, "from 1 to 5"),
        ({"n_features_to_select": 6}, "from 1 to 5"),
        ({"n_features_to_select": True}, "from 1 to 5"),
        ({"n_features_to_select": "all"}, "from 1 to 5"),
        ({"tol": np.nan}, "tol must be a finite number"),
        ({"scoring": ["accuracy"]}, "one scorer"),
        ({"scoring": lambda *_: np.nan}, "is not a number"),
        ({"cv": 1000}, "there are 120"),
        ({"estimator": BayesClassifier}, "got the class BayesClassifier"),
    ],
)
def test_what_cannot_be_selected_is_refused(changed, message):
    settings = {"estimator": BayesClassifier(), "cv": 3, **changed}
    with pytest.raises((TypeError, ValueError), match=message):
        OnePassSelector(**settings).fit(NUMBERS, Y)


def test_a_single_class_leaves_nothing_to_select_by():
    with pytest.raises(ValueError, match="only one class"):
        OnePassSelector(BayesClassifier(), cv=3).fit(NUMBERS, np.ones(N_ROWS))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil"])
def test_sparse_columns_are_selected_in_any_form(form):
    X = sparse.csr_array(COUNTS).asformat(form)
    selector = OnePassSelector(BayesClassifier(families.Normal()), cv=FOLDS, n_features_to_select=2).fit(X, Y)
    dense = OnePassSelector(BayesClassifier(families.Normal()), cv=FOLDS, n_features_to_select=2).fit(
        COUNTS, Y
    )
    assert selector.support_.tolist() == dense.support_.tolist()
    np.testing.assert_array_equal(selector.transform(X).toarray(), COUNTS[:, dense.support_])


def test_documents_are_one_column_and_cannot_be_selected_from():
    with pytest.raises(ValueError, match="Expected a 2D table"):
        OnePassSelector(suffice.TextClassifier(), cv=3).fit(MIXED["text"].tolist(), Y)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@pytest.mark.parametrize("model", [BayesClassifier(), LogisticRegression()], ids=["Bayes", "scikit-learn"])
def test_y_may_be_the_name_of_a_column(make, model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    columns = {"a": rng.normal(size=80) + 2 * y, "b": rng.normal(size=80)}
    labels = np.array(["no", "yes"])[y]
    whole = make({**columns, "target": labels})
    named = OnePassSelector(model, n_features_to_select=1, cv=3).fit(whole, "target")
    apart = OnePassSelector(model, n_features_to_select=1, cv=3).fit(make(columns), labels)
    assert named.support_.tolist() == apart.support_.tolist() == [True, False]
    assert named.best_score_ == apart.best_score_
    grid = {"priors": [None, "uniform"]} if isinstance(model, BayesClassifier) else {"C": [1.0]}
    search = OnePassSearchCV(model, grid, cv=3).fit(whole, "target")
    assert search.best_score_ == OnePassSearchCV(model, grid, cv=3).fit(make(columns), labels).best_score_
