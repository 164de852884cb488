"""Words and tables for people to read: columns of text in line, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TypeVar

Name = TypeVar("Name")


def aligned(rows: Iterable[Sequence[str]], *, left: int = 1, indent: str = "") -> list[str]:
    """One line per row: the first `left` columns flush left, the others flush right."""
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    return [
        (
            indent
            + "  ".join(side(cell, width) for side, cell, width in zip(sides, row, widths, strict=False))
        ).rstrip()
        for row in cells
    ]


def printable(text: str) -> str:
    """A text that every terminal and file takes: lone surrogates are written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def is_utf8(text: str) -> bool:
    """Whether a string can be encoded: half of a surrogate pair cannot."""
    return printable(text) == text


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number of things: "1 row", "2 rows", "2 classes"; other plurals are given as `several`."""
    regular = one + ("es" if one.endswith("s") else "s")
    return f"{n} {one if n == 1 else several or regular}"


def there_are(n: int, one: str) -> str:
    """That there is a number of things."""
    return f"there {'is' if n == 1 else 'are'} {counted(n, one)}"


def nearest(name: object, known: Iterable[Name]) -> Name | None:
    """The known name closest to one that is not known, whatever the case; None where none is close."""
    folded = {str(one).casefold(): one for one in known}
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1)
    return folded[near[0]] if near else None


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A question that names the closest known name, or nothing where none is close."""
    near = nearest(name, known)
    return "" if near is None else f"did you mean {near!r}?"
