"""Columns made of the cells of other columns, row by row, without a look at the labels.

A derived column is a number for each row, and the same as an expression over the cells of the row, for SQL
and ONNX. Which ones there are is fixed by the first rows, so that their sums add and subtract as all others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.export.expressions import (
    Apply,
    Cell,
    Clip,
    Expression,
    LevelNumber,
    Missing,
    Where,
    as_expression,
)
from suffice.factors.levels.alike import LevelIndex
from suffice.kernels import threads
from suffice.kernels.choose import row_parts
from suffice.tables.columns import Levels
from suffice.tables.table import Table

NOTHING = as_expression(np.nan)
"""A missing number."""


class Derived(ABC):
    """A column that is made of others."""

    @property
    @abstractmethod
    def columns(self) -> tuple[int, ...]:
        """The columns that it is made of."""

    @abstractmethod
    def values(self, cells: CellReader) -> Array:
        """A number for each row, NaN where it is missing."""

    @abstractmethod
    def expression(self) -> Expression:
        """The same, over the cells of one row."""

    def is_missing(self) -> Expression | None:
        """Whether the number is missing; None if it never is."""
        return Missing(self.columns[0])

    @property
    def bounds(self) -> tuple[float, float]:
        """Between what the numbers of a column are."""
        return -np.inf, np.inf


class CellReader:
    """The cells of a table, each column read once for all that is derived from it."""

    def __init__(self, table: Table) -> None:
        self.n_rows, self._table = table.n_rows, table
        self.numbers = cache(lambda column: _numbers(table, column))
        self.levels = cache(table.levels)
        self.documents_there = cache(lambda column: _documents_there(table, column))
        self.places = cache(partial(_places, self.levels))  # not bound: it would hold this reader

    def all_numbers(self, columns: list[int]) -> Array:
        """The numbers of some columns, (rows, columns)."""
        if not columns:
            return np.zeros((self.n_rows, 0))
        return np.asarray(self._table.numbers(columns, infinities=True), dtype=np.float64)


def _places(read: Callable[[int], Levels], column: int, levels: tuple[Any, ...]) -> Codes:
    """The place of each cell among levels; their number if it is another one, one more if missing."""
    found = read(column)
    known = np.array([*LevelIndex(levels).places_of(found.values), len(levels) + 1], dtype=np.intp)
    return np.asarray(known[found.codes])


def _numbers(table: Table, column: int) -> Array:
    return np.asarray(table.numbers([column], infinities=True)[:, 0], dtype=np.float64)


def _documents_there(table: Table, column: int) -> Array:
    missing = table.documents(column).missing
    return np.ones(table.n_rows) if missing is None else np.where(missing, 0.0, 1.0)


@dataclass(frozen=True)
class Same(Derived):
    """The number in a column, for another family."""

    column: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def values(self, cells: CellReader) -> Array:
        return np.asarray(cells.numbers(self.column))

    def expression(self) -> Expression:
        return Cell(self.column)


@dataclass(frozen=True)
class Within(Derived):
    """The number in a column, within bounds."""

    column: int
    low: float
    high: float

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.low, self.high

    def values(self, cells: CellReader) -> Array:
        return np.clip(cells.numbers(self.column), self.low, self.high)

    def expression(self) -> Expression:
        return Clip(Cell(self.column), self.low, self.high)


@dataclass(frozen=True)
class There(Derived):
    """1 where a cell is there, 0 where it is missing."""

    column: int
    levels: tuple[Any, ...] | None = None
    """Levels, if the column is read as such: text has many marks of missing cells."""

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def values(self, cells: CellReader) -> Array:
        if self.levels is None:
            return np.where(np.isnan(cells.numbers(self.column)), 0.0, 1.0)
        return np.where(cells.levels(self.column).codes < 0, 0.0, 1.0)

    def expression(self) -> Expression:
        return Where(self.is_gone(), as_expression(0.0), as_expression(1.0))

    def is_missing(self) -> None:
        return None

    def is_gone(self) -> Expression:
        """Whether the cell is missing."""
        if self.levels is None:
            return Missing(self.column)
        return LevelNumber(self.column, self.levels) == len(self.levels) + 1.0


@dataclass(frozen=True)
class DocumentThere(There):
    """1 where a document is there, 0 where it is missing; an empty one is there."""

    def values(self, cells: CellReader) -> Array:
        return np.asarray(cells.documents_there(self.column))


@dataclass(frozen=True)
class Holds(Derived):
    """1 where a cell holds a level, 0 where it holds another one."""

    column: int
    levels: tuple[Any, ...]
    """All that are told apart."""
    place: int

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    def values(self, cells: CellReader) -> Array:
        places = cells.places(self.column, self.levels)
        return np.where(places > len(self.levels), np.nan, places == self.place)

    def expression(self) -> Expression:
        place = LevelNumber(self.column, self.levels)
        held = Where(place == float(self.place), as_expression(1.0), as_expression(0.0))
        return Where(place < len(self.levels) + 1.0, held, NOTHING)

    def is_missing(self) -> Expression:
        return LevelNumber(self.column, self.levels) == len(self.levels) + 1.0


@dataclass(frozen=True)
class CoarseCell(Derived):
    """Which of a few cells a cell of a column lies in: levels, or intervals between edges; else missing."""

    column: int
    edges: tuple[float, ...] = ()
    levels: tuple[Any, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.column,)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.levels) or len(self.edges) + 1

    def values(self, cells: CellReader) -> Array:
        if self.levels:
            places = cells.places(self.column, self.levels)
            return np.where(places < len(self.levels), places, np.nan)
        numbers = cells.numbers(self.column)
        places = np.searchsorted(np.array(self.edges), numbers, side="right")
        return np.where(np.isnan(numbers), np.nan, places)

    def expression(self) -> Expression:
        if self.levels:
            place = LevelNumber(self.column, self.levels)
            return Where(place < float(len(self.levels)), place, NOTHING)

        def found(first: int, last: int) -> Expression:
            if first == last:
                return as_expression(float(first))
            middle = (first + last) // 2
            below = Cell(self.column) < self.edges[middle]
            return Where(below, found(first, middle), found(middle + 1, last))

        return Where(Missing(self.column), NOTHING, found(0, len(self.edges)))


@dataclass(frozen=True)
class CellOfPair(Derived):
    """The cell of a table of two columns that a row lies in."""

    first: CoarseCell
    second: CoarseCell

    @property
    def columns(self) -> tuple[int, ...]:
        return (self.first.column, self.second.column)

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.first.size * self.second.size

    def values(self, cells: CellReader) -> Array:
        return self.first.values(cells) * self.second.size + self.second.values(cells)

    def expression(self) -> Expression:
        # A missing cell makes the sum missing.
        return Apply("add", (self.first.expression() * float(self.second.size), self.second.expression()))


def index_of(cell: CoarseCell | CellOfPair) -> Expression:
    """The row of a table that has one row for each cell, and one more for missing ones."""
    found = cell.expression()
    # A comparison with a missing number is not true.
    return Where(found < float(cell.size), found, as_expression(float(cell.size)))


def table_of(derived: Sequence[Derived], cells: CellReader) -> Array:
    """All derived columns, (rows, columns); numbers are read at once."""
    numbers = [j for j, column in enumerate(derived) if isinstance(column, (Same, Within))]
    read = cells.all_numbers([derived[j].columns[0] for j in numbers])
    bounds = np.array([derived[j].bounds for j in numbers]).reshape(-1, 2).T
    within = read
    if np.isfinite(bounds).any():
        within = np.empty_like(read)
        threads.run(lambda rows: np.clip(read[rows], *bounds, out=within[rows]), row_parts(*read.shape))
    if len(numbers) == len(derived):
        return within
    result = np.empty((cells.n_rows, len(derived)))
    result[:, numbers] = within
    for j, column in enumerate(derived):
        if not isinstance(column, (Same, Within)):
            result[:, j] = column.values(cells)
    return result
