"""Which pairs of columns say more together than the model knows so far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.factors.derived import CellOfPair, CoarseCell
from suffice.model.weighing import KnownRows

FEWEST_ROWS = 20
"""Rows with both cells there, below which a pair is not looked at."""
MOST_TRIED = 100_000_000
"""Cells of rows, classes and pairs that are looked at."""
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
    for i in range(1, len(cells)):
        for j, sums in enumerate(_sums_in_pairs(places, there, [cell.size for cell in cells[: i + 1]], both)):
            if sums is None:
                continue
            gain, degrees = _gain(sums[:, :n_classes], sums[:, n_classes:])
            beyond = gain - 0.5 * degrees - math.sqrt(degrees * t) - t
            if beyond > 0:
                found.append((beyond, CellOfPair(cells[j], cells[i])))
    found.sort(key=lambda one: -one[0])
    return [pair for _, pair in found[:most]]


def _sums_in_pairs(
    places: Codes, there: NDArray[np.bool_], sizes: list[int], of_rows: Array
) -> Iterator[Array | None]:
    """The sums of some numbers of rows in the cells of the last column with each one before it.

    None where too few rows have both cells.
    """
    i = len(sizes) - 1
    first = np.cumsum([0, *(size * sizes[i] for size in sizes[:i])])
    cell = first[:-1] + places[:, :i] * sizes[i] + places[:, i, np.newaxis]
    seen = there[:, :i] & there[:, i, np.newaxis]
    ends = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    held = sparse.csr_array((np.ones(ends[-1]), cell[seen], ends), shape=(len(places), int(first[-1])))
    sums = held.T @ of_rows
    for j, n_rows in enumerate(seen.sum(axis=0).tolist()):
        yield sums[first[j] : first[j + 1]] if n_rows >= FEWEST_ROWS else None


def _gain(slope: Array, curvature: Array) -> tuple[float, float]:
    """Nats that one step would add, shrunk by one pseudo-row in each cell, and its degrees of freedom."""
    k = slope.shape[1]
    free = (k - 1) / k  # the scores of one class are free
    shrunk = curvature + 1.0
    return 0.5 * free * float(np.sum(slope * (slope / shrunk))), free * float(np.sum(curvature / shrunk))
