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
from suffice.families.elementary import Array

LAMBDA = float(np.sqrt(np.pi / 8.0))
"""λ of the scaled probit: λ² = π/8 makes its slope at 0 that of the logistic sigmoid, 1/4."""
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
    """The scores a_k = log y_k − mean log y that sum to 0; any constant may be added."""
    a = np.log(np.asarray(y, dtype=np.float64))
    return np.asarray(a - a.mean(axis=-1, keepdims=True))


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


def probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y); ±inf at 0 and 1."""
    return np.asarray(special.ndtri(np.asarray(y, dtype=np.float64)))


def probit_slope(a: ArrayLike) -> Array:
    """dΦ/da = N(a | 0, 1)."""
    return np.asarray(np.exp(log_probit_slope(a)))


def log_probit_slope(a: ArrayLike) -> Array:
    """log N(a | 0, 1)."""
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
