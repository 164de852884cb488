"""Neighbouring cells joined into steps: the shortest description of the classes given the cells."""

from __future__ import annotations

from collections.abc import Sequence
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

MANY_CLASSES = 8
"""Numbers from which NumPy adds those that lie side by side in pairs."""


def joined(columns: list[Array]) -> list[Codes]:
    """For the counts (classes, cells) of each column, where its steps begin.

    Cells are joined in pairs, the pair first that shortens the description most, down to a single one; the
    partition of the shortest description stays. It is that of Boullé (2006): the number of steps, their
    rows, the classes of each, log N + log C(N+I−1, I−1) + Σᵢ log C(nᵢ+K−1, K−1) + Σᵢ log nᵢ!/Πₖnᵢₖ!.
    """
    begun = about_equal(columns)
    order = sorted(range(len(columns)), key=lambda j: len(begun[j]), reverse=True)
    sizes = np.array([len(begun[j]) for j in order])
    if not len(sizes) or sizes[0] <= 1:
        return begun
    cells = np.zeros((len(columns[0]), len(columns), sizes[0] + 1))
    for place, j in enumerate(order):
        if len(begun[j]):
            cells[:, place, : len(begun[j])] = np.add.reduceat(columns[j], begun[j], axis=1)
    begins = _joined_in_pairs(cells, sizes)
    for place, j in enumerate(order):
        begun[j] = begun[j][begins[place, : len(begun[j])]]
    return begun


def about_equal(columns: Sequence[Array]) -> list[Codes]:
    """Where at most `MOST_CELLS` cells of each column begin that have about as many rows each."""
    sizes = np.array([counts.shape[1] for counts in columns], dtype=np.intp)
    rows = np.zeros((len(columns), sizes.max(initial=0)))
    total = np.ones((len(columns), 1))
    for j, counts in enumerate(columns):
        rows[j, : sizes[j]] = of_cells = np.add.reduce(counts, axis=0)
        total[j] = np.add.reduce(of_cells) or 1.0
    middle = np.cumsum(rows, axis=1) - 0.5 * rows
    group = np.floor(middle * (MOST_CELLS / total))
    begins = np.ones(rows.shape, dtype=np.bool_)
    np.not_equal(group[:, 1:], group[:, :-1], out=begins[:, 1:])
    column, cell = np.nonzero(begins & (np.arange(rows.shape[1]) < sizes[:, np.newaxis]))
    return np.split(cell, np.searchsorted(column, np.arange(1, len(columns)))) if len(columns) else []


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
    gained = np.full((n_columns, width), np.inf)  # the length of all cells, and what each pair adds to it
    gained[:, 0] = length.sum(axis=1)
    length[np.arange(width) >= sizes[:, np.newaxis]] = -np.inf
    gain[:, :-1] = pair[:, :-1] - length[:, :-1] - length[:, 1:]
    gain[:, -1] = np.inf
    gone_at = np.full(n_columns * width, width)  # which pair, in order, joined a cell to the one before
    starts = width * np.arange(n_columns)
    links = np.arange(n_columns * width) + np.array([[-1], [1]])  # to the cell before and after each
    before, after = links
    # One index for class, column and cell finds a cell several times faster than two.
    flat, lengths, pairs, gains = cells.ravel(), length.ravel(), pair.ravel(), gain.ravel()
    of_class = length.size * np.arange(n_classes)[:, np.newaxis]
    of_sides = of_class[:, np.newaxis]
    are_left = np.count_nonzero(sizes[:, np.newaxis] > np.arange(sizes[0]), axis=0).tolist()
    for n_joined, n_left in enumerate(are_left[1:], start=1):
        at = starts[:n_left] + gain[:n_left].argmin(axis=1)
        gone = after[at]
        gone_at[gone] = n_joined
        gained[:n_left, n_joined] = gains[at]
        gains[gone] = np.inf
        following = after[gone]
        after[at], before[following] = following, at
        beside = links[:, at]
        previous = beside[0]
        here = of_class + at
        joint = flat[here] + flat[of_class + gone]
        flat[here] = joint
        lengths[at] = own = pairs[at]
        both = description_length(flat[of_sides + beside] + joint[:, np.newaxis])
        pairs[previous], pairs[at] = both
        gains[previous] = both[0] - lengths[previous] - own
        gains[at] = both[1] - own - lengths[following]
    total = np.cumsum(gained, axis=1)
    n_cells = np.maximum(sizes[:, np.newaxis] - np.arange(width), 1)
    total += _length_of_sizes(rows[:, np.newaxis], n_cells)
    fewest = width - 1 - np.argmin(total[:, ::-1], axis=1)  # of equal lengths, that of the fewest cells
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
