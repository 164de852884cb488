"""Text that stands for times of day and durations, as columns of Arrow."""

from __future__ import annotations

from typing import Any

CLOCK = r"^\s*\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?\s*$"
"""9:30, 09:30:00, 09:30:00.25"""
FRACTION = r"(?:\.(?P<fraction>\d{1,9}))?"
PRINTED = (
    r"^\s*(?P<sign>)(?:(?P<days>-?\d{1,6}) days?,? [+]?)?(?P<hours>\d{1,7}):(?P<minutes>[0-5]\d):"
    rf"(?P<seconds>[0-5]\d){FRACTION}\s*$"
)
"""A duration as Python and pandas print it: 2:03:04, 1 day, 2:03:04.5 or 1 days 02:03:04.500000."""
ISO = (
    r"^\s*(?P<sign>[+-]?)P(?:(?P<days>\d{1,6})D)?(?:T(?:(?P<hours>\d{1,7})H)?(?:(?P<minutes>\d{1,9})M)?"
    rf"(?:(?P<seconds>\d{{1,9}}){FRACTION}S)?)?\s*$"
)
"""A duration by ISO 8601: P1DT2H3M4.5S."""
UNITS = {"us": 6, "ns": 9}
"""The digits of a fraction of a second."""
SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}


def read_clock(column: Any, unit: str) -> Any:
    """Text as times of day, or None if a cell is not one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.match_substring_regex(column, CLOCK)).as_py() is False:
        return None
    text = pc.replace_substring_regex(pc.utf8_trim_whitespace(column), r"^(\d):", r"0\1:")
    moments = pc.binary_join_element_wise(pa.scalar("1970-01-01 "), text, "")
    try:
        return pc.cast(pc.cast(pc.cast(moments, pa.timestamp(unit)), pa.int64()), pa.time64(unit))
    except pa.ArrowInvalid:  # no hour 24, no minute 60, or too many digits
        return None


def read_duration(column: Any, unit: str) -> Any:
    """Text as durations, or None if a cell is not one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = pa.nulls(len(column), pa.int64())
    digits = pc.if_else(pc.match_substring_regex(column, r"\d"), column, pa.scalar(None, pa.string()))
    for pattern in (PRINTED, ISO):
        parts = pc.extract_regex(digits, pattern)
        total = pc.coalesce(total, _summed(parts, UNITS[unit]))
    if total.null_count > column.null_count:
        return None
    return pc.cast(total, pa.duration(unit))


def _summed(parts: Any, n_digits: int) -> Any:
    """The duration that the parts of text add up to, in units of a fraction of so many digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def whole(name: str) -> Any:
        digits = pc.struct_field(parts, name)
        return pc.cast(pc.if_else(pc.equal(digits, ""), "0", digits), pa.int64())

    seconds = pc.multiply(whole("days"), SECONDS["days"])
    for name in ("hours", "minutes", "seconds"):
        seconds = pc.add(seconds, pc.multiply(whole(name), SECONDS[name]))
    digits = pc.utf8_rpad(pc.struct_field(parts, "fraction"), n_digits, "0")
    exact = pc.if_else(pc.less_equal(pc.utf8_length(digits), n_digits), digits, pa.scalar(None, pa.string()))
    total = pc.add(pc.multiply(seconds, 10**n_digits), pc.cast(exact, pa.int64()))
    return pc.if_else(pc.equal(pc.struct_field(parts, "sign"), "-"), pc.negate(total), total)
