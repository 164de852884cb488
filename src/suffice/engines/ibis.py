"""Ibis: a table of any of its databases, streamed as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suffice.engines.lazy_rows import LazyRows
from suffice.engines.streams import FrameRows
from suffice.tables.files.batches import SCHEMA_ROWS
from suffice.tables.files.formats import BATCH_ROWS
from suffice.tables.row_source import RowSource


class IbisRows(LazyRows):
    """The rows of a table, which may be far away."""

    def __init__(self, table: Any) -> None:
        super().__init__(table.columns, self._scanned, "the table", table, remote=True)

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        return iter(self.native.select(*names).to_pyarrow_batches(chunk_size=BATCH_ROWS))

    def head(self) -> RowSource:
        """The first rows."""
        return FrameRows([self.native.limit(SCHEMA_ROWS).to_pyarrow()], self.title)


rows = IbisRows
