"""Tables whose rows numbers read by the step that they lie in, several columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.choose import contiguous, discrete_for


@dataclass(frozen=True)
class StepTables:
    """One table for each column, one below the other."""

    edges: Array
    """Between the steps of each column, in order, those of all columns one after the other."""
    starts: Codes
    """Where the edges of each column begin, and where the last ones end."""
    first: Codes
    """The row of the first step of each column; −1 for a column that says nothing."""
    table: Array
    """(rows, classes)."""

    @classmethod
    def of(cls, edges: Sequence[Array], first: Codes, table: Array) -> Self:
        """The tables of columns with these edges between their steps."""
        starts = np.cumsum([0, *map(len, edges)]).astype(np.intp)
        return cls(np.concatenate([np.zeros(0), *edges]), starts, first, np.ascontiguousarray(table))

    def add_to(self, cells: NDArray[Any], out: Array) -> None:
        """Add the row that each cell reads to the scores of its row; a missing cell adds nothing."""
        kernels = discrete_for(cells.size)
        kernels.add_step_scores(contiguous(cells), self.edges, self.starts, self.first, self.table, out)
