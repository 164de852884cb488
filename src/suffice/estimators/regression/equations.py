"""The linear scores a regression has found, with their uncertainty: w_k·x + w_k0 for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from suffice.arrays import Array
from suffice.estimators.regression.curvature import DenseCurvature
from suffice.estimators.regression.minimise import Minimum
from suffice.estimators.regression.objective import Objective
from suffice.kernels.choose import row_parts
from suffice.kernels.threads import one_thread_per_product, run
from suffice.storage import Fields

MOVED = 1e-6
"""An estimate that a flat direction moves by this share of its largest entry is not determined."""


@dataclass(frozen=True)
class Equations:
    """Scores offset_k + w_k·(x − shift).

    About the shift a column of Unix timestamps keeps its digits; the intercept is the score at x = 0.
    """

    coefficients: Array
    """(r, d)."""
    offset: Array
    """(r,)."""
    shift: Array
    unit: Array
    intercept: bool
    basis: Array
    """(r, m): the rows are basis · parameters."""
    curvature: DenseCurvature | None
    """Of the (m, p) parameters about the shift, in units."""

    @classmethod
    def of(cls, objective: Objective, minimum: Minimum) -> Equations:
        """From the solver's coordinates to those of the columns."""
        design = objective.design
        d = design.n_columns
        rows = objective.basis @ minimum.parameters
        unit = np.ones(d) if design.unit is None else design.unit
        return cls(
            coefficients=rows[:, :d] / unit,
            offset=rows[:, d] if objective.intercept else np.zeros(len(rows)),
            shift=np.zeros(d) if design.shift is None else design.shift,
            unit=unit,
            intercept=objective.intercept,
            basis=objective.basis,
            curvature=minimum.curvature,
        )

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it; the curvature stands with the minimum."""
        return {name: value for name, value in vars(self).items() if name != "curvature"}

    @classmethod
    def from_fields(cls, fields: Fields, minimum: Minimum) -> Self:
        """The same from its state."""
        coefficients = fields.array("coefficients", np.float64, (None, None))
        rows, columns = coefficients.shape
        intercept = fields.flag("intercept")
        m, p = minimum.parameters.shape
        if p != columns + intercept:
            raise fields.error("coefficients", f"must have {p - intercept} columns.")
        unit = fields.array("unit", np.float64, (columns,))
        if (unit <= 0.0).any():
            raise fields.error("unit", "must be positive.")
        return cls(
            coefficients=coefficients,
            offset=fields.array("offset", np.float64, (rows,)),
            shift=fields.array("shift", np.float64, (columns,)),
            unit=unit,
            intercept=intercept,
            basis=fields.array("basis", np.float64, (rows, m)),
            curvature=minimum.curvature,
        )

    def intercepts(self) -> Array:
        """The scores at x = 0."""
        return np.asarray(self.offset - self.coefficients @ self.shift)

    def scores(self, X: Any) -> Array:
        """The scores of rows, (n, r)."""
        shifted = not sparse.issparse(X) and self.shift.any()

        def of_block(rows: slice) -> Array:
            block = X[rows] if X.dtype == np.float64 else X[rows].astype(np.float64)
            block = block - self.shift if shifted else block
            return np.asarray(block @ self.coefficients.T + self.offset)

        n_rows, n_columns = X.shape
        parts = row_parts(n_rows, -(-X.nnz // max(1, n_rows)) if sparse.issparse(X) else n_columns)
        if len(parts) < 2:
            return of_block(slice(None))
        with one_thread_per_product():
            return np.concatenate(run(of_block, parts))

    def contributions(self, X: Any) -> Array:
        """What each column adds to the scores of rows beyond the offset, (n, d, r)."""
        away = (X.toarray() if sparse.issparse(X) else X) - self.shift
        return np.asarray(away[:, :, np.newaxis] * self.coefficients.T)

    def estimates(self, row: int | None, against: int | None = None) -> Array:
        """One row of coefficients, or its difference from another; the intercept, if any, last.

        None is the class whose score is 0, the first of two.
        """
        rows = (
            np.column_stack([self.coefficients, self.intercepts()]) if self.intercept else self.coefficients
        )
        return np.asarray(self._combination(row, against) @ rows)

    def standard_errors(self, row: int | None, against: int | None = None) -> Array | None:
        """Standard errors of `estimates`: NaN where collinear columns leave one undetermined."""
        if self.curvature is None:
            return None
        mixed = self._combination(row, against) @ self.basis
        m, p = len(mixed), len(self.curvature.scale) // len(mixed)
        covariance = np.einsum("a,apbq,b->pq", mixed, self.curvature.inverse().reshape(m, p, m, p), mixed)
        flat = np.tensordot(mixed, self.curvature.flat().reshape(m, p, -1), 1)
        if self.intercept:
            # The intercept is the score at x = 0: offset − w·shift.
            from_shift = np.eye(p)
            from_shift[-1, :-1] = -self.shift / self.unit
            covariance, flat = from_shift @ covariance @ from_shift.T, from_shift @ flat
        errors = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        errors[: len(self.unit)] /= self.unit
        return np.where((np.abs(flat) > MOVED).any(axis=1), np.nan, errors)

    def _combination(self, row: int | None, against: int | None) -> Array:
        weights = np.zeros(len(self.basis))
        if row is not None:
            weights[row] += 1.0
        if against is not None:
            weights[against] -= 1.0
        return weights
