"""From sums to parameters, for columns of numbers: centre, smooth, tie, and invert the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.factors.base import Regularized, unseen_log_shares
from suffice.factors.solved_columns import SolvedColumns
from suffice.families import DispersedFamily, Family
from suffice.families.elementary import DEGREE, Array, Exponents, exponent_of, rebase

if TYPE_CHECKING:
    from suffice.factors.columns import ColumnTotals

LOG_TWO = float(np.log(2.0))
REGULARIZATION = 1e-3
"""Pseudo-observations of the pooled column given to a class that has no maximum likelihood."""


def solve_columns(totals: ColumnTotals, labels: list[str]) -> SolvedColumns:
    """Maximum likelihood of every class and column, after smoothing and tying."""
    family = totals.family
    about = _centred(totals)
    origin = _in_units(family, about.centre, about.exponent)
    mean = family.smooth(_ratio(about.total, about.weight), about.weight, about.pooled)
    tied = False
    if isinstance(family, DispersedFamily) and family.dispersion == "shared":
        tied = True
        mean = family.shared(mean, about.weight, origin)

    at_boundary = family.boundary(mean, origin)
    constant_column = about.constant & at_boundary.all(axis=0)
    at_boundary &= ~constant_column
    solved = SolvedColumns(family, *about.weight.shape)
    if not family.point_masses and at_boundary.any():
        share = REGULARIZATION / (about.weight + REGULARIZATION)
        mean = np.where(at_boundary, (1.0 - share) * mean + share * about.pooled, mean)
        solved.regularized = [_regularized(family, labels[j], int(k)) for k, j in np.argwhere(at_boundary)]
        at_boundary = np.zeros_like(at_boundary)

    valid = ~(at_boundary | constant_column)
    natural = family.natural_from_mean(mean[:, valid], origin[valid])
    solved.natural[:, valid] = natural
    log_unit = np.broadcast_to(about.exponent * LOG_TWO, valid.shape)[valid]
    solved.constant[valid] = family.unit_power * log_unit - family.log_normalizer(natural, origin[valid])
    solved.origin, solved.exponent, solved.weight = about.centre, about.exponent, about.weight
    solved.point, solved.active = at_boundary, ~constant_column
    with np.errstate(over="ignore"):
        solved.location = about.centre + np.ldexp(mean[0], DEGREE[family.functions[0]] * about.exponent)

    n_classes, n_active = len(about.weight), int(solved.active.sum())
    others = n_classes * (family.n_statistics - 1)
    solved.n_parameters = n_active * (others + 1 if tied else others + n_classes)
    solved.log_likelihood = _log_likelihood(solved, about.total, totals.base)
    return solved


@dataclass(frozen=True)
class _Centred:
    """Totals of each class about its own mean, and the whole column's mean statistics beside them."""

    total: Array
    weight: Array
    centre: Array
    exponent: Exponents
    pooled: Array
    """Mean statistics of the whole column, about the centre of each class."""
    constant: NDArray[np.bool_]
    """Columns that do not vary at all, or have no rows."""


def _centred(totals: ColumnTotals) -> _Centred:
    family, functions = totals.family, totals.family.functions
    present = np.broadcast_to(totals.support > 0, totals.origin.shape)
    first = totals.origin[np.argmax(present, axis=0), np.arange(totals.n_columns)]
    reference = np.where(present.any(axis=0), first, family.default_origin)
    origin = np.where(present, totals.origin, reference)
    if family.unit == "spread":
        totals = totals.copy()
        totals.raise_unit(exponent_of(np.abs(origin - reference).max(axis=0, initial=0.0)))
    exponent = totals.exponent
    weight = np.where(present, totals.weight, 0.0)
    total = np.where(present, totals.total, 0.0)

    everything = weight.sum(axis=0)
    target = np.broadcast_to(reference, origin.shape)
    pooled = _ratio(rebase(functions, total, weight, origin, target, exponent).sum(axis=1), everything)
    middle = _centre(family, pooled, reference, exponent)
    pooled = rebase(functions, pooled, np.ones_like(everything), reference, middle, exponent)
    constant = family.boundary(pooled, _in_units(family, middle, exponent)) | (everything <= 0)

    centre = np.where(present, _centre(family, _ratio(total, weight), origin, exponent), middle)
    total = rebase(functions, total, weight, origin, centre, exponent)
    spread = np.broadcast_to(pooled[:, np.newaxis], total.shape)
    target = np.broadcast_to(middle, centre.shape)
    pooled = rebase(functions, spread, np.ones_like(weight), target, centre, exponent)
    return _Centred(total, weight, centre, exponent, pooled, constant)


def _regularized(family: Family, label: str, k: int) -> Regularized:
    return Regularized(
        label,
        k,
        f"all its values are equal, and {family.name} has no maximum likelihood there: "
        f"{REGULARIZATION} pseudo-observations of the whole column were added",
    )


def _log_likelihood(solved: SolvedColumns, total: Array, base: Array) -> float:
    """Log p of the summarized cells at the solved parameters; unbounded on a continuous point."""
    if solved.point.any() and not solved.family.discrete:
        return float("inf")
    value = float(np.sum(solved.natural * total) + np.sum(solved.weight * solved.constant))
    if base.shape[1]:
        value += float(base[:, solved.active].sum())
    if solved.family.unseen == "smooth":
        _, log_rest = unseen_log_shares(solved.weight, solved.family.alpha, 1)
        value += float(np.sum((solved.weight * log_rest)[:, solved.active]))
    return value


def _ratio(total: Array, weight: Array) -> Array:
    """total / weight, 0 where there is no weight."""
    return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def _in_units(family: Family, origin: Array, exponent: Exponents) -> Array:
    """An origin as the family's formulas take it: they need its size only where the unit follows it."""
    return np.ldexp(origin, -exponent) if family.unit == "size" else origin


def _centre(family: Family, mean: Array, origin: Array, exponent: Exponents) -> Array:
    """Where to centre scores: the family's choice, in the units of the data."""
    if not family.centred:
        return origin
    with np.errstate(over="ignore"):
        raw = [
            np.ldexp(row, DEGREE[name] * exponent) for name, row in zip(family.functions, mean, strict=True)
        ]
        return family.origin_from_mean(np.stack(raw), origin)
