"""Sums about an origin: moving it and changing the unit."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.families.elementary import evaluate, rebase, rescale

NO_UNIT = np.int32(0)
dyadic = st.integers(-8000, 8000).map(lambda i: i / 8)
proportion = st.integers(1, 999).map(lambda i: i / 1000)
positive = st.integers(1, 8000).map(lambda i: i / 8)
angle = st.floats(-10, 10)


def totals(functions, x, weights, origin, exponent=NO_UNIT):
    x, origin = np.asarray(x, dtype=np.float64), np.asarray(origin, dtype=np.float64)
    return np.array([np.sum(weights * evaluate(name, x, origin, exponent)) for name in functions])


@given(st.lists(st.tuples(dyadic, st.integers(-3, 3)), min_size=1), dyadic, dyadic, st.integers(-5, 5))
def test_moving_the_origin_of_x_and_x2_is_exact(rows, origin, target, exponent):
    x, w = np.array(rows).T
    unit = np.int32(exponent)
    functions = ("x", "x2")
    moved = rebase(
        functions,
        totals(functions, x, w, origin, unit),
        w.sum(),
        np.float64(origin),
        np.float64(target),
        unit,
    )
    assert np.all(moved == totals(functions, x, w, target, unit))


@pytest.mark.parametrize(
    "functions, values",
    [
        (("x", "log"), positive),
        (("x", "reciprocal"), positive),
        (("log", "log1m"), proportion),
        (("cos", "sin"), angle),
    ],
    ids=["x-log", "x-reciprocal", "log-log1m", "cos-sin"],
)
def test_moving_the_origin_equals_summing_about_the_new_one(functions, values):
    @given(st.lists(st.tuples(values, st.integers(-3, 3)), min_size=1), values, values)
    def check(rows, origin, target):
        x, w = np.array(rows).T
        about = totals(functions, x, w, origin)
        moved = rebase(functions, about, w.sum(), np.float64(origin), np.float64(target), NO_UNIT)
        # What the sums are made of, so that signed rows which cancel do not ask for more than there is.
        size = [
            np.sum(np.abs(w) * (1 + np.abs(evaluate(f, x, np.float64(target), NO_UNIT)))) for f in functions
        ]
        turned = [
            np.sum(np.abs(w) * (1 + np.abs(evaluate(f, x, np.float64(origin), NO_UNIT)))) for f in functions
        ]
        scale = np.maximum(
            size, np.array(turned) * max(1.0, target / origin if "reciprocal" in functions else 1.0)
        )
        assert np.all(np.abs(moved - totals(functions, x, w, target)) <= 1e-13 * scale)

    check()


@given(st.lists(dyadic, min_size=1), dyadic, st.integers(-8, 8), st.integers(-8, 8))
def test_changing_the_unit_is_exact(x, origin, exponent, shift):
    functions = ("x", "x2", "log")
    values = np.abs(x) + 1.0
    about = totals(functions, values, 1.0, abs(origin) + 1.0, np.int32(exponent))
    again = totals(functions, values, 1.0, abs(origin) + 1.0, np.int32(exponent + shift))
    assert np.all(rescale(functions, about, np.int32(shift)) == again)


@pytest.mark.parametrize(
    "x, origin", [(1e-12, 1.1e-12), (1e-12, 0.3), (0.999999, 0.9999991), (0.2, 0.21), (0.9, 1e-9)]
)
def test_log1m_keeps_the_digits_of_small_proportions(x, origin):
    expected = mpmath.log1p(-mpmath.mpf(x)) - mpmath.log1p(-mpmath.mpf(origin))
    found = evaluate("log1m", np.float64(x), np.float64(origin), NO_UNIT)
    assert float(found) == pytest.approx(float(expected), rel=1e-14)


def test_statistics_of_values_far_from_the_origin_do_not_overflow():
    for name in ("log", "reciprocal"):
        assert np.isfinite(evaluate(name, np.float64(1e300), np.float64(1e-5), NO_UNIT))
    assert np.isfinite(evaluate("log", np.float64(1e-300), np.float64(1e300), NO_UNIT))
