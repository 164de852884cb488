"""From sums to parameters, for columns of numbers: centre, smooth, tie, and invert the mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Exponents
from suffice.factors.base import Regularized
from suffice.factors.columns.refuse import beyond_floats
from suffice.factors.columns.rounding import centre_of, counts
from suffice.factors.columns.scores import SolvedColumns
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.scores import unseen_log_shares
from suffice.families import DispersedFamily, Family
from suffice.families.elementary import exponent_of, rebase
from suffice.families.special import LOG_TWO

REGULARIZATION = 1e-3
"""Pseudo-observations of the pooled column given to a class without a maximum-likelihood estimate."""

_NOISE = "after rows were removed its values differ by no more than rounding error, so they count as equal"


def solve_columns(totals: ColumnTotals, labels: list[str], classes: NDArray[Any]) -> SolvedColumns:
    """Maximum likelihood of every class and column, after smoothing and tying."""
    family = totals.family
    totals, doubt = _without_noise(totals)
    about = _centred(totals)
    origin = about.centre
    mean = family.smooth(about.mean, about.weight, about.pooled)
    tied = False
    if isinstance(family, DispersedFamily) and family.dispersion == "shared":
        tied = True
        mean = family.shared(mean, about.weight, origin)

    if not np.isfinite(mean).all():
        raise ValueError(beyond_floats(family, labels[int(np.argmax(~np.isfinite(mean).all(axis=(0, 1))))]))
    at_boundary = family.boundary(mean, origin)
    constant_column = about.constant & (family.centred | at_boundary.all(axis=0)) | about.empty
    at_boundary &= ~constant_column
    solved = SolvedColumns(family, *about.weight.shape)
    if about.noisy.any():
        lost = "after rows were removed only rounding error is left of it, so it is ignored until a refit"
        solved.regularized = [Regularized(labels[j], None, lost) for j in np.flatnonzero(about.noisy)]
    if not family.point_masses and at_boundary.any():
        share = REGULARIZATION / (about.weight + REGULARIZATION)
        mean = np.where(at_boundary, (1.0 - share) * mean + share * about.pooled, mean)
        solved.regularized += [
            _regularized(family, labels[j], classes.tolist()[k]) for k, j in np.argwhere(at_boundary)
        ]
        at_boundary = np.zeros_like(at_boundary)

    is_valid = ~(at_boundary | constant_column)
    valid = ... if is_valid.all() else is_valid
    natural = family.natural_from_mean(mean[:, valid], origin[valid])
    if not np.isfinite(natural).all():
        bad = np.zeros_like(is_valid)
        bad[valid] = ~np.isfinite(natural).all(axis=0)
        raise ValueError(beyond_floats(family, labels[int(np.argmax(bad.any(axis=0)))]))
    solved.natural[:, valid] = natural
    log_unit = (about.unit * LOG_TWO + np.zeros(is_valid.shape))[valid]
    solved.constant[valid] = -log_unit - family.log_normalizer(natural, origin[valid])
    solved.origin, solved.exponent, solved.weight = about.centre, about.unit, about.weight
    solved.point, solved.active = at_boundary, ~constant_column
    solved.location = centre_of(family, mean, about.centre, about.unit)
    solved.doubt = doubt
    if at_boundary.any():
        solved.vanishing = _vanishing(family, about, at_boundary)
        solved.regularized += [
            Regularized(labels[j], classes.tolist()[k], _NOISE)
            for k, j in np.argwhere(at_boundary & (doubt > 0))
        ]

    n_classes, n_active = len(about.weight), int((solved.active & ~about.constant).sum())
    others = n_classes * (family.n_statistics - 1)
    solved.n_parameters = n_active * (others + 1 if tied else others + n_classes)
    solved.log_p_of_rows = _log_likelihood(solved, about.total, totals.base)
    return solved


def _without_noise(totals: ColumnTotals) -> tuple[ColumnTotals, Array]:
    """The sums with classes exactly constant that vary by rounding error only, after rows were removed.

    Also how far their values may lie from where they now are, (classes, columns).
    """
    if totals.peak is None or counts(totals.family):
        return totals, np.zeros(totals.origin.shape)
    left = (totals.support > 0) & (totals.weight > 0) & totals.total.any(axis=0)
    about = totals.about_means(left)
    constant = left & totals.family.boundary(about.mean, about.centre, about.spread)
    cleaned = totals.copy()
    cleaned.origin = np.where(constant, about.centre, totals.origin)
    cleaned.total = np.where(constant, 0.0, totals.total)
    return cleaned, np.where(constant, about.doubt, 0.0)


@dataclass(frozen=True)
class _Centred:
    """Totals of each class about its own mean, with the mean statistics of the whole column."""

    total: Array
    weight: Array
    centre: Array
    unit: Exponents
    mean: Array
    """Mean statistics of each class."""
    pooled: Array
    """Mean statistics of the whole column, about the centre of each class."""
    constant: NDArray[np.bool_]
    """Columns that vary by no more than the rounding that removed rows may have left."""
    noisy: NDArray[np.bool_]
    """Columns that are constant only up to rounding: the removed rows took their digits."""
    empty: NDArray[np.bool_]
    """Columns without rows."""


def _centred(totals: ColumnTotals) -> _Centred:
    family = totals.family
    present = totals.support > 0  # one column stands for all
    first = totals.origin[present.argmax(axis=0), np.arange(totals.n_columns)]
    reference = np.where(present.any(axis=0), first, family.default_origin)
    origin = np.where(present, totals.origin, reference)
    if family.scaled:
        apart = exponent_of(np.abs(origin - reference).max(axis=0, initial=0.0))
        if (apart > totals.exponent).any():
            totals = totals.copy()
            totals.raise_unit(apart)
    unit = totals.unit
    weight = np.where(present, totals.weight, np.zeros(totals.n_columns))
    total = np.where(present, totals.total, 0.0)

    everything = weight.sum(axis=0)
    pooled = _ratio(_moved(family, total, weight, origin, reference, unit).sum(axis=1), everything)
    middle = centre_of(family, pooled, reference, unit) if family.centred else reference
    pooled = _moved(family, pooled, np.ones(len(everything)), reference, middle, unit)
    empty = everything <= 0
    noise = totals.noise / np.maximum(everything, 1.0)
    constant = family.boundary(pooled, middle, noise)
    noisy = constant & ~family.boundary(pooled, middle) if constant.any() else constant

    own = centre_of(family, _ratio(total, weight), origin, unit) if family.centred else origin
    centre = np.where(present, own, middle)
    total = _moved(family, total, weight, origin, centre, unit)
    spread = pooled[:, np.newaxis].repeat(len(weight), axis=1)
    pooled = _moved(family, spread, np.ones(weight.shape), middle, centre, unit)
    mean = _ratio(total, weight)
    if counts(family):
        mean, pooled, constant = _at_bounds(totals, mean, pooled)
        total = np.where(mean == 0.0, 0.0, total)
    return _Centred(total, weight, centre, unit, mean, pooled, constant, noisy, empty)


def _moved(
    family: Family, total: Array, weight: Array, origin: Array, target: Array, unit: Exponents
) -> Array:
    """Sums about another origin; where they are not centred, there is only one."""
    return rebase(family.functions, total, weight, origin, target, unit) if family.centred else total


def _at_bounds(totals: ColumnTotals, mean: Array, pooled: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Means of counts, of each class and of the column, with those that rounding moved off a bound put back.

    The sum of counts that are all 0 is exactly 0, until rows are removed. Of counts that are all at the upper
    bound, it is rounded as soon as the rows have weights. Also whether the whole column lies at one bound.
    """
    present = np.broadcast_to(totals.support > 0, totals.origin.shape)
    low, high = totals.family.mean_bounds()
    bounds: dict[float, Array | float] = {low: 0.0}
    if totals.peak is not None or np.isfinite(high):
        noise = totals.about_means(present & (totals.weight > 0)).spread
        bounds = {low: 0.0 if totals.peak is None else noise, high: noise}
    constant = np.zeros(totals.n_columns, np.bool_)
    for bound, near in bounds.items():
        at_bound = present & (np.abs(mean[0] - bound) <= near)
        mean = np.where(at_bound, bound, mean)
        everywhere = (at_bound | ~present).all(axis=0) & at_bound.any(axis=0)
        pooled = np.where(everywhere, bound, pooled)
        constant |= everywhere
    return mean, pooled, constant


def _vanishing(family: Family, about: _Centred, point: NDArray[np.bool_]) -> Array:
    """The log of what a value off a point mass leaves beside alpha^order, per unit of order.

    For counts the density of x vanishes as alpha^|x − point|: λ = ±(log alpha + κ), and this is κ, read
    off a solve with a tiny alpha. A continuous class that was constant leaves 1/W.
    """
    kappa = np.zeros_like(about.weight)
    kappa[point] = -np.log(np.where(about.weight > 0, about.weight, 1.0)[point])
    if family.discrete:
        tiny = 2.0**-300
        mean, pooled = about.mean, about.pooled
        low, high = family.mean_bounds()
        if np.isfinite(high):
            # Seen from the other end, a point mass at the upper bound is one at the lower.
            upper = mean > low
            mean, pooled = np.where(upper, high - mean, mean), np.where(upper, high - pooled, pooled)
        smoothed = replace(family, alpha=tiny).smooth(mean, about.weight, pooled)
        kappa[point] = family.natural_from_mean(smoothed[:, point], about.centre[point])[0] - np.log(tiny)
    return kappa


def _regularized(family: Family, column: str, label: Any) -> Regularized:
    return Regularized(
        column,
        label,
        f"all values are equal, so {family.name} has no maximum-likelihood estimate: "
        f"{REGULARIZATION} pseudo-observations of the whole column were added",
    )


def _log_likelihood(solved: SolvedColumns, total: Array, base: Array) -> float:
    """Log p of the summarized cells at the solved parameters; unbounded on a continuous point."""
    if solved.point.any() and not solved.family.discrete:
        return float("inf")
    value = float((solved.natural * total).sum() + (solved.weight * solved.constant).sum())
    if base.shape[1]:
        value += float(base[:, solved.active].sum())
    if solved.family.unseen == "smooth" and not solved.family.takes_every_number:
        _, log_rest = unseen_log_shares(solved.weight, solved.family.alpha, 1)
        value += float(np.sum((solved.weight * log_rest)[:, solved.active]))
    return value


def _ratio(total: Array, weight: Array) -> Array:
    """total / weight, 0 where there is no weight."""
    return np.divide(total, weight, out=np.zeros(total.shape), where=weight > 0)
