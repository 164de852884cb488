"""The parts of an ONNX graph: nodes, constants, columns as (n, columns) tensors of float64, and which terms
differ only in their column and their numbers, so that one tensor operation computes many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from suffice.export.expressions import (
    AcrossClasses,
    Apply,
    Cell,
    Clip,
    Expression,
    Linear,
    Missing,
    Number,
    Where,
    nodes,
)
from suffice.export.scoring import Scoring

ELEMENTWISE = (Number, Cell, Missing, Apply, Clip, Where, Linear, AcrossClasses)
"""The nodes that can be computed for many columns at once."""


class Tensors:
    """The nodes, constants and inputs of a graph, named as they are added."""

    def __init__(self, scoring: Scoring, dtype: np.dtype[Any]) -> None:
        from onnx import helper, numpy_helper

        self.helper, self._numpy = helper, numpy_helper
        self.scoring = scoring
        self.dtype = dtype
        self.n_classes = len(scoring.classes)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.columns = {column.position: column for column in scoring.columns()}
        names = {column.name for column in self.columns.values()} | {"X"}
        self.prefix = _free("/", lambda prefix: not any(name.startswith(prefix) for name in names))
        self.label, self.probabilities = (
            _free(name, lambda free: free not in names) for name in ("label", "probabilities")
        )
        self.as_array = not scoring.named and not any(
            column.kind == "level" or column.wide for column in self.columns.values()
        )
        self._numbers: dict[tuple[int, ...], str] = {}
        self._known: dict[tuple[Any, ...], str] = {}
        self._declare_inputs()

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        name = output or f"{self.prefix}v{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any) -> str:
        """Add a constant, once."""
        array = np.asarray(values)
        place = (
            array.dtype.str,
            array.shape,
            tuple(array.ravel()) if array.dtype == object else array.tobytes(),
        )
        if place not in self._known:
            self._known[place] = f"{self.prefix}c{len(self.constants)}"
            self.constants.append(self._numpy.from_array(array, self._known[place]))
        return self._known[place]

    def type_of(self, dtype: Any) -> Any:
        """ONNX's name for a dtype."""
        return self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))

    def cast(self, name: str, dtype: Any) -> str:
        """The same tensor in another dtype."""
        return self.add("Cast", name, to=self.type_of(dtype))

    def _declare_inputs(self) -> None:
        if self.as_array:
            self.input("X", self.dtype, len(self.scoring.names))
            return
        for column in self.columns.values():
            dtype = object if column.kind == "level" else np.int64 if column.wide else self.dtype
            self.input(column.name, dtype, 1)

    def numbers(self, columns: tuple[int, ...]) -> str:
        """Columns of numbers side by side, (n, columns), NaN where one is missing or infinite."""
        if columns not in self._numbers:
            self._numbers[columns] = self._read_numbers(columns)
        return self._numbers[columns]

    def _read_numbers(self, columns: tuple[int, ...]) -> str:
        if self.as_array:
            everything = tuple(range(len(self.scoring.names)))
            if columns != everything:
                return self.add("Gather", self.numbers(everything), self.constant(np.array(columns)), axis=1)
            return self._finite(self.cast("X", np.float64))
        names = [self.columns[position].name for position in columns]
        joined = names[0] if len(names) == 1 else self.add("Concat", *names, axis=1)
        return self._finite(self.cast(joined, np.float64))

    def cell(self, position: int) -> str:
        """One column, (n, 1)."""
        column = self.columns[position]
        if column.kind == "level" or column.wide:
            return column.name
        return self.numbers((position,))

    def input(self, name: str, dtype: Any, width: int) -> str:
        """Declare an input."""
        if not name:
            raise ValueError("a column with an empty name cannot be an input of an ONNX graph; rename it.")
        self.inputs.append(self.helper.make_tensor_value_info(name, self.type_of(dtype), ["n", width]))
        return name

    def _finite(self, name: str) -> str:
        """NaN in place of infinities, which count as missing."""
        size = self.add("Abs", name)
        finite = self.add("LessOrEqual", size, self.constant(np.finfo(np.float64).max))
        return self.add("Where", finite, name, self.constant(np.nan))


def _free(name: str, is_free: Callable[[str], bool]) -> str:
    """The name, with as many _ appended as make it unused."""
    while not is_free(name):
        name += "_"
    return name


def alike(terms: Sequence[Expression]) -> list[list[int]]:
    """The positions of terms, grouped by form; a term without a form is alone."""
    groups: dict[Any, list[int]] = {}
    for place, term in enumerate(terms):
        form = _form_of(term)
        groups.setdefault(place if form is None else form, []).append(place)
    return list(groups.values())


def _form_of(term: Expression) -> tuple[Any, ...] | None:
    """The structure of a term without its column and numbers; None unless it reads one column of numbers.

    Nodes are identified by their position, so that terms of one form also share nodes in the same way.
    """
    places: dict[int, int] = {}
    columns: set[int] = set()
    form = []
    for node in nodes(term):
        if not isinstance(node, ELEMENTWISE):
            return None
        if isinstance(node, (Cell, Missing)):
            columns.add(node.column)
        own = node.function if isinstance(node, (Apply, AcrossClasses)) else node.is_vector
        form.append((type(node), own, tuple(places[id(part)] for part in node.parts)))
        places[id(node)] = len(places)
    return tuple(form) if len(columns) == 1 else None
