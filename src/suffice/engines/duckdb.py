"""DuckDB: a relation, or a query, streamed as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suffice.engines.lazy_rows import LazyRows
from suffice.tables.files.batches import SCHEMA_ROWS
from suffice.tables.files.formats import BATCH_ROWS


class DuckRows(LazyRows):
    """The rows of a relation."""

    def __init__(self, relation: Any) -> None:
        super().__init__(relation.columns, self._scanned, "the relation", relation)

    def _scanned(self, names: tuple[str, ...]) -> Iterator[Any]:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        return iter(self.native.project(quoted).to_arrow_reader(BATCH_ROWS))

    def head(self) -> DuckRows:
        """The first rows."""
        return DuckRows(self.native.limit(SCHEMA_ROWS))


rows = DuckRows


def rows_of_sql(query: str) -> DuckRows:
    """The rows of a query; files and the frames of this process are its tables."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{query[:40]!r}… is SQL, which DuckDB runs; install it with: pip install duckdb", name="duckdb"
        ) from error
    return DuckRows(duckdb.sql(query))
