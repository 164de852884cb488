"""Kernels of levels, outcomes and counts in NumPy: the readable reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from suffice.arrays import Array, Codes, Counts
from suffice.kernels.cells import as_columns, as_rows, class_members, entry_runs, level_counts, row_runs

Cells = NDArray[Any]
LOG_FACTORIALS = gammaln(np.arange(1.0, 257.0))
PER_DRAW = LOG_FACTORIALS / np.maximum(np.arange(256.0), 1.0)
"""Log x! / x: times the counts themselves, which are at hand, it needs no array of ones."""
FEW_CLASSES = 16
"""Up to so many classes, a product with a table of memberships is the quickest sum of sparse entries."""
ONE_BY_ONE = 2
"""Up to so many classes, a product of sparse rows for each is quicker than one for all."""
MISSING = -1
"""The place of a missing cell."""
ENTRIES_IN_CACHE = 1 << 18
"""Entries of a run of sparse rows whose temporaries stay close to the processor."""
COUNTED_AT_ONCE = 1 << 10
"""Cells whose places are held at once, in about fifty bytes each."""
A_ROW = 2.0**-26
"""Added to whole counts, it counts their rows in digits that a sum below its reciprocal leaves free."""


def count_levels(
    cells: Cells, classes: Codes, weights: Array, low: Counts, starts: Counts, support: Counts, weight: Array
) -> bool:
    """Add each row to support[class, starts[j] + x − low[j]], and its weight, if any, to `weight` there.

    A missing cell adds nothing. Returns False if a cell is not a whole number within its column's bounds.
    """
    first, size = starts[:-1], np.diff(starts)
    for run in row_runs(len(cells), cells.shape[1], COUNTED_AT_ONCE):
        places = _places(cells[run], low, size)
        if (places == size).any():
            return False
        at = np.where(places == MISSING, MISSING, first + places).ravel()
        own, times = classes[run], cells.shape[1]
        level_counts(at, own.repeat(times), None, support)
        if len(weights):
            level_counts(at, own.repeat(times), weights[run].repeat(times), weight)
    return True


def add_step_scores(
    cells: Cells, edges: Array, starts: Codes, first: Codes, table: Array, out: Array
) -> None:
    """Add the row of the table that each cell reads to `out`: first[j] and one more for each edge ≤ x.

    Column j has edges[starts[j] : starts[j + 1]]. A missing cell, or first[j] = −1, adds nothing.
    """
    for j in np.flatnonzero(first >= 0).tolist():
        values = np.asarray(cells[:, j], dtype=np.float64)
        there = ~np.isnan(values)
        places = np.searchsorted(edges[starts[j] : starts[j + 1]], values[there], side="right")
        out[there] += table[first[j] + places]


def add_level_scores(
    cells: Cells, low: Counts, starts: Counts, rows: Codes, unseen: Codes, table: Array, out: Array
) -> bool:
    """Add the row of the table that each cell reads, rows[starts[j] + x − low[j]], to `out`.

    A cell outside its column's bounds reads unseen[j]; row −1, or a missing cell, adds nothing. False where
    some cell read `unseen`.
    """
    known, size = True, np.diff(starts)
    # Each column has two more places: before its levels that of missing cells, after them that of others.
    first = starts[:-1] + 1 + 2 * np.arange(len(low))
    read = np.full(len(rows) + 2 * len(low), -1)
    read[np.arange(len(rows)) + np.repeat(first - starts[:-1], size)] = rows
    read[first + size] = unseen
    is_unseen = read == np.repeat(unseen, size + 2)
    is_unseen[first + MISSING] = False
    table = np.vstack([table, np.zeros(table.shape[1])])[read]  # row −1 adds nothing
    for run in row_runs(len(cells), max(table.shape[1], cells.shape[1])):
        places = _places(cells[run], low, size)
        places += first
        known &= not is_unseen[places].any()
        for j in range(cells.shape[1]):
            out[run] += table[places[:, j]]
    return known


def _places(cells: Cells, low: Counts | int, n_levels: Counts | int) -> Counts:
    """How far each cell lies above `low`; `n_levels` where it is not one of so many whole numbers."""
    with np.errstate(invalid="ignore"):
        whole = cells.astype(np.int64, copy=False)
    # A negative distance is a large one without its sign.
    places = np.minimum((whole - low).view(np.uint64), np.asarray(n_levels, np.uint64)).view(np.int64)
    if cells.dtype.kind in "fu":
        np.copyto(places, n_levels, where=whole != cells)
    if cells.dtype.kind == "f":
        places[np.isnan(cells)] = MISSING
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
    `out_present` asks for no Σw·[x > 0], an empty `weight` or `base` for no such sums over rows.
    """
    n_own, rows = last - first, order[ends[first] : ends[last]]
    own = np.repeat(np.arange(n_own), np.diff(ends[first : last + 1]))
    block, w = as_rows(starts, columns, x, n_columns)[rows], weights[rows]
    draws = row_totals(block.indptr, block.data)
    whole = ~np.isnan(draws)
    if not whole.all():
        block, own, w, draws = block[whole], own[whole], w[whole], draws[whole]
    counts, of_row = block.data.astype(np.float64), np.repeat(np.arange(len(own)), np.diff(block.indptr))
    distinct, cells = np.unique(own[of_row] * n_columns + block.indices, return_inverse=True)

    def sums(entries: Array) -> Array:
        return np.bincount(cells, entries, len(distinct)).astype(np.float64, copy=False)

    is_there = (counts > 0).astype(np.float64)
    support = sums(is_there)
    there = np.flatnonzero(support)
    own_held, columns_held = np.divmod(distinct[there], max(n_columns, 1))
    n_held = np.bincount(own_held, minlength=n_own)
    held[first:last] = n_held
    to = np.repeat(places[first:last] - (np.cumsum(n_held) - n_held), n_held) + np.arange(len(there))
    out_columns[to], out_support[to] = columns_held, support[there]
    out_total[to] = sums(w[of_row] * counts)[there]
    if len(out_present):
        out_present[to] = sums(w[of_row] * is_there)[there]
    if len(weight):
        weight[first:last] += np.bincount(own, w, n_own)
        n_rows[first:last] += np.bincount(own, minlength=n_own)
    if len(base):
        terms = row_totals(block.indptr, log_factorials(counts))
        base[first:last] += np.bincount(own, w * (log_factorials(draws) - terms), n_own)


def sum_in_tables(
    starts: NDArray[Any],
    columns: NDArray[Any],
    x: Cells,
    classes: Codes,
    weights: Array,
    total: Array,
    support: Array,
    present: Array,
    sums: Array,
    check: Callable[[], None],
) -> None:
    """Add Σw·x, the number of rows with x > 0 and Σw·[x > 0] of sparse rows to (columns, classes) tables.

    Σw, the number of rows and Σw·log n!/Πx! go to sums[0], sums[1] and sums[2], as far as there are these; an
    empty `present` asks for none. A row with a gap adds nothing. No `weights` are weights of 1. `check` is
    called before anything else than small whole numbers is summed, so that these are not read once more to be
    checked.
    """
    runs = entry_runs(starts, max(ENTRIES_IN_CACHE, total.size))
    # Used again and again: fresh memory takes longer than what is written to it.
    buffers = _Buffers.of(max((starts[run.stop] - starts[run.start] for run in runs), default=0))
    packed = _Packed(total, support)
    for run in runs:
        filled = slice(starts[run.start], starts[run.stop])
        rows = starts[run.start : run.stop + 1] - filled.start, columns[filled], x[filled]
        own, w = classes[run], weights[run]
        with np.errstate(invalid="ignore"):  # ∞ − ∞
            has_gaps = np.isnan(rows[2].sum())
        if has_gaps:
            check()
            whole = ~np.isnan(row_totals(rows[0], rows[2]))
            block = as_rows(*rows, len(total))[whole]
            rows = block.indptr, block.indices, block.data
            own, w = own[whole], w[whole] if len(w) else w
        _add_whole_rows(*rows, own, w, (total, support, present, sums), packed, buffers, check)
    packed.unpack()


def _add_whole_rows(
    starts: NDArray[Any],
    columns: NDArray[Any],
    x: Cells,
    classes: Codes,
    weights: Array,
    out: tuple[Array, ...],
    packed: _Packed,
    buffers: _Buffers,
    check: Callable[[], None],
) -> None:
    """`sum_in_tables` of rows without gaps."""
    total, support, present, sums = out
    n_classes, (entries, whole) = total.shape[1], buffers.first(len(x))
    members = np.eye(n_classes).take(classes, axis=0)

    def by_column(by_row: Array) -> Array:
        return np.asarray(as_columns(starts, columns, entries, len(total)) @ by_row)

    with np.errstate(invalid="ignore"):  # large counts are told from small ones below
        np.copyto(whole, x, casting="unsafe")
    entries[:] = whole
    are_small = whole.max(initial=0) < len(LOG_FACTORIALS) and np.array_equal(entries, x)
    fewest = whole.min(initial=1)
    if not are_small or fewest < 0:
        check()
    if are_small and not len(weights) and fewest > 0 and (n_draws := entries.sum()) < 1 / A_ROW:
        np.add(entries, A_ROW, out=entries)
        packed.add(by_column(members), n_draws)
    else:
        weighted = members * weights[:, np.newaxis] if len(weights) else members
        entries[:] = x
        total += by_column(weighted)
        np.greater(x, 0, out=entries)
        support += by_column(members)
        if len(present):
            present += by_column(weighted)
    if len(sums):
        n_rows = np.bincount(classes, minlength=n_classes)
        sums[0] += np.bincount(classes, weights, n_classes) if len(weights) else n_rows
        sums[1] += n_rows
    if len(sums) > 2:
        if are_small:  # read as columns, whole numbers find their terms in the table
            terms = as_rows(starts, whole, x, len(LOG_FACTORIALS)) @ PER_DRAW
        else:
            terms = row_totals(starts, gammaln(np.add(x, 1.0, out=entries, dtype=np.float64), out=entries))
        base = log_factorials(row_totals(starts, x)) - terms
        sums[2] += np.bincount(classes, weights * base if len(weights) else base, n_classes)


class _Packed:
    """Σ (x + A_ROW) by column and class: unpacked once, it is Σx and the number of rows."""

    def __init__(self, total: Array, support: Array) -> None:
        self.total, self.support = total, support
        self.sums, self.draws = np.zeros_like(total), 0.0

    def add(self, sums: Array, draws: float) -> None:
        """Add sums of so many draws, fewer than 1 / A_ROW."""
        if self.draws + draws >= 1 / A_ROW:
            self.unpack()
        self.sums += sums
        self.draws += draws

    def unpack(self) -> None:
        """Add the sums to those in plain numbers."""
        counts = np.floor(self.sums)
        self.total += counts
        self.support += (self.sums - counts) / A_ROW
        self.sums[:], self.draws = 0.0, 0.0


class _Buffers(NamedTuple):
    """Room for the entries of a run: as numbers, and as whole numbers."""

    entries: Array
    whole: NDArray[np.int32]

    @classmethod
    def of(cls, size: int) -> Self:
        return cls(np.empty(size), np.empty(size, np.int32))

    def first(self, n: int) -> Self:
        """Room for n entries."""
        return type(self)(self.entries[:n], self.whole[:n])


def row_totals(starts: NDArray[Any], entries: Cells) -> Array:
    """Σ of the entries of each sparse row."""
    first = starts[:-1]
    filled = first < starts[1:]
    if len(first) and filled.all():
        return np.add.reduceat(entries, first, dtype=np.float64)
    totals = np.zeros(len(first))
    totals[filled] = np.add.reduceat(entries, first[filled], dtype=np.float64) if len(entries) else 0.0
    return totals


def log_factorials(counts: Array) -> Array:
    """Log x! of each count, from a table where all are small whole numbers."""
    if counts.max(initial=0) < len(LOG_FACTORIALS):
        small = counts.astype(np.uint8)
        if (small == counts).all():
            return np.asarray(LOG_FACTORIALS[small])
    return np.asarray(gammaln(counts + 1.0))


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
        out += (as_columns(starts, columns, x, out.shape[1]) @ members).T
        return
    rows = np.repeat(np.arange(len(classes)), np.diff(starts))
    weighted = x * weights[rows] if len(weights) else x
    cells = classes[rows] * out.shape[1] + columns
    out += np.bincount(cells, weighted, out.size).reshape(out.shape)


def add_count_scores(starts: NDArray[Any], columns: NDArray[Any], x: Cells, table: Array, out: Array) -> None:
    """Add Σ x·table[column] over the entries of each row of sparse counts."""
    if table.shape[1] > ONE_BY_ONE:
        out += as_rows(starts, columns, x, len(table)) @ table
        return
    by_class = np.ascontiguousarray(table.T)
    for run in entry_runs(starts, ENTRIES_IN_CACHE):
        filled = slice(starts[run.start], starts[run.stop])
        rows = as_rows(
            starts[run.start : run.stop + 1] - filled.start, columns[filled], x[filled], len(table)
        )
        for k, of_class in enumerate(by_class):
            out[run, k] += rows @ of_class
