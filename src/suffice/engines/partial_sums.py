"""Sums of a part of the rows: made where the rows are, packed, sent and added up."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from suffice.model.schema import Schema
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.coded_labels import read_coded_labels
from suffice.tables.files.batches import LabelledBatch, LabelledFiles
from suffice.tables.notations import Marks
from suffice.tables.row_source import RowSource
from suffice.tables.table import read_table


class SumsOf(Protocol):
    """Adds up batches, from nothing; it is sent to workers."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""

    def __call__(self, batches: Iterable[LabelledBatch]) -> Statistics:
        """The sums of all batches."""


@dataclass(frozen=True)
class SumsOfRows:
    """Adds up batches under a schema, whose undecided columns the rows may decide."""

    schema: Schema
    marks: Marks | None

    def __call__(self, batches: Iterable[LabelledBatch]) -> Statistics:
        """The sums of all batches."""
        accumulator = Accumulator.empty(self.schema)
        for batch in batches:
            rows = labelled_table(batch)
            accumulator.decide(rows.decided(accumulator.schema, self.marks))
            rows.add_to(accumulator)
        return accumulator.statistics()


def labelled_table(batch: LabelledBatch) -> LabelledRows:
    """A batch as it is summed."""
    return LabelledRows(read_table(batch.X), read_coded_labels(batch.y), batch.weight)


def cells_so_far(accumulator: Accumulator, batch: LabelledBatch) -> int:
    """The cells of all rows that are summed, with those of a batch, to choose kernels by.

    The sums tell, so that a run that was interrupted goes on as it would have.
    """
    return (int(accumulator.support.sum()) + len(batch.y)) * int(getattr(batch.X, "num_columns", 0))


def under(schema: Schema, sums: Statistics) -> Statistics:
    """Sums from workers, with the schema that they were made for."""
    accumulator = Accumulator.empty(schema)
    accumulator.add(sums, 1)
    return accumulator.statistics()


def without_held_out(schema: Schema) -> Schema:
    """The schema as workers need it: without what rows held out said, which sums do not."""
    return replace(schema, held_out=None)


@dataclass(frozen=True)
class PartWork:
    """What a worker does with its rows: sums, packed. A part without rows has the sums of none."""

    sums: SumsOf
    target: str
    weight: str | None
    features: list[str]

    def __call__(self, rows: RowSource) -> bytes:
        """The packed sums of the rows."""
        labelled = LabelledFiles(rows, self.target, self.weight, self.features)
        return packed(self.sums(labelled.each(rows.batches())))


def packed(statistics: Statistics) -> bytes:
    """Statistics as the bytes of a file."""
    file = io.BytesIO()
    statistics.save(file)
    return file.getvalue()


@dataclass(frozen=True)
class Merge:
    """Adds up packed sums; `known` holds the user's own families, which the bytes refer to by name."""

    known: tuple[Any, ...] = ()

    @classmethod
    def under(cls, schema: Schema) -> Merge:
        """For sums under a schema."""
        families = [factor.family for factor in schema.factors]
        tokenizers = [getattr(family, "tokenizer", None) for family in families]
        return cls((*{type(family) for family in families if is_own(family)}, *filter(callable, tokenizers)))

    def __call__(self, parts: list[bytes]) -> bytes:
        """The packed sum."""
        return packed(self.unpacked(parts))

    def unpacked(self, parts: Iterable[bytes]) -> Statistics:
        """The sum of all parts, in their order."""
        sums: Accumulator | None = None
        for part in parts:
            statistics = Statistics.load(io.BytesIO(part), known=self.known)
            if sums is None:
                sums = Accumulator.of(statistics)
            else:
                sums.add(statistics, 1)
        if sums is None:
            raise ValueError("there are no rows to add up.")
        return sums.statistics()


def is_own(family: Any) -> bool:
    """Whether a family is the user's own."""
    return not type(family).__module__.startswith("suffice.")
