"""The cells of some rows, read once, so that any of the rows can be summed and scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.pieces import Pieces
from suffice.factors import KINDS, Totals
from suffice.factors.base import Block
from suffice.factors.derived import CellReader, Derived, table_of
from suffice.model.columns.schema import Schema
from suffice.model.solved.drawn_rows import by_rows
from suffice.tables.columns import LevelCells
from suffice.tables.table import Table, read_table


class SchemaCells:
    """The cells of some rows under one schema.

    Rows (n, m) give m batches side by side, where a factor allows it.
    """

    def __init__(self, schema: Schema, table: Table) -> None:
        self.labels = schema.factor_labels
        self.side_by_side: list[bool] = []
        """Whether the columns of a factor are independent, and their cells may be missing."""
        self.scored: list[Callable[[Codes], Block]] = []
        """The cells of some rows, as densities of a factor read them."""
        self.summed: list[Callable[[Codes], Block]] = []
        """The same, as its sums read them."""
        for factor, block in zip(schema.factors, schema.blocks(table), strict=True):
            apart = not factor.family.joint and isinstance(block, (np.ndarray, LevelCells))
            cells = _with_missing_row(block) if apart and isinstance(block, np.ndarray) else block
            is_array = isinstance(cells, np.ndarray)
            self.side_by_side.append(apart)
            self.scored.append(Totals.batches(cells) if is_array else by_rows(cells))
            batches = KINDS[factor.family.factor].totals.batches
            self.summed.append(batches(cells) if is_array else self.scored[-1])

    def to_sum(self, rows: Codes) -> list[Block]:
        """The cells of some rows, as the sums of each factor read them."""
        return [of_rows(rows) for of_rows in self.summed]


def _with_missing_row(cells: NDArray[Any]) -> NDArray[Any]:
    """The cells with one row more, in which all are missing."""
    kind = cells.dtype if cells.dtype.kind == "f" else np.dtype(np.float64)
    return np.concatenate([cells, np.full((1, cells.shape[1]), np.nan, kind)])


class ReadCells:
    """The cells of some rows, under the schema of the table, of the derived columns, and of pairs."""

    def __init__(self, pieces: Pieces, table: Table) -> None:
        self.table = table = pieces.schema.read(table)
        self._reader = CellReader(table)
        self.base = SchemaCells(pieces.schema, table)
        self.beside = SchemaCells(pieces.beside_schema, read_table(self.derived(pieces.beside)))
        self.read_pairs(pieces)

    def read_pairs(self, pieces: Pieces) -> None:
        """Read the cells of the pairs, which are chosen after all else."""
        self.places_in_pairs = self.derived(pieces.pairs)
        self.pairs = SchemaCells(pieces.pairs_schema, read_table(self.places_in_pairs))

    @property
    def of_schemas(self) -> tuple[SchemaCells, SchemaCells, SchemaCells]:
        """The cells under each of the schemas of the pieces."""
        return self.base, self.beside, self.pairs

    def derived(self, columns: Sequence[Derived]) -> Array:
        """Some derived columns, (rows, columns)."""
        return table_of(columns, self._reader)
