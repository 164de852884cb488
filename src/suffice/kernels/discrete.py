"""Kernels of levels, outcomes and counts in NumPy: the readable reference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from suffice.arrays import Array, Codes, Counts
from suffice.kernels.cells import level_counts

Cells = NDArray[Any]


def count_levels(
    cells: Cells, classes: Codes, weights: Array, low: Counts, starts: Counts, support: Counts, weight: Array
) -> bool:
    """Add each row to support[class, starts[j] + x − low[j]], and its weight, if any, to `weight` there.

    A missing cell adds nothing. False where a cell is no whole number between its column's bounds.
    """
    for j in range(cells.shape[1]):
        seen, places = _places(cells[:, j], low[j])
        if ((places < 0) | (places >= starts[j + 1] - starts[j])).any():
            return False
        column = slice(starts[j], starts[j + 1])
        level_counts(places, classes[seen], None, support[:, column])
        if len(weights):
            level_counts(places, classes[seen], weights[seen], weight[:, column])
    return True


def add_level_scores(
    cells: Cells, low: Counts, starts: Counts, rows: Codes, unseen: Codes, table: Array, out: Array
) -> bool:
    """Add the row of the table that each cell reads, rows[starts[j] + x − low[j]], to `out`.

    A cell outside its column's bounds reads unseen[j]; row −1, or a missing cell, adds nothing. False where
    some cell read `unseen`.
    """
    known = True
    for j in range(cells.shape[1]):
        seen, places = _places(cells[:, j], low[j])
        outside = (places < 0) | (places >= starts[j + 1] - starts[j])
        read = np.full(len(cells), -1, dtype=np.intp)
        read[seen] = np.where(outside, unseen[j], rows[starts[j] + np.where(outside, 0, places)])
        known &= not (read[seen] == unseen[j]).any()
        some = read >= 0
        out[some] += table[read[some]]
    return known


def _places(column: Cells, low: int) -> tuple[NDArray[np.bool_], Counts]:
    """Which cells are not missing, and how far these lie above `low`; −1 for what is no whole number."""
    seen = ~np.isnan(column)
    column = column[seen]
    with np.errstate(invalid="ignore"):
        whole = column.astype(np.int64)
    return seen, np.where(whole == column, whole - low, -1)


def add_outcomes(
    cells: Cells, classes: Codes, weights: Array, total: Array, weight: Array, support: Counts
) -> bool:
    """Add Σw·x to the `total` of each class and column; with a `weight`, Σw and rows observed too.

    False where a cell is not 0, 1 or missing. No `weights` are weights of 1.
    """
    if not _are_outcomes(cells):
        return False
    by_row = (weights if len(weights) else np.ones(len(cells)))[:, np.newaxis]
    np.add.at(total, classes, by_row * (np.nan_to_num(cells) if len(weight) else cells))
    if len(weight):
        seen = ~np.isnan(cells)
        np.add.at(weight, classes, by_row * seen)
        np.add.at(support, classes, seen)
    return True


def _are_outcomes(cells: Cells) -> bool:
    """Whether every cell is 0, 1 or missing."""
    return bool(((cells == 0) | (cells == 1) | np.isnan(cells)).all())


def add_outcome_scores(cells: Cells, natural: Array, constant: Array, out: Array) -> int:
    """Add Σ λx + constant over the observed columns to `out`.

    Gives the number of rows scored: all, or some of those before the first cell that is no outcome.
    """
    if not _are_outcomes(cells):
        return 0
    seen = ~np.isnan(cells)
    out += np.where(seen, cells, 0) @ natural.T + seen @ constant.T
    return len(cells)


def sum_counts(
    first: int,
    last: int,
    n_columns: int,
    order: Codes,
    ends: Codes,
    starts: NDArray[Any],
    columns: NDArray[Any],
    x: Cells,
    weights: Array,
    places: Counts,
    out_columns: NDArray[np.int32],
    out_total: Array,
    out_support: NDArray[np.integer[Any]],
    held: Counts,
    weight: Array,
    n_rows: Counts,
    base: Array,
) -> None:
    """Sum the sparse rows of a run of classes, first ≤ k < last; a row with a gap adds nothing.

    The rows of class k are order[ends[k]:ends[k + 1]]. For each column that they hold, in order, the column,
    Σw·x and the number of rows with x > 0 are written from places[k] on, and how many there are to held[k];
    Σw, the number of rows and Σw·log n!/Πx! are added to those of the class.
    """
    rows = order[ends[first] : ends[last]]
    own = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
    counts = csr_array((x.astype(np.float64), columns, starts), shape=(len(weights), n_columns))[rows]
    whole = ~np.isnan(counts.sum(axis=1))
    counts, rows, own = counts[whole], rows[whole], own[whole]
    at = own, np.arange(len(rows))
    members = csr_array((weights[rows], at), shape=(last - first, len(rows)))
    rows_of = csr_array((np.ones(len(rows), np.int64), at), shape=members.shape)
    present = csr_array(((counts.data > 0).astype(np.int64), counts.indices, counts.indptr), counts.shape)
    support, total = (rows_of @ present).tocsr(), (members @ counts).tocsr()
    support.eliminate_zeros()
    support.sort_indices()
    for k, (begin, end) in enumerate(pairwise(support.indptr.tolist())):
        mine = support.indices[begin:end]
        to = slice(places[first + k], places[first + k] + end - begin)
        out_columns[to], out_support[to] = mine, support.data[begin:end]
        out_total[to] = total[[k]].toarray()[0, mine]
        held[first + k] = end - begin
    terms = csr_array((gammaln(counts.data + 1.0), counts.indices, counts.indptr), counts.shape)
    weight[first:last] += members.sum(axis=1)
    n_rows[first:last] += rows_of.sum(axis=1)
    base[first:last] += members @ (gammaln(counts.sum(axis=1) + 1.0) - terms.sum(axis=1))


def sum_dense_counts(
    cells: Cells, classes: Codes, weights: Array, total: Array, support: Counts, sums: Array
) -> None:
    """Add Σw·x and the number of rows with x > 0 to `total` and `support`, (classes, columns).

    Σw, the number of rows and Σw·log n!/Πx! go to sums[0], sums[1] and sums[2]. A row with a gap adds
    nothing. No `weights` are weights of 1.
    """
    lengths = cells.sum(axis=1, dtype=np.float64)
    whole = ~np.isnan(lengths)
    x, own, lengths = cells[whole].astype(np.float64), classes[whole], lengths[whole]
    w = weights[whole] if len(weights) else np.ones(len(own))
    at, shape = (own, np.arange(len(own))), (len(total), len(own))
    members = csr_array((w, at), shape=shape)
    total += members @ x
    support += csr_array((np.ones(len(own), np.int64), at), shape=shape) @ (x > 0)
    sums[0] += np.bincount(own, w, len(total))
    sums[1] += np.bincount(own, minlength=len(total))
    sums[2] += members @ (gammaln(lengths + 1.0) - gammaln(x + 1.0).sum(axis=1))


def add_count_scores(starts: NDArray[Any], columns: NDArray[Any], x: Cells, table: Array, out: Array) -> None:
    """Add Σ x·table[column] over the entries of each row of sparse counts."""
    out += csr_array((x, columns, starts), shape=(len(out), len(table))) @ table
