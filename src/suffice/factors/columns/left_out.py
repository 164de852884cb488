"""Columns of numbers without each of their rows: n rows of d columns are solved as n·d columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.factors.columns.functions import column_terms
from suffice.factors.columns.predictive import predictive_columns
from suffice.factors.columns.rounding import cancels
from suffice.factors.columns.scores import SolvedColumns
from suffice.factors.columns.solve import solve_columns
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.left_out import LabelledBlock, LeftOut, sums_of_others
from suffice.families.elementary import exponent_of
from suffice.kernels.cells import class_blocks

SHRINKS = 12
"""Powers of two by which the values of a class may come closer when a row leaves. Beyond, what varies in the
unit of all rows may be taken for rounding."""

NARROW = 2.0**-10
"""A dispersion that is a small difference of sums has the relative error ε·c/(x − c). Columns whose values
differ by less than this share of their size are solved afresh: only the same sums give the same digits."""

Solve = Callable[[ColumnTotals, list[str], int], SolvedColumns]
"""(totals, labels, rows left out) → parameters; each of the rows has its d columns."""


def leave_out_columns(
    totals: ColumnTotals, rows: LabelledBlock, solve: Solve | None = None
) -> LeftOut | None:
    """The scores of every row by the columns of all others; None where cells are not stored one by one."""
    if sparse.issparse(rows.block):
        return None
    wide = _WithoutEach(totals, rows)
    scores, n_classes = np.empty((len(rows.codes), len(rows.classes))), len(rows.classes)
    for part in rows.parts(totals.total.shape[0] * n_classes * totals.n_columns):
        n_rows = len(rows.codes[part])
        labels = rows.labels * n_rows
        if solve is None:
            solved = solve_columns(wide.totals(part), labels, rows.classes)
        else:
            solved = solve(wide.totals(part), labels, n_rows)
        factor = predictive_columns(solved, labels, rows.classes) if rows.predictive else solved
        cells = factor.contributions(wide.values[part].reshape(1, -1), labels, base=False)
        scores[part] = cells.reshape(n_rows, totals.n_columns, n_classes).sum(axis=1)
    return LeftOut.checked(scores, wide.exact)


class _WithoutEach:
    """The sums of each class without each of its rows, about one origin of the class."""

    def __init__(self, all_rows: ColumnTotals, rows: LabelledBlock) -> None:
        self.family, self.codes = all_rows.family, rows.codes
        self.values = np.asarray(rows.block, dtype=np.float64)
        self.n_classes = len(rows.classes)
        seen = ~np.isnan(self.values)
        self.origin = np.full((self.n_classes, self.values.shape[1]), self.family.default_origin)
        if self.family.centred:
            self._place_origins()
        self.exact = rows.support[self.codes] > 1
        self.exponent = all_rows.exponent
        if self.family.scaled or self.family.centred:
            self._measure(all_rows)
        if cancels(self.family):
            self.exact &= ~self._is_narrow(slice(None))
            if self.family.alpha == 0.0:  # else a narrow class has the dispersion of the whole column
                for _, mine in class_blocks(self.codes, self.n_classes):
                    self.exact &= ~self._is_narrow(mine).any()
        terms = [
            np.where(seen, term, 0.0) * rows.weights[:, np.newaxis]
            for term in column_terms(
                self.family.functions, self.values, self.origin[self.codes], self._empty(0).unit
            )
        ]
        self.of_class, self.of_others = self._sums(np.stack([*terms, seen * rows.weights[:, np.newaxis]], 1))
        self.support, self.left = self._sums(seen.astype(np.float64))
        if self.family.centred:  # a single value that is not the origin would have a variance of rounding
            self.exact &= ~(self.left == 1).any(axis=1)

    def _place_origins(self) -> None:
        """The middle value of each class and column, so that it is far from no row that stays."""
        for k, mine in class_blocks(self.codes, self.n_classes):
            ordered = np.sort(self.values[mine], axis=0)
            last = np.maximum((~np.isnan(ordered)).sum(axis=0) - 1, 0)
            middle = ordered[last // 2, np.arange(ordered.shape[1])]
            self.origin[k] = np.where(np.isnan(middle), self.family.default_origin, middle)

    def _measure(self, all_rows: ColumnTotals) -> None:
        """Find the unit of each column, and the rows without which a class is much narrower."""
        reach = np.nan_to_num(all_rows.reach(self.values, self.origin[self.codes]))
        self.exponent = exponent_of(reach.max(axis=0, initial=0.0))
        exponents = exponent_of(reach)
        for _, mine in class_blocks(self.codes, self.n_classes):
            sizes = exponents[mine]
            if len(sizes) > 1:
                second = np.partition(sizes, -2, axis=0)[-2]
                self.exact[mine] &= ~(sizes > second + SHRINKS).any(axis=1)

    def _is_narrow(self, mine: Codes | slice) -> NDArray[np.bool_]:
        """Whether some column of these rows, if not constant, has hardly any width without each of them."""
        values = self.values[mine]
        if len(values) < 2:
            return np.zeros(len(values), np.bool_)
        low, next_low = np.partition(np.where(np.isnan(values), np.inf, values), 1, axis=0)[:2]
        next_high, high = np.partition(np.where(np.isnan(values), -np.inf, values), -2, axis=0)[-2:]
        least, most = np.where(values == low, next_low, low), np.where(values == high, next_high, high)
        with np.errstate(invalid="ignore"):  # ∞ − ∞, where fewer than two are left
            return np.asarray(((high > low) & (most - least < NARROW * high)).any(axis=1))

    def _sums(self, terms: Array) -> tuple[Array, Array]:
        """The sums of each class, and for each row those of the other rows of its class."""
        every = np.zeros((self.n_classes, *terms.shape[1:]))
        for k, mine in class_blocks(self.codes, self.n_classes):
            every[k] = terms[mine].sum(axis=0)
        return every, sums_of_others(terms, self.codes, self.n_classes)

    def _empty(self, n_rows: int) -> ColumnTotals:
        empty = ColumnTotals.empty(self.family, n_rows * self.values.shape[1])
        empty.exponent = np.tile(self.exponent, n_rows) if n_rows else self.exponent
        return empty

    def totals(self, part: slice) -> ColumnTotals:
        """The sums of every class and column, without one of these rows after the other."""
        own = self.codes[part]
        at = (own, np.arange(len(own)))

        def spread(of_class: Array, of_others: Array) -> Array:
            """By class, row left out and column."""
            shape = (self.n_classes, len(own), *of_class.shape[1:])
            sums = np.broadcast_to(of_class[:, np.newaxis], shape).copy()
            sums[at] = of_others[part]
            return np.moveaxis(sums, 1, -2).reshape(self.n_classes, *of_class.shape[1:-1], -1)

        sums = np.moveaxis(spread(self.of_class, self.of_others), 1, 0)
        totals = self._empty(len(own))
        totals.total, totals.weight = sums[:-1], sums[-1]
        totals.support = spread(self.support, self.left).astype(np.int64)
        totals.origin = np.tile(self.origin, len(own))
        totals.base = np.zeros((self.n_classes, totals.n_columns if self.family.has_base_measure else 0))
        return totals
