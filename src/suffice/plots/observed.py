"""What rows hold in a column, class by class: shown beneath the densities, so that a misfit is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.plots.display import foreground
from suffice.plots.grid import Grid
from suffice.plots.palette import Style
from suffice.tables.table import Table
from suffice.tables.targets import read_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAINT = 0.25
"""How opaque the rows are beneath the densities."""
MARKER = 4.5
"""The size of the markers at bars, in points."""
MOST_BINS = 50


@dataclass(frozen=True)
class Observed:
    """The share of each class's rows in bins, per unit of the axis.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        The borders of the bins on the axis.
    density : ndarray of shape (n_bins, n_classes)
        The share of the class's cells in each bin, divided by its width; NaN for a class without cells.
    """

    edges: Array
    density: Array

    def at(self, positions: Array) -> Array:
        """The density of the bin that each position lies in, 0 beside all bins: (n_positions, n_classes)."""
        bins = np.searchsorted(self.edges, positions, side="right") - 1
        inside = (bins >= 0) & (bins < len(self.density))
        found = self.density[np.clip(bins, 0, len(self.density) - 1)]
        return np.where(inside[:, np.newaxis], found, np.where(np.isnan(found), np.nan, 0.0))


def class_codes(table: Table, y: Any, classes: NDArray[Any]) -> Codes:
    """The position of each row's label among the classes, −1 where it is none of them."""
    labels = read_labels(y)
    if len(labels) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows, but y has {len(labels)} labels.")
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)


def observe(grid: Grid, table: Table, codes: Codes, n_classes: int, *, one_by_one: bool) -> Observed:
    """The cells of a column in bins, or `one_by_one` at each value of the grid; gaps are ignored."""
    at = grid.located(table)
    # Levels that are not drawn have no place on the axis, but are cells all the same.
    present = table.levels(grid.column).codes >= 0 if grid.kind == "levels" else ~np.isnan(at)
    cells = np.bincount(codes[present & (codes >= 0)], minlength=n_classes)
    kept = (codes >= 0) & ~np.isnan(at)
    edges = grid.edges if one_by_one else _edges(at[~np.isnan(at)])
    bins = np.clip(np.searchsorted(edges, at[kept], side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(bins * n_classes + codes[kept], minlength=(len(edges) - 1) * n_classes)
    return _shares(edges, counts.reshape(-1, n_classes), cells)


def observe_counts(table: Table, block: Sequence[int], kept: Codes, codes: Codes, n_classes: int) -> Observed:
    """The share of some columns of a Multinomial in all counts of a class; rows with a gap are ignored."""
    counts = np.asarray(table.numbers(list(block)), dtype=np.float64)
    whole = (codes >= 0) & ~np.isnan(counts).any(axis=1)
    sums = np.stack([counts[whole & (codes == k)].sum(axis=0) for k in range(n_classes)], axis=1)
    return _shares(np.arange(len(kept) + 1.0) - 0.5, sums[kept], sums.sum(axis=0))


def _shares(edges: Array, counts: NDArray[Any], cells: NDArray[Any]) -> Observed:
    with np.errstate(invalid="ignore"):
        return Observed(edges, counts / cells / np.diff(edges)[:, np.newaxis])


def _edges(at: Array) -> Array:
    """Borders of bins of equal width; whole numbers are counted in bins of whole width."""
    low, high = float(at.min()), float(at.max())
    n_bins = int(np.clip(np.ceil(2.0 * np.cbrt(len(at))), 1, MOST_BINS))  # Rice's rule
    if high - low < 2.0**52 and (at == np.rint(at)).all():
        width = np.ceil((high - low + 1.0) / n_bins)
        return np.arange(low - 0.5, high + width, width)
    if high == low:
        return np.array([low - 0.5, low + 0.5])
    return np.linspace(low, high, n_bins + 1)


def mark(ax: Axes, at: Array, share: Array, look: Style) -> None:
    """Mark what was observed at each bar."""
    ax.plot(
        at,
        share,
        linestyle="none",
        marker=look.marker,
        markersize=MARKER,
        markerfacecolor=ax.get_facecolor(),
        markeredgecolor=foreground(),
        label="_observed",
    )


def fill(ax: Axes, observed: Observed, k: int, look: Style) -> None:
    """Draw the histogram of a class, beneath all curves."""
    heights = np.nan_to_num(observed.density[:, k])
    ax.stairs(
        heights, observed.edges, fill=True, color=look.colour, alpha=FAINT, zorder=0.5, label="_observed"
    )


def stands_for_rows(ax: Axes, *, bars: bool) -> Any:
    """What stands for the rows in a legend: a marker if all panels have bars."""
    if bars:
        from matplotlib.lines import Line2D

        look = {"markerfacecolor": ax.get_facecolor(), "markeredgecolor": foreground()}
        return Line2D([], [], linestyle="none", marker="o", markersize=MARKER, label="observed", **look)
    from matplotlib.patches import Patch

    return Patch(color=foreground(), alpha=FAINT, label="observed")
