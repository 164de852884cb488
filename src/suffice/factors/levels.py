"""Columns of categories: counts per class and level, over levels that grow with the data."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from suffice.archive import Fields, Scalars
from suffice.expressions import Expression, Gaps, LevelNumber, Lookup, Score, total_score
from suffice.factors.base import (
    Codes,
    Counts,
    Solved,
    Totals,
    gather,
    impossible,
    refuse_errors,
    unseen_log_shares,
    within,
)
from suffice.families import Family
from suffice.families.elementary import Array
from suffice.kernels import reference as kernels
from suffice.scores import IMPOSSIBLE, Scores


class LevelBlock(Protocol):
    """A batch of one column: level numbers (−1 where missing) into a list of values."""

    codes: Codes
    values: list[Any]


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

    def refuse(self, block: list[LevelBlock], labels: list[str], classes: Codes) -> None:
        """Every level is welcome but infinity, which is no category."""
        for label, batch in zip(labels, block, strict=True):
            bad = [value for value in batch.values if isinstance(value, float) and np.isinf(value)]
            if bad:
                raise ValueError(f"{label} holds the infinity {bad[0]}; replace it by NaN, which is missing.")

    def update(self, block: list[LevelBlock], classes: Codes, weights: Array | None) -> None:
        for column, batch in zip(self.columns, block, strict=True):
            present = np.bincount(batch.codes[batch.codes >= 0], minlength=len(batch.values)) > 0
            known = np.full(len(batch.values) + 1, -1, dtype=np.intp)
            known[:-1][present] = column.codes_of(
                [value for value, kept in zip(batch.values, present, strict=True) if kept], grow=True
            )
            codes = known[batch.codes]
            kernels.level_counts(codes, classes, None, column.support)
            kernels.level_counts(codes, classes, weights, column.weight)

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

    def solve(self, labels: list[str], classes: NDArray[Any]) -> SolvedLevels:
        return SolvedLevels(self.family, [LevelTable(self.family, column) for column in self.columns])


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

    def rows(self, batch: LevelBlock, label: str, *, refuse_unseen: bool) -> Codes:
        """The row of the table for each cell."""
        n_levels = len(self.levels)
        known = np.array([*(self.index.get(v, n_levels) for v in batch.values), n_levels + 1], dtype=np.intp)
        rows = known[batch.codes]
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


class SolvedLevels(Solved):
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

    def rows_of_tables(self, block: Any, labels: list[str]) -> list[Codes]:
        """For each column, the row of its table that each cell reads."""
        return [
            table.rows(batch, label, refuse_unseen=self.family.unseen == "error")
            for table, batch, label in zip(self.tables, block, labels, strict=True)
        ]

    def add_scores(self, block: Any, labels: list[str], scores: Scores, *, base: bool) -> None:
        for table, rows in zip(self.tables, self.rows_of_tables(block, labels), strict=True):
            scores.finite += table.log_p[rows]
            if table.order is not None:
                for k in range(scores.finite.shape[1]):
                    scores.add_order(slice(None), k, table.order[rows, k])

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

    def contributions(self, block: Any, labels: list[str]) -> Array:
        cells = []
        for table, rows in zip(self.tables, self.rows_of_tables(block, labels), strict=True):
            log_p = table.log_p if table.order is None else np.where(table.order > 0, -np.inf, table.log_p)
            cells.append(log_p[rows])
        return np.stack(cells, axis=1)

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        columns = []
        for table in self.tables:
            levels = np.empty(len(table.levels), dtype=object)
            levels[:] = table.levels
            nothing = np.full(len(classes), None)
            columns.append(levels[table.draw(self.family, classes, rng)] if len(levels) else nothing)
        return columns

    def conventional(self) -> list[dict[str, Any]]:
        return [{"levels": table.levels, "probability": table.probability.T} for table in self.tables]
