"""narwhals: a lazy frame of any engine, which is unwrapped."""

from __future__ import annotations

from typing import Any

from suffice.engines.sources import rows_of
from suffice.tables.row_source import RowSource


def rows(source: Any) -> RowSource:
    """The rows of the native frame."""
    return rows_of(source.to_native())
