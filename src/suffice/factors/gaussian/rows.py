"""The sums of a few rows of many columns, kept as the rows: n·p numbers instead of p²."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Counts
from suffice.factors.gaussian.sums import Sums, sums_of_rows

MANY_COLUMNS = 256
"""With fewer columns, matrices cost nothing."""
FEW = 4
"""Rows are few if there are this many times more columns."""


def are_few(n_rows: int, n_columns: int) -> bool:
    """Whether rows take much less memory than the matrix of their sums."""
    return n_columns >= MANY_COLUMNS and FEW * n_rows <= n_columns


class RowSums(Sums):
    """Sums over one batch of complete rows that are few; Σxxᵀ is multiplied out when it is first needed.

    A file holds the matrices, and what changes these sums works on the matrices. So a model goes on in the
    same way, to the last bit, whether or not it was saved and loaded.
    """

    rows: Array
    by_row: Array
    """The weight of each row."""
    moments: bool
    """Whether third and fourth moments are kept."""

    def __init__(
        self, rows: Array, by_row: Array, sums: tuple[Array, Counts, Array, Array], *, moments: bool
    ) -> None:
        weight, support, total, peak = sums
        vars(self).update(
            rows=rows, by_row=by_row, weight=weight, support=support, total=total, peak=peak, moments=moments
        )
        for array in (rows, by_row, *sums):
            array.setflags(write=False)

    @classmethod
    def of(cls, x: Array, w: Array | None, *, moments: bool) -> RowSums:
        """From complete rows."""
        by_row = np.ones(len(x)) if w is None else w.copy()
        weight, support = np.asarray(by_row.sum()), np.asarray(len(x), dtype=np.int64)
        return cls(x, by_row, (weight, support, by_row @ x, by_row @ x**2), moments=moments)

    @cached_property
    def squares(self) -> Array:
        """Σ w·x² of each column."""
        return np.asarray(self.by_row @ self.rows**2)

    @cached_property
    def dense(self) -> Sums:
        """The same sums as matrices; the diagonal is `squares`, to the last bit."""
        product = sums_of_rows(self.rows, self.by_row, moments=self.moments)
        scatter = product.scatter.copy()
        scatter[np.diag_indices_from(scatter)] = self.squares
        return Sums(self.weight, self.support, self.total, scatter, self.peak, product.third, product.fourth)

    @property
    def scatter(self) -> Array:
        """Σ w·xxᵀ."""
        return self.dense.scatter

    @property
    def nbytes(self) -> int:
        """The memory that the rows take."""
        return self.rows.nbytes

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All sums, by name: as matrices."""
        return self.dense.arrays()

    def is_zero(self) -> bool:
        """Whether all sums are zero."""
        return not (self.support or self.weight or self.total.any()) and self.dense.is_zero()

    def moved(self, shift: Array) -> Sums:
        """Sums of x + shift instead of x: exact algebra."""
        return self.dense.moved(shift)

    def rescaled(self, scale: Array) -> RowSums:
        """Sums of x·scale; by powers of two, exact."""
        return self.standardised(np.zeros_like(scale), scale)

    def restricted(self, inside: NDArray[np.bool_]) -> RowSums:
        """Only some of the columns."""
        sums = self.weight, self.support, self.total[inside], self.peak[inside]
        return RowSums(self.rows[:, inside], self.by_row, sums, moments=self.moments)

    def standardised(self, shift: Array, factor: Array) -> RowSums:
        """Sums of (x + shift)·factor."""
        total = (self.total + self.weight * shift) * factor
        sums = self.weight, self.support, total, self.peak * factor**2
        return RowSums((self.rows + shift) * factor, self.by_row, sums, moments=self.moments)
