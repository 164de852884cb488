"""The cells of some rows, read once, so that any of the rows can be summed and scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.pieces import Pieces
from suffice.factors import KINDS
from suffice.factors.base import Block
from suffice.factors.derived import CellReader, Derived, table_of
from suffice.model.drawn_rows import by_rows
from suffice.model.schema import Schema
from suffice.tables.table import Table, read_table


class SchemaCells:
    """The cells of some rows under one schema."""

    def __init__(self, schema: Schema, table: Table) -> None:
        blocks = schema.blocks(table)
        self._scored = [by_rows(block) for block in blocks]
        self._summed: list[Callable[[Codes], Block]] = [
            KINDS[factor.family.factor].totals.batches(block) if isinstance(block, np.ndarray) else scored
            for factor, block, scored in zip(schema.factors, blocks, self._scored, strict=True)
        ]

    def to_sum(self, rows: Codes) -> list[Block]:
        """The cells of some rows, as sums read them."""
        return [of_rows(rows) for of_rows in self._summed]

    def to_score(self, rows: Codes) -> list[Block]:
        """The cells of some rows, as densities read them."""
        return [of_rows(rows) for of_rows in self._scored]


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
