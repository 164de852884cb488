"""Polars: a LazyFrame, collected in batches by its streaming engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suffice.engines.lazy_rows import LazyRows, places
from suffice.tables.files.batches import SCHEMA_ROWS


class PolarsRows(LazyRows):
    """The rows of a LazyFrame."""

    def __init__(self, frame: Any) -> None:
        # Expressions take names such as "*" and "^x$" for patterns, so columns are found by their places.
        names = frame.collect_schema().names()
        placed = frame.rename(dict(zip(names, places(len(names)), strict=True)))
        super().__init__(names, self._scanned, "the LazyFrame", placed, is_placed=True)
        self._frame = frame

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        import polars.selectors

        some = polars.selectors.by_name(*names)
        return iter(self._frame.select(some).collect_batches(maintain_order=True))

    def head(self) -> PolarsRows:
        """The first rows."""
        return PolarsRows(self._frame.head(SCHEMA_ROWS))


rows = PolarsRows
