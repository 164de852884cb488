"""A batch of a factor's columns, as the kinds of factors read it: one array, dense or sparse, or levels."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, read_only
from suffice.factors.scores import Scores
from suffice.kernels.choose import discrete_for
from suffice.tables.columns import LevelCells

MISSING = -1
"""The place of a row without cells, after all others."""


class FoldedRows(NamedTuple):
    """Rows once for each fold, side by side, of which each is left out of one fold at most."""

    places: Codes
    """Where each row is among all."""
    left_out: Codes
    """The fold that leaves each row out; as many as there are folds if none does."""
    others: Array
    """(folds, folds + 1), 1 for what each fold does not leave out."""

    @classmethod
    def of(cls, rows: Codes) -> FoldedRows | None:
        """Rows (rows, folds), −1 in a fold that leaves them out; None where they are not folded."""
        if rows.ndim == 1 or rows.shape[1] == 1:
            return None
        gone, fold = np.nonzero(rows < 0)
        if (gone[1:] == gone[:-1]).any():
            return None
        left_out = np.full(len(rows), rows.shape[1])
        left_out[gone] = fold
        held = (left_out + 1) % rows.shape[1]  # in another fold than the one that leaves it out
        others = 1.0 - np.eye(rows.shape[1], rows.shape[1] + 1)
        return cls(rows[np.arange(len(rows)), held], left_out, others)

    @property
    def n_folds(self) -> int:
        """How often the rows are there."""
        return len(self.others)

    def groups(self, classes: Codes, n_classes: int) -> Codes:
        """The fold that leaves each row out, and its class, as one number."""
        return np.asarray(self.left_out * n_classes + classes)

    def without_each(self, sums: NDArray[Any]) -> NDArray[Any]:
        """Sums (folds + 1, …) of what each fold leaves out, as those (folds, …) of all else.

        Counts are exact, and subtracted; other numbers are added up.
        """
        if sums.dtype.kind == "i":
            return np.asarray(sums.sum(axis=0) - sums[:-1])
        added = self.others @ sums.reshape(len(sums), -1)
        return np.asarray(added.reshape(self.n_folds, *sums.shape[1:]))


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
        gone = self.rows.left_out[:, np.newaxis] == np.arange(self.rows.n_folds)
        rows = np.where(gone, MISSING, self.rows.places[:, np.newaxis])
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
