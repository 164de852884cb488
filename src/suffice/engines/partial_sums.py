"""Sums of a part of the rows: made where the rows are, packed, sent and added up."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from suffice.model.columns.schema import Schema
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.coded_labels import read_coded_labels
from suffice.tables.files.batches import (
    Labelled,
    LabelledBatch,
    LabelledFiles,
    MergeParts,
    Reading,
    WorkOnPart,
)
from suffice.tables.files.formats import FileDataError
from suffice.tables.notations import Marks
from suffice.tables.row_source import RowSource, placed, rename_row, row_in
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
    """What a worker does with a part whose labels and weights are columns. There may be no rows."""

    work: WorkOnPart
    target: str
    weight: str | None
    features: list[str]

    def __call__(self, rows: RowSource, part: int) -> bytes:
        """What the work makes of the rows."""
        labelled = LabelledFiles(rows, self.target, self.weight, self.features)
        at = Reading(rows.batches())
        with saying_where(rows.title):
            try:
                return self.work(labelled.each(at), part)
            except ValueError as error:
                if at.number:
                    labelled.count_row(error, at, named=False)
                raise


@contextmanager
def saying_where(title: str, start: int = 0) -> Iterator[None]:
    """Let what is refused say in which part of the rows it is, of which the first at hand has this number."""
    try:
        yield
    except FileDataError:  # it says where
        raise
    except (TypeError, ValueError) as error:
        row = row_in(error)
        if row is not None:
            rename_row(error, start + row)
        raise placed(error, title) from error


@dataclass(frozen=True)
class PackedSums:
    """The sums of a part, packed. A part without rows has the sums of none."""

    sums: SumsOf

    def __call__(self, batches: Iterable[LabelledBatch], part: int) -> bytes:
        """The packed sums of the rows."""
        return packed(self.sums(batches))


def summed_by_workers(labelled: Labelled, sums: SumsOf) -> Statistics:
    """The sums of all parts, each made where it is."""
    merge = Merge.under(sums.schema)
    return merge.unpacked([labelled.reduced(PackedSums(sums), merge, is_large=_is_large(sums.schema))])


def _is_large(schema: Schema) -> bool:
    """Whether the sums of a part may be large: those of words and of sparse counts grow with the rows."""
    return any(factor.family.factor in ("words", "counts") for factor in schema.factors)


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


@dataclass(frozen=True)
class MergeSeveral:
    """Merges parts of several things each, one thing like the other."""

    merges: tuple[MergeParts, ...]

    def __call__(self, parts: list[bytes]) -> bytes:
        """One part."""
        if not parts:
            raise ValueError("there are no rows to add up.")
        several = zip(*map(self.unpacked, parts), strict=True)
        return self.packed(merge(list(one)) for merge, one in zip(self.merges, several, strict=True))

    @staticmethod
    def packed(things: Iterable[bytes]) -> bytes:
        """Several things as one part, each after its length."""
        return b"".join(struct.pack("<Q", len(one)) + one for one in things)

    @staticmethod
    def unpacked(part: bytes) -> list[bytes]:
        """The things of a part."""
        found, at = [], 0
        while at < len(part):
            start = at + 8
            at = start + struct.unpack_from("<Q", part, at)[0]
            found.append(part[start:at])
        return found


def is_own(family: Any) -> bool:
    """Whether a family is the user's own."""
    return not type(family).__module__.startswith("suffice.")
