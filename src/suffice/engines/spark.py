"""Spark, classic and Connect: parts are summed by `mapInArrow`, where they are. No RDD is used.

Workers need suffice in their Python, unless the engine adds up by itself (push-down).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any, ClassVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from suffice.engines.frames import as_table
from suffice.engines.lazy_rows import Answering, LazyRows, Work, places
from suffice.engines.partial_sums import saying_where
from suffice.engines.streams import PartRows
from suffice.tables.files.batches import SCHEMA_ROWS, MergeParts
from suffice.tables.row_source import RowSource

PART = "part binary, refusal string"
"""What a partition becomes, or why it is refused: Spark would try again, and bury the reason."""
LIBRARY = __name__.partition(".")[0]
"""What workers need in their Python."""
GROUPS = 16
"""How many sums the driver adds up, where they are large."""


class SparkRows(LazyRows):
    """The rows of a Spark DataFrame."""

    has_workers: ClassVar[bool] = True

    def __init__(self, frame: Any) -> None:
        # Spark takes a point in a name for a part of the name, so its columns are found by their places.
        names = frame.columns
        placed = frame.toDF(*places(len(names)))
        super().__init__(names, self._scanned, "the Spark DataFrame", placed, remote=True, is_placed=True)

    def _selected(self, names: tuple[str, ...]) -> Any:
        return self.native.select(list(map(self.key, names)))

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Batches in this process: each comes as one cell, since Spark itself gives rows one by one."""
        with _workers_named():
            for row in self._selected(names).mapInArrow(_as_cells, "batch binary").toLocalIterator():
                yield _from_cell(bytes(row[0])).rename_columns(list(names))

    def head(self) -> RowSource:
        """The first rows, which know their partitions."""
        found = self.native.selectExpr("*", "spark_partition_id() AS part").limit(SCHEMA_ROWS).toArrow()
        first = found.drop_columns("part").rename_columns(list(self.present))
        return _Head(first, found.column("part").to_numpy(), self.title)

    def reduced(self, work: Work, merge: MergeParts, *, is_large: bool) -> bytes:
        """The sums of all partitions; large ones are added up in groups before they reach the driver."""
        parts = self._selected(self.names).mapInArrow(_summing(work, self.names), PART)
        if is_large:
            parts = parts.repartition(GROUPS).mapInArrow(_merging(merge), PART)
        with _workers_named():
            held, refusals = (column.to_pylist() for column in parts.toArrow().columns)
        for refusal in filter(None, refusals):
            raise ValueError(refusal)
        return merge(held)

    def answered(self, answers: Answering, sink: str | None) -> Any:
        """A Spark DataFrame of answers; with a sink, it is written there as Parquet."""
        from pyspark.sql.pandas.types import from_arrow_schema

        frame = self._selected(answers.names)
        empty = answers(frame.limit(0).toArrow().rename_columns(list(answers.names)))
        found = frame.mapInArrow(_answering(answers), from_arrow_schema(empty.schema))
        if sink is None:
            return found
        with _workers_named():
            return found.write.parquet(sink)


rows = SparkRows


class _Head(PartRows):
    """The first rows, one after the other, with the partition of each."""

    def __init__(self, first: Any, parts: NDArray[np.integer[Any]], title: str) -> None:
        super().__init__(first.column_names, lambda _: iter([first]), title)
        self._parts = parts

    def locate(self, row: int) -> tuple[object, int]:
        """The partition that holds a row, and the number of the row there."""
        part = self._parts[row]
        return f"partition {part} of {self.title}", row - int(np.argmax(self._parts == part))


@contextmanager
def _workers_named() -> Iterator[None]:
    """Say in plain words that workers have no suffice; Spark only shows how they failed."""
    try:
        yield
    except Exception as error:
        if f"No module named '{LIBRARY}'" not in str(error):
            raise
        raise ModuleNotFoundError(
            f"Spark's workers run another Python, without {LIBRARY}; install it there, or, before the "
            "session starts, set the environment variable PYSPARK_PYTHON to a Python that has it, such as "
            f"{sys.executable}.",
            name=LIBRARY,
        ) from None


Batches = Iterator[Any]


def _summing(work: Work, names: tuple[str, ...]) -> Callable[[Batches], Batches]:
    """What Spark runs on a partition: its sums, as one cell."""

    def run(batches: Batches) -> Batches:
        part, title, batches = _numbered(batches)
        named = (one.rename_columns(list(names)) for one in batches)
        rows = PartRows(names, lambda _: named, title)
        yield _refusing(lambda: work(rows, part))

    return run


def _refusing(work: Callable[[], bytes]) -> Any:
    """What some work makes, or why it refuses, as one cell."""
    try:
        return _cell(work(), None)
    except ValueError as error:
        return _cell(None, str(error))


def _numbered(batches: Batches) -> tuple[int, str, Batches]:
    """The number of the partition at hand, what it is called, and its batches."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None:
        part = context.partitionId()
        return part, f"partition {part} of the Spark DataFrame", batches
    # Servers of others than Spark do not tell. A number is made of the rows, since it decides which are kept.
    first = list(islice(batches, 1))
    part = sum(crc32(one.serialize()) for one in first)
    return part, "a partition of the Spark DataFrame", chain(first, batches)


def _cell(part: bytes | None, refusal: str | None) -> Any:
    import pyarrow as pa

    columns = [pa.array([part], pa.binary()), pa.array([refusal], pa.string())]
    return pa.record_batch(columns, names=["part", "refusal"])


def _answering(answers: Answering) -> Callable[[Batches], Batches]:
    """What Spark runs on a partition to answer its rows."""

    def run(batches: Batches) -> Batches:
        _, title, batches = _numbered(batches)
        start = 0
        for batch in batches:
            with saying_where(title, start):
                answered = answers(as_table(batch).rename_columns(list(answers.names)))
            yield from answered.to_batches()
            start += batch.num_rows

    return run


def _merging(merge: MergeParts) -> Callable[[Batches], Batches]:
    """What Spark runs on a group of sums."""

    def run(batches: Batches) -> Batches:
        held = [one for batch in batches for one in batch.to_pylist()]
        refusals = [one["refusal"] for one in held if one["refusal"] is not None]
        if refusals:
            yield _cell(None, refusals[0])
        elif held:
            yield _refusing(lambda: merge([one["part"] for one in held]))

    return run


def _as_cells(batches: Batches) -> Batches:
    """Batches of rows, each as the bytes of an Arrow stream."""
    import pyarrow as pa
    from pyarrow import ipc

    for batch in batches:
        sink = pa.BufferOutputStream()
        with ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["batch"])


def _from_cell(cell: bytes) -> Any:
    from pyarrow import ipc

    with ipc.open_stream(cell) as reader:
        return reader.read_all()
