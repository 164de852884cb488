"""What the exporters know about a model: its columns, its classes and the expression of its scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.export.expressions import Cell, Expression, LevelNumber, Missing, Score, nodes
from suffice.tables.columns import Kind
from suffice.tables.notations import Notation

Output = Literal["proba", "label", "scores"]
"""What a query returns."""
Precision = Literal["float64", "float32"]
"""The numbers that go into a graph and come out of it."""
LARGEST_WHOLE = 2**53
"""Integers up to here are exact as floats."""


@dataclass(frozen=True)
class InputColumn:
    """A column that a score reads."""

    position: int
    name: str
    kind: Kind
    """The kind of its cells; "level" is text."""
    wide: bool = False
    """Whether its levels are integers too large to be exact as floats."""
    notation: Notation | None = None
    """How its cells are written, if they are text."""


@dataclass(frozen=True)
class Decision:
    """The class with the lowest expected cost, or the last answer where that cost exceeds `reject_cost`."""

    answers: NDArray[Any]
    """The classes, followed by the answer for refused rows if there is one."""
    costs: Array
    """`costs[true, predicted]`."""
    reject_cost: float | None = None

    @property
    def compared(self) -> Array:
        """Costs less the highest of their row: a constant added to a row changes no decision.

        Equal costs of all errors then leave −p, so that ties and rounding fall as they do for the largest p.
        """
        return np.asarray(self.costs - self.costs.max(axis=1, keepdims=True))

    def scaled(self) -> Decision:
        """The same decision with costs of at most 1: some databases raise where a product underflows."""
        sizes = [np.abs(self.costs).max(), abs(self.reject_cost or 0.0)]
        exponent = -int(np.frexp(max(sizes))[1])
        limit = None if self.reject_cost is None else float(np.ldexp(self.reject_cost, exponent))
        return Decision(self.answers, np.ldexp(self.costs, exponent), limit)


@dataclass(frozen=True)
class Scoring:
    """A solved model, ready to be written in another language."""

    names: tuple[Hashable, ...]
    named: bool
    kinds: tuple[Kind | None, ...]
    """The kind of the cells of each column, if known."""
    classes: NDArray[Any]
    score: Score
    decision: Decision | None = None
    """How the label follows from the posteriors; None for the most probable class."""
    notations: Mapping[int, Notation] = field(default_factory=dict)
    """How the cells of columns of text are written, by position."""

    @cached_property
    def nodes(self) -> list[Expression]:
        """Every node of the scores once, parts first."""
        found = [node for root in self.score.parts for node in nodes(root)]
        return list({id(node): node for node in found}.values())

    def labels(self) -> list[Any]:
        """The classes as plain Python values."""
        return list(self.classes.tolist())

    def columns(self, renamed: Sequence[str] | None = None) -> list[InputColumn]:
        """The columns that the scores read, in their order."""
        names = self.column_names(renamed)
        levels: dict[int, list[Any]] = {}
        for node in self.nodes:
            if isinstance(node, (Cell, Missing, LevelNumber)):
                held = node.levels if isinstance(node, LevelNumber) else ()
                levels.setdefault(node.column, []).extend(held)
        return [self._column(position, names[position], levels[position]) for position in sorted(levels)]

    def _column(self, position: int, name: str, levels: list[Any]) -> InputColumn:
        known = self.kinds[position]
        types = {cls for level in levels for cls in (bool, str, int, float) if isinstance(level, cls)}
        types -= {int} if bool in types else set()
        notation = self.notations.get(position)
        if types == {str}:
            return InputColumn(position, name, "level", notation=notation)
        if types == {bool}:
            return InputColumn(position, name, "boolean")
        if types - {int, float}:
            raise ValueError(
                f"column {name!r} mixes text, numbers or booleans, but a column of a database or of ONNX has "
                "one type; convert it to text before fitting."
            )
        wide = any(abs(level) > LARGEST_WHOLE for level in levels)
        kind = known if known not in (None, "level") else "number"
        return InputColumn(position, name, kind, wide, notation)

    def column_names(self, renamed: Sequence[str] | None = None) -> list[str]:
        """The names of the columns: as in the data, renamed, or x0, x1, … for those of an array."""
        if renamed is None:
            return [str(name) if self.named else f"x{name}" for name in self.names]
        if isinstance(renamed, str) or not all(isinstance(name, str) for name in renamed):
            raise TypeError(
                "columns must be a list of names, one for each column that the model was fitted on."
            )
        if len(renamed) != len(self.names):
            raise ValueError(
                f"columns must have one name for each column that the model was fitted on, {len(self.names)} "
                f"in all, got {len(renamed)}."
            )
        return list(renamed)
