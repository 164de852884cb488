"""Which containers are tables: those that are read, and those whose rows must come into memory first."""

from __future__ import annotations

from typing import Any

from suffice.tables.records import are_records
from suffice.tables.wording import kind_of_thing

_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow", "narwhals")
_FRAME_CLASSES = ("DataFrame", "Table", "RecordBatch")
_LAZY = {
    "polars.LazyFrame": "collect()",
    "narwhals.LazyFrame": "collect()",
    "duckdb.DuckDBPyRelation": "to_arrow_table()",
    "_duckdb.DuckDBPyRelation": "to_arrow_table()",
    "dask.DataFrame": "compute()",
    "dask_expr.DataFrame": "compute()",
    "pyspark.DataFrame": "toPandas()",
    "ibis.Table": "to_pyarrow()",
    "pyarrow.Dataset": "to_table()",
    "pyarrow.Scanner": "to_table()",
    "pyarrow.RecordBatchReader": "read_all()",
}
"""Tables whose rows are not in memory, by library and class, and what reads them."""


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or Polars DataFrame, a pyarrow Table or RecordBatch, or a narwhals frame."""
    return any(
        cls.__name__ in _FRAME_CLASSES and cls.__module__.partition(".")[0] in _FRAME_LIBRARIES
        for cls in type(X).__mro__
    )


def is_record_batch(X: Any) -> bool:
    """Whether X is a pyarrow RecordBatch."""
    return is_frame(X) and type(X).__name__ == "RecordBatch"


def has_names(X: Any) -> bool:
    """Whether X is a table whose columns have names: a frame, a dict of columns or a list of dicts."""
    return is_frame(X) or are_records(X)


def refuse_lazy(values: Any, name: str = "X", expected: str = "a 2D table") -> None:
    """Refuse a table whose rows are not in memory, with the method that reads them."""
    method = reading_method(values)
    if method is not None:
        raise ValueError(
            f"Expected {expected} in memory, got {kind_of_thing(values)}; convert it with {name}.{method}."
        )


def reading_method(values: Any) -> str | None:
    """The call that brings rows into memory; None if they are, or if it is not known."""
    names = (f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(values).__mro__)
    return next((_LAZY[name] for name in names if name in _LAZY), None)
