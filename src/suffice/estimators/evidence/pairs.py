"""Which pairs of columns say more together than the model knows so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.derived import CellOfPair, CoarseCell
from suffice.kernels.cells import as_columns
from suffice.model.known_rows import KnownRows

FEWEST_ROWS = 20
"""Rows with both cells there, below which a pair is not looked at."""
MOST_TRIED = 100_000_000
"""Cells of rows, classes and pairs that are looked at."""
CELLS_AT_ONCE = 1 << 18
"""Cells of rows and pairs that are looked at at once."""
BESIDE_CELLS = 5_000
"""How many cells take as long as all else that is done for a pair."""


def choose_pairs(
    cells: Sequence[CoarseCell], codes: Array, posteriors: Array, rows: KnownRows, most: int
) -> list[CellOfPair]:
    """The pairs of highest gain, if that is beyond what the best of so many pairs would gain by chance.

    The gain is the log likelihood that one Newton step on the cells of a table of two columns would add to
    the model. Where the model lacks nothing, it is half a χ² of so many degrees of freedom, of which Laurent
    and Massart bound the tail: twice it exceeds m + 2√(m·t) + 2t with chance e^−t. With t the log of the
    number of pairs, less than one pair is chosen by chance.
    """
    n_pairs = len(cells) * (len(cells) - 1) // 2
    n_classes = rows.n_classes
    if not n_pairs or n_pairs * (len(codes) * n_classes + BESIDE_CELLS) > MOST_TRIED:
        return []
    t = math.log(n_pairs) if n_pairs > 1 else 1.0
    slope = rows.weight[:, np.newaxis] * (-posteriors)
    slope[np.arange(len(rows.codes)), rows.codes] += rows.weight
    curvature = rows.weight[:, np.newaxis] * posteriors * (1.0 - posteriors)
    both = np.hstack([slope, curvature])
    there = ~np.isnan(codes)
    places = np.where(there, codes, 0.0).astype(np.intp)
    found: list[tuple[float, CellOfPair]] = []
    pairs = np.array([(j, i) for i in range(len(cells)) for j in range(i)])
    step, sizes = max(1, CELLS_AT_ONCE // max(len(codes), 1)), np.array([cell.size for cell in cells])
    for some in np.split(pairs, range(step, n_pairs, step)):
        sums, first, n_rows = _sums_in_pairs(places, there, sizes, some, both)
        gain, degrees = _gains(sums[:, :n_classes], sums[:, n_classes:], first)
        beyond = gain - 0.5 * degrees - np.sqrt(degrees * t) - t
        likely = np.flatnonzero((beyond > 0) & (n_rows >= FEWEST_ROWS))
        for excess, (j, i) in zip(beyond[likely].tolist(), some[likely].tolist(), strict=True):
            found.append((excess, CellOfPair(cells[j], cells[i])))
    found.sort(key=lambda one: -one[0])
    return [pair for _, pair in found[:most]]


def _sums_in_pairs(
    places: Codes, there: NDArray[np.bool_], sizes: Codes, pairs: Codes, of_rows: Array
) -> tuple[Array, Codes, Counts]:
    """The sums of some numbers of rows in the cells of some pairs of columns.

    Also where the cells of each of these pairs begin, and how many rows have both cells.
    """
    left, right = pairs.T
    ends = np.cumsum(sizes[left] * sizes[right])
    first = np.append(0, ends[:-1])
    cell = first + places[:, left] * sizes[right] + places[:, right]
    seen = there[:, left] & there[:, right]
    rows = np.append(0, np.cumsum(np.count_nonzero(seen, axis=1)))
    held = as_columns(rows, cell[seen], np.ones(rows[-1]), int(ends[-1]))
    return held @ of_rows, first, np.count_nonzero(seen, axis=0)


def _gains(slope: Array, curvature: Array, first: Codes) -> tuple[Array, Array]:
    """For each pair, whose cells begin there, the nats that one step would add, and its degrees of freedom.

    The step is shrunk by one pseudo-row in each cell.
    """
    k = slope.shape[1]
    free = (k - 1) / k  # the scores of one class are free
    shrunk = curvature + 1.0
    gains, degrees = (
        np.add.reduceat(one.sum(axis=1), first) for one in (slope * (slope / shrunk), curvature / shrunk)
    )
    return 0.5 * free * gains, free * degrees
