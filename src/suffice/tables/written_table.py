"""A table whose text is read in the notations of its columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tables.columns import Levels, make_levels
from suffice.tables.container import Container
from suffice.tables.notations import Notation, ReadColumn
from suffice.tables.table import Opened, Table
from suffice.tables.wording import counted, quoted


class UnreadCellsWarning(UserWarning):
    """Cells that count as missing since they cannot be read."""

    about: str
    """The column, for whoever shows such a warning once for all rows."""


class WrittenTable(Table):
    """A table whose cells are read in notations, by column; cells that cannot be read are missing."""

    def __init__(
        self, table: Table, notations: Mapping[int, Notation], read: Mapping[int, ReadColumn] | None = None
    ) -> None:
        vars(self).update(vars(table))
        self.notations = notations
        self._table = table
        self._levels, self._readers, self.whole = {}, {}, None
        self._read = _read_columns(table, notations) if read is None else read
        self.open_column = partial(_opened, self._read, table)  # not bound: it would hold this table
        if self._read:
            self._block = None

    @property
    def container(self) -> Container:
        """The container of the text."""
        return self._table.container

    def levels(self, column: int) -> Levels:
        """The levels of a column, without marks of missing cells."""
        if column in self._read:
            return super().levels(column)
        levels = self._table.levels(column)
        notation = self.notations.get(column)
        if notation is None or notation.form != "levels" or column in self._levels:
            return self._levels.get(column, levels)
        marks = frozenset(notation.marks)
        marked = [at for at, value in enumerate(levels.values) if value in marks]
        if marked:
            values = list(levels.values)
            for at in marked:
                values[at] = None
            levels = make_levels(levels.codes, values)
        self._levels[column] = levels
        return levels

    def values(self, column: int) -> NDArray[Any]:
        """The cells of a column as they were written."""
        return self._table.values(column)

    def part(self, rows: slice) -> Table:
        """Adjacent rows."""
        read = {j: replace(column, codes=column.codes[rows]) for j, column in self._read.items()}
        part = WrittenTable(self._table.part(rows), self.notations, read)
        part.whole = None if self._block is not None else (self, rows)
        return part

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Some of the rows."""
        read = {j: replace(column, codes=column.codes[rows]) for j, column in self._read.items()}
        return WrittenTable(self._table.take(rows), self.notations, read)


def _opened(read: Mapping[int, ReadColumn], table: Table, column: int) -> Opened:
    return read[column] if column in read else table.open_column(column)


def as_text(table: Table, expected: Mapping[int, Notation]) -> dict[int, Notation]:
    """The columns whose numbers arrive as text, of which every cell can be read as expected."""
    if table.cells([]) is not None or table.stored is not None:
        return {}
    return {
        j: notation
        for j, notation in expected.items()
        if table.kind(j) == "level" and _fits(table, j, notation)
    }


def _fits(table: Table, j: int, notation: Notation) -> bool:
    values = table.levels(j).values
    return any(isinstance(value, str) for value in values) and all(
        notation.read(value)[1] for value in values
    )


def _read_columns(table: Table, notations: Mapping[int, Notation]) -> dict[int, ReadColumn]:
    """The columns that hold text, or days as whole numbers; a table remembers how it was read."""
    read = {}
    for j, notation in notations.items():
        kinds = {"level", "number"} if notation.form == "yyyymmdd" else {"level"}
        if notation.form != "levels" and table.kind(j) in kinds:
            if (j, notation) not in table.read_before:
                table.read_before[j, notation] = _read_column(table, j, notation)
            read[j] = table.read_before[j, notation]
    return read


def _read_column(table: Table, j: int, notation: Notation) -> ReadColumn:
    """One column; the cells that cannot be read are reported."""
    levels = table.levels(j)
    read = [notation.read(value) for value in levels.values]
    unread = np.array([not readable for _, readable in read], dtype=np.bool_)
    if unread.any():
        cells = np.bincount(levels.codes[levels.codes >= 0], minlength=len(unread))
        example = levels.values[int(np.argmax(unread))]
        said = UnreadCellsWarning(
            f"{table.label(j)} is read as {notation.words}, but {counted(int(cells[unread].sum()), 'cell')} "
            f"of {table.n_rows:,} cannot be, such as {quoted(example)}; they count as missing. Correct them, "
            "or list what stands for a missing cell in missing_marks=."
        )
        said.about = f"cells of {table.label(j)}"
        warnings.warn(said, stacklevel=2)
    values = [value for value, _ in read]
    return ReadColumn.of(levels, values, notation.kind, table.open_column(j).cell_type)
