"""DensityDisplay: the class-conditional densities of a fitted model, column by column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.families import Steps
from suffice.plots.display import (
    check_most,
    foreground,
    legend_below,
    legend_under_all,
    make_frame,
    make_taller,
)
from suffice.plots.grid import (
    MOST_LEVELS,
    SECONDS_PER_DAY,
    Grid,
    Surroundings,
    block_of,
    marginalises,
    positions,
    read_rows,
    repeated_values,
)
from suffice.plots.layout import keep_within
from suffice.plots.observed import (
    Observed,
    class_codes,
    fill,
    mark,
    observe,
    observe_counts,
    stands_for_rows,
)
from suffice.plots.palette import styles
from suffice.plots.panels import PanelDisplay, are_bars, taller
from suffice.tables.container import Container
from suffice.tables.table import Table
from suffice.tables.targets import labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.1
"""How far curves go beyond the data, as a share of their range."""
STEMS_APART = 0.01
"""The part of an axis between the stems of two classes."""
AT_ONCE = 64
"""Columns whose evidence is computed together: that of a joint block takes the cube of their number."""
TALLEST = 2.0
"""Rows are drawn up to this many times as high as the densities, which a spike would flatten otherwise."""


@dataclass(frozen=True)
class Panel:
    """The density of one column.

    Attributes
    ----------
    grid : Grid
        The values of the column, as `grid.values`.
    density : ndarray of shape (n_values, n_classes)
        p(x | C_k) at each value.
    n_columns : int
        The number of columns: 1, or all of a Multinomial.
    repeated : tuple of float
        The values of a Hurdle that repeat.
    shares : ndarray of shape (n_repeated, n_classes)
        Their probabilities.
    observed : Observed or None
        What the rows of each class hold, if their labels are known.
    """

    grid: Grid
    density: Array
    n_columns: int = 1
    repeated: tuple[float, ...] = ()
    shares: Array = field(default_factory=lambda: np.zeros((0, 0)))
    observed: Observed | None = None


@dataclass
class DensityDisplay(PanelDisplay):
    """Class-conditional densities p(x | C_k), column by column.

    Continuous families are drawn as curves, categories and counts as bars. The values of a Hurdle that repeat
    are stems, whose heights are probabilities on an axis at the right. A Multinomial, one distribution of
    many counts, is one panel with the share of each count. With labels, the rows are shown too: as faint
    histograms beneath the curves, or as a marker at each bar. Make a display with `from_estimator`.

    Parameters
    ----------
    panels : list of Panel
        One per column, with `.grid.values` and `.density` of shape (n_values, n_classes).
    classes : ndarray of shape (n_classes,)
        The classes.
    container : Container
        The kind of frame that `to_frame` returns.
    left_out : int, default=0
        How many columns of lower evidence have no panel.

    Attributes
    ----------
    ax_ : matplotlib Axes or ndarray of Axes
        The axes that were drawn on, one per column.
    figure_ : matplotlib Figure
        The figure of the axes.

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
    left_out: int = 0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        columns: str | int | Sequence[Hashable] | None = None,
        most: int = 12,
        resolution: int = 300,
        legend: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw the densities of a fitted generative model, each column with all others marginalised out.

        Parameters
        ----------
        estimator : fitted BayesClassifier, GaussianDiscriminant or EvidenceClassifier
            The model; the densities of an EvidenceClassifier are those of its `generative_`.
        X : array-like or frame of shape (n_samples, n_features)
            Rows, which set the range of each axis.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it: shows the rows of each class
            beneath its density.
        columns : name, position or sequence of them, optional
            The columns to draw; by default those that the model uses, except text.
        most : int, default=12
            If `columns` names none, the largest number of panels: the columns of highest evidence are drawn,
            and the title says how many there are.
        resolution : int, default=300
            The number of points of a curve.
        legend : bool, default=True
            Whether to name the classes below the last panel.
        ax : matplotlib Axes or array of Axes, optional
            One for each column; by default those of a new figure.

        Returns
        -------
        DensityDisplay
            The display, already drawn.
        """
        if not marginalises(estimator):
            raise TypeError(
                f"{type(estimator).__name__} has no class-conditional densities; use a BayesClassifier or a "
                "GaussianDiscriminant."
            )
        check_most(most)
        estimator = getattr(estimator, "generative_", estimator)
        X, y = labelled(X, y)
        table, classes = read_rows(estimator, X), np.asarray(estimator.classes_)
        codes = None if y is None else class_codes(table, y, classes)
        chosen = _used(estimator) if columns is None else positions(table, columns)
        groups = list(dict.fromkeys(tuple(block_of(estimator, column) or [column]) for column in chosen))
        if not groups:
            raise ValueError("this model uses no column that can be drawn.")
        drawn = groups if columns is not None else _most_informative(estimator, table, groups, most)
        panels = [
            _shares(estimator, table, group, codes)
            if block_of(estimator, group[0])
            else _panel(estimator, table, group[0], resolution, codes)
            for group in drawn
        ]
        left_out = sum(map(len, groups)) - sum(map(len, drawn))
        display = cls(panels, classes, table.container, left_out)
        return display.plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw a panel for each column.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, optional
            One for each column; by default those of a new figure.
        legend : bool, default=True
            Whether to name the classes below the last panel.

        Returns
        -------
        DensityDisplay
            The display itself.
        """
        axes = self._panels(ax, len(self.panels))
        handles: list[Any] = []
        for panel, one in zip(self.panels, axes, strict=True):
            handles = self._draw(panel, one)
            keep_within(one)
        if any(panel.observed is not None for panel in self.panels):
            bars = all(are_bars(panel.grid, len(self.classes)) for panel in self.panels)
            handles = [*handles, stands_for_rows(axes[0], bars=bars)]
        if ax is None:
            if self.left_out:
                self.figure_.suptitle(self._caption(), fontsize="medium")
            make_taller(self.figure_, taller(axes))
        if legend:
            if ax is None:
                legend_under_all(self.figure_, handles)
            else:
                legend_below(axes[-1], handles)
        return self

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            One line per column and value, with the density of each class, or the probability of a value that
            repeats, and, if labels were given, what was observed there.
        """
        values = [[*panel.grid.values.tolist(), *panel.repeated] for panel in self.panels]
        fields: dict[str, Any] = {
            "column": [p.grid.name for p, each in zip(self.panels, values, strict=True) for _ in each],
            "value": [str(value) for each in values for value in each],
        }
        parts = [part for panel in self.panels for part in (panel.density, panel.shares) if len(part)]
        stacked = np.concatenate(parts)
        for k, label in enumerate(self.classes.tolist()):
            fields[f"p(x | {label})"] = stacked[:, k]
        seen = [
            np.pad(p.observed.at(p.grid.positions), ((0, len(p.repeated)), (0, 0)), constant_values=np.nan)
            for p in self.panels
            if p.observed is not None
        ]
        if seen:
            rows = np.concatenate(seen)
            fields |= {f"observed(x | {label})": rows[:, k] for k, label in enumerate(self.classes.tolist())}
        return make_frame(fields, self.container)

    def _caption(self) -> str:
        """How many columns are drawn, and which."""
        drawn = sum(panel.n_columns for panel in self.panels)
        return f"{drawn:,} of {drawn + self.left_out:,} columns: those of highest evidence"

    def _draw(self, panel: Panel, ax: Axes) -> list[Any]:
        """Draw the density of each class, and return what stands for it in a legend."""
        handles: list[Any] = []
        grid, at = panel.grid, panel.grid.positions
        looks = styles(len(self.classes))
        bars = are_bars(grid, len(looks))
        step = float(np.diff(at).min()) if len(at) > 1 else 1.0
        width = 0.8 * step / len(looks)
        for k, (look, label) in enumerate(zip(looks, self.classes.tolist(), strict=True)):
            p = panel.density[:, k]
            if bars:
                shift = (k - (len(looks) - 1) / 2.0) * width
                drawn_bars = ax.bar(
                    at + shift,
                    np.nan_to_num(p),
                    width,
                    color=look.colour,
                    hatch=look.hatch,
                    edgecolor=foreground(),
                    linewidth=0.5,
                    label=str(label),
                )
                handles.append(drawn_bars)
                if panel.observed is not None:
                    mark(ax, at + shift, panel.observed.density[:, k], look)
            else:
                if panel.observed is not None:
                    fill(ax, panel.observed, k, look)
                drawn = "default" if grid.is_smooth else "steps-mid"
                handles += ax.plot(
                    at, p, color=look.colour, linestyle=look.line, drawstyle=drawn, label=str(label)
                )
        if panel.repeated:
            self._draw_stems(panel, ax)
        ax.set_ylim(bottom=0.0)
        if panel.observed is not None and not bars:
            _keep_densities_visible(ax, panel)
        ax.set_ylabel("density" if grid.is_smooth else "probability")
        grid.dress(ax.xaxis)
        return handles

    def _draw_stems(self, panel: Panel, ax: Axes) -> None:
        """Draw the probabilities of values that repeat, side by side, on an axis of their own."""
        right: Any = ax.twinx()
        looks, at = styles(len(self.classes)), replace(panel.grid, values=np.array(panel.repeated)).positions
        apart = STEMS_APART * float(np.ptp([*panel.grid.positions, *at]))
        for k, look in enumerate(looks):
            x = at + (k - (len(looks) - 1) / 2.0) * apart
            right.vlines(x, 0.0, panel.shares[:, k], color=look.colour, linestyle=look.line)
            right.plot(x, panel.shares[:, k], color=look.colour, linestyle="none", marker="o")
        right.set_ylim(0.0, 1.0)
        right.set_ylabel(f"share of {', '.join(map(str, panel.repeated))}")


def _keep_densities_visible(ax: Axes, panel: Panel) -> None:
    """Cut off bins far higher than the densities."""
    highest = float(np.nan_to_num(panel.density).max(initial=0.0))
    if highest > 0.0:
        ax.set_ylim(top=min(ax.get_ylim()[1], TALLEST * highest))


def _panel(estimator: Any, table: Table, column: int, resolution: int, codes: Codes | None) -> Panel:
    """The density of one column, all others marginalised out."""
    around = Surroundings.of(estimator, table, (column,))
    # Values beyond the outer steps are read as the nearest ones, so nothing is drawn there.
    is_open = isinstance(estimator.schema_.columns[column].family, Steps)
    grid = around.grid(column, resolution, 0.0 if is_open else MARGIN)
    log_p = around.log_densities({column: grid.values})
    known = around.counts(grid)[:, np.newaxis]
    # Ignored values lie outside the support, and a point mass has no finite height.
    density = np.where(known & ~np.isposinf(log_p), np.exp(np.minimum(log_p, 700.0)), np.nan)
    if grid.kind == "moments":  # the axis is in days
        density *= SECONDS_PER_DAY
    repeated = repeated_values(estimator, column)
    shares = np.zeros((0, 0))
    if repeated:
        density[np.isin(grid.values, repeated)] = np.nan
        shares = np.exp(around.log_densities({column: np.array(repeated, dtype=np.float64)}))
    n_classes, observed = density.shape[1], None
    if codes is not None:
        observed = observe(grid, table, codes, n_classes, one_by_one=are_bars(grid, n_classes))
    return Panel(grid, density, 1, repeated, shares, observed)


def _most_informative(
    estimator: Any, table: Table, groups: list[tuple[int, ...]], most: int
) -> list[tuple[int, ...]]:
    """The groups of columns with the highest evidence, in their own order."""
    if len(groups) <= most:
        return groups
    evidence: dict[int, float] = {}
    for start in range(0, len(groups), AT_ONCE):
        columns = sorted(column for group in groups[start : start + AT_ONCE] for column in group)
        weight = estimator._marginal(columns).unbounded().separation(table.container).weight
        evidence |= zip(columns, weight.tolist(), strict=True)
    ranked = sorted(groups, key=lambda group: -sum(evidence[column] for column in group))
    kept = set(ranked[:most])
    return [group for group in groups if group in kept]


def _shares(estimator: Any, table: Table, block: Sequence[int], codes: Codes | None) -> Panel:
    """The columns of a Multinomial and their shares in each class; of many, those that differ most."""
    names = estimator.schema_.names
    shares = np.array([estimator.parameters_[names[column]]["probability"] for column in block])
    kept = np.sort(np.argsort(shares.min(axis=1) - shares.max(axis=1), kind="stable")[:MOST_LEVELS])
    values = np.array([str(names[block[i]]) for i in kept], dtype=object)
    grid = Grid(block[0], "share of each count", "levels", values)
    observed = None if codes is None else observe_counts(table, block, kept, codes, shares.shape[1])
    return Panel(grid, shares[kept], len(block), observed=observed)


def _used(estimator: Any) -> list[int]:
    """The columns that have a family and can be drawn: all but text."""
    return sorted(
        column
        for factor in estimator.schema_.factors
        if factor.reads != "documents"
        for column in factor.columns.tolist()
    )
