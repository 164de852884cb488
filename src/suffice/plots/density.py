"""DensityDisplay: the class-conditional densities of a fitted model, column by column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.plots.display import (
    Display,
    default_width,
    foreground,
    legend_below,
    legend_under_all,
    make_frame,
    make_taller,
    pyplot,
)
from suffice.plots.grid import (
    MOST_LEVELS,
    SECONDS_PER_DAY,
    Grid,
    Surroundings,
    log_densities,
    marginalises,
    position,
    said_something,
)
from suffice.plots.layout import keep_within
from suffice.plots.palette import styles
from suffice.tables.container import Container
from suffice.tables.table import read_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL = (3.0, 2.2)
"""The width and height of a panel, in inches."""
NAMES = 0.5
"""How much of a panel's height is for the names of its axis, in inches."""
MOST_BARS = 40
"""More values than this are drawn as steps."""


@dataclass(frozen=True)
class Panel:
    """One column: p(x | C_k) at the values of its grid, (values, k)."""

    grid: Grid
    density: Array


@dataclass
class DensityDisplay(Display):
    """p(x | C_k) of each column: curves for continuous families, bars for categories and counts.

    A Multinomial, which is one distribution of many counts, is one panel: the share of each count.

    Make one with `from_estimator`.

    Attributes
    ----------
    panels : list of Panel
        One per column, with `.grid.values` and `.density` of shape (values, k).

    Examples
    --------
    >>> import suffice
    >>> from suffice.plots import DensityDisplay
    >>> X, species = suffice.load_penguins()
    >>> model = suffice.BayesClassifier().fit(X, species)
    >>> display = DensityDisplay.from_estimator(model, X, columns=["island", "body_mass_g"])
    >>> display.panels[0].density.round(2)  # Biscoe, Dream, Torgersen by Adelie, Chinstrap, Gentoo
    array([[0.29, 0.01, 0.98],
           [0.37, 0.97, 0.01],
           [0.34, 0.01, 0.01]])
    """

    panels: list[Panel]
    classes: NDArray[Any]
    container: Container

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        columns: Sequence[Hashable] | None = None,
        resolution: int = 300,
        legend: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw the density that a fitted generative model gives each column, all others marginalised out.

        Parameters
        ----------
        estimator : fitted BayesClassifier, GaussianDiscriminant, …
        X : table
            Its columns say over which range to draw.
        columns : names or positions, optional
            Which columns to draw; all that the model uses but text unless given.
        resolution : int, default=300
            Points of a curve.
        legend, ax
            As `plot` takes them.

        Returns
        -------
        DensityDisplay
        """
        if not marginalises(estimator):
            raise TypeError(
                f"{type(estimator).__name__} has no class-conditional densities; a BayesClassifier or a "
                "GaussianDiscriminant has."
            )
        table = read_table(X)
        chosen = _used(estimator) if columns is None else [position(table, column) for column in columns]
        around = Surroundings(table, {})
        panels: dict[int, Panel] = {}
        for column in chosen:
            block = _block(estimator, column)
            if block is not None:
                panels.setdefault(block[0], _shares(estimator, block))
            else:
                panels[column] = _panel(estimator, around, column, resolution)
        if not panels:
            raise ValueError("this model uses no column that has an axis.")
        display = cls(list(panels.values()), np.asarray(estimator.classes_), table.container)
        return display.plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw a panel for each column.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            As many as there are columns; those of a new figure unless given.
        legend : bool, default=True
            Whether to name the classes below the last panel.

        Returns
        -------
        DensityDisplay
        """
        axes = self._panels(ax)
        for panel, one in zip(self.panels, axes, strict=True):
            self._draw(panel, one)
            keep_within(one)
        if ax is None:
            make_taller(self.figure_, _taller(axes))
        if legend:
            handles = axes[-1].get_legend_handles_labels()[0]
            if ax is None:
                legend_under_all(self.figure_, handles)
            else:
                legend_below(axes[-1], handles)
        return self

    def to_frame(self) -> Any:
        """One line per column and value, with the density of each class."""
        fields: dict[str, Any] = {
            "column": [panel.grid.name for panel in self.panels for _ in panel.grid.values],
            "value": [str(value) for panel in self.panels for value in panel.grid.values.tolist()],
        }
        stacked = np.concatenate([panel.density for panel in self.panels])
        for k, label in enumerate(self.classes.tolist()):
            fields[f"p(x | {label})"] = stacked[:, k]
        return make_frame(fields, self.container)

    def _panels(self, ax: Any) -> list[Axes]:
        """One axes for each column."""
        n = len(self.panels)
        if ax is not None:
            axes = list(np.ravel(np.array(ax, dtype=object)))
            if len(axes) != n:
                raise ValueError(f"there are {n} columns to draw and {len(axes)} axes; pass one for each.")
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

    def _draw(self, panel: Panel, ax: Axes) -> None:
        grid, at = panel.grid, panel.grid.positions
        looks = styles(len(self.classes))
        bars = not grid.is_smooth and len(at) <= MOST_BARS
        step = float(np.diff(at).min()) if len(at) > 1 else 1.0
        width = 0.8 * step / len(looks)
        for k, (look, label) in enumerate(zip(looks, self.classes.tolist(), strict=True)):
            p = panel.density[:, k]
            if bars:
                shift = (k - (len(looks) - 1) / 2.0) * width
                ax.bar(
                    at + shift,
                    np.nan_to_num(p),
                    width,
                    color=look.colour,
                    hatch=look.hatch,
                    edgecolor=foreground(),
                    linewidth=0.5,
                    label=str(label),
                )
            else:
                drawn = "default" if grid.is_smooth else "steps-mid"
                ax.plot(at, p, color=look.colour, linestyle=look.line, drawstyle=drawn, label=str(label))
        ax.set_ylim(bottom=0.0)
        ax.set_ylabel("density" if grid.is_smooth else "probability")
        grid.dress(ax.xaxis)


def _taller(axes: list[Axes]) -> float:
    """How many inches the names below all panels take beyond those that a panel has for them."""
    below: dict[int, float] = {}
    for ax in axes:
        spec, names = ax.get_subplotspec(), ax.xaxis.get_tightbbox()
        if spec is not None and names is not None:
            row = spec.rowspan.start
            below[row] = max(below.get(row, NAMES), names.height / ax.figure.dpi)
    return sum(below.values()) - NAMES * len(below)


def _panel(estimator: Any, around: Surroundings, column: int, resolution: int) -> Panel:
    """The density of one column, all others missing."""
    grid = around.grid(estimator, column, resolution, 0.1)
    rows = around.rows({column: grid.values})
    log_p = log_densities(estimator, rows)
    known = said_something(estimator, rows, column)[:, np.newaxis]
    # Ignored values are outside the support; a point mass has no height to draw.
    density = np.where(known & ~np.isposinf(log_p), np.exp(np.minimum(log_p, 700.0)), np.nan)
    if grid.kind == "moments":  # the axis is in days
        density *= SECONDS_PER_DAY
    return Panel(grid, density)


def _shares(estimator: Any, block: list[int]) -> Panel:
    """The columns of a Multinomial and the share each has in a class; the most different of many."""
    names = estimator.schema_.names
    shares = np.array([estimator.parameters_[names[column]]["probability"] for column in block])
    kept = np.sort(np.argsort(shares.min(axis=1) - shares.max(axis=1), kind="stable")[:MOST_LEVELS])
    values = np.array([str(names[block[i]]) for i in kept], dtype=object)
    return Panel(Grid(block[0], "share of each count", "levels", values), shares[kept])


def _block(estimator: Any, column: int) -> list[int] | None:
    """All columns of the Multinomial that a column belongs to."""
    for factor in estimator.schema_.factors:
        if factor.family.factor == "counts" and column in factor.columns:
            return [int(j) for j in factor.columns]
    return None


def _used(estimator: Any) -> list[int]:
    """The columns that have a family and can be drawn: all but text."""
    return sorted(
        column
        for factor in estimator.schema_.factors
        if factor.reads != "documents"
        for column in factor.columns.tolist()
    )
