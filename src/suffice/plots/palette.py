"""The colours, markers, lines and hatches of classes, in one place for all pictures.

The colours are those of Okabe and Ito, which people with any colour vision can tell apart, without yellow and
black, which vanish on a white and on a dark page. The first three differ in lightness, and no class is shown
by colour alone: marker, line and hatch differ too, so that a greyscale print is readable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from suffice.arrays import Array

Line = Literal["-", "--", ":", "-."] | tuple[float, tuple[float, ...]]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES: tuple[Line, ...] = (
    "-",
    "--",
    ":",
    "-.",
    (0.0, (5.0, 1.0, 1.0, 1.0, 1.0, 1.0)),
)
HATCHES = ("", "///", "...", "\\\\\\", "xxx")
DISTINCT = len(COLOURS)
"""Up to this many classes, each has its own colour."""
FOR, AGAINST = COLOURS[0], COLOURS[1]
"""Evidence for a class, and against it."""


@dataclass(frozen=True)
class Style:
    """How one class looks."""

    colour: str
    marker: str
    line: Line
    hatch: str


def styles(n: int) -> list[Style]:
    """Styles for n classes; after six, colours repeat with another marker, line and hatch."""
    return [
        Style(
            COLOURS[i % len(COLOURS)],
            MARKERS[i % len(MARKERS)],
            LINES[i % len(LINES)],
            HATCHES[i % len(HATCHES)],
        )
        for i in range(n)
    ]


def rgb(colour: str) -> Array:
    """The red, green and blue of "#RRGGBB", from 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def mixed(shares: Array, colours: list[Array], background: Array, strength: float = 0.7) -> Array:
    """Colours mixed by the shares on the last axis, and blended with the background."""
    return np.asarray(strength * (shares @ np.array(colours)) + (1.0 - strength) * background)
