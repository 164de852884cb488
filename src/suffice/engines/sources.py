"""Which engine holds an object's rows. To add one: a file with `rows(source)`, and a line in `ENGINES`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from suffice.tables.files.source import is_source, open_source
from suffice.tables.recognized import is_frame
from suffice.tables.row_source import RowSource
from suffice.tables.wording import kind_of_thing


class Engine(NamedTuple):
    """Objects of an engine, recognised by the names of their class, so that nothing is imported for it."""

    library: str
    """The package that defines the class."""
    name: str
    """The name of the class."""
    home: str
    """The file here that reads it."""


ENGINES = (
    Engine("polars", "LazyFrame", "polars"),
    Engine("duckdb", "DuckDBPyRelation", "duckdb"),
    Engine("_duckdb", "DuckDBPyRelation", "duckdb"),
    Engine("ibis", "Table", "ibis"),
    Engine("dask", "DataFrame", "dask"),
    Engine("dask", "Array", "dask"),
    Engine("pyspark", "DataFrame", "spark"),
    Engine("narwhals", "LazyFrame", "narwhals"),
    Engine("pyarrow", "Dataset", "arrow"),
    Engine("pyarrow", "Scanner", "arrow"),
    Engine("pyarrow", "RecordBatchReader", "arrow"),
)


def engine_of(X: Any) -> Engine | None:
    """The engine that holds the rows of a lazy object; None if it is none."""
    for cls in type(X).__mro__:
        library = cls.__module__.partition(".")[0]
        for engine in ENGINES:
            if (library, cls.__name__) == (engine.library, engine.name):
                return engine
    return None


def module_of(engine: Engine) -> Any:
    """The file that reads an engine's objects, imported only now."""
    return import_module(f"suffice.engines.{engine.home}")


def is_lazy(X: Any) -> bool:
    """Whether the rows of X are held by an engine, not in memory."""
    return type(X) is not np.ndarray and engine_of(X) is not None


def is_rows(X: Any) -> bool:
    """Whether X is a source of rows, read in batches, rather than one table in memory."""
    if isinstance(X, RowSource) or is_source(X) or is_lazy(X):
        return True
    if isinstance(X, (list, tuple)):
        return bool(X) and (is_frame(X[0]) or isinstance(X[0], tuple))
    in_memory = is_frame(X) or isinstance(X, (dict, bytes)) or hasattr(X, "__array__") or hasattr(X, "shape")
    return not in_memory and (isinstance(X, Iterable) or hasattr(X, "__arrow_c_stream__"))


def rows_of(source: Any) -> RowSource:
    """The rows of a source: files, SQL, an object of an engine, an Arrow stream, or batches of rows."""
    if isinstance(source, RowSource):
        return source
    if _is_sql(source):
        from suffice.engines.duckdb import rows_of_sql

        return rows_of_sql(source)
    if is_source(source) or (isinstance(source, (list, tuple)) and not source):
        return open_source(source)
    engine = engine_of(source)
    if engine is not None:
        rows: RowSource = module_of(engine).rows(source)
        return rows
    from suffice.engines.streams import FrameRows

    if is_frame(source):
        return FrameRows([source])
    if hasattr(source, "__arrow_c_stream__"):
        from suffice.engines import arrow

        return arrow.rows(source)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, dict)):
        return FrameRows(source)
    raise TypeError(
        f"rows cannot be read from {kind_of_thing(source)}; pass paths, SQL, a frame, a lazy frame, an Arrow "
        "stream, or an iterable of frames or of pairs (X, y)."
    )


def _is_sql(source: Any) -> bool:
    """Whether a text is a query, which no path looks like."""
    words = source.split(maxsplit=1) if isinstance(source, str) else []
    return len(words) == 2 and words[0].upper() in ("SELECT", "FROM", "WITH")
