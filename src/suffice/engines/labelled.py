"""Rows of any source with their labels and weights, and who adds them up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Integral
from os import PathLike
from typing import Any, Literal, TypeVar

import numpy as np

from suffice.engines.checkpoint import Checkpoint
from suffice.engines.first_rows import FirstJoined
from suffice.engines.frames import table_at
from suffice.engines.kinds import SeenKinds
from suffice.engines.lazy_rows import LazyRows
from suffice.engines.partial_sums import PartWork, SumsOf, SumsOfRows, summed_by_workers
from suffice.engines.sources import engine_of, is_lazy, module_of, rows_of
from suffice.engines.streams import Once
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Statistics
from suffice.tables.as_arrays import as_array
from suffice.tables.files.batches import Labelled, LabelledBatch, LabelledFiles, MergeParts, WorkOnPart
from suffice.tables.files.source import FileSource, is_source
from suffice.tables.recognized import is_frame, reading_method
from suffice.tables.row_source import RowSource
from suffice.tables.wording import counted, kind_of_thing, listed, warn

How = Literal["pushdown", "batches"]
OnError = Literal["raise", "skip"]
FILES_ONLY = "{}: only files can do that."
HOW = ("pushdown", "batches")
T = TypeVar("T")


@dataclass(frozen=True)
class LabelledSource(LabelledFiles):
    """Rows with named columns, which the engine that holds them may add up itself."""

    how: How | None = None
    checkpoint: Checkpoint | None = None

    def through(self, work: Callable[[Iterator[LabelledBatch]], T]) -> T:
        """Do some work with all batches, after the first one only with those that the checkpoint lacks."""
        found = self._read(work)
        if self.checkpoint is not None:
            self.checkpoint.done()
        _warn_of_skipped(self.files)
        return found

    def _read(self, work: Callable[[Iterator[LabelledBatch]], T]) -> T:
        kept, begun = self.checkpoint, False
        if kept is None:
            return super().through(work)

        def some(tables: Iterator[Any]) -> Iterator[Any]:
            nonlocal begun
            if begun:  # with wider types
                kept.start_over()
            begun = True
            return kept.tables(tables)

        return self._through(work, some)

    def place(self, start: int, end: int) -> str:
        """Where the last of the rows read so far are; those that the checkpoint has were not read."""
        if self.checkpoint is not None:
            start, end = self.checkpoint.row - (end - start), self.checkpoint.row
        return super().place(start, end)

    def summed(self, begin: Callable[[LabelledBatch], SumsOf]) -> Statistics | None:
        """The sums, if the engine has workers or is asked to group; None if batches are read."""
        from suffice.engines.pushdown import grouped_sums

        rows = self.files
        if not isinstance(rows, LazyRows):
            return None
        asked = self.how == "pushdown"
        if not (asked or rows.has_workers or (rows.remote and self.how is None)):
            return None
        first, sums = self.on_first(lambda batch: (batch, begin(batch)))
        if asked or (rows.remote and self.how is None):
            rest = self._of_columns if asked else None
            found = grouped_sums(rows, self, sums.schema, first, sums([first]), rest)
            if found is not None:
                return found
        return summed_by_workers(self, sums) if rows.has_workers else None

    def _of_columns(self, schema: Schema) -> Statistics:
        """The sums of some columns, from their rows."""
        names, others = list(map(str, schema.names)), [self.target, self.weight]
        rows = self.files.only([*names, *(one for one in others if one is not None)])
        some, sums = replace(self, files=rows, features=names), SumsOfRows(schema, None)
        return summed_by_workers(some, sums) if some.has_workers else some.through(sums)

    @property
    def has_workers(self) -> bool:
        """Whether the engine has workers."""
        return isinstance(self.files, LazyRows) and self.files.has_workers

    def on_first(self, work: Callable[[LabelledBatch], T]) -> T:
        """Do some work with the first rows; if it refuses them, the message says where they are."""
        rows = self.files
        head = rows.head().only(rows.names) if isinstance(rows, LazyRows) else rows
        return LabelledFiles.through(replace(self, files=head), lambda batches: work(next(batches)))

    def reduced(self, work: WorkOnPart, merge: MergeParts, *, is_large: bool) -> bytes:
        """What workers make of all parts."""
        if not isinstance(self.files, LazyRows):
            return super().reduced(work, merge, is_large=is_large)
        part = PartWork(work, self.target, self.weight, self.features)
        return self.files.reduced(part, merge, is_large=is_large)


def _warn_of_skipped(rows: RowSource) -> None:
    """Say which files were skipped, and why."""
    if isinstance(rows, FileSource) and rows.skipped:
        skipped = rows.skipped
        reasons = "\n".join(f"  {reason}" for reason in skipped.values())
        warn(
            f"{len(skipped)} of {counted(len(rows.paths), 'file')} could not be read:\n{reasons}", UserWarning
        )


class LabelledPairs(Labelled):
    """Batches (X, y) or (X, y, weights) of an iterable; X is any table."""

    def __init__(self, pairs: Iterable[Any]) -> None:
        self._pairs = pairs

    def through(self, work: Callable[[Iterator[LabelledBatch]], T]) -> T:
        """Do some work with all batches; if it refuses one, the message says where it is."""
        batches = FirstJoined(self._each())
        with batches.placing():
            return work(batches)

    def __iter__(self) -> Iterator[LabelledBatch]:
        """The batches."""
        return FirstJoined(self._each())

    def _place(self, number: int) -> str:
        return f"batch {number}"

    def _each(self) -> Iterator[tuple[str, LabelledBatch]]:
        """What messages call a batch, and the batch."""
        some, kinds = False, SeenKinds()
        for number, one in enumerate(self._pairs):
            place = self._place(number)
            if not isinstance(one, tuple) or len(one) not in (2, 3):
                given = f"a tuple of {len(one)}" if isinstance(one, tuple) else kind_of_thing(one)
                raise TypeError(f"{place}: pass a tuple (X, y) or (X, y, weights), got {given}.")
            X, y, *weights = one
            if not hasattr(y, "__len__"):
                raise TypeError(f"{place}: y must hold one label per row, got {kind_of_thing(y)}.")
            if len(y):
                some = True
                rows = _as_rows(place, X)
                if is_frame(rows):
                    kinds.settle_table(rows, place)
                elif hasattr(rows, "dtype"):
                    kinds.settle_array("X", rows, place)
                weight = next((np.asarray(one) for one in weights if one is not None), None)
                yield place, LabelledBatch(rows, y, weight)
        if not some:
            raise ValueError("the iterable has no rows.")


def _as_rows(place: str, X: Any) -> Any:
    """The rows of a batch: a table with names as an Arrow table, lists of cells as an array."""
    if is_frame(X) or isinstance(X, dict):
        return table_at(place, X)
    is_list_of_rows = isinstance(X, list) and X and isinstance(X[0], (list, tuple, np.ndarray))
    return as_array(X, "X") if is_list_of_rows else X


def labelled_rows(
    source: Any,
    target: Any,
    weight: Any = None,
    drop: Any = (),
    how: How | None = None,
    *,
    checkpoint: str | PathLike[str] | None = None,
    on_error: OnError = "raise",
    said: Callable[[int, float | None], None] | None = None,
) -> Labelled:
    """The rows of a source with their labels: a column, or the y of pairs (X, y).

    Names of columns that are numbers are text here, as where rows are read.
    """
    if how is not None and how not in HOW:
        raise ValueError(f"how must be 'pushdown', 'batches' or None, got {how!r}.")
    target, weight, *drop = map(_name, (target, weight, *((drop,) if _is_name(drop) else drop)))
    source = Once(source) if isinstance(source, Iterator) and not is_lazy(source) else source
    if _are_pairs(source):
        if target is not None or weight is not None or drop:
            raise ValueError(
                "batches (X, y) bring their labels with them; leave out target=, weight= and drop=."
            )
        if checkpoint is not None or on_error != "raise":
            raise TypeError(FILES_ONLY.format("checkpoint= and on_error="))
        return LabelledPairs(source)
    rows = rows_of(source)
    if target is None:
        raise ValueError(
            "the labels are missing: pass target= with the name of the column that holds the classes, one of "
            f"{listed(rows.names)}, or pass pairs (X, y), each of them a tuple."
        )
    if not (weight is None or isinstance(weight, str)):
        raise ValueError("for rows that are not in memory, the weights must be the name of a column.")
    if how == "pushdown" and not isinstance(rows, LazyRows):
        raise ValueError(
            f"how='pushdown' needs an engine that can group rows, but {kind_of_thing(source)} cannot; leave "
            "it out."
        )
    rows = _opened(rows, on_error, said)
    found = replace(LabelledSource.of(rows, target, weight, drop), how=how)
    return found if checkpoint is None else replace(found, checkpoint=Checkpoint.of(checkpoint, found))


def _opened(
    rows: RowSource, on_error: OnError, said: Callable[[int, float | None], None] | None
) -> RowSource:
    """Rows that say how far they are read, and in which files that cannot be read are skipped, if wanted."""
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise' or 'skip', got {on_error!r}.")
    if isinstance(rows, FileSource):
        return replace(rows, said=said or rows.said, skipped={} if on_error == "skip" else rows.skipped)
    if on_error == "skip":
        raise TypeError(FILES_ONLY.format("on_error='skip'"))
    return rows


def labelled_arrays(X: Any, y: Any, weight: Any = None) -> Labelled:
    """Lazy rows with labels beside them: the name of a column, or for Dask Arrays another array."""
    engine = engine_of(X)
    is_array = engine is not None and engine.name == "Array"
    if isinstance(y, str) or (_is_name(y) and not is_array):
        return labelled_rows(X, y, weight)
    if engine is None or not is_array:
        method = reading_method(X)
        cure = "" if method is None else f", or pass X.{method}"
        raise ValueError(
            f"for {kind_of_thing(X)}, whose rows are not in memory, y must be the name of a column{cure}."
        )
    beside: Labelled = module_of(engine).labelled_arrays(X, y, weight)
    return beside


def _is_name(one: Any) -> bool:
    """Whether something may be the name of a column."""
    return isinstance(one, (str, Integral)) and not isinstance(one, bool)


def _name(one: Any) -> Any:
    """The name of a column as text; anything else as it is."""
    return str(one) if _is_name(one) else one


def _are_pairs(source: Any) -> bool:
    """Whether a source is an iterable of pairs (X, y); only its first element is looked at."""
    if (
        is_lazy(source)
        or is_source(source)
        or is_frame(source)
        or not isinstance(source, (Once, list, tuple))
    ):
        return False
    first = source.peek() if isinstance(source, Once) else next(iter(source), None)
    return isinstance(first, tuple)
