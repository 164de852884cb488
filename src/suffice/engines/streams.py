"""Batches of rows that come one after the other, as they are, in columns that keep their kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from copy import copy
from typing import Any, Self

from suffice.engines.frames import table_at
from suffice.engines.kinds import ANY_CELLS, NO_SUCH_CELLS, SeenKinds, read_column
from suffice.tables.files.formats import FileDataError
from suffice.tables.row_source import RowSource
from suffice.tables.targets import require_column
from suffice.tables.wording import listed, quoted


class BatchRows(RowSource):
    """Rows of an engine that gives them in batches. Columns are found by name, in any order."""

    title = "the rows"
    drop_unlabelled = False

    def __init__(self) -> None:
        self._kept: tuple[str, ...] | None = None
        self._wanted: Mapping[str, Any] = {}
        self.kinds = SeenKinds()
        self._starts: list[int] = []

    @property
    @abstractmethod
    def present(self) -> tuple[str, ...]:
        """All columns of the rows."""

    @abstractmethod
    def frames(self, names: tuple[str, ...]) -> Iterable[Any]:
        """The rows as frames of any library, each with these columns at least, in any order."""

    def called(self, number: int) -> str:
        """What messages call a batch."""
        return f"{self.title}, batch {number}"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.present if self._kept is None else self._kept

    def only(self, names: Iterable[str], wanted: Mapping[str, Any] | None = None) -> Self:
        """The same rows with some of the columns, and the kinds their cells must have."""
        kept = tuple(names)
        for name in kept:
            require_column(name, self.present)
        some = copy(self)
        vars(some).update(_kept=kept, _wanted=self._wanted if wanted is None else wanted)
        return some

    def batches(self) -> Generator[Any]:
        """The rows, batch by batch."""
        import pyarrow as pa

        n_rows, names, self._starts, self.kinds = 0, self.names, [], SeenKinds()
        table = None
        for number, frame in enumerate(self.frames(names)):
            self._starts.append(n_rows)
            found = self._table(number, frame, names)
            columns = [self._typed(number, name, found.column(name)) for name in names]
            table = pa.table(columns, list(names))
            n_rows += table.num_rows
            yield table
        if table is None:
            yield pa.table([pa.nulls(0)] * len(names), list(names))

    def _table(self, number: int, frame: Any, names: tuple[str, ...]) -> Any:
        """A frame as a Table that has all columns."""
        found = table_at(self.called(number), frame)
        missing = [name for name in names if name not in found.column_names]
        if missing:
            raise FileDataError(
                f"{self.called(number)}: there is no column {quoted(missing[0])}; the columns are "
                f"{listed(found.column_names, brackets=False)}."
            )
        return found

    def _typed(self, number: int, name: str, column: Any) -> Any:
        """A column of the kind that it had before."""
        found = read_column(column, self._wanted.get(name))
        if found is None:
            kind = self._wanted[name].kind if name in self._wanted else ANY_CELLS
            raise FileDataError(
                f"{self.called(number)}: column {quoted(name)} {NO_SUCH_CELLS.format(column.type, kind)}"
            )
        self.kinds.settle_column(name, found.type, self.called(number), column.type)
        return found

    def locate(self, row: int) -> tuple[object, int]:
        """The batch that holds a row, and the number of the row there."""
        batch = max(i for i, start in enumerate(self._starts) if start <= row)
        return self.called(batch), row - self._starts[batch]


class FrameRows(BatchRows):
    """Frames or Arrow batches of an iterable: a list can be read again, a generator cannot.

    Parameters
    ----------
    frames : iterable of frames
        pandas and Polars DataFrames, pyarrow Tables and RecordBatches.
    title : str, default="the iterable"
        What messages call the rows.
    """

    def __init__(self, frames: Iterable[Any], title: str = "the iterable") -> None:
        super().__init__()
        self.title = title
        self._frames = (
            Once(frames) if isinstance(frames, Iterator) and not isinstance(frames, Once) else frames
        )
        self._first: tuple[str, ...] | None = None

    @property
    def present(self) -> tuple[str, ...]:
        """The columns of the first frame."""
        if self._first is None:
            first = self._frames.peek() if isinstance(self._frames, Once) else next(iter(self._frames), None)
            if first is None:
                raise FileDataError(f"{self.title} has no rows.")
            self._first = tuple(self._table(0, first, ()).column_names)
        return self._first

    def frames(self, names: tuple[str, ...]) -> Iterable[Any]:
        """The frames, with all their columns."""
        return self._frames


class Once(Iterator[Any]):
    """An iterator whose first element can be looked at, and that refuses to be read twice."""

    def __init__(self, source: Iterable[Any]) -> None:
        self._rest = iter(source)
        self._peeked: list[Any] = []
        self._begun = False

    def peek(self) -> Any:
        """The first element; None if there is none."""
        if not self._peeked and not self._begun:
            self._peeked = [one for one in [next(self._rest, None)] if one is not None]
        return self._peeked[0] if self._peeked else None

    def __iter__(self) -> Self:
        if self._begun:
            raise ValueError(
                "this source can be read only once, but its rows are needed again; pass a list of batches, "
                "a file, or a lazy frame."
            )
        self._begun = True
        return self

    def __next__(self) -> Any:
        return self._peeked.pop() if self._peeked else next(self._rest)


Tables = Callable[[tuple[str, ...]], Iterator[Any]]
"""Opens batches with these columns."""


class ScannedRows(BatchRows):
    """Rows that an engine reads anew, with the columns that are needed."""

    def __init__(self, names: Iterable[str], scan: Tables, title: str) -> None:
        super().__init__()
        self._present, self._scan, self.title = tuple(names), scan, title

    @property
    def present(self) -> tuple[str, ...]:
        """All columns."""
        return self._present

    def frames(self, names: tuple[str, ...]) -> Iterable[Any]:
        """Batches with these columns."""
        return self._scan(names)


class PartRows(ScannedRows):
    """The rows of one part, which has a name in messages: its rows are counted from its start."""

    def called(self, number: int) -> str:
        """The name of the part."""
        return self.title

    def locate(self, row: int) -> tuple[object, int]:
        """The part, and the number of the row there."""
        return self.title, row
