"""Discriminants of fewer rows than columns: found from the rows, and equal to those from the sums."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import discriminant_analysis

from suffice import load, summarize
from suffice.dropin import LinearDiscriminantAnalysis
from suffice.dropin.few_rows import FewRowsGaussian
from suffice.factors.gaussian import rows as kept_rows
from suffice.families import MultivariateNormal


def table(seed, rows, d, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(rows)), rows)
    X = rng.normal(size=(len(y), d)) + 0.5 * rng.normal(size=(len(rows), d))[y]
    return X * np.geomspace(0.01, 100.0, d) + offset, y


def fitted(X, y, *, few, **settings):
    """The model found from the rows, or as if they were many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_rows, "MANY_COLUMNS", 1 if few else 10**9)
        weights = settings.pop("weights", None)
        model = LinearDiscriminantAnalysis(**settings).fit(X, y, weights)
    assert isinstance(model._factor(), FewRowsGaussian) == few
    return model


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.lists(st.integers(2, 5), min_size=2, max_size=4),
    more_columns=st.integers(0, 30),
    offset=st.sampled_from([0.0, -3.0, 1e4]),
    constant=st.booleans(),
    weighted=st.booleans(),
    uniform=st.booleans(),
)
def test_few_rows_give_the_discriminant_of_their_sums(
    seed, rows, more_columns, offset, constant, weighted, uniform
):
    X, y = table(seed, rows, 4 * sum(rows) + more_columns, offset)
    rng = np.random.default_rng(seed)
    if constant:
        X[:, 0], X[:, 1] = 2.5, np.arange(len(rows))[y]
    chosen = {
        "weights": rng.integers(1, 4, len(y)).astype(float) if weighted else None,
        "priors": np.full(len(rows), 1 / len(rows)) if uniform else None,
        "store_covariance": True,
    }
    one, other = (fitted(X, y, few=few, **chosen) for few in (True, False))
    asked = np.vstack([X, X[::-1] * 0.9])
    scores = other.decision_function(asked)
    size = np.abs(scores).max()
    np.testing.assert_allclose(one.decision_function(asked), scores, rtol=1e-8, atol=1e-8 * size)
    np.testing.assert_allclose(one.predict_proba(asked), other.predict_proba(asked), rtol=0, atol=1e-8)
    rounding = 1e-15 * np.abs(X).max()  # of means that cancel
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-12, atol=rounding)
    np.testing.assert_allclose(one.xbar_, other.xbar_, rtol=1e-12, atol=rounding)
    np.testing.assert_allclose(
        one.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-8, atol=1e-10
    )
    projected = other.transform(asked)
    np.testing.assert_allclose(
        np.abs(one.transform(asked)), np.abs(projected), rtol=1e-7, atol=1e-7 * np.abs(projected).max()
    )
    np.testing.assert_allclose(one.covariance_, other.covariance_, rtol=1e-9, atol=1e-9)
    gappy = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    np.testing.assert_allclose(one.predict_proba(gappy), other.predict_proba(gappy), rtol=0, atol=1e-8)
    assert one.n_parameters_ == other.n_parameters_
    assert one.regularized_ == other.regularized_


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.lists(st.integers(2, 5), min_size=2, max_size=4),
    more_columns=st.integers(0, 30),
)
def test_few_rows_give_scikit_learns_discriminant(seed, rows, more_columns):
    X, y = table(seed, rows, 4 * sum(rows) + more_columns)
    ours = fitted(X, y, few=True)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.xbar_, theirs.xbar_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8, atol=1e-10
    )
    here, there = ours.decision_function(X), theirs.decision_function(X)
    np.testing.assert_allclose(here, there, rtol=1e-7, atol=1e-8 * np.abs(there).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_model_of_few_rows_is_loaded_to_the_last_bit(tmp_path, weighted):
    X, y = table(1, [9, 12, 8], 300)
    weights = np.random.default_rng(2).random(len(y)) + 0.5 if weighted else np.ones(len(y))
    gappy = X.copy()
    gappy[::2, 5] = np.nan
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y, weights)
    assert isinstance(model._factor(), FewRowsGaussian)
    model.save(tmp_path / "model.suffice")
    twin = load(tmp_path / "model.suffice")
    for rows in (X, gappy):
        assert twin.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
        assert twin.transform(rows).tobytes() == model.transform(rows).tobytes()
    for name in ("coef_", "intercept_", "means_", "xbar_", "scalings_", "covariance_"):
        assert getattr(twin, name).tobytes() == getattr(model, name).tobytes()
    twin.save(tmp_path / "twin.suffice")
    assert (tmp_path / "twin.suffice").read_bytes() == (tmp_path / "model.suffice").read_bytes()
    for one in (model, twin):
        one.partial_fit(X[:4] + 1.0, y[:4]).forget(X[5:8], y[5:8], weights[5:8])
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_few_rows_in_batches_merged_and_forgotten_give_one_fit():
    X, y = table(3, [20, 15, 12], 300)
    whole = LinearDiscriminantAnalysis().fit(X, y)
    batches = LinearDiscriminantAnalysis()
    for part in (slice(0, None, 3), slice(1, None, 3), slice(2, None, 3)):
        batches.partial_fit(X[part], y[part])
    merged = LinearDiscriminantAnalysis().fit(X[::2], y[::2])
    merged.merge(LinearDiscriminantAnalysis().fit(X[1::2], y[1::2]))
    more = X[:9] + 1.0
    forgetful = LinearDiscriminantAnalysis().fit(np.vstack([X, more]), np.r_[y, y[:9]]).forget(more, y[:9])
    for model in (batches, merged, forgetful):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-8)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7, atol=1e-9 * np.abs(whole.coef_).max())


@pytest.mark.parametrize("shrinkage", [None, "ledoit_wolf"])
def test_sums_of_few_rows_add_subtract_and_scale_like_matrices(shrinkage):
    X, y = table(4, [20, 15, 12], 60)
    X = np.round(8 * X) / 8  # sums are exact
    family = MultivariateNormal(shrinkage=shrinkage)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_rows, "MANY_COLUMNS", 1)
        one, two = (summarize(X[at], y[at], families=family) for at in (slice(0, 10), slice(10, 22)))
        patch.setattr(kept_rows, "MANY_COLUMNS", 10**9)
        both, first, second = (
            summarize(X[at], y[at], families=family) for at in (slice(0, 22), slice(0, 10), slice(10, 22))
        )
    assert {type(cell) for cell in one.totals[0].cells.values()} == {kept_rows.RowSums}
    assert one == first
    assert one + two == both
    assert both - two == one
    assert 3.0 * two == 3.0 * second
    assert one - one == first - first


def test_few_rows_take_memory_in_proportion_to_the_rows(peak_memory):
    n, d = 60, 3000
    X, y = table(5, [30, 30], d)
    assert peak_memory(lambda: LinearDiscriminantAnalysis().fit(X, y).predict(X)) < 20 * 8 * n * d < 8 * d * d


def test_a_model_of_few_rows_x():
    X, y = table(6, [9, 12], 300)
    model = LinearDiscriminantAnalysis().fit(X, y)
    twin = copy.deepcopy(model)
    gappy = np.where(np.arange(300) == 3, np.nan, X)
    assert twin.predict_proba(gappy).tobytes() == model.predict_proba(gappy).tobytes()


def test_few_rows_of_huge_and_tiny_numbers_are_told_apart():
    X, y = table(7, [9, 12], 300)
    expected = LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = LinearDiscriminantAnalysis().fit(X * 1e150, y).predict_proba(X * 1e150)
    np.testing.assert_allclose(scaled, expected, rtol=0, atol=1e-9)


SHRUNK = [
    {"solver": solver, "shrinkage": shrinkage}
    for solver in ("lsqr", "eigen")
    for shrinkage in (0.3, 1.0, "auto")
]


@pytest.mark.parametrize("chosen", SHRUNK, ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_few_rows_are_shrunk_as_their_covariances_are(chosen, offset):
    X, y = table(3, [9, 12, 8], 130, offset)
    X[:, 0], X[:, 1], X[y == 1, 2] = 2.5, y, 0.25
    weights = np.random.default_rng(4).integers(1, 4, len(y)).astype(float)
    for chosen_weights in (None, weights):
        settings = {**chosen, "priors": [0.2, 0.5, 0.3], "weights": chosen_weights}
        one, other = (fitted(X, y, few=few, **settings) for few in (True, False))
        asked = np.vstack([X, X[::-1] * 0.9])
        scores = other.decision_function(asked)
        np.testing.assert_allclose(
            one.decision_function(asked), scores, rtol=1e-7, atol=1e-8 * np.abs(scores).max()
        )
        np.testing.assert_allclose(one.covariance_, other.covariance_, rtol=1e-9, atol=1e-9)
        gappy = np.where(np.random.default_rng(5).random(X.shape) < 0.1, np.nan, X)
        np.testing.assert_allclose(one.predict_proba(gappy), other.predict_proba(gappy), rtol=0, atol=1e-8)
        if chosen["solver"] == "eigen":
            projected = np.abs(other.transform(asked))
            np.testing.assert_allclose(
                np.abs(one.transform(asked)), projected, rtol=1e-6, atol=1e-6 * projected.max()
            )
            np.testing.assert_allclose(
                one.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-8
            )
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(**chosen).fit(X, y)
    ours = fitted(X, y, few=True, **chosen)
    expected = theirs.decision_function(X)
    np.testing.assert_allclose(
        ours.decision_function(X), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max()
    )


@pytest.mark.parametrize("chosen", SHRUNK, ids=str)
def test_shrunk_models_of_few_rows_are_loaded_to_the_last_bit(tmp_path, chosen):
    X, y = table(1, [9, 12, 8], 300)
    model = LinearDiscriminantAnalysis(**chosen).fit(X, y)
    assert isinstance(model._factor(), FewRowsGaussian)
    model.save(tmp_path / "model.suffice")
    twin = load(tmp_path / "model.suffice")
    for name in ("coef_", "intercept_", "covariance_"):
        assert getattr(twin, name).tobytes() == getattr(model, name).tobytes()
    if chosen["solver"] == "eigen":
        assert twin.transform(X).tobytes() == model.transform(X).tobytes()
    twin.save(tmp_path / "twin.suffice")
    assert (tmp_path / "twin.suffice").read_bytes() == (tmp_path / "model.suffice").read_bytes()


@pytest.mark.parametrize("chosen", SHRUNK, ids=str)
def test_shrunk_scores_of_few_rows_need_no_matrix_of_all_pairs_of_columns(chosen, peak_memory):
    X, y = table(1, [9, 12, 8], 3000)
    model = LinearDiscriminantAnalysis(**chosen)
    assert peak_memory(lambda: model.fit(X, y).predict(X)) < 0.5 * 8 * 3000**2
