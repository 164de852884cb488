"""How the cells of a column are written: text that stands for numbers or dates, marks of missing cells."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.tables.columns import Kind, Levels, is_missing, make_levels
from suffice.tables.dates import FORMS, read_date, write_date
from suffice.tables.wording import quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

MARKS = ("", "?", "-", "NA", "N/A", "NaN", "None", "null")
"""What stands for a missing number or date; upper and lower case, and spaces around it, do not matter."""
LEVEL_MARKS = ("", "?", " ?")
"""What stands for a missing level, letter for letter: anything else may be one (NA is Namibia)."""
FLAGS = {"true": True, "yes": True, "false": False, "no": False}
LONGEST = 300
"""The most characters of a number; whole numbers of so many digits still fit a float."""
LARGEST_WRITTEN = 1e15
"""Whole numbers below this are written without a point."""
NOT_DIGITS = "[^0-9.eE+-]"
"""What is left out of the text of a number before it is cast to one."""
_OTHERS = re.compile(NOT_DIGITS)
_NUMBER = r"(?:(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


class Marks(NamedTuple):
    """The texts that stand for a missing cell."""

    numbers: tuple[str, ...]
    """In columns of numbers and dates."""
    levels: tuple[str, ...]

    @property
    def chosen(self) -> tuple[str, ...] | None:
        """The texts that a user chose for all columns; None for the usual ones."""
        return None if self == USUAL_MARKS else self.numbers


USUAL_MARKS = Marks(MARKS, LEVEL_MARKS)


@dataclass(frozen=True)
class Notation:
    """How the cells of a column are written."""

    form: str
    """What they stand for: levels, numbers, flags, or dates in one of the forms of `dates`."""
    marks: tuple[str, ...] = MARKS
    """The texts that stand for a missing cell."""
    unit: str = ""
    """The sign of a currency, or %, that may stand before or after a number."""
    time: bool = False
    """Whether some dates have a time of day."""

    @property
    def kind(self) -> Kind:
        """The kind of the cells, once they are read."""
        kinds: dict[str, Kind] = {"levels": "level", "numbers": "number", "flags": "boolean"}
        return kinds.get(self.form, "moment")

    @property
    def is_dates(self) -> bool:
        """Whether the cells are dates."""
        return self.form in FORMS

    @property
    def words(self) -> str:
        """What the cells are."""
        if self.is_dates:
            return f"dates ({self.form})"
        return f"{self.form} in {self.unit}" if self.unit else self.form

    def read(self, value: Any) -> tuple[float | int | None, bool]:
        """The number that a level of a column stands for, None if it is missing, and whether it can be read.

        A moment is in seconds since 1970.
        """
        if isinstance(value, bool):
            return (value, True) if self.form == "flags" else (None, False)
        if isinstance(value, (int, float)) and self.form != "yyyymmdd":
            return value, True
        text = str(value)
        found = read_date(text.strip(" "), self.form) if self.is_dates else read_number(text, self.unit)
        if self.form == "flags":
            found = read_flag(text, found)
        return found, found is not None or is_mark(text, self.marks)

    def written(self, cells: NDArray[Any], kind: Kind) -> NDArray[Any]:
        """Cells that were read, as a column of some kind holds them: text, or days as whole numbers."""
        if self.form == "levels" or (kind != "level" and (kind, self.form) != ("number", "yyyymmdd")):
            return cells
        texts = np.empty(len(cells), dtype=object)
        texts[:] = [None if is_missing(cell) else self._text(cell) for cell in cells.tolist()]
        return texts if kind == "level" else texts.astype(np.float64)

    def _text(self, number: Any) -> str | None:
        if self.is_dates:
            return write_date(float(number), self.form, time=self.time)
        whole = float(number).is_integer() and abs(number) < LARGEST_WRITTEN
        text = str(int(number)) if whole or isinstance(number, int) else repr(float(number))
        return f"{text} %" if self.unit == "%" else f"{self.unit}{text}"


def differently_read(one: Notation | None, other: Notation | None) -> str | None:
    """How cells in two notations differ, in words; None if sums of them can be added.

    Without a notation, cells are numbers or levels as such.
    """
    if one is None or other is None:
        known = one or other
        alike = known is None or not known.is_dates
    else:
        alike = replace(one, time=False) == replace(other, time=False)
    if alike:
        return None
    words = ("as they are" if notation is None else f"as {notation.words}" for notation in (one, other))
    return "is read {} in one and {} in the other".format(*words)


@dataclass(frozen=True)
class ReadColumn:
    """A column of numbers or moments that were read from the levels of a column of text."""

    codes: NDArray[np.signedinteger[Any]]
    values: list[Any]
    floats: NDArray[np.float64]
    """The values as floats, and NaN for missing cells."""
    kind: Kind
    cell_type: type | None = None

    @classmethod
    def of(cls, levels: Levels, values: list[Any], kind: Kind, cell_type: type | None) -> ReadColumn:
        """The column whose levels were read as these values, None where one is missing."""
        floats = np.array([*(np.nan if one is None else one for one in values), np.nan], dtype=np.float64)
        return cls(levels.codes, values, floats, kind, cell_type)

    def numbers(self) -> NDArray[np.float64]:
        """The numbers, or moments in seconds."""
        return np.asarray(self.floats[self.codes])

    @property
    def is_whole(self) -> bool:
        """Whether all cells are integers."""
        return all(value is None or isinstance(value, int) for value in self.values)

    def levels(self) -> Levels:
        """The distinct numbers."""
        return make_levels(self.codes, self.values)


@cache
def pattern(unit: str) -> str:
    """A regular expression of all numbers with a unit or without; it must match the whole text.

    0123 is not a number: digits after a leading zero are a code.
    """
    if not unit:
        return f" *[+-]?{_NUMBER} *"
    sign = re.escape(unit)
    return f" *(?:[+-]?(?:{sign} *)?|{sign} *[+-]){_NUMBER}(?: *{sign})? *"


@cache
def _numbers(unit: str) -> re.Pattern[str]:
    return re.compile(pattern(unit))


def read_number(text: str, unit: str) -> float | int | None:
    """The number that a text stands for, None if it is not one; whole numbers keep all their digits."""
    if len(text) > LONGEST or _numbers(unit).fullmatch(text) is None:
        return None
    digits = text if not unit and "," not in text else _OTHERS.sub("", text)
    if digits.strip(" ").lstrip("+-").isdigit():
        return int(digits)
    number = float(digits)
    return number if math.isfinite(number) else None


def read_flag(text: str, number: float | None = None) -> bool | None:
    """The flag that a text stands for, or that a number is; None if it is not one."""
    flag = FLAGS.get(text.strip(" ").casefold())
    return bool(number) if flag is None and number in (0, 1) else flag


def unit_of(text: str) -> str:
    """The sign of a currency, or %, at the beginning or end of a text; nothing if there is none."""
    stripped = text.strip(" ").lstrip("+-")
    for character in (stripped[:1], stripped[-1:]):
        if character == "%" or (character and unicodedata.category(character) == "Sc"):
            return character
    return ""


def is_mark(text: str, marks: tuple[str, ...]) -> bool:
    """Whether a text stands for a missing number or date."""
    return text.strip(" ").casefold() in _folded(marks)


def longest_mark(marks: tuple[str, ...]) -> int:
    """The most characters of a text that is a mark, without spaces around it."""
    return max(map(len, _folded(marks)), default=0)


@cache
def _folded(marks: tuple[str, ...]) -> frozenset[str]:
    return frozenset(mark.strip(" ").casefold() for mark in marks)


def checked_marks(marks: Iterable[str] | None) -> Marks:
    """The marks of missing cells that a user chose, in columns of any kind, or the usual ones."""
    if marks is None:
        return USUAL_MARKS
    if not isinstance(marks, Iterable):
        raise TypeError(f"missing_marks must be a list of strings, got {quoted(marks)}.")
    listed: Sequence[Any] = [marks] if isinstance(marks, str) else list(marks)
    strange = next((mark for mark in listed if not isinstance(mark, str)), None)
    if strange is not None:
        raise TypeError(f"missing_marks must be strings, got {quoted(strange)}.")
    chosen = tuple(dict.fromkeys(listed))
    return Marks(chosen, chosen)
