"""The colours, markers, lines and hatches of classes: one place, for every picture.

The colours are Okabe and Ito's, which people with any colour vision tell apart, without their yellow and
black, of which one vanishes on a white page and the other on a dark one. Lightness differs among the first
three, and no class is told by its colour alone: marker, line and hatch differ too, so that a grey print can
be read.
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
"""Classes up to which each has a colour of its own."""
FOR, AGAINST = COLOURS[0], COLOURS[1]
"""What speaks for a class and what against it."""


@dataclass(frozen=True)
class Style:
    """How one class looks."""

    colour: str
    marker: str
    line: Line
    hatch: str


def styles(n: int) -> list[Style]:
    """Looks for n classes; colours come again after six, then with another marker, line and hatch."""
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
    """Colours mixed by shares on the last axis, and let through by the background."""
    return np.asarray(strength * (shares @ np.array(colours)) + (1.0 - strength) * background)
