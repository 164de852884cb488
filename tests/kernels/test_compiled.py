"""The compiled kernels give what the reference gives, on every dtype, order, gap and weight."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, set_threads, summarize
from suffice.families import Normal

pytest.importorskip("numba", reason="numba has no wheels for this machine")
LAW = settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@st.composite
def tables(draw):
    """Dyadic rows, whose sums are exact, in any dtype and order, with gaps and weights or without."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-64, 64, size=(n, d)) / 8
    if draw(st.booleans()):
        X[rng.random((n, d)) < 0.3] = np.nan
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


@LAW
@given(table=tables())
def test_sums_are_the_same_bits(engines, table):
    X, y, weights = table
    plain, fast = engines(lambda: summarize(X, y, families=Normal(), sample_weight=weights))
    assert plain == fast
    for one, other in zip(plain.totals, fast.totals, strict=True):
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name], err_msg=name)


@LAW
@given(table=tables(), alpha=st.sampled_from([1.0, 0.0]))
def test_posteriors_are_the_same(engines, table, alpha):
    X, y, weights = table
    model = BayesClassifier(Normal(alpha=alpha)).fit(X, y, weights)
    plain, fast = engines(lambda: model.predict_proba(X))
    np.testing.assert_allclose(plain, fast, rtol=0, atol=1e-12)
    plain, fast = engines(lambda: model.predict_joint_log_proba(X))
    np.testing.assert_allclose(plain, fast, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1e9, 1e200, 1e308])
def test_extreme_sizes_are_the_same(engines, size):
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 3)) * size, rng.integers(0, 2, 50)
    plain, fast = engines(lambda: BayesClassifier(Normal()).fit(X, y).predict_proba(X))
    np.testing.assert_allclose(plain, fast, rtol=0, atol=1e-9)


def test_the_number_of_threads_does_not_matter(engines):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 7)), rng.integers(0, 4, 500)
    results = []
    for number in (1, 2, 5):
        set_threads(number)
        _, fast = engines(lambda: BayesClassifier(Normal()).fit(X, y).predict_proba(X))
        results.append(fast)
    set_threads(None)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_infinities_are_found_by_compiled_kernels_too(engines):
    X = np.ones((40, 2))
    X[17, 1] = np.inf

    def refusal():
        with pytest.raises(ValueError, match="column 1 contains the infinite value inf at row 17") as caught:
            summarize(X, np.arange(40) % 2, families=Normal())
        return str(caught.value)

    plain, fast = engines(refusal)
    assert plain == fast


def test_small_inputs_never_import_numba():
    import subprocess
    import sys

    code = (
        "import sys, numpy as np, suffice\n"
        "X = np.random.default_rng(0).normal(size=(150, 4))\n"
        "suffice.BayesClassifier().fit(X, np.arange(150) % 3).predict_proba(X)\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603
