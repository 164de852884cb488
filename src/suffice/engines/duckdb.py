"""DuckDB: a relation, or a query, streamed as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suffice.engines.lazy_rows import LazyRows, places
from suffice.tables.files.batches import SCHEMA_ROWS
from suffice.tables.files.formats import BATCH_ROWS


class DuckRows(LazyRows):
    """The rows of a relation."""

    def __init__(self, relation: Any) -> None:
        # Expressions take the name "*" for all columns, so columns are found by their places.
        names = relation.columns
        named = zip(map(_quoted, names), places(len(names)), strict=True)
        placed = relation.project(", ".join(f"{name} AS {place}" for name, place in named))
        super().__init__(names, self._scanned, "the relation", placed, is_placed=True)
        self._relation = relation

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        return iter(self._relation.project(", ".join(map(_quoted, names))).to_arrow_reader(BATCH_ROWS))

    def head(self) -> DuckRows:
        """The first rows."""
        return DuckRows(self._relation.limit(SCHEMA_ROWS))


rows = DuckRows


def _quoted(name: str) -> str:
    """The name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'


def rows_of_sql(query: str) -> DuckRows:
    """The rows of a query; files and the frames of this process are its tables."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{query[:40]!r}… is SQL, which DuckDB runs; install it with: pip install duckdb", name="duckdb"
        ) from error
    return DuckRows(duckdb.sql(query))
