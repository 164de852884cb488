"""Tables that read their cells as a model of scikit-learn does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import threads
from suffice.engines.table import Levels, Table
from suffice.kernels.choice import is_complete, row_parts


class ThresholdedTable(Table):
    """Numbers above a threshold are 1, others 0, and gaps stay gaps."""

    def __init__(self, table: Table, threshold: float) -> None:
        vars(self).update(vars(table))
        self.threshold = threshold
        if table.sparse is not None:
            self.sparse = table.sparse.copy()
            missing = np.isnan(self.sparse.data)
            self.sparse.data = np.where(missing, np.nan, self.sparse.data > threshold)

    def numbers(self, columns: Sequence[int] | slice) -> NDArray[np.floating[Any]]:
        """0 or 1 for each cell, NaN where missing."""
        values = super().numbers(columns)
        above = np.empty(values.shape, dtype=np.float32, order="C" if values.flags.c_contiguous else "F")

        def compare(rows: slice) -> None:
            np.greater(values[rows], self.threshold, out=above[rows])

        threads.run(compare, row_parts(*values.shape))
        if not is_complete(values):
            above[np.isnan(values)] = np.nan
        return above

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Some of the rows."""
        return ThresholdedTable(super().take(rows), self.threshold)


class CategoryTable(Table):
    """Levels that are the numbers 0, 1, 2, … of categories."""

    def __init__(self, table: Table) -> None:
        vars(self).update(vars(table))

    def levels(self, column: int) -> Levels:
        """The levels of a column, refused where they are no numbers of categories."""
        levels = super().levels(column)
        for value in levels.values:
            if not isinstance(value, (bool, int, float)) or np.isinf(value):
                raise ValueError(
                    f"{self.label(column)} holds {value!r}, which is no number of a category; number the "
                    "categories (OrdinalEncoder), or use BayesClassifier, which takes them as they are."
                )
            if value < 0:
                raise ValueError(
                    f"Negative values in data passed to CategoricalNB (input X): {self.label(column)} "
                    f"holds {value!r}; categories are numbered from 0, and NaN is a missing cell."
                )
        return levels

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Some of the rows."""
        return CategoryTable(super().take(rows))
