"""Class sums and scores of sparse counts, row by row: no product with a table of class memberships."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice import threads
from suffice.factors.base import Codes, Counts
from suffice.families.elementary import Array
from suffice.kernels.choice import discrete_for, read_only

RUNS = 16
"""Runs of classes that hold about as many entries; each is summed by one thread, in the order of its rows."""
Columns = NDArray[np.int32]


@dataclass(frozen=True)
class CountEntries:
    """The sums of classes and columns that hold something, class by class in the order of the columns.

    The entries of class k are starts[k]:starts[k + 1]. Most classes hold few of many columns, so that what
    none holds takes no memory. The arrays are never written to: copies share them.
    """

    n_columns: int
    starts: Counts
    columns: Columns
    total: Array
    """Σw·x."""
    support: Counts
    """The number of rows with x > 0."""

    def __post_init__(self) -> None:
        for array in (self.starts, self.columns, self.total, self.support):
            array.flags.writeable = False

    @classmethod
    def none(cls, n_classes: int, n_columns: int) -> Self:
        """No entries."""
        return cls(
            n_columns,
            np.zeros(n_classes + 1, np.int64),
            np.zeros(0, np.int32),
            np.zeros(0),
            np.zeros(0, np.int64),
        )

    @classmethod
    def of_tables(cls, total: Array, support: Counts) -> Self:
        """What plain tables of classes and columns hold."""
        classes, columns = np.nonzero(support)
        starts = np.searchsorted(classes, np.arange(len(total) + 1))
        at = classes, columns
        return cls(total.shape[1], starts, columns.astype(np.int32), total[at], support[at])

    @property
    def shape(self) -> tuple[int, int]:
        """Classes and columns."""
        return len(self.starts) - 1, self.n_columns

    def __len__(self) -> int:
        return len(self.columns)

    def classes(self) -> Codes:
        """The class of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))

    def places(self) -> Counts:
        """Where each entry stands in a plain table."""
        return self.classes() * np.int64(self.n_columns) + self.columns

    def by_class(self, values: NDArray[Any]) -> Array:
        """The sum of one value of each entry, by class."""
        return np.asarray(self.matrix(values) @ np.ones(self.n_columns))

    def matrix(self, values: NDArray[Any]) -> Any:
        """One value of each entry as a sparse (classes, columns) matrix."""
        # Columns of a wider kind than they are would be made where the starts are of it.
        starts = self.starts.astype(np.int32) if len(self) < 1 << 31 else self.starts
        return sparse.csr_array((values, self.columns, starts), shape=self.shape)

    def table(self, values: NDArray[Any]) -> NDArray[Any]:
        """One value of each entry as a plain (classes, columns) table, 0 elsewhere."""
        table = np.zeros(self.shape, values.dtype)
        table[self.classes(), self.columns] = values
        return table

    def scaled(self, factor: float, sign: int = 1) -> CountEntries:
        """Sums times a factor; support keeps its size."""
        return CountEntries(
            self.n_columns, self.starts, self.columns, self.total * factor, self.support * sign
        )

    def chosen(self, which: NDArray[np.bool_]) -> CountEntries:
        """Some of the entries."""
        if which.all():
            return self
        starts = np.concatenate([[0], np.cumsum(which)])[self.starts]
        return CountEntries(
            self.n_columns, starts, self.columns[which], self.total[which], self.support[which]
        )

    def of_classes(self, index: Codes) -> CountEntries:
        """The entries of these classes; −1 stands for a class without any."""
        if np.array_equal(index, np.arange(self.shape[0])):
            return self
        lengths = np.where(index < 0, 0, np.append(np.diff(self.starts), 0)[index])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        at = np.arange(starts[-1]) + np.repeat(self.starts[index] - starts[:-1], lengths)
        return CountEntries(self.n_columns, starts, self.columns[at], self.total[at], self.support[at])


def summed(parts: list[CountEntries]) -> CountEntries:
    """One entry for each class and column, over parts of the same classes; what is exactly zero leaves."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    # Both sums of an entry as one complex number: they are sorted and added together, and exactly as apart.
    values = np.concatenate([part.total + 1j * part.support for part in parts])
    classes = np.concatenate([part.classes().astype(np.int32) for part in parts])
    columns = np.concatenate([part.columns for part in parts])
    both = sparse.coo_array((values, (classes, columns)), shape=parts[0].shape).tocsr()
    both.sum_duplicates()
    both.eliminate_zeros()
    return CountEntries(
        parts[0].n_columns,
        both.indptr.astype(np.int64),
        both.indices.astype(np.int32, copy=False),
        np.ascontiguousarray(both.data.real),
        both.data.imag.astype(np.int64),
    )


def sum_sparse_counts(
    block: Any, classes: Codes, weights: Array | None, sums: tuple[Array, Counts, Array]
) -> CountEntries:
    """The entries of some rows; their weight, number and Σw·log n!/Πx! go to the `sums` of their classes."""
    block = block.tocsr()
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    n_classes, n_columns = len(sums[0]), block.shape[1]
    order = np.argsort(classes, kind="stable")
    ends = np.searchsorted(classes, np.arange(n_classes + 1), sorter=order)
    filled = np.concatenate([[0], np.cumsum(np.diff(block.indptr)[order])])[ends]
    # A class holds at most all columns, and at most as many as its rows have entries.
    places = np.concatenate([[0], np.cumsum(np.minimum(np.diff(filled), n_columns))])
    entries = np.empty(places[-1], np.int32), np.empty(places[-1]), np.empty(places[-1], np.int64)
    held = np.zeros(n_classes, np.int64)
    kernels = discrete_for(block.nnz)
    by_row = np.ones(len(classes)) if weights is None else weights
    rows = [read_only(array) for array in (order, ends, block.indptr, block.indices, block.data, by_row)]
    threads.run(
        lambda run: kernels.sum_counts(*run, n_columns, *rows, places, *entries, held, *sums),
        _runs(filled),
    )
    starts = np.concatenate([[0], np.cumsum(held)])
    for array in entries:
        _close_up(array, places, starts)
    return CountEntries(n_columns, starts, *entries)


def _runs(filled: Counts) -> list[tuple[int, int]]:
    """Runs of classes with about as many entries."""
    share = filled * RUNS // max(int(filled[-1]), 1)
    edges = np.unique([0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(filled) - 1])
    return list(pairwise(edges.tolist()))


def _close_up(array: NDArray[Any], places: Counts, starts: Counts) -> None:
    """Move the entries of each class to where those before it end, and cut off the rest."""
    for place, (start, end) in zip(places.tolist(), pairwise(starts.tolist()), strict=False):
        if place != start:
            array[start:end] = array[place : place + end - start]
    array.resize(int(starts[-1]), refcheck=False)


def add_sparse_count_scores(block: Any, table: Array, out: Array) -> None:
    """Add Σ x·table[column] to each row's scores."""
    block = block.tocsr()
    arrays = (read_only(array) for array in (block.indptr, block.indices, block.data))
    discrete_for(block.nnz * out.shape[1]).add_count_scores(*arrays, table, out)
