"""Choosing how the cells of each column are written, before families are chosen for what they stand for."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from suffice.arrays import Counts
from suffice.factors import KINDS
from suffice.families import Family
from suffice.tables.columns import FEW_ROWS, Levels
from suffice.tables.dates import BY_NAME
from suffice.tables.notations import MARKS, Marks, Notation, is_mark, read_number, unit_of
from suffice.tables.table import Table

UNREADABLE = 0.01
"""The share of cells that may be neither readable nor missing."""
EITHER_ORDER = ("dd/mm/yyyy", "mm/dd/yyyy")
SHORTEST_DATE = 8
"""Characters: 1/5/2024."""
FEWEST_DAYS = 3
"""Digits are days from so many different ones on: others may be days by chance."""
FIRST_DAY, LAST_DAY = 19_000_101, 21_001_231
FEW_CODES = 10
"""So many different whole numbers are categories, if they are text although all of them are numbers."""
SAMPLE = 64
"""The first levels, which show the units; the first rows, which show whether numbers may be days."""
MANY = 1000
"""So many levels show whether their decimals are separated by commas."""
DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+(,[0-9]+)?\s*")
MOST_MARKS = 3
"""So many different texts among numbers may all stand for missing cells."""
CODES = {
    *("id", "ids", "uuid", "guid", "zip", "zipcode", "postcode", "postcodes", "postalcode", "plz"),
    *("phone", "telephone", "fax", "ssn", "iban", "isbn", "ean"),
}
"""Words in the name of a column whose digits are a code, not a number."""


def may_be_written(table: Table) -> bool:
    """Whether cells may be text that stands for something else."""
    return table.array is None and table.stored is None


def choose_notations(
    table: Table, chosen: Mapping[int, Family | None], marks: Marks | None
) -> dict[int, Notation]:
    """How the cells of columns are written, where they are text or days; some have a family already.

    Columns that the container declares to be categories are levels as they are; without marks, all text is.
    """
    if marks is None or not may_be_written(table):
        return {}
    notations = {}
    days = _days(table, chosen)
    for j, name in enumerate(table.names):
        wanted = _reads(chosen[j]) if j in chosen else "anything"
        if wanted in ("documents", "nothing"):
            continue
        if table.kind(j) == "level" and not getattr(table.open_column(j), "is_declared", False):
            notation = Notation("levels", marks.levels)
            is_code = is_named_like_a_code(name) or _are_few_codes(table.levels(j), notation)
            if wanted == "numbers" or (wanted == "anything" and not is_code):
                notation = notation_of(table.levels(j), marks)
            if wanted == "anything" or (wanted == "levels") == (notation.form == "levels"):
                notations[j] = notation
        elif j in days and not is_named_like_a_code(name):
            notation = Notation("yyyymmdd", marks.numbers)
            if _Cells.of(table.levels(j)).readable(notation):
                notations[j] = notation
    return notations


def _reads(family: Family | None) -> str:
    """What a family reads: numbers, levels, documents or nothing."""
    return "nothing" if family is None else KINDS[family.factor].totals.reads


def is_named_like_a_code(name: Hashable) -> bool:
    """Whether the name of a column says that its digits are a code: an id, a postcode, a phone number."""
    words = words_of(name)
    return bool(CODES & set(words)) or "postal code" in " ".join(words)


def words_of(name: Hashable) -> list[str]:
    """The words in the name of a column: customer_id, customerId and Customer ID have the same two."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", str(name))
    return [word for word in re.split(r"[^0-9a-z]+", apart.lower()) if word]


def notation_of(levels: Levels, marks: Marks) -> Notation:
    """How the levels of a column are written; as levels if they are neither numbers nor dates."""
    read = _readable(levels, _candidates(levels, marks.numbers))
    if read and not _is_ambiguous(read):
        first = next(iter(read))
        best = max(read, key=lambda one: read[one]) if first.form in EITHER_ORDER else first
        time = best.is_dates and any(isinstance(value, str) and ":" in value for value in levels.values)
        return replace(best, time=time)
    return Notation("levels", marks.levels)


def _are_few_codes(levels: Levels, notation: Notation) -> bool:
    """Whether levels are a few whole numbers: as text without need, they are meant as categories."""
    if len(levels.values) > FEW_CODES + len(notation.marks):
        return False
    present = [value for value in levels.values if value not in notation.marks]
    return len(present) <= FEW_CODES and all(isinstance(read_number(str(one), ""), int) for one in present)


def may_be_dates(levels: Levels) -> bool:
    """Whether the levels of a column are dates whose days and months cannot be told apart."""
    return _is_ambiguous(_readable(levels, _candidates(levels, MARKS)))


def may_be_decimal_commas(levels: Levels) -> bool:
    """Whether nearly all levels of a column look like numbers with decimal commas, as in 12,5."""
    texts = [str(value) for value in levels.values[:MANY] if not is_mark(str(value), MARKS)]
    alike = [text for text in texts if DECIMAL_COMMA.fullmatch(text)]
    return len(alike) > (1.0 - UNREADABLE) * len(texts) and any("," in text for text in alike)


def not_numbers(levels: Levels) -> list[str]:
    """The few levels that are not numbers where nearly all others are; none if there are more."""
    others: list[str] = []
    most = min(MOST_MARKS, len(levels.values) // 10)
    for value in levels.values:
        if not isinstance(value, str) or read_number(value, unit_of(value)) is not None:
            continue
        others.append(value)
        if len(others) > most:
            return []
    return others


def _readable(levels: Levels, candidates: list[Notation]) -> dict[Notation, int]:
    """The notations in which nearly all cells can be read, and how many can."""
    if not candidates:
        return {}
    cells = _Cells.of(levels)
    return {one: n for one in candidates if (n := cells.readable(one))}


def _is_ambiguous(read: dict[Notation, int]) -> bool:
    """Whether the cells are as good dates with day and month exchanged: no day is beyond 12."""
    both = [n for one, n in read.items() if one.form in EITHER_ORDER]
    return len(both) == len(read) == 2 and both[0] == both[1]


def _candidates(levels: Levels, marks: tuple[str, ...]) -> list[Notation]:
    """The notations in which some of the first levels can be read, likely ones first."""
    if not any(isinstance(value, str) for value in levels.values):
        return []
    first = levels.values[:SAMPLE]
    texts = [value for value in first if isinstance(value, str)]
    units = sorted({unit_of(text) for text in texts} or {""}, reverse=True)
    forms = [Notation("yyyymmdd", marks), *(Notation("numbers", marks, unit) for unit in units)]
    if any(len(text) >= SHORTEST_DATE for text in texts):
        forms += [Notation(form, marks) for form in ("yyyy-mm-dd", *EITHER_ORDER, BY_NAME)]
    return [one for one in forms if any(one.read(value)[0] is not None for value in first)]


class _Cells(NamedTuple):
    """The levels of a column, and how many cells hold each."""

    levels: Levels
    counts: Counts

    @classmethod
    def of(cls, levels: Levels) -> _Cells:
        present = levels.codes[levels.codes >= 0]
        return cls(levels, np.bincount(present, minlength=len(levels.values)))

    def readable(self, notation: Notation) -> int:
        """The number of cells that can be read; 0 if too many cannot, which a few levels mostly show."""
        if notation.form == "yyyymmdd" and len(self.levels.values) < FEWEST_DAYS:
            return 0
        total, unread, missing = int(self.counts.sum()), 0, 0
        for value, count in zip(self.levels.values, self.counts.tolist(), strict=True):
            found, readable = notation.read(value)
            if not readable:
                unread += count
                if unread > UNREADABLE * total:
                    return 0
            elif found is None:
                missing += count
        present = total - missing
        return 0 if unread > UNREADABLE * present else present - unread


def _days(table: Table, chosen: Mapping[int, Family | None]) -> set[int]:
    """The columns without a family whose first numbers, if any, are mostly whole and between two days."""
    columns = [j for j in range(table.n_columns) if j not in chosen and table.kind(j) == "number"]
    if not columns:
        return set()
    # The columns of few rows are read once for all that follows.
    first = table if table.n_rows <= FEW_ROWS else table.part(slice(0, SAMPLE))
    numbers = first.numbers(columns, infinities=True)[:SAMPLE]
    likely = (numbers >= FIRST_DAY) & (numbers <= LAST_DAY) & (numbers == np.floor(numbers))
    present = np.count_nonzero(~np.isnan(numbers), axis=0)
    return set(np.array(columns)[2 * np.count_nonzero(likely, axis=0) >= present].tolist())
