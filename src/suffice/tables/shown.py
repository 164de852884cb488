"""Results to look at: lines and tables, printed in a terminal or shown in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from suffice.tables.wording import aligned, printable, visible

# No colours of our own: a page in light or dark has those that suit it.
TABLE = "border-collapse:collapse;margin:0.5em 0;color:inherit;background:transparent"
CELL = "padding:0.15em 0.6em;text-align:"
HEAD = "border-bottom:1px solid"
"""In the colour of the text."""


@dataclass(frozen=True)
class Cells:
    """A table to show: rows of texts, the first `left` columns flush left and the others flush right."""

    rows: Sequence[Sequence[str]]
    left: int = 1
    headed: bool = True
    """Whether the first row names the columns."""
    ruled: bool = False
    """Whether a terminal shows a line below the names."""
    indent: str = ""


Part: TypeAlias = str | Cells
"""A line of text, or a table."""


class Shown:
    """A result that is printed, and shown in a notebook, from the same parts."""

    def _parts(self) -> list[Part]:
        """What is shown, from top to bottom."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return as_text(self._parts())

    def _repr_html_(self) -> str:
        return as_html(self._parts())


def as_text(parts: Iterable[Part]) -> str:
    """The parts one below the other, for a terminal."""
    lines: list[str] = []
    for part in parts:
        if isinstance(part, str):
            lines.append(printable(part))
            continue
        rows = list(part.rows)
        if part.ruled:
            rule = ["─" * max(map(len, column)) for column in zip(*rows, strict=True)]
            rows = [rows[0], rule, *rows[1:]]
        lines += aligned(rows, left=part.left, indent=part.indent)
    return "\n".join(lines)


def as_html(parts: Iterable[Part]) -> str:
    """The parts one below the other, for a page: names and values are escaped, and empty lines left out."""
    found = [_table(part) if isinstance(part, Cells) else _line(part) for part in parts if part != ""]
    return f'<div style="overflow-x:auto">{"".join(found)}</div>'


def _line(text: str) -> str:
    return f"<p>{escaped(text.strip())}</p>"


def _table(cells: Cells) -> str:
    lines = []
    for i, row in enumerate(cells.rows):
        is_head = cells.headed and i == 0
        tag, more = ("th", f";{HEAD}") if is_head else ("td", "")
        sides = ["left" if j < cells.left else "right" for j in range(len(row))]
        found = [
            f'<{tag} style="{CELL}{side}{more}">{escaped(cell.strip())}</{tag}>'
            for side, cell in zip(sides, row, strict=True)
        ]
        lines.append(f"<tr>{''.join(found)}</tr>")
    return f'<table style="{TABLE}">{"".join(lines)}</table>'


def escaped(text: str) -> str:
    """A text as a page shows it, whatever it holds: tags, quotes, control characters, half characters."""
    return html.escape(printable(visible(text)))
