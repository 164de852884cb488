"""Columns of floats or objects, in the types that the columns of a container have."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.tables.as_arrays import LARGEST_EXACT, as_floats
from suffice.tables.columns import Kind, is_missing, kind_of_type, plain
from suffice.tables.wording import is_utf8, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


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


def whole_array(columns: list[NDArray[Any]], dtype: np.dtype[Any], n_rows: int) -> NDArray[Any]:
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


def encodable(values: Any) -> Any:
    """Values of a frame's field; frames hold UTF-8, so lone surrogates become escapes."""
    if np.asarray(values).dtype.kind not in "OU" or all(is_utf8(v) for v in values if isinstance(v, str)):
        return values
    return [printable(value) if isinstance(value, str) else value for value in values]
