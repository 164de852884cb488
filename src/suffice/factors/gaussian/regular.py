"""Regularisation of singular covariances, and the notes on what was done."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from scipy import linalg

from suffice.arrays import Array
from suffice.factors.base import Regularized
from suffice.factors.gaussian.em import VANISHING
from suffice.factors.gaussian.moments import ClassMoments, Moments, nearest_covariance
from suffice.factors.gaussian.thin import ThinCovariance
from suffice.factors.gaussian.tying import Tying

Covariance = TypeVar("Covariance", Array, ThinCovariance)

SINGULAR = 1e-12
"""A correlation matrix with an eigenvalue below this (times its size) has lost rank, whatever the noise."""
ROUNDED_AWAY = 8192
"""Sizes up to which the elimination of a correlation matrix fails only where an eigenvalue is below SINGULAR
times the size (Demmel 1989: it succeeds from size²·ε on)."""
LEAST = 1e-6
"""The smallest share of a pseudo-observation: less, applied twice, would be lost in rounding."""
CERTAINLY = 10.0
"""How many times its rounding a variance exceeds where there is no doubt."""
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
    covariances: list[Covariance],
    pooled: Covariance,
    noise: Array,
    moments: Moments,
    tying: Tying,
    least: Array | float = 0.0,
) -> dict[int, str]:
    """Make covariances positive definite: a singular one gets one pseudo-observation of the pooled one.

    If the pooled covariance is singular too, it first gets one pseudo-observation of its diagonal, with the
    total variance for columns that are constant within every class. Variance in any direction that may be
    rounding error from removed rows, given the `noise` of the diagonals (g, d), is taken as zero. The `least`
    variances (g, d), which a covariance exceeds in all directions, may tell that it is not singular.

    Returns what the groups of the singular ones got.
    """
    singular = frozenset() if moments.saved_search is None else moments.saved_search.singular
    floor = [rounding_of(one, lost) for one, lost in zip(covariances, noise, strict=True)]
    certain = np.all(least > CERTAINLY * np.stack(floor), axis=1)
    lost = [
        g in singular or not (certain[g] or has_full_rank(one, floor[g])) for g, one in enumerate(covariances)
    ]
    if not any(lost):
        return {}
    everything = float(moments.weight.sum()) or 1.0
    target, reason = pooled, "the covariance shared by all classes"
    # A covariance that was losing rank in EM may dominate the pooled one.
    pooled_floor = rounding_of(
        pooled, moments.noise.sum(axis=0) / everything, VANISHING if singular else SINGULAR
    )
    if not has_full_rank(pooled, pooled_floor):
        diagonal = _variances(pooled)
        diagonal = np.where(diagonal > 0, diagonal, moments.total_variance)
        target = _with_variances(diagonal, _without_rounding(pooled, pooled_floor), everything)
        reason += " (singular too, so it got one of its variances)"
    target = _shaped(target, tying)
    count = tying.pooled(moments.weight)
    for g in np.flatnonzero(lost):
        share = _share_of_one(count[g])
        covariances[g] = (1.0 - share) * _without_rounding(covariances[g], floor[g]) + share * target
    return dict.fromkeys(np.flatnonzero(lost).tolist(), reason)


def notes_of(regularized: dict[int, str], tying: Tying, label: str, classes: list[Any]) -> list[Regularized]:
    """Notes on the classes of regularised groups."""
    start = "its covariance is singular, so it got one pseudo-observation of "
    return [
        Regularized(label, classes[k], start + reason)
        for g, reason in regularized.items()
        for k in np.flatnonzero(tying.group == g)
    ]


def _shaped(covariance: Covariance, tying: Tying) -> Covariance:
    """Only the diagonal, or Σ = λI, if that is the shape: rows are kept for none of these."""
    if isinstance(covariance, ThinCovariance):
        return covariance
    return tying.shaped_one(covariance)


def _variances(covariance: Array | ThinCovariance) -> Array:
    return covariance.variances if isinstance(covariance, ThinCovariance) else np.diag(covariance)


def _with_variances(variances: Array, covariance: Covariance, count: float) -> Covariance:
    """A covariance of `count` rows with one pseudo-observation of columns that are independent."""
    share = _share_of_one(count)
    if isinstance(covariance, ThinCovariance):
        return (1.0 - share) * covariance + share * covariance.diagonal_of(variances)
    return np.asarray((1.0 - share) * covariance + share * np.diag(variances))


def _share_of_one(count: float) -> float:
    """The share of one pseudo-observation next to `count` rows: at least LEAST."""
    return float(max(1.0 / (count + 1.0), LEAST))


def _without_rounding(covariance: Covariance, rounding: Array) -> Covariance:
    """The nearest covariance with zeros for what may be rounding; next to none needs no eigenvalues."""
    if isinstance(covariance, ThinCovariance):  # rows that are kept have lost no digits
        return covariance
    noisy = (rounding > rounding_of(covariance, 0.0)).any()
    return nearest_covariance(covariance, rounding if noisy else None)


def rounding_of(covariance: Array | ThinCovariance, noise: Array | float, share: float = SINGULAR) -> Array:
    """How large a variance in each column, (d,), may be all rounding error, together with the others."""
    return np.asarray(len(covariance) * np.maximum(noise, share * _variances(covariance)))


def have_full_rank(covariances: Array, noise: Array, least: Array) -> bool:
    """Whether all of some covariances (g, d, d) certainly exceed their rounding in all directions.

    They exceed the `least` variances (g, d) in all directions.
    """
    variances, d = np.diagonal(covariances, axis1=1, axis2=2), covariances.shape[1]
    if not (variances > 0).all():
        return False
    rounding = d * np.maximum(noise, SINGULAR * variances)
    if (least > CERTAINLY * rounding).all():
        return True
    inverse = 1.0 / np.sqrt(rounding)
    in_units = covariances * inverse[:, :, np.newaxis] * inverse[:, np.newaxis]
    try:
        np.linalg.cholesky(in_units - CERTAINLY * np.eye(d))
    except np.linalg.LinAlgError:
        return False
    return True


def has_full_rank(covariance: Array | ThinCovariance, rounding: Array | None = None) -> bool:
    """Whether a covariance exceeds the `rounding` of its columns in all directions."""
    if (_variances(covariance) <= 0).any():
        return False
    if rounding is None:
        rounding = rounding_of(covariance, 0.0)
    if isinstance(covariance, ThinCovariance):
        exceeds = covariance.exceeds(rounding)
        if exceeds is not None:
            return exceeds
        covariance = covariance.matrix
    matrix, inverse = covariance, 1.0 / np.sqrt(rounding)
    in_units = matrix * inverse
    in_units *= inverse[:, np.newaxis]
    size = float(np.linalg.norm(in_units, 1)) if len(matrix) else 0.0
    root, failed = linalg.lapack.dpotrf(in_units, lower=True)
    if failed and len(matrix) < ROUNDED_AWAY:
        return False
    if not failed and len(matrix):
        # The condition number in the 1-norm is cheap, and bounds the smallest eigenvalue from below.
        reciprocal, _ = linalg.lapack.dpocon(root, size, uplo="L")
        if reciprocal * size > CERTAINLY:
            return True
    return len(matrix) == 0 or bool(linalg.eigvalsh(in_units, subset_by_index=(0, 0))[0] > 1.0)
