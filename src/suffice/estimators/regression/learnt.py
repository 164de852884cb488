"""What a regression has learnt, and what its table compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.estimators.regression.equations import Equations
from suffice.estimators.regression.minimise import Minimum
from suffice.estimators.regression.rows import RegressionRows
from suffice.export.expressions import Cell, Expression, Linear
from suffice.storage import Fields, Setting
from suffice.storage.labels import labels_from_fields, state_of_labels
from suffice.tables.container import Container
from suffice.tables.container_words import container_from_fields, state_of_container
from suffice.tables.estimator_input import Names
from suffice.tables.targets import class_index


@dataclass(frozen=True)
class Solved:
    """One problem: its equations and how the search for them ended."""

    equations: Equations
    minimum: Minimum
    problem: str | None
    log_likelihood: float

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it."""
        return vars(self) | {"equations": self.equations.state(), "minimum": self.minimum.state()}

    @classmethod
    def from_fields(cls, fields: Fields) -> Solved:
        """The same from its state."""
        minimum = Minimum.from_fields(fields.branch("minimum"))
        equations = Equations.from_fields(fields.branch("equations"), minimum)
        problem = fields.setting("problem")
        if problem is not None and not isinstance(problem, str):
            raise fields.error("problem", "must be a text.")
        return cls(equations, minimum, problem, fields.number("log_likelihood"))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, as far as the curvature tells."""
        curvature = self.minimum.curvature
        return self.minimum.parameters.size if curvature is None else curvature.rank


def joint_scores(solved: list[Solved], X: Any) -> Array:
    """Linear scores of rows, (n, equations)."""
    return np.hstack([one.equations.scores(X) for one in solved])


@dataclass(frozen=True)
class FittedRegression:
    """What a regression has learnt; one problem, or one per class against the rest."""

    classes: NDArray[Any]
    class_weights: Array
    """Σ of the weights of each class."""
    solved: list[Solved]
    log_likelihood: float
    names: Names | None
    """Of the columns, where they have names."""
    container: Container

    @classmethod
    def of(cls, rows: RegressionRows, solved: list[Solved], log_likelihood: float) -> FittedRegression:
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
        solved = [Solved.from_fields(one) for one in fields.branches("solved")]
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

    def lines(self, reference: Any) -> list[tuple[str, Solved, int | None, int | None]]:
        """What a table compares: title, problem, row of it, and the row it is compared with.

        Of two classes the first has no row, and its score is 0.
        """
        labels = self.classes.tolist()
        base = 0 if reference is None else class_index(reference, labels)
        if len(self.solved) > 1:
            if reference is not None:
                raise ValueError(
                    f"reference is {reference!r}, but each class was fitted against all others, so there is "
                    "no class to compare with; leave it out."
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
        raise fields.error("names", f"must be {n_columns}.")
    try:
        return tuple(fields.distinct("names", names))
    except TypeError as error:
        raise fields.error("names", "cannot all be names.") from error
