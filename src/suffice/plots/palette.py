"""The colours, markers, lines and hatches of classes, in one place for all pictures.

The colours are those of Okabe and Ito, which people with any colour vision can tell apart, without yellow and
black, which vanish on a white and on a dark page. The first three differ in lightness, and no class is shown
by colour alone: marker, line and hatch differ too, so that a greyscale print is readable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from suffice.arrays import Array

Colours: TypeAlias = Mapping[Any, Any] | Sequence[Any] | None
"""The colours of classes, by label or in their order; None for those below."""
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
STRENGTH = 0.7
"""How strongly mixed colours cover the background, on which points must be seen."""
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


def chosen_styles(classes: Sequence[Any], colours: Colours) -> list[Style]:
    """Styles for classes, with colours that the user chose."""
    looks = styles(len(classes))
    if colours is None:
        return looks
    from matplotlib.colors import to_hex

    if isinstance(colours, str) or len(colours) < len(classes):
        raise ValueError(
            f"colours must have one colour for each of the {len(classes)} classes, got {colours!r}; pass a "
            "list such as ['red', 'lime', 'blue'], or a dict by label."
        )
    by_label = dict(colours) if isinstance(colours, Mapping) else dict(zip(classes, colours, strict=False))
    missing = [label for label in classes if label not in by_label]
    if missing:
        raise ValueError(f"colours has no colour for the class {missing[0]!r}; it has {list(by_label)}.")
    return [replace(look, colour=to_hex(by_label[label])) for look, label in zip(looks, classes, strict=True)]


def chosen_colours(classes: Sequence[Any], colours: Colours) -> tuple[list[Array], float]:
    """The colours of classes, and how strongly they cover the background: wholly, if the user chose them."""
    looks = chosen_styles(classes, colours)
    return [rgb(look.colour) for look in looks], STRENGTH if colours is None else 1.0


def rgb(colour: str) -> Array:
    """The red, green and blue of "#RRGGBB", from 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def mixed(shares: Array, colours: list[Array], background: Array, strength: float) -> Array:
    """Colours mixed by the shares on the last axis, and blended with the background."""
    return np.asarray(strength * (shares @ np.array(colours)) + (1.0 - strength) * background)
