"""SurfaceDisplay: the posterior of one class as a surface over two columns."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.plots.display import Display, background, make_frame, pyplot
from suffice.plots.grid import Grid, Surroundings, read_rows
from suffice.plots.layout import fitted, literal, room_in_inches
from suffice.plots.palette import Colours, chosen_colours, mixed
from suffice.plots.posterior import two_columns
from suffice.tables.container import Container
from suffice.tables.targets import class_index

ROOM = 0.8
"""The size of the box, so that names beside it stay on the page."""
TICKS = 5
"""Numbers along an axis, at most."""
LOOK = (30.0, -60.0)
"""How high above, and from where, the surface is seen, in degrees."""


@dataclass
class SurfaceDisplay(Display):
    """The posterior of one class over two columns as a surface in three dimensions.

    Two Gaussian classes that share Σ have a sigmoidal slope, σ(wᵀx + w₀): straight along the boundary, and a
    logistic sigmoid across it. Make a display with `from_estimator`.

    Parameters
    ----------
    x, y : Grid
        The values of the two columns.
    label : label
        The class.
    classes : ndarray of shape (n_classes,)
        All classes.
    posterior : ndarray of shape (n_y, n_x, n_classes)
        p(C_k | x) at each point of the grid.
    container : Container
        The kind of frame that `to_frame` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes3D
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> import suffice
    >>> from suffice.plots import SurfaceDisplay
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [4.0, 4.0], [5.0, 6.0], [4.0, 6.0]]
    >>> model = suffice.GaussianDiscriminant().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> display = SurfaceDisplay.from_estimator(model, X, resolution=20)
    >>> display.label, display.posterior.shape
    ('b', (20, 20, 2))
    """

    x: Grid
    y: Grid
    label: Any
    classes: NDArray[Any]
    posterior: Array
    container: Container

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        label: Any = None,
        columns: Sequence[Hashable] | None = None,
        held: Mapping[Hashable, Any] | None = None,
        resolution: int = 60,
        colours: Colours = None,
        ax: Any = None,
    ) -> Self:
        """Draw the posterior of one class of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            Any classifier with `predict_proba`.
        X : array-like or frame of shape (n_samples, n_features)
            Rows, which set the range of each axis.
        label : label, optional
            The class; by default the last.
        columns : pair of names or positions, optional
            The two columns of numbers; required if X has more than two.
        held : dict of column to value, optional
            Columns to hold at a value, as in `PosteriorDisplay`.
        resolution : int, default=60
            The number of points along each axis.
        colours, ax
            As in `plot`.

        Returns
        -------
        SurfaceDisplay
            The display, already drawn.
        """
        table = read_rows(estimator, X)
        across, up = two_columns(table, columns)
        around = Surroundings.of(estimator, table, (across, up), held)
        grids = [around.grid(j, resolution, 0.05) for j in (across, up)]
        for grid in grids:
            if not grid.is_smooth:
                raise ValueError(
                    f"a surface needs two columns of numbers that vary continuously, but {grid.name!r} has "
                    "levels or counts; PosteriorDisplay draws any two columns."
                )
        at_x, at_y = (cells.ravel() for cells in np.meshgrid(grids[0].values, grids[1].values, indexing="xy"))
        p, _ = around.posteriors({across: at_x, up: at_y})
        classes = np.asarray(estimator.classes_)
        known = classes.tolist()
        chosen = known[-1] if label is None else known[class_index(label, known)]
        shape = (len(grids[1].values), len(grids[0].values), len(known))
        display = cls(grids[0], grids[1], chosen, classes, p.reshape(shape), table.container)
        return display.plot(ax, colours=colours)

    def plot(self, ax: Any = None, *, colours: Colours = None) -> Self:
        """Draw the surface, in colours mixed by the posteriors of all classes.

        Parameters
        ----------
        ax : matplotlib Axes3D, optional
            Axes with projection="3d" to draw on; by default those of a new figure.
        colours : sequence of colours or dict of label to colour, optional
            The colours of the classes; by default those of all displays.

        Returns
        -------
        SurfaceDisplay
            The display itself.
        """
        plt = pyplot()
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            ax = plt.figure(layout="constrained").add_subplot(projection="3d")
        if not hasattr(ax, "plot_surface"):
            raise ValueError("a surface needs axes in three dimensions; make them with projection='3d'.")
        self.ax_, self.figure_ = ax, ax.figure
        palette, strength = chosen_colours(self.classes.tolist(), colours)
        faces = np.clip(mixed(self.posterior, palette, background(ax), strength), 0.0, 1.0)
        height = self.posterior[:, :, self.classes.tolist().index(self.label)]
        across, up = np.meshgrid(self.x.positions, self.y.positions, indexing="xy")
        ax.plot_surface(
            across,
            up,
            height,
            facecolors=faces,
            rstride=1,
            cstride=1,
            linewidth=0,
            antialiased=False,
            shade=False,
            rasterized=True,
        )
        width = 0.3 * room_in_inches(ax)[0]
        ax.set(
            xlabel=literal(fitted(str(self.x.name), width)),
            ylabel=literal(fitted(str(self.y.name), width)),
            zlabel=literal(f"p({fitted(str(self.label), 0.7 * width)} | x)"),
            zlim=(0.0, 1.0),
        )
        ax.view_init(*LOOK)
        ax.set_box_aspect(None, zoom=ROOM)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_major_locator(MaxNLocator(TICKS))
        return self

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            One line per point of the grid, with the posterior of the class.
        """
        across, up = np.meshgrid(self.x.values, self.y.values, indexing="xy")
        place = self.classes.tolist().index(self.label)
        fields = {self.x.name: across.ravel().tolist(), self.y.name: up.ravel().tolist()}
        fields[f"p({self.label})"] = self.posterior[:, :, place].ravel()
        return make_frame(fields, self.container)
