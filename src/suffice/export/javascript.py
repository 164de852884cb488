"""Expressions as JavaScript: one function of the cells of a row, which needs no library and no eval."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.export.expressions import (
    RULED_OUT,
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
    as_expression,
    columns_of,
    nodes,
    terms_of,
    total,
)
from suffice.export.observed import ObservedNormal
from suffice.export.scoring import InputColumn, Scoring

RUNTIME = """
const isArray = Array.isArray;
const each = f => (...a) => {
  if (!a.some(isArray)) return f(...a);
  return Array.from({length: K}, (_, k) => f(...a.map(b => isArray(b) ? b[k] : b)));
};
const number = c => c === null || c === "" || !Number.isFinite(Number(c)) ? NaN : Number(c);
const text = (c, marks) => c === null || c === undefined || marks.includes(c) ? null : String(c);
const level = (c, levels) =>
  c === null || Number.isNaN(c) ? levels.size + 1 : levels.has(c) ? levels.get(c) : levels.size;
const gone = c => c === null || Number.isNaN(c);
const row = (table, i) => table[i] || Array(K).fill(NaN);
const sum = (a, b) => a + b;
const joined = f => { const two = each(f); return (...a) => a.reduce((b, c) => two(b, c)); };
const add = joined(sum), logical_and = joined((a, b) => a && b), logical_or = joined((a, b) => a || b);
const subtract = each((a, b) => a - b), multiply = each((a, b) => a * b), divide = each((a, b) => a / b);
const power = each(Math.pow), log = each(Math.log), exp = each(Math.exp), sin = each(Math.sin);
const floor = each(Math.floor), absolute = each(Math.abs), square = each(a => a * a);
const less = each((a, b) => a < b), less_equal = each((a, b) => a <= b), equal = each((a, b) => a === b);
const logical_not = each(a => !a), where = each((c, a, b) => c === true ? a : b);
const clip = each((a, low, high) => a < low ? low : a > high ? high : a);
const spread = a => isArray(a) ? a : Array(K).fill(a);
const largest = a => Math.max(...spread(a)), summed = a => spread(a).reduce(sum);
const norm = (terms, matrices) => matrices.map((m, k) => m.reduce((s, line) => {
  let dot = 0;
  for (let j = 0; j < line.length; j++) dot += line[j] * (isArray(terms[j]) ? terms[j][k] : terms[j]);
  return s + dot * dot;
}, 0));
const normal = (terms, covariances, constants) => covariances.map((S, k) => {
  const z = terms.map(t => isArray(t) ? t[k] : t), seen = z.flatMap((t, j) => Number.isNaN(t) ? [] : [j]);
  const L = [], y = [];
  let score = 0;
  seen.forEach((j, a) => {
    L.push([]);
    let rest = z[j];
    for (let b = 0; b < a; b++) {
      let dot = S[j][seen[b]];
      for (let c = 0; c < b; c++) dot -= L[a][c] * L[b][c];
      L[a].push(dot / L[b][b]);
      rest -= L[a][b] * y[b];
    }
    const root = Math.sqrt(L[a].reduce((s, l) => s - l * l, S[j][j]));
    L[a].push(root);
    y.push(rest / root);
    score += constants[j] - Math.log(root) - y[a] * y[a] / 2;
  });
  return score;
});
const posteriors = (scores, orders) => {
  const least = orders && Math.min(...orders);
  const a = scores.map((s, k) => orders && orders[k] !== least ? RULED_OUT : s);
  const top = Math.max(...a), e = a.map(s => Math.exp(s - top)), z = e.reduce(sum);
  return e.map(s => s / z);
};
"""
"""What the written functions call: a value is a number, or an array with one number for each class."""


@dataclass(frozen=True)
class Program:
    """A model as JavaScript."""

    code: str
    """An expression whose value is a function: of an array of cells by position, null where one is missing,
    to its `posterior` and its `parts`, what columns add to the score of each class."""
    columns: list[InputColumn]
    """The columns that it reads."""
    parts: list[tuple[int, ...]]
    """The columns of each part; none for what does not depend on the row."""
    levels: dict[int, list[Any]]
    """The levels of columns that have some, by position."""


def program(scoring: Scoring) -> Program:
    """A model as a function in JavaScript."""
    columns = scoring.columns()
    writer = _Writer(columns)
    terms = [part for term in terms_of(scoring.score.finite) for part in _by_columns(term)]
    groups: dict[tuple[int, ...], list[Expression]] = {(): []}
    for term in terms:
        groups.setdefault(tuple(sorted(columns_of(term))), []).append(term)
    roots = [total(group) for group in groups.values()]
    order = scoring.score.order
    writer.count([*roots, *([] if order is None else [order])])
    parts = ", ".join(f"spread({writer(root)})" for root in roots)
    orders = "null" if order is None else f"spread({writer(order)})"
    body = "\n".join(
        [
            f"(() => {{ 'use strict'; const K = {len(scoring.classes)}, RULED_OUT = {RULED_OUT!r};",
            RUNTIME.strip(),
            *writer.constants,
            "return x => {",
            *writer.lines,
            f"const parts = [{parts}];",
            f"return {{parts, posterior: posteriors(add(...parts), {orders})}};",
            "};})()",
        ]
    )
    return Program(body, columns, list(groups), writer.levels)


def literal(value: Any) -> str:
    """A string, number, list or None as it can stand in a script of a page: < and line ends are escaped."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _by_columns(term: Expression) -> list[Expression]:
    """A linear term as one for each set of columns, so that what each adds can be told."""
    if not isinstance(term, Linear):
        return [term]
    return [part * as_expression(weights) for part, weights in zip(term.terms, term.weights, strict=True)]


class _Writer:
    """Writes nodes as text; one that is used more than once is computed once."""

    def __init__(self, columns: list[InputColumn]) -> None:
        self.columns = {column.position: column for column in columns}
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.levels: dict[int, list[Any]] = {}
        self._uses: Counter[int] = Counter()
        self._written: dict[int, str] = {}
        self._known: dict[str, str] = {}
        for column in columns:
            self.lines.append(f"const x{column.position} = {self._read(column)};")

    def count(self, roots: list[Expression]) -> None:
        """Count how often each node is used."""
        seen: set[int] = set()
        self._uses.update(map(id, roots))
        for root in roots:
            for node in nodes(root):
                if id(node) not in seen:
                    seen.add(id(node))
                    self._uses.update(map(id, node.parts))

    def __call__(self, node: Expression) -> str:
        """The text of a node."""
        for part in nodes(node):  # parts first: a deep expression needs no deep recursion
            if id(part) not in self._written:
                text = self._text(part)
                if self._uses[id(part)] > 1 and "(" in text:
                    self.lines.append(f"const t{len(self.lines)} = {text};")
                    text = f"t{len(self.lines) - 1}"
                self._written[id(part)] = text
        return self._written[id(node)]

    def _read(self, column: InputColumn) -> str:
        cell = f"x[{column.position}]"
        if column.kind == "level" or column.wide:
            marks = [] if column.notation is None or column.kind != "level" else list(column.notation.marks)
            return f"text({cell}, {literal(marks)})"
        return f"number({cell})"

    def _text(self, node: Expression) -> str:
        writers: dict[type[Expression], Callable[[Any], str]] = {
            Number: lambda node: _numbers(node.value),
            Cell: lambda node: f"x{node.column}",
            Missing: lambda node: f"gone(x{node.column})",
            LevelNumber: self._level_number,
            Apply: lambda node: f"{node.function}({self._all(node.arguments)})",
            Clip: lambda node: (
                f"clip({self._written[id(node.inner)]}, {_number(node.low)}, {_number(node.high)})"
            ),
            Where: lambda node: f"where({self._all(node.parts)})",
            Lookup: lambda node: (
                f"row({self._constant(_numbers(node.table))}, {self._written[id(node.index)]})"
            ),
            Linear: self._linear,
            SquaredNorm: self._squared_norm,
            ObservedNormal: self._observed_normal,
            AcrossClasses: lambda node: (
                f"{'largest' if node.function == 'max' else 'summed'}({self._written[id(node.inner)]})"
            ),
        }
        return writers[type(node)](node)

    def _all(self, parts: tuple[Expression, ...]) -> str:
        return ", ".join(self._written[id(part)] for part in parts)

    def _constant(self, text: str) -> str:
        """The name of a constant, which is written once."""
        if text not in self._known:
            self._known[text] = f"c{len(self._known)}"
            self.constants.append(f"const {self._known[text]} = {text};")
        return self._known[text]

    def _linear(self, node: Linear) -> str:
        products = [
            f"multiply({self._written[id(term)]}, {_numbers(weights)})"
            for term, weights in zip(node.terms, node.weights, strict=True)
        ]
        return f"add({', '.join(products)})"

    def _squared_norm(self, node: SquaredNorm) -> str:
        matrices = ", ".join(
            self._constant(f"[{', '.join(_numbers(np.trim_zeros(line, 'b')) for line in matrix)}]")
            for matrix in node.matrices
        )
        return f"norm([{self._all(node.terms)}], [{matrices}])"

    def _observed_normal(self, node: ObservedNormal) -> str:
        lower = ", ".join(
            self._constant(f"[{', '.join(_numbers(line[: i + 1]) for i, line in enumerate(matrix))}]")
            for matrix in node.covariances
        )
        return f"normal([{self._all(node.terms)}], [{lower}], {_numbers(node.constants)})"

    def _level_number(self, node: LevelNumber) -> str:
        column = self.columns[node.column]
        as_text = column.kind == "level" or column.wide
        known = [*self.levels.setdefault(node.column, [])]
        self.levels[node.column] += [level for level in node.levels if level not in known]
        entries = ", ".join(
            f"[{literal(str(level)) if as_text else _number(float(level))}, {place}]"
            for place, level in enumerate(node.levels)
        )
        return f"level(x{node.column}, {self._constant(f'new Map([{entries}])')})"


def _numbers(values: Array) -> str:
    """A number, a vector or a matrix."""
    if values.ndim == 0:
        return _number(float(values))
    return f"[{', '.join(map(_numbers, values))}]"


def _number(value: float) -> str:
    """The shortest text of the same number."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value).removesuffix(".0")
