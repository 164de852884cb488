"""Neighbouring cells joined into steps: the shortest description of the classes given the cells."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from suffice.arrays import Array, Codes

MOST_CELLS = 128
"""Cells of about equally many rows, at most, that joining begins with."""

MOST_LISTED = 1 << 15
"""Whole numbers whose log Γ is read from a list, which is faster than to compute it."""


def joined(columns: list[Array]) -> list[Codes]:
    """For the counts (classes, cells) of each column, where its steps begin.

    Cells are joined in pairs, the pair first that shortens the description most, down to a single one; the
    partition of the shortest description stays. It is that of Boullé (2006): the number of steps, their
    rows, the classes of each, log N + log C(N+I−1, I−1) + Σᵢ log C(nᵢ+K−1, K−1) + Σᵢ log nᵢ!/Πₖnᵢₖ!.
    """
    begun = [about_equal(counts) for counts in columns]
    order = sorted(range(len(columns)), key=lambda j: len(begun[j]), reverse=True)
    sizes = np.array([len(begun[j]) for j in order])
    if not len(sizes) or sizes[0] <= 1:
        return begun
    cells = np.zeros((len(columns), sizes[0] + 1, len(columns[0])))
    for place, j in enumerate(order):
        if len(begun[j]):
            cells[place, : len(begun[j])] = np.add.reduceat(columns[j], begun[j], axis=1).T
    begins = _joined_in_pairs(cells, sizes)
    for place, j in enumerate(order):
        begun[j] = begun[j][begins[place, : len(begun[j])]]
    return begun


def about_equal(counts: Array) -> Codes:
    """Where at most `MOST_CELLS` cells begin that have about as many rows each."""
    rows = counts.sum(axis=0)
    middle = np.cumsum(rows) - 0.5 * rows
    total = rows.sum()
    group = np.floor(middle * (MOST_CELLS / total)) if total > 0 else np.zeros(len(rows))
    return np.flatnonzero(begins_of_runs(group)).astype(np.intp)


def begins_of_runs(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Which values differ from the one before."""
    begins = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins


def _joined_in_pairs(cells: Array, sizes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which cells (columns, cells) begin a step in the shortest description of each column.

    `cells` (columns, cells, classes) of each column are padded beyond its size, by one at least; columns with
    more come first. A pair is joined in its first cell, and the neighbours of the second are then neighbours
    of the first. A gain beyond the first or the last cell of a column is infinite.
    """
    n_columns, width, n_classes = cells.shape
    rows = cells.sum(axis=(1, 2))
    cells = _whole(cells)
    length = description_length(cells)
    pair = np.zeros((n_columns, width))  # the length of a cell and the next one as one
    pair[:, :-1] = description_length(cells[:, :-1] + cells[:, 1:])
    gain = pair - length
    gain[:, :-1] -= length[:, 1:]
    gain[np.arange(width) >= sizes[:, np.newaxis] - 1] = np.inf
    gained = np.full((n_columns, width), np.inf)  # the length of all cells, and what each pair adds to it
    gained[:, 0] = length.sum(axis=1)
    gone_at = np.full(n_columns * width, width)  # which pair, in order, joined a cell to the one before
    starts = width * np.arange(n_columns)
    ends = starts + sizes
    before, after = (np.arange(n_columns * width) + step for step in (-1, 1))
    # One index for column and cell finds a cell several times faster than two.
    flat, lengths, pairs, gains = cells.reshape(-1, n_classes), length.ravel(), pair.ravel(), gain.ravel()
    for n_joined in range(1, sizes[0]):
        n_left = np.count_nonzero(sizes > n_joined)
        start, end = starts[:n_left], ends[:n_left]
        at = start + np.argmin(gain[:n_left], axis=1)
        gone = after[at]
        gone_at[gone] = n_joined
        gained[:n_left, n_joined] = gains[at]
        flat[at] += flat[gone]
        lengths[at] = pairs[at]
        gains[gone] = np.inf
        previous, following = before[at], after[gone]
        after[at], before[following] = following, at
        first, second = np.concatenate([previous, at]), np.concatenate([at, following])
        pairs[first] = joined_length = description_length(flat[first] + flat[second])
        inside = np.concatenate([previous >= start, following < end])
        gains[first] = np.where(inside, joined_length - lengths[first] - lengths[second], np.inf)
    total = np.cumsum(gained, axis=1)
    n_cells = np.maximum(sizes[:, np.newaxis] - np.arange(width), 1)
    total += _length_of_sizes(rows[:, np.newaxis], n_cells)
    fewest = width - 1 - np.argmin(total[:, ::-1], axis=1)  # of equal lengths, that of the fewest cells
    return np.asarray(gone_at.reshape(n_columns, width) > fewest[:, np.newaxis])


def description_length(counts: NDArray[Any]) -> Array:
    """Nats that the classes of the rows of a cell take, from their counts (…, classes)."""
    n, n_classes = counts.sum(axis=-1), counts.shape[-1]
    log_gamma = gammaln if counts.dtype.kind == "f" else _log_gammas().take
    of_rows = log_gamma(n + 1)
    of_counts = log_gamma(n + n_classes) - of_rows - gammaln(n_classes)
    return np.asarray(of_counts + of_rows - log_gamma(counts + 1).sum(axis=-1))


def _whole(cells: Array) -> NDArray[Any]:
    """Counts (columns, cells, classes) as integers if they are whole: their lengths are found faster."""
    most = cells.sum(axis=(1, 2)).max() + cells.shape[2]
    is_listed = most < MOST_LISTED and (cells == np.floor(cells)).all()
    return cells.astype(np.intp) if is_listed else cells


@cache
def _log_gammas() -> Array:
    """Log Γ of the first whole numbers."""
    return np.asarray(gammaln(np.arange(MOST_LISTED)))


def _length_of_sizes(rows: Array, n_cells: NDArray[np.intp]) -> Array:
    """Nats that the number of cells and the sizes of all take."""
    choices = gammaln(rows + n_cells) - gammaln(rows + 1.0) - gammaln(n_cells)
    return np.asarray(np.log(np.maximum(rows, 1.0)) + choices)
