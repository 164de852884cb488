"""Spark, classic and Connect: parts are summed by `mapInArrow`, where they are. No RDD is used.

Workers need suffice in their Python, unless the engine adds up by itself (push-down).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from suffice.engines.frames import as_table
from suffice.engines.lazy_rows import Answering, LazyRows, Work
from suffice.engines.streams import FrameRows, PartRows
from suffice.tables.files.batches import SCHEMA_ROWS, MergeParts
from suffice.tables.row_source import RowSource

PART = "part binary, refusal string"
"""What a partition becomes, or why it is refused: Spark would try again, and bury the reason."""
GROUPS = 16
"""How many sums the driver adds up, where they are large."""


class SparkRows(LazyRows):
    """The rows of a Spark DataFrame."""

    has_workers: ClassVar[bool] = True

    def __init__(self, frame: Any) -> None:
        # Spark takes a point in a name for a part of the name, so its columns are found by their places.
        names = frame.columns
        self._places = {name: f"c{place}" for place, name in enumerate(names)}
        placed = frame.toDF(*(f"c{place}" for place in range(len(names))))
        super().__init__(names, self._scanned, "the Spark DataFrame", placed, remote=True)

    def key(self, name: str) -> str:
        """The name of a column's place."""
        return self._places[name]

    def _selected(self, names: tuple[str, ...]) -> Any:
        return self.native.select(list(map(self.key, names)))

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Batches in this process: each comes as one cell, since Spark itself gives rows one by one."""
        for row in self._selected(names).mapInArrow(_as_cells, "batch binary").toLocalIterator():
            yield _from_cell(bytes(row[0])).rename_columns(list(names))

    def head(self) -> RowSource:
        """The first rows."""
        first = self.native.limit(SCHEMA_ROWS).toArrow()
        return FrameRows([first.rename_columns(list(self.present))], self.title)

    def reduced(self, work: Work, merge: MergeParts, *, is_large: bool) -> bytes:
        """The sums of all partitions; large ones are added up in groups before they reach the driver."""
        parts = self._selected(self.names).mapInArrow(_summing(work, self.names), PART)
        if is_large:
            parts = parts.repartition(GROUPS).mapInArrow(_merging(merge), PART)
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
        return found if sink is None else found.write.parquet(sink)


rows = SparkRows

Batches = Iterator[Any]


def _summing(work: Work, names: tuple[str, ...]) -> Callable[[Batches], Batches]:
    """What Spark runs on a partition: its sums, as one cell."""

    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        named = (one.rename_columns(list(names)) for one in batches)
        rows = PartRows(names, lambda _: named, f"partition {part} of the Spark DataFrame")
        try:
            yield _cell(work(rows, part), None)
        except ValueError as error:
            yield _cell(None, str(error))

    return run


def _cell(part: bytes | None, refusal: str | None) -> Any:
    import pyarrow as pa

    columns = [pa.array([part], pa.binary()), pa.array([refusal], pa.string())]
    return pa.record_batch(columns, names=["part", "refusal"])


def _answering(answers: Answering) -> Callable[[Batches], Batches]:
    """What Spark runs on a partition to answer its rows."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            yield from answers(as_table(batch).rename_columns(list(answers.names))).to_batches()

    return run


def _merging(merge: MergeParts) -> Callable[[Batches], Batches]:
    """What Spark runs on a group of sums."""

    def run(batches: Batches) -> Batches:
        held = [one for batch in batches for one in batch.to_pylist()]
        refusals = [one["refusal"] for one in held if one["refusal"] is not None]
        if refusals:
            yield _cell(None, refusals[0])
        elif held:
            yield _cell(merge([one["part"] for one in held]), None)

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
