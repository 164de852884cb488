"""The values that the type of a column declares, whether or not a cell holds them."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from suffice.tables.columns import is_missing, plain
from suffice.tables.table import Table


def declared_levels(table: Table, column: int) -> list[Any]:
    """The categories of a pandas, Polars Enum or Arrow dictionary column; none if its type declares none."""
    opened: Any = table.open_column(column)
    if not getattr(opened, "is_declared", False):
        return []
    cells = opened.series.to_native()
    if hasattr(cells, "chunks"):
        found = [value for chunk in cells.chunks for value in chunk.dictionary.to_pylist()]
    elif opened.series.implementation.is_pandas_like():
        found = cells.cat.categories.tolist() if hasattr(cells, "cat") else []
    else:  # Polars declares the values of an Enum; those of its Categorical are whatever any column held
        found = list(cells.dtype.categories) if opened.series.dtype == nw.Enum else []
    return list(dict.fromkeys(plain(value) for value in found if not is_missing(value)))
