"""What all displays share: axes to draw on, legends that cover nothing, and frames."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.arrays import Array
from suffice.plots.layout import (
    EDGE,
    fitted_all,
    keep_within,
    literal,
    points,
    room_in_inches,
    room_of,
    width_in_inches,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

    from suffice.tables.container import Container

BELOW = 4.0
"""Points between the axes with its labels and the legend below."""
BESIDE_NAMES = 4.0
"""The width of the line or patch beside a name in a legend, with padding, in font sizes."""
LEGEND_LINE = 1.5
"""The distance from one line of a legend to the next, in font sizes."""
LEGEND_SHARE = 0.9
"""The share of the width that a legend may take."""
LEGEND_HEIGHT = 0.33
"""The share of the height that a legend may take below axes passed by the caller."""

MOST_UNUSUAL = 10.0
"""How many times as far out as usual points may lie before the axis becomes logarithmic."""


class Display:
    """A picture and its data, in the style of scikit-learn's displays.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on, or an array of them if there are several panels. `plot`, `from_estimator`
        and `from_predictions` set it.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    ax_: Any
    figure_: Any

    def _start(self, ax: Axes | None, size: tuple[float, float] | None = None) -> Axes:
        """The axes to draw on: the given ones, or those of a new figure."""
        if ax is None:
            ax = pyplot().subplots(figsize=size, layout="constrained")[1]
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("drawing needs matplotlib; install it with: pip install suffice[plot]") from error
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


def check_most(most: int) -> None:
    """Refuse to draw fewer than one."""
    if not isinstance(most, Integral) or most < 1:
        raise ValueError(f"most must be an integer ≥ 1, got {most!r}.")


def make_taller(figure: Any, inches: float) -> None:
    """Make a figure of our own taller, so that a legend below the axes takes no room from them."""
    if inches > 0.0:
        figure.set_figheight(figure.get_figheight() + inches)


def legend_below(ax: Axes, handles: Sequence[Artist] | None = None, *, own: bool = False) -> None:
    """Put a legend under the axis label, in as many columns as fit, so that it covers neither data nor title.

    Names are shortened to fit. A figure of our own is made taller for many names. Below axes passed by the
    caller, some names are left out if all would take more than a third of the room, and the axes are made
    smaller if nothing else makes room.
    """
    from matplotlib.transforms import ScaledTranslation

    entries = list(ax.get_legend_handles_labels()[0] if handles is None else handles)
    names = fitted_all([entry.get_label() for entry in entries], legend_room(ax), _legend_size())
    columns = _columns(names, LEGEND_SHARE * room_in_inches(ax)[0])
    if not own:
        most = max(1, int(LEGEND_HEIGHT * room_in_inches(ax)[1] / _legend_line())) * columns
        entries, names = _first(entries, names, most)
        columns = min(columns, len(entries))
    labels = ax.xaxis.get_tightbbox()
    drop = 0.0 if labels is None else max(0.0, ax.bbox.y0 - labels.y0)
    down = ScaledTranslation(0.0, -drop / ax.figure.dpi - BELOW / 72.0, ax.figure.dpi_scale_trans)
    legend = _write_names(
        ax.legend,
        entries,
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0.0,
        ncols=columns,
        frameon=False,
    )
    if legend.get_window_extent().width > _width_to_be(ax):
        # Wider than the axes: it extends to the left as far as the tick labels do, which a layout engine
        # takes care of; without one it ends where the room of the axes does.
        engine = ax.figure.get_layout_engine()
        right = 1.0 if engine is not None else (room_of(ax).x1 - ax.bbox.x0) / ax.bbox.width
        legend.set_loc("upper right")
        legend.set_bbox_to_anchor((right, 0.0), transform=ax.transAxes + down)
    if own:
        make_taller(ax.figure, (-(-len(entries) // columns) - 1) * _legend_line())
    keep_within(ax)


def legend_under_all(figure: Any, handles: Sequence[Artist]) -> None:
    """Put a legend under all panels of a figure with a layout engine, made taller for many names."""
    width = LEGEND_SHARE * figure.bbox.width / figure.dpi
    names = fitted_all([one.get_label() for one in handles], width - _beside_names(), _legend_size())
    columns = _columns(names, width)
    _write_names(figure.legend, handles, names, loc="outside lower center", ncols=columns, frameon=False)
    make_taller(figure, (-(-len(handles) // columns) - 1) * _legend_line())


def _write_names(
    make: Callable[..., Legend], entries: Sequence[Artist], names: Sequence[str], **options: Any
) -> Legend:
    """Make a legend with these names, although matplotlib hides those that begin with an underscore."""
    legend = make(handles=list(entries), labels=["name"] * len(names), **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(literal(name))
    return legend


def legend_room(ax: Axes) -> float:
    """The width available to a name in a legend below an axes, in inches."""
    return LEGEND_SHARE * room_in_inches(ax)[0] - _beside_names()


def _width_to_be(ax: Axes) -> float:
    """The final width of an axes, in pixels, next to the tick labels of all axes in its column."""
    spec = ax.get_subplotspec()
    if ax.figure.get_layout_engine() is None or spec is None:
        return float(ax.bbox.width)
    beside = 0.0
    for one in ax.figure.axes:
        other, names = one.get_subplotspec(), one.yaxis.get_tightbbox()
        if other is not None and names is not None and other.colspan.start == spec.colspan.start:
            beside = max(beside, one.bbox.x0 - names.x0)
    return float(room_of(ax).width - beside - 2.0 * EDGE / 72.0 * ax.figure.dpi)


def _columns(names: Sequence[str], inches: float) -> int:
    """The number of columns, filled downwards, in which names take the fewest lines within a width."""
    widths = [width_in_inches(name, _legend_size()) + _beside_names() for name in names]
    for lines in range(1, len(names) + 1):
        columns = -(-len(names) // lines)
        if sum(max(part) for part in np.array_split(widths, columns)) <= inches:
            return columns
    return 1


def _first(entries: list[Artist], names: list[str], most: int) -> tuple[list[Artist], list[str]]:
    """The first entries of a legend; the last one says how many more there are."""
    from matplotlib.lines import Line2D

    if len(entries) <= most:
        return entries, names
    more = f"… {len(entries) - most + 1} more"
    return [*entries[: most - 1], Line2D([], [], linestyle="none")], [*names[: most - 1], more]


def _legend_size() -> Any:
    return pyplot().rcParams["legend.fontsize"]


def _legend_line() -> float:
    """The height of a line of a legend, in inches."""
    return LEGEND_LINE * points(_legend_size()) / 72.0


def _beside_names() -> float:
    """The width of the line or patch beside a name in a legend, with padding, in inches."""
    return BESIDE_NAMES * points(_legend_size()) / 72.0


def bounded(lengths: Array) -> Array:
    """Lengths of bars, with infinite ones half as long again as the longest finite one."""
    longest = 1.0 + 1.5 * float(np.abs(lengths[np.isfinite(lengths)]).max(initial=0.0))
    return np.nan_to_num(lengths, nan=0.0, posinf=longest, neginf=-longest)


def mark_means(ax: Axes, means: Array) -> Artist:
    """Draw a short vertical line at the mean of each row of points."""
    return ax.scatter(
        means,
        range(len(means)),
        s=140,
        marker="|",
        c=[foreground()],
        linewidths=2,
        label="mean",
        zorder=3,
    )


def draw_far_nearer(ax: Axes, values: Array) -> None:
    """Make the axis logarithmic beyond a power of ten if a few distant points would hide all others."""
    lengths = np.abs(values[np.isfinite(values) & (values != 0.0)])
    if not len(lengths):
        return
    usual = 10.0 ** np.ceil(np.log10(np.quantile(lengths, 0.95)))
    if lengths.max() > MOST_UNUSUAL * usual:
        ax.set_xscale("symlog", linthresh=usual)
        ax.autoscale_view()
        ax.set_xlabel(f"{ax.get_xlabel()}\n(logarithmic beyond ±{usual:g})", loc="right")


def make_frame(fields: dict[str, Any], container: Container | None = None) -> Any:
    """A frame of a container's library, or of pyarrow."""
    if container is not None:
        return container.frame(fields)
    import pyarrow as pa

    return pa.table(fields)
