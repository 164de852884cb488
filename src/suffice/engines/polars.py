"""Polars: a LazyFrame, collected in batches by its streaming engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suffice.engines.lazy_rows import LazyRows
from suffice.tables.files.batches import SCHEMA_ROWS


class PolarsRows(LazyRows):
    """The rows of a LazyFrame."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame.collect_schema().names(), self._scanned, "the LazyFrame", frame)

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        import polars.selectors

        some = polars.selectors.by_name(*names)  # a text such as "*" would be a pattern
        return iter(self.native.select(some).collect_batches(maintain_order=True))

    def head(self) -> PolarsRows:
        """The first rows."""
        return PolarsRows(self.native.head(SCHEMA_ROWS))


rows = PolarsRows
