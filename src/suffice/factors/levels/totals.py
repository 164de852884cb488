"""Columns of categories: counts per class and level, over levels that grow with the data."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array, Codes, Counts
from suffice.export.expressions import Expression, Gaps, LevelNumber, Lookup, Score, total_score
from suffice.factors.base import Separation, SolvedFactor, Totals, divergences, gather
from suffice.factors.blocks import as_numbers
from suffice.factors.checks import impossible, refuse_errors, refuse_infinities, within
from suffice.factors.levels.cells import Counted, LevelBlock, LevelBlocks, counted
from suffice.factors.levels.scores import NumberReader, Reading, add_readings, encoded_reading
from suffice.factors.scores import IMPOSSIBLE, Scores, unseen_log_shares
from suffice.families import Family
from suffice.storage import Fields, Scalars


class LevelCounts:
    """Counts (classes, levels) of one column, with integer row support beside them."""

    def __init__(self, levels: list[Any], weight: Array, support: Counts) -> None:
        self.levels = levels
        self.weight = weight
        self.support = support
        self.index = {level: i for i, level in enumerate(levels)}

    def codes_of(self, values: list[Any], *, grow: bool) -> Codes:
        """The level number of each value; new values become levels, or −2 without `grow`."""
        if grow:
            fresh = [value for value in values if value not in self.index]
            if fresh:
                for value in fresh:
                    self.index[value] = len(self.index)
                self.levels = list(self.index)
                room = ((0, 0), (0, len(fresh)))
                self.weight = np.pad(self.weight, room)
                self.support = np.pad(self.support, room)
        return np.array([self.index.get(value, -2) for value in values], dtype=np.intp)

    def count(self, batch: Counted) -> None:
        """Add the counts of a batch over the same classes."""
        codes = self.codes_of(batch.values, grow=True)
        self.weight[:, codes] += batch.weight
        self.support[:, codes] += batch.support

    def state(self) -> dict[str, Any]:
        """The counts, as a file holds them."""
        return {"levels": Scalars(self.levels), "weight": self.weight, "support": self.support}

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from their state."""
        levels = fields.distinct("levels", fields.scalars("levels"))
        shape = (n_classes, len(levels))
        return cls(
            levels, fields.array("weight", np.float64, shape), fields.array("support", np.int64, shape)
        )

    def take_classes(self, index: Codes) -> LevelCounts:
        """A copy with these classes."""
        return LevelCounts(list(self.levels), gather(self.weight, index, 0), gather(self.support, index, 0))

    def add(self, other: LevelCounts, sign: int) -> None:
        """Add (or subtract) counts over the same classes, level by level."""
        codes = self.codes_of(other.levels, grow=True)
        self.weight[:, codes] += sign * other.weight
        self.support[:, codes] += sign * other.support
        gone = ~(self.support.any(axis=0) | self.weight.any(axis=0))
        if gone.any():
            self.levels = chosen(self.levels, ~gone)
            self.index = {level: i for i, level in enumerate(self.levels)}
            self.weight, self.support = self.weight[:, ~gone], self.support[:, ~gone]

    def problem(self, size: float) -> list[Any]:
        """The levels whose counts no data of this total weight could give."""
        bad = impossible(self.weight, self.support, size)
        return chosen(self.levels, bad.any(axis=0))

    def matches(self, other: LevelCounts, rtol: float) -> bool:
        """Whether the counts agree, whatever the order of the levels."""
        mine, theirs = self.take_classes(np.arange(len(self.weight))), other
        codes = mine.codes_of(theirs.levels, grow=True)
        weight, support = np.zeros_like(mine.weight), np.zeros_like(mine.support)
        weight[:, codes], support[:, codes] = theirs.weight, theirs.support
        size = np.abs(weight).max(initial=0.0)
        return np.array_equal(mine.support, support) and within(mine.weight, weight, rtol, size)


class LevelTotals(Totals):
    """One `LevelCounts` for each column."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "levels"

    def __init__(self, family: Family, columns: list[LevelCounts]) -> None:
        self.family = family
        self.columns = columns

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        return cls(family, [no_counts(0) for _ in range(n_columns)])

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def refuse(self, block: LevelBlocks, labels: list[str], classes: Codes) -> None:
        """Every level is welcome but infinity, which is no category."""
        refuse_infinity(block, labels)

    def update(self, block: LevelBlocks, classes: Codes, weights: Array | None) -> None:
        n_classes = len(self.columns[0].weight) if self.columns else 0
        for column, batch in zip(self.columns, counted(block, classes, n_classes, weights), strict=True):
            column.count(batch)

    def add(self, other: Self, sign: int) -> None:
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.add(theirs, sign)

    def scale(self, factor: float) -> None:
        for column in self.columns:
            column.weight *= factor

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, [column.take_classes(index) for column in self.columns])

    def take_columns(self, index: Codes) -> Self:
        n_classes = self.columns[0].weight.shape[0] if self.columns else 0
        everyone = np.arange(n_classes)
        columns = [self.columns[j].take_classes(everyone) if j >= 0 else no_counts(n_classes) for j in index]
        return type(self)(self.family, columns)

    def vanishes(self) -> NDArray[np.bool_]:
        return vanishing(self.columns)

    def matches(self, other: Self, rtol: float) -> bool:
        pairs = zip(self.columns, other.columns, strict=True)
        return self.n_columns == other.n_columns and all(a.matches(b, rtol) for a, b in pairs)

    def arrays(self) -> dict[str, NDArray[Any]]:
        named: dict[str, NDArray[Any]] = {}
        for j, column in enumerate(self.columns):
            named[f"weight.{j}"] = column.weight
            named[f"support.{j}"] = column.support
        return named

    def presence(self) -> Array:
        return np.stack([column.weight.sum(axis=1) for column in self.columns], axis=1)

    def state(self) -> dict[str, Any]:
        return {"columns": [column.state() for column in self.columns]}

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        columns = fields.branches("columns", n_columns)
        return cls(family, [LevelCounts.from_fields(n_classes, column) for column in columns])

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        for label, column in zip(labels, self.columns, strict=True):
            if (column.support.sum(axis=1) > rows).any():
                return f"{label} would have more rows than the class"
            bad = column.problem(size)
            if bad:
                return f"{label} would have fewer rows than none at {bad[0]!r} in some class"
        return None


def refuse_infinity(block: LevelBlocks, labels: list[str]) -> None:
    """Raise where a cell is infinite."""
    if block.matrix is not None:
        refuse_infinities(block.matrix, labels)
        return
    for j, label in enumerate(labels):
        bad = [value for value in block[j].values if isinstance(value, float) and np.isinf(value)]
        if bad:
            raise ValueError(f"{label} holds the infinity {bad[0]}; replace it by NaN, which is missing.")


def vanishing(columns: list[LevelCounts]) -> NDArray[np.bool_]:
    """For each class, whether it has no counts in any column."""
    n_classes = columns[0].weight.shape[0]
    gone = np.ones(n_classes, dtype=np.bool_)
    for column in columns:
        gone &= ~(column.support.any(axis=1) | column.weight.any(axis=1))
    return gone


def chosen(levels: list[Any], mask: NDArray[np.bool_] | np.bool_) -> list[Any]:
    """The levels that a mask picks."""
    return [levels[i] for i in np.flatnonzero(mask)]


def no_counts(n_classes: int) -> LevelCounts:
    """No levels yet."""
    return LevelCounts([], np.zeros((n_classes, 0)), np.zeros((n_classes, 0), dtype=np.int64))


class LevelTable:
    """Log p(level | class) of one column, with a row for what was never seen and one for missing."""

    def __init__(self, family: Family, counts: LevelCounts, *, keep_empty: bool = False) -> None:
        present = counts.support.any(axis=0) | keep_empty
        kept = chosen(counts.levels, present)
        order = sorted(range(len(kept)), key=lambda i: _sort_key(kept[i]))
        self.levels = [kept[i] for i in order]
        self.index = {level: i for i, level in enumerate(self.levels)}
        weight = np.where(counts.support > 0, counts.weight, 0.0)[:, present][:, order]
        self.weight = weight
        per_class = weight.sum(axis=1)
        mean = np.divide(weight.T, per_class, out=np.zeros_like(weight.T), where=per_class > 0)
        self.probability = family.smooth(mean, per_class, mean)
        n_levels = len(self.levels)
        zero = self.probability <= 0
        with np.errstate(divide="ignore"):
            log_p = np.where(zero, -np.log(per_class), np.log(np.where(zero, 1.0, self.probability)))
        log_unseen = np.zeros(len(per_class))
        unseen_order = np.zeros(len(per_class))
        if family.unseen == "smooth":
            log_unseen, log_rest = unseen_log_shares(per_class, family.alpha, n_levels)
            log_p = log_p + log_rest
            if family.alpha == 0:
                log_unseen, unseen_order = np.zeros_like(log_unseen), np.full_like(log_unseen, IMPOSSIBLE)
        self.log_p = np.vstack([log_p, log_unseen, np.zeros_like(log_unseen)])
        order_rows = np.vstack([np.where(zero, IMPOSSIBLE, 0.0), unseen_order, np.zeros_like(unseen_order)])
        self.order = order_rows if order_rows.any() else None

    @property
    def limits(self) -> Array:
        """Log p, −inf where alpha = 0 rules a level out."""
        return self.log_p if self.order is None else np.where(self.order > 0, -np.inf, self.log_p)

    @property
    def log_likelihood(self) -> float:
        """Log p of the counted cells; a level without rows in a class adds nothing."""
        log_p = self.log_p[: len(self.levels)].T
        return float(np.sum(np.where(self.weight > 0, self.weight * log_p, 0.0)))

    def draw(self, family: Family, classes: Codes, rng: np.random.Generator) -> Codes:
        """A level number for each row, from the row's class."""
        natural = family.natural_from_mean(self.probability, np.zeros(()))
        return family.sample(natural[:, classes], np.zeros(()), rng).astype(np.intp)

    def score(self, row: Expression) -> Score:
        """The scores of a row of the table."""
        return Score(Lookup(row, self.log_p), None if self.order is None else Lookup(row, self.order))

    def rows_of(self, values: list[Any]) -> list[int]:
        """The row of each value."""
        return [self.index.get(value, len(self.levels)) for value in values]

    def rows(self, batch: LevelBlock, label: str, *, refuse_unseen: bool) -> Codes:
        """The row of the table for each cell."""
        n_levels = len(self.levels)
        known = np.array([*self.rows_of(batch.values), n_levels + 1], dtype=np.intp)
        rows: Codes = known[batch.codes]
        if refuse_unseen and (rows == n_levels).any():
            at = int(np.argmax(rows == n_levels))
            raise ValueError(
                f"{label}: the level {batch.values[batch.codes[at]]!r} (row {at}) was never seen in "
                "training; unseen='ignore' would treat it as missing, unseen='smooth' as rare."
            )
        return rows


def _sort_key(level: Any) -> tuple[str, Any]:
    """Levels of one type in their own order, types side by side."""
    if isinstance(level, (bool, int, float)):
        return ("", level)
    return (type(level).__name__, level)


def solve_levels(totals: LevelTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedLevels:
    """θ of every column."""
    return SolvedLevels(totals.family, [LevelTable(totals.family, column) for column in totals.columns])


class SolvedLevels(SolvedFactor):
    """One `LevelTable` for each column."""

    def __init__(self, family: Family, tables: list[LevelTable]) -> None:
        self.family = family
        self.tables = tables
        self.regularized = []
        self.n_parameters = sum(
            table.weight.shape[0] * max(len(table.levels) - 1, 0) for table in self.tables
        )

    @property
    def log_likelihood(self) -> float:
        return sum(table.log_likelihood for table in self.tables)

    @cached_property
    def first(self) -> Codes:
        """Where the rows of each table begin among those of all."""
        sizes = [len(table.log_p) for table in self.tables]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp) if sizes else np.zeros(0, np.intp)

    @cached_property
    def log_p(self) -> Array:
        """The tables of all columns, one below the other."""
        return np.concatenate([table.log_p for table in self.tables])

    @cached_property
    def order(self) -> Array | None:
        """Their orders, where some cell has one."""
        if all(table.order is None for table in self.tables):
            return None
        return np.concatenate(
            [np.zeros_like(table.log_p) if table.order is None else table.order for table in self.tables]
        )

    @cached_property
    def numbers(self) -> NumberReader:
        """What whole numbers read, in the columns whose levels are such."""
        return NumberReader.of([table.levels for table in self.tables], self.first)

    def readings(self, block: Any, labels: list[str]) -> list[Reading]:
        """Which row of the tables each cell reads."""
        readings, encoded = [], np.arange(len(self.tables))
        if block.matrix is not None:
            refuse_infinity(block, labels)
            readings, encoded = self.numbers.readings(as_numbers(block.matrix)), self.numbers.others
        for j in encoded.tolist():
            batch, table = block[j], self.tables[j]
            known = table.rows_of(batch.values)
            readings.append(encoded_reading(batch, known, int(self.first[j]), len(table.levels)))
        return readings

    def rows_of_tables(self, block: Any, labels: list[str]) -> list[Codes]:
        """For each column, the row of its table that each cell reads."""
        return [
            table.rows(block[j], label, refuse_unseen=self.family.unseen == "error")
            for j, (table, label) in enumerate(zip(self.tables, labels, strict=True))
        ]

    def add_scores(self, block: Any, labels: list[str], scores: Scores, *, base: bool) -> None:
        if not self.tables:
            return
        readings = self.readings(block, labels)
        if not add_readings(readings, self.log_p, scores.finite) and self.family.unseen == "error":
            self.rows_of_tables(block, labels)  # which names the cell
        if self.order is not None:
            orders = np.zeros_like(scores.finite)
            add_readings(readings, self.order, orders)
            scores.add_orders(slice(None), orders)

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        cells = enumerate(zip(columns, labels, self.tables, strict=True))
        return total_score(
            [
                table.score(self.row_expression(j, column, label))
                for j, (column, label, table) in cells
                if table.levels  # without a level every class says the same
            ]
        )

    def row_expression(self, j: int, column: int, label: str) -> Expression:
        """The row of the j-th table that a cell reads."""
        refuse_errors(self.family, label)
        return LevelNumber(column, tuple(self.tables[j].levels))

    def contributions(self, block: Any, labels: list[str], *, base: bool) -> Array:
        cells = []
        for table, rows in zip(self.tables, self.rows_of_tables(block, labels), strict=True):
            cells.append(table.limits[rows])
        return np.stack(cells, axis=1)

    def observed(self, block: Any, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        rows = np.stack(self.rows_of_tables(block, labels), axis=1)
        n_levels = np.array([len(table.levels) for table in self.tables])
        unseen = (rows == n_levels) & (n_levels > 0)
        counts = self.family.unseen == "smooth"
        return (rows < n_levels) | (unseen & counts), unseen & (not counts)

    def log_power_sums(self, seen: NDArray[np.bool_], powers: Array) -> Array | None:
        result = np.zeros((len(powers), self.log_p.shape[1]))
        for table, counts in zip(self.tables, seen, strict=True):
            if counts and table.levels:
                # What was never seen is an outcome too, where it has a probability.
                outcomes = table.limits[: len(table.levels) + (self.family.unseen == "smooth")]
                result += special.logsumexp(powers[:, np.newaxis, np.newaxis] * outcomes, axis=1)
        return result

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        columns = []
        for table in self.tables:
            levels = np.empty(len(table.levels), dtype=object)
            levels[:] = table.levels
            nothing = np.full(len(classes), None)
            columns.append(levels[table.draw(self.family, classes, rng)] if len(levels) else nothing)
        return columns

    def separation(self) -> Separation:
        n_classes = self.tables[0].weight.shape[0]
        pairs = []
        for table in self.tables:
            with np.errstate(divide="ignore"):
                natural = np.log(table.probability)
            nothing = np.zeros((n_classes, n_classes))
            pairs.append(divergences(self.family, natural) if len(natural) else (nothing, nothing))
        return Separation.of_independent(np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs]))

    def conventional(self) -> list[dict[str, Any]]:
        return [{"levels": table.levels, "probability": table.probability.T} for table in self.tables]
