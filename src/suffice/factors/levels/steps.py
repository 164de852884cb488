"""Columns of numbers in steps: counts per class and fine cell, joined when solving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from suffice.arrays import Array, Codes, Counts
from suffice.export.expressions import Cell, Expression, Missing, Where, as_expression
from suffice.factors.base import SolvedFactor, Totals
from suffice.factors.checks import impossible, refuse_infinities
from suffice.factors.levels.fine_cells import CellCounts, SortedColumn
from suffice.factors.levels.joining import joined
from suffice.factors.levels.readings import Reading, row_reading
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.levels.step_tables import StepTables
from suffice.factors.levels.totals import LevelCounts, no_counts
from suffice.factors.scores import Scores
from suffice.families import Family
from suffice.families.special import LOG_TWO
from suffice.storage import Fields


class _SortedBlock(NamedTuple):
    """A batch of numbers that are sorted into cells already."""

    numbers: Array
    columns: list[SortedColumn]


class StepTotals(Totals):
    """One `CellCounts` for each column."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"

    def __init__(self, family: Family, columns: list[CellCounts]) -> None:
        self.family = family
        self.columns = columns

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        return cls(family, [CellCounts.empty(0) for _ in range(n_columns)])

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def refuse(self, block: Array | _SortedBlock, labels: list[str], classes: Codes) -> None:
        block = block.numbers if isinstance(block, _SortedBlock) else block
        if sparse.issparse(block):
            raise ValueError(f"{labels[0]} is sparse, but Steps counts every cell; pass a dense array.")
        refuse_infinities(block, labels)

    @staticmethod
    def batches(block: Array) -> Callable[[Codes], _SortedBlock]:
        columns = [SortedColumn.of(column, 0) for column in block.T]

        def batch(rows: Codes) -> _SortedBlock:
            several = rows.reshape(len(rows), -1).T
            numbers = block[rows].reshape(len(rows), -1)
            return _SortedBlock(numbers, [column.rows(one) for one in several for column in columns])

        return batch

    def update(self, block: Array | _SortedBlock, classes: Codes, weights: Array | None) -> None:
        for j, column in enumerate(self.columns):
            if isinstance(block, _SortedBlock):
                cells = block.columns[j]
            else:
                cells = SortedColumn.of(block[:, j], column.shift)
            self.columns[j] = column.added(CellCounts.of(cells, classes, weights, len(column.weight)), 1)

    def add(self, other: Self, sign: int) -> None:
        pairs = zip(self.columns, other.columns, strict=True)
        self.columns = [mine.added(theirs, sign) for mine, theirs in pairs]

    def scale(self, factors: Array) -> None:
        by_class = factors[:, np.newaxis]
        self.columns = [replace(column, weight=by_class * column.weight) for column in self.columns]

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, [column.take_classes(index) for column in self.columns])

    def take_columns(self, index: Codes) -> Self:
        n_classes = len(self.columns[0].weight) if self.columns else 0
        nothing, everyone = CellCounts.empty(n_classes), np.arange(n_classes)
        return type(self)(
            self.family, [(self.columns[j] if j >= 0 else nothing).take_classes(everyone) for j in index]
        )

    @classmethod
    def side_by_side(cls, parts: Sequence[Self], /) -> Self:
        return cls(parts[0].family, [column for part in parts for column in part.columns])

    def vanishes(self) -> NDArray[np.bool_]:
        n_classes = len(self.columns[0].weight) if self.columns else 0
        held = [column.support.any(axis=1) | column.weight.any(axis=1) for column in self.columns]
        return np.asarray(~np.any([np.zeros(n_classes, np.bool_), *held], axis=0))

    def matches(self, other: Self, rtol: float) -> bool:
        return self.n_columns == other.n_columns and all(
            mine.matches(theirs, rtol) for mine, theirs in zip(self.columns, other.columns, strict=True)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        named: dict[str, NDArray[Any]] = {}
        for j, column in enumerate(self.columns):
            named |= {
                f"starts.{j}": column.cells,
                f"weight.{j}": column.weight,
                f"support.{j}": column.support,
            }
        return named

    def presence(self) -> Array:
        return np.stack([column.weight.sum(axis=1) for column in self.columns], axis=1)

    def state(self) -> dict[str, Any]:
        return {"columns": [dict(vars(column)) for column in self.columns]}

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        columns = fields.branches("columns", n_columns)
        return cls(family, [CellCounts.from_fields(n_classes, column) for column in columns])

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        for label, column in zip(labels, self.columns, strict=True):
            if impossible(column.weight, column.support, size).any():
                return f"{label} would have a negative row count in some cell"
        return None


def solve_steps(totals: StepTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedSteps:
    """The density of every column."""
    held = [_held(column) for column in totals.columns]
    begun = joined([column.weight for column in held])
    steps = [_steps(totals.family, column, starts) for column, starts in zip(held, begun, strict=True)]
    return SolvedSteps(totals.family, [table for table, _ in steps], [edges for _, edges in steps])


def _held(column: CellCounts) -> CellCounts:
    """The cells with rows."""
    seen = column.support > 0
    if seen.all():
        return column
    weight, held = np.where(seen, column.weight, 0.0), seen.any(axis=0)
    if held.all():
        return replace(column, weight=weight)
    return CellCounts(column.shift, column.cells[held], weight[:, held], column.support[:, held])


def _steps(family: Family, column: CellCounts, starts: Codes) -> tuple[LevelTable, Array]:
    """Log p(step | class) − log width of one column, and the edges of the steps."""
    n_steps, n_classes = len(starts), len(column.weight)
    if n_steps == 0:
        return LevelTable(family, no_counts(n_classes)), np.zeros(0)
    weight, support = (np.add.reduceat(one, starts, axis=1) for one in (column.weight, column.support))
    table = LevelTable(family, LevelCounts(list(range(n_steps)), weight, support))
    low, beyond = column.edges(np.concatenate([starts, starts[1:] - 1, [-1]]))
    high = (low if column.shift == 0 else beyond)[n_steps:]
    between = np.maximum(0.5 * high[:-1] + 0.5 * low[1:n_steps], beyond[n_steps:-1])
    edges = np.concatenate([low[:1], between, high[-1:]])
    table.log_p[:n_steps] -= _log_widths(edges)
    return table, edges


def _log_widths(edges: Array) -> Array:
    """The log width of each step, (steps, 1); all rows at one value are a probability, not a density."""
    halves = 0.5 * edges[1:] - 0.5 * edges[:-1]  # the width itself may overflow
    return np.log(np.where(halves > 0, halves, 0.5))[:, np.newaxis] + LOG_TWO


class SolvedSteps(SolvedLevels):
    """Log p(step | class) − log width, in steps of each column's own."""

    def __init__(self, family: Family, tables: list[LevelTable], edges: list[Array]) -> None:
        super().__init__(family, tables)
        self.edges = edges

    @cached_property
    def step_tables(self) -> StepTables:
        """The tables of all columns, to be read at once."""
        known = np.array([len(edges) > 0 for edges in self.edges])
        return StepTables.of([e[1:-1] for e in self.edges], np.where(known, self.first, -1), self.log_p)

    def add_scores(self, block: Array, labels: list[str], scores: Scores, *, base: bool) -> None:
        if self.order is not None or not self.tables:
            super().add_scores(block, labels, scores, base=base)
            return
        refuse_infinities(block, labels)
        self.step_tables.add_to(block, scores.finite)

    def readings(self, block: Array, labels: list[str]) -> list[Reading]:
        rows = self.rows_of_tables(block, labels)
        return [
            row_reading(one, int(first), len(table.log_p))
            for one, first, table in zip(rows, self.first, self.tables, strict=True)
        ]

    def rows_of_tables(self, block: Array, labels: list[str]) -> list[Codes]:
        refuse_infinities(block, labels)
        rows = []
        for j, edges in enumerate(self.edges):
            values = np.asarray(block[:, j], dtype=np.float64)
            places = np.searchsorted(edges[1:-1], values, side="right")
            missing = len(self.tables[j].levels) + 1
            rows.append(np.where(np.isnan(values) | (len(edges) == 0), missing, places))
        return rows

    def row_expression(self, j: int, column: int, label: str) -> Expression:
        """The step of a cell: half of the edges are left after each comparison."""
        inner, x = self.edges[j][1:-1], Cell(column)

        def found(first: int, last: int) -> Expression:
            if first == last:
                return as_expression(float(first))
            middle = (first + last) // 2
            return Where(x < float(inner[middle]), found(first, middle), found(middle + 1, last))

        return Where(Missing(column), as_expression(len(inner) + 2.0), found(0, len(inner)))

    where_there = SolvedFactor.where_there  # cells are numbers

    def take_columns(self, index: Codes) -> SolvedSteps:
        taken = index.tolist()
        return SolvedSteps(self.family, [self.tables[j] for j in taken], [self.edges[j] for j in taken])

    def log_power_sums(self, powers: Array) -> Array:
        """A density is constant over the width of a step."""
        result = np.zeros((len(powers), len(self.tables), self.log_p.shape[1]))
        for j, (table, edges) in enumerate(zip(self.tables, self.edges, strict=True)):
            if table.levels:
                steps, widths = table.limits[: len(table.levels)], _log_widths(edges)
                result[:, j] = [special.logsumexp(a * steps + widths, axis=0) for a in powers]
        return result

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Uniform within a step."""
        columns: list[NDArray[Any]] = []
        for table, edges in zip(self.tables, self.edges, strict=True):
            if not table.levels:
                columns.append(np.full(len(classes), np.nan))
                continue
            step = table.draw(classes, rng)
            share = rng.random(len(classes))
            columns.append((1.0 - share) * edges[step] + share * edges[step + 1])
        return columns

    def conventional(self) -> list[dict[str, Any]]:
        pairs = zip(self.tables, self.edges, strict=True)
        return [{"edges": edges, "probability": table.probability.T} for table, edges in pairs]
