"""A model as one SELECT: cells, shared columns, scores, and the posterior computed from them.

Every step is a common table expression with its own short names (x cells, k keys, t shared columns, a
scores, o orders), so that no name in the user's table can clash with one of ours.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from suffice.export.dialects import DIALECTS, Dialect
from suffice.export.expressions import RULED_OUT, Expression, Score, balanced, columns_of, terms_of
from suffice.export.render import NOTHING, Renderer, Text, extreme
from suffice.export.scoring import Output, Scoring

NEGLIGIBLE = -700.0
"""Nats below the best class at which a posterior counts as 0: some databases raise where exp underflows."""
MOST_PARTS = 3
"""Of the name of a table."""


def query(
    scoring: Scoring,
    table: str | Sequence[str],
    *,
    dialect: str,
    output: Output,
    key: str | Sequence[str],
    columns: Sequence[str] | None,
) -> str:
    """The SELECT that scores the rows of a table."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, got {dialect!r}.")
    if output not in get_args(Output):
        raise ValueError(f"output must be one of {', '.join(map(repr, get_args(Output)))}, got {output!r}.")
    writer = _Query(DIALECTS[dialect], _names("key", key), _names("table", table))
    return writer.write(scoring, output, columns)


def _names(argument: str, given: str | Sequence[str]) -> list[str]:
    names: Any = [given] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{argument} must be a string or a sequence of strings, got {given!r}.")
    if argument == "table" and not names:
        raise ValueError("table must not be empty; pass the name of a table.")
    if argument == "table" and len(names) > MOST_PARTS:
        raise ValueError(
            f"a table's name has at most {MOST_PARTS} parts, catalog, schema and table, got {list(names)}."
        )
    return list(names)


@dataclass
class _Query:
    """A chain of common table expressions, each read by the next."""

    dialect: Dialect
    keys: list[str]
    table: list[str]
    steps: list[str] = field(default_factory=list)
    width: int = 0
    """How many columns the last step has."""

    def write(self, scoring: Scoring, output: Output, renamed: Sequence[str] | None) -> str:
        dialect = self.dialect
        labels = scoring.labels()
        classes = range(len(labels))
        columns = scoring.columns(renamed)
        dialect.require_distinct(column.name for column in columns)
        self.keep = [f"k{i}" for i in range(len(self.keys))]
        self.source = ".".join(dialect.identifier(part) for part in self.table)
        cells = [f"{dialect.cell(column)} AS x{column.position}" for column in columns]
        keys = [f"{dialect.identifier(key)} AS {k}" for key, k in zip(self.keys, self.keep, strict=True)]
        render = Renderer(dialect, columns, len(labels), scoring.score.parts)
        if render.hides_constants or not cells:
            cells.append(f"NULL AS {NOTHING}")
        self._step([*keys, *cells])
        self._add_up(scoring.score, render)
        if scoring.score.order is not None:
            self._further([f"{extreme(dialect.least, [f'o{k}' for k in classes])} AS o"])
            ruled_out = dialect.number(RULED_OUT)
            possible = [f"CASE WHEN o{k} = o THEN a{k} ELSE {ruled_out} END AS a{k}" for k in classes]
            self._step([*self.keep, *possible])
        self._further([f"{extreme(dialect.greatest, [f'a{k}' for k in classes])} AS m"])
        return self._results(labels, output)

    def _add_up(self, score: Score, render: Renderer) -> None:
        """The steps that sum the scores a and the orders o, term by term and class by class.

        A step has as many shared columns as the database allows, and keeps the cells that are still needed.
        """
        classes = range(render.n_classes)
        sums = [(letter, terms_of(root)) for letter, root in zip("ao", score.parts, strict=False)]
        waiting = deque(
            (f"{letter}{k}", term, k) for letter, terms in sums for term in terms for k in classes
        )
        reads = {id(term): columns_of(term) for _, terms in sums for term in terms}
        begun: list[str] = []
        while waiting:
            live = _union(reads, waiting)
            room = self.dialect.most_columns - len(self.keep) - len(live) - len(sums) * len(classes) - 1
            added: dict[str, list[Text]] = {name: [Text(name)] for name in begun}
            while waiting:
                name, term, k = waiting[0]
                text = render.within(room, term, k)
                if text is None:
                    break
                added.setdefault(name, []).append(text)
                waiting.popleft()
            for layer in render.cut():
                self._further([f"{sql} AS {name}" for name, sql in layer])
            nothing = [NOTHING] if render.hides_constants else []
            cells = [f"x{column}" for column in sorted(_union(reads, waiting))]
            double = self.dialect.double
            totals = [
                f"CAST({render.sum_of(texts).sql} AS {double}) AS {name}" for name, texts in added.items()
            ]
            self._step([*self.keep, *nothing, *cells, *totals])
            begun = list(added)

    def _results(self, labels: list[Any], output: Output) -> str:
        """The last steps: from the scores a and their maximum m to the requested output."""
        dialect = self.dialect
        if output == "label":
            branches = " ".join(
                f"WHEN a{k} = m THEN {dialect.label(label)}" for k, label in enumerate(labels)
            )
            return self._last([f"CASE {branches} END"], ["label"])
        classes = range(len(labels))
        zero, least = dialect.number(0.0), dialect.number(NEGLIGIBLE)
        self._step([*self.keep, *(f"a{k} - m AS a{k}" for k in classes)])
        parts = [f"CASE WHEN a{k} <= {least} THEN {zero} ELSE EXP(a{k}) END" for k in classes]
        if output == "proba":
            self._step([*self.keep, *(f"{part} AS e{k}" for k, part in enumerate(parts))])
            self._further([f"{balanced([f'e{k}' for k in classes], _sum_of)} AS s"])
            return self._last([f"e{k} / s" for k in classes], [f"proba_{label}" for label in labels])
        self._further([f"{balanced(parts, _sum_of)} AS s"])
        out, nothing = dialect.number(0.5 * RULED_OUT), "-" + dialect.infinity.format(double=dialect.double)
        logs = [f"CASE WHEN a{k} < {out} THEN {nothing} ELSE a{k} - LN(s) END" for k in classes]
        return self._last(logs, [f"score_{label}" for label in labels])

    def _further(self, columns: list[str]) -> None:
        """A step with more columns than the one before."""
        self._step(["*", *columns], self.width + len(columns))

    def _step(self, columns: list[str], width: int | None = None) -> None:
        self.width = len(columns) if width is None else width
        most = self.dialect.most_columns
        if self.width > most:
            raise ValueError(
                f"the query needs {self.width:,} columns at once, but {self.dialect.name} allows {most:,}; "
                "export a model of fewer columns or classes."
            )
        name = self._step_name(len(self.steps))
        source = self._step_name(len(self.steps) - 1) if self.steps else self.source
        select = " ".join(["SELECT", ", ".join(columns), "FROM", source])
        self.steps.append(self.dialect.common_table.format(name=name, select=select))

    def _step_name(self, number: int) -> str:
        """A name that differs from every part of the table, since a step must not read itself."""
        prefix = "step"
        while any(part.lower().startswith(prefix) for part in self.table):
            prefix += "_"
        return f"{prefix}{number}"

    def _last(self, results: list[str], names: list[str]) -> str:
        dialect = self.dialect
        taken: set[str] = set()
        shown = [
            f"{sql} AS {dialect.identifier(self._distinct(name, taken))}"
            for sql, name in zip([*self.keep, *results], [*self.keys, *names], strict=True)
        ]
        chain = ",\n".join(self.steps)
        last = self._step_name(len(self.steps) - 1)
        return "\n".join([f"WITH {chain}", f"SELECT {', '.join(shown)}", f"FROM {last}"])

    def _distinct(self, name: str, taken: set[str]) -> str:
        """A name for a result that the database allows and that is not taken yet, ignoring case."""
        name = name.replace("\0", "_")
        if self.dialect.substitutes is not None:
            name = name.replace(self.dialect.substitutes, "_".join(self.dialect.substitutes))
        if self.dialect.plain_names:
            name = re.sub(r"\W", "_", name, flags=re.ASCII)
        suffix, number = "", 1
        while True:
            room = self.dialect.longest_name - len(suffix)
            shown = name.encode("utf-8", "replace")[:room].decode("utf-8", "ignore") + suffix
            if shown.lower() not in taken:
                taken.add(shown.lower())
                return shown
            number += 1
            suffix = f"_{number}"


def _union(reads: dict[int, set[int]], waiting: Iterable[tuple[str, Expression, int]]) -> set[int]:
    """The columns that the terms waiting read."""
    return set().union(*(reads[place] for place in {id(term) for _, term, _ in waiting}))


def _sum_of(a: str, b: str) -> str:
    return f"({a} + {b})"
