"""Kernels of levels, outcomes and counts in NumPy: the readable reference."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from suffice.arrays import Array, Codes, Counts
from suffice.kernels.cells import class_members, level_counts, row_runs

Cells = NDArray[Any]
LOG_FACTORIALS = gammaln(np.arange(1.0, 257.0))
FEW_CLASSES = 16
"""Up to so many classes, a product with a table of memberships is the quickest sum of sparse entries.

Runs of classes would each copy their rows, so these classes are summed in one.
"""
MISSING = -1
"""The place of a missing cell."""
CELLS_PER_ENTRY = 8
"""All columns are summed up to this many cells per entry; beyond, only those that are held."""


def count_levels(
    cells: Cells, classes: Codes, weights: Array, low: Counts, starts: Counts, support: Counts, weight: Array
) -> bool:
    """Add each row to support[class, starts[j] + x − low[j]], and its weight, if any, to `weight` there.

    A missing cell adds nothing. Returns False if a cell is not a whole number within its column's bounds.
    """
    for j in range(cells.shape[1]):
        places = _places(cells[:, j], low[j], starts[j + 1] - starts[j])
        column = slice(starts[j], starts[j + 1])
        if (places == starts[j + 1] - starts[j]).any():
            return False
        level_counts(places, classes, None, support[:, column])
        if len(weights):
            level_counts(places, classes, weights, weight[:, column])
    return True


def add_level_scores(
    cells: Cells, low: Counts, starts: Counts, rows: Codes, unseen: Codes, table: Array, out: Array
) -> bool:
    """Add the row of the table that each cell reads, rows[starts[j] + x − low[j]], to `out`.

    A cell outside its column's bounds reads unseen[j]; row −1, or a missing cell, adds nothing. False where
    some cell read `unseen`.
    """
    known = True
    table = np.vstack([table, np.zeros(table.shape[1])])  # row −1
    reads = [np.append(rows[i:k], [j, -1]) for (i, k), j in zip(pairwise(starts), unseen, strict=True)]
    tables = [table[read] for read in reads]
    are_unseen = [np.append(read[:-1] == read[-2], values=False) for read in reads]
    for run in row_runs(len(cells), max(table.shape[1], cells.shape[1])):
        for j in range(cells.shape[1]):
            places = _places(cells[run, j], low[j], len(reads[j]) - 2)
            known &= not are_unseen[j][places].any()
            out[run] += tables[j][places]
    return known


def _places(column: Cells, low: int, n_levels: int) -> Counts:
    """How far each cell lies above `low`; `n_levels` where it is not one of so many whole numbers."""
    with np.errstate(invalid="ignore"):
        whole = column.astype(np.int64)
    # A negative distance is a large one without its sign.
    places = np.minimum((whole - low).view(np.uint64), np.uint64(n_levels)).view(np.int64)
    if column.dtype.kind in "fu":
        places[whole != column] = n_levels
    if column.dtype.kind == "f":
        places[np.isnan(column)] = MISSING
    return places


def add_outcomes(
    cells: Cells, classes: Codes, weights: Array, total: Array, weight: Array, support: Counts
) -> bool:
    """Add Σw·x to the `total` of each class and column; with a `weight`, Σw and rows observed too.

    False where a cell is not 0, 1 or missing. No `weights` are weights of 1.
    """
    for run in row_runs(*cells.shape):
        own, x = classes[run], cells[run]
        if not _are_outcomes(x):
            return False
        members = class_members(own, len(total), weights[run] if len(weights) else None)
        total += members @ (np.nan_to_num(x) if len(weight) else x)
        if len(weight):
            seen = ~np.isnan(x)
            weight += members @ seen
            support += (class_members(own, len(total)) @ seen).astype(np.int64)
    return True


def _are_outcomes(cells: Cells) -> bool:
    """Whether every cell is 0, 1 or missing."""
    if cells.dtype.kind == "b":
        return True
    outcomes = (cells == 0) | (cells == 1)
    return bool(outcomes.all()) or bool((outcomes | np.isnan(cells)).all())


def add_outcome_scores(cells: Cells, natural: Array, constant: Array, out: Array) -> int:
    """Add Σ λx + constant over the observed columns to `out`.

    Returns the number of rows scored: all, or some of those before the first cell that is not an outcome.
    """
    everything = constant.sum(axis=1)
    for run in row_runs(*cells.shape):
        x = cells[run].astype(np.float64)
        if not _are_outcomes(cells[run]):
            return int(run.start)
        gaps = np.isnan(x)
        if gaps.any():
            x[gaps] = 0.0
            out[run] += x @ natural.T + ~gaps @ constant.T
        else:
            out[run] += x @ natural.T + everything
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
    out_present: Array,
    held: Counts,
    weight: Array,
    n_rows: Counts,
    base: Array,
) -> None:
    """Sum the sparse rows of a run of classes, first ≤ k < last; a row with a gap adds nothing.

    The rows of class k are order[ends[k]:ends[k + 1]]. For each column that they hold, in order, the column,
    Σw·x, the number of rows with x > 0 and Σw·[x > 0] are written from places[k] on, and how many there are
    to held[k]; Σw, the number of rows and Σw·log n!/Πx! are added to those of the class. An empty
    `out_present` asks for no Σw·[x > 0], an empty `base` for no sums over rows.
    """
    n_own, rows = last - first, order[ends[first] : ends[last]]
    own = np.repeat(np.arange(n_own), np.diff(ends[first : last + 1]))
    block, w = csr_array((x, columns, starts), shape=(len(weights), n_columns)), weights
    if len(rows) == len(weights):
        own[rows] = own.copy()  # all rows as they come: none is copied
    else:
        block, w = block[rows], w[rows]
    draws = block @ np.ones(n_columns)
    whole = ~np.isnan(draws)
    if not whole.all():
        block, own, w, draws = block[whole], own[whole], w[whole], draws[whole]
    counts, n_cells = block.data.astype(np.float64, copy=False), n_own * n_columns
    if n_own <= FEW_CLASSES and n_cells <= CELLS_PER_ENTRY * len(counts):
        distinct = np.arange(n_cells)

        def sums(entries: Array, by_row: Array) -> Array:
            members = np.zeros((len(own), n_own))
            members[np.arange(len(own)), own] = by_row
            return np.ravel((_with_entries(block, entries).T @ members).T)

    else:
        of_row = np.repeat(np.arange(len(own)), np.diff(block.indptr))
        distinct, cells = np.unique(own[of_row] * n_columns + block.indices, return_inverse=True)

        def sums(entries: Array, by_row: Array) -> Array:
            return np.bincount(cells, by_row[of_row] * entries, len(distinct)).astype(np.float64, copy=False)

    is_there = (counts > 0).astype(np.float64)
    support = sums(is_there, np.ones(len(own)))
    there = np.flatnonzero(support)
    own_held, columns_held = np.divmod(distinct[there], max(n_columns, 1))
    n_held = np.bincount(own_held, minlength=n_own)
    held[first:last] = n_held
    to = np.repeat(places[first:last] - (np.cumsum(n_held) - n_held), n_held) + np.arange(len(there))
    out_columns[to], out_support[to] = columns_held, support[there]
    out_total[to] = sums(counts, w)[there]
    if len(out_present):
        out_present[to] = sums(is_there, w)[there]
    if len(base):
        terms = _with_entries(block, log_factorials(counts)) @ np.ones(n_columns)
        weight[first:last] += np.bincount(own, w, n_own)
        n_rows[first:last] += np.bincount(own, minlength=n_own)
        base[first:last] += np.bincount(own, w * (log_factorials(draws) - terms), n_own)


def _with_entries(block: csr_array, entries: Array) -> csr_array:
    """Sparse rows with the same pattern and other entries."""
    return csr_array((entries, block.indices, block.indptr), shape=block.shape)


def log_factorials(counts: Array) -> Array:
    """Log x! of each count, from a table where all are small whole numbers."""
    most = counts.max(initial=0.0)
    if most >= len(LOG_FACTORIALS):
        return np.asarray(gammaln(counts + 1.0))
    small = counts.astype(np.uint8)
    return LOG_FACTORIALS[small] if (small == counts).all() else np.asarray(gammaln(counts + 1.0))


def sum_dense_counts(
    cells: Cells, classes: Codes, weights: Array, total: Array, support: Counts, sums: Array
) -> None:
    """Add Σw·x and the number of rows with x > 0 to `total` and `support`, (classes, columns).

    Σw, the number of rows and Σw·log n!/Πx! go to sums[0], sums[1] and sums[2]. A row with a gap adds
    nothing. No `weights` are weights of 1.
    """
    for run in row_runs(*cells.shape):
        x, own = cells[run].astype(np.float64), classes[run]
        w = weights[run] if len(weights) else np.ones(len(own))
        lengths = x.sum(axis=1)
        whole = ~np.isnan(lengths)
        if not whole.all():
            x, own, w, lengths = x[whole], own[whole], w[whole], lengths[whole]
        members = class_members(own, len(total), w)
        total += members @ x
        support += (class_members(own, len(total)) @ (x > 0)).astype(np.int64)
        sums[0] += np.bincount(own, w, len(total))
        sums[1] += np.bincount(own, minlength=len(total))
        sums[2] += members @ (log_factorials(lengths) - log_factorials(x).sum(axis=1))


def sum_entries(
    starts: NDArray[Any], columns: NDArray[Any], x: Cells, classes: Codes, weights: Array, out: Array
) -> None:
    """Add Σw·x over the entries of sparse rows to out[class, column]. No `weights` are weights of 1."""
    if len(out) <= FEW_CLASSES:
        members = np.zeros((len(classes), len(out)))
        members[np.arange(len(classes)), classes] = weights if len(weights) else 1.0
        out += (csr_array((x, columns, starts), shape=(len(classes), out.shape[1])).T @ members).T
        return
    rows = np.repeat(np.arange(len(classes)), np.diff(starts))
    weighted = x * weights[rows] if len(weights) else x
    cells = classes[rows] * out.shape[1] + columns
    out += np.bincount(cells, weighted, out.size).reshape(out.shape)


def add_count_scores(starts: NDArray[Any], columns: NDArray[Any], x: Cells, table: Array, out: Array) -> None:
    """Add Σ x·table[column] over the entries of each row of sparse counts."""
    out += csr_array((x, columns, starts), shape=(len(out), len(table))) @ table
