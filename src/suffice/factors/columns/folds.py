"""Sums of all rows but those of each fold, side by side: every cell is read once, and folds are added."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from suffice.arrays import Array, Codes, Counts, Exponents
from suffice.factors.blocks import FoldedCells
from suffice.factors.columns.functions import column_terms
from suffice.families import Family
from suffice.families.elementary import SMALLEST_UNIT, exponent_of


class FoldSums(NamedTuple):
    """What `ColumnTotals` hold, of as many times the columns as there are folds."""

    total: Array
    weight: Array
    support: Counts
    origin: Array
    exponent: Exponents
    base: Array


def sums_without_folds(
    family: Family,
    reach: Callable[[Array, Array], Array],
    cells: FoldedCells,
    classes: Codes,
    weights: Array | None,
    n_classes: int,
) -> FoldSums:
    """The sums of rows of these classes; `reach` says how far values lie from origins."""
    rows = _Rows(cells, classes, n_classes)
    weight = None if weights is None else weights[rows.order, np.newaxis]
    values, seen = rows.values, ~np.isnan(rows.values)
    has_gaps, n_folds = not seen.all(), cells.rows.n_folds
    shape = n_classes, values.shape[1]
    origin = np.full(shape, family.default_origin)
    exponent = np.zeros(shape[1], dtype=np.int32)
    if family.centred or family.scaled:
        low, high = (rows.extremes(extreme) for extreme in (np.fmin, np.fmax))
        if family.centred:
            origin = np.nan_to_num(np.fmin.reduce(low, axis=0))
        away = np.maximum(reach(low, origin), reach(high, origin))
        exponent = exponent_of(np.fmax.reduce(away, axis=(0, 1), initial=0.0))
    unit = np.maximum(exponent, SMALLEST_UNIT) if family.scaled else np.zeros_like(exponent)

    def summed(each: Array) -> Array:
        if has_gaps:
            each[~seen] = 0.0
        return rows.without_each(each if weight is None else weight * each)

    about, functions = origin[rows.classes], family.functions
    total = np.stack([summed(u) for u in column_terms(functions, values, about, unit)])
    support = rows.without_each(seen.astype(np.float64))
    held = support if weight is None else rows.without_each(weight * seen)
    base = summed(family.log_base_measure(values)) if family.has_base_measure else np.zeros((n_classes, 0))
    origin = np.tile(origin, n_folds)
    if family.centred:
        # About a value of the fold, sums of a class that is constant without it would vary by rounding.
        least, largest = rows.extremes_without_each(low, high)
        constant = least == largest
        origin = np.where(constant, least, origin)
        named = np.array([isinstance(one, str) for one in functions])  # these are 0 at the origin
        total[named[:, np.newaxis, np.newaxis] & constant] = 0.0
    exponents = np.tile(exponent, n_folds)
    return FoldSums(total, held, support.astype(np.int64), origin, exponents, base)


class _Rows:
    """Rows in the order of their groups, and of their classes."""

    def __init__(self, cells: FoldedCells, classes: Codes, n_classes: int) -> None:
        group = cells.rows.by_class(classes, n_classes)
        self.order = np.argsort(group, kind="stable")
        self.values, self.classes = cells.values(self.order), classes[self.order]
        group = group[self.order]
        self._starts = np.flatnonzero(np.diff(group, prepend=-1))
        self._groups, self._folds = group[self._starts], cells.rows
        self._shape = (cells.rows.n_groups, n_classes)

    def without_each(self, cells: Array) -> Array:
        """Sums of cells (rows, columns) over all rows but those of each fold, (classes, folds × columns)."""
        sums = np.zeros((self._shape[0] * self._shape[1], cells.shape[1]))
        sums[self._groups] = np.add.reduceat(cells, self._starts, axis=0)
        return _side_by_side(self._folds.without_each(sums.reshape(*self._shape, -1)))

    def extremes(self, extreme: np.ufunc) -> Array:
        """The least or the largest value by group and class, (groups, classes, columns); NaN for none."""
        found = np.full((self._shape[0] * self._shape[1], self.values.shape[1]), np.nan)
        found[self._groups] = extreme.reduceat(self.values, self._starts, axis=0)
        return found.reshape(*self._shape, -1)

    def extremes_without_each(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The same over all rows but those of each fold, (classes, folds × columns)."""
        others = self._folds.others[:, :, np.newaxis, np.newaxis] > 0
        return (
            _side_by_side(np.fmin.reduce(np.where(others, low, np.nan), axis=1)),
            _side_by_side(np.fmax.reduce(np.where(others, high, np.nan), axis=1)),
        )


def _side_by_side(of_folds: Array) -> Array:
    """Numbers (folds, classes, columns) as (classes, folds × columns)."""
    return of_folds.swapaxes(0, 1).reshape(of_folds.shape[1], -1)
