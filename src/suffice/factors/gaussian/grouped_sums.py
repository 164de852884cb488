"""Products of rows by class: the rows of each class are brought together, and multiplied at once."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType

import numpy as np

from suffice.arrays import Array, Codes
from suffice.kernels.choose import contiguous, read_only

ROWS_AT_ONCE = 4096


class GroupedSums:
    """Σ w·zzᵀ of every class with z = (x − c, 1), from rows that are brought together by class."""

    def __init__(self, origin: Array) -> None:
        n_classes, d = origin.shape
        self.origin = origin
        self.products = np.zeros((n_classes, d + 1, d + 1))
        self._rows = np.ones((ROWS_AT_ONCE, d + 1))
        self._order = np.empty(ROWS_AT_ONCE, dtype=np.intp)
        self._starts = np.empty(n_classes + 1, dtype=np.intp)

    def add_rows(self, kernels: ModuleType, values: Array, classes: Codes, weights: Array | None) -> bool:
        """Add a few rows; False where a cell is missing or infinite."""
        n = len(values)
        rows, order = self._rows[:n], self._order[:n]
        cells = contiguous(values), read_only(classes)
        kernels.grouped(*cells, self.origin, self._starts, rows, order)
        weighted = rows if weights is None else rows * weights[order, np.newaxis]
        starts = self._starts.tolist()
        for k, (start, stop) in enumerate(pairwise(starts)):
            if start < stop:
                with np.errstate(over="ignore", invalid="ignore"):  # the sums tell
                    self.products[k] += weighted[start:stop].T @ rows[start:stop]
        return bool(np.isfinite(self.products[:, -1]).all())
