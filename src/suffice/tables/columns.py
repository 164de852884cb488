"""One column of a table: its kind, and its cells as numbers, as levels or as text."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice.arrays import Codes, read_only
from suffice.kernels.columns import ChunkedCells, Reader
from suffice.tables.as_arrays import as_floats, complex_refusal, floats_of_rows
from suffice.tables.objects import require_single_values
from suffice.text import Documents, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Kind = Literal["number", "boolean", "level", "moment", "duration", "clock"]

FEW_ROWS = 1 << 12
"""Rows up to which the numbers of a column are kept, which would take longer to read than to use."""

_NUMBERS = (int, float, np.integer, np.floating, decimal.Decimal, fractions.Fraction)
_WHOLE = (int, np.integer, decimal.Decimal, fractions.Fraction)


@dataclass(frozen=True)
class Levels:
    """The distinct values of a column, in order of appearance, and the one that each row holds."""

    codes: NDArray[np.signedinteger[Any]]
    """One code per row, -1 where the cell is missing."""
    values: list[Any]
    """Plain Python scalars; whole numbers are ints; moments, durations and clocks are in seconds."""

    def take(self, rows: slice | Codes) -> Levels:
        """The levels of some rows."""
        return Levels(self.codes[rows], self.values)


class LevelCells:
    """Columns to be read as levels, each encoded only when needed.

    If the container holds them as one array of numbers, `matrix` is that array.
    """

    def __init__(
        self,
        matrix: NDArray[Any] | None,
        readers: Sequence[Callable[[], Levels]],
        several: tuple[list[Levels], Codes] | None = None,
    ) -> None:
        self.matrix = matrix
        self._readers = readers
        self.several = several
        """Where the columns are there several times, what they are taken from, and the rows of each time."""

    def __len__(self) -> int:
        return len(self._readers)

    def __getitem__(self, column: int) -> Levels:
        return self._readers[column]()

    def encoded(self) -> Callable[[slice | Codes], LevelCells]:
        """The same cells as a function of the rows; each column is encoded now, once.

        Rows (n, m) give all columns m times, one after the other. The cells of the row −1 are missing.
        """
        encoded = [read() for read in self._readers]
        columns = [Levels(np.append(levels.codes, -1), levels.values) for levels in encoded]

        def cells(rows: slice | Codes) -> LevelCells:
            if isinstance(rows, slice) or rows.ndim == 1:
                return LevelCells(None, [partial(read.take, rows) for read in columns])
            readers = [partial(read.take, one) for one in rows.T for read in columns]
            return LevelCells(None, readers, (columns, rows))

        return cells


@dataclass(frozen=True)
class ArrayColumn:
    """A column that is a one-dimensional ndarray."""

    values: NDArray[Any]
    kind: Kind
    cell_type: type | None = None
    """The type of the cells, if they were Python objects of one kind."""

    def numbers(self) -> NDArray[np.floating[Any]]:
        """Return the cells as floats; times are in seconds, moments count from 1970 UTC."""
        # Microseconds first: containers differ in unit and must agree to the last bit.
        if self.values.dtype.kind == "M":
            since_1970 = self.values.astype("datetime64[us]") - np.datetime64(0, "us")
            return np.asarray(since_1970 / np.timedelta64(1, "s"))
        if self.values.dtype.kind == "m":
            return np.asarray(self.values.astype("timedelta64[us]") / np.timedelta64(1, "s"))
        return as_floats(self.values)

    @property
    def is_whole(self) -> bool:
        """Whether the cells are integers, which have digits that floats lack."""
        if self.values.dtype.kind != "O":
            return self.values.dtype.kind in "iu"
        return all(
            issubclass(cls, _WHOLE) or kind_of_type(cls) is None for cls in set(map(type, self.values))
        )

    def documents(self) -> Documents:
        """Return the cells as text."""
        return read_documents(self.values)

    def levels(self) -> Levels:
        """Find the levels of numbers by sorting, of everything else by hashing."""
        if self.values.dtype.kind in "fiubMm":
            numbers = self.values if self.values.dtype.kind in "iub" else self.numbers()
            distinct, codes = np.unique(numbers, return_inverse=True)
            return make_levels(codes, distinct.tolist())
        index: defaultdict[Any, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(index.__getitem__, self.values.tolist()), np.intp, len(self.values))
        return make_levels(codes, list(index))


@dataclass(frozen=True)
class FrameColumn:
    """A column of a pandas, Polars or pyarrow table, as a narwhals Series."""

    series: Any
    kind: Kind
    dtype: Any
    is_text: bool = False
    """Whether a dictionary only shortens text."""
    cell_type = None

    @property
    def is_declared(self) -> bool:
        """Whether the container says that the cells are categories, whatever they look like."""
        import narwhals.stable.v2 as nw

        return self.dtype in (nw.Categorical, nw.Enum) and not self.is_text

    def numbers(self) -> NDArray[np.floating[Any]]:
        """Return the cells as floats; a few rows are read once."""
        return self._few_numbers if len(self.series) <= FEW_ROWS else self._read_numbers()

    @cached_property
    def _few_numbers(self) -> NDArray[np.floating[Any]]:
        return read_only(self._read_numbers())

    def _read_numbers(self) -> NDArray[np.floating[Any]]:
        """Read the cells by way of NumPy."""
        if self.kind == "boolean":  # NumPy would get objects where a cell is missing
            import narwhals.stable.v2 as nw

            return as_floats(self.series.cast(nw.Float64).to_numpy())
        if self._is_wide:
            return as_floats(self._objects())
        return array_column(self.series.to_numpy(), "").numbers()

    def reader(self) -> Reader | None:
        """What reads cells of some rows as floats without a copy of the column; None where NumPy cannot."""
        plain_numbers = self.kind == "number" and not self._is_wide
        if not plain_numbers or self.series.implementation.is_pandas_like():
            return None
        native, is_polars = self.series.to_native(), self.series.implementation.is_polars()
        n_gaps = native.null_count() if is_polars else native.null_count
        if n_gaps == 0 and self.dtype.is_float() and len(native):
            chunks = native.get_chunks() if is_polars else native.chunks
            cells = [as_floats(chunk.to_numpy()) for chunk in chunks]
            return cells[0].__getitem__ if len(cells) == 1 else ChunkedCells(cells)
        if is_polars and n_gaps:  # Arrow writes NaN in their place several times faster
            import pyarrow as pa

            native = pa.chunked_array([native.to_arrow()])
        return partial(floats_of_rows, native)

    @property
    def is_whole(self) -> bool:
        """Whether the cells are integers, which have digits that floats lack."""
        return bool(self.dtype.is_integer() or self.dtype.is_decimal())

    @cached_property
    def _is_wide(self) -> bool:
        """Whether NumPy has no type for the cells."""
        import narwhals.stable.v2 as nw

        return self.dtype.is_decimal() or self.dtype in (nw.Int128, nw.UInt128)

    def _objects(self) -> NDArray[np.object_]:
        cells = np.empty(len(self.series), dtype=object)
        cells[:] = [None if is_missing(cell) else cell for cell in self.series.to_list()]
        return cells

    def documents(self) -> Documents:
        """Return the cells as text."""
        return read_documents(self.series.to_native())

    def levels(self) -> Levels:
        """Let the container encode text, booleans and integers (exact beyond 2⁵³), and NumPy the rest."""
        if self._is_wide:
            return ArrayColumn(self._objects(), self.kind).levels()
        if self.kind not in ("level", "boolean") and not self.dtype.is_integer():
            return array_column(self.series.to_numpy(), "").levels()
        if self.series.implementation.is_pandas_like():
            codes, distinct = self.series.to_native().factorize()
            return _levels_in_order(codes, distinct.tolist())
        return arrow_levels(self.series.to_arrow())


@dataclass(frozen=True)
class PeriodColumn:
    """A pandas column of periods: the moments at which they start; as levels, their text."""

    series: Any
    cell_type: type | None = None
    """Periods that came as objects come back as datetimes: nothing else remembers their length."""
    kind: Kind = "moment"
    is_whole = False

    def numbers(self) -> NDArray[np.floating[Any]]:
        """Return the moments at which the periods start, in seconds since 1970."""
        return array_column(self.series.dt.to_timestamp().to_numpy(), "").numbers()

    def levels(self) -> Levels:
        """Let pandas encode the periods."""
        codes, distinct = self.series.factorize()
        return make_levels(codes, list(map(str, distinct)))


Column = ArrayColumn | FrameColumn | PeriodColumn


def array_column(values: NDArray[Any], label: str) -> Column:
    """Read one column of an ndarray."""
    match values.dtype.kind:
        case "b":
            return ArrayColumn(values, "boolean")
        case "i" | "u" | "f":
            return ArrayColumn(values, "number")
        case "M":
            return ArrayColumn(values, "moment")
        case "m":
            return ArrayColumn(values, "duration")
        case "U" | "S" | "T":
            return ArrayColumn(values, "level")
        case "O":
            return object_column(values, label)
        case "c":
            raise ValueError(complex_refusal(label))
        case _:
            raise TypeError(
                f"{label} has dtype {values.dtype}, which is neither numbers nor text; split it into columns."
            )


def number_objects(values: NDArray[Any], numbers: NDArray[np.float64]) -> Column:
    """Read one column of Python's numbers, which are these."""
    return ArrayColumn(numbers, "number", _cell_type(values))


def object_column(values: NDArray[Any], label: str) -> Column:
    """Read one column of Python objects by the types that occur in it."""
    types = set(map(type, values))
    require_single_values(values, types, label)
    kinds = {known for cls in types if (known := kind_of_type(cls)) is not None}
    if len(kinds) == 2 and "number" in kinds and all(map(_is_missing_or_not_number, values)):
        kinds.discard("number")
    if {cls.__name__ for cls in types if kind_of_type(cls) is not None} == {"Period"}:
        periods = _same_periods(values)
        return ArrayColumn(values, "level") if periods is None else PeriodColumn(periods, dt.datetime)
    kind: Kind = "number" if not kinds else kinds.pop() if len(kinds) == 1 else "level"
    if kind == "level":
        return ArrayColumn(values, kind)
    cell_type = _cell_type(values)
    if types - {int, float, bool, NoneType}:
        values = np.array([None if is_missing(value) else value for value in values], dtype=object)
    if kind == "moment":
        values = np.array(list(map(_utc, values)), dtype="datetime64[us]")
    elif kind == "duration":
        values = values.astype("timedelta64[us]")
    elif kind == "clock":
        values = np.array(list(map(_seconds_since_midnight, values)), dtype=np.float64)
    return ArrayColumn(values, kind, cell_type)


def frame_column(native: Any, label: str) -> Column:
    """Read one column of a pandas, Polars or pyarrow table."""
    dtype = getattr(native, "dtype", None)
    # Of pandas, which hashes many whole numbers faster than they are sorted.
    if isinstance(dtype, np.dtype) and (dtype.kind not in "iub" or len(native) <= FEW_ROWS):
        return array_column(native.to_numpy(), label)
    if str(dtype).startswith("period["):
        return PeriodColumn(native)
    import narwhals.stable.v2 as nw

    series = nw.from_native(native, series_only=True)
    dtype = series.dtype
    if dtype.is_nested():
        raise TypeError(f"{label} has the nested dtype {dtype}; split it into several columns.")
    kind = kind_of_dtype(dtype)
    return array_column(series.to_numpy(), label) if kind is None else FrameColumn(series, kind, dtype)


def kind_of_type(cls: type) -> Kind | None:
    """Return the kind of cell that a Python type makes; None for the markers of a missing cell."""
    if cls.__name__ in ("NoneType", "NAType", "NaTType"):
        return None
    if issubclass(cls, (bool, np.bool)):
        return "boolean"
    if issubclass(cls, (dt.timedelta, np.timedelta64)):  # before numbers: NumPy's is an integer
        return "duration"
    if issubclass(cls, _NUMBERS):
        return "number"
    if issubclass(cls, (dt.date, np.datetime64)):
        return "moment"
    if issubclass(cls, dt.time):
        return "clock"
    return "level"


def kind_of_dtype(dtype: Any) -> Kind | None:
    """Return the kind of column that a narwhals dtype makes; None if only the cells can tell."""
    import narwhals.stable.v2 as nw

    if dtype.is_numeric():
        return "number"
    kinds: dict[Any, Kind] = {
        nw.Boolean: "boolean",
        nw.String: "level",
        nw.Categorical: "level",
        nw.Enum: "level",
        nw.Binary: "level",
        nw.Datetime: "moment",
        nw.Date: "moment",
        nw.Duration: "duration",
        nw.Time: "clock",
    }
    return next((kind for known, kind in kinds.items() if dtype == known), None)


ROWS_PER_LEVEL = 16
"""Rows for each level of a column, among the first of which all levels are looked for."""


def arrow_levels(values: Any) -> Levels:
    """Return the levels of a pyarrow array by dictionary encoding."""
    import pyarrow as pa

    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    indices = encoded.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(-1)
    distinct = encoded.dictionary.to_numpy(zero_copy_only=False).tolist()
    return (make_levels if encoded is values else _levels_in_order)(indices.to_numpy(), distinct)


def _levels_in_order(codes: NDArray[np.integer[Any]], values: list[Any]) -> Levels:
    """Levels that a container has found, each once, in order of appearance."""
    are_plain = all(type(value) is str for value in values)
    return Levels(codes.astype(np.intp, copy=False), values) if are_plain else make_levels(codes, values)


def make_levels(codes: NDArray[np.integer[Any]], values: list[Any]) -> Levels:
    """Make values plain, merge those that become equal, and drop missing and unused ones."""
    # Distinct strings, perhaps a million of them, are already plain.
    if not set(map(type, values)) <= {str} or len(set(values)) < len(values):
        index: defaultdict[Any, int] = defaultdict(count().__next__)
        new_codes = [-1 if is_missing(value) else index[plain(value)] for value in values]
        codes, values = np.array([*new_codes, -1], np.intp)[codes], list(index)
    first_row = _first_rows(codes[: ROWS_PER_LEVEL * len(values)], len(values), len(codes))
    if (first_row == len(codes)).any():
        first_row = _first_rows(codes, len(values), len(codes))
    order = np.argsort(first_row, kind="stable")[: np.count_nonzero(first_row < len(codes))]
    rank = np.full(len(values) + 1, -1, np.intp)
    rank[order] = np.arange(len(order))
    return Levels(rank[codes], [values[position] for position in order.tolist()])


def _first_rows(codes: NDArray[np.integer[Any]], n_values: int, none: int) -> Codes:
    """The first row of each value, or `none`."""
    first_row = np.full(n_values + 1, none, np.intp)  # the last place collects the missing
    first_row[codes[::-1]] = np.arange(len(codes))[::-1]  # the last assignment to a repeated index wins
    return first_row[:-1]


def plain(value: Any) -> Any:
    """Return the Python scalar for a value of any library, the same for 1, 1.0 and np.int64(1)."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (bool, np.bool)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, _NUMBERS):
        number = float(value)
        whole = int(value) if math.isfinite(number) else None
        return whole if whole == value else number
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or pandas' NA."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124


def _cell_type(values: NDArray[Any]) -> type | None:
    """Return the type of the first cell that is not missing."""
    return next((type(value) for value in values if not is_missing(value)), None)


def _is_missing_or_not_number(value: Any) -> bool:
    """Return whether a cell is anything but a number."""
    return is_missing(value) or kind_of_type(type(value)) != "number"


def _same_periods(values: NDArray[Any]) -> Any:
    """Return pandas periods as a Series; None if they differ in length."""
    import pandas as pd

    try:
        return pd.Series(pd.PeriodIndex(values))
    except (TypeError, ValueError):
        return None


def _utc(value: Any) -> Any:
    """Return an aware datetime as a naive one in UTC, which NumPy can hold."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return value


def _seconds_since_midnight(value: dt.time | None) -> float:
    """Return a time of day as a number."""
    if value is None:
        return np.nan
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
