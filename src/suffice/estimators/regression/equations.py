"""What a regression has found: linear scores w_k·x + w_k0, how sure they are, and what a table compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array
from suffice.estimators.regression.curvature import DenseCurvature
from suffice.estimators.regression.objective import Objective
from suffice.estimators.regression.rows import RegressionRows
from suffice.estimators.regression.search import Minimum
from suffice.export.expressions import Cell, Expression, Linear
from suffice.kernels.choose import row_parts
from suffice.kernels.threads import one_thread_per_product, run
from suffice.storage import Fields, Setting
from suffice.storage.labels import labels_from_fields, state_of_labels
from suffice.tables.container import Container
from suffice.tables.container_words import container_from_fields, state_of_container
from suffice.tables.estimator_input import Names
from suffice.tables.targets import class_index
from suffice.tables.wording import quoted

LARGEST = 2.0**500
"""The largest coefficient and offset of a file."""
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
        offset = fields.array("offset", np.float64, (rows,))
        shift = fields.array("shift", np.float64, (columns,))
        sizes = np.abs(coefficients) * np.maximum(1.0, np.abs(shift) / LARGEST)
        if max(sizes.max(initial=0.0), np.abs(offset).max(initial=0.0)) > LARGEST:
            raise fields.error("coefficients", "are so large that scores would be infinite.")
        return cls(
            coefficients=coefficients,
            offset=offset,
            shift=shift,
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


@dataclass(frozen=True)
class SolvedEquations:
    """One problem: its equations and how the search for them ended."""

    equations: Equations
    minimum: Minimum
    problem: str | None
    log_likelihood: float

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it."""
        return vars(self) | {"equations": self.equations.state(), "minimum": self.minimum.state()}

    @classmethod
    def from_fields(cls, fields: Fields) -> SolvedEquations:
        """The same from its state."""
        minimum = Minimum.from_fields(fields.branch("minimum"))
        equations = Equations.from_fields(fields.branch("equations"), minimum)
        problem = fields.setting("problem")
        if problem is not None and not isinstance(problem, str):
            raise fields.error("problem", "must be a string.")
        return cls(equations, minimum, problem, fields.number("log_likelihood"))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, as far as the curvature tells."""
        curvature = self.minimum.curvature
        return self.minimum.parameters.size if curvature is None else curvature.rank


def joint_scores(solved: list[SolvedEquations], X: Any) -> Array:
    """Linear scores of rows, (n, equations)."""
    return np.hstack([one.equations.scores(X) for one in solved])


@dataclass(frozen=True)
class FittedRegression:
    """The result of a fit: one problem, or one for each class against the rest."""

    classes: NDArray[Any]
    class_weights: Array
    """Σ of the weights of each class."""
    solved: list[SolvedEquations]
    log_likelihood: float
    names: Names | None
    """Of the columns, where they have names."""
    container: Container

    @classmethod
    def of(
        cls, rows: RegressionRows, solved: list[SolvedEquations], log_likelihood: float
    ) -> FittedRegression:
        """Keep of the rows what reports need."""
        return cls(rows.classes, rows.class_weights, solved, log_likelihood, rows.names, rows.container)

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it."""
        return {
            "classes": state_of_labels(self.classes),
            "class_weights": self.class_weights,
            "solved": [one.state() for one in self.solved],
            "log_likelihood": self.log_likelihood,
            "names": Setting(None if self.names is None else list(self.names)),
            "container": state_of_container(self.container),
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> FittedRegression:
        """The same from its state."""
        classes = labels_from_fields(fields.branch("classes"))
        solved = [SolvedEquations.from_fields(one) for one in fields.branches("solved")]
        shapes = [one.equations.coefficients.shape for one in solved]
        n_equations = 1 if len(classes) == 2 else len(classes)
        if len(classes) < 2 or sum(rows for rows, _ in shapes) != n_equations:
            raise fields.error("solved", f"must have {n_equations} equations for {len(classes)} classes.")
        n_columns = shapes[0][1]
        if len(solved) not in (1, len(classes)) or any(columns != n_columns for _, columns in shapes):
            raise fields.error("solved", f"must have {n_columns} coefficients in each equation.")
        return cls(
            classes,
            fields.array("class_weights", np.float64, (len(classes),)),
            solved,
            fields.number("log_likelihood"),
            _names(fields, n_columns),
            container_from_fields(fields.branch("container"), n_columns),
        )

    def terms(self) -> list[str]:
        """What people call the columns, and the intercept if there is one."""
        equations = self.solved[0].equations
        numbered = [f"x{column}" for column in range(len(equations.shift))]
        names = numbered if self.names is None else [str(name) for name in self.names]
        return [*names, *(["(intercept)"] if equations.intercept else [])]

    def expression(self, sides: tuple[float, float]) -> Expression:
        """Linear scores of the classes over cells; of two classes, these multiples of the one equation."""
        equations = [one.equations for one in self.solved]
        coefficients = np.vstack([one.coefficients for one in equations])
        offset = np.concatenate([one.offset for one in equations])
        if len(offset) == 1:
            coefficients, offset = np.outer(sides, coefficients), np.outer(sides, offset)[:, 0]
        shift = equations[0].shift  # one design, one shift
        return Linear(tuple(Cell(j) - c for j, c in enumerate(shift)), coefficients.T) + offset

    def null_log_likelihood(self) -> float:
        """The log-likelihood of the class frequencies alone."""
        weights = self.class_weights[self.class_weights > 0.0]
        return float(weights @ np.log(weights / weights.sum()))

    def lines(self, reference: Any) -> list[tuple[str, SolvedEquations, int | None, int | None]]:
        """What a table compares: title, problem, row of it, and the row it is compared with.

        Of two classes the first has no row, and its score is 0.
        """
        labels = self.classes.tolist()
        base = 0 if reference is None else class_index(reference, labels)
        if len(self.solved) > 1:
            if reference is not None:
                raise ValueError(
                    f"reference is {quoted(reference)}, but each class was fitted against all others, so "
                    "there is "
                    "no reference class; leave it out."
                )
            titles = self.against_the_rest()
            return [(title, one, 0, None) for title, one in zip(titles, self.solved, strict=True)]
        rows: list[int | None] = [None, 0] if len(labels) == 2 else list(range(len(labels)))
        return [
            (f"{label} against {labels[base]}", self.solved[0], rows[k], rows[base])
            for k, label in enumerate(labels)
            if k != base
        ]

    def against_the_rest(self) -> list[str]:
        """The titles of problems that were solved one against the rest."""
        return [f"{label} against the rest" for label in self.classes.tolist()]


def _names(fields: Fields, n_columns: int) -> Names | None:
    """The names of the columns, if they have any, from a file."""
    names = fields.setting("names")
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != n_columns:
        raise fields.error("names", f"must hold {n_columns} names.")
    return tuple(fields.distinct("names", names))
