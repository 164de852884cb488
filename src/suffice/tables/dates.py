"""Dates and times written as text, as seconds since 1970 UTC."""

from __future__ import annotations

import datetime as dt
import re

BY_NAME = "dd Mon yyyy"
"""Months by their English names, whole or of three letters; the day comes first or second."""
FORMS = ("yyyy-mm-dd", "dd/mm/yyyy", "mm/dd/yyyy", "yyyymmdd", BY_NAME)
"""The orders of year, month and day; -, / and . are read alike, and a time of day may follow."""
MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)

_TIME = (
    r"(?:(?:T| +)([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r" *(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})" + _TIME)
_DAY_FIRST = re.compile(r"([0-9]{1,2})[- ]([A-Za-z]{3,9})[.]?[-, ] ?([0-9]{4})" + _TIME)
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})[.]? ([0-9]{1,2}),? ([0-9]{4})" + _TIME)
_DIGITS = re.compile(r"([12][0-9]{3})([0-9]{2})([0-9]{2})")
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001, a date without a zone is in UTC
_MICROSECOND = dt.timedelta(microseconds=1)


def read_date(text: str, form: str) -> float | None:
    """The seconds since 1970 of a date in a form; None for any other text. Without a zone it is in UTC."""
    if form == "yyyymmdd":
        match = _DIGITS.fullmatch(text)
        return None if match is None else _seconds(int(match[1]), int(match[2]), int(match[3]))
    if form == BY_NAME:
        return _read_by_name(text)
    match = (_YEAR_FIRST if form == "yyyy-mm-dd" else _YEAR_LAST).fullmatch(text)
    if match is None:
        return None
    first, _, second, third, *time = match.groups()
    year, month, day = {
        "yyyy-mm-dd": (first, second, third),
        "dd/mm/yyyy": (third, second, first),
        "mm/dd/yyyy": (third, first, second),
    }[form]
    return _seconds(int(year), int(month), int(day), *time)


def _read_by_name(text: str) -> float | None:
    match = _DAY_FIRST.fullmatch(text)
    if match is not None:
        day, name, year, *time = match.groups()
    else:
        match = _MONTH_FIRST.fullmatch(text)
        if match is None:
            return None
        name, day, year, *time = match.groups()
    name = name.lower()
    number = next((i for i, month in enumerate(MONTHS, 1) if name in (month, month[:3])), None)
    return None if number is None else _seconds(int(year), number, int(day), *time)


def _seconds(
    year: int,
    month: int,
    day: int,
    hour: str | None = None,
    minute: str | None = None,
    second: str | None = None,
    fraction: str | None = None,
    zone: str | None = None,
) -> float | None:
    try:
        moment = dt.datetime(year, month, day, int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001
    except ValueError:
        return None
    microseconds = (moment - _EPOCH) // _MICROSECOND + int((fraction or "").ljust(6, "0")[:6])
    if zone not in (None, "Z"):
        digits = zone.replace(":", "")
        offset = int(digits[1:3]) * 3600 + int(digits[3:5]) * 60
        microseconds -= (offset if digits[0] == "+" else -offset) * 1_000_000
    return microseconds / 1e6


def write_date(seconds: float, form: str, *, time: bool) -> str | None:
    """A date in a form, with its time of day or without; None beyond the years 1 to 9999."""
    try:
        moment = _EPOCH + dt.timedelta(microseconds=round(seconds * 1e6))
    except OverflowError:
        return None
    if form == BY_NAME:
        day = f"{moment.day:02} {MONTHS[moment.month - 1][:3].title()} {moment.year:04}"
        return f"{day} {moment.time().isoformat()}" if time else day
    separator = "" if form == "yyyymmdd" else "-" if form == "yyyy-mm-dd" else "/"
    parts = {"yyyy": f"{moment.year:04}", "mm": f"{moment.month:02}", "dd": f"{moment.day:02}"}
    order = ("yyyy", "mm", "dd") if not separator else form.split(separator)
    day = separator.join(parts[part] for part in order)
    return f"{day} {moment.time().isoformat()}" if time else day
