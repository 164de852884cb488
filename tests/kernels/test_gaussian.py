"""Gaussian columns and blocks: compiled kernels give what their NumPy twins give, on every kind of rows."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, GaussianDiscriminant, set_threads, summarize
from suffice.families import MultivariateNormal, Normal
from suffice.kernels import gaussian as reference
from suffice.kernels.cells import class_sums
from suffice.kernels.choose import contiguous

compiled = pytest.importorskip(
    "suffice.kernels.gaussian_compiled", reason="numba has no wheels for this machine"
)
LAW = settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
MODELS = {
    "columns": BayesClassifier(Normal()),
    "shared": GaussianDiscriminant("shared"),
    "full": GaussianDiscriminant("full"),
}


@st.composite
def tables(draw, *, gaps=True):
    """Dyadic rows about an offset, whose sums are exact, with classes and weights, in any dtype and order."""
    n, d = draw(st.integers(1, 200)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-64, 64, size=(n, d)) / 8 + draw(st.sampled_from([0.0, 1024.0]))
    if gaps and draw(st.booleans()):
        X[rng.random((n, d)) < 0.2] = np.nan
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    layout = draw(st.sampled_from(["C", "F", "strided", "read-only"]))
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "strided":
        X = np.repeat(X, 2, axis=0)[::2]
    elif layout == "read-only":
        X.flags.writeable = False
    weights = rng.integers(1, 9, n) / 4 if draw(st.booleans()) else None
    return X, rng.integers(0, 3, n), weights


def parameters(d, n_classes=3):
    rng = np.random.default_rng(d)
    return rng.normal(size=(n_classes, d)), 0.5 + rng.random((n_classes, d)), rng.normal(size=(n_classes, d))


@LAW
@given(table=tables())
def test_sums_of_powers_are_the_same_bits(table):
    X, classes = contiguous(table[0]), contiguous(table[1])
    by_row = contiguous(np.empty(0) if table[2] is None else table[2])
    origin = np.round(parameters(X.shape[1])[0] * 8) / 8
    results = []
    for kernels in (reference, compiled):
        found, wanted = np.zeros(origin.shape), np.ones(origin.shape, dtype=np.bool_)
        kernels.first_values(X, classes, wanted, found)
        sums, whole = np.zeros((4, *origin.shape)), np.zeros((3, 3))
        kernels.power_sums(X, classes, by_row, origin, sums, whole)
        # Which rows count as whole is for the kernel to say; together with the others they are all.
        observed = (sums[2:] + whole[:2, :, np.newaxis])[: 1 + len(by_row)]
        results.append((found, wanted, sums[:2], observed, whole[2]))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@LAW
@given(table=tables())
def test_sums_of_complete_rows_are_the_same_bits(table):
    X, classes = contiguous(table[0]), contiguous(table[1])
    origin = np.round(parameters(X.shape[1])[0] * 8) / 8
    results = []
    for kernels in (reference, compiled):
        sums, counts = np.zeros((4, *origin.shape)), np.zeros(3)
        fine = kernels.complete_sums(X, classes, origin, sums, counts)
        assert fine == (not np.isnan(X).any())
        results.append((sums, counts) if fine else ())
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@LAW
@given(table=tables())
def test_rows_are_grouped_alike(table):
    X, classes = contiguous(table[0]), contiguous(table[1])
    n, d = X.shape
    origin = parameters(d)[0]
    results = []
    for kernels in (reference, compiled):
        starts, rows, order = np.empty(4, np.intp), np.ones((n, d + 1)), np.empty(n, np.intp)
        kernels.grouped(X, classes, origin, starts, rows, order)
        results.append((starts, rows, order))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@LAW
@given(table=tables(gaps=False))
def test_scores_of_rows_are_the_same(table):
    X = contiguous(table[0])
    n, d = X.shape
    centre, scale, shift = parameters(d)
    inverse = np.tril(np.random.default_rng(0).normal(size=(3, d, d)))
    for name, arguments in {
        "quadratic_scores": (np.full(d, 1e100), centre, scale, shift, centre),
        "bounded_squares": (np.full(d, 1e100), centre, scale, shift, centre, scale[0], 2.5),
        "linear_scores": (np.full(d, 1e100), centre[0], scale, centre[:, 0].copy()),
        "whitened_scores": (np.full(d, 1e100), centre, scale[0], shift, inverse, centre[:, 0].copy()),
    }.items():
        plain, fast = np.ones((n, 3)), np.ones((n, 3))
        assert getattr(reference, name)(X, *arguments, plain)
        assert getattr(compiled, name)(X, *arguments, fast)
        np.testing.assert_allclose(fast, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max(), err_msg=name)


def test_few_cells_are_summed_by_class_to_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    classes, cells = rng.integers(5, size=300), rng.normal(size=(300, 7))
    few = class_sums(classes, 5, 7)(cells)
    monkeypatch.setattr("suffice.kernels.cells.FEW_CELLS", 0)
    np.testing.assert_array_equal(few, class_sums(classes, 5, 7)(cells))


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 10])
@pytest.mark.parametrize("d", [1, 3, 50, 131])
def test_linear_scores_are_the_same_whatever_rows_are_beside(d, n_classes):
    rng = np.random.default_rng(d)
    X, slopes, base = rng.normal(size=(11, d)), rng.normal(size=(n_classes, d)), rng.normal(size=d)
    arguments = (np.full(d, 1e100), base, slopes, rng.normal(size=n_classes))
    plain, whole, parts = np.ones((3, 11, n_classes))
    assert reference.linear_scores(contiguous(X), *arguments, plain) == 11
    assert compiled.linear_scores(contiguous(X), *arguments, whole) == 11
    np.testing.assert_allclose(whole, plain, rtol=1e-12, atol=1e-12 * np.abs(plain).max())
    for rows in (slice(0, 1), slice(1, 4), slice(4, 6), slice(6, 11)):
        compiled.linear_scores(contiguous(X[rows]), *arguments, parts[rows])
    np.testing.assert_array_equal(parts, whole)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.5, -1.5])
@pytest.mark.parametrize("row", [0, 5, 10])
def test_linear_scores_stop_before_a_cell_that_is_missing_or_beyond_its_limit(row, bad):
    X, limit = np.full((11, 7), 9.0), np.full(7, 10.0)
    limit[6], X[:, 6] = 1.0, 0.5
    X[row, 6] = bad
    for kernels in (reference, compiled):
        out = np.zeros((11, 3))
        done = kernels.linear_scores(contiguous(X), limit, np.zeros(7), np.ones((3, 7)), np.zeros(3), out)
        assert done <= row
        np.testing.assert_array_equal(out[:done], 54.5)
        np.testing.assert_array_equal(out[done:], 0.0)


@LAW
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 200), n_classes=st.integers(1, 12))
def test_softmax_is_the_same_to_the_last_digits(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    plain = rng.normal(size=(n, n_classes)) * rng.choice([1.0, 30.0, 1000.0])
    plain[:, 1:][rng.random((n, n_classes - 1)) < 0.1] = -np.inf
    fast = plain.copy()
    reference.softmax(plain)
    compiled.softmax(fast)
    np.testing.assert_allclose(fast, plain, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@LAW
@given(table=tables())
def test_models_are_the_same(engines, model, table):
    X, y, weights = table
    plain, fast = engines(lambda: model.fit(X, y, weights).predict_proba(X))
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-9)
    fitted = model.fit(X, y, weights)
    for deed in (fitted.predict_proba, fitted.predict_joint_log_proba):
        plain, fast = engines(lambda deed=deed: deed(X))
        np.testing.assert_allclose(fast, plain, rtol=1e-11, atol=1e-11)


@LAW
@given(table=tables())
def test_scatter_sums_are_the_same_bits(engines, table):
    X, y, weights = table
    plain, fast = engines(lambda: summarize(X, y, families=MultivariateNormal(), sample_weight=weights))
    assert plain == fast


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_number_of_threads_does_not_change_a_bit(engines, model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 7)), rng.integers(0, 4, 20_000)
    results = []
    for number in (1, 2, 5):
        set_threads(number)
        results.append(engines(lambda: model.fit(X, y).predict_joint_log_proba(X))[1])
    set_threads(None)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("column", [0, 2])
def test_the_first_infinity_is_refused_when_fitting_and_when_scoring(engines, model, column):
    rng = np.random.default_rng(0)
    good, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    good[:, 2] = 7.0  # constant, so scores do not read it
    bad = good.copy()
    bad[[170, 290], column] = -np.inf
    model.fit(good, y)

    what = "the infinite value -inf"

    def refusals():
        for deed in (model.predict_proba, model.predict, lambda X: model.partial_fit(X, y)):
            with pytest.raises(ValueError, match=f"column {column} contains {what} at row 170"):
                deed(bad)
        return model.predict_proba(good)

    plain, fast = engines(refusals)
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_gaps_in_the_middle_of_many_rows_are_marginalised(engines, covariance):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
    model = GaussianDiscriminant(covariance).fit(X, y)
    X[200, 1] = X[350, :] = np.nan
    plain, fast = engines(lambda: model.predict_proba(X))
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fast[350], model.priors_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_offsets_of_a_timestamp_cost_no_digits(engines, model):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = np.round((rng.normal(size=(600, 4)) + y[:, np.newaxis]) * 1024) / 1024
    _, near = engines(lambda: model.fit(X, y).predict_proba(X))
    _, far = engines(lambda: model.fit(X + 2.0**30, y).predict_proba(X + 2.0**30))
    np.testing.assert_allclose(far, near, rtol=0, atol=1e-9)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_posteriors_take_little_memory_beside_themselves(model, peak_memory):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200_000, 40)), rng.integers(0, 5, 200_000)
    model.fit(X[:1000], y[:1000])
    assert peak_memory(lambda: model.predict_proba(X)) <= 8 * len(X) * 5 + (64 << 20)
