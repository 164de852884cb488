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
from suffice.factors.blocks import FoldedCells
from suffice.factors.checks import impossible as impossible_counts
from suffice.factors.checks import refuse_infinities
from suffice.factors.levels.fine_cells import CellCounts, SortedColumn, edges_of
from suffice.factors.levels.joining import joined
from suffice.factors.levels.readings import Reading, row_reading
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.levels.step_tables import StepTables
from suffice.factors.levels.totals import no_counts
from suffice.factors.scores import IMPOSSIBLE, Scores
from suffice.families import Family
from suffice.families.special import LOG_TWO
from suffice.storage import Fields


class _SortedBlock(NamedTuple):
    """A batch of numbers that are sorted into cells already."""

    numbers: Array | FoldedCells
    columns: list[SortedColumn]
    """Of numbers that are folded, once for all folds."""


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
        cells = block.numbers if isinstance(block, _SortedBlock) else block
        block = cells.numbers if isinstance(cells, FoldedCells) else cells
        if sparse.issparse(block):
            raise ValueError(f"{labels[0]} is sparse, but Steps counts every cell; pass a dense array.")
        refuse_infinities(block, labels)

    @classmethod
    def batches(cls, block: Array) -> Callable[[Codes], _SortedBlock]:
        columns = [SortedColumn.of(column, 0) for column in block.T]

        def batch(rows: Codes) -> _SortedBlock:
            numbers = FoldedCells.of(block, rows)
            if isinstance(numbers, FoldedCells):
                return _SortedBlock(numbers, columns)
            several = rows.reshape(len(rows), -1).T
            return _SortedBlock(numbers, [column.rows(one) for one in several for column in columns])

        return batch

    def update(self, block: Array | _SortedBlock, classes: Codes, weights: Array | None) -> None:
        n_classes = len(self.columns[0].weight) if self.columns else 0
        if not isinstance(block, _SortedBlock):
            columns = [SortedColumn.of(block[:, j], column.shift) for j, column in enumerate(self.columns)]
            block = _SortedBlock(block, columns)
        if isinstance(block.numbers, FoldedCells):
            folds = block.numbers.rows
            of_folds = [
                CellCounts.without_folds(one, folds, classes, weights, n_classes) for one in block.columns
            ]
            counts = [column[fold] for fold in range(folds.n_folds) for column in of_folds]
        else:
            counts = [CellCounts.of(one, classes, weights, n_classes) for one in block.columns]
        self.columns = [mine.added(more, 1) for mine, more in zip(self.columns, counts, strict=True)]

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
        nothing = CellCounts.empty(n_classes)
        return type(self)(self.family, [self.columns[j] if j >= 0 else nothing for j in index.tolist()])

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
            if impossible_counts(column.weight, column.support, size).any():
                return f"{label} would have a row count or weight in some step that no rows could give"
        return None


def solve_steps(totals: StepTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedSteps:
    """The density of every column."""
    if not totals.columns:
        return SolvedSteps(totals.family, [], [])
    cells = _Cells.of(totals.columns)
    return SolvedSteps(totals.family, *_tables(totals.family, cells, joined(cells.weight, cells.sizes)))


class _Cells(NamedTuple):
    """The cells with rows of all columns, one column after the other."""

    sizes: Codes
    """The number of cells of each column."""
    shift: NDArray[np.int64]
    """That of each column."""
    cells: NDArray[np.int64]
    weight: Array
    """(classes, cells)."""

    @classmethod
    def of(cls, columns: Sequence[CellCounts]) -> _Cells:
        sizes = np.array([len(column.cells) for column in columns], dtype=np.intp)
        shift = np.array([column.shift for column in columns], dtype=np.int64)
        cells = np.concatenate([column.cells for column in columns])
        weight = np.concatenate([column.weight for column in columns], axis=1)
        seen = np.concatenate([column.support for column in columns], axis=1) > 0
        if not seen.all():
            weight, is_held = np.where(seen, weight, 0.0), seen.any(axis=0)
            if not is_held.all():
                held = np.flatnonzero(is_held)
                sizes = np.diff(np.searchsorted(held, np.cumsum(sizes)), prepend=0)
                cells, weight = cells[held], weight.take(held, axis=1)
        return cls(sizes, shift, cells, weight)


def _tables(family: Family, cells: _Cells, begins: NDArray[np.bool_]) -> tuple[list[LevelTable], list[Array]]:
    """Log p(step | class) − log width of the steps of each column, and their edges, all columns at once."""
    n_classes, starts = len(cells.weight), np.flatnonzero(begins)
    n_steps = np.diff(np.searchsorted(starts, np.cumsum(cells.sizes)), prepend=0)
    if not len(starts):
        return [_no_table(family, n_classes) for _ in n_steps], [np.zeros(0) for _ in n_steps]
    weight = np.add.reduceat(cells.weight, starts, axis=1).T
    ends = np.cumsum(n_steps)
    first = (ends - n_steps)[n_steps > 0]
    of_step = np.repeat(np.arange(len(first)), np.diff([*first, len(starts)]))
    per_class = np.add.reduceat(weight, first, axis=0)[of_step]
    total = per_class.sum(axis=1, keepdims=True)
    mean = np.divide(weight, per_class, out=np.zeros_like(weight), where=per_class > 0)
    probability = family.smooth(
        mean, per_class, weight.sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0)
    )
    impossible = probability <= 0
    log_p = np.log(np.where(impossible, 1.0, probability))
    if impossible.any():
        with np.errstate(divide="ignore"):
            log_p = np.where(impossible, -np.log(per_class), log_p)
    low, high = _sides(cells, n_steps, starts)
    log_p -= _log_widths(low, high)
    tables, edges = [], []
    for end, n in zip(ends.tolist(), n_steps.tolist(), strict=True):
        part = slice(end - n, end)
        edges.append(np.concatenate([low[part], high[part][-1:]]))
        tables.append(
            StepTable(weight[part].T, probability[part], log_p[part], impossible[part])
            if n
            else _no_table(family, n_classes)
        )
    return tables, edges


def _no_table(family: Family, n_classes: int) -> LevelTable:
    """The table of a column without rows."""
    return LevelTable(family, no_counts(n_classes))


def _sides(columns: _Cells, n_steps: Codes, starts: Codes) -> tuple[Array, Array]:
    """The lower and the upper edge of each step: half way between neighbours, or beyond the lower one."""
    shift, cells = np.repeat(columns.shift, n_steps), columns.cells
    ends = np.append(starts[1:], len(cells)) - 1
    low, _ = edges_of(cells[starts], shift)
    last, beyond = edges_of(cells[ends], shift)
    high = np.where(shift == 0, last, beyond)
    opens = np.zeros(len(starts), dtype=np.bool_)  # a column
    opens[(np.cumsum(n_steps) - n_steps)[n_steps > 0]] = True
    between = np.where(opens[1:], 0.0, np.maximum(0.5 * high[:-1] + 0.5 * low[1:], beyond[:-1]))
    high[:-1], low[1:] = np.where(opens[1:], high[:-1], between), np.where(opens[1:], low[1:], between)
    return low, high


def _log_widths(low: Array, high: Array) -> Array:
    """The log width of each step, (steps, 1); all rows at one value are a probability, not a density."""
    halves = 0.5 * high - 0.5 * low  # the width itself may overflow
    return np.log(np.where(halves > 0, halves, 0.5))[:, np.newaxis] + LOG_TWO


class StepTable(LevelTable):
    """Log p(step | class) − log width of one column; every number is in a step."""

    def __init__(
        self, weight: Array, probability: Array, log_p: Array, impossible: NDArray[np.bool_]
    ) -> None:
        n_classes = len(weight)
        self.levels = [*range(len(log_p))]
        self.weight, self.probability = weight, probability
        self.groups, self.n_unnamed, self.n_unseen = None, 0, 0
        self.log_p = np.concatenate([log_p, np.zeros((2, n_classes))])
        self.order = None
        if impossible.any():
            self.order = np.concatenate([np.where(impossible, IMPOSSIBLE, 0.0), np.zeros((2, n_classes))])


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
                steps, widths = table.limits[: len(table.levels)], _log_widths(edges[:-1], edges[1:])
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
