"""Tables that read cells as scikit-learn's models do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.factors.blocks import with_data
from suffice.kernels import threads
from suffice.kernels.choose import is_complete, row_parts
from suffice.tables.columns import LevelCells
from suffice.tables.table import Levels, Table


class ThresholdedTable(Table):
    """Numbers above a threshold are 1, others 0, and gaps stay gaps."""

    def __init__(self, table: Table, threshold: float) -> None:
        vars(self).update(vars(table))
        self.threshold = threshold
        if table.stored is not None:
            stored = table.sparse.data
            above = self._above(stored[:, np.newaxis], np.float64)[:, 0]
            if stored.dtype.kind == "f" and not is_complete(stored):
                above[np.isnan(stored)] = np.nan
            self.stored = self.sparse = with_data(table.sparse, above)

    def numbers(
        self, columns: Sequence[int] | slice, *, infinities: bool = False
    ) -> NDArray[np.floating[Any]]:
        """0 or 1 for each cell, NaN where missing; infinities become 0 or 1 too."""
        values = super().numbers(columns)
        above = self._above(values, np.float32)
        if not is_complete(values):
            above[np.isnan(values)] = np.nan
        return above

    def cells(self, columns: Sequence[int]) -> NDArray[Any] | None:
        """Whether each cell is above, in one byte, where they are one ndarray and none is missing."""
        values = super().cells(columns)
        if values is None:
            return None
        if values.dtype.kind == "f" and not is_complete(super().numbers(columns)):
            return None
        return self._above(values, np.bool_)

    def _above(self, values: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
        above = np.empty(values.shape, dtype, order="C" if values.flags.c_contiguous else "F")

        def compare(rows: slice) -> None:
            np.greater(values[rows], self.threshold, out=above[rows])

        threads.run(compare, row_parts(*values.shape))
        return above

    def part(self, rows: slice) -> Table:
        """Adjacent rows."""
        part = super().part(rows)
        return part if self.stored is not None else ThresholdedTable(part, self.threshold)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Some of the rows."""
        return ThresholdedTable(super().take(rows), self.threshold)


class CategoryTable(Table):
    """Levels that are the numbers 0, 1, 2, … of categories."""

    def __init__(self, table: Table) -> None:
        vars(self).update(vars(table))

    def levels(self, column: int) -> Levels:
        """The levels of a column; raise if one is not a category number."""
        levels = super().levels(column)
        for value in levels.values:
            if not isinstance(value, (bool, int, float)) or np.isinf(value):
                raise ValueError(
                    f"{self.label(column)} holds {value!r}, which is not a category number; encode the "
                    "categories (OrdinalEncoder), or use BayesClassifier, which takes them as they are."
                )
            if value < 0:
                raise ValueError(
                    f"Negative values in data passed to CategoricalNB (input X): {self.label(column)} "
                    f"holds {value!r}; categories are numbered from 0, and NaN is a missing cell."
                )
        return levels

    def level_cells(self, columns: Sequence[int]) -> LevelCells:
        """Columns to be read as levels, after checking for category numbers; fractions are cut off."""
        cells = super().level_cells(columns)
        matrix = cells.matrix
        if matrix is None or not matrix.size or matrix.dtype.kind not in "if":
            return cells
        parts = threads.run(lambda rows: _categories(matrix[rows]), row_parts(*matrix.shape))
        numbered, whole = np.all(parts, axis=0)
        if not numbered:
            for column in columns:
                self.levels(column)  # which names the cell
        if not whole:
            cells.matrix = np.trunc(matrix)
        return cells

    def part(self, rows: slice) -> Table:
        """Adjacent rows."""
        return CategoryTable(super().part(rows))

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Some of the rows."""
        return CategoryTable(super().take(rows))


def _categories(cells: NDArray[Any]) -> tuple[bool, bool]:
    """Whether all cells but missing ones are finite and not negative, and whether they are whole numbers."""
    numbered = not (np.fmin.reduce(cells, axis=None) < 0 or np.isinf(np.fmax.reduce(cells, axis=None)))
    if cells.dtype.kind != "f":
        return numbered, True
    whole = np.trunc(cells) == cells
    return numbered, bool(whole.all() or (whole | np.isnan(cells)).all())
