"""Counts per class and fine cell of a column of numbers.

A cell is a run of floating-point numbers, those that agree in all but the last `shift` bits. The order of
their bits is the order of the numbers, so cells are narrow near 0 and wide far out, and widening by a bit
joins pairs exactly. The shift is as small as at most `CELLS` cells with rows allow, for any batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.base import gather
from suffice.factors.blocks import FoldedRows
from suffice.factors.checks import within
from suffice.factors.levels.joining import begins_of_runs
from suffice.storage import Fields

CELLS = 4096
"""The most cells with rows of a column."""
BITS = 63


@dataclass(frozen=True)
class SortedColumn:
    """Which cell each number of a column is in; the cells are in order, and some may have no number."""

    shift: int
    cells: NDArray[np.int64]
    codes: Codes
    """−1 for a missing number."""

    @classmethod
    def of(cls, values: NDArray[Any], shift: int) -> Self:
        """Sort numbers into cells of this shift, apart from NaN."""
        values = np.asarray(values, dtype=np.float64)
        seen = ~np.isnan(values)
        cells, found = np.unique(_in_order(values[seen]) >> shift, return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.intp)
        codes[seen] = found
        return cls(shift, cells, codes)

    def rows(self, rows: Codes) -> Self:
        """The numbers of some rows, in the same cells."""
        return replace(self, codes=self.codes[rows])


@dataclass
class CellCounts:
    """Weights and row counts (classes, cells) of one column; the cells are in order."""

    shift: int
    cells: NDArray[np.int64]
    weight: Array
    support: Counts

    @classmethod
    def empty(cls, n_classes: int) -> CellCounts:
        """No cells yet."""
        return cls(0, np.zeros(0, np.int64), np.zeros((n_classes, 0)), np.zeros((n_classes, 0), np.int64))

    @classmethod
    def of(cls, column: SortedColumn, classes: Codes, weights: Array | None, n_classes: int) -> Self:
        """The counts of some numbers, in cells of the shift that they are sorted with or wider."""
        seen = column.codes >= 0
        codes, cells = column.codes, column.cells
        if not seen.all():
            codes, classes = codes[seen], classes[seen]
            weights = None if weights is None else weights[seen]
        held = np.bincount(codes, minlength=len(cells)) > 0
        if not held.all():
            codes, cells = (np.cumsum(held) - 1)[codes], cells[held]
        wider = _least_shift(cells)
        if wider:
            begins = begins_of_runs(cells >> wider)
            codes, cells = (np.cumsum(begins) - 1)[codes], (cells >> wider)[begins]
        places, shape = classes * len(cells) + codes, (n_classes, len(cells))
        support = np.bincount(places, minlength=n_classes * len(cells)).reshape(shape)
        weight = support if weights is None else np.bincount(places, weights, support.size).reshape(shape)
        return cls(column.shift + wider, cells, weight.astype(np.float64), support)

    @classmethod
    def without_folds(
        cls, column: SortedColumn, folds: FoldedRows, classes: Codes, weights: Array | None, n_classes: int
    ) -> list[CellCounts]:
        """The counts of numbers without those of each fold: all are counted once, by group and class."""
        groups, codes, cells = folds.by_class(classes, n_classes), column.codes[folds.places], column.cells
        seen = codes >= 0
        if not seen.all():
            groups, codes = groups[seen], codes[seen]
            weights = None if weights is None else weights[seen]
        places, shape = groups * len(cells) + codes, (folds.n_groups, n_classes, len(cells))
        support = folds.without_each(np.bincount(places, minlength=math.prod(shape)).reshape(shape))
        weight = support.astype(np.float64)
        if weights is not None:
            weight = folds.without_each(np.bincount(places, weights, math.prod(shape)).reshape(shape))
        each = [cls(column.shift, cells, *one) for one in zip(weight, support, strict=True)]
        # Cells without rows do not matter, but for how wide all have to be.
        return each if len(cells) <= CELLS else [one.with_rows().widened(column.shift) for one in each]

    def with_rows(self) -> CellCounts:
        """The cells that have rows."""
        held = np.flatnonzero(self.support.any(axis=0))
        return CellCounts(self.shift, self.cells[held], self.weight[:, held], self.support[:, held])

    def widened(self, shift: int) -> CellCounts:
        """In cells of this shift, or of as many more bits as `CELLS` asks for."""
        cells = self.cells >> min(max(shift - self.shift, 0), BITS)
        shift = max(shift, self.shift)
        more = _least_shift(cells)
        if shift == self.shift and not more:
            return self
        if not len(cells):
            return replace(self, shift=shift)
        starts = np.flatnonzero(begins_of_runs(cells >> more))
        cells = (cells >> more)[starts]
        weight, support = (np.add.reduceat(one, starts, axis=1) for one in (self.weight, self.support))
        return CellCounts(shift + more, cells, weight, support)

    def added(self, other: CellCounts, sign: int) -> CellCounts:
        """The sum (or difference) of counts over the same classes."""
        if not len(self.cells) and sign > 0:
            return other.widened(self.shift)
        shift = max(self.shift, other.shift)
        mine, theirs = self.widened(shift), other.widened(shift)
        cells = np.union1d(mine.cells, theirs.cells)
        weight, support = (
            np.zeros((len(self.weight), len(cells))),
            np.zeros((len(self.weight), len(cells)), int),
        )
        for counts, times in ((mine, 1), (theirs, sign)):
            at = np.searchsorted(cells, counts.cells)
            weight[:, at] += times * counts.weight
            support[:, at] += times * counts.support
        held = support.any(axis=0) | weight.any(axis=0)
        summed = CellCounts(shift, cells[held], weight[:, held], support[:, held])
        return summed.widened(shift)

    def take_classes(self, index: Codes) -> CellCounts:
        """A copy with these classes."""
        by_class = (gather(one, index, 0) for one in (self.weight, self.support))
        return CellCounts(self.shift, self.cells.copy(), *by_class)

    def matches(self, other: CellCounts, rtol: float) -> bool:
        """Whether the counts agree, in cells that hold both."""
        mine, theirs = self.widened(other.shift), other.widened(self.shift)
        size = np.abs(theirs.weight).max(initial=0.0)
        return (
            np.array_equal(mine.cells, theirs.cells)
            and np.array_equal(mine.support, theirs.support)
            and within(mine.weight, theirs.weight, rtol, size)
        )

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from a saved state."""
        shift, cells = fields.integer("shift", 0, BITS), fields.array("cells", np.int64, (None,))
        outside = (cells < LEAST >> shift) | (cells > MOST >> shift)
        if len(cells) > CELLS or (cells[1:] <= cells[:-1]).any() or outside.any():
            raise fields.error("cells", f"must be at most {CELLS} cells of numbers, in order.")
        weight = fields.array("weight", np.float64, (n_classes, len(cells)))
        return cls(shift, cells, weight, fields.array("support", np.int64, weight.shape))


def edges_of(cells: NDArray[np.int64], shift: NDArray[np.int64]) -> tuple[Array, Array]:
    """The least number of cells of these shifts, and the least number beyond each."""
    beyond = np.where(cells < MOST >> shift, (cells + 1) << shift, MOST)
    return _numbers(cells << shift), _numbers(beyond)


def _in_order(values: Array) -> NDArray[np.int64]:
    """Whole numbers in the order of floating-point numbers; next neighbours differ by 1."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-1) - (bits & np.int64(2**63 - 1)), bits)


def _numbers(in_order: NDArray[np.int64]) -> Array:
    """The floating-point numbers of `_in_order`; beyond the largest, the largest."""
    inside = np.clip(in_order, LEAST, MOST)
    bits = np.where(inside < 0, (np.int64(-1) - inside) | np.int64(-(2**63)), inside)
    return bits.view(np.float64)


LEAST, MOST = _in_order(np.array([-1.0, 1.0]) * np.finfo(np.float64).max)


def _least_shift(cells: NDArray[np.int64]) -> int:
    """By how many bits cells in order must widen so that at most `CELLS` of them are different."""
    if len(cells) <= CELLS:
        return 0
    # Two neighbours fall together once the highest bit in which they differ is gone.
    apart = (cells[1:] ^ cells[:-1]).view(np.uint64)
    bits = np.frexp(apart.astype(np.float64))[1]
    most = len(bits) - CELLS
    shift = max(int(np.partition(bits, most)[most]) - 1, 0)  # rounding may have added a bit
    while np.count_nonzero(np.diff(cells >> min(shift, BITS))) >= CELLS:
        shift += 1
    return shift
