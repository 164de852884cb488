"""Which pairs of columns say more together than the model knows so far."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from suffice.arrays import Array
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
    found: list[tuple[float, CellOfPair]] = []
    for i in range(len(cells)):
        for j in range(i):
            place = codes[:, j] * cells[i].size + codes[:, i]
            there = ~np.isnan(place)
            if there.sum() < FEWEST_ROWS:
                continue
            gain, degrees = _gain(place[there].astype(np.intp), slope[there], curvature[there])
            beyond = gain - 0.5 * degrees - math.sqrt(degrees * t) - t
            if beyond > 0:
                found.append((beyond, CellOfPair(cells[j], cells[i])))
    found.sort(key=lambda one: -one[0])
    return [pair for _, pair in found[:most]]


def _gain(place: Array, slope: Array, curvature: Array) -> tuple[float, float]:
    """Nats that one step would add, shrunk by one pseudo-row in each cell, and its degrees of freedom."""
    k = slope.shape[1]
    size = int(place.max()) + 1
    g = np.stack([np.bincount(place, slope[:, c], size) for c in range(k)])
    h = np.stack([np.bincount(place, curvature[:, c], size) for c in range(k)])
    free = (k - 1) / k  # the scores of one class are free
    return 0.5 * free * float(np.sum(g * (g / (h + 1.0)))), free * float(np.sum(h / (h + 1.0)))
