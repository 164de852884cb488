"""Tiles: some rows, column by column in memory, for compiled loops over rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.kernels.jit import inlined

Matrix = NDArray[np.floating[Any]]

TILE = 64


@inlined
def fill_tile(block: Matrix, tile: Array) -> int:
    """Fill the tile with a block, column by column, and with zeros in the place of rows that are not there.

    Returns the number of rows. Places are passed as numbers, because slices take long to compile.
    """
    n = len(block)
    for i in range(n):
        for j in range(block.shape[1]):
            tile[j, i] = np.float64(block[i, j])
    for j in range(block.shape[1] if n < TILE else 0):
        for i in range(n, TILE):
            tile[j, i] = 0.0
    return n


@inlined
def is_spoilt(tile: Array) -> bool:
    """Whether a cell is infinite or NaN."""
    count = 0
    for j in range(tile.shape[0]):
        for i in range(TILE):
            count += 0 if tile[j, i] - tile[j, i] == 0.0 else 1
    return count > 0


@inlined
def is_beyond(tile: Array, limit: Array) -> bool:
    """Whether a cell is missing, or beyond ±limit of its column."""
    count = 0
    for j in range(tile.shape[0]):
        most = limit[j]
        for i in range(TILE):
            count += 0 if abs(tile[j, i]) <= most else 1
    return count > 0


@inlined
def has_infinity(tile: Array) -> bool:
    """Whether a cell is infinite."""
    for j in range(tile.shape[0]):
        for i in range(TILE):
            if np.isinf(tile[j, i]):
                return True
    return False
