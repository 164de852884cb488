"""Sums of x and x² about an origin: where it lies, and whether the squares overflow."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, read_only
from suffice.kernels.choose import contiguous, row_parts
from suffice.kernels.columns import ColumnCells

SQUARABLE = 2.0**480
"""Sums of squares of numbers up to this do not overflow."""
FEW_CELLS = 1 << 14
MOST_CLASSES = 256
"""The most classes for which every part of the rows keeps its own sums."""


def place_origins(
    kernels: ModuleType, values: Array | ColumnCells, classes: Codes, wanted: NDArray[np.bool_], origin: Array
) -> None:
    """Write the first value observed in each class and column that is `wanted`, reading few rows."""
    few = slice(
        0, max(FEW_CELLS // max(values.shape[1], 1), 1)
    )  # mostly enough, and quickly brought together
    for rows in (few, *row_parts(*values.shape)):
        if not wanted.any():
            break
        kernels.first_values(contiguous(values[rows]), read_only(classes[rows]), wanted, origin)


def size_of_squares(first: Array, second: Array, weights: Array | None) -> Array | None:
    """A bound on |x − c| in each column, from Σw·(x − c) and Σw·(x − c)² of classes and columns.

    None if a square overflows or underflows.
    """
    largest = second.max(axis=0, initial=0.0)
    if weights is not None:
        with np.errstate(over="ignore"):
            largest /= float(weights.min(initial=np.inf))
    size = np.sqrt(largest)
    if (size > SQUARABLE).any():
        return None
    small = size < 1.0 / SQUARABLE
    return None if small.any() and (small & ((size > 0.0) | first.any(axis=0))).any() else size
