"""Rows of an engine that can also sum them itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

from suffice.engines.streams import ScannedRows, Tables
from suffice.tables.files.batches import MergeParts
from suffice.tables.row_source import RowSource
from suffice.tables.wording import quoted

Work = Callable[[RowSource, int], bytes]
"""Sums the rows of a part, which has a number, and packs the sums."""


class Answering(Protocol):
    """What a model says of the rows of a pyarrow Table; it is sent to workers."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read."""

    def __call__(self, table: Any) -> Any:
        """The answers."""


class LazyRows(ScannedRows):
    """Rows of an engine that plans before it reads: it can group and add up by itself.

    Parameters
    ----------
    names : iterable of str
        The columns.
    scan : callable
        Opens batches with some of the columns.
    title : str
        What messages call the rows.
    native : lazy frame
        What narwhals can query.
    remote : bool, default=False
        Whether reading rows means to move them to this process from another one.
    is_placed : bool, default=False
        Whether the columns of `native` are named by their places, for engines that read more into some names.
    """

    has_workers: ClassVar[bool] = False
    """Whether parts of the rows are summed by workers, where they are."""

    def __init__(
        self,
        names: Iterable[str],
        scan: Tables,
        title: str,
        native: Any,
        *,
        remote: bool = False,
        is_placed: bool = False,
    ) -> None:
        super().__init__(names, scan, title)
        twice = next((name for name, times in Counter(self.present).items() if times > 1), None)
        if twice is not None:
            raise ValueError(f"{title} has two columns {quoted(twice)}; rename one of them.")
        self.native, self.remote = native, remote
        self._keys = dict(zip(self.present, places(len(self.present)), strict=True)) if is_placed else {}

    def key(self, name: str) -> str:
        """The name of a column in what narwhals can query."""
        return self._keys.get(name, name)

    def head(self) -> RowSource:
        """The first rows, which decide what the columns are; all of them, if batches cost nothing unread."""
        return self

    def reduced(self, work: Work, merge: MergeParts, *, is_large: bool) -> bytes:
        """The sums of all parts, added up by workers; in groups first, where the sums of a part are large."""
        raise NotImplementedError

    def answered(self, answers: Answering, sink: str | None) -> Any:
        """What a model says of the rows, made by workers: a frame of the engine, or files in a folder."""
        raise NotImplementedError


def places(n_columns: int) -> list[str]:
    """Plain names for columns, by their places."""
    return [f"c{place}" for place in range(n_columns)]
