"""Batches of rows with their labels and weights, from columns of any source of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from suffice.arrays import Array
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.source import FileSource, is_coded, open_source
from suffice.tables.files.types import joined_tables
from suffice.tables.row_source import RowSource, row_in
from suffice.tables.targets import read_weights, require_column
from suffice.tables.wording import quoted

SCHEMA_ROWS = 100_000
"""The first rows, which decide what the columns are."""
SCHEMA_BYTES = 1 << 26
"""In a wide table, as many rows as take this much memory."""
T = TypeVar("T")


class LabelledBatch(NamedTuple):
    """Rows (a pyarrow Table), one label each, and weights, not all of them zero."""

    X: Any
    y: Any
    weight: Array | None


WorkOnPart = Callable[[Iterable[LabelledBatch], int], bytes]
"""What a worker makes of the batches of a part, which has a number; it is sent to workers."""
MergeParts = Callable[[list[bytes]], bytes]
"""Makes one of what several parts have become."""


class Labelled(ABC):
    """Rows with their labels and weights, in batches."""

    checkpoint: Any = None
    """Where sums are kept on the way, if they are."""

    @abstractmethod
    def through(self, work: Callable[[Iterator[LabelledBatch]], T]) -> T:
        """Do some work with all batches; it starts over if columns turn out to need wider types."""

    @abstractmethod
    def __iter__(self) -> Iterator[LabelledBatch]:
        """The batches once more, after they have been read through."""

    def coded(self) -> Self:
        """The same rows, in which text may come as codes if they are in files."""
        return self

    def summed(self, begin: Callable[[LabelledBatch], Any]) -> Any:
        """The sums of all rows, where whoever holds the rows adds them up; None where batches are read.

        `begin` is given the first rows, which decide what the columns are, and returns what adds up others.
        """
        return None

    @property
    def has_workers(self) -> bool:
        """Whether parts of the rows are with workers, who can work on them there."""
        return False

    def on_first(self, work: Callable[[LabelledBatch], T]) -> T:
        """Do some work with the first rows; if it refuses them, the message says where they are."""
        return self.through(lambda batches: work(next(batches)))

    def reduced(self, work: WorkOnPart, merge: MergeParts, *, is_large: bool) -> bytes:
        """What workers make of all parts, merged; in groups first, where that of one part is large."""
        raise NotImplementedError


@dataclass(frozen=True)
class LabelledFiles(Labelled):
    """Rows whose labels and weights are columns, in batches that can be read repeatedly."""

    files: RowSource
    target: str
    weight: str | None
    features: list[str]

    @classmethod
    def of(cls, source: Any, target: str, weight: str | None = None, drop: Iterable[str] = ()) -> Self:
        """Open files, after checking that the columns of labels, weights and those to drop exist."""
        files: RowSource = source if isinstance(source, RowSource) else open_source(source)
        dropped = (drop,) if isinstance(drop, str) else tuple(drop)
        names = files.names
        for name in (target, *(() if weight is None else (weight,)), *dropped):
            require_column(name, names)
        used = [name for name in (target, weight) if name is not None]
        if len(set(used)) < len(used) or set(used) & set(dropped):
            raise ValueError(
                f"the target ({quoted(target)}), the weights and the dropped columns must all be "
                "different columns."
            )
        features = [name for name in names if name not in (target, weight, *dropped)]
        if not features:
            raise ValueError(f"no columns are left to learn from besides {quoted(target)}.")
        return cls(files.only([name for name in names if name not in dropped]), target, weight, features)

    def coded(self) -> Self:
        """The same rows, in which text may come as codes, but for those that decide what columns are."""
        if isinstance(self.files, FileSource):
            self.files.coded = True
        return self

    def through(self, work: Callable[[Iterator[LabelledBatch]], T]) -> T:
        """Do some work with all batches; if it refuses one after the first, the message says where it is."""
        return self._through(work, lambda tables: tables)

    def _through(
        self, work: Callable[[Iterator[LabelledBatch]], T], some: Callable[[Iterator[Any]], Iterator[Any]]
    ) -> T:
        """Do some work with some of the batches, of which there is the first."""

        def placed(tables: Iterator[Any]) -> T:
            at = Reading(some(_gathered(tables)))
            try:
                return work(self._labelled(at))
            except ValueError as error:
                if isinstance(error, FileDataError) or at.number == 0:  # it says where, or is about no batch
                    raise
                self.count_row(error, at, named=at.number == 1)
                if at.number == 1:
                    raise
                raise ValueError(f"{self.place(at.start, at.end)}: {error}") from error

        return self.files.through(placed)

    def count_row(self, error: ValueError, at: Reading, *, named: bool) -> None:
        """Let an error count its row as its file does, and maybe name it; without some rows, nobody knows."""
        row = row_in(error)
        if row is None or self.files.drop_unlabelled:
            return
        self.files.place_error(error, at.start + row, named=named)

    def __iter__(self) -> Iterator[LabelledBatch]:
        """The batches once more, after they have been read through."""
        with closing(self.files.batches()) as tables:
            yield from self._labelled(Reading(_gathered(tables)))

    def _labelled(self, tables: Reading) -> Iterator[LabelledBatch]:
        """Batches with their labels; sources without any are refused."""
        kept_any = False
        for batch in self.each(tables):
            kept_any = True
            yield batch
        if tables.end == 0:
            raise FileDataError(f"{self.files.title}: there are no rows below the header.")
        if not kept_any and self.files.drop_unlabelled:
            raise FileDataError(f"{self.files.title}: no row has a label in column {quoted(self.target)}.")
        if not kept_any:
            raise ValueError(
                f"the weight column {quoted(self.weight)} is zero in every row, so there is nothing to "
                "learn from."
            )

    def each(self, tables: Iterable[Any]) -> Iterator[LabelledBatch]:
        """Tables as batches with labels and weights, but for those whose rows all weigh nothing."""
        row = 0
        for table in tables:
            start, row = row, row + table.num_rows
            weights = None
            if self.weight is not None:
                cells = table.column(self.weight).to_numpy(zero_copy_only=False)
                weights = self._weights(cells, start)
            column, kept = table.column(self.target), table.select(self.features)
            if self.files.drop_unlabelled and column.null_count:
                there = column.is_valid().to_numpy()
                column, kept = column.filter(there), kept.filter(there)
                weights = None if weights is None else weights[there]
            labels = self._labels(column, start)
            if kept.num_rows and (weights is None or weights.any()):
                yield LabelledBatch(kept, labels, weights)

    def place(self, start: int, end: int) -> str:
        """Where some of the rows read so far are, for messages."""
        return self.files.place(start, end)

    def _weights(self, cells: Any, start: int) -> Array:
        def place(row: int) -> str:
            file, there = self.files.locate(start + row)
            return f"row {there} of {file}"

        try:
            return read_weights(cells, f"column {quoted(self.weight)}", place)
        except ValueError as error:
            raise FileDataError(str(error)) from None

    def _labels(self, column: Any, start: int) -> Any:
        import pyarrow as pa

        name = quoted(self.target)
        if column.null_count:
            file, row = self.files.locate(start + int(np.argmax(column.is_null().to_numpy())))
            raise FileDataError(
                f"{file}: column {name} has no label at row {row}; add one, or remove the row."
            )
        if pa.types.is_floating(column.type):
            values = column.to_numpy()
            measured = np.isfinite(values) & (values != np.floor(values))
            if measured.any():
                raise ValueError(
                    f"column {name} holds measurements such as {values[np.argmax(measured)]}, not classes; "
                    "choose another target, or group the values first."
                )
        return column.cast(pa.string()) if pa.types.is_temporal(column.type) else column


class Reading(Iterator[Any]):
    """Batches, and the rows of the one in hand: `number` counts them from 1, and is 0 when none is left."""

    def __init__(self, tables: Iterator[Any]) -> None:
        self._tables = tables
        self.number = self.start = self.end = 0

    def __next__(self) -> Any:
        table = next(self._tables, None)
        if table is None:
            self.number = 0
            raise StopIteration
        self.number, self.start, self.end = self.number + 1, self.end, self.end + table.num_rows
        return table


def decoded(table: Any) -> Any:
    """A table in which text is text."""
    import pyarrow as pa

    columns = [
        column.cast(column.type.value_type) if is_coded(column.type) else column for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _gathered(tables: Iterator[Any]) -> Iterator[Any]:
    """The rows that decide what the columns are, as one table, and then the others."""
    first: list[Any] = []
    rows = size = 0
    for table in tables:
        first.append(table)
        rows, size = rows + table.num_rows, size + table.nbytes
        if rows >= SCHEMA_ROWS or size >= SCHEMA_BYTES:
            break
    if first:
        # Their kinds are known to be alike; a column of whole numbers may have decimals further on.
        yield joined_tables(list(map(decoded, first)))
    yield from tables
