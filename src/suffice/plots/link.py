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
"""Scores beyond this are so near 0 or 1 that they would only make the curves smaller."""
DEFAULT = ("logistic", "scaled_probit")
RESOLUTION = 241
"""Points of a curve."""


@dataclass
class LinkDisplay(Display):
    """y(a) of some activation functions; the logistic sigmoid and the scaled probit unless told.

    Make one with `from_links`, or with `from_estimator` or `from_predictions` to see where the rows of a
    classifier of two classes lie beside them.

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
    """(functions, scores)."""
    rows: tuple[Array, Array] | None = None
    """Scores and probabilities that a classifier gave."""

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, names: Sequence[str] = DEFAULT, ax: Axes | None = None
    ) -> Self:
        """Draw the scores and the probabilities that a fitted classifier of two classes gives to rows."""
        if len(estimator.classes_) != 2:
            raise ValueError(
                f"one score makes one probability, of two classes; this {type(estimator).__name__} has "
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
        """Draw scores and the probabilities of the second class that were made of them."""
        a, p = np.asarray(scores, dtype=np.float64), np.asarray(y_proba, dtype=np.float64)
        if a.ndim != 1 or a.shape != p.shape:
            raise ValueError(f"each score needs one probability, got the shapes {a.shape} and {p.shape}.")
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
        """Draw "logistic", "probit" or "scaled_probit" of `suffice.links` from −reach to reach."""
        return cls(*_curves(names, reach, resolution)).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw them on one axes; gives the display."""
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
        """One line per score, one field per function."""
        return make_frame({"a": self.a, **dict(zip(self.names, self.y, strict=True))})


def _curves(names: Sequence[str], reach: float, resolution: int) -> tuple[Array, list[str], Array]:
    """Scores, names, and the value of each named function at each score."""
    for name in names:
        if name not in FORMULAE:
            raise ValueError(f"there is no link {name!r}; there are {list(FORMULAE)}.")
    a = np.linspace(-reach, reach, resolution)
    return a, list(names), np.array([getattr(links, name)(a) for name in names])
