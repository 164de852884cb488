"""Returning rows in the container that rows came in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from suffice.tables.columns import (
    Kind,
    frame_column,
    is_missing,
    kind_of_type,
)
from suffice.tables.records import Records
from suffice.tables.typed_columns import (
    arrow_array,
    as_numbers,
    as_objects,
    as_typed,
    encodable,
    pandas_series,
    polars_series,
    whole_array,
    whole_cells,
    whole_numbers,
)
from suffice.tables.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Library = Literal["numpy", "sparse", "dict", "records", "pandas", "polars", "pyarrow"]


@dataclass(frozen=True)
class Container:
    """The container of a table: an empty one with the same columns, and no data."""

    library: Library
    make_template: Callable[[], Any]
    cell_types: tuple[type | None, ...]
    """The type of each column's cells, if they were Python objects of one kind."""

    @cached_property
    def template(self) -> Any:
        """The container without its rows: names, dtypes and categories."""
        return self.make_template()

    @classmethod
    def of(cls, library: Library, X: Any, cell_types: tuple[type | None, ...]) -> Container:
        """Remember the container of some rows."""
        template: Any
        if library == "numpy":
            template = np.empty((0, X.shape[1]), X.dtype)
        elif library == "sparse":
            template = type(X)((0, X.shape[1]), dtype=X.dtype)
        elif library == "pandas":
            template = X.iloc[:0].copy()
        elif library in ("dict", "records"):
            empty = tuple(np.empty(0, column.dtype) for column in X.columns)
            template = replace(X, columns=empty, n_rows=0)
        else:
            template = X.clear() if library == "polars" else X.schema.empty_table()
        return cls(library, partial(itself, template), cell_types)

    @classmethod
    def of_documents(cls, column: Any) -> Container:
        """Remember the container of one column of documents, as a table of that column.

        Categories become strings, since the categories of documents would be the documents themselves.
        """
        library = type(column).__module__.partition(".")[0]
        if library == "pandas" and hasattr(column, "iloc"):
            empty = column.iloc[:0]
            plain_strings = empty.astype(empty.cat.categories.dtype) if hasattr(empty, "cat") else empty
            return cls.of("pandas", plain_strings.to_frame(column.name), (None,))
        if library == "polars":
            return cls.of("polars", column.clear().cast(str).to_frame(), (None,))
        if library == "pyarrow":
            import pyarrow as pa

            return cls.of("pyarrow", pa.table([column.slice(0, 0)], names=["text"]), (None,))
        if isinstance(column, np.ndarray) and column.dtype.kind in "OUT":
            return cls.of("numpy", column[:0, np.newaxis], (None,))
        return LIST

    def documents(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Return one column of documents in the form they came in: a list, an array or a Series."""
        table = self.build(columns)
        if self.library == "pandas":
            return table.iloc[:, 0]
        if self.library == "polars":
            return table.to_series(0)
        if self.library == "pyarrow":
            return table.column(0)
        return table[:, 0].tolist() if self.cell_types == LIST.cell_types else table[:, 0]

    def build(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Put rows into this container: one array per column (floats, or objects with None for missing)."""
        builders = {
            "numpy": self._array,
            "sparse": self._sparse,
            "dict": self._records,
            "records": self._records,
            "pandas": self._pandas,
            "polars": self._polars,
            "pyarrow": self._pyarrow,
        }
        return builders[self.library](columns)

    def take_columns(self, columns: Sequence[int], *, gaps: bool = False) -> Container:
        """Keep some columns; with `gaps`, an array can mark a missing cell, as it holds no whole numbers."""
        at = list(columns)
        if self.library == "pandas":
            template = self.template.iloc[:, at]
        elif self.library in ("dict", "records"):
            template = self.template.of_columns(at)
        else:
            template = self.template.select(at) if self.library == "pyarrow" else self.template[:, at]
        if gaps and self.library == "numpy" and template.dtype.kind in "iub":
            template = template.astype(np.float64)
        return Container(self.library, partial(itself, template), tuple(self.cell_types[j] for j in at))

    def kinds(self) -> tuple[Kind, ...]:
        """The kind of the cells of each column."""
        if self.library in ("numpy", "sparse"):
            kind = _kind_of_array(self.template.dtype)
            return tuple((cls and kind_of_type(cls)) or kind for cls in self.cell_types)
        columns = range(len(self.cell_types))
        if self.library in ("dict", "records"):
            pairs = zip(self.template.columns, self.cell_types, strict=True)
            return tuple((cls and kind_of_type(cls)) or _kind_of_array(one.dtype) for one, cls in pairs)
        if self.library == "pandas":
            series = [self.template.iloc[:, j] for j in columns]
        elif self.library == "polars":
            series = self.template.get_columns()
        else:
            series = [self.template.column(j) for j in columns]
        pairs = zip(series, self.cell_types, strict=True)
        return tuple((cls and kind_of_type(cls)) or self._kind(one) for one, cls in pairs)

    def rounded(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers as float32 if the rows are float32."""
        dtype = (self.template if self.library == "sparse" else np.asarray(self.template)).dtype
        with np.errstate(over="ignore", under="ignore"):
            return values.astype(np.float32) if dtype == np.float32 else values

    def frame(self, fields: dict[str, Any]) -> Any:
        """Make a frame of named fields with this container's library, or with pyarrow if it has no frames."""
        fields = {printable(name): encodable(values) for name, values in fields.items()}
        if self.library == "pandas":
            import pandas as pd

            return pd.DataFrame(fields)
        if self.library == "polars":
            import polars as pl

            return pl.DataFrame(fields)
        import pyarrow as pa

        return pa.table(fields)

    def _array(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Build a two-dimensional ndarray, of floats or objects if its dtype cannot mark a missing cell."""
        dtype: np.dtype[Any] = self.template.dtype
        rows = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=object)
        if dtype.kind == "O":
            for j, values in enumerate(columns):
                rows[:, j] = as_objects(values, self.cell_types[j])
            return rows
        if dtype.kind in "UST":
            for j, values in enumerate(columns):
                rows[:, j] = as_typed(values, "level")
            return rows if any(map(is_missing, rows.ravel())) else rows.astype(dtype.kind)
        if dtype.kind in "iu":
            return whole_array([whole_cells(values, dtype.name) for values in columns], dtype, len(rows))
        kinds: dict[str, Kind] = {"M": "moment", "m": "duration"}
        numbers = np.empty(rows.shape, np.float64) if dtype.kind not in kinds else np.empty(rows.shape, dtype)
        for j, values in enumerate(columns):
            numbers[:, j] = as_typed(values, kinds.get(dtype.kind, "number"))
        if dtype.kind == "b":
            return numbers if np.isnan(numbers).any() else np.rint(numbers).astype(dtype)
        return numbers.astype(dtype, copy=False)

    def _records(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Build a dict of columns, or a list of dicts."""
        template: Records = self.template
        built = (
            Container.of("numpy", empty[:, np.newaxis], (cell_type,)).build([values])[:, 0]
            for values, empty, cell_type in zip(columns, template.columns, self.cell_types, strict=True)
        )
        return replace(template, columns=tuple(built), n_rows=len(columns[0])).unpacked()

    def _sparse(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Build a sparse array or matrix of the template's class."""
        dense = list(map(as_numbers, columns))
        rows = [np.flatnonzero(column) for column in dense]
        values = np.concatenate([column[row] for column, row in zip(dense, rows, strict=True)])
        dtype = self.template.dtype
        if dtype.kind in "iub":
            dtype = np.dtype(np.float64) if np.isnan(values).any() else dtype
            values = whole_numbers(values, self.template.dtype.name)
        starts = np.cumsum([0, *map(len, rows)])
        matrix = sparse.csc_array((values, np.concatenate(rows), starts), shape=(len(dense[0]), len(dense)))
        return type(self.template)(matrix, dtype=dtype)

    def _pandas(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Build a DataFrame, with a nullable dtype where a plain one cannot mark a missing cell."""
        import pandas as pd

        series = [
            pandas_series(
                values, self.template.dtypes.iloc[j], self._kind(self.template.iloc[:, j]), self.cell_types[j]
            )
            for j, values in enumerate(columns)
        ]
        frame = pd.concat(series, axis=1) if series else pd.DataFrame()
        frame.columns = self.template.columns
        return frame

    def _polars(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Build a Polars DataFrame."""
        import polars as pl

        templates = self.template.get_columns()
        return pl.DataFrame(
            [
                polars_series(values, template.dtype, self._kind(template), cell_type).alias(template.name)
                for values, template, cell_type in zip(columns, templates, self.cell_types, strict=True)
            ]
        )

    def _pyarrow(self, columns: Sequence[NDArray[Any]]) -> Any:
        """Build a pyarrow Table."""
        import pyarrow as pa

        arrays = [
            arrow_array(values, field.type, self._kind(self.template.column(j)))
            for j, (values, field) in enumerate(zip(columns, self.template.schema, strict=True))
        ]
        return pa.table(arrays, names=self.template.column_names)

    @staticmethod
    def _kind(series: Any) -> Kind:
        """Return the kind of cells in a column of the template."""
        is_objects = getattr(series, "dtype", None) == "O"
        return "level" if is_objects else frame_column(series, "").kind


def _kind_of_array(dtype: np.dtype[Any]) -> Kind:
    """Return the kind of cells in an array; objects that have no type of their own are text."""
    kinds: dict[str, Kind] = {"b": "boolean", "M": "moment", "m": "duration"}
    return kinds.get(dtype.kind, "number" if dtype.kind in "iuf" else "level")


def itself(template: Any) -> Any:
    """Return what was given."""
    return template


PLAIN = Container.of("numpy", np.empty((0, 0)), ())
"""For rows that did not come in a frame: results are then pyarrow Tables."""
LIST = Container.of("numpy", np.empty((0, 1), dtype=object), (str,))
"""A list of documents; unlike an array, its cells are Python strings."""
