"""Columns of any numbers, summed by x and x² about an origin in one read of the cells."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.origins import size_of_squares
from suffice.kernels import threads
from suffice.kernels.choose import (
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
    middles = _in_groups(origin, apart.WIDTH)

    def sums_of(rows: slice) -> tuple[Array, Array]:
        own, some = read_only(codes[rows]), values[rows]
        sums, whole = np.zeros((4, *origin.shape)), np.zeros((3, n_classes))
        if weights is None:
            runs = _in_columns(some, apart)
            if runs is None:
                is_complete = kernels.complete_sums(contiguous(some), own, origin, sums, whole[2])
            else:
                apart.count_rows(own, whole[2])
                is_complete = _add_columns(apart, runs, own, middles, sums)
            if is_complete:
                whole[0] = whole[2]
                return sums, whole
            sums[:], whole[:] = 0.0, 0.0
        kernels.power_sums(contiguous(some, values.size), own, contiguous(by_row[rows]), origin, sums, whole)
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


def _in_columns(values: Array | ColumnCells, kernels: ModuleType) -> list[tuple[slice, list[Array]]] | None:
    """The columns of a table that holds them apart, in runs of rows; None if it does not.

    Kernels that add rows one after another sum chunks where they lie, and give the same as without them.
    """
    if isinstance(values, ColumnCells) and kernels.WIDTH:
        runs = values.in_chunks()
        return [(rows, columns_of(values[rows]) or []) for rows in runs]
    columns = columns_of(values)
    return None if columns is None else [(slice(None), columns)]


def _in_groups(origin: Array, width: int) -> list[Array]:
    """The origins of the columns of each group, with room for as many as are summed at once."""
    n_classes, n_columns = origin.shape
    groups = []
    for at, some in column_groups(list(origin.T), width):
        middle = np.zeros((n_classes, len(some)))
        middle[:, : n_columns - at] = origin[:, at : at + len(some)]
        groups.append(middle)
    return groups


def _add_columns(
    kernels: ModuleType,
    runs: list[tuple[slice, list[Array]]],
    classes: Codes,
    middles: list[Array],
    sums: Array,
) -> bool:
    """What `complete_sums` does, of columns that lie apart, but for the number of rows."""
    n_classes = sums.shape[1]
    own_rows = [kernels.rows_to_sum(classes[rows], n_classes) for rows, _ in runs]
    groups = zip(*(column_groups(columns, kernels.WIDTH) for _, columns in runs), strict=True)
    for group, middle in zip(groups, middles, strict=True):
        own = np.zeros((n_classes, 2, middle.shape[1]))
        for rows, (_, some) in zip(own_rows, group, strict=True):
            kernels.column_sums(some, rows, middle, own.reshape(n_classes, -1))
        at = group[0][0]
        added = own.swapaxes(0, 1)[:, :, : sums.shape[2] - at]
        if not np.isfinite(added[1]).all():
            return False
        sums[:2, :, at : at + middle.shape[1]] = added
    return not ((sums[1] == 0.0) & (sums[0] != 0.0)).any()
