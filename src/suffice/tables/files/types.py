"""One type for each column of many batches: the narrowest that fits all its cells."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

Wanted = Literal["number", "boolean", "level", "moment", "clock", "duration", "measure", "anything"]
"""The kind that the cells of a column must have; a measure is anything but a level."""


@cache
def _digits() -> Any:
    """The type of integers of more than 64 bits."""
    import pyarrow as pa

    return pa.decimal128(38, 0)


@cache
def _readings() -> dict[str, list[Any]]:
    """The types that text may be read as, narrow ones first, by the kind of cells they make."""
    import pyarrow as pa

    return {
        "number": [pa.int64(), pa.uint64(), _digits(), pa.float64()],
        "boolean": [pa.bool_()],
        "moment": [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")],
        "clock": [pa.time64("us")],
    }


def narrowest(column: Any) -> Any:
    """The type of a column; text (from a csv file) is read as what it looks like."""
    import pyarrow as pa

    if column.null_count == len(column):
        return pa.null()
    for types in _readings().values():
        for one in types:
            if cast(column, one) is not None:
                return one
    return pa.string()


def plain(of: Any) -> Any:
    """The type that an Arrow type is read as: categories as their values, decimals with a point as floats."""
    import pyarrow as pa

    if pa.types.is_dictionary(of):
        return plain(of.value_type)
    if pa.types.is_large_string(of) or pa.types.is_string_view(of):
        return pa.string()
    if pa.types.is_decimal(of):
        return _digits() if of.scale <= 0 and of.precision <= 38 else pa.float64()
    return of


def is_nested(of: Any) -> bool:
    """Whether cells of a type hold several values."""
    import pyarrow as pa

    return bool(pa.types.is_nested(of))


def wider(a: Any, b: Any) -> Any:
    """The narrowest type for cells of both types; text if there is no other."""
    import pyarrow as pa

    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if _is_number(a) and _is_number(b):
        if pa.types.is_floating(a) or pa.types.is_floating(b):
            return pa.float64()
        return _digits() if pa.uint64() in (a, b) or _digits() in (a, b) else pa.int64()
    moments = [one for one in (a, b) if pa.types.is_timestamp(one)]
    if len(moments) + sum(map(pa.types.is_date, (a, b))) == 2 and len({one.tz for one in moments}) < 2:
        return pa.timestamp("us", moments[0].tz if moments else None)
    return pa.string()


def cast(column: Any, to: Any) -> Any:
    """The column in another type, or None if a cell does not fit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == to:
        return column
    if pa.types.is_null(to):
        return pa.nulls(len(column)) if column.null_count == len(column) else None
    if pa.types.is_decimal(to) and not _are_digits(column):
        return None
    try:
        return pc.cast(column, to)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    if not pa.types.is_string(column.type):
        return None
    try:
        return pc.cast(pc.utf8_trim_whitespace(column), to)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def read_as(column: Any, wanted: Wanted) -> Any:
    """The column as cells of a kind, or None if a cell is of another."""
    import pyarrow as pa

    if wanted == "level":
        return cast(column, pa.string())
    if wanted == "anything":
        return column
    if not pa.types.is_string(column.type):
        return column
    kinds = _readings() if wanted == "measure" else {wanted: _readings().get(wanted, [])}
    types = (one for group in kinds.values() for one in group)
    return next((read for to in types if (read := cast(column, to)) is not None), None)


def first_misfit(column: Any, fits: Any) -> int:
    """The position of the first cell that does not fit, by bisection."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(column.slice(low, middle - low)) is None:
            high = middle
        else:
            low = middle
    return low


def _is_number(of: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of))


def _are_digits(column: Any) -> bool:
    """Whether cells are whole numbers; in text, written without a point or an exponent."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(column.type):
        return not pa.types.is_floating(column.type)
    first = column.slice(0, 1)  # which tells for nearly every column
    return all(
        pc.all(pc.match_substring_regex(some, r"^\s*[+-]?\d+\s*$")).as_py() is not False
        for some in (first, column)
    )
