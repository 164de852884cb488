"""What a model reads is not copied as a whole."""

import numpy as np
import pytest

from suffice import dropin
from suffice.kernels import choose as choice


@pytest.fixture
def peak(monkeypatch, peak_memory):
    """The most memory that some work needs beside what it gives back, with small runs of rows."""
    monkeypatch.setattr(choice, "CELLS_AT_ONCE", 1 << 12)
    return lambda work: peak_memory(work) - getattr(work(), "nbytes", 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_outcomes_above_a_threshold_are_one_byte_each(peak, dtype, order):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, (20_000, 10)).astype(dtype, order=order), rng.integers(0, 2, 20_000)
    model = dropin.BernoulliNB().fit(X, y)
    assert peak(lambda: dropin.BernoulliNB().fit(X, y)) < 2.5 * X.size
    assert peak(lambda: model.predict_proba(X)) < 2.5 * X.size


def test_missing_outcomes_stay_missing_and_infinities_are_refused():
    X, y = np.array([[0.5, np.nan], [-1.0, 2.0], [3.0, -2.0]]), [0, 0, 1]
    same = dropin.BernoulliNB(binarize=None).fit(np.where(np.isnan(X), X, X > 0), y)
    assert np.array_equal(
        dropin.BernoulliNB().fit(X, y).predict_proba(X), same.predict_proba(np.where(np.isnan(X), X, X > 0))
    )
    with pytest.raises(ValueError, match="column 1 contains the infinite value inf at row 0"):
        dropin.BernoulliNB().fit(np.where(np.isnan(X), np.inf, X), y)


@pytest.mark.parametrize("gap", [0.0, np.nan])
def test_categories_in_floats_are_read_as_they_are_held(peak, gap):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (20_000, 10)).astype(np.float32), rng.integers(0, 2, 20_000)
    X[7] = gap
    assert peak(lambda: dropin.CategoricalNB().fit(X, y)) < 0.5 * X.nbytes


def test_fractions_of_categories_are_cut_off(iris):
    X, y = iris
    ours, cut = dropin.CategoricalNB().fit(X, y), dropin.CategoricalNB().fit(np.trunc(X), y)
    assert np.array_equal(ours.predict_proba(X), cut.predict_proba(np.trunc(X)))


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("gap", [0.0, np.nan])
def test_directions_are_taken_of_few_rows_at_a_time(peak, solver, gap):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 20_000)
    X = rng.normal(y[:, np.newaxis], 1.0, (20_000, 10))
    model = dropin.LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    X[7, 2] = gap
    expected = np.vstack([model.transform(X[:50]), model.transform(X[50:])])
    assert peak(lambda: model.transform(X)) < 0.5 * X.nbytes
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-9, atol=1e-12)
    X[19_999, 3] = np.inf
    with pytest.raises(ValueError, match="column 3 contains the infinite value inf at row 19999"):
        model.transform(X)
