"""ReliabilityDisplay: of rows given a probability p, how many are of the class?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array
from suffice.plots.display import Display, foreground, legend_below, make_frame
from suffice.plots.palette import DISTINCT, styles
from suffice.tables.targets import checked_weights, read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

Strategy = Literal["uniform", "quantile"]
Z = 1.959963984540054
"""95 % of a Normal lie within so many standard deviations."""


@dataclass(frozen=True)
class Reliability:
    """One class against the rest, bin by bin; empty bins are left out."""

    label: Any
    predicted: Array
    """The mean probability given."""
    observed: Array
    """The share of rows that are of the class."""
    rows: NDArray[Any]
    """How many there are, or what they weigh."""

    @property
    def interval(self) -> tuple[Array, Array]:
        """Wilson's 95 % limits of the observed share."""
        n = self.rows
        centre = (self.observed + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * np.sqrt(self.observed * (1 - self.observed) / n + Z**2 / (4 * n**2))
        return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


@dataclass
class ReliabilityDisplay(Display):
    """Observed shares against given probabilities, one curve per class; on the diagonal they agree.

    Make one with `from_predictions` or `from_estimator`. Of two classes only the second is drawn, since the
    curve of the first is its mirror image; of more than six, the most probable one of each row.

    Attributes
    ----------
    curves : list of Reliability
        With `.predicted`, `.observed` and `.rows` of each bin.

    Examples
    --------
    >>> from suffice.plots import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.1, 0.1, 0.9])
    >>> display.curves[0].predicted, display.curves[0].observed.round(3)
    (array([0.1, 0.9]), array([0.333, 1.   ]))
    """

    curves: list[Reliability]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: ArrayLike,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        bins: int = 10,
        strategy: Strategy = "uniform",
        each: bool | None = None,
        legend: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Compare true labels with posteriors and draw them.

        Parameters
        ----------
        y_true : array-like of shape (n,)
        y_proba : array-like of shape (n, k), or (n,) for the second of two classes
        labels : sequence, optional
            The classes in the order of the columns; the sorted labels of y_true unless given.
        sample_weight : array-like of shape (n,), optional
            Weight k counts as the row k times.
        bins : int, default=10
        strategy : {"uniform", "quantile"}, default="uniform"
            Bins of equal width, or of equally many rows.
        each : bool, optional
            Whether each class has its curve, or all have one: that of the most probable class of each row.
            Each has one where there are no more than six, unless told.
        legend, ax
            As `plot` takes them.

        Returns
        -------
        ReliabilityDisplay
        """
        curves = reliability_curves(
            y_true,
            y_proba,
            labels=labels,
            sample_weight=sample_weight,
            bins=bins,
            strategy=strategy,
            each=each,
        )
        return cls(curves).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: ArrayLike | None = None,
        bins: int = 10,
        strategy: Strategy = "uniform",
        each: bool | None = None,
        legend: bool = True,
        ax: Axes | None = None,
    ) -> Self:
        """Predict X with a fitted classifier, compare with y and draw; the options of `from_predictions`."""
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            labels=estimator.classes_.tolist(),
            sample_weight=sample_weight,
            bins=bins,
            strategy=strategy,
            each=each,
            legend=legend,
            ax=ax,
        )

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw it, for up to six curves with Wilson's 95 % limits; gives the display.

        Parameters
        ----------
        ax : Axes, optional
            Those of a new figure unless given.
        legend : bool, default=True
            Whether to name the classes below the picture.

        Returns
        -------
        ReliabilityDisplay
        """
        own, ax = ax is None, self._start(ax)
        ax.plot([0, 1], [0, 1], color=foreground(), linewidth=0.8, alpha=0.6, label="_diagonal")
        for curve, look in zip(self.curves, styles(len(self.curves)), strict=True):
            if len(self.curves) <= DISTINCT:  # the limits of more would hide the curves
                ax.vlines(curve.predicted, *curve.interval, color=look.colour, linewidth=0.8)
            ax.plot(
                curve.predicted,
                curve.observed,
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                markersize=5,
                label=str(curve.label),
            )
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="probability given", ylabel="share observed")
        if legend:
            legend_below(ax, own=own)
        return self

    def to_frame(self) -> Any:
        """One line per class and bin: class, predicted, observed, low, high, rows."""
        joined = {
            name: np.concatenate([getattr(curve, name) for curve in self.curves])
            for name in ("predicted", "observed", "rows")
        }
        names = [str(curve.label) for curve in self.curves for _ in curve.rows]
        return make_frame(
            {
                "class": names,
                "predicted": joined["predicted"],
                "observed": joined["observed"],
                "low": np.concatenate([curve.interval[0] for curve in self.curves]),
                "high": np.concatenate([curve.interval[1] for curve in self.curves]),
                "rows": joined["rows"],
            }
        )


def reliability_curves(
    y_true: Any,
    y_proba: ArrayLike,
    *,
    labels: Sequence[Any] | None = None,
    sample_weight: ArrayLike | None = None,
    bins: int = 10,
    strategy: Strategy = "uniform",
    each: bool | None = None,
) -> list[Reliability]:
    """What `ReliabilityDisplay.from_predictions` draws."""
    truth = read_labels(y_true)
    p = np.asarray(y_proba, dtype=np.float64)
    known = np.unique(truth).tolist() if labels is None else list(labels)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    _check(truth, p, known, bins)
    weight = None if sample_weight is None else checked_weights(sample_weight, len(truth))
    place = {label: k for k, label in enumerate(known)}
    codes = np.array([place[label] for label in truth.tolist()], dtype=np.intp)
    if each or (each is None and len(known) <= DISTINCT):
        wanted = range(len(known)) if len(known) != 2 else [1]
        judged = [(known[k], codes == k, p[:, k]) for k in wanted]
    else:
        judged = [("most probable class", codes == p.argmax(axis=1), p.max(axis=1))]
    return [_curve(label, hit, given, weight, _edges(given, bins, strategy)) for label, hit, given in judged]


def _check(truth: NDArray[Any], p: Array, known: list[Any], bins: int) -> None:
    if p.shape != (len(truth), len(known)):
        raise ValueError(
            f"{len(truth)} labels of {len(known)} classes need probabilities of shape "
            f"({len(truth)}, {len(known)}), got {p.shape}; "
            "labels= names the classes in the order of the columns."
        )
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities must lie between 0 and 1.")
    strange = sorted(set(truth.tolist()) - set(known), key=str)
    if strange:
        raise ValueError(f"y_true holds {strange[0]!r}, which is not among the labels {known}.")
    if bins < 1:
        raise ValueError(f"bins must be a whole number ≥ 1, got {bins!r}.")


def _edges(p: Array, bins: int, strategy: Strategy) -> Array:
    """Where one bin ends and the next begins."""
    if strategy == "uniform":
        return np.linspace(0.0, 1.0, bins + 1)[1:-1]
    if strategy == "quantile":
        return np.unique(np.quantile(p, np.linspace(0.0, 1.0, bins + 1)[1:-1]))
    raise ValueError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}.")


def _curve(label: Any, hit: NDArray[np.bool_], p: Array, weight: Array | None, edges: Array) -> Reliability:
    at, size = np.searchsorted(edges, p), len(edges) + 1
    one = np.ones(len(p)) if weight is None else weight
    rows = np.bincount(at, weight, size)
    kept = rows > 0
    predicted = np.bincount(at, one * p, size)[kept] / rows[kept]
    observed = np.bincount(at, one * hit, size)[kept] / rows[kept]
    return Reliability(label, predicted, observed, rows[kept])
