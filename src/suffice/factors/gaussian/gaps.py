"""Rows of one Gaussian with the same gaps: what is expected of the hidden columns, given the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from suffice.arrays import Array, Codes

if TYPE_CHECKING:
    from suffice.factors.gaussian.sums import Sums


class Pattern:
    """Sums of the rows in which the same columns are observed, and where those stand among all columns."""

    def __init__(self, columns: Codes, sums: Sums, d: int) -> None:
        hidden = np.setdiff1d(np.arange(d), columns)
        self.columns, self.hidden, self.sums = columns, hidden, sums
        self.among, self.across = np.ix_(columns, columns), np.ix_(hidden, columns)
        self.crosswise, self.within = np.ix_(columns, hidden), np.ix_(hidden, hidden)

    def among_columns(self, kept: Codes) -> Pattern:
        """The same rows and only some of the columns."""
        inside = np.isin(self.columns, kept)
        return Pattern(np.searchsorted(kept, self.columns[inside]), self.sums.restricted(inside), len(kept))

    def expected(self, mean: Array, covariance: Array) -> tuple[Array, Array, float]:
        """E[Σ(x − μ)] and E[Σ(x − μ)(x − μ)ᵀ] over all columns, given the observed ones, and their log p.

        The log p leaves out what does not depend on μ and Σ, and is −inf where Σ has lost rank.
        """
        about = self.sums.moved(-mean[self.columns])
        among, across = covariance[self.among], covariance[self.across]
        root = root_of(among)
        log_p = -np.inf if root is None else log_density(root, float(about.weight), about.scatter)
        if len(self.hidden) == 0:
            return about.total, about.scatter, log_p
        slope = _slope(root, among, across)
        first, second = np.empty(len(mean)), np.empty(covariance.shape)
        first[self.columns], first[self.hidden] = about.total, slope @ about.total
        cross = slope @ about.scatter
        left_over = covariance[self.within] - slope @ across.T
        second[self.among] = about.scatter
        second[self.across] = cross
        second[self.crosswise] = cross.T
        second[self.within] = cross @ slope.T + self.sums.weight * left_over
        return first, second, log_p


def regression(among: Array, across: Array) -> Array:
    """Σ_mo·Σ_oo⁻¹, also where Σ_oo has lost rank."""
    return _slope(root_of(among), among, across)


def root_of(covariance: Array) -> Array | None:
    """The lower Cholesky factor, or None where Σ has lost rank."""
    if len(covariance) == 0:
        return covariance.copy()
    root, failed = linalg.lapack.dpotrf(covariance, lower=True)
    if failed or not (np.diag(root) ** 2 > 1e-10 * np.diag(covariance)).all():
        return None
    return np.asarray(root)


def _slope(root: Array | None, among: Array, across: Array) -> Array:
    if root is None:
        return np.asarray(across @ np.linalg.pinv(among, rcond=1e-12, hermitian=True))
    if not across.size:
        return across
    solution, _ = linalg.lapack.dpotrs(root, across.T, lower=True)
    return np.asarray(solution.T)


def log_density(root: Array, weight: float, scatter: Array) -> float:
    """−½(W·log|Σ| + tr Σ⁻¹S): log p of rows of this weight and scatter, up to a constant."""
    if len(root) == 0:
        return 0.0
    log_determinant = 2.0 * float(np.sum(np.log(np.diag(root))))
    distance = float(np.trace(linalg.lapack.dpotrs(root, scatter, lower=True)[0]))
    return -0.5 * (weight * log_determinant + distance)
