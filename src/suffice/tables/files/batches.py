"""Batches of rows with their labels and weights, from columns of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np

from suffice.arrays import Array
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.source import FileSource, is_coded, open_source
from suffice.tables.targets import read_weights, require_column
from suffice.tables.wording import quoted

SCHEMA_ROWS = 100_000
"""The first rows, which decide what the columns are."""
SCHEMA_BYTES = 1 << 26
"""In a wide table, as many rows as take this much memory."""
T = TypeVar("T")


class LabelledBatch(NamedTuple):
    """Rows (a pyarrow Table), one label each, and weights, all positive."""

    X: Any
    y: Any
    weight: Array | None


@dataclass(frozen=True)
class LabelledFiles:
    """Files with their labels and weights, in batches that can be read repeatedly."""

    files: FileSource
    target: str
    weight: str | None
    features: list[str]

    @classmethod
    def of(cls, source: Any, target: str, weight: str | None = None, drop: Iterable[str] = ()) -> Self:
        """Open files, after checking that the columns of labels, weights and those to drop exist."""
        files = open_source(source)
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
        """The same files, in which text may come as codes, but for the rows that decide what columns are."""
        return replace(self, files=replace(self.files, coded=True))

    def through(self, work: Callable[[Iterator[LabelledBatch]], T]) -> T:
        """Do some work with all batches; it starts over if columns turn out to need wider types."""
        return self.files.through(lambda tables: work(self._labelled(_gathered(tables))))

    def __iter__(self) -> Iterator[LabelledBatch]:
        """The batches once more, after they have been read through."""
        return self._labelled(_gathered(self.files.batches()))

    def _labelled(self, tables: Iterator[Any]) -> Iterator[LabelledBatch]:
        row, kept_any = 0, False
        for table in tables:
            start, row = row, row + table.num_rows
            weights = None
            if self.weight is not None:
                cells = table.column(self.weight).to_numpy(zero_copy_only=False)
                weights = read_weights(cells, f"column {quoted(self.weight)}", partial(self._place, start))
            column, kept = table.column(self.target), table.select(self.features)
            if self.files.drop_unlabelled and column.null_count:
                there = column.is_valid().to_numpy()
                column, kept = column.filter(there), kept.filter(there)
                weights = None if weights is None else weights[there]
            labels = self._labels(column, start)
            if weights is not None and not weights.all():
                used = weights > 0
                kept, labels, weights = kept.filter(used), labels.filter(used), weights[used]
            if kept.num_rows:
                kept_any = True
                yield LabelledBatch(kept, labels, weights)
        if row == 0:
            raise FileDataError(f"{self.files.title}: there are no rows below the header.")
        if not kept_any and self.files.drop_unlabelled:
            raise FileDataError(f"{self.files.title}: no row has a label in column {quoted(self.target)}.")
        if not kept_any:
            raise ValueError(
                f"the weight column {quoted(self.weight)} is zero in every row, so there is nothing to "
                "learn from."
            )

    def _place(self, start: int, row: int) -> str:
        file, there = self.files.locate(start + row)
        return f"row {there} of {file}"

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


def _decoded(table: Any) -> Any:
    """A table in which text is text."""
    import pyarrow as pa

    columns = [
        column.cast(column.type.value_type) if is_coded(column.type) else column for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def _gathered(tables: Iterator[Any]) -> Iterator[Any]:
    """The rows that decide what the columns are, as one table, and then the others."""
    import pyarrow as pa

    first: list[Any] = []
    for table in tables:
        first.append(table)
        rows, size = (sum(getattr(one, name) for one in first) for name in ("num_rows", "nbytes"))
        if rows >= SCHEMA_ROWS or size >= SCHEMA_BYTES:
            break
    if first:
        yield pa.concat_tables(map(_decoded, first))
    yield from tables
