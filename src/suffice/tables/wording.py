"""Words and tables for people to read: one line for any cell, columns in line, the name that was meant."""

from __future__ import annotations

import difflib
import inspect
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

Name = TypeVar("Name")

HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Control characters, marks of direction, halves of surrogate pairs, separators of lines and paragraphs."""
CLOSE = 0.75
"""The least similarity of a name that may have been meant: that of "yaer" and "year"."""
PACKAGE = str(Path(__file__).parents[1])
JOINERS = "\u200c\u200d"
"""Hidden too, but part of how Persian, Indic scripts and emoji are written."""


def one_line(value: object, most: int = 40) -> str:
    """Show a cell, label or name in one line: what is hidden is escaped, long text is cut in the middle."""
    text = str(value)
    if len(text) <= most and text.isprintable():
        return text
    # No character becomes shorter, so those further inside cannot be shown.
    begin, end = (list(map(_visible, part)) for part in (text[: most + 1], text[-most:]))
    if len("".join(begin)) <= most:
        return "".join(begin)
    head, tail = _fitting(begin, most // 2), _fitting(end[::-1], most - most // 2 - 1)[::-1]
    while tail and unicodedata.combining(tail[0][0]):  # an accent would sit on the ellipsis
        tail = tail[1:]
    return "".join([*head, "…", *tail])


def quoted(value: object, most: int = 80) -> str:
    """Show a cell, label or name in a message, in one line: text in quotes, without the types of NumPy."""
    import numpy as np  # the command line starts without

    with np.printoptions(legacy="1.25"):
        return one_line(repr(value), most)


def listed(values: Iterable[object], most: int = 20, *, brackets: bool = True) -> str:
    """List cells, labels or names in a message, with the number of those that are not shown."""
    known = list(values)
    shown = ", ".join(quoted(value, 40) for value in known[:most])
    more = f" and {len(known) - most:,} more" if len(known) > most else ""
    return f"[{shown}]{more}" if brackets else shown + more


def counted(n: int, one: str, many: str | None = None) -> str:
    """Count things: "1 row", "2 classes", "3 categories"; a plural that is not regular is given as `many`."""
    if one.endswith("y") and one[-2:-1] not in "aeiou":
        regular = f"{one[:-1]}ies"
    else:
        regular = f"{one}es" if one.endswith("s") else f"{one}s"
    return f"{n:,} {one if n == 1 else many or regular}"


def _visible(character: str) -> str:
    """A character as it is, or escaped if it would not be seen or would tear a line."""
    if unicodedata.category(character) in HIDDEN and character not in JOINERS:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def visible(text: str, kept: str = "\n") -> str:
    """Lines for a terminal, which could obey what is hidden in names and labels: that is escaped."""
    if all(part.isprintable() for part in text.split("\n")):
        return text
    return "".join(one if one in kept else _visible(one) for one in text)


def _fitting(parts: Sequence[str], most: int) -> list[str]:
    """The first parts, as many as fit into a line of this length."""
    kept: list[str] = []
    for part in parts:
        most -= len(part)
        if most < 0:
            break
        kept.append(part)
    return kept


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


def kind_of_thing(value: object) -> str:
    """What a value is, in a message that does not show it: "an object", "a LazyFrame", "None"."""
    noun = type(value).__name__
    return "None" if value is None else f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def there_are(n: int, one: str) -> str:
    """That there is a number of things."""
    return f"there {'is' if n == 1 else 'are'} {counted(n, one)}"


def nearest(name: object, known: Iterable[Name]) -> Name | None:
    """The known name closest to one that is not known, whatever the case; None where none is close."""
    folded = {str(one).casefold(): one for one in known}
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=CLOSE)
    return folded[near[0]] if near else None


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A question that names the closest known name, or nothing where none is close."""
    near = nearest(name, known)
    return "" if near is None else f"did you mean {quoted(near)}?"


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the line outside this package that led here, however deep inside the package this is."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
