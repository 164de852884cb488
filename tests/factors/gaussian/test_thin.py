"""Joint Gaussians of fewer rows than columns: from the rows, and equal to those from matrices."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, load
from suffice.factors.gaussian import rows as kept_rows
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.thin import ThinCovariance
from suffice.factors.gaussian.thin_scores import ThinGaussian
from suffice.storage import SufficeFileError

SHRINKAGES = [None, 0.0, 1e-7, 0.5, 1.0, "oas", "ledoit_wolf", (0.3, 0.2), (0.5, 0.0), (1.0, 0.1), (0.0, 1.0)]


def table(seed, rows, d, *, apart=0.5, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(rows)), rows)
    X = rng.normal(size=(len(y), d)) + apart * rng.normal(size=(len(rows), d))[y]
    return X * np.geomspace(0.01, 100.0, d) + offset, y


def fitted(X, y, weights=None, *, few, **chosen):
    """The model found from the rows, or as if they were many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_rows, "MANY_COLUMNS", 1 if few else 10**9)
        model = GaussianDiscriminant(**chosen).fit(X, y, weights)
    assert isinstance(model._gaussian(), ThinGaussian) == few
    return model


def assert_close(one, other):
    one, other = np.asarray(one), np.asarray(other)
    np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * max(1.0, np.abs(other).max()))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.lists(st.integers(1, 5), min_size=3, max_size=4),
    more_columns=st.integers(0, 30),
    covariance=st.sampled_from(["shared", "full", "groups"]),
    shrinkage=st.sampled_from(SHRINKAGES),
    apart=st.sampled_from([0.0, 0.5, 300.0]),
    offset=st.sampled_from([0.0, 1e4]),
    constant=st.booleans(),
    weighted=st.booleans(),
    ddof=st.sampled_from([0.0, 1.0]),
)
def test_few_rows_give_the_gaussians_of_their_sums(
    seed, rows, more_columns, covariance, shrinkage, apart, offset, constant, weighted, ddof
):
    X, y = table(seed, rows, 4 * sum(rows) + more_columns, apart=apart, offset=offset)
    rng = np.random.default_rng(seed)
    if constant:
        X[:, 0], X[:, 1], X[y == 0, 2] = 2.5, y, 1.0
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    if covariance == "groups":
        covariance = [[0, 1], list(range(2, len(rows)))]
    chosen = {"covariance": covariance, "shrinkage": shrinkage, "ddof": ddof}
    one, other = (fitted(X, y, weights, few=few, **chosen) for few in (True, False))
    thin, dense = one._gaussian(), other._gaussian()
    gappy = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    for asked in (X, X[::-1] * 0.9, gappy):
        np.testing.assert_allclose(one.predict_proba(asked), other.predict_proba(asked), rtol=0, atol=1e-8)
        assert_close(one.score_samples(asked), other.score_samples(asked))
        assert_close(
            thin.contributions(asked, thin.labels, base=True),
            dense.contributions(asked, thin.labels, base=True),
        )
    assert_close(thin.log_likelihood, dense.log_likelihood)
    assert_close(thin.standard, dense.standard)
    assert_close(one.means_, other.means_)
    for peak, wanted in zip(
        thin.gaussian_peak(~np.isnan(gappy[0])), dense.gaussian_peak(~np.isnan(gappy[0])), strict=True
    ):
        assert_close(peak, wanted)
    assert one.n_parameters_ == other.n_parameters_
    assert one.regularized_ == other.regularized_


def test_samples_of_few_rows_have_their_covariance():
    X, y = table(2, [6, 7], 60)
    model = fitted(X, y, few=True, shrinkage=0.5)
    gaussian = model._gaussian()
    whitening = gaussian.whitenings[0]
    root = whitening.colour(np.eye(60))
    np.testing.assert_allclose(root.T @ root, gaussian.standard[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(whitening.whiten(root), np.eye(60), rtol=0, atol=1e-10)


def test_coefficients_and_directions_of_few_rows_are_those_of_their_sums():
    X, y = table(3, [6, 7, 8], 90)
    one, other = (fitted(X, y, few=few, shrinkage="oas") for few in (True, False))
    for name in ("coef_", "intercept_", "covariances_", "explained_variance_ratio_"):
        assert_close(getattr(one, name), getattr(other, name))
    assert_close(np.abs(one.transform(X)), np.abs(other.transform(X)))
    here, there = (model.boundary(0, 2) for model in (one, other))
    assert_close(here.w, there.w)
    assert_close(here.w0, there.w0)


@pytest.mark.parametrize("covariance", ["shared", "full"])
@pytest.mark.parametrize("shrinkage", SHRINKAGES)
def test_a_gaussian_of_few_rows_is_loaded_to_the_last_bit(tmp_path, covariance, shrinkage):
    X, y = table(1, [9, 12, 8], 300)
    X[:, 0], X[:, 1] = 2.5, y
    gappy = X.copy()
    gappy[::2, 5] = np.nan
    model = GaussianDiscriminant(covariance, shrinkage=shrinkage).fit(X, y)
    assert isinstance(model._gaussian(), ThinGaussian)
    model.save(tmp_path / "model.suffice")
    twin = load(tmp_path / "model.suffice")
    for rows in (X, gappy):
        assert twin.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
        assert twin.score_samples(rows).tobytes() == model.score_samples(rows).tobytes()
    assert twin.covariances_.tobytes() == model.covariances_.tobytes()
    assert twin.regularized_ == model.regularized_
    assert twin._gaussian().log_likelihood == model._gaussian().log_likelihood
    twin.save(tmp_path / "twin.suffice")
    assert (tmp_path / "twin.suffice").read_bytes() == (tmp_path / "model.suffice").read_bytes()
    for one in (model, twin):
        one.partial_fit(X[:4] + 1.0, y[:4]).forget(X[5:8], y[5:8])
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_few_rows_with_gaps_are_solved_as_many_are(monkeypatch, covariance):
    X, y = table(3, [3, 4], 30)
    X[0, 4] = X[5, 9] = X[5, 10] = np.nan
    models = []
    for many_columns in (1, 10**9):
        monkeypatch.setattr(kept_rows, "MANY_COLUMNS", many_columns)
        models.append(GaussianDiscriminant(covariance=covariance, shrinkage="oas").fit(X, y))
    np.testing.assert_allclose(*(model.predict_proba(X) for model in models), rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="'ledoit_wolf' needs complete rows"):
        GaussianDiscriminant(shrinkage="ledoit_wolf").fit(X, y).predict(X)


def test_few_rows_with_an_empty_column_are_loaded(tmp_path):
    X, y = table(4, [3, 4], 300)
    X[:, 7] = np.nan
    model = fitted(X, y, few=True, shrinkage="oas")
    model.save(tmp_path / "model.suffice")
    np.testing.assert_array_equal(load(tmp_path / "model.suffice").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("shrinkage", [None, 0.5, "oas", "ledoit_wolf"])
def test_few_rows_in_batches_merged_and_forgotten_give_one_fit(shrinkage):
    X, y = table(3, [20, 15, 12], 300)
    whole = GaussianDiscriminant(shrinkage=shrinkage).fit(X, y)
    assert isinstance(whole._gaussian(), ThinGaussian)
    batches = GaussianDiscriminant(shrinkage=shrinkage)
    for part in (slice(0, None, 3), slice(1, None, 3), slice(2, None, 3)):
        batches.partial_fit(X[part], y[part])
    merged = GaussianDiscriminant(shrinkage=shrinkage).fit(X[::2], y[::2])
    merged.merge(GaussianDiscriminant(shrinkage=shrinkage).fit(X[1::2], y[1::2]))
    more = X[:9] + 1.0
    forgetful = GaussianDiscriminant(shrinkage=shrinkage).fit(np.vstack([X, more]), np.r_[y, y[:9]])
    forgetful.forget(more, y[:9])
    for model in (batches, merged, forgetful):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-8)
        assert_close(model.coef_, whole.coef_)


@pytest.mark.parametrize("shrinkage", [None, 0.5, "oas", "ledoit_wolf", (0.5, 0.1)])
@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_few_rows_are_fitted_and_scored_in_memory_in_proportion_to_them(covariance, shrinkage, peak_memory):
    n, d = 60, 3000
    X, y = table(5, [30, 30], d)
    gappy = X[:2].copy()
    gappy[:, 7] = np.nan

    def fit_and_score():
        model = GaussianDiscriminant(covariance, shrinkage=shrinkage).fit(X, y)
        model.predict(X)
        model.score_samples(X)
        model.predict(gappy)
        if covariance == "shared":  # else its shares may need all correlations
            model.explain(X[:1])

    assert peak_memory(fit_and_score) < 40 * 8 * n * d < 8 * d * d


def test_a_gaussian_of_few_rows_is_copied_and_pickled():
    X, y = table(6, [9, 12], 300)
    model = GaussianDiscriminant(shrinkage=0.1).fit(X, y)
    expected = model.predict_proba(X)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):  # noqa: S301
        assert twin.predict_proba(X).tobytes() == expected.tobytes()


def test_few_rows_of_huge_and_tiny_numbers_are_told_apart():
    X, y = table(7, [9, 12], 300)
    expected = GaussianDiscriminant(shrinkage=0.5).fit(X, y).predict_proba(X)
    for factor in (1e150, 1e-150):
        scaled = GaussianDiscriminant(shrinkage=0.5).fit(X * factor, y).predict_proba(X * factor)
        np.testing.assert_allclose(scaled, expected, rtol=0, atol=1e-9)
    far = GaussianDiscriminant(shrinkage=0.5).fit(X, y)
    assert np.isfinite(far.predict_proba(X * 1e200)).all()


def test_a_rank_that_rows_leave_open_is_decided_by_the_matrix():
    rows = np.eye(6)[:2]
    own = np.array([0.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    covariance = ThinCovariance(rows, np.full(2, 3.0), own)
    assert covariance.exceeds(np.full(6, 1.0)) is None
    assert covariance.exceeds(np.full(6, 3.0)) is False
    assert ThinCovariance(rows, np.full(2, 3.0), own + 2.0).exceeds(np.full(6, 1.0)) is True
    np.testing.assert_array_equal(covariance.matrix, np.diag([3.0, 5.0, 2.0, 2.0, 2.0, 2.0]))


def test_rows_that_lost_digits_are_solved_as_matrices(monkeypatch):
    monkeypatch.setattr(kept_rows, "FEW", 2)
    X, y = table(8, [400, 10], 820)
    assert isinstance(GaussianDiscriminant(shrinkage=0.5).fit(X, y)._gaussian(), ThinGaussian)
    X[1:, 3] = 1e-9 * X[1:, 3]  # far from the first row, about which they are summed
    assert type(GaussianDiscriminant(shrinkage=0.5).fit(X, y)._gaussian()) is SolvedGaussian


@pytest.mark.parametrize("shrinkage", [None, 0.5, "oas", "ledoit_wolf"])
def test_few_rows_that_are_all_equal_are_told_apart_by_the_priors(shrinkage):
    X, y = np.ones((6, 300)), [0, 0, 0, 0, 1, 1]
    model = GaussianDiscriminant(shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[2 / 3, 1 / 3]], rtol=1e-12)


def test_a_damaged_file_of_few_rows_is_refused(tmp_path):
    X, y = table(9, [6, 7], 300)
    model = GaussianDiscriminant(shrinkage=0.5).fit(X, y)
    model._gaussian().thin[0].own = -model._gaussian().thin[0].own
    model.save(tmp_path / "model.suffice")
    with pytest.raises(SufficeFileError, match="own holds variances that are not positive"):
        load(tmp_path / "model.suffice")
