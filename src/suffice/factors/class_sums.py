"""Sparse rows of counts, or of words, summed by class, without a product with a table of memberships."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from itertools import pairwise
from operator import add
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.sparse_sums import SparseSums, narrowed
from suffice.kernels import threads
from suffice.kernels.cells import entry_runs
from suffice.kernels.choose import discrete_for

RUNS = 16
"""Runs of classes with about equally many entries; one thread sums each, in the order of its rows."""
ENTRIES_PER_RUN = 1 << 12
"""Fewer entries are not worth a thread."""
ENTRIES_PER_PART = 1 << 21
"""Entries that one thread sums in tables of its own."""
CELLS_PER_ENTRY = 8
"""Classes are summed in tables up to this many cells per entry; beyond, most cells would be empty."""
COLUMNS_AT_ONCE = 1 << 22
"""Each run has arrays of all columns, so wide rows are summed in few runs: memory stays bounded."""
SOONER = 1 << 10
"""Compiled sums of words pay off at this many times fewer entries: counting so many has imported numba."""


def nothing_to_refuse() -> None:
    """Counts that the library made itself need no check."""


class SparseRows(NamedTuple):
    """Row i holds `x[j]` in column `columns[j]`, for j from `starts[i]` to `starts[i + 1]`."""

    starts: NDArray[np.integer[Any]]
    columns: NDArray[np.integer[Any]]
    x: NDArray[Any]
    n_columns: int


class RowSums(NamedTuple):
    """Sums over the rows of each class: Σw, the number of rows, and Σw·log n!/Πx!, where it is wanted."""

    weight: Array
    rows: Counts
    base: Array


NO_ROW_SUMS = RowSums(np.zeros(0), np.zeros(0, np.int64), np.zeros(0))


def class_sums(
    rows: SparseRows,
    classes: Codes,
    weights: Array | None,
    n_classes: int,
    *,
    row_sums: RowSums = NO_ROW_SUMS,
    of_words: bool = False,
    check: Callable[[], None] = nothing_to_refuse,
) -> SparseSums:
    """Σw·x and the number of rows with x > 0, of words also Σw·[x > 0]; a row with a gap adds nothing.

    The rows without one are added to `row_sums`, where that is given. `check` is called before anything that
    may not be a count is summed, and raises where it is not one.
    """
    kernels = discrete_for(len(rows.x) * (SOONER if of_words else 1))
    n_cells = n_classes * rows.n_columns
    if n_classes <= kernels.FEW_CLASSES and n_cells <= CELLS_PER_ENTRY * len(rows.x):
        return _summed_in_tables(
            kernels, rows, classes, weights, n_classes, row_sums, cache(check), of_words=of_words
        )
    check()
    held, columns, total, support, present = _summed(
        kernels, rows, classes, weights, n_classes, row_sums, of_words=of_words
    )
    by_class = np.repeat(np.arange(n_classes, dtype=np.int32), held)
    total = narrowed(total, np.float32)  # the wide sums are given back before more is made
    if not of_words:
        return SparseSums(by_class, columns, total, support)
    if weights is None:
        present = support.astype(np.float64)
    return SparseSums(by_class, columns, total, support, present)


def _summed_in_tables(
    kernels: ModuleType,
    rows: SparseRows,
    classes: Codes,
    weights: Array | None,
    n_classes: int,
    row_sums: RowSums,
    check: Callable[[], None],
    *,
    of_words: bool,
) -> SparseSums:
    """The sums of few classes: parts of the rows are summed side by side, each in tables of its own."""
    with_present = of_words and weights is not None
    by_row = np.zeros(0) if weights is None else weights

    def of_part(part: slice) -> tuple[Array, Array]:
        first, last = int(rows.starts[part.start]), int(rows.starts[part.stop])
        starts = rows.starts[part.start : part.stop + 1] - first
        tables = np.zeros((3 if with_present else 2, rows.n_columns, n_classes))
        own = np.zeros((sum(len(array) > 0 for array in row_sums), n_classes))
        entries = rows.columns[first:last], rows.x[first:last]
        present = tables[2] if with_present else own[:0]
        own_rows = classes[part], by_row[part]
        kernels.sum_in_tables(starts, *entries, *own_rows, *tables[:2], present, own, check)
        return tables, own

    # The tables of a part should be smaller than the part.
    runs = entry_runs(rows.starts, max(ENTRIES_PER_PART, n_classes * rows.n_columns))
    parts = threads.run(of_part, runs)
    tables, own = (reduce(add, arrays) for arrays in zip(*parts, strict=True))
    for array, more in zip(row_sums, own, strict=False):
        np.add(array, more, out=array, casting="unsafe")  # the number of rows is whole
    total, support = np.ascontiguousarray(tables[0].T), tables[1].T.astype(np.int64)
    if not of_words:
        return SparseSums.of_tables(0, total, support)
    return SparseSums.of_tables(0, total, support, tables[2 if with_present else 1].T)


def _summed(
    kernels: ModuleType,
    rows: SparseRows,
    classes: Codes,
    weights: Array | None,
    n_classes: int,
    row_sums: RowSums,
    *,
    of_words: bool,
) -> tuple[NDArray[Any], ...]:
    """The number of columns that each class holds, and for each, in order, the column and its sums."""
    order = np.argsort(classes, kind="stable")
    ends = np.searchsorted(classes, np.arange(n_classes + 1), sorter=order)
    filled = np.concatenate([[0], np.cumsum(np.diff(rows.starts)[order])])[ends]
    # A class holds at most all columns, and at most as many as its rows have entries.
    places = np.concatenate([[0], np.cumsum(np.minimum(np.diff(filled), rows.n_columns))])
    size, is_many = int(places[-1]), len(classes) > np.iinfo(np.int32).max
    present = np.empty(size if of_words and weights is not None else 0)  # without weights: the number of rows
    support = np.empty(size, np.int64 if is_many else np.int32)
    entries = np.empty(size, np.int32), np.empty(size), support, present
    held = np.zeros(n_classes, np.int64)
    by_row = np.ones(len(classes)) if weights is None else weights
    read = [read_only(array) for array in (order, ends, rows.starts, rows.columns, rows.x, by_row)]
    threads.run(
        lambda run: kernels.sum_counts(*run, rows.n_columns, *read, places, *entries, held, *row_sums),
        _runs(filled, rows.n_columns),
    )
    starts = np.concatenate([[0], np.cumsum(held)])
    for array in entries:
        if len(array):
            _close_up(array, places, starts)
    return held, *entries


def _runs(filled: Counts, n_columns: int) -> list[tuple[int, int]]:
    """Runs of classes with about equally many entries."""
    n_entries = int(filled[-1])
    n_runs = min(RUNS, n_entries // ENTRIES_PER_RUN, COLUMNS_AT_ONCE // max(n_columns, 1))
    if n_runs <= 1:
        return [(0, len(filled) - 1)]
    share = filled * n_runs // n_entries
    edges = np.unique([0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(filled) - 1])
    return list(pairwise(edges.tolist()))


def _close_up(array: NDArray[Any], places: Counts, starts: Counts) -> None:
    """Move the entries of each class to where those before it end, and cut off the rest."""
    for place, (start, end) in zip(places.tolist(), pairwise(starts.tolist()), strict=False):
        if place != start:
            array[start:end] = array[place : place + end - start]
    array.resize(int(starts[-1]), refcheck=False)
