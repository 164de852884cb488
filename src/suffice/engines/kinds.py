"""What the cells of an Arrow column are, whatever their width."""

from __future__ import annotations

from typing import Any

from suffice.tables.files.types import as_plain, read_as


def kind_of(of: Any) -> str | None:
    """The kind of cells that an Arrow type holds; None for a column without values."""
    import pyarrow as pa

    if pa.types.is_null(of):
        return None
    if pa.types.is_boolean(of):
        return "boolean"
    if pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of):
        return "number"
    return "time" if pa.types.is_temporal(of) else "text"


def read_column(column: Any, wanted: Any) -> Any:
    """A column of plain cells, of the kind that is wanted; None if they are no such cells."""
    plain = as_plain(column)
    return plain if plain is None or wanted is None else read_as(plain, wanted)
