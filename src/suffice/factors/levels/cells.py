"""Cells read as levels: small whole numbers are counted directly, everything else is encoded first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.blocks import FoldedRows, as_numbers
from suffice.kernels import threads
from suffice.kernels.choose import CELLS_AT_ONCE, contiguous, discrete_for, row_parts
from suffice.tables.columns import Levels

MOST_NUMBERS = 1 << 16
"""The widest range of whole numbers that is counted without encoding."""
WIDE = 1 << 62
"""Sizes beyond which differences of whole numbers overflow 64 bits."""
TABLE_CELLS = 1 << 15
"""The most counts of a part that stay in the processor's cache."""


class LevelBlock(Protocol):
    """One column of a batch: level numbers (−1 where missing) into a list of values."""

    @property
    def codes(self) -> NDArray[Any]: ...
    @property
    def values(self) -> list[Any]: ...


class LevelBlocks(Protocol):
    """The columns of a batch; where they are one array of numbers, that is the `matrix`."""

    matrix: NDArray[Any] | None
    several: tuple[list[Levels], Codes] | None

    def __len__(self) -> int: ...
    def __getitem__(self, column: int, /) -> LevelBlock: ...


@dataclass(frozen=True)
class Counted:
    """The rows and weights of each class (axis 0) and value of one column."""

    values: list[Any]
    support: Counts
    weight: NDArray[Any]


@dataclass(frozen=True)
class Bounds:
    """For some columns, the lowest whole number, and where its counts begin among those of all columns."""

    low: Counts
    starts: Counts

    @classmethod
    def of(cls, low: NDArray[Any], size: NDArray[Any]) -> Bounds:
        """From the lowest number and how many there are."""
        return cls(np.asarray(low, np.int64), np.concatenate([[0], np.cumsum(size)]).astype(np.int64))

    def column(self, j: int) -> slice:
        """Where the counts of a column lie."""
        return slice(int(self.starts[j]), int(self.starts[j + 1]))

    def apart(self) -> list[Bounds]:
        """The bounds of each column by itself."""
        return [Bounds.of(self.low[[j]], self.starts[[j + 1]] - self.starts[j]) for j in range(len(self.low))]


def counted(block: LevelBlocks, classes: Codes, n_classes: int, weights: Array | None) -> Iterator[Counted]:
    """Count each column of a batch, in their order."""
    folds = None if block.several is None else FoldedRows.of(block.several[1])
    if folds is not None and block.several is not None:
        yield from _counted_without_folds(block.several[0], folds, classes, n_classes, weights)
        return
    batch = _Batch(classes, n_classes, np.zeros(0) if weights is None else weights)
    numbers: list[Counted | None] = [None] * len(block)
    if block.matrix is not None:
        numbers = batch.count_matrix(as_numbers(block.matrix), boolean=block.matrix.dtype.kind == "b")
    missing = [j for j, done in enumerate(numbers) if done is None]
    encoded = dict(zip(missing, batch.count_encoded([block[j] for j in missing]), strict=True))
    for j, done in enumerate(numbers):
        yield done or encoded[j]


def _counted_without_folds(
    columns: list[Levels], folds: FoldedRows, classes: Codes, n_classes: int, weights: Array | None
) -> Iterator[Counted]:
    """Count columns without the rows of each fold: all are counted once, by group and class."""
    groups, shape = folds.by_class(classes, n_classes), (folds.n_groups, n_classes, -1)
    batch = _Batch(groups, shape[0] * n_classes, np.zeros(0) if weights is None else weights)
    once = batch.count_encoded([column.take(folds.places) for column in columns])
    each = [
        [folds.without_each(sums.reshape(shape)) for sums in (column.support, column.weight)]
        for column in once
    ]
    for fold in range(folds.n_folds):
        for column, (support, weight) in zip(once, each, strict=True):
            yield _kept(column.values, support[fold], weight[fold])


@dataclass(frozen=True)
class _Batch:
    """The classes and weights (none: an empty array) of some rows, to count cells by."""

    classes: Codes
    n_classes: int
    weights: Array

    def count_matrix(self, matrix: NDArray[Any], *, boolean: bool) -> list[Counted | None]:
        """Count columns of small whole numbers; None for other columns."""
        n_rows, n_columns = matrix.shape
        columns = [matrix[:, j : j + 1] for j in range(n_columns)]
        counts: list[Counted | None] = [None] * n_columns
        guess, fits = _bounds(matrix[: max(1, CELLS_AT_ONCE // (8 * max(n_columns, 1)))], room=2)
        if n_rows and fits.all() and self.n_classes * int(guess.starts[-1]) <= TABLE_CELLS:
            blocks, bounds = [matrix], [guess]
            if matrix.strides[0] == matrix.itemsize and not len(self.weights):  # column by column
                blocks, bounds = columns, guess.apart()
            sums = self._sums(blocks, bounds, row_parts(n_rows, n_columns // len(blocks)))
            counts = [
                _of_numbers(whole, own, j, boolean=boolean)
                for whole, own in zip(sums, bounds, strict=True)
                for j in range(len(own.low))
            ]
        for j in range(n_columns if n_rows else 0):
            if counts[j] is None:
                exact, fits = _bounds(columns[j], room=1)
                if fits.all():
                    whole = self._sums([columns[j]], [exact], self._parts(int(exact.starts[-1])))[0]
                    counts[j] = _of_numbers(whole, exact, 0, boolean=boolean)
        return counts

    def count_encoded(self, columns: list[LevelBlock]) -> list[Counted]:
        """Count columns of codes, few of them at once. The first count of each is of the missing cells."""
        n_rows, n_columns = len(self.classes), len(columns)
        sizes = np.array([len(column.values) + 1 for column in columns], dtype=np.int64)
        whole = Bounds.of(np.full(n_columns, -1), sizes)
        if n_columns and n_rows * n_columns <= CELLS_AT_ONCE:
            blocks, bounds = [np.stack([column.codes for column in columns], axis=1)], [whole]
            parts = [slice(0, n_rows)]
        else:
            blocks, bounds = [column.codes[:, np.newaxis] for column in columns], whole.apart()
            parts = self._parts(int(sizes.max(initial=0)))
        sums = filter(None, self._sums(blocks, bounds, parts))
        each = [
            (support[:, own.column(j)], weight[:, own.column(j)])
            for (support, weight), own in zip(sums, bounds, strict=True)
            for j in range(len(own.low))
        ]
        return [
            _kept(column.values, support[:, 1:], weight[:, 1:])
            for column, (support, weight) in zip(columns, each, strict=True)
        ]

    def _parts(self, n_levels: int) -> list[slice]:
        """The rows in runs, or all at once if the table of each run would be large."""
        everyone = [slice(0, len(self.classes))]
        if self.n_classes * n_levels > TABLE_CELLS:
            return everyone
        return row_parts(len(self.classes), 1) or everyone

    def _sums(
        self, blocks: list[NDArray[Any]], bounds: list[Bounds], parts: list[slice]
    ) -> list[tuple[Counts, NDArray[Any]] | None]:
        """Rows and weights by class and level of each block; None where its bounds do not hold."""
        n_cells = sum(block.size for block in blocks)
        kernels = discrete_for(n_cells)

        def part_sums(task: tuple[int, slice]) -> tuple[Counts, NDArray[Any]] | None:
            b, rows = task
            shape = (self.n_classes, int(bounds[b].starts[-1]))
            support = np.zeros(shape, np.int64)
            weight = np.zeros(shape if len(self.weights) else (self.n_classes, 0))
            cells = contiguous(blocks[b][rows], n_cells)
            own = read_only(self.classes[rows]), read_only(self.weights[rows])
            if not kernels.count_levels(cells, *own, bounds[b].low, bounds[b].starts, support, weight):
                return None
            return support, weight if len(self.weights) else support

        done = threads.run(part_sums, [(b, rows) for b in range(len(blocks)) for rows in parts])
        return [_added(done[b * len(parts) : (b + 1) * len(parts)]) for b in range(len(blocks))]


def _added(parts: list[tuple[Counts, NDArray[Any]] | None]) -> tuple[Counts, NDArray[Any]] | None:
    """The sum of the parts in their order, None where one is."""
    kept = [part for part in parts if part is not None]
    if len(kept) < len(parts):
        return None
    support, weight = kept[0]
    for more, weights in kept[1:]:
        if weight is not support:
            weight += weights
        support += more
    return support, weight


def _bounds(matrix: NDArray[Any], room: int) -> tuple[Bounds, NDArray[np.bool_]]:
    """Bounds of whole numbers, with room for more, and which columns fit them."""
    lowest, highest = np.fmin.reduce(matrix, axis=0), np.fmax.reduce(matrix, axis=0)
    with np.errstate(invalid="ignore"):
        fits = (np.abs(lowest.astype(np.float64)) < WIDE) & (np.abs(highest.astype(np.float64)) < WIDE)
        low = np.where(fits, lowest, 0).astype(np.int64)
        span = np.where(fits, highest, 0).astype(np.int64) - low + 1
    fits &= span <= MOST_NUMBERS
    empty = np.isnan(lowest)
    span = np.where(fits, span, 1)
    size = span if room == 1 else np.maximum(room * span, 16)
    return Bounds.of(np.where(fits, low - (size - span) // 2, 0), size), fits | empty


def _of_numbers(
    sums: tuple[Counts, NDArray[Any]] | None, bounds: Bounds, j: int, *, boolean: bool
) -> Counted | None:
    """The counts of one column, whose values are whole numbers; None if they did not keep the bounds."""
    if sums is None:
        return None
    at = bounds.column(j)
    numbers = range(int(bounds.low[j]), int(bounds.low[j]) + at.stop - at.start)
    return _kept(numbers, sums[0][:, at], sums[1][:, at], boolean=boolean)


def _kept(values: Any, support: Counts, weight: NDArray[Any], *, boolean: bool = False) -> Counted:
    """The values that some row holds."""
    present = support.any(axis=0)
    if not present.all():
        places = np.flatnonzero(present)
        values = [values[i] for i in places.tolist()]
        support, weight = support.take(places, axis=1), weight.take(places, axis=1)
    return Counted([*map(bool, values)] if boolean else [*values], support, weight)
