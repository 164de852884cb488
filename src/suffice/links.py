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

from suffice.arrays import Array
from suffice.families.special import HALF_LOG_TWO_PI
from suffice.kernels.choose import gaussian_for, row_parts

LAMBDA = float(np.sqrt(np.pi / 8.0))
"""λ of the scaled probit: λ² = π/8 makes its slope at 0 that of the logistic sigmoid, 1/4."""


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
    return softmax_in_place(a.reshape(-1, a.shape[-1]).copy()).reshape(a.shape)


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


def probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y); ±inf at 0 and 1."""
    return np.asarray(special.ndtri(np.asarray(y, dtype=np.float64)))


def probit_slope(a: ArrayLike) -> Array:
    """dΦ/da = N(a | 0, 1)."""
    return np.asarray(np.exp(log_probit_slope(a)))


def log_probit_slope(a: ArrayLike) -> Array:
    """log N(a | 0, 1)."""
    with np.errstate(over="ignore"):
        return np.asarray(-0.5 * np.square(np.asarray(a, dtype=np.float64)) - HALF_LOG_TWO_PI)


def scaled_probit(a: ArrayLike) -> Array:
    """Φ(λa) with λ² = π/8."""
    return probit(np.multiply(LAMBDA, a))


def scaled_probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y) / λ."""
    return np.asarray(probit_inverse(y) / LAMBDA)


def scaled_probit_slope(a: ArrayLike) -> Array:
    """dΦ(λa)/da = λ·N(λa | 0, 1)."""
    return np.asarray(LAMBDA * probit_slope(np.multiply(LAMBDA, a)))


def log_softmax_in_place(scores: Array) -> Array:
    """Log posteriors, written over the scores; every row has at least one finite score."""
    for rows in row_parts(*scores.shape):
        part = scores[rows]
        part -= part.max(axis=1, keepdims=True)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))
    return scores


def log_softmax(scores: Array) -> Array:
    """Log posteriors."""
    return log_softmax_in_place(scores.copy())


def softmax_in_place(scores: Array) -> Array:
    """Posteriors, written over the scores."""
    gaussian_for(scores.size).softmax(scores)
    return scores


def log_odds_of_two(scores: Array) -> Array:
    """The log odds of the second of two classes (1-D), and scores of more classes as they are."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def difference(one: Array, other: Array) -> Array:
    """One less the other; two that are both impossible, or both certain, say nothing about two classes."""
    with np.errstate(invalid="ignore"):
        gap = np.subtract(one, other)
    return np.where(np.isnan(gap), 0.0, gap)


def log_sum(scores: Array) -> Array:
    """log Σ_k exp a_k(x) = log p(x), also for infinite scores."""
    highest = scores.max(axis=1)
    finite = np.isfinite(highest)
    shifted = scores - np.where(finite, highest, 0.0)[:, np.newaxis]
    with np.errstate(over="ignore", divide="ignore"):
        total = np.log(np.exp(shifted).sum(axis=1)) + np.where(finite, highest, 0.0)
    return np.asarray(np.where(finite, total, highest))
