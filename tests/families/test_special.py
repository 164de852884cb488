"""The special functions against those of mpmath, with more digits than they can lose."""

import mpmath
import numpy as np
import pytest
from mpmath import mp

from suffice.families import special

SIZES = np.concatenate([10.0 ** np.arange(-6.0, 15.5, 0.5), [19.0, 19.999, 20.0, 20.001, 1.4616321449683623]])


def digits(function, values: np.ndarray) -> np.ndarray:
    with mp.workdps(350):
        return np.array([float(function(mpmath.mpf(value))) for value in values])


@pytest.mark.parametrize(
    "ours, exact",
    [
        (
            special.stirling_remainder,
            lambda a: mpmath.loggamma(a) - ((a - 0.5) * mpmath.log(a) - a + mpmath.log(2 * mp.pi) / 2),
        ),
        (special.log_minus_digamma, lambda a: mpmath.log(a) - mpmath.digamma(a)),
        (special.one_minus_trigamma, lambda a: 1 - a * mpmath.psi(1, a)),
    ],
    ids=["stirling_remainder", "log_minus_digamma", "one_minus_trigamma"],
)
def test_the_remainders_of_gamma_functions_keep_their_digits(ours, exact):
    np.testing.assert_allclose(ours(SIZES), digits(exact, SIZES), 1e-11, 1e-300)


def test_x_minus_log1p_keeps_its_digits_near_zero():
    x = np.concatenate([10.0 ** np.arange(-150.0, 16.0), [0.249, 0.25, 0.251]])
    x = np.concatenate([x, -x[x < 1], [0.0]])
    np.testing.assert_allclose(
        special.x_minus_log1p(x), digits(lambda v: v - mpmath.log1p(v), x), 1e-14, 1e-300
    )


def test_x_minus_log1p_of_minus_one_plus_is_finite():
    assert np.isfinite(special.x_minus_log1p(np.nextafter(-1.0, 0.0)))


def test_log1mexp_keeps_its_digits_at_both_ends():
    x = -(10.0 ** np.arange(-15.0, 2.5, 0.25))
    np.testing.assert_allclose(special.log1mexp(x), digits(lambda v: mpmath.log(1 - mpmath.exp(v)), x), 1e-14)


def test_scaled_exp1_never_overflows():
    z = np.concatenate([10.0 ** np.arange(-12.0, 15.0, 0.5), [49.9, 50.0, 50.1]])
    np.testing.assert_allclose(
        special.scaled_exp1(z), digits(lambda v: mpmath.exp(v) * mpmath.e1(v), z), 1e-13
    )


def test_log_beta_keeps_its_digits_for_all_pairs_of_sizes():
    a, b = (v.ravel() for v in np.meshgrid(SIZES[:-5:3], SIZES[:-5:3]))
    expected = []
    with mp.workdps(80):
        for x, y in zip(map(mpmath.mpf, a), map(mpmath.mpf, b), strict=True):
            expected.append(float(mpmath.loggamma(x) + mpmath.loggamma(y) - mpmath.loggamma(x + y)))
    np.testing.assert_allclose(special.log_beta(a, b), expected, 1e-13, 1e-13)


def test_log_multichoose_of_nothing_is_exactly_zero():
    assert np.all(special.log_multichoose(SIZES, np.zeros_like(SIZES)) == 0.0)


def test_log_multichoose_counts_multisets():
    r, k = np.array([1.0, 2.0, 5.0, 1e9]), np.array([7.0, 3.0, 4.0, 2.0])
    np.testing.assert_allclose(
        special.log_multichoose(r, k), np.log([1.0, 4.0, 70.0, 1e9 * (1e9 + 1) / 2]), 1e-13, 1e-13
    )


def test_the_bessel_ratio_its_complement_and_slope_keep_their_digits():
    kappa = np.concatenate([10.0 ** np.arange(-8.0, 12.5, 0.5), [39.9, 40.0, 40.1]])

    def ratio(k):
        return mpmath.besseli(1, k) / mpmath.besseli(0, k)

    found = special.bessel_ratio(kappa)
    np.testing.assert_allclose(found[0], digits(ratio, kappa), 1e-14)
    np.testing.assert_allclose(found[1], digits(lambda k: 1 - ratio(k), kappa), 1e-13)
    np.testing.assert_allclose(found[2], digits(lambda k: k * (1 - ratio(k) ** 2) - ratio(k), kappa), 1e-11)


def test_a_solve_that_does_not_converge_says_whose_it_was():
    with pytest.raises(special.SolveError, match="Gamma"):
        special.newton_in_log(np.ones(2), lambda a: (np.ones_like(a), np.ones_like(a)), "Gamma")
