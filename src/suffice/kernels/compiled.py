"""The kernels that read every cell, compiled by numba: one pass over a block of rows, no temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.jit import reassociating

Matrix = NDArray[np.floating[Any]]


@reassociating
def sum_of_squares(values: Matrix) -> float:
    """Σx² over the observed cells: infinite where a value is, or where squares leave the floats."""
    total = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            total += 0.0 if np.isnan(x) else x * x
    return total
