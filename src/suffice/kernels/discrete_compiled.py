"""Kernels of levels, outcomes and counts, compiled by numba: one pass, no temporaries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.kernels.discrete import LOG_FACTORIALS
from suffice.kernels.jit import contracting, inlined, kernel, reassociating

Cells = NDArray[Any]
FEW_CLASSES = 0
"""Up to so many classes are summed in one run; here one thread sums each run."""
STRIP = 64
"""Columns that are looked through together for those that a class holds."""
FEWEST_COLUMNS, MOST_LEVELS = 16, 64
"""From so many columns on, with at most so many levels on average, rows of integers are counted in bytes."""
FULL = 255
"""Rows of a class after which its bytes are emptied."""
LEVELS_IN_WORDS = 16
"""Levels of a column whose counts are the bytes of two words."""
MOST = np.iinfo(np.int64).max
CELLS_IN_CACHE = 2048
"""Cells of a column that are compared with its bounds, and then counted."""


def count_levels(
    cells: Cells, classes: Codes, weights: Array, low: Counts, starts: Counts, support: Counts, weight: Array
) -> bool:
    """Add each row to support[class, starts[j] + x − low[j]], and its weight, if any, to `weight` there.

    A missing cell adds nothing. Returns False if a cell is not a whole number within its column's bounds.
    """
    n_columns = len(low)
    in_bytes = n_columns >= FEWEST_COLUMNS and starts[-1] <= MOST_LEVELS * n_columns
    if len(weights) or cells.dtype.kind not in "iu" or not (in_bytes or n_columns == 1):
        return _count_each(cells, classes, weights, low, starts, support, weight)
    if in_bytes and cells.dtype != np.uint64 and _count_in_words(cells, classes, low, starts, support):
        return True
    can_hold = np.iinfo(cells.dtype)
    least = np.maximum(low, can_hold.min).astype(cells.dtype)
    most = np.minimum(low + np.diff(starts) - 1, min(can_hold.max, MOST)).astype(cells.dtype)
    if n_columns == 1:
        return _count_column(cells[:, 0], classes, least[0], most[0], low[0], support)
    return _count_rows(cells, classes, least, most, starts[:-1] - low, support)


@kernel
def _count_in_words(cells: Cells, classes: Codes, low: Counts, starts: Counts, support: Counts) -> bool:
    """Count rows of integers in sixteen levels amid the bounds of each column.

    False, and nothing is added, if a cell is none of these levels, or if bounds are too narrow or too wide. A
    cell adds 1 to one byte of two words: the same arithmetic for every level, so the processor counts several
    columns at once.
    """
    n_columns = cells.shape[1]
    first = np.empty(n_columns, np.int64)
    for j in range(n_columns):
        n_levels = starts[j + 1] - starts[j]
        if n_levels < LEVELS_IN_WORDS or n_levels > 2 * LEVELS_IN_WORDS:
            return False
        first[j] = low[j] + (n_levels - LEVELS_IN_WORDS) // 2
    few, n_rows = np.zeros((len(support), 2, n_columns), np.int64), np.zeros(len(support), np.int64)
    counts = np.zeros((len(support), LEVELS_IN_WORDS, n_columns), np.int64)
    for i in range(len(cells)):
        row, k = cells[i], np.uint64(classes[i])
        lower, upper = few[k, 0], few[k, 1]
        levels = 0
        for j in range(n_columns):
            level = np.int64(row[j]) - first[j]
            levels |= level
            one = 1 << ((level << 3) & 63)
            in_upper = one & -(level >> 3)
            lower[j] += one - in_upper
            upper[j] += in_upper
        if levels & -LEVELS_IN_WORDS:
            return False
        n_rows[k] += 1
        if n_rows[k] == FULL:
            n_rows[k] = 0
            _empty_words(few[k], counts[k])
    for own in range(len(support)):
        _empty_words(few[own], counts[own])
        for j in range(n_columns):
            place = starts[j] + first[j] - low[j]
            for level in range(LEVELS_IN_WORDS):
                support[own, place + level] += counts[own, level, j]
    return True


@inlined
def _empty_words(words: Counts, counts: Counts) -> None:
    """Add the bytes of two words for each column to the counts of its levels."""
    for level in range(LEVELS_IN_WORDS):
        those, shift = words[level >> 3], (level << 3) & 63
        for j in range(len(those)):
            counts[level, j] += (those[j] >> shift) & FULL
    words[:] = 0


@kernel
def _count_rows(
    cells: Cells, classes: Codes, least: Cells, most: Cells, starts: Counts, support: Counts
) -> bool:
    """Add each row of integers to support[class, starts[j] + x]; False if a cell is not within bounds.

    Cells pass through the processor's cache. Counts that are bytes leave them room in it.
    """
    n_columns = cells.shape[1]
    few, n_rows = np.zeros(support.shape, np.uint8), np.zeros(len(support), np.int64)
    for i in range(len(cells)):
        row, k = cells[i], np.uint64(classes[i])
        outside = False
        for j in range(n_columns):  # several at once, in their own type
            outside |= (row[j] < least[j]) | (row[j] > most[j])
        if outside:
            return False
        own = few[k]
        for j in range(n_columns):
            own[np.uint64(starts[j] + np.int64(row[j]))] += np.uint8(1)
        n_rows[k] += 1
        if n_rows[k] == FULL:
            n_rows[k] = 0
            for place in range(len(own)):
                support[k, place] += own[place]
                own[place] = 0
    support += few
    return True


@kernel
def _count_column(cells: Cells, classes: Codes, least: int, most: int, low: int, support: Counts) -> bool:
    """Add each integer to support[class, x − low]; False if one is not within bounds."""
    for start in range(0, len(cells), CELLS_IN_CACHE):
        some, own = cells[start : start + CELLS_IN_CACHE], classes[start : start + CELLS_IN_CACHE]
        outside = False
        for i in range(len(some)):  # several at once, in their own type
            outside |= (some[i] < least) | (some[i] > most)
        if outside:
            return False
        for i in range(len(some)):
            support[np.uint64(own[i]), np.uint64(np.int64(some[i]) - low)] += 1
    return True


@kernel
def _count_each(
    cells: Cells, classes: Codes, weights: Array, low: Counts, starts: Counts, support: Counts, weight: Array
) -> bool:
    """Count cells of any type and number of levels, one after another."""
    for i in range(cells.shape[0]):
        k = classes[i]
        for j in range(cells.shape[1]):
            x = cells[i, j]
            if np.isnan(x):
                continue
            whole = np.int64(x)
            place = whole - low[j]
            if whole != x or place < 0 or place >= starts[j + 1] - starts[j]:
                return False
            place += starts[j]
            support[k, place] += 1
            if len(weights) > 0:
                weight[k, place] += weights[i]
    return True


@kernel
def add_level_scores(
    cells: Cells, low: Counts, starts: Counts, rows: Codes, unseen: Codes, table: Array, out: Array
) -> bool:
    """Add the row of the table that each cell reads, rows[starts[j] + x − low[j]], to `out`.

    A cell outside its column's bounds reads unseen[j]; row −1, or a missing cell, adds nothing. False where
    some cell read `unseen`.
    """
    known = True
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            x = cells[i, j]
            if np.isnan(x):
                continue
            whole = np.int64(x)
            place = whole - low[j]
            read = unseen[j]
            if whole == x and place >= 0 and place < starts[j + 1] - starts[j]:
                read = rows[starts[j] + place]
            known &= read != unseen[j]
            if read >= 0:
                for k in range(out.shape[1]):
                    out[i, k] += table[read, k]
    return known


@kernel
def add_step_scores(
    cells: Cells, edges: Array, starts: Codes, first: Codes, table: Array, out: Array
) -> None:
    """Add the row of the table that each cell reads to `out`: first[j] and one more for each edge ≤ x.

    Column j has edges[starts[j] : starts[j + 1]]. A missing cell, or first[j] = −1, adds nothing.
    """
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            x = np.float64(cells[i, j])
            if first[j] < 0 or np.isnan(x):
                continue
            low, high = starts[j], starts[j + 1]
            while low < high:  # half of the edges are left after each comparison
                middle = (low + high) // 2
                if x < edges[middle]:
                    high = middle
                else:
                    low = middle + 1
            row = first[j] + low - starts[j]
            for k in range(out.shape[1]):
                out[i, k] += table[row, k]


@kernel
def add_outcomes(
    cells: Cells, classes: Codes, weights: Array, total: Array, weight: Array, support: Counts
) -> bool:
    """Add Σw·x to the `total` of each class and column; with a `weight`, Σw and rows observed too.

    False where a cell is not 0, 1 or missing. No `weights` are weights of 1.
    """
    for i in range(cells.shape[0]):
        bad = 0
        for j in range(cells.shape[1]):
            x = cells[i, j]
            bad |= int(x != 0) & int(x != 1) & int(not np.isnan(x))
        if bad:
            return False
        k = classes[i]
        w = weights[i] if len(weights) else 1.0
        if len(weight) == 0:
            for j in range(cells.shape[1]):
                total[k, j] += w * cells[i, j]
        else:
            for j in range(cells.shape[1]):
                x = cells[i, j]
                if not np.isnan(x):
                    total[k, j] += w * x
                    weight[k, j] += w
                    support[k, j] += 1
    return True


@reassociating
def add_outcome_scores(cells: Cells, natural: Array, constant: Array, out: Array) -> int:
    """Add Σ λx + constant over the observed columns to `out`.

    Returns the number of rows scored: all, or some of those before the first cell that is not an outcome.
    """
    whole = np.empty(out.shape[1])
    for k in range(out.shape[1]):
        whole[k] = constant[k].sum()
    row = np.empty(cells.shape[1])
    for i in range(cells.shape[0]):
        gaps, bad = 0, 0
        for j in range(cells.shape[1]):
            row[j] = cells[i, j]
            gap = int(np.isnan(row[j]))
            gaps |= gap
            bad |= int(row[j] != 0) & int(row[j] != 1) & (1 - gap)
        if bad:
            return i
        for k in range(out.shape[1]):
            score = 0.0
            if gaps:
                for j in range(cells.shape[1]):
                    if not np.isnan(row[j]):
                        score += constant[k, j] + row[j] * natural[k, j]
            else:
                for j in range(cells.shape[1]):
                    score += row[j] * natural[k, j]
                score += whole[k]
            out[i, k] += score
    return len(cells)


@inlined
def _log_factorial(x: float) -> float:
    """Log x!, of x ≥ 0."""
    small = int(x)
    return LOG_FACTORIALS[small] if small == x and small < len(LOG_FACTORIALS) else math.lgamma(x + 1.0)


@inlined
def _add_row(
    columns: NDArray[Any],
    x: Cells,
    w: float,
    total: Array,
    support: Counts,
    present: Array,
    touched: NDArray[np.bool_],
) -> float:
    """Add the entries of a row, unless it has a gap, and return their sum, NaN for a gap."""
    length = 0.0
    for entry in range(len(x)):
        length += x[entry]
    if np.isnan(length):
        return length
    for entry in range(len(x)):
        value, column = np.float64(x[entry]), columns[entry]
        total[column] += w * value
        support[column] += value > 0
        touched[column // STRIP] = True
        if len(present):
            present[column] += w * (value > 0)
    return length


@inlined
def _log_base(x: Cells, length: float) -> float:
    """Log n!/Πx!."""
    parts = 0.0
    for entry in range(len(x)):
        parts += _log_factorial(np.float64(x[entry]))
    return _log_factorial(length) - parts


@kernel
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
    `out_present` asks for no Σw·[x > 0], an empty `weight` or `base` for no such sums over rows.
    """
    total, support = np.zeros(n_columns), np.zeros(n_columns, np.int64)
    present = np.zeros(n_columns if len(out_present) else 0)
    touched, found = np.zeros(n_columns // STRIP + 1, np.bool_), np.empty(n_columns + 1, np.int32)
    for k in range(first, last):
        for i in order[ends[k] : ends[k + 1]]:
            mine = slice(starts[i], starts[i + 1])
            length = _add_row(columns[mine], x[mine], weights[i], total, support, present, touched)
            if len(weight) and not np.isnan(length):
                weight[k] += weights[i]
                n_rows[k] += 1
            if len(base) and not np.isnan(length):
                base[k] += weights[i] * _log_base(x[mine], length)
        n_held = 0
        for strip in range(len(touched)):
            if touched[strip]:
                touched[strip] = False
                for column in range(STRIP * strip, min(STRIP * strip + STRIP, n_columns)):
                    found[n_held] = column  # it stays only if it is held: a branch would cost more
                    n_held += support[column] > 0
        for e in range(n_held):
            at, column = places[k] + e, found[e]
            out_columns[at], out_total[at], out_support[at] = column, total[column], support[column]
            total[column], support[column] = 0.0, 0
            if len(present):
                out_present[at], present[column] = present[column], 0.0
        held[k] = n_held


@kernel
def sum_dense_counts(
    cells: Cells, classes: Codes, weights: Array, total: Array, support: Counts, sums: Array
) -> None:
    """Add Σw·x and the number of rows with x > 0 to `total` and `support`, (classes, columns).

    Σw, the number of rows and Σw·log n!/Πx! go to sums[0], sums[1] and sums[2]. A row with a gap adds
    nothing. No `weights` are weights of 1.
    """
    for i in range(cells.shape[0]):
        k, length, parts = classes[i], 0.0, 0.0
        for j in range(cells.shape[1]):
            length += cells[i, j]
        if np.isnan(length):
            continue
        w = weights[i] if len(weights) else 1.0
        for j in range(cells.shape[1]):
            value = np.float64(cells[i, j])
            total[k, j] += w * value
            support[k, j] += value > 0
            parts += _log_factorial(value)
        sums[0, k] += w
        sums[1, k] += 1.0
        sums[2, k] += w * (_log_factorial(length) - parts)


@kernel
def sum_entries(
    starts: NDArray[Any], columns: NDArray[Any], x: Cells, classes: Codes, weights: Array, out: Array
) -> None:
    """Add Σw·x over the entries of sparse rows to out[class, column]. No `weights` are weights of 1."""
    for i in range(len(classes)):
        sums, w = out[classes[i]], weights[i] if len(weights) else 1.0
        for e in range(starts[i], starts[i + 1]):
            sums[columns[e]] += w * x[e]


@contracting
def add_count_scores(starts: NDArray[Any], columns: NDArray[Any], x: Cells, table: Array, out: Array) -> None:
    """Add Σ x·table[column] over the entries of each row of sparse counts."""
    n_classes = out.shape[1]
    for i in range(out.shape[0]):
        first, last = starts[i], starts[i + 1]
        fours = first + 4 * ((last - first) // 4)
        for e in range(first, fours, 4):  # four at a time: their places in the table are far apart
            a, b = table[columns[e]], table[columns[e + 1]]
            c, d = table[columns[e + 2]], table[columns[e + 3]]
            p, q, r, s = x[e], x[e + 1], x[e + 2], x[e + 3]
            for k in range(n_classes):
                out[i, k] += (p * a[k] + q * b[k]) + (r * c[k] + s * d[k])
        for e in range(fours, last):
            value, row = np.float64(x[e]), table[columns[e]]
            for k in range(n_classes):
                out[i, k] += value * row[k]
