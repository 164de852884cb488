"""PosteriorDisplay: the posterior of any model over two of its columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.plots.display import Display, background, foreground, legend_below, make_frame
from suffice.plots.grid import Grid, Surroundings, position, read_rows
from suffice.plots.layout import keep_within
from suffice.plots.observed import class_codes
from suffice.plots.palette import DISTINCT, Colours, chosen_colours, chosen_styles, mixed, rgb
from suffice.tables.container import Container
from suffice.tables.table import Table
from suffice.tables.wording import listed, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MASSES = (0.9, 0.5)
"""The share of a class that each density contour encloses."""
MOST_LARGE = 400
"""Beyond this many rows, markers become smaller."""
FARTHEST = 700.0
"""Log odds are clipped here when a boundary is drawn."""


@dataclass
class PosteriorDisplay(Display):
    """Posteriors over two columns as mixed colours, with boundaries, class densities and rows.

    Make a display with `from_estimator`.

    Parameters
    ----------
    x, y : Grid
        The values of the two columns.
    classes : ndarray of shape (n_classes,)
        The classes.
    posterior : ndarray of shape (n_y, n_x, n_classes)
        p(C_k | x) at each point of the grid.
    log_posterior : ndarray of shape (n_y, n_x, n_classes)
        log p(C_k | x).
    log_density : ndarray of shape (n_y, n_x, n_classes) or None
        log p(x | C_k) of the two columns and those held; None for models without a density.
    points : tuple of three ndarrays, or None
        The position across, the position up and the class of each row.
    held : dict
        The columns held at a value, and the value. All others are marginalised out.
    container : Container
        The kind of frame that `to_frame` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import suffice
    >>> from suffice.plots import PosteriorDisplay
    >>> X, species = suffice.load_penguins()
    >>> model = suffice.BayesClassifier().fit(X, species)
    >>> columns = ("bill_length_mm", "flipper_length_mm")
    >>> display = PosteriorDisplay.from_estimator(model, X, species, columns=columns, resolution=50)
    >>> display.posterior.shape[2]
    3
    """

    x: Grid
    y: Grid
    classes: NDArray[Any]
    posterior: Array
    log_posterior: Array
    log_density: Array | None
    points: tuple[Array, Array, NDArray[np.intp]] | None
    held: dict[Any, Any]
    container: Container
    _colours: Colours = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[Hashable] | None = None,
        held: Mapping[Hashable, Any] | None = None,
        resolution: int = 120,
        posterior: bool = True,
        densities: bool | None = None,
        boundaries: bool = True,
        legend: bool = True,
        colours: Colours = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the posterior of a fitted classifier over two columns.

        Parameters
        ----------
        estimator : fitted classifier
            Any classifier with `predict_proba`.
        X : array-like or frame of shape (n_samples, n_features)
            Rows, which set the range of each axis.
        y : array-like of shape (n_samples,), optional
            Labels; if given, the rows of X are drawn as points.
        columns : pair of names or positions, optional
            The two columns to draw; required if X has more than two.
        held : dict of column to value, optional
            Columns to hold at a value. A generative model of suffice marginalises out all others; for any
            other model they are held at their median, or their most frequent level.
        resolution : int, default=120
            The number of points along each axis.
        posterior, densities, boundaries, legend, colours, ax
            As in `plot`.

        Returns
        -------
        PosteriorDisplay
            The display, already drawn.
        """
        table = read_rows(estimator, X)
        across, up = two_columns(table, columns)
        around = Surroundings.of(estimator, table, (across, up), held)
        grids = [around.grid(j, resolution, 0.05) for j in (across, up)]
        at_x, at_y = (cells.ravel() for cells in np.meshgrid(grids[0].values, grids[1].values, indexing="xy"))
        cells = {across: at_x, up: at_y}
        p, log_p = around.posteriors(cells)
        shape = (len(grids[1].values), len(grids[0].values), p.shape[1])
        classes = np.asarray(estimator.classes_)
        display = cls(
            x=grids[0],
            y=grids[1],
            classes=classes,
            posterior=p.reshape(shape),
            log_posterior=log_p.reshape(shape),
            log_density=_densities(around, grids, cells, shape),
            points=None if y is None else _points(table, y, grids, classes),
            held=around.named(),
            container=table.container,
        )
        return display.plot(
            ax,
            posterior=posterior,
            densities=densities,
            boundaries=boundaries,
            legend=legend,
            colours=colours,
        )

    def plot(
        self,
        ax: Axes | None = None,
        *,
        posterior: bool = True,
        densities: bool | None = None,
        boundaries: bool = True,
        legend: bool = True,
        colours: Colours = None,
    ) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        posterior : bool, default=True
            Whether to mix the colours of the classes by their posteriors.
        densities : bool, optional
            Whether to draw contours that enclose 50 % and 90 % of each class, if both columns are continuous
            and the model has a density. By default they are drawn for up to six classes.
        boundaries : bool, default=True
            Whether to draw lines where the most probable class changes.
        legend : bool, default=True
            Whether to name the classes below the picture.
        colours : sequence of colours or dict of label to colour, optional
            The colours of the classes, such as ["red", "lime", "blue"]. They are mixed as they are: with
            these three, the red, green and blue of a point are its posteriors. By default the colours are
            those of all displays, a little lighter.

        Returns
        -------
        PosteriorDisplay
            The display itself.
        """
        own, ax = ax is None, self._start(ax)
        from matplotlib.colors import to_rgb

        self._colours = colours
        looks = chosen_styles(self.classes.tolist(), colours)
        contours = (len(looks) <= DISTINCT if densities is None else densities) and self._has_contours
        ink = np.array(to_rgb(foreground()))
        if posterior:
            palette, strength = chosen_colours(self.classes.tolist(), colours)
            blend = mixed(self.posterior, palette, background(ax), strength)
            ax.pcolormesh(self.x.edges, self.y.edges, np.clip(blend, 0.0, 1.0), rasterized=True)
        if contours and self.log_density is not None:
            for k, look in enumerate(looks):
                levels = self._contours(k)
                if levels:
                    log_p = np.maximum(self.log_density[:, :, k], levels[0] - FARTHEST)
                    ax.contour(
                        self.x.positions,
                        self.y.positions,
                        log_p,
                        levels=levels,
                        colors=[tuple(0.5 * (rgb(look.colour) + ink))],
                        linestyles=[look.line],
                        linewidths=1.2,
                    )
        if boundaries:
            self._draw_boundaries(ax)
        if self.points is not None:
            across, up, codes = self.points
            for k, look in enumerate(looks):
                mine = codes == k
                ax.scatter(
                    across[mine],
                    up[mine],
                    s=min(16.0, max(5.0, 16.0 * np.sqrt(MOST_LARGE / len(codes)))),
                    marker=look.marker,
                    c=look.colour,
                    edgecolors=foreground(),
                    linewidths=0.5 if len(codes) <= MOST_LARGE else 0.3,
                    zorder=3,
                )
        self.x.dress(ax.xaxis)
        self.y.dress(ax.yaxis)
        ax.set(xlim=self.x.edges[[0, -1]], ylim=self.y.edges[[0, -1]])
        if legend:
            legend_below(ax, self.handles(lines=contours), own=own)
        else:
            keep_within(ax)
        return self

    @property
    def _has_contours(self) -> bool:
        return self.log_density is not None and self.x.is_smooth and self.y.is_smooth

    def handles(self, *, lines: bool = False) -> list[Any]:
        """Return the entries of the legend, for a legend of your own.

        Parameters
        ----------
        lines : bool, default=False
            Whether to show the line of each class's contours next to its marker.

        Returns
        -------
        list of matplotlib Line2D
            One for each class.
        """
        from matplotlib.lines import Line2D

        known = self.classes.tolist()
        looks = zip(chosen_styles(known, self._colours), known, strict=True)
        return [
            Line2D(
                [],
                [],
                color=look.colour,
                linestyle=look.line if lines else "none",
                marker=look.marker,
                label=str(label),
                markeredgecolor=foreground(),
                markeredgewidth=0.5,
            )
            for look, label in looks
        ]

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            One line per point of the grid, with the posterior of each class.
        """
        across, up = np.meshgrid(self.x.values, self.y.values, indexing="xy")
        fields: dict[str, Any] = {self.x.name: across.ravel().tolist(), self.y.name: up.ravel().tolist()}
        for k, label in enumerate(self.classes.tolist()):
            fields[f"p({label})"] = self.posterior[:, :, k].ravel()
        return make_frame(fields, self.container)

    def winners(self) -> NDArray[np.intp]:
        """Return the most probable class at each point of the grid.

        Returns
        -------
        ndarray of shape (n_y, n_x)
            Positions in `classes`.
        """
        return np.asarray(self.log_posterior.argmax(axis=2))

    def _draw_boundaries(self, ax: Axes) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.patheffects import withStroke

        colour, paper = foreground(), tuple(background(ax))
        if not (self.x.is_smooth and self.y.is_smooth):
            segments = _steps(self.winners(), self.x.edges, self.y.edges)
            ax.add_collection(LineCollection(segments, colors=[paper], linewidths=3.0, capstyle="projecting"))
            ax.add_collection(
                LineCollection(segments, colors=[colour], linewidths=1.4, capstyle="projecting")
            )
            return
        halo = [withStroke(linewidth=3.0, foreground=paper)]
        for k in range(len(self.classes)):
            lead = _lead(self.log_posterior, k)
            if lead.min() < 0.0 < lead.max():
                ax.contour(
                    self.x.positions,
                    self.y.positions,
                    lead,
                    levels=[0.0],
                    colors=[colour],
                    linewidths=1.4,
                    path_effects=halo,
                )

    def _contours(self, k: int) -> list[float]:
        """Log densities whose contours enclose the `MASSES` of a class within the picture, lowest first."""
        assert self.log_density is not None  # noqa: S101
        log_p = self.log_density[:, :, k]
        finite = np.isfinite(log_p)
        if not finite.any():
            return []
        area = np.outer(self.y.widths, self.x.widths)[finite]
        heights = log_p[finite]
        order = np.argsort(-heights)
        mass = np.cumsum(np.exp(heights[order] - heights[order[0]]) * area[order])
        levels = [float(heights[order[np.searchsorted(mass, share * mass[-1])]]) for share in MASSES]
        return levels if levels[0] < levels[1] < heights[order[0]] else []


def two_columns(table: Table, columns: Sequence[Hashable] | None) -> tuple[int, int]:
    """The positions of the two columns to draw."""
    if columns is None:
        if table.n_columns != 2:
            raise ValueError(
                f"X has {table.n_columns} columns; choose two of them, as in columns=("
                f"{listed(table.names[:2], brackets=False)}). They are {listed(table.names)}."
            )
        return 0, 1
    if isinstance(columns, str) or len(columns) != 2:
        raise ValueError(
            f"columns must be two columns of X, got {quoted(columns)}; for one column use DensityDisplay."
        )
    across, up = (position(table, column) for column in columns)
    if across == up:
        raise ValueError(
            f"columns must be two different ones, got {quoted(columns)}; for one column use DensityDisplay."
        )
    return across, up


def _densities(
    around: Surroundings, grids: Sequence[Grid], cells: dict[int, NDArray[Any]], shape: tuple[int, int, int]
) -> Array | None:
    """Log p(x | C_k); −inf where the model ignores a value because it lies outside the family's support."""
    if around.marginal is None:
        return None
    log_p = around.log_densities(cells).reshape(shape)
    inside = [around.counts(grid) for grid in grids]
    return np.where(np.outer(inside[1], inside[0])[:, :, np.newaxis], log_p, -np.inf)


def _points(
    table: Table, y: Any, grids: Sequence[Grid], classes: NDArray[Any]
) -> tuple[Array, Array, NDArray[np.intp]]:
    codes = class_codes(table, y, classes)
    rng = np.random.default_rng(0)
    across, up = (grid.jittered(table, rng) for grid in grids)
    return across, up, codes


def _lead(log_p: Array, k: int) -> Array:
    """The log odds of class k against the best other class, clipped."""
    others = np.delete(log_p, k, axis=2).max(axis=2)
    with np.errstate(invalid="ignore"):
        lead = np.nan_to_num(log_p[:, :, k] - others, nan=0.0, posinf=FARTHEST, neginf=-FARTHEST)
    return np.asarray(np.clip(lead, -FARTHEST, FARTHEST))


def _steps(winners: NDArray[np.intp], x: Array, y: Array) -> list[Array]:
    """The borders between neighbouring cells of different classes, as segments."""
    upright = np.argwhere(winners[:, 1:] != winners[:, :-1]).tolist()
    level = np.argwhere(winners[1:] != winners[:-1]).tolist()
    return [np.array([[x[j + 1], y[i]], [x[j + 1], y[i + 1]]]) for i, j in upright] + [
        np.array([[x[j], y[i + 1]], [x[j + 1], y[i + 1]]]) for i, j in level
    ]
