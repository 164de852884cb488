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


class FoldedCells(NamedTuple):
    """Numbers once for each fold, side by side, of which each row is left out of one fold at most."""

    numbers: Array
    rows: Codes
    """(rows, folds): where a row is among the numbers, −1 in the fold that leaves it out."""
    left_out: Codes
    """The fold that leaves each row out; as many as there are folds if none does."""

    @classmethod
    def of(cls, numbers: Array, rows: Codes) -> FoldedCells | NDArray[Any]:
        """The numbers of some rows, of which the last is missing; as they are where they are not folded."""
        gone = rows < 0
        if rows.ndim == 1 or rows.shape[1] == 1 or (gone.sum(axis=1) > 1).any():
            return np.asarray(numbers[rows].reshape(len(rows), -1))
        return cls(numbers, rows, np.where(gone.any(axis=1), gone.argmax(axis=1), rows.shape[1]))

    @property
    def n_folds(self) -> int:
        """How often the columns are there."""
        return int(self.rows.shape[1])

    def values(self, order: Codes) -> Array:
        """The numbers of the rows in some order, as floats."""
        return np.asarray(self.numbers[self.rows.max(axis=1)[order]], dtype=np.float64)

    def unfolded(self) -> NDArray[Any]:
        """All columns of all folds, NaN where a row is left out."""
        return np.asarray(self.numbers[self.rows].reshape(len(self.rows), -1))


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
