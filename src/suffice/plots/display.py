"""What every display shares: axes to draw on, a legend that covers nothing, and frames."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.families.elementary import Array
from suffice.plots.room import fitted, keep_within, room_in_inches, room_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from suffice.engines.container import Container

BELOW = 4.0
"""Points between what belongs to the axes and the legend below."""
BESIDE_NAMES = 4.0
"""Font sizes that the line or patch beside a name in a legend takes, with what is around it."""
LEGEND_SHARE = 0.9
"""How much of the width a legend may take."""


class Display:
    """A picture and its data, by scikit-learn's contract.

    Attributes
    ----------
    ax_ : Axes
        What was drawn on, after `plot`; an array of them where there is a panel for each column.
    figure_ : Figure
    """

    ax_: Any
    figure_: Any

    def _start(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """The axes to draw on: the given ones, or those of a new figure."""
        if ax is None:
            ax = pyplot().subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def library() -> Any:
    """The library above the pictures, which measures what some of them draw; found when it is needed."""
    return import_module("suffice")


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib, which is not installed: pip install suffice[plot]"
        ) from error
    return plt


def default_width() -> float:
    """The width of a new figure, in inches."""
    return float(pyplot().rcParams["figure.figsize"][0])


def foreground() -> Any:
    """The colour of text in the current style."""
    return pyplot().rcParams["text.color"]


def background(ax: Axes) -> Array:
    """The colour behind the data, as red, green and blue."""
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(ax.get_facecolor()))


def legend_below(ax: Axes, handles: Sequence[Artist] | None = None) -> None:
    """A legend under the axis label, in as many columns as fit, so that it covers neither data nor title.

    Names are cut to the room that the axes has, and the axes is made smaller where nothing else makes room.
    """
    from matplotlib.transforms import ScaledTranslation

    entries = ax.get_legend_handles_labels()[0] if handles is None else list(handles)
    labels = ax.xaxis.get_tightbbox()
    drop = 0.0 if labels is None else max(0.0, ax.bbox.y0 - labels.y0)
    down = ScaledTranslation(0.0, -drop / ax.figure.dpi - BELOW / 72.0, ax.figure.dpi_scale_trans)
    names = [fitted(str(entry.get_label()), legend_room(ax), _legend_size()) for entry in entries]
    width = ax.get_window_extent().width
    for columns in range(len(entries), 0, -1):
        legend = ax.legend(
            handles=entries,
            labels=names,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=ax.transAxes + down,
            borderaxespad=0.0,
            ncols=columns,
            frameon=False,
        )
        beyond = legend.get_window_extent().width - width
        if beyond <= 0.0:
            break
    else:
        # Wider than the axes: it goes to the left as far as the names of the ticks do, which a layout engine
        # sees to; without one it ends where the room of the axes does.
        engine = ax.figure.get_layout_engine()
        right = 1.0 if engine is not None else (room_of(ax).x1 - ax.bbox.x0) / width
        legend.set_loc("upper right")
        legend.set_bbox_to_anchor((right, 0.0), transform=ax.transAxes + down)
    keep_within(ax)


def legend_under_all(figure: Any, handles: Sequence[Artist]) -> None:
    """A legend under all panels of a figure that lays itself out, in as many columns as fit."""
    width = LEGEND_SHARE * figure.bbox.width
    names = [
        fitted(str(one.get_label()), width / figure.dpi - _beside_names(), _legend_size()) for one in handles
    ]
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(
            handles=handles, labels=names, loc="outside lower center", ncols=columns, frameon=False
        )
        if legend.get_window_extent().width <= width or columns == 1:
            return
        legend.remove()


def legend_room(ax: Axes) -> float:
    """How wide a name in a legend below an axes may be, in inches."""
    return LEGEND_SHARE * room_in_inches(ax)[0] - _beside_names()


def _legend_size() -> Any:
    return pyplot().rcParams["legend.fontsize"]


def _beside_names() -> float:
    """The width of the line or patch beside a name in a legend, with what is around it."""
    from matplotlib.font_manager import FontProperties

    return BESIDE_NAMES * float(FontProperties(size=_legend_size()).get_size_in_points()) / 72.0


def bounded(lengths: Array) -> Array:
    """Infinite bars made half as long again as the longest other."""
    longest = 1.0 + 1.5 * float(np.abs(lengths[np.isfinite(lengths)]).max(initial=0.0))
    return np.nan_to_num(lengths, nan=0.0, posinf=longest, neginf=-longest)


def make_frame(fields: dict[str, Any], container: Container | None = None) -> Any:
    """A frame in the library of a container, or in pyarrow."""
    if container is not None:
        return container.frame(fields)
    import pyarrow as pa

    return pa.table(fields)
