"""A batch of a factor's columns, as the kinds of factors read it: one array, dense or sparse, or levels."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any, NamedTuple, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, read_only
from suffice.factors.scores import Scores
from suffice.kernels.cells import pattern_runs
from suffice.kernels.choose import discrete_for
from suffice.tables.columns import LevelCells

MISSING = -1
"""The place of a row without cells, after all others."""
_last = threading.local()


def _forget(_rows: object) -> None:
    """Keep nothing about rows that are gone."""
    vars(_last).clear()


class FoldedRows(NamedTuple):
    """Rows once for each fold, side by side; few groups of them are left out of the same folds."""

    places: Codes
    """Where each row is among all."""
    group: Codes
    """The group of each row."""
    others: Array
    """(folds, groups), 1 for what each fold does not leave out."""

    @classmethod
    def of(cls, rows: Codes) -> FoldedRows | None:
        """Rows (rows, folds), −1 in a fold that leaves them out; None where groups are many.

        Where rows are read-only, those of the last call are known: many factors read the same ones.
        """
        if rows.ndim == 1 or rows.shape[1] == 1:
            return None
        if rows.flags.writeable:
            return cls._found(rows)
        known = getattr(_last, "rows", None)
        if known is None or known() is not rows:
            _last.rows, _last.folded = ref(rows, _forget), cls._found(rows)
        return cast("FoldedRows | None", _last.folded)

    @classmethod
    def _found(cls, rows: Codes) -> FoldedRows | None:
        is_there = rows >= 0
        order, starts = pattern_runs(is_there)
        if len(starts) > rows.shape[1] + 1:
            return None
        group = np.empty(len(rows), dtype=np.intp)
        group[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
        return cls(rows.max(axis=1, initial=MISSING), group, is_there[order[starts]].T.astype(np.float64))

    @property
    def n_folds(self) -> int:
        """How often the rows are there."""
        return len(self.others)

    @property
    def n_groups(self) -> int:
        """How many groups of rows there are."""
        return int(self.others.shape[1])

    def by_class(self, classes: Codes, n_classes: int) -> Codes:
        """The group and the class of each row, as one number."""
        return np.asarray(self.group * n_classes + classes)

    def without_each(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Sums (groups, …), as those (folds, …) of what each fold does not leave out."""
        added = self.others @ sums.reshape(len(sums), -1)
        return np.asarray(added.reshape(self.n_folds, *sums.shape[1:]), dtype=sums.dtype)


class FoldedCells(NamedTuple):
    """Numbers once for each fold, side by side."""

    numbers: Array
    rows: FoldedRows

    @classmethod
    def of(cls, numbers: Array, rows: Codes) -> FoldedCells | NDArray[Any]:
        """The numbers of some rows, of which the last is missing; as they are where they are not folded."""
        folded = FoldedRows.of(rows)
        return numbers[rows].reshape(len(rows), -1) if folded is None else cls(numbers, folded)

    def values(self, order: Codes) -> Array:
        """The numbers of the rows in some order, as floats."""
        return np.asarray(self.numbers[self.rows.places[order]], dtype=np.float64)

    def unfolded(self) -> NDArray[Any]:
        """All columns of all folds, NaN where a row is left out."""
        is_there = self.rows.others.T[self.rows.group] > 0
        rows = np.where(is_there, self.rows.places[:, np.newaxis], MISSING)
        return np.asarray(self.numbers[rows].reshape(len(rows), -1))


def active_columns(values: Array, active: NDArray[Any]) -> Array:
    """The columns that scores read: a mask or positions. No copy if that is all of them."""
    taken = len(active) if active.dtype != np.bool_ else int(active.sum())
    return values if taken == values.shape[1] else values[:, active]


def as_numbers(matrix: NDArray[Any]) -> NDArray[Any]:
    """Booleans as whole numbers."""
    return matrix.view(np.uint8) if matrix.dtype.kind == "b" else matrix


def places(block: Any) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
    """Row and column of each stored entry."""
    along = np.repeat(np.arange(len(block.indptr) - 1), np.diff(block.indptr))
    return (along, block.indices) if block.format == "csr" else (block.indices, along)


def with_data(block: Any, data: NDArray[Any]) -> Any:
    """A sparse array with the same pattern and new entries."""
    pattern = sparse.csr_array if block.format == "csr" else sparse.csc_array
    return pattern((data, block.indices, block.indptr), shape=block.shape)


def dense(product: Any) -> Array:
    """A product with a sparse array, which is small, as a dense array."""
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def add_products(block: Any, table: Array, scores: Scores) -> None:
    """Add Σ x·table[column] over the stored entries of each row; of two classes, the difference does."""
    finite, out = scores.finite, scores.finite
    if scores.compared and finite.shape[1] == 2:
        table, out = table[:, 1:] - table[:, :1], np.zeros((len(finite), 1))
    block = block.tocsr()
    arrays = (read_only(array) for array in (block.indptr, block.indices, block.data))
    discrete_for(block.nnz * out.shape[1]).add_count_scores(*arrays, np.ascontiguousarray(table), out)
    if out is not finite:
        finite[:, 1] += out[:, 0]


def take_columns(block: Any, columns: list[int]) -> Any:
    """Some of the columns of a batch, in whatever form a factor reads it."""
    if isinstance(block, LevelCells):
        matrix = None if block.matrix is None else block.matrix[:, columns]
        return LevelCells(matrix, [partial(block.__getitem__, j) for j in columns])
    if isinstance(block, list):
        return [block[j] for j in columns]
    return block if len(columns) == block.shape[1] else block[:, columns]
