"""Regularisation of singular covariances, and the notes on what was done."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from suffice.arrays import Array
from suffice.factors.base import Regularized
from suffice.factors.gaussian.em import VANISHING
from suffice.factors.gaussian.moments import ClassMoments, Moments, nearest_covariance
from suffice.factors.gaussian.tying import Tying

SINGULAR = 1e-12
"""A correlation matrix with an eigenvalue below this (times its size) has lost rank, whatever the noise."""
ROUNDED_AWAY = 8192
"""Sizes up to which the elimination of a correlation matrix fails only where an eigenvalue is below SINGULAR
times the size (Demmel 1989: it succeeds from size²·ε on)."""
LEAST = 1e-6
"""The smallest share of a pseudo-observation: less, applied twice, would be lost in rounding."""
FEW_DIGITS = 1e-6
"""Above this share of rounding error in a variance there is a note."""


def peculiarities(classwise: ClassMoments, labels: list[str]) -> list[Regularized]:
    """Notes on columns left out, digits lost, and covariances for which ddof leaves no rows."""
    tying, classes = classwise.tying, classwise.classes.tolist()
    notes = [Regularized(labels[j], None, classwise.left_out[j]) for j in sorted(classwise.left_out)]
    data = classwise.data
    rounding = tying.rounding(data.weight * data.variance, data.weight * data.noise)[tying.group]
    for k, at in np.argwhere(rounding > FEW_DIGITS):
        share = rounding[k, at]
        how_much = "all" if share >= 1 else f"up to {share:.1g}"
        reason = f"{how_much} of its variance is rounding error from removed rows; refit the remaining rows"
        notes.append(Regularized(labels[classwise.active[at]], classes[k], reason))
    block = block_name(labels)
    for k in tying.without_divisor(classwise.moments.weight):
        rows = tying.pooled(classwise.moments.weight)[tying.group[k]]
        reason = f"ddof={tying.ddof:g} leaves none of the {rows:g} rows of its covariance: ddof=0 was used"
        notes.append(Regularized(block, classes[k], reason))
    return notes


def block_name(labels: list[str]) -> str:
    """The name of a block in notes."""
    return labels[0] if len(labels) == 1 else "the joint block"


def regular(
    matrices: Array, noise: Array, moments: Moments, tying: Tying, label: str, classes: list[Any]
) -> tuple[Array, list[Regularized]]:
    """Make matrices positive definite: a singular one gets one pseudo-observation of the pooled covariance.

    If the pooled covariance is singular too, it first gets one pseudo-observation of its diagonal, with the
    total variance for columns that are constant within every class. Variance in any direction that may be
    rounding error from removed rows, given the `noise` of the diagonals (g, d), is taken as zero.
    """
    singular = frozenset() if moments.saved_search is None else moments.saved_search.singular
    floor = [rounding_of(matrix, lost) for matrix, lost in zip(matrices, noise, strict=True)]
    lost = [g in singular or not has_full_rank(matrix, floor[g]) for g, matrix in enumerate(matrices)]
    if not any(lost):
        return matrices, []
    everything = float(moments.weight.sum()) or 1.0
    pooled = moments.scatter.sum(axis=0) / everything
    target, reason = pooled, "the covariance shared by all classes"
    # A covariance that was losing rank in EM may dominate the pooled one.
    pooled_floor = rounding_of(
        pooled, moments.noise.sum(axis=0) / everything, VANISHING if singular else SINGULAR
    )
    if not has_full_rank(pooled, pooled_floor):
        diagonal = np.diag(pooled)
        diagonal = np.where(diagonal > 0, diagonal, moments.total_variance)
        target = _with_one_of(np.diag(diagonal), _without_rounding(pooled, pooled_floor), everything)
        reason += " (singular too, so it got one of its variances)"
    target = tying.shaped_one(target)
    count = tying.pooled(moments.weight)
    notes = []
    for g in np.flatnonzero(lost):
        matrices[g] = _with_one_of(target, _without_rounding(matrices[g], floor[g]), count[g])
        notes += [
            Regularized(
                label, classes[k], f"its covariance is singular, so it got one pseudo-observation of {reason}"
            )
            for k in np.flatnonzero(tying.group == g)
        ]
    return matrices, notes


def _with_one_of(target: Array, covariance: Array, count: float) -> Array:
    """A covariance of `count` rows with one pseudo-observation of another: at least a share LEAST."""
    share = max(1.0 / (count + 1.0), LEAST)
    return np.asarray((1.0 - share) * covariance + share * target)


def _without_rounding(covariance: Array, rounding: Array) -> Array:
    """The nearest covariance with zeros for what may be rounding; next to none needs no eigenvalues."""
    noisy = (rounding > rounding_of(covariance, 0.0)).any()
    return nearest_covariance(covariance, rounding if noisy else None)


def rounding_of(matrix: Array, noise: Array | float, share: float = SINGULAR) -> Array:
    """How large a variance in each column, (d,), may be all rounding error, together with the others."""
    return np.asarray(len(matrix) * np.maximum(noise, share * np.diag(matrix)))


def has_full_rank(matrix: Array, rounding: Array | None = None) -> bool:
    """Whether a covariance exceeds the `rounding` of its columns in all directions."""
    if (np.diag(matrix) <= 0).any():
        return False
    inverse = 1.0 / np.sqrt(rounding_of(matrix, 0.0) if rounding is None else rounding)
    in_units = matrix * inverse
    in_units *= inverse[:, np.newaxis]
    size = float(np.linalg.norm(in_units, 1)) if len(matrix) else 0.0
    root, failed = linalg.lapack.dpotrf(in_units, lower=True)
    if failed and len(matrix) < ROUNDED_AWAY:
        return False
    if not failed and len(matrix):
        # The condition number in the 1-norm is cheap, and bounds the smallest eigenvalue from below.
        reciprocal, _ = linalg.lapack.dpocon(root, size, uplo="L")
        if reciprocal * size > 10.0:
            return True
    return len(matrix) == 0 or bool(linalg.eigvalsh(in_units, subset_by_index=(0, 0))[0] > 1.0)
