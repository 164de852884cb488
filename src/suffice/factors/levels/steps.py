"""Columns of numbers in steps: counts per class and fine cell, joined when solving.

A cell is a run of floating-point numbers, those that agree in all but the last `shift` bits. The order of
their bits is the order of the numbers, so cells are narrow near 0 and wide far out, and widening by a bit
joins pairs exactly. The shift is as small as at most `CELLS` cells with rows allow, for any batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from suffice.arrays import Array, Codes, Counts
from suffice.export.expressions import Cell, Expression, Missing, Where, as_expression
from suffice.factors.base import SolvedFactor, Totals, gather
from suffice.factors.checks import impossible, refuse_infinities, within
from suffice.factors.levels.joining import joined
from suffice.factors.levels.readings import Reading, row_reading
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.levels.totals import LevelCounts, no_counts
from suffice.families import Family
from suffice.kernels import cells as kernels
from suffice.storage import Fields

CELLS = 4096
"""The most cells with rows of a column."""
BITS = 63


@dataclass
class CellCounts:
    """Weights and row counts (classes, cells) of one column; the cells are in order."""

    shift: int
    cells: NDArray[np.int64]
    weight: Array
    support: Counts

    @classmethod
    def empty(cls, n_classes: int) -> CellCounts:
        """No cells yet."""
        return cls(0, np.zeros(0, np.int64), np.zeros((n_classes, 0)), np.zeros((n_classes, 0), np.int64))

    @classmethod
    def of(cls, values: Array, classes: Codes, weights: Array | None, n_classes: int, shift: int) -> Self:
        """The counts of some numbers, in cells of this shift or wider."""
        numbers = _in_order(values) >> shift
        cells, codes = np.unique(numbers, return_inverse=True)
        wider = _least_shift(cells)
        if wider:
            cells, merged = np.unique(cells >> wider, return_inverse=True)
            codes = merged[codes]
        support = np.zeros((n_classes, len(cells)), np.int64)
        kernels.level_counts(codes, classes, None, support)
        weight = support.astype(np.float64)
        if weights is not None:
            weight = np.zeros(support.shape)
            kernels.level_counts(codes, classes, weights, weight)
        return cls(shift + wider, cells, weight, support)

    def widened(self, shift: int) -> CellCounts:
        """In cells of this shift, or of as many more bits as `CELLS` asks for."""
        cells = self.cells >> min(max(shift - self.shift, 0), BITS)
        shift = max(shift, self.shift)
        more = _least_shift(cells)
        if shift + more == self.shift or not len(cells):
            return replace(self, shift=shift)
        cells, starts = np.unique(cells >> more, return_index=True)
        weight, support = (np.add.reduceat(one, starts, axis=1) for one in (self.weight, self.support))
        return CellCounts(shift + more, cells, weight, support)

    def added(self, other: CellCounts, sign: int) -> CellCounts:
        """The sum (or difference) of counts over the same classes."""
        shift = max(self.shift, other.shift)
        mine, theirs = self.widened(shift), other.widened(shift)
        cells = np.union1d(mine.cells, theirs.cells)
        weight, support = (
            np.zeros((len(self.weight), len(cells))),
            np.zeros((len(self.weight), len(cells)), int),
        )
        for counts, times in ((mine, 1), (theirs, sign)):
            at = np.searchsorted(cells, counts.cells)
            weight[:, at] += times * counts.weight
            support[:, at] += times * counts.support
        held = support.any(axis=0) | weight.any(axis=0)
        summed = CellCounts(shift, cells[held], weight[:, held], support[:, held])
        return summed.widened(shift)

    def take_classes(self, index: Codes) -> CellCounts:
        """A copy with these classes."""
        by_class = (gather(one, index, 0) for one in (self.weight, self.support))
        return CellCounts(self.shift, self.cells.copy(), *by_class)

    def matches(self, other: CellCounts, rtol: float) -> bool:
        """Whether the counts agree, in cells that hold both."""
        mine, theirs = self.widened(other.shift), other.widened(self.shift)
        size = np.abs(theirs.weight).max(initial=0.0)
        return (
            np.array_equal(mine.cells, theirs.cells)
            and np.array_equal(mine.support, theirs.support)
            and within(mine.weight, theirs.weight, rtol, size)
        )

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from a saved state."""
        shift, cells = fields.integer("shift", 0, BITS), fields.array("cells", np.int64, (None,))
        outside = (cells < LEAST >> shift) | (cells > MOST >> shift)
        if len(cells) > CELLS or (cells[1:] <= cells[:-1]).any() or outside.any():
            raise fields.error("cells", f"must be at most {CELLS} cells of numbers, in order.")
        weight = fields.array("weight", np.float64, (n_classes, len(cells)))
        return cls(shift, cells, weight, fields.array("support", np.int64, weight.shape))

    def edges(self) -> tuple[Array, Array]:
        """The least number of each cell, and the least number beyond it."""
        beyond = np.where(self.cells < MOST >> self.shift, (self.cells + 1) << self.shift, MOST)
        return _numbers(self.cells << self.shift), _numbers(beyond)


def _in_order(values: Array) -> NDArray[np.int64]:
    """Whole numbers in the order of floating-point numbers; next neighbours differ by 1."""
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-1) - (bits & np.int64(2**63 - 1)), bits)


def _numbers(in_order: NDArray[np.int64]) -> Array:
    """The floating-point numbers of `_in_order`; beyond the largest, the largest."""
    inside = np.clip(in_order, LEAST, MOST)
    bits = np.where(inside < 0, (np.int64(-1) - inside) | np.int64(-(2**63)), inside)
    return bits.view(np.float64)


LEAST, MOST = _in_order(np.array([-1.0, 1.0]) * np.finfo(np.float64).max)


def _least_shift(cells: NDArray[np.int64]) -> int:
    """By how many bits cells in order must widen so that at most `CELLS` of them are different."""
    if len(cells) <= CELLS:
        return 0
    # Two neighbours fall together once the highest bit in which they differ is gone.
    apart = (cells[1:] ^ cells[:-1]).view(np.uint64)
    bits = np.sort(np.frexp(apart.astype(np.float64))[1])
    shift = max(int(bits[-CELLS]) - 1, 0)  # rounding may have added a bit
    while np.count_nonzero(np.diff(cells >> min(shift, BITS))) >= CELLS:
        shift += 1
    return shift


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

    def refuse(self, block: Array, labels: list[str], classes: Codes) -> None:
        if sparse.issparse(block):
            raise ValueError(f"{labels[0]} is sparse, but Steps counts every cell; pass a dense array.")
        refuse_infinities(block, labels)

    def update(self, block: Array, classes: Codes, weights: Array | None) -> None:
        for j, column in enumerate(self.columns):
            values = np.asarray(block[:, j], dtype=np.float64)
            seen = ~np.isnan(values)
            own = None if weights is None else weights[seen]
            fresh = CellCounts.of(values[seen], classes[seen], own, len(column.weight), column.shift)
            self.columns[j] = column.added(fresh, 1)

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
    held = column.support.any(axis=0)
    weight = np.where(column.support > 0, column.weight, 0.0)
    return CellCounts(column.shift, column.cells[held], weight[:, held], column.support[:, held])


def _steps(family: Family, column: CellCounts, starts: Codes) -> tuple[LevelTable, Array]:
    """Log p(step | class) − log width of one column, and the edges of the steps."""
    n_steps, n_classes = len(starts), len(column.weight)
    if n_steps == 0:
        return LevelTable(family, no_counts(n_classes)), np.zeros(0)
    weight, support = (np.add.reduceat(one, starts, axis=1) for one in (column.weight, column.support))
    table = LevelTable(family, LevelCounts(list(range(n_steps)), weight, support))
    low, beyond = column.edges()
    high = low if column.shift == 0 else beyond
    between = np.maximum(0.5 * high[starts[1:] - 1] + 0.5 * low[starts[1:]], beyond[starts[1:] - 1])
    edges = np.concatenate([low[:1], between, high[-1:]])
    table.log_p[:n_steps] -= _log_widths(edges)
    return table, edges


def _log_widths(edges: Array) -> Array:
    """The log width of each step, (steps, 1); all rows at one value are a probability, not a density."""
    widths = np.diff(edges)
    return np.log(np.where(widths > 0, widths, 1.0))[:, np.newaxis]


class SolvedSteps(SolvedLevels):
    """Log p(step | class) − log width, in steps of each column's own."""

    def __init__(self, family: Family, tables: list[LevelTable], edges: list[Array]) -> None:
        super().__init__(family, tables)
        self.edges = edges

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

    def take_columns(self, index: Codes) -> SolvedFactor:
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
            columns.append(edges[step] + rng.random(len(classes)) * np.diff(edges)[step])
        return columns

    def conventional(self) -> list[dict[str, Any]]:
        pairs = zip(self.tables, self.edges, strict=True)
        return [{"edges": edges, "probability": table.probability.T} for table, edges in pairs]
