"""Columns of any numbers, summed by x and x² about an origin in one read of the cells."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.origins import size_of_squares
from suffice.kernels import threads
from suffice.kernels.choose import (
    brought_together,
    column_groups,
    columns_for,
    contiguous,
    gaussian_for,
    row_parts,
)
from suffice.kernels.columns import ColumnCells, columns_of


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


def square_sums(
    values: Array | ColumnCells, classes: Codes, weights: Array | None, origin: Array
) -> SquareSums | None:
    """The sums of some rows about these origins, (classes, columns); None if squares overflow."""
    kernels, apart = gaussian_for(values.size), columns_for(values.size)
    by_row = np.empty(0) if weights is None else weights
    n_classes = len(origin)
    codes = classes.astype(np.min_scalar_type(max(n_classes - 1, 0)))  # short, since columns read them often

    def sums_of(rows: slice) -> tuple[Array, Array]:
        own, columns = read_only(codes[rows]), columns_of(values[rows])
        cells = contiguous(values[rows]) if columns is None else None
        sums, whole = np.zeros((4, *origin.shape)), np.zeros((3, n_classes))
        if weights is not None:
            is_complete = False
        elif columns is not None:
            is_complete = _add_columns(apart, columns, own, origin, sums, whole[2])
        else:
            is_complete = kernels.complete_sums(cells, own, origin, sums, whole[2])
        if is_complete:
            whole[0] = whole[2]
            return sums, whole
        if columns is not None:
            cells = brought_together(columns, apart)
        sums[:], whole[:] = 0.0, 0.0
        kernels.power_sums(cells, own, contiguous(by_row[rows]), origin, sums, whole)
        return sums, whole

    parts = threads.run(sums_of, row_parts(*values.shape))
    sums, whole = parts[0]
    if len(parts) > 1:
        with np.errstate(over="ignore", invalid="ignore"):  # the size tells
            sums = np.sum([sums for sums, _ in parts], axis=0)
        whole = np.sum([whole for _, whole in parts], axis=0)
    first, second, support, weight = sums
    size = size_of_squares(first, second, weights)
    if size is None:
        return None
    whole_support, whole_weight, counts = whole[:, :, np.newaxis]
    if (whole_support == counts).all():  # no gaps
        support, weight = counts, whole_weight
    else:
        support += whole_support
        weight += whole_weight
    return SquareSums(first, second, support if weights is None else weight, support.astype(np.int64), size)


def _add_columns(
    kernels: ModuleType, columns: list[Array], classes: Codes, origin: Array, sums: Array, counts: Array
) -> bool:
    """What `complete_sums` does, of columns that lie apart."""
    counts += np.bincount(classes, minlength=len(origin))
    for at, some in column_groups(columns, kernels.WIDTH):
        width, here = len(some), slice(at, min(at + len(some), len(columns)))
        own, middle = np.zeros((len(origin), 2 * width)), np.zeros((len(origin), width))
        middle[:, : here.stop - at] = origin[:, here]
        kernels.column_sums(some, classes, middle, own)
        first, second = own.reshape(len(origin), 2, width)[:, :, : here.stop - at].swapaxes(0, 1)
        if not np.isfinite(second).all() or ((second == 0.0) & (first != 0.0)).any():
            return False
        sums[0, :, here], sums[1, :, here] = first, second
    return True
