"""Columns with one value that repeats: sums of whether a cell holds it, and sums of all other cells.

Both are sums of factors of their own, whose kinds the registry knows. For the rest, a cell with the value is
a missing one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, Counts
from suffice.factors.base import Block, Totals
from suffice.factors.blocks import FoldedCells
from suffice.factors.checks import first_offence
from suffice.factors.kinds import KINDS
from suffice.families import Hurdle
from suffice.storage import Fields


def split_cells(block: Block, at: float, labels: list[str]) -> tuple[Array, Array]:
    """Whether each cell holds the value, as 0 or 1, and the cells of the rest; NaN where there is none."""
    if sparse.issparse(block):
        raise ValueError(f"{labels[0]} is sparse, but Hurdle reads every cell; pass a dense array.")
    # NumPy would round a Python float to the type of narrow floats, and then others equal it.
    here = block == (np.float64(at) if block.dtype.kind == "f" else at)
    return np.where(np.isnan(block), np.nan, here), np.where(here, np.nan, block)


class HurdleTotals(Totals):
    """The sums of the outcomes, which are those of a Bernoulli, and of the family of the rest."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"
    takes_folds: ClassVar[bool] = True
    family: Hurdle

    def __init__(self, family: Hurdle, outcome: Totals, rest: Totals) -> None:
        self.family = family
        self.outcome = outcome
        self.rest = rest

    @classmethod
    def empty(cls, family: Any, n_columns: int) -> Self:
        parts = (KINDS[part.factor].totals.empty(part, n_columns) for part in (family.outcome, family.rest))
        return cls(family, *parts)

    @property
    def n_columns(self) -> int:
        return self.outcome.n_columns

    def prepare(
        self, block: Block, labels: list[str], classes: Codes, weights: Array | None, n_classes: int
    ) -> Callable[[Any], None]:
        outcome: Block
        rest: Block
        if isinstance(block, FoldedCells):
            parts = split_cells(block.numbers, self.family.at, labels)
            outcome, rest = (block._replace(numbers=part) for part in parts)
            rest = rest if self.rest.takes_folds else rest.unfolded()
        else:
            outcome, rest = split_cells(block, self.family.at, labels)
        add_rest = self.rest.prepare(rest, labels, classes, weights, n_classes)
        add_outcome = self.outcome.prepare(outcome, labels, classes, weights, n_classes)

        def add(totals: HurdleTotals) -> None:
            add_outcome(totals.outcome)
            add_rest(totals.rest)

        return add

    def refuse(self, block: Block, labels: list[str], classes: Codes) -> None:
        self.rest.refuse(split_cells(block, self.family.at, labels)[1], labels, classes)

    def update(self, block: Block, classes: Codes, weights: Array | None) -> None:
        outcome, rest = split_cells(block, self.family.at, [""] * self.n_columns)
        self.outcome.update(outcome, classes, weights)
        self.rest.update(rest, classes, weights)

    def add(self, other: Self, sign: int) -> None:
        self.outcome.add(other.outcome, sign)
        self.rest.add(other.rest, sign)

    def scale(self, factors: Array) -> None:
        self.outcome.scale(factors)
        self.rest.scale(factors)

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, self.outcome.take_classes(index), self.rest.take_classes(index))

    def take_columns(self, index: Codes) -> Self:
        return type(self)(self.family, self.outcome.take_columns(index), self.rest.take_columns(index))

    def with_family(self, family: Any) -> Self:
        parts = self.outcome.with_family(family.outcome), self.rest.with_family(family.rest)
        return type(self)(family, *parts)

    def vanishes(self) -> NDArray[np.bool_]:
        return self.outcome.vanishes() & self.rest.vanishes()

    def matches(self, other: Self, rtol: float) -> bool:
        return self.outcome.matches(other.outcome, rtol) and self.rest.matches(other.rest, rtol)

    def arrays(self) -> dict[str, NDArray[Any]]:
        parts = {"outcome": self.outcome, "rest": self.rest}
        return {
            f"{name}.{part}": array
            for part, totals in parts.items()
            for name, array in totals.arrays().items()
        }

    def state(self) -> dict[str, Any]:
        return {"outcome": self.outcome.state(), "rest": self.rest.state()}

    @classmethod
    def from_fields(cls, family: Any, n_columns: int, n_classes: int, fields: Fields) -> Self:
        parts = {"outcome": family.outcome, "rest": family.rest}
        fields.require(parts)
        made = (
            KINDS[part.factor].totals.from_fields(part, n_columns, n_classes, fields.branch(name))
            for name, part in parts.items()
        )
        return cls(family, *made)

    def presence(self) -> Array:
        return self.outcome.presence()

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        found = self.outcome.problem(labels, size, rows) or self.rest.problem(labels, size, rows)
        if found is not None:
            return found
        more = self.rest.presence() > self.outcome.presence() + 1e-9 * size
        if not more.any():
            return None
        return f"{labels[first_offence(more)[1]]} would have more rows without {self.family.at} than rows"
