"""Columns of numbers in bins on a dyadic grid: counts per class and bin.

A bin is floor(x / 2ᵉ). Doubling the width merges neighbours exactly, so e is kept as fine as at most
`CELLS` cells over the data allow, for any batches, and solving makes it coarser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, Counts
from suffice.export.expressions import Cell, Expression, Missing, Where, as_expression, floor, scaled
from suffice.factors.base import SolvedFactor, Totals
from suffice.factors.checks import refuse_errors, refuse_infinities
from suffice.factors.levels.readings import Reading, row_reading
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.levels.totals import LevelCounts, chosen, no_counts, vanishing
from suffice.families import Family, Histogram
from suffice.families.special import LOG_TWO
from suffice.kernels import cells as kernels
from suffice.storage import Fields

CELLS = 4096
"""The most fine cells that a column's data may span."""
MANTISSA_BITS = 53
FINEST = -1100
"""The exponent of a column without rows."""


@dataclass
class BinCounts:
    """Counts by bin number, in bins of width 2^exponent."""

    exponent: int
    counts: LevelCounts

    def coarsened(self, exponent: int, most: int) -> BinCounts:
        """In bins of width 2^exponent or wider, at most `most` of them from first to last."""
        bins = np.array(self.counts.levels, dtype=np.int64)
        wide = max(exponent, self.exponent)
        if len(bins) == 0:
            return BinCounts(wide, no_counts(len(self.counts.weight)))
        while np.ptp(_merged(bins, wide - self.exponent)) >= most:
            wide += 1
        levels, codes = np.unique(_merged(bins, wide - self.exponent), return_inverse=True)
        # Bins are not sorted, so neighbours are brought together before they are summed.
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        weight = np.add.reduceat(self.counts.weight[:, order], starts, axis=1)
        support = np.add.reduceat(self.counts.support[:, order], starts, axis=1)
        return BinCounts(wide, LevelCounts(levels.tolist(), weight, support))

    def state(self) -> dict[str, Any]:
        """The counts, as they are saved."""
        bins = np.array(self.counts.levels, dtype=np.int64)
        counts = self.counts
        return {"exponent": self.exponent, "bins": bins, "weight": counts.weight, "support": counts.support}

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from a saved state."""
        exponent = fields.integer("exponent", FINEST, 1024)
        bins = fields.array("bins", np.int64, (None,))
        levels = fields.distinct("bins", bins.tolist())
        with np.errstate(over="ignore"):
            edges = np.ldexp(np.abs(bins.astype(np.float64)) + CELLS, exponent)
        if levels and (max(levels) - min(levels) >= CELLS or not np.isfinite(edges).all()):
            raise fields.error("bins", "lie too far apart, or outside the range of floating-point numbers.")
        weight = fields.array("weight", np.float64, (n_classes, len(bins)))
        support = fields.array("support", np.int64, weight.shape)
        return cls(exponent, LevelCounts(levels, weight, support))

    def take_classes(self, index: Codes) -> BinCounts:
        """A copy with these classes."""
        return BinCounts(self.exponent, self.counts.take_classes(index))


def _merged(bins: NDArray[np.int64], doublings: int) -> NDArray[np.int64]:
    """Bin numbers after the width has doubled this many times."""
    return bins >> min(doublings, 63)


def _bins_of(values: Array, exponent: int) -> NDArray[np.int64]:
    """The bin number of each value."""
    return np.floor(np.ldexp(values, -exponent)).astype(np.int64)


class HistogramTotals(Totals):
    """One `BinCounts` for each column."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"

    def __init__(self, family: Family, columns: list[BinCounts]) -> None:
        self.family = family
        self.columns = columns

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        return cls(family, [BinCounts(FINEST, no_counts(0)) for _ in range(n_columns)])

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def refuse(self, block: Array, labels: list[str], classes: Codes) -> None:
        if sparse.issparse(block):
            raise ValueError(f"{labels[0]} is sparse, but Histogram bins every cell; pass a dense array.")
        refuse_infinities(block, labels)

    def update(self, block: Array, classes: Codes, weights: Array | None) -> None:
        for j, column in enumerate(self.columns):
            values = np.asarray(block[:, j], dtype=np.float64)
            seen = ~np.isnan(values)
            if not seen.any():
                continue
            present = values[seen]
            finest = int(np.frexp(np.abs(present).max())[1]) - MANTISSA_BITS
            wide = column.coarsened(finest, CELLS)
            fresh = BinCounts(wide.exponent, no_counts(wide.counts.weight.shape[0]))
            levels, codes = np.unique(_bins_of(present, wide.exponent), return_inverse=True)
            fresh.counts.codes_of(levels.tolist(), grow=True)
            kernels.level_counts(codes, classes[seen], None, fresh.counts.support)
            kernels.level_counts(
                codes, classes[seen], None if weights is None else weights[seen], fresh.counts.weight
            )
            self.columns[j] = _sum(wide, fresh, 1)

    def add(self, other: Self, sign: int) -> None:
        pairs = zip(self.columns, other.columns, strict=True)
        self.columns = [_sum(mine, theirs, sign) for mine, theirs in pairs]

    def scale(self, factors: Array) -> None:
        for column in self.columns:
            column.counts.weight *= factors[:, np.newaxis]

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, [column.take_classes(index) for column in self.columns])

    def take_columns(self, index: Codes) -> Self:
        n_classes = self.columns[0].counts.weight.shape[0] if self.columns else 0
        everyone = np.arange(n_classes)
        nothing = BinCounts(FINEST, no_counts(n_classes))
        return type(self)(
            self.family, [(self.columns[j] if j >= 0 else nothing).take_classes(everyone) for j in index]
        )

    def vanishes(self) -> NDArray[np.bool_]:
        return vanishing([column.counts for column in self.columns])

    def matches(self, other: Self, rtol: float) -> bool:
        if self.n_columns != other.n_columns:
            return False
        return all(
            mine.coarsened(theirs.exponent, CELLS).counts.matches(
                theirs.coarsened(mine.exponent, CELLS).counts, rtol
            )
            for mine, theirs in zip(self.columns, other.columns, strict=True)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        named: dict[str, NDArray[Any]] = {}
        for j, column in enumerate(self.columns):
            named[f"weight.{j}"] = column.counts.weight
            named[f"support.{j}"] = column.counts.support
        return named

    def presence(self) -> Array:
        return np.stack([column.counts.weight.sum(axis=1) for column in self.columns], axis=1)

    def state(self) -> dict[str, Any]:
        return {"columns": [column.state() for column in self.columns]}

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        columns = fields.branches("columns", n_columns)
        return cls(family, [BinCounts.from_fields(n_classes, column) for column in columns])

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        for label, column in zip(labels, self.columns, strict=True):
            if column.counts.problem(size):
                return f"{label} would have a negative row count in some bin"
        return None


def _sum(a: BinCounts, b: BinCounts, sign: int) -> BinCounts:
    """Counts added at the width that holds both."""
    right = b.coarsened(a.exponent, CELLS)
    left = a.coarsened(right.exponent, CELLS)
    left.counts.add(right.coarsened(left.exponent, CELLS).counts, sign)
    return left.coarsened(left.exponent, CELLS)


def solve_histogram(totals: HistogramTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedHistogram:
    """The density of every column."""
    family = totals.family
    most = family.bins if isinstance(family, Histogram) else CELLS
    bins = [column.coarsened(FINEST, most) for column in totals.columns]
    tables = [_density(family, column) for column in bins]
    return SolvedHistogram(family, tables, [column.exponent for column in bins])


def _density(family: Family, column: BinCounts) -> LevelTable:
    """Log p(bin | class) − log width of one column."""
    table = LevelTable(family, _without_holes(column.counts), keep_empty=True)
    # One bin for all rows: the column is constant and contributes nothing.
    n_bins = len(table.levels)
    table.log_p[:n_bins] -= column.exponent * LOG_TWO if n_bins > 1 else table.log_p[:n_bins]
    return table


class SolvedHistogram(SolvedLevels):
    """Log p(bin | class) − log width, in at most `bins` bins of one width per column."""

    def __init__(self, family: Family, tables: list[LevelTable], exponents: list[int]) -> None:
        super().__init__(family, tables)
        self.exponents = exponents

    def readings(self, block: Array, labels: list[str]) -> list[Reading]:
        return [
            row_reading(rows, int(first), len(table.log_p))
            for rows, first, table in zip(
                self.rows_of_tables(block, labels), self.first, self.tables, strict=True
            )
        ]

    def rows_of_tables(self, block: Array, labels: list[str]) -> list[Codes]:
        refuse_infinities(block, labels)
        rows = []
        for j, (table, exponent) in enumerate(zip(self.tables, self.exponents, strict=True)):
            values = np.asarray(block[:, j], dtype=np.float64)
            n_bins = len(table.levels)
            if n_bins == 0:
                rows.append(np.where(np.isnan(values), 1, 0))
                continue
            missing = np.isnan(values)
            # Kept in floats: a value far outside has no 64-bit bin number.
            with np.errstate(over="ignore"):
                places = np.floor(np.ldexp(np.where(missing, 0.0, values), -exponent)) - table.levels[0]
            outside = ~missing & ~((places >= 0) & (places < n_bins))
            if outside.any() and self.family.unseen == "error":
                row = int(np.argmax(outside))
                raise ValueError(
                    f"{labels[j]}: the value {values[row]} (row {row}) lies outside the range seen in "
                    "training; unseen='ignore' would treat it as missing, unseen='smooth' as rare."
                )
            places = np.where(outside, n_bins, np.where(missing, n_bins + 1, places))
            rows.append(places.astype(np.intp))
        return rows

    def row_expression(self, j: int, column: int, label: str) -> Expression:
        """The bin of a cell, computed only inside the range: far outside, x/2ᵉ may overflow."""
        refuse_errors(self.family, label)
        bins = self.tables[j].levels
        outside, missing = as_expression(float(len(bins))), as_expression(len(bins) + 1.0)
        place = floor(scaled(Cell(column), self.exponents[j])) - float(bins[0])
        return Where(Missing(column), missing, Where(self._in_range(j, column), place, outside))

    def _in_range(self, j: int, column: int) -> Expression:
        """Whether a cell lies in a bin."""
        bins, x = self.tables[j].levels, Cell(column)
        low, high = np.ldexp(np.array([bins[0], bins[-1] + 1.0]), self.exponents[j])
        return (x >= float(low)) & (x < float(high))

    def counted(self, j: int, column: int, label: str) -> Expression:
        ignores = self.tables[j].levels and self.family.unseen == "ignore"
        return self._in_range(j, column) if ignores else super().counted(j, column, label)

    where_there = SolvedFactor.where_there  # cells are numbers

    def take_columns(self, index: Codes) -> SolvedHistogram:
        taken = index.tolist()
        return SolvedHistogram(
            self.family, [self.tables[j] for j in taken], [self.exponents[j] for j in taken]
        )

    def log_power_sums(self, powers: Array) -> Array:
        """A density is constant over the width of a bin."""
        widths = [e * LOG_TWO * (len(t.levels) > 1) for t, e in zip(self.tables, self.exponents, strict=True)]
        return np.asarray(super().log_power_sums(powers) + np.array(widths)[:, np.newaxis])

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Uniform within a bin."""
        columns: list[NDArray[Any]] = []
        for table, exponent in zip(self.tables, self.exponents, strict=True):
            if not table.levels:
                columns.append(np.full(len(classes), np.nan))
                continue
            bins = table.draw(classes, rng) + table.levels[0]
            within = rng.random(len(classes)) if len(table.levels) > 1 else 0.0
            columns.append(np.ldexp(bins + within, exponent))
        return columns

    def conventional(self) -> list[dict[str, Any]]:
        return [
            {
                "edges": np.ldexp(np.array([*t.levels, t.levels[-1] + 1], dtype=np.float64), e)
                if t.levels
                else np.empty(0),
                "probability": t.probability.T,
            }
            for t, e in zip(self.tables, self.exponents, strict=True)
        ]


def _without_holes(counts: LevelCounts) -> LevelCounts:
    """Every bin from the first with rows to the last, empty ones too."""
    held = chosen(counts.levels, counts.support.any(axis=0))
    full = no_counts(counts.weight.shape[0])
    if held:
        full.codes_of(list(range(min(held), max(held) + 1)), grow=True)
        codes = full.codes_of(counts.levels, grow=False)
        full.weight[:, codes] += counts.weight
        full.support[:, codes] += counts.support
    return full
