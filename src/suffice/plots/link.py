"""LinkDisplay: activation functions side by side, from a score to a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice import links
from suffice.arrays import Array
from suffice.plots.display import Display, foreground, legend_below, make_frame
from suffice.plots.palette import styles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

FORMULAE = {
    "logistic": "logistic sigmoid σ(a)",
    "probit": "probit Φ(a)",
    "scaled_probit": "scaled probit Φ(λa), λ² = π/8",
}

FARTHEST = 12.0
"""Scores beyond this are not drawn: their probabilities are nearly 0 or 1, and the curves would shrink."""
DEFAULT = ("logistic", "scaled_probit")
RESOLUTION = 241
"""The number of points of a curve."""


@dataclass
class LinkDisplay(Display):
    """Activation functions y(a), from a score to a probability.

    Make a display with `from_links`, or with `from_estimator` or `from_predictions` to draw the rows of a
    binary classifier next to the curves.

    Parameters
    ----------
    a : ndarray of shape (n_scores,)
        The scores at which the functions are drawn.
    names : list of str
        The names of the functions, as in `suffice.links`.
    y : ndarray of shape (n_functions, n_scores)
        Their values.
    rows : tuple of two ndarrays, optional
        Scores and probabilities of rows.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from suffice.plots import LinkDisplay
    >>> display = LinkDisplay.from_links()
    >>> display.names
    ['logistic', 'scaled_probit']
    """

    a: Array
    names: list[str]
    y: Array
    rows: tuple[Array, Array] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, names: Sequence[str] = DEFAULT, ax: Axes | None = None
    ) -> Self:
        """Draw the scores and probabilities of a fitted binary classifier next to the functions.

        Parameters
        ----------
        estimator : fitted classifier of two classes
            Any classifier with `decision_function` and `predict_proba`.
        X : array-like or frame of shape (n_samples, n_features)
            The rows.
        names : sequence of str, default=("logistic", "scaled_probit")
            The functions to draw.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        LinkDisplay
            The display, already drawn.
        """
        if len(estimator.classes_) != 2:
            raise ValueError(
                f"LinkDisplay needs a classifier of two classes, but this {type(estimator).__name__} has "
                f"{len(estimator.classes_)}."
            )
        return cls.from_predictions(
            estimator.decision_function(X), estimator.predict_proba(X)[:, 1], names=names, ax=ax
        )

    @classmethod
    def from_predictions(
        cls,
        scores: ArrayLike,
        y_proba: ArrayLike,
        *,
        names: Sequence[str] = DEFAULT,
        ax: Axes | None = None,
    ) -> Self:
        """Draw scores and the probabilities computed from them next to the functions.

        Parameters
        ----------
        scores : array-like of shape (n_samples,)
            Scores, as `decision_function` returns them.
        y_proba : array-like of shape (n_samples,)
            Probabilities of the second class.
        names : sequence of str, default=("logistic", "scaled_probit")
            The functions to draw.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        LinkDisplay
            The display, already drawn.
        """
        a, p = np.asarray(scores, dtype=np.float64), np.asarray(y_proba, dtype=np.float64)
        if a.ndim != 1 or a.shape != p.shape:
            raise ValueError(
                f"scores and y_proba must be 1-D and equally long, got shapes {a.shape} and {p.shape}."
            )
        reach = min(max(6.0, float(np.abs(a).max(initial=0.0))), FARTHEST)
        return cls(*_curves(names, reach, RESOLUTION), rows=(a, p)).plot(ax)

    @classmethod
    def from_links(
        cls,
        names: Sequence[str] = DEFAULT,
        *,
        reach: float = 6.0,
        resolution: int = RESOLUTION,
        ax: Axes | None = None,
    ) -> Self:
        """Draw functions of `suffice.links`.

        Parameters
        ----------
        names : sequence of {"logistic", "probit", "scaled_probit"}, default=("logistic", "scaled_probit")
            The functions to draw.
        reach : float, default=6.0
            The scores run from −reach to reach.
        resolution : int, default=241
            The number of points of a curve.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        LinkDisplay
            The display, already drawn.
        """
        return cls(*_curves(names, reach, resolution)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw all functions on one axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        LinkDisplay
            The display itself.
        """
        own, ax = ax is None, self._start(ax)
        for name, y, look in zip(self.names, self.y, styles(len(self.names)), strict=True):
            ax.plot(self.a, y, color=look.colour, linestyle=look.line, linewidth=2, label=FORMULAE[name])
        if self.rows is not None:
            a, p = self.rows
            shown = np.abs(a) <= self.a[-1]
            name = "rows" if shown.all() else f"rows ({np.sum(~shown)} beyond ±{self.a[-1]:g} not shown)"
            ax.scatter(
                a[shown], p[shown], s=12, color=foreground(), alpha=0.5, linewidths=0, label=name, zorder=3
            )
        ax.set(xlabel="score a", ylabel="probability y", ylim=(-0.03, 1.03))
        legend_below(ax, own=own)
        return self

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            A pyarrow Table with one line per score and one field per function.
        """
        return make_frame({"a": self.a, **dict(zip(self.names, self.y, strict=True))})


def _curves(names: Sequence[str], reach: float, resolution: int) -> tuple[Array, list[str], Array]:
    """Scores, names, and the value of each named function at each score."""
    for name in names:
        if name not in FORMULAE:
            raise ValueError(f"there is no link {name!r}; choose from {list(FORMULAE)}.")
    a = np.linspace(-reach, reach, resolution)
    return a, list(names), np.array([getattr(links, name)(a) for name in names])
