"""Columns of categories: counts per class and level, over levels that grow with the data."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.base import Totals, gather
from suffice.factors.blocks import as_numbers
from suffice.factors.checks import impossible, refuse_infinities, within
from suffice.factors.levels.cells import Counted, LevelBlocks, counted
from suffice.families import Family
from suffice.storage import Fields, Scalars
from suffice.tables.wording import quoted


class LevelCounts:
    """Weights and row counts (classes, levels) of one column."""

    def __init__(self, levels: list[Any], weight: Array, support: Counts) -> None:
        self.levels = levels
        self.weight = weight
        self.support = support

    @cached_property
    def index(self) -> dict[Any, int]:
        """The number of each level."""
        return {level: i for i, level in enumerate(self.levels)}

    def codes_of(self, values: list[Any], *, grow: bool) -> Codes:
        """The level number of each value; new values become levels, or −2 without `grow`."""
        if grow:
            fresh = [value for value in values if value not in self.index]
            if fresh:
                for value in fresh:
                    self.index[value] = len(self.index)
                self.levels = list(self.index)
                room = np.zeros((len(self.weight), len(fresh)), dtype=np.int64)
                self.weight = np.concatenate([self.weight, room], axis=1)
                self.support = np.concatenate([self.support, room], axis=1)
        return np.array([self.index.get(value, -2) for value in values], dtype=np.intp)

    def with_levels(self, values: tuple[Any, ...]) -> LevelCounts:
        """The same counts with these levels, which may have no rows."""
        if all(value in self.index for value in values):
            return self
        grown = LevelCounts(self.levels, self.weight, self.support)
        grown.codes_of(list(values), grow=True)
        return grown

    def count(self, batch: Counted) -> None:
        """Add the counts of a batch over the same classes; the first are taken over."""
        if not self.levels:
            self.levels = list(batch.values)
            vars(self).pop("index", None)
            self.weight, self.support = batch.weight.astype(np.float64), batch.support.copy()
            return
        codes = self.codes_of(batch.values, grow=True)
        self.weight[:, codes] += batch.weight
        self.support[:, codes] += batch.support

    def state(self) -> dict[str, Any]:
        """The counts, as they are saved."""
        return {"levels": Scalars(self.levels), "weight": self.weight, "support": self.support}

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from a saved state."""
        levels = fields.distinct("levels", fields.scalars("levels"))
        shape = (n_classes, len(levels))
        return cls(
            levels, fields.array("weight", np.float64, shape), fields.array("support", np.int64, shape)
        )

    def take_classes(self, index: Codes) -> LevelCounts:
        """A copy with these classes."""
        return LevelCounts(list(self.levels), gather(self.weight, index, 0), gather(self.support, index, 0))

    def copy(self) -> LevelCounts:
        """An independent copy."""
        return LevelCounts(list(self.levels), self.weight.copy(), self.support.copy())

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
        """Whether the counts agree, in any order of the levels."""
        mine, theirs = self.copy(), other
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
        """Any level may be counted, except infinity."""
        refuse_infinity(block, labels)

    def update(self, block: LevelBlocks, classes: Codes, weights: Array | None) -> None:
        n_classes = len(self.columns[0].weight) if self.columns else 0
        for column, batch in zip(self.columns, counted(block, classes, n_classes, weights), strict=True):
            column.count(batch)

    def add(self, other: Self, sign: int) -> None:
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            mine.add(theirs, sign)

    def scale(self, factors: Array) -> None:
        for column in self.columns:
            column.weight *= factors[:, np.newaxis]

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, [column.take_classes(index) for column in self.columns])

    def take_columns(self, index: Codes) -> Self:
        n_classes = self.columns[0].weight.shape[0] if self.columns else 0
        columns = [self.columns[j].copy() if j >= 0 else no_counts(n_classes) for j in index.tolist()]
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

    @staticmethod
    def gaps(block: LevelBlocks) -> tuple[Codes, Codes]:
        if block.matrix is not None:
            return Totals.gaps(as_numbers(block.matrix))
        columns, rows = np.nonzero([block[j].codes < 0 for j in range(len(block))])
        return rows, columns

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
                return f"{label} would have a negative row count for the level {quoted(bad[0])} in some class"
        return None


def refuse_infinity(block: LevelBlocks, labels: list[str]) -> None:
    """Raise where a cell is infinite."""
    if block.matrix is not None:
        refuse_infinities(block.matrix, labels)
        return
    columns = [block[j] for j in range(len(labels))] if block.several is None else block.several[0]
    for label, column in zip(labels, columns, strict=False):
        bad = [value for value in column.values if isinstance(value, float) and np.isinf(value)]
        if bad:
            raise ValueError(
                f"{label} contains the infinite value {bad[0]}; "
                "replace it with NaN, which is treated as missing."
            )


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
