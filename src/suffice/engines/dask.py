"""Dask: partitions are summed where they are, and the sums added up in a tree.

The running Client does the work if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

from suffice.engines.frames import as_table
from suffice.engines.kinds import SeenKinds, merge_kinds
from suffice.engines.labelled import LabelledPairs
from suffice.engines.lazy_rows import Answering, LazyRows, Work
from suffice.engines.partial_sums import MergeSeveral, SumsOf, saying_where, summed_by_workers
from suffice.engines.streams import PartRows
from suffice.model.statistics import Statistics
from suffice.tables.files.batches import LabelledBatch, MergeParts, WorkOnPart
from suffice.tables.files.formats import FileDataError
from suffice.tables.targets import read_labels
from suffice.tables.wording import counted, quoted

library: Callable[[str], Any] = import_module
"""Dask is not typed throughout."""
AT_ONCE = 8
"""How many sums are added up by one task."""


def rows(source: Any) -> LazyRows:
    """The rows of a Dask DataFrame."""
    if not hasattr(source, "columns"):
        raise TypeError(
            "a Dask Array has no named columns; pass it as X: model.fit(X, y), summarize(X, y) or "
            "model.predict(X)."
        )
    return DaskRows(source)


class DaskRows(LazyRows):
    """The partitions of a Dask DataFrame."""

    has_workers: ClassVar[bool] = True

    def __init__(self, frame: Any) -> None:
        names = list(map(str, frame.columns))
        renamed = dict(zip(frame.columns, names, strict=True))
        native = frame if list(renamed) == names else frame.rename(columns=renamed)
        super().__init__(names, self._scanned, "the Dask DataFrame", native)

    def called(self, number: int) -> str:
        """What messages call a partition."""
        return f"partition {number} of {self.title}"

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        """Partition after partition, in this process."""
        frame = self.native[list(names)]
        for number in range(frame.npartitions):
            with _columns_named(names, self.called(number)):
                part = frame.partitions[number].compute()
            yield part

    def reduced(self, work: Work, merge: MergeParts, *, is_large: bool) -> bytes:
        """The sums of all partitions, added up in a tree."""
        parts = self.native[list(self.names)].to_delayed()
        tasks = [
            (_PartOfFrame(work, self.names, self.called(part)), part, frame)
            for part, frame in enumerate(parts)
        ]
        with _columns_named(self.names, f"a partition of {self.title}"):
            return _with_kinds(tasks, merge)

    def answered(self, answers: Answering, sink: str | None) -> Any:
        """A Dask DataFrame of answers; with a sink, it is written there as Parquet, a file a partition."""
        frame = self.native[list(answers.names)]
        answer = _AnswersToFrame(answers)
        found = frame.map_partitions(answer, meta=answer(frame.head(0)))
        return found if sink is None else found.to_parquet(sink, write_index=False)


class _AnswersToFrame:
    """The answers to one partition, in its own index."""

    def __init__(self, answers: Answering) -> None:
        self.answers = answers

    def __call__(self, frame: Any, partition_info: Any = None) -> Any:
        part = "" if partition_info is None else f"partition {partition_info['number']} of "  # told by Dask
        with saying_where(f"{part}the Dask DataFrame"):
            return self.answers(as_table(frame)).to_pandas().set_index(frame.index)


@dataclass(frozen=True)
class _PartOfFrame:
    """The work on one partition, after the kinds of its columns: another partition may hold others."""

    work: Work
    names: tuple[str, ...]
    title: str

    def __call__(self, part: int, frame: Any) -> bytes:
        rows = PartRows(self.names, lambda _: iter([frame]), self.title)
        found = self.work(rows, part)
        return MergeSeveral.packed([rows.kinds.packed(), found])


@contextmanager
def _columns_named(names: tuple[str, ...], title: str) -> Iterator[None]:
    """Say in plain words that a partition lacks a column, which Dask notices where it selects columns."""
    try:
        yield
    except KeyError as error:
        lacking = [name for name in names if repr(name) in str(error)]
        if not lacking:
            raise
        raise FileDataError(
            f"{title}: there is no column {quoted(lacking[0])}; give all partitions the same columns."
        ) from error


def in_a_tree(tasks: list[tuple[Any, ...]], merge: MergeParts) -> bytes:
    """Run tasks (a function and its arguments), and add up what they return, a few at a time."""
    delayed = library("dask").delayed
    parts = [delayed(function, pure=False)(*arguments) for function, *arguments in tasks]
    while len(parts) > 1:
        groups = [parts[at : at + AT_ONCE] for at in range(0, len(parts), AT_ONCE)]
        parts = [delayed(merge, pure=False)(group) if len(group) > 1 else group[0] for group in groups]
    found: bytes = parts[0].compute()
    return found


def _with_kinds(tasks: list[tuple[Any, ...]], merge: MergeParts) -> bytes:
    """The same for tasks that also return what kinds of cells they saw, which must be the same in all."""
    _, found = MergeSeveral.unpacked(in_a_tree(tasks, MergeSeveral((merge_kinds, merge))))
    return found


class LabelledArrays(LabelledPairs):
    """Rows of a Dask Array, with an array of labels and perhaps one of weights."""

    def __init__(self, X: Any, y: Any, weight: Any) -> None:
        if X.ndim != 2:
            raise ValueError(f"Expected a 2D array of rows, got one of {X.ndim} dimensions.")
        X = X.rechunk({1: -1})
        if any(size != size for size in X.chunks[0]):  # noqa: PLR0124, NaN: Dask does not know it
            X = X.compute_chunk_sizes()
        beside = []
        for one, what in ((y, "y"), (weight, "sample_weight")):
            if one is not None:
                array = one if hasattr(one, "to_delayed") else library("dask.array").from_array(one)
                array = getattr(array, "values", array)
                array = array.compute_chunk_sizes() if array.shape[0] != array.shape[0] else array
                if array.shape != (X.shape[0],):
                    raise ValueError(f"X has {X.shape[0]} rows, but {what} has the shape {array.shape}.")
                beside.append(array.rechunk((X.chunks[0],)).to_delayed())
        self._width = X.shape[1]
        self._blocks = [tuple(block) for block in zip(X.to_delayed()[:, 0], *beside, strict=True)]
        super().__init__(_Computed(self._blocks, self._width))

    def summed(self, begin: Callable[[LabelledBatch], SumsOf]) -> Statistics | None:
        """The sums of all blocks, each made where it is."""
        return summed_by_workers(self, self.on_first(begin))

    def _place(self, number: int) -> str:
        return _block(number)

    @property
    def has_workers(self) -> bool:
        """Whoever computes the arrays."""
        return True

    def reduced(self, work: WorkOnPart, merge: MergeParts, *, is_large: bool) -> bytes:
        """What workers make of all blocks."""
        on_part = _PartOfArrays(work, self._width)
        tasks = [(on_part, part, *block) for part, block in enumerate(self._blocks)]
        return _with_kinds(tasks, merge)


labelled_arrays = LabelledArrays


class _Computed:
    """Blocks of arrays, in this process, one after the other."""

    def __init__(self, blocks: list[tuple[Any, ...]], width: int) -> None:
        self._blocks, self._width = blocks, width

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for number, block in enumerate(self._blocks):
            arrays = library("dask").compute(*block)
            _require_width(number, arrays[0], self._width)
            yield arrays


@dataclass(frozen=True)
class _PartOfArrays:
    """The work on one block of rows, after the kinds of its cells: another block may hold others."""

    work: WorkOnPart
    width: int

    def __call__(self, part: int, X: Any, y: Any, weight: Any = None) -> bytes:
        _require_width(part, X, self.width)
        kinds, batches = SeenKinds(), []
        with saying_where(_block(part)):
            if len(y):
                y = read_labels(y)
                kinds.settle_array("X", X, _block(part))
                kinds.settle_labels(y, _block(part))
                batches = [LabelledBatch(X, y, weight)]
            return MergeSeveral.packed([kinds.packed(), self.work(batches, part)])


def _require_width(number: int, X: Any, width: int) -> None:
    """Refuse a block that has other columns than Dask was told."""
    if X.shape[1:] != (width,):
        raise FileDataError(
            f"{_block(number)}: its shape is {X.shape}, but the array was declared with "
            f"{counted(width, 'column')}; give all blocks the same columns."
        )


def _block(number: int) -> str:
    """What messages call a block of rows."""
    return f"block {number} of the Dask Array"
