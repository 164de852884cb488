"""Neighbouring cells joined into steps: the shortest description of the classes given the cells."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from suffice.arrays import Array, Codes

MOST_CELLS = 128
"""Cells of about equally many rows, at most, that joining begins with."""

MOST_LISTED = 1 << 15
"""Rows of a column, below which lengths are read from a list: that is faster than to compute them."""

COLUMNS_AT_ONCE = 256
"""Columns whose cells stay in the cache until all are joined."""

MANY_CLASSES = 8
"""Numbers from which NumPy adds those that lie side by side in pairs."""


def joined(counts: Array, sizes: Codes) -> NDArray[np.bool_]:
    """Which cells begin a step, for counts (classes, cells) of columns one after the other, of these sizes.

    Cells are joined in pairs, the pair first that shortens the description most, down to a single one; the
    partition of the shortest description stays. It is that of Boullé (2006): the number of steps, their
    rows, the classes of each, log N + log C(N+I−1, I−1) + Σᵢ log C(nᵢ+K−1, K−1) + Σᵢ log nᵢ!/Πₖnᵢₖ!.
    """
    begins = about_equal(counts, sizes)
    starts = np.flatnonzero(begins)
    column = np.repeat(np.arange(len(sizes)), sizes)[starts]
    n_begun = np.bincount(column, minlength=len(sizes))
    if n_begun.max(initial=0) <= 1:
        return begins
    order = np.argsort(-n_begun, kind="stable")
    place = np.argsort(order)[column]
    number = np.arange(len(starts)) - (np.cumsum(n_begun) - n_begun)[column]
    cells = np.zeros((len(counts), len(sizes), n_begun.max() + 1))
    cells[:, place, number] = np.add.reduceat(counts, starts, axis=1)
    ordered, found = n_begun[order], np.zeros(cells.shape[1:], dtype=np.bool_)
    for first in range(0, len(sizes), COLUMNS_AT_ONCE):
        some, width = slice(first, first + COLUMNS_AT_ONCE), ordered[first] + 1
        found[some, :width] = _joined_in_pairs(cells[:, some, :width], ordered[some])
    begins[starts] = found[place, number]
    return begins


def about_equal(counts: Array, sizes: Codes) -> NDArray[np.bool_]:
    """Which cells begin one of at most `MOST_CELLS` of each column that have about as many rows each."""
    is_cell = np.arange(sizes.max(initial=0)) < sizes[:, np.newaxis]
    rows = np.zeros(is_cell.shape)
    rows[is_cell] = np.add.reduce(counts, axis=0)
    total = np.add.reduce(rows, axis=1, keepdims=True)
    middle = np.cumsum(rows, axis=1) - 0.5 * rows
    group = np.floor(middle * (MOST_CELLS / np.where(total == 0, 1.0, total)))
    begins = np.ones(rows.shape, dtype=np.bool_)
    np.not_equal(group[:, 1:], group[:, :-1], out=begins[:, 1:])
    return np.asarray(begins[is_cell])


def begins_of_runs(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values differ from the one before."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins


def _joined_in_pairs(cells: Array, sizes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which cells (columns, cells) begin a step in the shortest description of each column.

    `cells` (classes, columns, cells) of each column are padded beyond its size, by one at least; columns with
    more come first. A pair is joined in its first cell, and the neighbours of the second are then neighbours
    of the first. Beyond the first and the last cell of a column lies one of length −∞, which never pays.
    """
    n_classes, n_columns, width = cells.shape
    rows = cells.sum(axis=(0, 2))
    cells = _whole(cells, rows)
    length = description_length(cells)
    pair, gain = np.zeros((n_columns, width)), np.empty((n_columns, width))
    pair[:, :-1] = description_length(cells[:, :, :-1] + cells[:, :, 1:])  # a cell and the next one as one
    gained = np.full((width, n_columns), np.inf)  # the length of all cells, and what each pair adds to it
    gained[0] = length.sum(axis=1)
    length[np.arange(width) >= sizes[:, np.newaxis]] = -np.inf
    gain[:, :-1] = pair[:, :-1] - length[:, :-1] - length[:, 1:]
    gain[:, -1] = np.inf
    gone_at = np.full(n_columns * width, width)  # which pair, in order, joined a cell to the one before
    starts = width * np.arange(n_columns)
    # To the cells before and after each.
    before, after = np.arange(n_columns * width) + np.array([[-1], [1]])
    flat, lengths, pairs, gains = cells.reshape(n_classes, -1), length.ravel(), pair.ravel(), gain.ravel()
    are_left = np.count_nonzero(sizes[:, np.newaxis] > np.arange(sizes[0]), axis=0).tolist()
    for n_joined, n_left in enumerate(are_left[1:], start=1):
        at = gain[:n_left].argmin(axis=1)
        at += starts[:n_left]
        gone = after.take(at)
        gone_at[gone] = n_joined
        gained[n_joined, :n_left] = gains.take(at)
        gains[gone] = np.inf
        following = after.take(gone)
        after[at], before[following] = following, at
        previous = before.take(at)
        joint = flat.take(at, axis=1)
        joint += flat.take(gone, axis=1)
        flat[:, at] = joint
        lengths[at] = own = pairs.take(at)
        with_previous, with_following = description_length(
            flat.take((previous, following), axis=1) + joint[:, np.newaxis]
        )
        pairs[previous], pairs[at] = with_previous, with_following
        gains[previous] = with_previous - lengths.take(previous) - own
        gains[at] = with_following - own - lengths.take(following)
    total = np.cumsum(gained, axis=0)
    n_cells = np.maximum(sizes - np.arange(width)[:, np.newaxis], 1)
    total += _length_of_sizes(rows, n_cells)
    fewest = width - 1 - np.argmin(total[::-1], axis=0)  # of equal lengths, that of the fewest cells
    return np.asarray(gone_at.reshape(n_columns, width) > fewest[:, np.newaxis])


def description_length(counts: NDArray[Any]) -> Array:
    """Nats that the classes of the rows of a cell take, from their counts (classes, …)."""
    n, n_classes = np.add.reduce(counts, axis=0), len(counts)
    if counts.dtype.kind == "f":
        return np.asarray(_length_of_rows(n, n_classes) - _over_classes(gammaln(counts + 1.0)))
    log_factorials, of_rows = _listed(n_classes)
    return np.asarray(of_rows.take(n) - _over_classes(log_factorials.take(counts)))


def _over_classes(each: Array) -> Array:
    """The sums over classes, the first axis.

    Many numbers that lie side by side are added in pairs, with smaller errors; a few need not be brought
    together.
    """
    if len(each) < MANY_CLASSES:
        return np.asarray(np.add.reduce(each, axis=0))
    return np.asarray(np.add.reduce(np.ascontiguousarray(np.moveaxis(each, 0, -1)), axis=-1))


def _length_of_rows(n: Array, n_classes: int) -> Array:
    """Nats that the counts of the classes of n rows, and their order, take at most."""
    of_rows = gammaln(n + 1.0)
    return np.asarray(gammaln(n + n_classes) - of_rows - gammaln(n_classes) + of_rows)


def _whole(cells: Array, rows: Array) -> NDArray[Any]:
    """Counts as integers if they are whole, and not too many: their lengths are then read from a list."""
    is_listed = rows.max() < MOST_LISTED and (cells == np.floor(cells)).all()
    return cells.astype(np.intp) if is_listed else cells


@lru_cache(maxsize=8)
def _listed(n_classes: int) -> tuple[Array, Array]:
    """Log n!, and the length of n rows of so many classes, for the first whole numbers."""
    n = np.arange(float(MOST_LISTED))
    return np.asarray(gammaln(n + 1.0)), _length_of_rows(n, n_classes)


def _length_of_sizes(rows: Array, n_cells: NDArray[np.intp]) -> Array:
    """Nats that the number of cells and the sizes of all take."""
    choices = gammaln(rows + n_cells) - gammaln(rows + 1.0) - gammaln(n_cells)
    return np.asarray(np.log(np.maximum(rows, 1.0)) + choices)
