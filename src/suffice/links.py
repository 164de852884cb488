"""Activation functions: from a score a to a probability y, and back.

| y                | name            | inverse                | dy/da               |
|------------------|-----------------|------------------------|---------------------|
| σ(a)             | `logistic`      | `logit`                | y·(1 − y)           |
| exp a_k / Σ exp  | `softmax`       | `softmax_inverse`      | y_k·(I_kj − y_j)    |
| Φ(a)             | `probit`        | `probit_inverse`       | N(a | 0, 1)         |
| Φ(λa), λ² = π/8  | `scaled_probit` | `scaled_probit_inverse`| λ·N(λa | 0, 1)      |

The scaled probit has the slope of σ at a = 0 and stays within 0.019 of it everywhere. Scores up to ±800 and
beyond neither overflow nor lose their digits: a tail is computed as a tail, never as 1 − (nearly 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from suffice import scores
from suffice.expressions import (
    Clip,
    Expression,
    Where,
    absolute,
    as_expression,
    exp,
    log,
    log1p,
    polynomial,
    square,
)
from suffice.families.elementary import Array

LAMBDA = float(np.sqrt(np.pi / 8.0))
"""λ of the scaled probit: λ² = π/8 makes its slope at 0 that of the logistic sigmoid, 1/4."""
_ERF = (
    (
        9.604973739870516,
        90.02601972038427,
        2232.005345946843,
        7003.325141128051,
        55592.30130103949,
    ),
    (
        1.0,
        33.56171416475031,
        521.3579497801527,
        4594.323829709801,
        22629.000061389095,
        49267.39426086359,
    ),
)
"""erf(z)/z as a quotient of polynomials in z², for z < 1 (Moshier's Cephes library)."""
_ERFC = (
    (
        2.461969814735305e-10,
        0.5641895648310689,
        7.463210564422699,
        48.63719709856814,
        196.5208329560771,
        526.4451949954773,
        934.5285271719576,
        1027.5518868951572,
        557.5353353693994,
    ),
    (
        1.0,
        13.228195115474499,
        86.70721408859897,
        354.9377788878199,
        975.7085017432055,
        1823.9091668790973,
        2246.3376081871097,
        1656.6630919416134,
        557.5353408177277,
    ),
)
"""exp(z²)·erfc(z) in z, for 1 ≤ z < 8."""
_FAR_ERFC = (
    (
        0.5641895835477551,
        1.275366707599781,
        5.019050422511805,
        6.160210979930536,
        7.4097426995044895,
        2.9788666537210022,
    ),
    (
        1.0,
        2.2605286322011726,
        9.396035249380015,
        12.048953980809666,
        17.08144507475659,
        9.608968090632859,
        3.369076451000815,
    ),
)
"""exp(z²)·erfc(z) in z, for z ≥ 8."""
_LOG_SQRT_TAU = 0.5 * float(np.log(2.0 * np.pi))


def logistic(a: ArrayLike) -> Array:
    """σ(a) = 1 / (1 + e⁻ᵃ)."""
    return np.asarray(special.expit(np.asarray(a, dtype=np.float64)))


def log_logistic(a: ArrayLike) -> Array:
    """log σ(a)."""
    return np.asarray(special.log_expit(np.asarray(a, dtype=np.float64)))


def logit(y: ArrayLike) -> Array:
    """a = log(y / (1 − y)), the inverse of `logistic`; ±inf at 0 and 1."""
    return np.asarray(special.logit(np.asarray(y, dtype=np.float64)))


def logistic_slope(a: ArrayLike) -> Array:
    """dσ/da = σ(a)·σ(−a)."""
    return logistic(a) * logistic(np.negative(a))


def softmax(a: ArrayLike) -> Array:
    """y_k = exp(a_k) / Σ_j exp(a_j), along the last axis."""
    a = np.asarray(a, dtype=np.float64)
    return scores.softmax(a.reshape(-1, a.shape[-1])).reshape(a.shape)


def softmax_inverse(y: ArrayLike) -> Array:
    """The scores a_k = log y_k − mean log y that sum to 0; any constant may be added.

    Where y_k = 0 the score is −inf, and those of the others sum to 0.
    """
    y = np.asarray(y, dtype=np.float64)
    possible = y != 0.0
    a = np.log(np.where(possible, y, 1.0))
    mean = a.sum(axis=-1, keepdims=True) / possible.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(possible, a - mean, -np.inf))


def softmax_slope(a: ArrayLike) -> Array:
    """∂y_k/∂a_j = y_k·(I_kj − y_j), of shape (…, k, j)."""
    y = softmax(a)
    return np.asarray(y[..., :, np.newaxis] * (np.eye(y.shape[-1]) - y[..., np.newaxis, :]))


def probit(a: ArrayLike) -> Array:
    """Φ(a), the probability that a standard Normal lies below a."""
    return np.asarray(special.ndtr(np.asarray(a, dtype=np.float64)))


def log_probit(a: ArrayLike) -> Array:
    """log Φ(a)."""
    return np.asarray(special.log_ndtr(np.asarray(a, dtype=np.float64)))


def log_probit_expression(a: Expression) -> Expression:
    """log Φ(a) in arithmetic, logarithm and exponential alone, for languages without Φ or erf."""
    z = Clip(absolute(a) * float(np.sqrt(0.5)), 0.0, 1e40)
    square_of_z = square(z)
    near = log(0.5 - 0.5 * z * _quotient(square_of_z, _ERF))
    tail = Where(z < 8.0, _quotient(z, _ERFC), _quotient(z, _FAR_ERFC))
    below = Where(z < 1.0, near, log(0.5 * tail) - square_of_z)
    # Some databases raise where exp underflows, and so far out 1 − Φ is nothing.
    above = Where(below < -700.0, as_expression(0.0), log1p(0.0 - exp(below)))
    return Where(a < 0.0, below, above)


def _quotient(x: Expression, polynomials: tuple[tuple[float, ...], tuple[float, ...]]) -> Expression:
    numerator, denominator = polynomials
    return polynomial(x, numerator) / polynomial(x, denominator)


def probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y); ±inf at 0 and 1."""
    return np.asarray(special.ndtri(np.asarray(y, dtype=np.float64)))


def probit_slope(a: ArrayLike) -> Array:
    """dΦ/da = N(a | 0, 1)."""
    return np.asarray(np.exp(log_probit_slope(a)))


def log_probit_slope(a: ArrayLike) -> Array:
    """log N(a | 0, 1)."""
    with np.errstate(over="ignore"):
        return np.asarray(-0.5 * np.square(np.asarray(a, dtype=np.float64)) - _LOG_SQRT_TAU)


def scaled_probit(a: ArrayLike) -> Array:
    """Φ(λa) with λ² = π/8."""
    return probit(np.multiply(LAMBDA, a))


def scaled_probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y) / λ."""
    return np.asarray(probit_inverse(y) / LAMBDA)


def scaled_probit_slope(a: ArrayLike) -> Array:
    """dΦ(λa)/da = λ·N(λa | 0, 1)."""
    return np.asarray(LAMBDA * probit_slope(np.multiply(LAMBDA, a)))
