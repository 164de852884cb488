"""Columns of any numbers, summed by x and x² about an origin in one read of the cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.origins import size_of_squares
from suffice.kernels import threads
from suffice.kernels.choose import contiguous, gaussian_for, row_parts


@dataclass(frozen=True)
class SquareSums:
    """Σ w·(x − c), Σ w·(x − c)², Σ w and the number of rows, (classes, columns).

    Without gaps `weight` and `support` have one column.
    """

    first: Array
    second: Array
    weight: Array
    support: Counts
    size: Array
    """A bound on |x − c| in each column."""


def square_sums(values: Array, classes: Codes, weights: Array | None, origin: Array) -> SquareSums | None:
    """The sums of some rows about these origins, (classes, columns); None if squares overflow."""
    kernels = gaussian_for(values.size)
    by_row = np.empty(0) if weights is None else weights

    def sums_of(rows: slice) -> tuple[Array, Array]:
        cells = contiguous(values[rows]), read_only(classes[rows])
        sums, whole = np.zeros((4, *origin.shape)), np.zeros((3, len(origin)))
        if weights is not None or not kernels.complete_sums(*cells, origin, sums, whole[2]):
            sums[:], whole[:] = 0.0, 0.0
            kernels.power_sums(*cells, contiguous(by_row[rows]), origin, sums, whole)
        else:
            whole[0] = whole[2]
        return sums, whole

    parts = threads.run(sums_of, row_parts(*values.shape))
    with np.errstate(over="ignore", invalid="ignore"):  # the size tells
        first, second, support, weight = np.sum([sums for sums, _ in parts], axis=0)
    size = size_of_squares(first, second, weights)
    if size is None:
        return None
    whole_support, whole_weight, counts = np.sum([whole for _, whole in parts], axis=0)[:, :, np.newaxis]
    support += whole_support
    if weights is None:
        weight, whole_weight = support - whole_support, whole_support
    if (support == counts).all():
        weight, support = weight.max(axis=1, initial=0.0, keepdims=True), counts
    return SquareSums(first, second, weight + whole_weight, support.astype(np.int64), size)
