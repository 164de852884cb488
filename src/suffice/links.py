"""Activation functions: from a score a to a probability y, and back.

| y                | name            | inverse                | dy/da               |
|------------------|-----------------|------------------------|---------------------|
| σ(a)             | `logistic`      | `logit`                | y·(1 − y)           |
| exp a_k / Σ exp  | `softmax`       | `softmax_inverse`      | y_k·(I_kj − y_j)    |
| Φ(a)             | `probit`        | `probit_inverse`       | N(a | 0, 1)         |
| Φ(λa), λ² = π/8  | `scaled_probit` | `scaled_probit_inverse`| λ·N(λa | 0, 1)      |

The scaled probit has the slope of σ at a = 0 and stays within 0.019 of it everywhere. Scores of ±800 and
beyond neither overflow nor lose digits: a tail is computed as a tail, never as 1 − (nearly 1).
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
FEW_CLASSES = 7
"""Classes whose scores NumPy adds in their order: class by class, that is faster and the same to the bit."""


def logistic(a: ArrayLike) -> Array:
    """σ(a) = 1 / (1 + e⁻ᵃ).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Probabilities, of the shape of `a`.

    Examples
    --------
    >>> from suffice import links
    >>> links.logistic([-800.0, 0.0, 800.0])
    array([0. , 0.5, 1. ])
    """
    return np.asarray(special.expit(np.asarray(a, dtype=np.float64)))


def log_logistic(a: ArrayLike) -> Array:
    """log σ(a).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Log probabilities, of the shape of `a`.
    """
    return np.asarray(special.log_expit(np.asarray(a, dtype=np.float64)))


def logit(y: ArrayLike) -> Array:
    """a = log(y / (1 − y)), the inverse of `logistic`.

    Parameters
    ----------
    y : array-like
        Probabilities, of any shape.

    Returns
    -------
    ndarray
        Scores, of the shape of `y`; −inf where y = 0, inf where y = 1.
    """
    return np.asarray(special.logit(np.asarray(y, dtype=np.float64)))


def logistic_slope(a: ArrayLike) -> Array:
    """dσ/da = σ(a)·σ(−a).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Slopes, of the shape of `a`.
    """
    return logistic(a) * logistic(np.negative(a))


def softmax(a: ArrayLike) -> Array:
    """y_k = exp(a_k) / Σ_j exp(a_j), along the last axis.

    Parameters
    ----------
    a : array-like of shape (..., k)
        Scores of k classes.

    Returns
    -------
    ndarray of shape (..., k)
        Probabilities, which sum to 1 along the last axis.

    Examples
    --------
    >>> from suffice import links
    >>> links.softmax([1000.0, 1000.0, 0.0])
    array([0.5, 0.5, 0. ])
    """
    a = np.asarray(a, dtype=np.float64)
    return softmax_in_place(a.reshape(-1, a.shape[-1]).copy()).reshape(a.shape)


def softmax_inverse(y: ArrayLike) -> Array:
    """a_k = log y_k − mean log y, the scores that sum to 0.

    Adding a constant to all of them leaves the softmax as it is.

    Parameters
    ----------
    y : array-like of shape (..., k)
        Probabilities of k classes.

    Returns
    -------
    ndarray of shape (..., k)
        Scores. Where y_k = 0 the score is −inf, and the others sum to 0.
    """
    y = np.asarray(y, dtype=np.float64)
    possible = y != 0.0
    a = np.log(np.where(possible, y, 1.0))
    mean = a.sum(axis=-1, keepdims=True) / possible.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(possible, a - mean, -np.inf))


def softmax_slope(a: ArrayLike) -> Array:
    """∂y_k/∂a_j = y_k·(I_kj − y_j).

    Parameters
    ----------
    a : array-like of shape (..., k)
        Scores of k classes.

    Returns
    -------
    ndarray of shape (..., k, k)
        The derivative of y_k by a_j at [..., k, j].
    """
    y = softmax(a)
    return np.asarray(y[..., :, np.newaxis] * (np.eye(y.shape[-1]) - y[..., np.newaxis, :]))


def probit(a: ArrayLike) -> Array:
    """Φ(a), the probability that a standard Normal lies below a.

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Probabilities, of the shape of `a`.
    """
    return np.asarray(special.ndtr(np.asarray(a, dtype=np.float64)))


def log_probit(a: ArrayLike) -> Array:
    """log Φ(a).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Log probabilities, of the shape of `a`.
    """
    return np.asarray(special.log_ndtr(np.asarray(a, dtype=np.float64)))


def probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y), the inverse of `probit`.

    Parameters
    ----------
    y : array-like
        Probabilities, of any shape.

    Returns
    -------
    ndarray
        Scores, of the shape of `y`; −inf where y = 0, inf where y = 1.
    """
    return np.asarray(special.ndtri(np.asarray(y, dtype=np.float64)))


def probit_slope(a: ArrayLike) -> Array:
    """dΦ/da = N(a | 0, 1).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Slopes, of the shape of `a`.
    """
    return np.asarray(np.exp(log_probit_slope(a)))


def log_probit_slope(a: ArrayLike) -> Array:
    """log N(a | 0, 1).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Logarithms of the slopes, of the shape of `a`.
    """
    with np.errstate(over="ignore"):
        return np.asarray(-0.5 * np.square(np.asarray(a, dtype=np.float64)) - HALF_LOG_TWO_PI)


def scaled_probit(a: ArrayLike) -> Array:
    """Φ(λa) with λ² = π/8.

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Probabilities, of the shape of `a`.
    """
    return probit(np.multiply(LAMBDA, a))


def scaled_probit_inverse(y: ArrayLike) -> Array:
    """a = Φ⁻¹(y) / λ, the inverse of `scaled_probit`.

    Parameters
    ----------
    y : array-like
        Probabilities, of any shape.

    Returns
    -------
    ndarray
        Scores, of the shape of `y`; −inf where y = 0, inf where y = 1.
    """
    return np.asarray(probit_inverse(y) / LAMBDA)


def scaled_probit_slope(a: ArrayLike) -> Array:
    """dΦ(λa)/da = λ·N(λa | 0, 1).

    Parameters
    ----------
    a : array-like
        Scores, of any shape.

    Returns
    -------
    ndarray
        Slopes, of the shape of `a`.
    """
    return np.asarray(LAMBDA * probit_slope(np.multiply(LAMBDA, a)))


def log_softmax_in_place(scores: Array) -> Array:
    """Log posteriors, written over the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Log joint scores, at least one of each row finite; overwritten.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The same array.
    """
    for rows in row_parts(*scores.shape):
        part = scores[rows]
        part -= part.max(axis=1, keepdims=True)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))
    return scores


def log_softmax(scores: Array) -> Array:
    """Log posteriors, log y_k = a_k − log Σ_j exp a_j.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Log joint scores, at least one of each row finite.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Log posteriors.
    """
    return log_softmax_in_place(scores.copy("F" if scores.shape[1] <= FEW_CLASSES else "C"))


def softmax_in_place(scores: Array) -> Array:
    """Posteriors, written over the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Log joint scores, at least one of each row finite; overwritten.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The same array.
    """
    gaussian_for(scores.size).softmax(scores)
    return scores


def log_odds_of_two(scores: Array) -> Array:
    """Log odds a_2 − a_1 for two classes; scores of more classes as they are.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Log joint scores.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        What `decision_function` returns.
    """
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def difference(one: Array, other: Array) -> Array:
    """The difference of two scores, 0 where both are infinite alike.

    Two classes that are both impossible, or both certain, do not differ.

    Parameters
    ----------
    one, other : ndarray
        Scores or log probabilities, of shapes that broadcast.

    Returns
    -------
    ndarray
        one − other.
    """
    with np.errstate(invalid="ignore"):
        gap = np.subtract(one, other)
    return np.where(np.isnan(gap), 0.0, gap)


def log_sum(scores: Array) -> Array:
    """log Σ_k exp a_k(x) = log p(x), for infinite scores too.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classes)
        Log joint scores.

    Returns
    -------
    ndarray of shape (n_samples,)
        Log densities.
    """
    if scores.shape[1] <= FEW_CLASSES:
        scores = np.asfortranarray(scores)
    highest = scores.max(axis=1)
    finite = np.isfinite(highest)
    shifted = scores - np.where(finite, highest, 0.0)[:, np.newaxis]
    with np.errstate(over="ignore", divide="ignore"):
        total = np.log(np.exp(shifted).sum(axis=1)) + np.where(finite, highest, 0.0)
    return np.asarray(np.where(finite, total, highest))
