"""Room on the page: the part that belongs to an axes, names that fit it, and axes that stay within it."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.tables.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.transforms import Bbox

LABELS = 0.36
"""The share of the width or height of its room that the tick labels of an axes may take."""
MOST_LABELS = 0.5
"""The share that names left of an axes may take where nothing else needs the width."""
SLANT = 40.0
"""Degrees by which crowded names are rotated."""
EDGE = 3.0
"""Points left free at the edges of the page."""
MOST_STEPS = 6
HINTED = 1.08
"""How much wider letters are at a low resolution."""
LINE_HEIGHT = 1.2
"""The smallest distance between lines of text, in font sizes."""
SMALLEST_LETTERS = 6.0
"""Letters are not made smaller than this, in points."""
SHORTEST = 4
"""The fewest letters that remain of a shortened name."""
LONGEST = 200
"""The most letters of a name before it is fitted to its room."""
FEWEST_TICKS = 3
"""The fewest numbers along a logarithmic axis."""
SMALLEST = 0.1
"""An axes is not made smaller than this share of its room."""


def room_of(ax: Axes) -> Bbox:
    """The part of the page that belongs to an axes, up to halfway to its neighbours, in pixels."""
    from matplotlib.transforms import Bbox

    figure: Any = ax.figure  # or a part of one
    page, spec = figure.bbox, ax.get_subplotspec()
    if spec is None:
        return Bbox(page.get_points())
    bottoms, tops, lefts, rights = spec.get_gridspec().get_grid_positions(figure)
    across, down = spec.colspan, spec.rowspan
    x0 = 0.5 * (rights[across.start - 1] + lefts[across.start]) if across.start else 0.0
    x1 = 0.5 * (rights[across.stop - 1] + lefts[across.stop]) if across.stop < len(lefts) else 1.0
    y0 = 0.5 * (bottoms[down.stop - 1] + tops[down.stop]) if down.stop < len(tops) else 0.0
    y1 = 0.5 * (bottoms[down.start - 1] + tops[down.start]) if down.start else 1.0
    x, y, width, height = page.bounds
    return Bbox([[x + x0 * width, y + y0 * height], [x + x1 * width, y + y1 * height]])


def room_in_inches(ax: Axes) -> tuple[float, float]:
    """The width and height of the room of an axes."""
    room, dpi = room_of(ax), float(ax.figure.dpi)
    return room.width / dpi, room.height / dpi


def keep_within(ax: Axes) -> None:
    """Shrink an axes so that its labels and legend stay within its room, unless a layout engine does that."""
    if ax.figure.get_layout_engine() is not None:
        return
    room = room_of(ax).padded(-EDGE / 72.0 * ax.figure.dpi)
    page = ax.figure.bbox
    for _ in range(MOST_STEPS):  # a smaller axes may have different ticks, and one of fixed shape moves
        around, place = (
            ax.get_tightbbox(),
            ax.get_position(original=True).transformed(ax.figure.transSubfigure),
        )
        if around is None:
            return
        beyond = np.maximum(
            [room.x0 - around.x0, room.y0 - around.y0, around.x1 - room.x1, around.y1 - room.y1], 0.0
        )
        x0, y0 = place.x0 + beyond[0], place.y0 + beyond[1]
        width, height = place.x1 - beyond[2] - x0, place.y1 - beyond[3] - y0
        if beyond.max() < 0.5 or min(width / room.width, height / room.height) < SMALLEST:
            return
        ax.set_position(
            (
                (x0 - page.x0) / page.width,
                (y0 - page.y0) / page.height,
                width / page.width,
                height / page.height,
            )
        )
        ax.set_in_layout(True)  # for a layout that the caller may request later


def lay_out(ax: Axes) -> None:
    """Lay out a picture of fixed shape before it is drawn: engines miss its margins the first time."""
    figure: Any = ax.figure
    engine = figure.get_layout_engine()
    if engine is None:
        keep_within(ax)
    else:
        engine.execute(figure.figure)


def name_ticks(
    axis: XAxis | YAxis,
    places: Sequence[float],
    names: Sequence[object],
    length: float | None = None,
    share: float = LABELS,
) -> None:
    """Label ticks with names that fit.

    Crowded names below an axes are slanted or vertical. If lines would overlap, the letters become smaller;
    if they would be too small, some ticks have no name. The axis is as long as the room allows, unless its
    length is given in inches; names left of it may take a share of the width.
    """
    width, height = room_in_inches(axis.axes)
    size, turned, longest = points("medium"), 0.0, np.inf
    upright = axis.axis_name == "y"
    if length is None:  # a legend may lie below the names on the left
        length = 0.5 * height if upright else (1.0 - LABELS) * width
    slot = length / max(len(names), 1)
    if upright:
        longest = share * width
    elif any(width_in_inches(one_line(name, LONGEST)) > 0.9 * slot for name in names):
        turned = SLANT if slot * np.sin(np.radians(SLANT)) > LINE_HEIGHT * size / 72.0 else 90.0
        longest = LABELS * height / np.sin(np.radians(turned))
    every = 1
    if upright or turned > SLANT:
        size = min(size, max(SMALLEST_LETTERS, 72.0 * slot / LINE_HEIGHT))
        every = int(np.ceil(LINE_HEIGHT * size / 72.0 / slot - 1e-9))
    short = fitted_all(names, longest, size)
    labels = [literal(name) if i % every == 0 else "" for i, name in enumerate(short)]
    axis.set_ticks(places, labels=labels, size=size)
    if turned:
        place = "center" if turned > SLANT else "top"
        for label in axis.get_ticklabels():
            label.set(rotation=turned, ha="right", va=place, rotation_mode="anchor")


def number_ticks(axis: XAxis | YAxis) -> None:
    """Write plain numbers such as 600 or 3,000 along a logarithmic axis, rather than powers of ten."""
    from matplotlib.ticker import MaxNLocator, NullFormatter

    low, high = sorted(map(float, axis.get_view_interval()))
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1.0)
    wanted = ([1], [1, 3], [1, 3, 6], [1, 2, 3, 4, 6, 8])
    series = [np.outer(powers, steps).ravel() for steps in wanted]
    series.append(np.asarray(MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)))
    seen = [ticks[(low <= ticks) & (ticks <= high)] for ticks in series]
    written = [[f"{tick:,.10g}" for tick in ticks] for ticks in seen]
    chosen = next((i for i, names in enumerate(written) if len(names) >= FEWEST_TICKS), len(seen) - 1)
    slot = (1.0 - LABELS) * room_in_inches(axis.axes)[0] / max(len(written[chosen]), 1)
    if axis.axis_name == "x" and max(map(width_in_inches, written[chosen]), default=0.0) > 0.9 * slot:
        # Two numbers side by side are easier to read than three aslant.
        chosen = next((i for i, names in enumerate(written) if len(names) >= 2), chosen)
    name_ticks(axis, seen[chosen].tolist(), written[chosen])
    axis.set_minor_formatter(NullFormatter())


def points(size: Any) -> float:
    """A size of letters, such as "medium", in points."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


def width_in_inches(text: str, size: Any = "medium") -> float:
    """How wide a line of text is."""
    from matplotlib.font_manager import FontProperties, findfont

    path = str(findfont(FontProperties()))
    return HINTED * sum(_advance(letter, path) for letter in text) * points(size) / 72.0


@lru_cache(maxsize=4096)
def _advance(letter: str, path: str) -> float:
    """The distance from a letter of a font to the next one, in font sizes."""
    from matplotlib.font_manager import get_font

    font = get_font(path)
    if font.get_char_index(ord(letter)) == 0:
        return 1.0  # drawn by another font, or as a box
    font.set_size(100.0, 72.0)
    return float(font.load_char(ord(letter)).linearHoriAdvance) / 65536.0 / 100.0


def share_of_names(ax: Axes, names: Iterable[object]) -> float:
    """The share of the width for names left of an axes: what they need, within bounds."""
    longest = max(width_in_inches(one_line(name, LONGEST)) for name in names)
    return float(np.clip(longest / room_in_inches(ax)[0], LABELS, MOST_LABELS))


def beyond(ax: Axes, texts: Iterable[str], share: float = LABELS) -> float:
    """The share of its span by which an axis must be longer for texts at the ends of bars.

    Names left of the axis take a share of the width.
    """
    wide = max((width_in_inches(text, "small") for text in texts), default=0.0) + 2.0 * EDGE / 72.0
    across = 0.9 * (1.0 - share) * room_in_inches(ax)[0]
    return min(wide / max(across - wide, 1e-9), 1.0)


def literal(text: str) -> str:
    """A text as matplotlib must be given it, to show each "$" instead of reading mathematics between two."""
    return text.replace("$", r"\$")


def fitted(name: object, inches: float, size: Any = "medium", ahead: float = 0.5) -> str:
    """A name in one line, without its middle if too wide; the share `ahead` of the rest precedes the gap."""
    text = one_line(name, LONGEST)
    kept = len(text)
    short = text
    while kept > SHORTEST and width_in_inches(short, size) > inches:
        kept = min(kept - 1, max(SHORTEST, int(kept * inches / width_in_inches(short, size)) + 1))
        first = int(np.ceil(ahead * kept))
        short = f"{text[:first].rstrip()}…{text[len(text) - kept + first :].lstrip()}"
    return short


def fitted_all(names: Sequence[object], inches: float, size: Any = "medium") -> list[str]:
    """Names shortened in the middle or, if that makes different ones equal, at one end."""
    short = [fitted(name, inches, size) for name in names]
    often = Counter(dict(zip(map(str, names), short, strict=True)).values())
    for ahead in (1.0, 0.0):
        other = [
            fitted(name, inches, size, ahead) if often[cut] > 1 else cut
            for name, cut in zip(names, short, strict=True)
        ]
        if len(set(other)) == len(set(map(str, names))):
            return other
    return short


def fitted_pair(before: str, one: object, other: object, inches: float) -> str:
    """The phrase "one against another", with both names shortened so that it fits."""
    left = inches - width_in_inches(f"{before}. against .")
    first = fitted(one, max(0.5 * left, left - width_in_inches(one_line(other, LONGEST))))
    return f"{before}{first} against {fitted(other, left - width_in_inches(first))}"
