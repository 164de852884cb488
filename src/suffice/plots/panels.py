"""Pictures with a panel for each column: where the panels are, and how values are drawn in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.plots.display import Display, default_width, pyplot
from suffice.plots.grid import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = (3.0, 2.2)
"""The width and height of a panel, in inches."""
NAMES = 0.5
"""The part of a panel's height for the labels of its axis, in inches."""
MOST_BARS = 40
"""More values than this are drawn as steps."""
MOST_BARS_IN_ALL = 240
"""The same for values times classes."""


class PanelDisplay(Display):
    """A picture with a panel for each column."""

    def _panels(self, ax: Any, n: int) -> list[Axes]:
        """One axes for each of n columns."""
        if ax is not None:
            axes = list(np.ravel(np.array(ax, dtype=object)))
            if len(axes) != n:
                raise ValueError(
                    f"there are {n} columns to draw but {len(axes)} axes; pass one for each column."
                )
            self.ax_, self.figure_ = (ax if n > 1 else axes[0]), axes[0].figure
            return axes
        if n == 1:
            return [self._start(None)]
        across = max(1, min(n, int(default_width() / PANEL[0])))
        down = -(-n // across)
        figure = pyplot().figure(figsize=(default_width(), PANEL[1] * down), layout="constrained")
        axes = [figure.add_subplot(down, across, i + 1) for i in range(n)]
        self.ax_, self.figure_ = np.array(axes, dtype=object), figure
        return axes


def taller(axes: list[Axes]) -> float:
    """The inches that the labels below all panels need beyond the room that panels have for them."""
    below: dict[int, float] = {}
    for ax in axes:
        spec, names = ax.get_subplotspec(), ax.xaxis.get_tightbbox()
        if spec is not None and names is not None:
            row = spec.rowspan.start
            below[row] = max(below.get(row, NAMES), names.height / ax.figure.dpi)
    return sum(below.values()) - NAMES * len(below)


def are_bars(grid: Grid, n_classes: int) -> bool:
    """Whether values are few enough to be bars side by side."""
    n_values = len(grid.values)
    return not grid.is_smooth and n_values <= MOST_BARS and n_values * n_classes <= MOST_BARS_IN_ALL
