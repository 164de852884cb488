"""One type for each column of many batches: the narrowest that fits all its cells."""

from __future__ import annotations

import re
from functools import cache, reduce
from typing import Any, Literal, NamedTuple

from suffice.tables.files.times import read_clock, read_duration
from suffice.tables.wording import quoted

WantedKind = Literal["number", "boolean", "level", "moment", "clock", "duration", "measure", "anything"]
"""The kind that the cells of a column must have; a measure is anything but a level."""


class Wanted(NamedTuple):
    """What the cells of a column must be."""

    kind: WantedKind
    marks: tuple[str, ...] = ()
    """Texts that stand for a missing one, if it is neither a level nor anything."""


FIRST, FEW = 64, 4
"""The first cells, which mostly show that a column is of another type; for whole numbers, fewer do."""
WHOLE = re.compile(r"\s*[+-]?\d+\s*")


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
        "moment": [
            pa.date32(),
            *(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC")),
        ],
        "clock": [pa.time64("us"), pa.time64("ns")],
        "duration": [pa.duration("us"), pa.duration("ns")],
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
    # Some programs write text to parquet files as bytes.
    text = (pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary)
    if any(kind(of) for kind in (*text, pa.types.is_binary_view)):
        return pa.string()
    if pa.types.is_decimal(of):
        return _digits() if of.scale <= 0 and of.precision <= 38 else pa.float64()
    return of


def as_plain(column: Any) -> Any:
    """A column in the type that it is read as, or None if its cells are not values of one kind."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    return cast(column, plain(column.type)) if is_plain(column.type) else None


def is_plain(of: Any) -> bool:
    """Whether cells of a type are single values."""
    import pyarrow as pa

    return not pa.types.is_nested(of) and not pa.types.is_interval(of)


def is_text(of: Any) -> bool:
    """Whether cells of a type are text, or categories that are."""
    import pyarrow as pa

    return not pa.types.is_nested(of) and bool(pa.types.is_string(plain(of)))


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
        return pa.timestamp(_finer(moments), moments[0].tz if moments else None)
    if all(pa.types.is_time(one) or pa.types.is_duration(one) for one in (a, b)):
        # Up to a day, a duration is written as a time of day is.
        of_day = pa.types.is_time(a) and pa.types.is_time(b)
        return (pa.time64 if of_day else pa.duration)(_finer([a, b]))
    return pa.string()


def joined_tables(tables: list[Any]) -> Any:
    """Tables of the same columns, one below the other; numbers of any width become those that hold all."""
    import pyarrow as pa

    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        fields = [_wider_field([one.field(name) for one in tables]) for name in tables[0].column_names]
        names = [field.name for field in fields]
        return pa.concat_tables(one.select(names).cast(pa.schema(fields), safe=False) for one in tables)


def _wider_field(fields: list[Any]) -> Any:
    """A field for the cells of all, which must be of one kind."""
    import pyarrow as pa

    name = fields[0].name
    first, *others = [plain(one.type) for one in fields if not pa.types.is_null(one.type)] or [pa.null()]
    odd = next((one for one in others if one != first and pa.types.is_string(wider(first, one))), None)
    if odd is not None:
        raise ValueError(
            f"column {quoted(name)} has the type {first} in some rows and {odd} in others; convert it, so "
            "that it has one type everywhere."
        )
    return pa.field(name, reduce(wider, others, first))


def _finer(types: list[Any]) -> str:
    """The unit in which moments, times or durations of all types keep their digits."""
    return "ns" if any(one.unit == "ns" for one in types) else "us"


def cast(column: Any, to: Any) -> Any:
    """The column in another type, or None if a cell does not fit."""
    import pyarrow as pa

    if column.type == to:
        return column
    if pa.types.is_null(to):
        return pa.nulls(len(column)) if column.null_count == len(column) else None
    if pa.types.is_string(column.type):
        return _read_text(column, to) if _may_be(column, to) else None
    if pa.types.is_decimal(to) and pa.types.is_floating(column.type):
        return None
    return _cast(column, to)


def _may_be(column: Any, to: Any) -> bool:
    """Whether the first cells of text fit a type, which tells for nearly every column."""
    import pyarrow as pa

    first = column.slice(0, FIRST)
    if pa.types.is_integer(to) or pa.types.is_decimal(to):
        return all(cell is None or WHOLE.fullmatch(cell) for cell in first.slice(0, FEW).to_pylist())
    return len(column) <= FIRST or _read_text(first, to) is not None


def _cast(column: Any, to: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(column, to)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _read_text(column: Any, to: Any) -> Any:
    """A column of text as what it stands for, or None if a cell stands for nothing of this type."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_time(to):
        return read_clock(column, to.unit)
    if pa.types.is_duration(to):
        return read_duration(column, to.unit)
    if pa.types.is_decimal(to) and not _are_digits(column):
        return None
    found = _cast(column, to)
    return _cast(pc.utf8_trim_whitespace(column), to) if found is None else found


def read_as(column: Any, wanted: Wanted) -> Any:
    """The column as cells of a kind, or None if a cell is of another."""
    import pyarrow as pa

    kind, marks = wanted
    if kind == "level":
        return cast(column, pa.string())
    if kind == "anything":
        return column
    if not pa.types.is_string(column.type):
        return column
    kinds = _readings() if kind == "measure" else {kind: _readings().get(kind, [])}
    types = (one for group in kinds.values() for one in group)
    found = next((read for to in types if (read := cast(column, to)) is not None), None)
    return read_as(_with_gaps(column, marks), Wanted(kind)) if found is None and marks else found


def _with_gaps(column: Any, marks: tuple[str, ...]) -> Any:
    """A column of text whose marks are missing cells; only short texts, mostly the same few, are compared."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from suffice.tables.notations import is_mark, longest_mark

    short = pc.less_equal(pc.utf8_length(pc.utf8_trim(column, " ")), longest_mark(marks))
    gaps = [text for text in column.filter(short).unique().to_pylist() if is_mark(text, marks)]
    return pc.if_else(pc.is_in(column, pa.array(gaps, pa.string())), pa.scalar(None, pa.string()), column)


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
    """Whether all text is whole numbers that fit, written without a point or an exponent."""
    import pyarrow.compute as pc

    return pc.all(pc.match_substring_regex(column, r"^\s*[+-]?\d{1,38}\s*$")).as_py() is not False
