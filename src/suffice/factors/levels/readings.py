"""Which row of a table each cell reads, and the sum of the rows that a row of cells reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.levels.cells import MOST_NUMBERS, WIDE, Bounds, LevelBlock
from suffice.kernels.choose import contiguous, discrete_for


@dataclass(frozen=True)
class Reading:
    """Some columns of cells, and which row of a table each of their whole numbers reads."""

    cells: NDArray[Any]
    bounds: Bounds
    rows: Codes
    unseen: Codes
    """The row that any other number reads, for each column."""


@dataclass(frozen=True)
class NumberReader:
    """Which row a number reads, in columns whose levels are close whole numbers; `others` are not."""

    columns: Codes
    others: Codes
    bounds: Bounds
    rows: Codes
    unseen: Codes

    @classmethod
    def of(cls, levels: list[list[Any]], first: Codes) -> NumberReader:
        """From the levels of each column in order; the rows of column j's table begin at first[j]."""
        whole = np.array([_are_close_numbers(column) for column in levels], dtype=np.bool_)
        columns, others = np.flatnonzero(whole), np.flatnonzero(~whole)
        low = np.array([int(levels[j][0]) if levels[j] else 0 for j in columns], dtype=np.int64)
        high = np.array([int(levels[j][-1]) if levels[j] else 0 for j in columns], dtype=np.int64)
        bounds = Bounds.of(low, high - low + 1)
        unseen = first[columns] + np.array([len(levels[j]) for j in columns], dtype=np.intp)
        rows = np.repeat(unseen, high - low + 1)
        for place, j in enumerate(columns):
            at = bounds.starts[place] - low[place] + np.array(levels[j], dtype=np.int64)
            rows[at] = first[j] + np.arange(len(levels[j]))
        return cls(columns, others, bounds, rows, unseen)

    def readings(self, matrix: NDArray[Any]) -> list[Reading]:
        """The reading of these columns of a matrix, if any."""
        if not len(self.columns):
            return []
        cells = matrix[:, self.columns] if len(self.others) else matrix
        return [Reading(cells, self.bounds, self.rows, self.unseen)]


def _are_close_numbers(levels: list[Any]) -> bool:
    """Whether levels, in order, are whole numbers of a small range."""
    whole = all(isinstance(level, int) and abs(level) < WIDE for level in levels)
    return whole and (not levels or levels[-1] - levels[0] < MOST_NUMBERS)


def encoded_reading(batch: LevelBlock, known: list[int], first: int, n_levels: int) -> Reading:
    """Codes of one column, whose values have these rows in its table; missing cells read nothing."""
    bounds = Bounds.of(np.array([-1]), np.array([len(known) + 1]))
    rows = np.concatenate([[-1], np.asarray(known, dtype=np.intp) + first]).astype(np.intp)
    return Reading(batch.codes[:, np.newaxis], bounds, rows, np.array([first + n_levels], dtype=np.intp))


def row_reading(rows: Codes, first: int, n_rows: int) -> Reading:
    """Cells that are already row numbers of one table."""
    bounds = Bounds.of(np.array([0]), np.array([n_rows]))
    return Reading(rows[:, np.newaxis], bounds, first + np.arange(n_rows), np.array([-1]))


def add_readings(readings: list[Reading], table: Array, out: Array) -> bool:
    """Add the table row of every cell to the scores of its row; False if some cell is unseen."""
    kernels = discrete_for(sum(reading.cells.size for reading in readings))
    known = [
        kernels.add_level_scores(
            contiguous(reading.cells),
            reading.bounds.low,
            reading.bounds.starts,
            reading.rows,
            reading.unseen,
            table,
            out,
        )
        for reading in readings
    ]
    return all(known)
