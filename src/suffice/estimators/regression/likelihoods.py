"""What one row adds: −log p(t | a) of its class t given its scores a, with its slope and its curvature.

Scores are class-major, (m, n): one row of scores for two classes, K for softmax.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.links import log_probit, log_probit_slope

Codes = NDArray[np.integer]


@dataclass(frozen=True)
class Local:
    """A block of rows at given scores."""

    loss: Array
    """−log p(t | a), (n,)."""
    slope: Array
    """Its gradient in the scores, (m, n)."""
    curvature: Array
    """Two classes: its second derivative, (1, n). Softmax: the probabilities y, (K, n)."""


class Likelihood(Protocol):
    """The distribution of a class given the scores."""

    def local(self, scores: Array, codes: Codes) -> Local:
        """Losses, slopes and curvatures of rows."""


class LogisticLikelihood:
    """p(t = 1 | a) = σ(a): slope y − t, curvature y·(1 − y)."""

    def local(self, scores: Array, codes: Codes) -> Local:
        """Losses, slopes and curvatures of rows."""
        margin = np.where(codes, scores, -scores)  # a for t = 1, −a for t = 0
        decay = np.exp(-np.abs(margin))
        loss = np.log1p(decay) + np.maximum(-margin, 0.0)
        share = decay / (1.0 + decay)  # the smaller of y and 1 − y
        wrong = np.where(margin > 0.0, share, 1.0 - share)
        return Local(loss[0], np.where(codes, -wrong, wrong), share * (1.0 - share))


class ProbitLikelihood:
    """p(t = 1 | a) = Φ(a): with q = ±1 and ρ = N(qa)/Φ(qa), slope −qρ and curvature ρ·(ρ + qa)."""

    def local(self, scores: Array, codes: Codes) -> Local:
        """Losses, slopes and curvatures of rows."""
        sign = np.where(codes, 1.0, -1.0)
        margin = sign * scores
        log_share = log_probit(margin)
        ratio = np.exp(log_probit_slope(margin) - log_share)
        # Far on the wrong side ρ → −qa and the curvature → 1; rounding must not carry it beyond.
        curvature = np.clip(ratio * (ratio + margin), 0.0, 1.0)
        return Local(-log_share[0], -sign * ratio, curvature)


class SoftmaxLikelihood:
    """p(t = k | a) = y_k = exp a_k / Σ_j exp a_j: slope y − t, curvature y_k·(I_kj − y_j)."""

    def local(self, scores: Array, codes: Codes) -> Local:
        """Losses, slopes and curvatures of rows."""
        rows = np.arange(len(codes))
        highest = scores.max(axis=0)
        y = scores - highest
        loss = -y[codes, rows]
        np.exp(y, out=y)
        total = y.sum(axis=0)
        loss += np.log(total)
        y /= total
        slope = y.copy()
        slope[codes, rows] -= 1.0
        return Local(loss, slope, y)
