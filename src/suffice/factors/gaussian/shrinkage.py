"""Shrinkage of covariances: by a fixed share, by Ledoit and Wolf's or the OAS estimate, or Friedman's."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.factors.gaussian.moments import CentredRows, ClassMoments, Moments
from suffice.factors.gaussian.thin import ThinCovariance
from suffice.factors.gaussian.tying import Tying


def shrunk_matrices(classwise: ClassMoments, shrinkage: Any) -> Array:
    """The covariance of each group after shrinkage."""
    moments, tying = classwise.moments, classwise.tying
    if shrinkage == "bayes":
        return posterior_means(moments, tying)
    if isinstance(shrinkage, tuple):
        return _friedman(moments, tying, *shrinkage)
    matrices = tying.covariances(moments.scatter, moments.weight)
    if shrinkage is None or tying.shape != "full" or matrices.shape[1] == 0:
        return matrices
    count = tying.pooled(moments.weight)
    for g in range(tying.n_groups):
        variance = np.diag(matrices[g]).copy()
        share = shrinkage
        if isinstance(shrinkage, str):
            inverse = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
            correlation = matrices[g] * inverse
            correlation *= inverse[:, np.newaxis]
            square = float(np.vdot(correlation, correlation))
            if shrinkage == "oas":
                share = oas_share(square, len(correlation), count[g])
            else:
                fourth = classwise.fourth_power(np.flatnonzero(tying.group == g), inverse)
                distance = distance_to_identity(np.diag(correlation), square)
                share = ledoit_wolf_share(square, distance, fourth, count[g])
        matrices[g] *= 1.0 - share
        matrices[g][np.diag_indices_from(matrices[g])] = variance
    return matrices


def shrunk_rows(classwise: ClassMoments, rows: CentredRows, shrinkage: Any) -> list[ThinCovariance]:
    """The same from a few rows."""
    tying, weight = classwise.tying, classwise.moments.weight
    mine = tying.group[rows.classes] == np.arange(tying.n_groups)[:, np.newaxis]
    toward_shared, toward_identity = shrinkage if isinstance(shrinkage, tuple) else (0.0, 0.0)
    each = per_row(mine.astype(np.float64), tying.divisors(weight), toward_shared)
    count = tying.pooled(weight)
    shrunk: list[ThinCovariance] = []
    for g, by_row in enumerate(each):
        covariance = ThinCovariance.of(rows.values, by_row)
        variance = covariance.variances
        target, share = variance, shrinkage
        if isinstance(shrinkage, tuple):
            target, share = np.full_like(variance, variance.mean()), toward_identity
        elif isinstance(shrinkage, str):
            inverse = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
            square = covariance.squared_norm(inverse)
            if shrinkage == "oas":
                share = oas_share(square, len(variance), count[g])
            else:
                own = mine[g] & (rows.weight > 0)
                lengths = (rows.values[own] ** 2) @ inverse**2
                fourth = float(lengths @ (lengths / rows.weight[own]))
                distance = distance_to_identity(variance * inverse**2, square)
                share = ledoit_wolf_share(square, distance, fourth, count[g])
        share = float(share or 0.0)
        shrunk.append((1.0 - share) * covariance + share * covariance.diagonal_of(target))
    return shrunk


def oas_share(square: float, d: int, n: float) -> float:
    """The oracle approximating shrinkage of d × d correlations with this |R|² (Chen et al. 2010)."""
    mean_square = square / d**2
    numerator, denominator = mean_square + 1.0, (n + 1.0) * (mean_square - 1.0 / d)
    return 1.0 if denominator <= numerator else numerator / denominator


def ledoit_wolf_share(square: float, distance: float, fourth: float, n: float) -> float:
    """Ledoit and Wolf's (2004) optimal shrinkage of a matrix S = Σ w·zzᵀ/n toward a target T.

    Parameters
    ----------
    square : float
        |S|², in the Frobenius norm.
    distance : float
        |S − T|².
    fourth : float
        Σ w·|z|⁴.
    n : float
        The rows' weight.

    Returns
    -------
    float
        The share of the target, from 0 to 1.
    """
    noise = (fourth / n - square) / n
    return 0.0 if distance <= 0 else min(max(noise, 0.0), distance) / distance


def distance_to_identity(diagonal: Array, square: float) -> float:
    """|R − I|² of a matrix with this diagonal and |R|²."""
    return square - float(diagonal @ diagonal) + float(np.sum((diagonal - 1.0) ** 2))


def _friedman(moments: Moments, tying: Tying, toward_shared: float, toward_identity: float) -> Array:
    """Friedman's (1989) regularised discriminant analysis: between full, shared and isotropic."""
    mixed = per_row(moments.scatter, tying.divisors(moments.weight), toward_shared)
    level = np.trace(mixed, axis1=1, axis2=2) / max(mixed.shape[1], 1)
    identity = level[:, np.newaxis, np.newaxis] * np.eye(mixed.shape[1])
    return tying.shaped((1.0 - toward_identity) * mixed + toward_identity * identity)


def posterior_means(moments: Moments, tying: Tying) -> Array:
    """The means of covariances given the rows, under conjugate priors that take their means from the rows.

    The prior of the covariance of all classes is worth one row, with the total variances; its correlations
    are shrunk by the OAS estimate. It is the mean of the prior of each group's own covariance, which is worth
    d + 2 rows: an inverse Wishart distribution with fewer has no mean.
    """
    d, n = moments.mean.shape[1], float(moments.weight.sum())
    shared = (moments.scatter.sum(axis=0) + np.diag(moments.total_variance)) / (n + 1.0)
    variance = np.diag(shared).copy()
    scale = np.sqrt(variance)
    correlation = shared / scale / scale[:, np.newaxis]
    shared *= 1.0 - oas_share(float(np.vdot(correlation, correlation)), max(d, 1), n)
    shared[np.diag_indices(d)] = variance
    if tying.n_groups == 1:
        return tying.shaped(shared[np.newaxis])
    rows = tying.pooled(moments.weight)[:, np.newaxis, np.newaxis]
    return tying.shaped((moments.scatter + (d + 2.0) * shared) / (rows + d + 2.0))


def least_variances(moments: Moments, tying: Tying) -> Array:
    """Variances of the columns, (g, d), that posterior means exceed in all directions, by the prior."""
    d, n = moments.mean.shape[1], float(moments.weight.sum())
    least = moments.total_variance[np.newaxis] / (n + 1.0)
    if tying.n_groups > 1:
        least = least * (d + 2.0) / (tying.pooled(moments.weight)[:, np.newaxis] + d + 2.0)
    return tying.shaped_variances(least)


def noise_of_covariances(moments: Moments, tying: Tying, shrinkage: Any) -> Array:
    """How much of the variances of each group, (g, d), may be rounding error from removed rows."""
    toward_shared = shrinkage[0] if isinstance(shrinkage, tuple) else 0.0
    return tying.shaped_variances(per_row(moments.noise, tying.divisors(moments.weight), toward_shared))


def degrees_of_freedom(moments: Moments, tying: Tying, shrinkage: Any) -> Array:
    """How many squares each variance of a class, (k,), is an average of."""
    toward_shared = shrinkage[0] if isinstance(shrinkage, tuple) else 0.0
    degrees = rows_behind(tying.divisors(moments.weight), toward_shared)[tying.group]
    return np.asarray(degrees * moments.mean.shape[1] if tying.shape == "isotropic" else degrees)


def per_row(sums: Array, count: Array, toward_shared: float) -> Array:
    """Sums of the groups, (g, …), divided by their rows; Friedman's λ mixes them with those of all rows."""
    mixed = (1.0 - toward_shared) * sums + toward_shared * sums.sum(axis=0)
    weight = rows_behind(count, toward_shared)
    return np.asarray(mixed / np.where(weight > 0, weight, 1.0).reshape(-1, *[1] * (sums.ndim - 1)))


def rows_behind(count: Array, toward_shared: float) -> Array:
    """How many rows each covariance is divided by, of groups of `count` rows: Friedman's λ adds all rows."""
    return np.asarray((1.0 - toward_shared) * count + toward_shared * count.sum())
