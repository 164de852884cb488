"""A factor: one family on some columns. Its sums (`Totals`) and its solved parameters (`Solved`).

Nothing above this room knows which kind of factor it holds. A kind of sums is one file here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from suffice.archive import Fields
from suffice.expressions import Gaps, Score
from suffice.families import Family
from suffice.families.elementary import Array
from suffice.scores import Scores

Block = Any
"""A batch of a factor's columns: an (n, d) array with NaN for missing, a sparse array, or Levels."""
Codes = NDArray[np.intp]
Counts = NDArray[np.int64]


class Totals(ABC):
    """Sums of one factor, by class. Private and mutable; `Statistics` shows them immutably."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]]
    family: Family

    @classmethod
    @abstractmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        """The zero: no classes, no rows."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many columns the factor has."""

    @abstractmethod
    def refuse(self, block: Block, labels: list[str], classes: Codes) -> None:
        """Raise for values that cannot be summed, naming the column, the value and the cure.

        Classes not known yet have numbers of their own below 0.
        """

    @abstractmethod
    def update(self, block: Block, classes: Codes, weights: Array | None) -> None:
        """Add a batch of rows, all of positive weight, whose classes are known."""

    @abstractmethod
    def add(self, other: Self, sign: int) -> None:
        """Add (or subtract) sums over the same classes and columns."""

    @abstractmethod
    def scale(self, factor: float) -> None:
        """Multiply every sum; row support stays."""

    @abstractmethod
    def take_classes(self, index: Codes) -> Self:
        """A copy with these classes; −1 stands for a class without rows."""

    @abstractmethod
    def take_columns(self, index: Codes) -> Self:
        """A copy with these columns; −1 stands for a column without rows."""

    def with_family(self, family: Family) -> Self:
        """The same sums for a family that differs in settings of solving only."""
        other = copy(self)
        other.family = family
        return other

    @abstractmethod
    def vanishes(self) -> NDArray[np.bool_]:
        """For each class, whether all its sums are exactly zero."""

    @abstractmethod
    def matches(self, other: Self, rtol: float) -> bool:
        """Whether the sums agree, modulo origin, unit and order of levels."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays, by name; what the sums weigh."""

    def state(self) -> dict[str, Any]:
        """All that the sums are, as a file holds it."""
        return dict(self.arrays())

    @classmethod
    @abstractmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        """The sums from their state, or `SufficeFileError` where it is none."""

    @abstractmethod
    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        """Why no data of this total weight, and so many rows per class, could give these sums, or None."""

    @abstractmethod
    def solve(self, labels: list[str], classes: NDArray[Any]) -> Solved:
        """The parameters: maximum likelihood after smoothing. Messages name columns and classes."""

    def solve_again(self, labels: list[str], classes: NDArray[Any], found: Fields) -> Solved:
        """The parameters from what a search `found` when they were saved; closed forms have no search."""
        raise found.error("", "belongs to a search, and there was none.")


@dataclass(frozen=True)
class Regularized:
    """A parameter that had no maximum likelihood, and what was done instead."""

    column: str
    label: Any
    reason: str


class Solved(ABC):
    """Parameters of one factor for every class."""

    family: Family
    n_parameters: int
    has_density: bool = True
    """Whether the scores are log densities; if not, they only rank the classes."""
    ignores_priors: bool = False
    """Whether the scores rank the classes without their priors."""
    regularized: list[Regularized]

    def found(self) -> dict[str, Any]:
        """What a file keeps of the parameters: nothing, unless they took a search."""
        return {}

    @property
    @abstractmethod
    def log_likelihood(self) -> float:
        """Log p of the summarized rows."""

    @abstractmethod
    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        """Add log p(x | C_k) to the scores; `base=False` leaves out log h(x), equal for all classes."""

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        """The scores as an expression over cells, from which SQL and ONNX are written."""
        raise ValueError(
            f"{labels[0]}: {self.family.name} cannot be written as SQL or ONNX; leave the column out with "
            "families={…: None}, or score such rows with this library."
        )

    @abstractmethod
    def contributions(self, block: Block, labels: list[str]) -> Array:
        """Log p of each cell: (n, d, k), 0 where missing."""

    @abstractmethod
    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """One value per row for each column, drawn from the row's class."""

    @abstractmethod
    def conventional(self) -> list[dict[str, Any]]:
        """The parameters people know, for each column: name → (k, …) array."""


def first_offence(bad: NDArray[np.bool_]) -> tuple[int, int]:
    """Row and column of the first True cell, in column order."""
    column = int(np.argmax(bad.any(axis=0)))
    return int(np.argmax(bad[:, column])), column


def gather(array: NDArray[Any], index: Codes, axis: int) -> NDArray[Any]:
    """`take` in which −1 gives zeros."""
    taken = np.take(array, np.maximum(index, 0), axis=axis) if array.shape[axis] else None
    if taken is None:
        shape = list(array.shape)
        shape[axis] = len(index)
        return np.zeros(shape, dtype=array.dtype)
    absent = index < 0
    if absent.any():
        taken[(slice(None),) * axis + (absent,)] = 0
    return taken


def impossible(weight: Array, support: Counts, size: float) -> NDArray[np.bool_]:
    """Where a weight and its number of rows contradict each other, rounding aside."""
    none_left = (support == 0) & (np.abs(weight) > 1e-9 * size)
    return np.asarray((support < 0) | ((support > 0) & (weight <= 0)) | none_left)


def within(a: Array, b: Array, rtol: float, size: float) -> bool:
    """Whether sums agree: exactly for rtol = 0, else relative to themselves and to the largest weight."""
    return bool(np.all(np.abs(a - b) <= rtol * (np.abs(a) + np.abs(b) + size)))


def unseen_log_shares(weight: Array, alpha: float, n_levels: int) -> tuple[Array, Array]:
    """Log α/(N + α(L + 1)) for what was never seen, and the log share left for the rest."""
    total = weight + alpha * (n_levels + 1)
    unseen = np.divide(alpha, total, out=np.full_like(total, 1.0 / (n_levels + 1)), where=total > 0)
    with np.errstate(divide="ignore"):
        return np.log(unseen), np.log1p(-unseen)


def refuse_errors(family: Family, label: str) -> None:
    """Refuse to export a family that raises for what it has not seen: a query cannot."""
    if family.unseen == "error":
        raise ValueError(
            f"{label}: {family.name} has unseen='error', and neither SQL nor ONNX can raise an error for one "
            f"row; fit BayesClassifier with {family.name}(unseen='ignore')."
        )
