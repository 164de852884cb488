"""Which pairs of columns say more together than the model knows so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.rows import MOST_ROWS
from suffice.factors.derived import CellOfPair, CoarseCell
from suffice.kernels.cells import as_columns
from suffice.model.weighing.known_rows import KnownRows

ROWS_PER_CELL = 5 * (1.0 - 1e-9)
"""Rows, for each cell of the table of a pair, below which chance is not that of χ² (Cochran 1954); up to
rounding of their weights."""
MOST_TRIED = 100_000_000
"""Cells of rows, classes and pairs that are looked at."""
CELLS_AT_ONCE = 1 << 18
"""Cells of rows and pairs that are looked at at once."""
PART_BY_CHANCE = 0.5
"""The part of the chosen pairs that may be chance: as long as one is as likely as not to be none, it is worth
a look of the held-out rows."""
BESIDE_CELLS = 5_000
"""How many cells take as long as all else that is done for a pair."""


def choose_pairs(
    cells: Sequence[CoarseCell], codes: Array, posteriors: Array, rows: KnownRows, most: int
) -> list[CellOfPair]:
    """The pairs of highest gain, of which no more than half are expected to gain it by chance.

    The gain is the log likelihood that one Newton step on the cells of a table of two columns would add to
    the model. Where the model lacks nothing, it is half a χ² of so many degrees of freedom.
    """
    n_pairs = len(cells) * (len(cells) - 1) // 2
    n_classes = rows.n_classes
    n_rows = min(float(rows.weight.sum()), MOST_ROWS)
    if not n_pairs or n_pairs * (n_rows * n_classes + BESIDE_CELLS) > MOST_TRIED:
        return []
    slope = rows.weight[:, np.newaxis] * (-posteriors)
    slope[np.arange(len(rows.codes)), rows.codes] += rows.weight
    curvature = rows.weight[:, np.newaxis] * posteriors * (1.0 - posteriors)
    of_rows = np.hstack([slope, curvature, rows.weight[:, np.newaxis]])
    there = ~np.isnan(codes)
    places = np.where(there, codes, 0.0).astype(np.intp)
    beyond, chance = np.empty((2, n_pairs))
    pairs = np.array([(j, i) for i in range(len(cells)) for j in range(i)])
    step, sizes = max(1, CELLS_AT_ONCE // max(len(codes), 1)), np.array([cell.size for cell in cells])
    for first_pair in range(0, n_pairs, step):
        some = slice(first_pair, first_pair + step)
        sums, first = _sums_in_pairs(places, there, sizes, pairs[some], of_rows)
        gain, degrees = _gains(sums[:, :n_classes], sums[:, n_classes:-1], first)
        beyond[some] = gain - 0.5 * degrees
        held = np.add.reduceat(sums[:, -1], first)
        are_enough = held >= ROWS_PER_CELL * sizes[pairs[some]].prod(axis=1)
        chance[some] = np.where(are_enough, special.chdtrc(degrees, 2.0 * gain), 1.0)
    likely = _likely(chance)
    best = likely[np.argsort(-beyond[likely], kind="stable")][:most]
    return [CellOfPair(cells[j], cells[i]) for j, i in pairs[best].tolist()]


def _likely(chance: Array) -> Codes:
    """The most of some findings of which no more than a part is expected to be chance.

    Where nothing is to be found, each has its chance to look as it does. If k look no more likely than p,
    n·p of all n would by chance (Benjamini and Hochberg 1995).
    """
    ordered = np.sort(chance)
    enough = np.flatnonzero(len(chance) * ordered <= PART_BY_CHANCE * np.arange(1, len(chance) + 1))
    return np.flatnonzero(chance <= ordered[enough[-1]]) if len(enough) else np.zeros(0, dtype=np.intp)


def _sums_in_pairs(
    places: Codes, there: NDArray[np.bool_], sizes: Codes, pairs: Codes, of_rows: Array
) -> tuple[Array, Codes]:
    """The sums of some numbers of rows in the cells of pairs of columns, and where those of each begin."""
    left, right = pairs.T
    ends = np.cumsum(sizes[left] * sizes[right])
    first = np.append(0, ends[:-1])
    cell = first + places[:, left] * sizes[right] + places[:, right]
    seen = there[:, left] & there[:, right]
    rows = np.append(0, np.cumsum(np.count_nonzero(seen, axis=1)))
    held = as_columns(rows, cell[seen], np.ones(rows[-1]), int(ends[-1]))
    return held @ of_rows, first


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
