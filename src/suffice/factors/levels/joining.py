"""Neighbouring cells joined into steps: the shortest description of the classes given the cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from suffice.arrays import Array, Codes

MOST_CELLS = 128
"""Cells of about equally many rows, at most, that joining begins with."""


def joined(columns: list[Array]) -> list[Codes]:
    """For the counts (classes, cells) of each column, where its steps begin.

    Cells are joined in pairs, the pair first that shortens the description most, down to a single one; the
    partition of the shortest description stays. It is that of Boullé (2006): the number of steps, their
    rows, the classes of each, log N + log C(N+I−1, I−1) + Σᵢ log C(nᵢ+K−1, K−1) + Σᵢ log nᵢ!/Πₖnᵢₖ!.
    """
    begun = [about_equal(counts) for counts in columns]
    sizes = np.array([len(starts) for starts in begun])
    if not len(sizes) or sizes.max() <= 1:
        return begun
    n_classes = len(columns[0])
    cells = np.zeros((len(columns), int(sizes.max()), n_classes))
    for j, (counts, starts) in enumerate(zip(columns, begun, strict=True)):
        if len(starts):
            cells[j, : len(starts)] = np.add.reduceat(counts, starts, axis=1).T
    last_joined = _joined_in_pairs(cells, sizes)
    return [starts[last_joined[j, : len(starts)]] for j, starts in enumerate(begun)]


def about_equal(counts: Array) -> Codes:
    """Where at most `MOST_CELLS` cells begin that have about as many rows each."""
    rows = counts.sum(axis=0)
    middle = np.cumsum(rows) - 0.5 * rows
    total = rows.sum()
    group = np.floor(middle * (MOST_CELLS / total)) if total > 0 else np.zeros(len(rows))
    return np.flatnonzero(np.diff(group, prepend=-1.0)).astype(np.intp)


def _joined_in_pairs(cells: Array, sizes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which cells (columns, cells) begin a step in the shortest description of each column.

    `cells` (columns, cells, classes) are padded with empty cells, which are joined first.
    """
    n_columns, width, _ = cells.shape
    every, rows = np.arange(n_columns), cells.sum(axis=(1, 2))
    length = description_length(cells)
    gain = description_length(cells[:, :-1] + cells[:, 1:]) - length[:, :-1] - length[:, 1:]
    gain[np.arange(1, width) >= sizes[:, np.newaxis]] = -np.inf
    place = np.tile(np.arange(width), (n_columns, 1))
    gone_at = np.full(
        (n_columns, width), -1
    )  # how many cells are left when a cell is joined to the one before
    total = np.where(sizes == width, length.sum(axis=1) + _length_of_sizes(rows, width), np.inf)
    best, best_width = total, np.full(n_columns, width)
    for left in range(width - 1, 0, -1):
        at = np.argmin(gain, axis=1)
        gone_at[every, place[every, at + 1]] = left
        merged = cells[every, at] + cells[every, at + 1]
        stay = np.ones((n_columns, left + 1), dtype=np.bool_)
        stay[every, at + 1] = False
        cells = cells[stay].reshape(n_columns, left, -1)
        length, place = length[stay].reshape(n_columns, left), place[stay].reshape(n_columns, left)
        cells[every, at], length[every, at] = merged, description_length(merged)
        stay = np.ones((n_columns, left), dtype=np.bool_)
        stay[every, at] = False
        gain = gain[stay].reshape(n_columns, left - 1)
        for first in (at - 1, at):
            here = np.flatnonzero((first >= 0) & (first < left - 1))
            i = first[here]
            pair = (
                description_length(cells[here, i] + cells[here, i + 1])
                - length[here, i]
                - length[here, i + 1]
            )
            gain[here, i] = np.where(np.isneginf(gain[here, i]), -np.inf, pair)
        total = np.where(left <= sizes, length.sum(axis=1) + _length_of_sizes(rows, left), np.inf)
        shorter = total <= best
        best, best_width = np.where(shorter, total, best), np.where(shorter, left, best_width)
    return gone_at < best_width[:, np.newaxis]


def description_length(counts: Array) -> Array:
    """Nats that the classes of the rows of a cell take, from their counts (…, classes)."""
    n, n_classes = counts.sum(axis=-1), counts.shape[-1]
    of_counts = gammaln(n + n_classes) - gammaln(n + 1.0) - gammaln(n_classes)
    return np.asarray(of_counts + gammaln(n + 1.0) - gammaln(counts + 1.0).sum(axis=-1))


def _length_of_sizes(rows: Array, n_cells: int) -> Array:
    """Nats that the number of cells and the sizes of all take."""
    choices = gammaln(rows + n_cells) - gammaln(rows + 1.0) - gammaln(n_cells)
    return np.asarray(np.log(np.maximum(rows, 1.0)) + choices)
