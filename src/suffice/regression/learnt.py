"""What a regression has learnt, and what its table compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.archive import Fields, Scalars
from suffice.archive.labels import labels_from_fields, state_of_labels
from suffice.engines.column_types import container_from_fields, state_of_container
from suffice.engines.container import Container
from suffice.families.elementary import Array
from suffice.regression.equations import Equations
from suffice.regression.minimise import Minimum
from suffice.regression.reading import RegressionRows


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


@dataclass(frozen=True)
class Learnt:
    """What a regression has learnt; one problem, or one per class against the rest."""

    classes: NDArray[Any]
    class_weights: Array
    """Σ of the weights of each class."""
    solved: list[Solved]
    names: tuple[str, ...]
    container: Container

    @classmethod
    def of(cls, rows: RegressionRows, solved: list[Solved]) -> Learnt:
        """Keep of the rows what reports need."""
        weights = np.bincount(rows.codes, rows.weights, minlength=len(rows.classes)).astype(np.float64)
        return cls(rows.classes, weights, solved, rows.names, rows.container)

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it."""
        return {
            "classes": state_of_labels(self.classes),
            "class_weights": self.class_weights,
            "solved": [one.state() for one in self.solved],
            "names": Scalars(list(self.names)),
            "container": state_of_container(self.container),
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Learnt:
        """The same from its state."""
        classes = labels_from_fields(fields.branch("classes"))
        names = tuple(map(str, fields.scalars("names")))
        solved = [Solved.from_fields(one) for one in fields.branches("solved")]
        shapes = [one.equations.coefficients.shape for one in solved]
        n_equations = 1 if len(classes) == 2 else len(classes)
        if len(classes) < 2 or sum(rows for rows, _ in shapes) != n_equations:
            raise fields.error("solved", f"must have {n_equations} equations for {len(classes)} classes.")
        if len(solved) not in (1, len(classes)) or any(columns != len(names) for _, columns in shapes):
            raise fields.error("solved", f"must have {len(names)} coefficients in each equation.")
        weights = fields.array("class_weights", np.float64, (len(classes),))
        return cls(
            classes, weights, solved, names, container_from_fields(fields.branch("container"), len(names))
        )

    def scores(self, X: Any) -> Array:
        """Linear scores of rows, (n, equations)."""
        return np.hstack([one.equations.scores(X) for one in self.solved])

    def null_log_likelihood(self) -> float:
        """The log-likelihood of the class frequencies alone."""
        weights = self.class_weights[self.class_weights > 0.0]
        return float(weights @ np.log(weights / weights.sum()))

    def lines(self, reference: Any) -> list[tuple[str, Solved, int, int | None]]:
        """What a table compares: title, problem, row of it, and the row it is compared with."""
        labels = self.classes.tolist()
        if reference is not None and reference not in labels:
            raise ValueError(f"there is no class {reference!r}; the classes are {labels}.")
        if len(self.solved) > 1:
            pairs = zip(labels, self.solved, strict=True)
            return [(f"{label} against the rest", one, 0, None) for label, one in pairs]
        if len(labels) == 2:
            return [(f"{labels[1]} against {labels[0]}", self.solved[0], 0, None)]
        base = 0 if reference is None else labels.index(reference)
        return [
            (f"{label} against {labels[base]}", self.solved[0], k, base)
            for k, label in enumerate(labels)
            if k != base
        ]
