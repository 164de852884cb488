"""A model of some columns is the model that never saw the others."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, OnePassSearchCV, OnePassSelector, families
from suffice.tables.table import Table

N_ROWS = 90
RNG = np.random.default_rng(2)
Y = np.array(["a", "b", "c"])[np.arange(N_ROWS) % 3]
NUMBERS = RNG.normal(size=(N_ROWS, 4)) + (Y == "b")[:, np.newaxis] * [1.0, 0.5, 0.0, 0.0]
GAPS = np.where(RNG.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
FRAME = pd.DataFrame(
    {
        "size": GAPS[:, 0],
        "colour": RNG.choice(["red", "blue", None], N_ROWS),
        "visits": RNG.poisson(2.0, N_ROWS),
        "wait": np.exp(NUMBERS[:, 1]),
        "broken": np.where(np.arange(N_ROWS) == 3, np.inf, 1.5),
    }
)
CASES = {
    "inferred": (BayesClassifier(), FRAME, ["visits", "size"]),
    "polars": (BayesClassifier(), pl.from_pandas(FRAME), ["colour", "wait"]),
    "a dict of families": (
        BayesClassifier({("size", "wait", "broken"): families.MultivariateNormal(), "visits": None}),
        FRAME,
        ["wait", "visits", "size", "colour"],
    ),
    "one family": (BayesClassifier(families.Normal()), FRAME, ["wait", "visits"]),
    "an array": (BayesClassifier(), NUMBERS, [0, -1]),
    "positions of an index": (BayesClassifier(), NUMBERS, np.array([2, 1])),
    "objects": (BayesClassifier(), FRAME.to_numpy(dtype=object), [1, 3]),
    "sparse counts": (BayesClassifier(), sparse.csr_array(RNG.poisson(1.0, (N_ROWS, 5))), [1, 2, 4]),
    "discriminant": (GaussianDiscriminant("full"), FRAME, ["size", "wait"]),
    "discriminant of an array": (GaussianDiscriminant(shrinkage="ledoit_wolf"), NUMBERS, [3, 0, 1]),
    "groups": (GaussianDiscriminant([["a"], ["b", "c"]], missing="pairwise"), GAPS, [1, 2]),
}


def some(X, columns):
    if isinstance(X, pl.DataFrame):
        return X[:, [name for name in X.columns if name in columns]]
    if isinstance(X, pd.DataFrame):
        return X[[name for name in X.columns if name in columns]]
    return X[:, np.sort(np.arange(X.shape[1])[np.asarray(columns)])]


def of_some(model):
    """The model for a table of these columns alone."""
    if isinstance(getattr(model, "families", None), dict):
        chosen = {("size", "wait"): families.MultivariateNormal(), "visits": None}
        return clone(model).set_params(families=chosen)
    return clone(model)


@pytest.mark.parametrize("name", CASES)
def test_a_model_of_some_columns_never_saw_the_others(name):
    model, X, columns = CASES[name]
    whole = clone(model).set_params(columns=columns).fit(X, Y)
    alone = of_some(model).fit(some(X, columns), Y)
    np.testing.assert_allclose(
        whole.predict_proba(X), alone.predict_proba(some(X, columns)), rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(whole.log_likelihood_, alone.log_likelihood_, rtol=1e-9)
    assert whole.n_parameters_ == alone.n_parameters_
    used = [c for c in whole.schema_ if c.family is not None]
    assert [c.family for c in used] == [c.family for c in alone.schema_ if c.family is not None]
    left_out = {c.reason for c in whole.schema_ if c.family is None} - {"left out by families="}
    assert left_out == {"left out by columns="}
    assert whole.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("name", CASES)
def test_batches_saving_and_statistics_keep_the_columns(name):
    model, X, columns = CASES[name]
    model = clone(model).set_params(columns=columns).fit(X, Y)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    loaded = suffice.load(file)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert list(loaded.columns) == list(columns)
    again = clone(model).fit_statistics(model.statistics_)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12)
    first, rest = np.arange(N_ROWS) < 60, np.arange(N_ROWS) >= 60
    rows = X.filter if isinstance(X, pl.DataFrame) else lambda mask: X[mask]
    batches = clone(model).set_params(**({"families": model.schema_} if hasattr(model, "families") else {}))
    batches.fit(rows(first), Y[first]).partial_fit(rows(rest), Y[rest])
    np.testing.assert_allclose(batches.predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-9)


def test_statistics_of_all_columns_are_enough_for_a_model_of_some():
    for model, X, columns in (
        (GaussianDiscriminant("full"), GAPS, [0, 3]),
        (BayesClassifier(evidence_weight=1.0), FRAME.drop(columns="broken"), ["visits", "colour"]),
    ):
        statistics = clone(model).fit(X, Y).statistics_
        found = clone(model).set_params(columns=columns).fit_statistics(statistics)
        alone = clone(model).set_params(columns=columns).fit(X, Y)
        np.testing.assert_allclose(found.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-9)


def test_a_discriminant_describes_the_columns_it_uses():
    model = GaussianDiscriminant(columns=["wait", "size"]).fit(FRAME, Y)
    alone = GaussianDiscriminant().fit(FRAME[["size", "wait"]], Y)
    for name in ("means_", "covariances_", "coef_", "intercept_", "scalings_"):
        np.testing.assert_allclose(getattr(model, name), getattr(alone, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.transform(FRAME), alone.transform(FRAME[["size", "wait"]]), atol=1e-9)
    boundary = model.boundary("a", "b")
    assert boundary.columns == ("size", "wait")
    np.testing.assert_allclose(boundary(FRAME), alone.boundary("a", "b")(FRAME[["size", "wait"]]), atol=1e-9)


@pytest.mark.parametrize(
    "model, grid",
    [
        (
            GaussianDiscriminant(),
            {"columns": [None, [0], [1, 3], [0, 1, 2]], "covariance": ["full", "shared"]},
        ),
        (BayesClassifier(), {"columns": [None, [0], [1, 3], [0, 1, 2]], "priors": [None, "uniform"]}),
    ],
)
def test_a_search_over_columns_reads_each_row_once_and_finds_what_refits_find(monkeypatch, model, grid):
    read, take = [], Table.take
    monkeypatch.setattr(Table, "take", lambda self, rows: read.append(len(rows)) or take(self, rows))
    results = OnePassSearchCV(model, grid, cv=5).fit(GAPS, Y).cv_results_
    assert sum(read) == N_ROWS
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        columns = params["columns"]
        alone = clone(model).set_params(**{**params, "columns": None})
        part = GAPS if columns is None else GAPS[:, columns]
        expected = suffice.cross_val_scores(alone, part, Y, cv=5, refit_schema=True)
        np.testing.assert_allclose(score, expected.mean(), rtol=0, atol=1e-9)


def test_a_selector_chooses_among_the_columns_of_its_model():
    selector = OnePassSelector(BayesClassifier(columns=["size", "wait", "colour"]), cv=3).fit(FRAME, Y)
    assert set(selector.get_feature_names_out()) <= {"size", "wait", "colour"}
    assert selector.best_estimator_.n_features_in_ == selector.n_features_


@pytest.mark.parametrize("model", [BayesClassifier(), GaussianDiscriminant()])
@pytest.mark.parametrize(
    "columns, message",
    [
        (["siz"], r"columns= names the column 'siz', but the columns are .*; did you mean 'size'\?$"),
        (["no such"], r"columns= names the column 'no such', but the columns are .*\]\.$"),
        ([], "must name some columns, each once"),
        (["size", 0], "must name some columns, each once"),
        ("size", "must be None, a list of columns or a mask, got 'size'"),
        ([True, False], "mask of length 2, but there are [0-9]+ columns"),
        ([False] * FRAME.shape[1], "must name some columns, each once"),
        (["size", True], "mixes True or False with other values"),
        (3, "must be None, a list of columns or a mask, got 3"),
    ],
)
def test_columns_that_are_not_there_are_refused(model, columns, message):
    with pytest.raises((TypeError, ValueError), match=message):
        clone(model).set_params(columns=columns).fit(FRAME, Y)


@pytest.mark.parametrize("model", [BayesClassifier(), GaussianDiscriminant()])
def test_a_mask_chooses_the_columns_where_it_is_true(model, tmp_path):
    mask = [False, True] + [False] * (NUMBERS.shape[1] - 3) + [True]
    chosen = [1, NUMBERS.shape[1] - 1]
    expected = clone(model).set_params(columns=chosen).fit(NUMBERS, Y).predict_proba(NUMBERS)
    numbered = pd.DataFrame(NUMBERS, columns=range(NUMBERS.shape[1])[::-1])
    for given, X in ((mask, NUMBERS), (np.array(mask), NUMBERS), (tuple(mask), numbered)):
        found = clone(model).set_params(columns=given).fit(X, Y)
        np.testing.assert_array_equal(found.predict_proba(X), expected)
        found.save(tmp_path / "model")
        np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict_proba(X), expected)


def test_a_mask_and_positions_that_equal_it_are_two_settings_of_a_search():
    X = NUMBERS[:, :2]
    grid = {"columns": [[True, False], [1, 0], [0]]}
    search = OnePassSearchCV(BayesClassifier(), grid, cv=3).fit(X, Y)
    mask, both, first = search.cv_results_["mean_test_score"]
    assert mask == first
    assert mask != both


def test_files_of_models_of_all_columns_are_as_before():
    for model in (BayesClassifier(), GaussianDiscriminant()):
        settings = model.fit(NUMBERS, Y)._to_fields()["settings"]
        assert not {"columns", "posterior"} & set(settings)
