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
"""A correlation matrix with an eigenvalue below this (times its size) has lost rank."""
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
    rounding = classwise.moments.rounding[tying.group]
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
    matrices: Array, moments: Moments, tying: Tying, label: str, classes: list[Any]
) -> tuple[Array, list[Regularized]]:
    """Make matrices positive definite: a singular one gets one pseudo-observation of the pooled covariance.

    If the pooled covariance is singular too, it first gets one pseudo-observation of its diagonal, with the
    total variance for columns that are constant within every class. Variance that may be rounding error from
    removed rows does not count as rank.
    """
    singular = frozenset() if moments.saved_search is None else moments.saved_search.singular
    noise = moments.rounding.max(axis=1, initial=SINGULAR)
    lost = [g in singular or not has_full_rank(matrix, noise[g]) for g, matrix in enumerate(matrices)]
    if not any(lost):
        return matrices, []
    everything = float(moments.weight.sum())
    pooled = moments.scatter.sum(axis=0) / (everything if everything > 0 else 1.0)
    target, reason = pooled, "the covariance shared by all classes"
    # A covariance that was losing rank in EM may dominate the pooled one.
    if not has_full_rank(pooled, max(noise.max(), VANISHING if singular else SINGULAR)):
        diagonal = np.diag(pooled)
        diagonal = np.where(diagonal > 0, diagonal, moments.total_variance)
        target = _with_one_of(np.diag(diagonal), nearest_covariance(pooled), everything)
        reason += " (singular too, so it got one of its variances)"
    target = tying.shaped_one(target)
    count = tying.pooled(moments.weight)
    notes = []
    for g in np.flatnonzero(lost):
        matrices[g] = _with_one_of(target, nearest_covariance(matrices[g]), count[g])
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


def has_full_rank(matrix: Array, singular: float = SINGULAR) -> bool:
    """Whether a covariance has full rank whatever the units: judged on its correlations."""
    diagonal = np.diag(matrix)
    if (diagonal <= 0).any():
        return False
    inverse = 1.0 / np.sqrt(diagonal)
    correlation = matrix * inverse
    correlation *= inverse[:, np.newaxis]
    smallest = singular * len(matrix)
    size = float(np.linalg.norm(correlation, 1)) if len(matrix) else 0.0
    root, failed = linalg.lapack.dpotrf(correlation, lower=True)
    if failed and len(matrix) < ROUNDED_AWAY:
        return False
    if not failed and len(matrix):
        # The condition number in the 1-norm is cheap, and bounds the smallest eigenvalue from below.
        reciprocal, _ = linalg.lapack.dpocon(root, size, uplo="L")
        if reciprocal * size > 10.0 * smallest:
            return True
    return len(matrix) == 0 or bool(linalg.eigvalsh(correlation, subset_by_index=(0, 0))[0] > smallest)
