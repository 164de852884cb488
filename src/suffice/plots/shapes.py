"""ShapeDisplay: what each column says about the classes, weighed, as a function of its own value."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.plots.column_shapes import Shape, contrast_of, ranked_columns, shapes_of, without_shape
from suffice.plots.display import (
    check_most,
    foreground,
    legend_below,
    legend_under_all,
    make_frame,
    make_taller,
)
from suffice.plots.grid import Grid, positions, read_rows
from suffice.plots.layout import fitted, keep_within, literal, name_ticks
from suffice.plots.observed import FAINT, MARKER, class_codes, stands_for_rows
from suffice.plots.palette import Style, styles
from suffice.plots.panels import PanelDisplay, are_bars, taller
from suffice.tables.container import Container
from suffice.tables.targets import labelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BENEATH = 0.22
"""The part of a panel's height for the rows."""
ROOM = 0.06
"""Room above and below the curves, as a share of their range."""
ASIDE = 0.07
"""How far to the right of a curve the marker of missing cells is, as a share of its range."""
ALONE = 0.4
"""How opaque bars are that stand for no class."""
MISSING = "(missing)"


@dataclass
class ShapeDisplay(PanelDisplay):
    """What each column says about the classes, weighed, as a function of its own value, in nats.

    These are the shape functions of an additive model: curves for numbers, bars for categories and counts,
    with the rows beneath. A shape holds all evidence of an EvidenceClassifier that reads only this column:
    its family, its steps, whether the cell is there, each times its weight, and the corrections of its cells.
    Joint Gaussians and pairs need other columns, and text has no axis: they are left out, which the title
    says with the nats that they add to held-out rows; `explain` has them. A marker right of a dotted line is
    a missing cell. Two classes have one line, the log odds of the second; of more classes, each has a line,
    centred over the classes. Make a display with `from_estimator`.

    Parameters
    ----------
    shapes : list of Shape
        One per column, with `.grid.values` and `.nats` of shape (n_values, n_lines).
    lines : list of str
        What each line is about: a class, or two.
    classes : ndarray
        The classes whose rows are shown beneath; empty if the labels are not known.
    container : Container
        The kind of frame that `to_frame` returns.
    left_out : int, default=0
        How many columns that say less have no panel.
    without_shape : list of str, default=()
        What has no panel because it has no shape, in words: what several columns say together, and text.

    Attributes
    ----------
    ax_ : matplotlib Axes or ndarray of Axes
        The axes that were drawn on, one per column.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import suffice
    >>> from suffice.plots import ShapeDisplay
    >>> X, species = suffice.load_penguins()
    >>> model = suffice.EvidenceClassifier().fit(X, species)
    >>> display = ShapeDisplay.from_estimator(model, X, columns=["island"], label="Gentoo", against="Adelie")
    >>> bool(display.shapes[0].nats[0, 0] > 0)  # Gentoo live on Biscoe
    True
    """

    shapes: list[Shape]
    lines: list[str]
    classes: NDArray[Any]
    container: Container
    left_out: int = 0
    without_shape: Sequence[str] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        columns: str | int | Sequence[Hashable] | None = None,
        most: int = 12,
        label: Any = None,
        against: Any = None,
        resolution: int = 300,
        legend: bool = True,
        ax: Any = None,
    ) -> Self:
        """Draw the shapes of a fitted EvidenceClassifier, those that add most to held-out rows first.

        Parameters
        ----------
        estimator : fitted EvidenceClassifier
            The model.
        X : array-like or frame of shape (n_samples, n_features)
            Rows, which set the range of each axis and are shown beneath.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it: tells the rows of the classes
            apart.
        columns : name, position or sequence of them, optional
            The columns to draw, in this order; by default all but text, in the order of the nats in
            `weights_`.
        most : int, default=12
            If `columns` names none, the largest number of panels; the title says how many columns there are.
        label : class, optional
            Draw the line of this class only: against the other one of two classes, else against the mean of
            all.
        against : class, optional
            The class that `label` is compared with.
        resolution : int, default=300
            The number of points of a curve.
        legend : bool, default=True
            Whether to name the lines below the last panel.
        ax : matplotlib Axes or array of Axes, optional
            One for each column; by default those of a new figure.

        Returns
        -------
        ShapeDisplay
            The display, already drawn.
        """
        if not hasattr(estimator, "_shapes"):
            raise TypeError(
                f"{type(estimator).__name__} has no weighed evidence per column; use an EvidenceClassifier."
            )
        check_most(most)
        if all(factor.reads == "documents" for factor in estimator.schema_.factors):
            raise ValueError(
                "words have no shape to draw, and this model has columns of text only; "
                "model.top_words(label, by='evidence') lists the words that speak for a class, and "
                "model.weights_.plot() draws what each kind of evidence adds."
            )
        X, y = labelled(X, y)
        table, classes = read_rows(estimator, X), np.asarray(estimator.classes_)
        contrast, lines = contrast_of(classes.tolist(), label, against)
        codes = np.zeros(table.n_rows, np.intp) if y is None else class_codes(table, y, classes)
        ranked = ranked_columns(estimator)
        drawn = ranked[:most] if columns is None else positions(table, columns)
        if not drawn:
            raise ValueError("this model uses no column that can be drawn.")
        shown = classes[:0] if y is None else classes
        shapes = shapes_of(estimator, table, drawn, contrast, resolution, codes, max(len(shown), 1))
        left_out = len(ranked) - len(drawn) if columns is None else 0
        beside = without_shape(estimator)
        return cls(shapes, lines, shown, table.container, left_out, beside).plot(ax, legend=legend)

    def plot(self, ax: Any = None, *, legend: bool = True) -> Self:
        """Draw a panel for each column.

        Parameters
        ----------
        ax : matplotlib Axes or array of Axes, optional
            One for each column; by default those of a new figure.
        legend : bool, default=True
            Whether to name the lines below the last panel.

        Returns
        -------
        ShapeDisplay
            The display itself.
        """
        axes = self._panels(ax, len(self.shapes))
        for shape, one in zip(self.shapes, axes, strict=True):
            self._draw(shape, one)
            keep_within(one)
        if ax is None:
            wide = 0.95 * self.figure_.get_figwidth()
            caption = [literal(fitted(line, wide)) for line in self._caption()]
            if caption:
                self.figure_.suptitle("\n".join(caption), fontsize="medium")
            make_taller(self.figure_, taller(axes))
        if legend:
            if ax is None:
                legend_under_all(self.figure_, self._handles(axes[0]))
            else:
                legend_below(axes[-1], self._handles(axes[0]))
        return self

    def _caption(self) -> list[str]:
        """What is not drawn."""
        n, beside = len(self.shapes), [f"not drawn: {said}" for said in self.without_shape]
        some = f"{n:,} of {n + self.left_out:,} columns: those that say most"
        return [some, *beside] if self.left_out else beside

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            One line per column and value, with the nats of each line; missing cells have a line where they
            say something.
        """
        names: list[str] = []
        values: list[str] = []
        parts: list[Array] = []
        for shape in self.shapes:
            own = [str(value) for value in (*shape.grid.values.tolist(), *shape.repeated)]
            parts += [shape.nats, shape.at_repeated]
            if shape.missing is not None:
                own.append(MISSING)
                parts.append(shape.missing[np.newaxis])
            values += own
            names += [shape.grid.name] * len(own)
        stacked = np.concatenate(parts)
        fields: dict[str, Any] = {"column": names, "value": values}
        fields |= {f"nats for {line}": stacked[:, k] for k, line in enumerate(self.lines)}
        return make_frame(fields, self.container)

    def _looks(self) -> list[Style]:
        """The style of each line: one alone is about no class in particular."""
        if len(self.lines) > 1:
            return styles(len(self.lines))
        return [Style(foreground(), "o", "-", "")]

    def _are_bars(self, grid: Grid) -> bool:
        return are_bars(grid, max(len(self.lines), len(self.classes)))

    def _draw(self, shape: Shape, ax: Axes) -> None:
        """Draw what a column says, and the rows beneath."""
        grid, at, looks = shape.grid, shape.grid.positions, self._looks()
        bars = self._are_bars(grid)
        step = float(np.diff(at).min()) if len(at) > 1 else 1.0
        aside = float(at[-1] + (step if bars or len(at) == 1 else ASIDE * np.ptp(at)))
        if bars:
            self._draw_bars(shape, ax, 0.8 * step / len(looks), aside)
        else:
            self._draw_lines(shape, ax, aside)
        if shape.missing is not None:
            ax.axvline((at[-1] + aside) / 2.0, color=foreground(), linewidth=0.8, linestyle=":")
        ax.axhline(0.0, color=foreground(), linewidth=0.5)
        _make_room(ax, shape)
        self._draw_rows(shape, ax, bars=bars, step=step)
        ax.set_ylabel("nats")
        grid.dress(ax.xaxis)
        if shape.missing is not None and bars:
            _name_missing(ax, grid, aside)

    def _draw_bars(self, shape: Shape, ax: Axes, width: float, aside: float) -> None:
        """Draw a bar for each value, and beside them for a missing cell."""
        at, nats, looks = shape.grid.positions, shape.nats, self._looks()
        if shape.missing is not None:
            at, nats = np.append(at, aside), np.vstack([nats, shape.missing])
        for k, look in enumerate(looks):
            ax.bar(
                at + (k - (len(looks) - 1) / 2.0) * width,
                np.nan_to_num(nats[:, k]),
                width,
                color=look.colour if len(looks) > 1 else (look.colour, ALONE),
                hatch=look.hatch,
                edgecolor=foreground(),
                linewidth=0.5,
            )

    def _draw_lines(self, shape: Shape, ax: Axes, aside: float) -> None:
        """Draw a curve or steps, and markers where single values or a missing cell say something else."""
        grid = shape.grid
        points = replace(grid, values=np.array(shape.repeated)).positions if shape.repeated else np.zeros(0)
        nats = shape.at_repeated
        if shape.missing is not None:
            points, nats = np.append(points, aside), np.vstack([nats, shape.missing])
        drawn = "default" if grid.is_smooth else "steps-mid"
        for k, look in enumerate(self._looks()):
            ax.plot(grid.positions, shape.nats[:, k], color=look.colour, linestyle=look.line, drawstyle=drawn)
            if len(points):
                ax.plot(points, nats[:, k], linestyle="none", marker=look.marker, **_dot(look.colour))

    def _draw_rows(self, shape: Shape, ax: Axes, *, bars: bool, step: float) -> None:
        """Draw the rows of each class at the foot of a panel."""
        seen = np.nan_to_num(shape.observed.density)
        highest = float(seen.max(initial=0.0))
        n = seen.shape[1]
        looks = styles(n) if len(self.classes) else [Style(foreground(), "o", "-", "")]
        foot = ax.get_xaxis_transform()
        for k, look in enumerate(looks):
            heights = 0.9 * BENEATH * seen[:, k] / (highest or 1.0)
            if bars:
                thick = 0.8 * step / n
                at = shape.grid.positions + (k - (n - 1) / 2.0) * thick
                ax.bar(
                    at,
                    heights,
                    thick,
                    color=look.colour,
                    alpha=FAINT,
                    transform=foot,
                    zorder=0.5,
                    label="_observed",
                )
            else:
                ax.stairs(
                    heights,
                    shape.observed.edges,
                    fill=True,
                    color=look.colour,
                    alpha=FAINT,
                    transform=foot,
                    zorder=0.5,
                    label="_observed",
                )

    def _handles(self, ax: Axes) -> list[Any]:
        """What stands for lines, missing cells and rows in a legend."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        names = self.lines if len(self.lines) > 1 else [f"nats for {self.lines[0]}"]
        handles: list[Any] = [
            Line2D([], [], color=one.colour, linestyle=one.line, label=name)
            for one, name in zip(self._looks(), names, strict=True)
        ]
        if any(one.missing is not None and not self._are_bars(one.grid) for one in self.shapes):
            handles.append(
                Line2D([], [], linestyle="none", marker="o", label="missing", **_dot(foreground()))
            )
        if len(self.classes) and len(self.lines) == 1:
            looks_of_rows = zip(styles(len(self.classes)), self.classes.tolist(), strict=True)
            handles += [
                Patch(color=one.colour, alpha=FAINT, label=f"rows of {name}") for one, name in looks_of_rows
            ]
        else:
            handles.append(stands_for_rows(ax, bars=False))
        return handles


def _dot(colour: str) -> dict[str, Any]:
    """How the markers of single values look."""
    return {"color": colour, "markersize": MARKER, "markeredgecolor": foreground(), "markeredgewidth": 0.5}


def _name_missing(ax: Axes, grid: Grid, aside: float) -> None:
    """Name the bar of a missing cell beside those of levels or counts."""
    at = grid.positions
    places = at if grid.kind == "levels" else np.array([t for t in ax.get_xticks() if at[0] <= t <= at[-1]])
    names = grid.values.tolist() if grid.kind == "levels" else [f"{place:,.0f}" for place in places]
    name_ticks(ax.xaxis, [*places.tolist(), aside], [*names, MISSING])


def _make_room(ax: Axes, shape: Shape) -> None:
    """Keep the curves above the rows."""
    gone = np.zeros(1) if shape.missing is None else shape.missing
    drawn = np.concatenate([shape.nats.ravel(), shape.at_repeated.ravel(), gone, [0.0]])
    drawn = drawn[np.isfinite(drawn)]
    low, high = float(drawn.min()), float(drawn.max())
    span = (high - low) or 1.0
    low, high = low - ROOM * span, high + ROOM * span
    ax.set_ylim(low - BENEATH / (1.0 - BENEATH) * (high - low), high)
    ax.set_yticks([tick for tick in ax.get_yticks() if low <= tick <= high])
