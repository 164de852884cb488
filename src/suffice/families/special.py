"""Special functions in the forms that keep their digits where the textbook forms cancel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from suffice.arrays import Array

_LARGE = 20.0
LOG_TWO = float(np.log(2.0))
HALF_LOG_TWO_PI = 0.5 * float(np.log(2.0 * np.pi))


class SolveError(ValueError):
    """An iterative solve did not converge."""


def _series(a: Array, coefficients: tuple[float, ...], first_power: int) -> Array:
    """Σ cᵢ·a^−(first_power + 2i), by Horner."""
    inverse = 1.0 / a
    square = inverse * inverse
    value = np.zeros_like(a)
    for coefficient in reversed(coefficients):
        value = value * square + coefficient
    return value * inverse**first_power


def _by_size(a: Array, small: Callable[[Array], Array], large: Callable[[Array], Array]) -> Array:
    """`small` below 20, the asymptotic `large` from there on."""
    a = np.asarray(a, dtype=np.float64)
    big = a >= _LARGE
    return np.where(big, large(np.where(big, a, _LARGE)), small(np.where(big, 1.0, a)))


def stirling_remainder(a: Array) -> Array:
    """log Γ(a) − [(a − ½)·log a − a + ½·log 2π]: what is left after Stirling's formula."""
    return _by_size(
        a,
        lambda s: special.gammaln(s) - ((s - 0.5) * np.log(s) - s + HALF_LOG_TWO_PI),
        lambda s: _series(s, (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360), 1),
    )


def log_minus_digamma(a: Array) -> Array:
    """Log a − ψ(a), about 1/(2a) for large a."""
    return _by_size(
        a,
        lambda s: np.log(s) - special.digamma(s),
        lambda s: 0.5 / s + _series(s, (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760), 2),
    )


def one_minus_trigamma(a: Array) -> Array:
    """1 − a·ψ′(a), about −1/(2a) for large a: the derivative of log a − ψ(a) in log a."""
    return _by_size(
        a,
        lambda s: 1.0 - s * special.zeta(2.0, s),
        lambda s: -0.5 / s - _series(s, (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730), 2),
    )


def x_minus_log1p(x: Array) -> Array:
    """The excess x − log(1 + x), zero at 0 and positive elsewhere."""
    x = np.asarray(x, dtype=np.float64)
    near = np.abs(x) < 0.25
    close = np.where(near, x, 0.0)
    # log(1 + x) = 2·artanh(r) with r = x/(2 + x); its first term leaves x·r.
    ratio = close / (2.0 + close)
    square = ratio * ratio
    tail = np.zeros_like(close)
    for odd in range(23, 1, -2):
        tail = tail * square + 1.0 / odd
    return np.where(near, ratio * (close - 2.0 * square * tail), x - np.log1p(np.where(near, 0.0, x)))


def log1mexp(x: Array) -> Array:
    """Log(1 − eˣ) of a negative x, with all its digits near 0 and far from it."""
    near = x > -LOG_TWO
    return np.where(near, np.log(-np.expm1(np.where(near, x, -1.0))), np.log1p(-np.exp(np.minimum(x, -0.5))))


def scaled_exp1(z: Array) -> Array:
    """e^z·E₁(z), about 1/z for large z, where e^z alone would overflow."""
    z = np.asarray(z, dtype=np.float64)
    big = z >= 50.0
    large = np.where(big, z, 50.0)
    series = np.ones_like(large)
    for k in range(25, 0, -1):
        series = 1.0 - k / large * series
    small = np.where(big, 1.0, z)
    return np.where(big, series / large, np.exp(small) * special.exp1(small))


def log_scaled_bessel_k(order: float, z: Array) -> Array:
    """Log of e^z·K_ν(z), which is about √(π/2z) for large z, where K_ν has no digits in scipy."""
    large = z > 1e6
    near = np.log(special.kve(order, np.where(large, 1.0, z)))
    far = np.where(large, z, 1e6)
    series = 0.5 * np.log(0.5 * np.pi / far) + np.log1p((4.0 * order**2 - 1.0) / (8.0 * far))
    return np.asarray(np.where(large, series, near))


def log_beta(a: Array, b: Array) -> Array:
    """Log B(a, b), where log Γ(a) + log Γ(b) − log Γ(a + b) would cancel."""
    n = a + b
    remainder = stirling_remainder(a) + stirling_remainder(b) - stirling_remainder(n)
    # a·log(a/n) + b·log(b/n); the larger share is 1 − the smaller one.
    low, high = np.minimum(a, b), np.maximum(a, b)
    share = low / n
    entropy = low * np.log(share) + high * np.log1p(-share)
    return np.asarray(remainder + entropy + HALF_LOG_TWO_PI - 0.5 * (np.log(share) + np.log(high)))


def log_multichoose(r: Array, k: Array) -> Array:
    """Log of Γ(k + r)/(Γ(r)·k!), the multisets of k things of r kinds; exactly 0 for k = 0."""
    return np.where(k == 0, 0.0, -np.log(k + r) - log_beta(k + 1.0, r))


def log_student_constant(degrees: Array, d: int) -> Array:
    """What a Student t of d columns and covariance Σ adds to the constant −½log|2πΣ| of a Gaussian.

    It is log Γ((ν + d)/2) − log Γ(ν/2) − ½d·log(ν/2), about d(d − 2)/4ν for many degrees of freedom ν.
    """
    half, rest = 0.5 * degrees, 0.5 * d
    remainders = stirling_remainder(half + rest) - stirling_remainder(half)
    return np.asarray((half + rest - 0.5) * np.log1p(rest / half) - rest + remainders)


def _bessel_coefficients(count: int) -> tuple[float, ...]:
    """The d of 1 − I₁(κ)/I₀(κ) ~ Σ dₖ·κ⁻ᵏ, from its Riccati equation D′ = (1 − D)/κ − 2D + D²."""
    d = [0.0, 0.5]
    for k in range(2, count + 1):
        d.append(0.5 * ((k - 2) * d[k - 1] + sum(d[i] * d[k - i] for i in range(1, k))))
    return tuple(d)


_BESSEL_LARGE = 40.0
_BESSEL = _bessel_coefficients(20)


def bessel_ratio(kappa: Array) -> tuple[Array, Array, Array]:
    """R = I₁(κ)/I₀(κ), then 1 − R, about 1/(2κ) for large κ, and the slope κ·R′."""
    kappa = np.asarray(kappa, dtype=np.float64)
    big = kappa >= _BESSEL_LARGE
    inverse = 1.0 / np.where(big, kappa, _BESSEL_LARGE)
    missing, missing_slope = np.zeros_like(inverse), np.zeros_like(inverse)
    for k in range(len(_BESSEL) - 1, -1, -1):
        missing = missing * inverse + _BESSEL[k]
        missing_slope = missing_slope * inverse + k * _BESSEL[k]
    small = np.where(big, 1.0, kappa)
    ratio = special.i1e(small) / special.i0e(small)
    slope = small * (1.0 - ratio * ratio) - ratio
    return (
        np.where(big, 1.0 - missing, ratio),
        np.where(big, missing, 1.0 - ratio),
        np.where(big, missing_slope, slope),
    )


def newton_in_log(
    start: Array,
    residual_and_slope: Callable[[Array], tuple[Array, Array]],
    what: str,
    *,
    tolerance: float = 1e-10,
    max_steps: int = 100,
) -> Array:
    """Solve residual(a) = 0 for positive a by Newton steps in log a, each at most a factor e⁴.

    `residual_and_slope` returns the residual and its derivative with respect to log a.
    The error after a step is about its square, so the last step may be as large as `tolerance`.
    Raises SolveError when some entry has not converged after `max_steps`.
    """
    log_a = np.log(start)
    for _ in range(max_steps):
        residual, slope = residual_and_slope(np.exp(log_a))
        step = np.clip(residual / slope, -4.0, 4.0)
        log_a = log_a - step
        if np.all(np.abs(step) <= tolerance):
            return np.exp(log_a)
    raise SolveError(f"{what}: Newton's method did not converge in {max_steps} steps")
