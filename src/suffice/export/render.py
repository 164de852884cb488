"""Expressions as SQL text, class by class; expressions used more than once become columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from suffice.export.dialects import Dialect
from suffice.export.expressions import (
    AcrossClasses,
    Apply,
    Cell,
    Clip,
    Expression,
    LevelNumber,
    Linear,
    Lookup,
    Missing,
    Number,
    SquaredNorm,
    Where,
    balanced,
    nodes,
)
from suffice.export.scoring import InputColumn

SHORT = 40
"""Text up to this length is repeated rather than made a column."""
INFIX = {
    "subtract": "-",
    "divide": "/",
    "less": "<",
    "less_equal": "<=",
    "equal": "=",
}
JOINED = {"add": "+", "logical_and": "AND", "logical_or": "OR"}
CALLS = {"log": "LN", "exp": "EXP", "sin": "SIN", "floor": "FLOOR", "absolute": "ABS"}
NOTHING = "z"
"""A column without a value, for databases that are slow with constants."""
MANY_CONSTANTS = 5000
ARGUMENTS = 50
"""The most arguments in one call."""
SMALLEST_ROOT = 1e-100
"""Added before squaring where the square of a smaller number is an error; larger ones do not change."""


@dataclass(frozen=True)
class Text:
    """SQL text, and the layer of shared columns that must come before it."""

    sql: str
    layer: int = 0


@dataclass
class Renderer:
    """Writes expressions over the columns x0, x1, … as text, and collects shared columns by layer."""

    dialect: Dialect
    columns: list[InputColumn]
    n_classes: int
    roots: list[Expression]
    layers: list[list[tuple[str, str]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._kinds = {column.position: column for column in self.columns}
        self._uses: Counter[int] = Counter()
        self._count_uses()
        self._written: dict[tuple[int, int | None], Text] = {}
        self._shared = 0
        self._strict: dict[int, bool] = {}
        many = sum(_n_constants(node) for root in self.roots for node in nodes(root)) > MANY_CONSTANTS
        self.hides_constants = self.dialect.searches_constants and many

    @property
    def width(self) -> int:
        """How many shared columns there are."""
        return sum(map(len, self.layers))

    def within(self, room: int, node: Expression, k: int) -> Text | None:
        """The value of a node for class k; None if its shared columns do not fit beside earlier ones."""
        known, lengths = len(self._written), [len(layer) for layer in self.layers]
        text = self(node, k)
        if self.width <= room or not any(lengths):
            return text
        while len(self._written) > known:
            self._written.popitem()
        self.layers = [layer[:n] for layer, n in zip(self.layers, lengths, strict=False)]
        return None

    def cut(self) -> list[list[tuple[str, str]]]:
        """The shared columns so far, which are forgotten: what follows is written without them."""
        layers, self.layers = self.layers, []
        self._written.clear()
        return layers

    def _count_uses(self) -> None:
        """Count how often the text of each node would occur if nothing were shared."""
        seen: set[int] = set()
        waiting = list(self.roots)
        while waiting:
            node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            for place, part in enumerate(node.parts):
                if isinstance(node, Linear) and not node.weights[place].any():
                    continue
                repeated = node.is_vector and not part.is_vector
                times = self.n_classes if repeated else 1
                # The text of these nodes contains that of their parts more than once.
                self._uses[id(part)] += times * (2 if isinstance(node, (SquaredNorm, Clip)) else 1)
                waiting.append(part)

    def __call__(self, node: Expression, k: int) -> Text:
        """The value of a node for class k."""
        place = (id(node), k if node.is_vector else None)
        if place not in self._written:
            text = self._text(node, k)
            if self._uses[id(node)] > 1 and len(text.sql) > SHORT:
                text = self._column(text)
            self._written[place] = text
        return self._written[place]

    def _column(self, text: Text) -> Text:
        """A shared column that holds the value of the text."""
        while len(self.layers) <= text.layer:
            self.layers.append([])
        name = f"t{self._shared}"
        self._shared += 1
        self.layers[text.layer].append((name, text.sql))
        return Text(name, text.layer + 1)

    def _text(self, node: Expression, k: int) -> Text:
        writers: dict[type[Expression], Callable[[Any, int], Text]] = {
            Number: self._value,
            Cell: lambda node, _: Text(f"x{node.column}"),
            Missing: lambda node, _: Text(f"(x{node.column} IS NULL)"),
            LevelNumber: lambda node, _: Text(self._level_number(node)),
            Apply: self._apply,
            Clip: self._clip,
            Where: self._where,
            Lookup: self._lookup,
            Linear: self._linear,
            SquaredNorm: self._squared_norm,
            AcrossClasses: lambda node, _: self._across_classes(node),
        }
        return writers[type(node)](node, k)

    def _value(self, node: Number, k: int) -> Text:
        return Text(self._of_class(node.value[k]) if node.is_vector else self._number(float(node.value)))

    def _number(self, value: float) -> str:
        return "NULL" if np.isnan(value) else self.dialect.number(value)

    def _of_class(self, value: float) -> str:
        """A number that belongs to one class."""
        literal = self._number(value)
        return f"COALESCE({literal}, {NOTHING})" if self.hides_constants and value != 0 else literal

    def _apply(self, node: Apply, k: int) -> Text:
        arguments = [self(part, k) for part in node.arguments]
        function = node.function
        if function in JOINED:
            if function == "add":
                return self.sum_of(arguments)
            return balanced(arguments, partial(_joined, JOINED[function]))
        if function == "multiply":
            zero = self._number(0.0)
            if any(argument.sql == zero for argument in arguments):
                return Text(zero)
            return balanced(arguments, partial(_joined, "*"))
        sql = [argument.sql for argument in arguments]
        if function in INFIX:
            return _text(f"({sql[0]} {INFIX[function]} {sql[1]})", *arguments)
        if function == "logical_not":
            if isinstance(node.arguments[0], Missing):
                return Text(f"(x{node.arguments[0].column} IS NOT NULL)")
            return _text(f"(NOT {sql[0]})", *arguments)
        if function in ("square", "power"):
            return self._square(*arguments) if function == "square" else self._power(*arguments)
        return _text(f"{CALLS[function]}({sql[0]})", *arguments)

    def _where(self, node: Where, k: int) -> Text:
        condition, yes, no = (self(part, k) for part in node.parts)
        if self._is_value_of(node.condition, node.yes):
            return _text(f"COALESCE({yes.sql}, {no.sql})", yes, no)
        return _text(f"CASE WHEN {condition.sql} THEN {yes.sql} ELSE {no.sql} END", condition, yes, no)

    def _is_value_of(self, condition: Expression, value: Expression) -> bool:
        """Whether the condition is that the value is not missing."""
        if not (isinstance(condition, Apply) and isinstance(condition.arguments[0], Missing)):
            return False
        if id(value) not in self._strict:
            self._strict[id(value)] = _is_strict(value)
        return condition.function == "logical_not" and self._strict[id(value)]

    def _clip(self, node: Clip, k: int) -> Text:
        # Not LEAST and GREATEST: in some databases the least of 1 and NULL is 1.
        inner, low, high = self(node.inner, k), self._number(node.low), self._number(node.high)
        sql = inner.sql
        return _text(
            f"CASE WHEN {sql} < {low} THEN {low} WHEN {sql} > {high} THEN {high} ELSE {sql} END", inner
        )

    def sum_of(self, terms: list[Text]) -> Text:
        """The sum of texts, without zeros."""
        zero = Text(self._number(0.0))
        return balanced([term for term in terms if term != zero] or [zero], partial(_joined, "+"))

    def _square(self, text: Text) -> Text:
        if self.dialect.tiny_squares_fail:
            return _text(f"POWER(ABS({text.sql}) + {self._number(SMALLEST_ROOT)}, 2)", text)
        return _text(f"POWER({text.sql}, 2)", text)

    def _power(self, base: Text, exponent: Text) -> Text:
        return _text(f"POWER({base.sql}, {exponent.sql})", base, exponent)

    def _combination(self, terms: list[Text], weights: Any) -> Text:
        """Σ w_j·term_j."""
        products = [
            _text(f"({self._of_class(float(w))} * {term.sql})", term)
            for term, w in zip(terms, weights, strict=True)
            if w != 0
        ]
        return balanced(products or [Text(self._number(0.0))], partial(_joined, "+"))

    def _linear(self, node: Linear, k: int) -> Text:
        return self._combination([self(term, k) for term in node.terms], node.weights[:, k])

    def _squared_norm(self, node: SquaredNorm, k: int) -> Text:
        terms = [self(term, k) for term in node.terms]
        lines = [self._square(self._combination(terms, line)) for line in node.matrices[k]]
        return balanced(lines, partial(_joined, "+"))

    def _across_classes(self, node: AcrossClasses) -> Text:
        each = [self(node.inner, k) for k in range(self.n_classes)]
        if node.function == "sum":
            return self.sum_of(each)
        return _text(extreme(self.dialect.greatest, [text.sql for text in each]), *each)

    def _level_number(self, node: LevelNumber) -> str:
        n = len(node.levels)
        cell, kind = f"x{node.column}", self._kinds[node.column].kind
        branches = [f"WHEN {cell} IS NULL THEN {n + 1}"]
        for place, level in enumerate(node.levels):
            if isinstance(level, str) and not self.dialect.holds(level):
                continue
            branches.append(f"WHEN {cell} = {self._level(level, kind)} THEN {place}")
        return f"CASE {' '.join(branches)} ELSE {n} END"

    def _level(self, level: Any, kind: str) -> str:
        if kind == "level":
            return self.dialect.text_literal(level)
        if isinstance(level, int) and not isinstance(level, bool):
            return f"({level})" if level < 0 else str(level)
        return self._number(float(level))

    def _lookup(self, node: Lookup, k: int) -> Text:
        index = self(node.index, k)
        values = node.table[:, k]
        if (values == values[0]).all():
            return Text(self._number(values[0]))
        rest = values[-1]
        branches = [
            f"WHEN {row} THEN {self._number(value)}" for row, value in enumerate(values) if value != rest
        ]
        return _text(f"CASE {index.sql} {' '.join(branches)} ELSE {self._number(rest)} END", index)


def extreme(function: str, values: list[str]) -> str:
    """The greatest or least of any number of values, in calls with few arguments."""
    while len(values) > 1:
        groups = [values[i : i + ARGUMENTS] for i in range(0, len(values), ARGUMENTS)]
        values = [f"{function}({', '.join(group)})" if len(group) > 1 else group[0] for group in groups]
    return values[0]


def _n_constants(node: Expression) -> int:
    """How many numbers a node has that belong to one class."""
    if isinstance(node, Number):
        return node.value.size if node.is_vector else 0
    if isinstance(node, Linear):
        return node.weights.size
    return node.matrices.size if isinstance(node, SquaredNorm) else 0


def _is_strict(node: Expression) -> bool:
    """Whether a value is missing exactly if one of its cells is."""
    return all(isinstance(part, (Number, Cell, Clip, Apply, Linear)) for part in nodes(node))


def _text(sql: str, *parts: Text) -> Text:
    return Text(sql, max((part.layer for part in parts), default=0))


def _joined(sign: str, a: Text, b: Text) -> Text:
    return _text(f"({a.sql} {sign} {b.sql})", a, b)
