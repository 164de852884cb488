"""Levels of another type than those in training: which of them read alike, and how many were never seen."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.tables.notations import read_flag, read_number
from suffice.tables.wording import quoted

FEWEST_CELLS = 10
"""Fewer cells of the same type as in training may well all be new."""
FEWEST_SEEN = 50
"""Fewer cells in training do not tell how many new levels are to be expected."""
CHANCE = 4.0
"""So many standard deviations beyond their expectation, new levels are no matter of chance."""


class LevelIndex:
    """Where values are among some levels."""

    def __init__(self, levels: Sequence[Any]) -> None:
        self.levels = levels
        self.index = {level: i for i, level in enumerate(levels)}

    def places_of(self, values: list[Any]) -> list[int]:
        """The place of each value, after the last if it is new.

        A value of another type has the place of the only level that reads alike.
        """
        unseen = len(self.levels)
        places = [*map(self.index.get, values, repeat(unseen))]
        for at, value in enumerate(values if unseen in places else ()):
            if places[at] == unseen and isinstance(value, str) not in self.are_text:
                places[at] = _place_of(value, self.alike, unseen)
        return places

    @cached_property
    def are_text(self) -> set[bool]:
        """Whether the levels are text: of both kinds in a mixed column, where types tell levels apart."""
        return {issubclass(kind, str) for kind in set(map(type, self.levels))}

    @cached_property
    def alike(self) -> dict[Any, int]:
        """The place of each level, by what a value of another type must read as."""
        return _alike(self.levels)


def _alike(levels: Sequence[Any]) -> dict[Any, int]:
    """The place of each level by what a level of another type must read as; none where two read alike."""
    keys = list(map(_meaning, levels))
    times = Counter(keys)
    # A text is looked up among levels that are not text, and the other way round.
    return {
        (not is_text, meant): i
        for i, (is_text, meant) in enumerate(keys)
        if meant is not None and times[is_text, meant] == 1
    }


def _place_of(value: Any, places: dict[Any, int], nowhere: int) -> int:
    """The place of a level that reads like this value of another type."""
    is_text, meant = _meaning(value)
    return nowhere if meant is None else places.get((is_text, meant), nowhere)


def _meaning(value: Any) -> tuple[bool, Any]:
    """Whether a level is text, and the flag or number that it is or reads as; 1, 1.0 and "1" are one."""
    if not isinstance(value, str):
        return False, ("flag" if isinstance(value, bool) else "number", value)
    flag = read_flag(value)
    if flag is not None:
        return True, ("flag", flag)
    number = read_number(value, "")
    return True, None if number is None else ("number", number)


class Unseen(NamedTuple):
    """Some cells of a column, and how many of them hold levels that were never seen in training."""

    label: str
    unseen: int
    present: int
    example: Any
    trained: Any
    """A level that was seen."""
    new: float
    """The share of cells of the same type that are expected to hold new levels."""

    def are_surprising(self, unseen: int, present: int) -> bool:
        """Whether so many cells of the same type should not be new."""
        by_chance = CHANCE * math.sqrt(present * self.new * (1.0 - self.new))
        return present >= FEWEST_CELLS and self.new < 0.5 and unseen > present * self.new + by_chance


def share_of_new(times: NDArray[np.integer[Any]]) -> float:
    """The share of cells to come that hold new levels, by Good's and Turing's estimate: those seen once."""
    seen = int(times.sum())
    return 1.0 if seen < FEWEST_SEEN else int((times == 1).sum()) / seen


def warn_of_unseen(found: Iterable[Unseen]) -> None:
    """Warn of columns in which most cells were never seen in training: their type may have changed."""
    columns: dict[str, list[Unseen]] = {}
    for part in found:
        columns.setdefault(part.label, []).append(part)
    for label, parts in columns.items():
        unseen, present = sum(part.unseen for part in parts), sum(part.present for part in parts)
        example, trained = parts[0].example, parts[0].trained
        now, then = _type_of(example), _type_of(trained)
        if 2 * unseen > present and (now != then or parts[0].are_surprising(unseen, present)):
            warnings.warn(
                f"{label}: {unseen:,} of {present:,} cells were never seen in training, such as "
                f"{quoted(example)} ({now}); training had levels such as {quoted(trained)} ({then}). Check "
                "that the column holds what it held in training.",
                UserWarning,
                stacklevel=2,
            )


def _type_of(level: Any) -> str:
    if isinstance(level, str):
        return "text"
    return "true or false" if isinstance(level, bool) else "a number"
