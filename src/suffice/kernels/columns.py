"""Columns that lie apart in memory, as one table of numbers, and their rows brought together in NumPy."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.kernels.cells import class_sums, row_runs

Cells = NDArray[Any]
Reader = Callable[[slice | Codes], Cells]
"""What reads some cells of a column: those of adjacent rows, or of any that are in order."""
WIDTH = 0
"""The number of columns that are summed at once: here all of them, as those of an array are."""


FEWEST_ROWS = 128
"""Rows from which the columns of an array are taken one by one, which costs some time for each."""


MOST_RUNS = 16
"""Runs of a part of the rows up to which its chunks are summed where they lie; of more, cells are copied."""


class ChunkedCells:
    """The cells of a column in chunks; of adjacent rows, it copies only those of several chunks."""

    def __init__(self, chunks: Sequence[Cells]) -> None:
        self.chunks = chunks
        self.starts = list(accumulate(map(len, chunks), initial=0))

    def __call__(self, rows: slice | Codes) -> Cells:
        """Adjacent cells, or those of rows in order."""
        if not isinstance(rows, slice):
            return self.cells_at(self.places(rows))
        chunks, starts = self.chunks, self.starts
        first, last = bisect_right(starts, rows.start) - 1, bisect_left(starts, rows.stop)
        if last == first + 1:
            return chunks[first][rows.start - starts[first] : rows.stop - starts[first]]
        some = [chunks[i][max(rows.start - starts[i], 0) : rows.stop - starts[i]] for i in range(first, last)]
        return np.concatenate([*some, chunks[0][:0]])

    def places(self, rows: Codes) -> list[Codes]:
        """The places of rows, which are in order, within each chunk."""
        ends = pairwise(np.searchsorted(rows, self.starts).tolist())
        return [rows[first:last] - start for start, (first, last) in zip(self.starts, ends, strict=False)]

    def cells_at(self, places: list[Codes]) -> Cells:
        """The cells at some places within each chunk."""
        return np.concatenate([chunk[own] for chunk, own in zip(self.chunks, places, strict=True)])


class _Cuts(NamedTuple):
    """The rows at which a chunk of some column begins; and the columns, if these are the cuts of each."""

    edges: list[int]
    alike: list[ChunkedCells]

    @classmethod
    def of(cls, readers: Sequence[Reader]) -> Self:
        chunked = [read for read in readers if isinstance(read, ChunkedCells)]
        edges = sorted({row for read in chunked for row in read.starts})
        are_alike = len(chunked) == len(readers) and all(read.starts == edges for read in chunked)
        return cls(edges, chunked if are_alike else [])


class ColumnCells:
    """A table (rows, columns) of floats, each column of which is read where its container holds it.

    Some rows of it, `cells[rows]`, are such a table again, and `np.asarray(cells)` is all of it in one array.
    """

    ndim = 2

    def __init__(
        self, readers: Sequence[Reader], dtype: DTypeLike, rows: slice, cuts: _Cuts | None = None
    ) -> None:
        self._readers = readers
        self._rows = rows
        self._cuts = cuts or _Cuts.of(readers)
        self.dtype = np.dtype(dtype)
        self.shape = (rows.stop - rows.start, len(readers))
        self.size = self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: slice) -> ColumnCells:
        start, stop, _ = rows.indices(len(self))
        first = self._rows.start
        return ColumnCells(self._readers, self.dtype, slice(first + start, first + stop), self._cuts)

    def take(self, rows: Codes) -> Cells:
        """Some rows, by position and in order, as one array."""
        values = np.empty((len(rows), len(self._readers)), self.dtype, order="F")
        rows, alike = self._rows.start + rows, self._cuts.alike
        places = alike[0].places(rows) if alike else []
        for j, read in enumerate(self._readers):
            values[:, j] = alike[j].cells_at(places) if alike else read(rows)
        return values

    def in_chunks(self) -> list[slice]:
        """The rows in runs that no chunk ends within, or all in one where these would be many."""
        rows, edges = self._rows, self._cuts.edges
        first, last = bisect_right(edges, rows.start), bisect_left(edges, rows.stop)
        inner = edges[first:last] if last - first < MOST_RUNS else []
        return [slice(*run) for run in pairwise([0, *(row - rows.start for row in inner), len(self)])]

    def columns(self) -> list[Cells]:
        """All columns, without a copy if the container allows it."""
        rows, (edges, alike) = self._rows, self._cuts
        if alike and len(self):
            i = bisect_right(edges, rows.start) - 1
            if rows.stop <= edges[i + 1]:  # one chunk holds these rows
                own = slice(rows.start - edges[i], rows.stop - edges[i])
                return [self._plain(read.chunks[i][own]) for read in alike]
        return [self.column(j) for j in range(self.shape[1])]

    def column(self, j: int) -> Cells:
        """One of the columns, without a copy if the container allows it."""
        return self._plain(self._readers[j](self._rows))

    def _plain(self, cells: Cells) -> Cells:
        is_plain = cells.dtype == self.dtype and cells.flags.c_contiguous
        return cells if is_plain else np.ascontiguousarray(cells, dtype=self.dtype)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Cells:
        # Column by column in memory: each is written in one run.
        values = np.empty(self.shape, self.dtype if dtype is None else dtype, order="F")
        for j in range(self.shape[1]):
            values[:, j] = self.column(j)
        return values


def columns_of(values: Cells | ColumnCells) -> list[Cells] | None:
    """The columns of a table that holds each of them in one run of memory; None if it does not."""
    if isinstance(values, ColumnCells):
        return values.columns()
    is_worth_it = len(values) >= FEWEST_ROWS and values.strides[0] == values.itemsize
    return list(values.T) if is_worth_it else None


def count_rows(classes: Codes, counts: Array | Counts) -> None:
    """Add the number of rows of each class to `counts`."""
    counts += np.bincount(classes, minlength=len(counts))


def rows_to_sum(classes: Codes, _: int) -> Codes:
    """The rows as `column_sums` reads them: here their classes."""
    return classes


def column_sums(columns: tuple[Cells, ...], rows: Codes, origin: Array, sums: Array) -> None:
    """Add Σ(x − c) and Σ(x − c)² of each class to the first and second half of sums[class].

    The rows are `rows_to_sum`. A sum is not finite where a cell is missing or infinite.
    """
    d = len(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        for run in row_runs(len(rows), d):
            summed = class_sums(rows[run], len(origin), d)
            away = np.stack([column[run] for column in columns], axis=1) - origin[rows[run]]
            sums[:, :d] += summed(away)
            sums[:, d:] += summed(np.square(away, out=away))


def bring_together(columns: tuple[Cells, ...], first: int, out: Cells) -> None:
    """Write columns into those of `out`, (rows, columns), from the first on."""
    for j, column in enumerate(columns):
        out[:, first + j] = column
