"""Returning rows in the container that rows came in."""

from __future__ import annotations

import datetime as dt
import decimal
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

from suffice.tables.columns import (
    LARGEST_EXACT,
    Kind,
    as_floats,
    frame_column,
    is_missing,
    kind_of_type,
    plain,
)
from suffice.tables.records import Records
from suffice.tables.wording import is_utf8, printable

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
        fields = {printable(name): _encodable(values) for name, values in fields.items()}
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
            return _whole_array([whole_cells(values, dtype.name) for values in columns], dtype, len(rows))
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
        return frame_column(series, "").kind


def _kind_of_array(dtype: np.dtype[Any]) -> Kind:
    """Return the kind of cells in an array; of objects, only their type can tell."""
    kinds: dict[str, Kind] = {"b": "boolean", "M": "moment", "m": "duration"}
    return kinds.get(dtype.kind, "number")


def itself(template: Any) -> Any:
    """Return what was given."""
    return template


def as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return floats, or objects with None for missing, as float64."""
    return np.asarray(as_floats(values), dtype=np.float64)


def as_typed(values: NDArray[Any], kind: Kind) -> NDArray[Any]:
    """Turn seconds into datetimes, timedeltas or times; numbers are float64 and levels objects."""
    if kind == "level":
        return np.array([None if is_missing(value) else value for value in values.tolist()], dtype=object)
    numbers = as_numbers(values)
    if kind in ("number", "boolean"):
        return numbers
    missing = np.isnan(numbers)
    microseconds = np.rint(np.where(missing, 0, numbers) * 1e6).astype(np.int64)
    typed = microseconds.view("timedelta64[us]" if kind == "duration" else "datetime64[us]")
    typed[missing] = "NaT"
    if kind == "clock":
        return np.array([None if day is None else day.time() for day in typed.tolist()], dtype=object)
    return typed


def whole_numbers(numbers: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Round to the nearest number that an integer dtype of this name can hold; NaN stays."""
    if dtype == "bool":
        return np.asarray(np.rint(numbers))
    limits = np.iinfo(dtype.lower().replace("128", "64"))
    largest = np.nextafter(float(limits.max), 0) if limits.bits == 64 else limits.max
    return np.asarray(np.clip(np.rint(numbers), limits.min, largest))


def whole_cells(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Whole numbers that an integer dtype can hold: floats, or objects if they have more digits."""
    if not has_more_digits(values):
        return whole_numbers(as_numbers(values), dtype)
    limits = np.iinfo(dtype.lower()) if "128" not in dtype else None
    low, high = (-(2**127), 2**127 - 1) if limits is None else (int(limits.min), int(limits.max))
    cells = [None if is_missing(value) else min(max(round(value), low), high) for value in values.tolist()]
    return np.array(cells, dtype=object)


def has_more_digits(values: NDArray[Any]) -> bool:
    """Whether cells are integers that floats cannot hold."""
    return values.dtype == object and any(
        isinstance(value, int) and abs(value) > LARGEST_EXACT for value in values.tolist()
    )


def _whole_array(columns: list[NDArray[Any]], dtype: np.dtype[Any], n_rows: int) -> NDArray[Any]:
    """Columns of whole numbers as one array; missing cells make it floats, or objects beside more digits."""
    exact = any(column.dtype == object for column in columns)
    array = np.empty((n_rows, len(columns)), dtype=object if exact else np.float64)
    for j, column in enumerate(columns):
        array[:, j] = column
    return array if any(map(is_missing, array.ravel())) else array.astype(dtype)


def as_objects(values: NDArray[Any], cell_type: type | None) -> NDArray[np.object_]:
    """Turn a column into Python objects of the type that its first cell had."""
    kind = "level" if cell_type is None or _holds_text(values) else kind_of_type(cell_type) or "level"
    typed = values if kind == "number" and has_more_digits(values) else as_typed(values, kind)
    convert: Callable[[Any], Any] = _unchanged
    if cell_type is None or kind in ("level", "clock"):
        return typed
    if kind == "moment" and not issubclass(cell_type, (dt.datetime, np.datetime64)):
        typed = typed.astype("datetime64[D]")
    elif kind == "boolean":
        convert = bool
    elif kind == "number" and issubclass(cell_type, (int, np.integer)):
        convert = round
    elif kind == "number" and issubclass(cell_type, decimal.Decimal):
        convert = _decimal
    return np.array([None if is_missing(value) else convert(value) for value in typed.tolist()], dtype=object)


def _unchanged(value: Any) -> Any:
    """Leave a cell as it is."""
    return value


def _decimal(number: float) -> decimal.Decimal:
    """Return the shortest decimal that reads as this float."""
    return decimal.Decimal(repr(number))


def _as_decimal(value: Any) -> decimal.Decimal | None:
    """Return a number as a decimal."""
    return None if is_missing(value) else _decimal(value)


def pandas_series(values: NDArray[Any], dtype: Any, kind: Kind, cell_type: type | None) -> Any:
    """Return one column as a pandas Series of a dtype."""
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Series(_pandas_categorical(values, dtype))
    if isinstance(dtype, pd.ArrowDtype):
        array = arrow_array(values, dtype.pyarrow_dtype, kind)
        return pd.Series(array, dtype=pd.ArrowDtype(array.type))
    if dtype == "O":
        return pd.Series(as_objects(values, cell_type), dtype=object)
    if isinstance(dtype, pd.PeriodDtype):
        return pd.Series(_periods(values, dtype.freq))
    if isinstance(dtype, pd.IntervalDtype):
        return pd.Series(as_typed(values, "level"), dtype=object)
    if pd.api.types.is_integer_dtype(dtype):
        typed = whole_cells(values, str(dtype))
    else:
        typed = as_typed(values, kind)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return pd.Series(typed).dt.tz_localize("UTC").dt.tz_convert(dtype.tz).astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and pd.isna(typed).any():
        dtype = "boolean" if dtype.kind == "b" else dtype.name.replace("int", "Int").replace("u", "U")
    return pd.Series(typed).astype(dtype)


def _periods(values: NDArray[Any], freq: Any) -> Any:
    """Return moments, or the text of periods, as pandas periods."""
    import pandas as pd

    if not _holds_text(values):
        return pd.DatetimeIndex(as_typed(values, "moment")).to_period(freq)
    starts = (None if is_missing(value) else value.partition("/")[0] for value in values.tolist())
    return pd.PeriodIndex(list(starts), freq=freq)


def _holds_text(values: NDArray[Any]) -> bool:
    """Whether cells are levels that are text."""
    return values.dtype == object and any(isinstance(value, str) for value in values.tolist())


def _pandas_categorical(values: NDArray[Any], dtype: Any) -> Any:
    """Return levels as a pandas Categorical, adding the categories that the dtype lacks."""
    import pandas as pd

    levels = [None if is_missing(value) else plain(value) for value in values.tolist()]
    code = {plain(category): position for position, category in enumerate(dtype.categories)}
    new = list(dict.fromkeys(level for level in levels if level is not None and level not in code))
    if new:
        dtype = pd.CategoricalDtype([*dtype.categories, *new], ordered=dtype.ordered)
        code |= {level: len(code) + position for position, level in enumerate(new)}
    return pd.Categorical.from_codes([-1 if level is None else code[level] for level in levels], dtype=dtype)


def polars_series(values: NDArray[Any], dtype: Any, kind: Kind, cell_type: type | None) -> Any:
    """Return one column as a Polars Series of a dtype."""
    import polars as pl

    if dtype == pl.Null:
        return pl.Series(as_typed(values, "level").tolist())
    if dtype == pl.Object:
        return pl.Series(as_objects(values, cell_type).tolist(), dtype=pl.Object)
    typed = as_typed(values, kind)
    if kind in ("level", "clock"):
        return pl.Series(typed.tolist(), dtype=pl.String if kind == "level" else pl.Time).cast(dtype)
    if kind in ("number", "boolean"):
        if has_more_digits(values) and (dtype.is_integer() or dtype.is_decimal()):
            cells = values if dtype.is_decimal() else whole_cells(values, str(dtype))
            return pl.Series(cells.tolist(), dtype=pl.Int128, strict=False).cast(dtype)
        typed = whole_numbers(typed, str(dtype)) if dtype.is_integer() else typed
        return pl.Series(typed).fill_nan(None).cast(dtype)
    series = pl.Series(typed)
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        series = series.dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
    return series.cast(dtype)


def arrow_array(values: NDArray[Any], dtype: Any, kind: Kind) -> Any:
    """Return one column as a pyarrow array of a type."""
    import pyarrow as pa

    if pa.types.is_null(dtype):
        return pa.array(as_typed(values, "level").tolist())
    typed = as_typed(values, kind)
    if pa.types.is_dictionary(dtype):
        return pa.array(typed.tolist(), type=dtype.value_type).dictionary_encode().cast(dtype)
    if kind in ("level", "clock"):
        return pa.array(typed.tolist(), type=dtype)
    if has_more_digits(values) and (pa.types.is_integer(dtype) or pa.types.is_decimal(dtype)):
        whole = pa.types.is_integer(dtype)
        cells = whole_cells(values, str(dtype)).tolist() if whole else map(_as_decimal, values.tolist())
        return pa.array(list(cells), type=dtype)
    if pa.types.is_integer(dtype):
        typed = whole_numbers(typed, str(dtype))
    if pa.types.is_date(dtype):
        typed = typed.astype("datetime64[D]")
    return pa.array(typed, from_pandas=True).cast(dtype, safe=False)


PLAIN = Container.of("numpy", np.empty((0, 0)), ())
"""For rows that did not come in a frame: results are then pyarrow Tables."""
LIST = Container.of("numpy", np.empty((0, 1), dtype=object), (str,))
"""A list of documents; unlike an array, its cells are Python strings."""


def _encodable(values: Any) -> Any:
    """Values of a frame's field; frames hold UTF-8, so lone surrogates become escapes."""
    if np.asarray(values).dtype.kind not in "OU" or all(is_utf8(v) for v in values if isinstance(v, str)):
        return values
    return [printable(value) if isinstance(value, str) else value for value in values]
