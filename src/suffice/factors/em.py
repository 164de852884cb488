"""Maximum likelihood of Gaussians from sums per pattern of gaps, by expectation–maximisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from suffice.factors.base import Codes
from suffice.families.elementary import Array
from suffice.families.special import SolveError

if TYPE_CHECKING:
    from suffice.factors.scatter import Sums
    from suffice.factors.solve_scatter import Moments, Standardised, Tying

TOLERANCE = 1e-10
MOST_STEPS = 100_000


def maximize(data: Standardised, tying: Tying) -> Moments:
    """EM from the available-case start, so that any batching of the rows gives the same answer."""
    from suffice.factors.solve_scatter import Moments

    n_classes, d = data.weight.shape
    weight = np.array([sum(float(sums.weight) for _, sums in patterns) for patterns in data.cells])
    mean = np.zeros((n_classes, d))
    covariance = tying.covariances(weight[:, np.newaxis, np.newaxis] * _available_case(data), weight)
    for _ in range(MOST_STEPS):
        shift, scatter = np.zeros_like(mean), np.zeros((n_classes, d, d))
        for k, patterns in enumerate(data.cells):
            for columns, sums in patterns:
                first, second = _expected(columns, sums, mean[k], covariance[tying.group[k]])
                shift[k] += first
                scatter[k] += second
        count = np.where(weight > 0, weight, 1.0)
        step = shift / count[:, np.newaxis]
        scatter -= step[:, :, np.newaxis] * shift[:, np.newaxis, :]
        updated = tying.covariances(scatter, weight)
        change = max(np.abs(step).max(initial=0.0), np.abs(updated - covariance).max(initial=0.0))
        mean, covariance = mean + step, updated
        if change <= TOLERANCE:
            return Moments(mean, scatter, weight, data.total_variance)
    raise SolveError(f"EM over the gaps did not converge in {MOST_STEPS} steps; use missing='pairwise'.")


def _available_case(data: Standardised) -> Array:
    """Covariance of each class over the rows in which both columns are observed, 0 where none are."""
    n_classes, d = data.weight.shape
    start = np.zeros((n_classes, d, d))
    for k, patterns in enumerate(data.cells):
        weight, scatter = np.zeros((d, d)), np.zeros((d, d))
        for columns, sums in patterns:
            both = np.ix_(columns, columns)
            weight[both] += sums.weight
            scatter[both] += sums.scatter
        start[k] = np.divide(scatter, weight, out=np.zeros_like(scatter), where=weight > 0)
        start[k][np.diag_indices(d)] = data.variance[k]
        start[k] = nearest_covariance(start[k])
    return start


def nearest_covariance(covariance: Array) -> Array:
    """The nearest matrix without negative eigenvalues that keeps the diagonal."""
    values, vectors = np.linalg.eigh(covariance)
    if values[0] >= 0:
        return covariance
    mended = (vectors * np.maximum(values, 0.0)) @ vectors.T
    now, wanted = np.diag(mended), np.diag(covariance)
    stretch = np.sqrt(np.divide(wanted, now, out=np.ones_like(now), where=now > 0))
    return np.asarray(mended * np.outer(stretch, stretch))


def _expected(columns: Codes, sums: Sums, mean: Array, covariance: Array) -> tuple[Array, Array]:
    """E[Σ(x − μ)] and E[Σ(x − μ)(x − μ)ᵀ] over all columns, given the observed ones."""
    d = len(mean)
    about = sums.moved(-mean[columns])
    if len(columns) == d:
        return about.total, about.scatter
    hidden = np.setdiff1d(np.arange(d), columns)
    among, across = covariance[np.ix_(columns, columns)], covariance[np.ix_(hidden, columns)]
    slope = regression(among, across)
    first, second = np.zeros(d), np.zeros((d, d))
    first[columns], first[hidden] = about.total, slope @ about.total
    cross = slope @ about.scatter
    left_over = covariance[np.ix_(hidden, hidden)] - slope @ across.T
    second[np.ix_(columns, columns)] = about.scatter
    second[np.ix_(hidden, columns)] = cross
    second[np.ix_(columns, hidden)] = cross.T
    second[np.ix_(hidden, hidden)] = cross @ slope.T + sums.weight * left_over
    return first, second


def regression(among: Array, across: Array) -> Array:
    """Σ_mo·Σ_oo⁻¹, also where Σ_oo has lost rank."""
    try:
        factor = linalg.cho_factor(among, lower=True)
        spread = np.diag(factor[0]) ** 2
        if (spread > 1e-10 * np.diag(among)).all():
            return np.asarray(linalg.cho_solve(factor, across.T).T)
    except linalg.LinAlgError:
        pass
    return np.asarray(across @ np.linalg.pinv(among, rcond=1e-12, hermitian=True))
