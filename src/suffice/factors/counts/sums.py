"""Class sums of counts, row by row: no product with a table of class memberships."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.sparse_sums import SparseSums, narrowed
from suffice.kernels import threads
from suffice.kernels.choose import contiguous, discrete_for, read_only, row_parts

NO_WEIGHTS = read_only(np.zeros(0))
RUNS = 16
"""Runs of classes that hold about as many entries; each is summed by one thread, in the order of its rows."""


def sum_dense_counts(
    block: NDArray[Any], classes: Codes, weights: Array | None, sums: tuple[Array, Counts, Array]
) -> SparseSums:
    """The entries of some rows; their weight, number and Σw·log n!/Πx! go to the `sums` of their classes."""
    n_classes, n_columns = len(sums[0]), block.shape[1]
    kernels = discrete_for(block.size)
    by_row = NO_WEIGHTS if weights is None else read_only(weights)
    block, classes = read_only(block), read_only(classes)

    def of_part(rows: slice) -> tuple[Array, Counts, Array]:
        shape = n_classes, n_columns
        part = np.zeros(shape), np.zeros(shape, np.int64), np.zeros((3, n_classes))
        kernels.sum_dense_counts(contiguous(block[rows]), classes[rows], by_row[rows], *part)
        return part

    # A part has a table of its own, which should be smaller than the part.
    parts = threads.run(of_part, row_parts(len(classes), n_columns, fewest=n_classes) or [slice(0)])
    total, support, own = (reduce(add, arrays) for arrays in zip(*parts, strict=True))
    for array, more in zip(sums, own, strict=True):
        np.add(array, more, out=array, casting="unsafe")  # the number of rows is whole
    return SparseSums.of_tables(0, total, support)


def sum_sparse_counts(
    block: Any, classes: Codes, weights: Array | None, sums: tuple[Array, Counts, Array]
) -> SparseSums:
    """The entries of some rows; their weight, number and Σw·log n!/Πx! go to the `sums` of their classes."""
    block = block.tocsr()
    n_classes, n_columns = len(sums[0]), block.shape[1]
    order = np.argsort(classes, kind="stable")
    ends = np.searchsorted(classes, np.arange(n_classes + 1), sorter=order)
    filled = np.concatenate([[0], np.cumsum(np.diff(block.indptr)[order])])[ends]
    # A class holds at most all columns, and at most as many as its rows have entries.
    places = np.concatenate([[0], np.cumsum(np.minimum(np.diff(filled), n_columns))])
    size, is_many = int(places[-1]), len(classes) > np.iinfo(np.int32).max
    entries = np.empty(size, np.int32), np.empty(size), np.empty(size, np.int64 if is_many else np.int32)
    held = np.zeros(n_classes, np.int64)
    kernels = discrete_for(block.nnz)
    by_row = np.ones(len(classes)) if weights is None else weights
    rows = [read_only(array) for array in (order, ends, block.indptr, block.indices, block.data, by_row)]
    threads.run(
        partial(_sum_run, kernels.sum_counts, (n_columns, *rows, places, *entries, held, *sums)),
        _runs(filled),
    )
    starts = np.concatenate([[0], np.cumsum(held)])
    for array in entries:
        _close_up(array, places, starts)
    columns, total, support = entries
    del array, entries
    total = narrowed(total, np.float32)  # the wide sums are given back before more is made
    return SparseSums(np.repeat(np.arange(n_classes, dtype=np.int32), held), columns, total, support)


def _sum_run(kernel: Callable[..., None], arguments: tuple[Any, ...], run: tuple[int, int]) -> None:
    """Sum the rows of a run of classes."""
    kernel(*run, *arguments)


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
