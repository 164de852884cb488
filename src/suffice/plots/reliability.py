"""ReliabilityDisplay: of the rows with a predicted probability p, how many are of the class?"""

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
"""95 % of a Normal lies within this many standard deviations."""


@dataclass(frozen=True)
class Reliability:
    """One class against the rest, bin by bin, without empty bins.

    Attributes
    ----------
    label : class
        The class.
    predicted : ndarray of shape (n_bins,)
        The mean predicted probability.
    observed : ndarray of shape (n_bins,)
        The share of rows that are of the class.
    rows : ndarray of shape (n_bins,)
        The number of rows, or the sum of their weights.
    """

    label: Any
    predicted: Array
    observed: Array
    rows: NDArray[Any]

    @property
    def interval(self) -> tuple[Array, Array]:
        """Wilson's 95 % interval of the observed share, as lower and upper limits."""
        n = self.rows
        centre = (self.observed + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * np.sqrt(self.observed * (1 - self.observed) / n + Z**2 / (4 * n**2))
        return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


@dataclass
class ReliabilityDisplay(Display):
    """Observed shares against predicted probabilities, one curve per class; the diagonal is perfect.

    Make a display with `from_predictions` or `from_estimator`. For two classes only the second is drawn,
    since the curve of the first is its mirror image; for more than six, one curve shows the most probable
    class of each row.

    Parameters
    ----------
    curves : list of Reliability
        One per curve, with `.predicted`, `.observed` and `.rows` of each bin.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

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
        """Compare predicted probabilities with true labels, and draw the curves.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_proba : array-like of shape (n_samples, n_classes) or (n_samples,)
            Predicted probabilities; one column stands for the second of two classes.
        labels : sequence, optional
            The classes in the order of the columns; by default the sorted labels of `y_true`.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        bins : int, default=10
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have equal widths or equally many rows.
        each : bool, optional
            Whether to draw a curve for each class, rather than one for the most probable class of each row.
            By default each class has a curve if there are at most six.
        legend : bool, default=True
            Whether to name the classes below the picture.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        ReliabilityDisplay
            The display, already drawn.
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
        """Compare the probabilities of a fitted classifier with true labels, and draw the curves.

        Parameters
        ----------
        estimator : fitted classifier
            Any classifier with `predict_proba`.
        X : array-like or frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight, bins, strategy, each, legend, ax
            As in `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
            The display, already drawn.
        """
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
        """Draw the curves; up to six have Wilson's 95 % intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to name the classes below the picture.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        own, ax = ax is None, self._start(ax)
        ax.plot([0, 1], [0, 1], color=foreground(), linewidth=0.8, alpha=0.6, label="_diagonal")
        for curve, look in zip(self.curves, styles(len(self.curves)), strict=True):
            if len(self.curves) <= DISTINCT:  # the intervals of more would hide the curves
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
            legend_below(ax, self.handles(), own=own)
        return self

    def handles(self) -> list[Any]:
        """Return the entries of the legend, for a legend of your own.

        Returns
        -------
        list of matplotlib Line2D
            One for each curve.
        """
        from matplotlib.lines import Line2D

        looks = zip(styles(len(self.curves)), self.curves, strict=True)
        return [
            Line2D(
                [],
                [],
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                markersize=5,
                label=str(curve.label),
            )
            for look, curve in looks
        ]

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            A pyarrow Table with one line per class and bin: class, predicted, observed, low, high, rows.
        """
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
    """The curves that `ReliabilityDisplay.from_predictions` draws."""
    codes, p, known, weight = checked_probabilities(y_true, y_proba, labels, sample_weight)
    if bins < 1:
        raise ValueError(f"bins must be an integer ≥ 1, got {bins!r}.")
    if each or (each is None and len(known) <= DISTINCT):
        wanted = range(len(known)) if len(known) != 2 else [1]
        judged = [(known[k], codes == k, p[:, k]) for k in wanted]
    else:
        judged = [("most probable class", codes == p.argmax(axis=1), p.max(axis=1))]
    return [_curve(label, hit, given, weight, _edges(given, bins, strategy)) for label, hit, given in judged]


def checked_probabilities(
    y_true: Any, y_proba: ArrayLike, labels: Sequence[Any] | None, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.intp], Array, list[Any], Array | None]:
    """The class of each row, the probabilities of all classes, the classes, and the weights of the rows."""
    truth = read_labels(y_true)
    p = np.asarray(y_proba, dtype=np.float64)
    known = np.unique(truth).tolist() if labels is None else list(labels)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    _check(truth, p, known)
    weight = None if sample_weight is None else checked_weights(sample_weight, len(truth))
    place = {label: k for k, label in enumerate(known)}
    return np.array([place[label] for label in truth.tolist()], dtype=np.intp), p, known, weight


def _check(truth: NDArray[Any], p: Array, known: list[Any]) -> None:
    if p.shape != (len(truth), len(known)):
        raise ValueError(
            f"{len(truth)} labels of {len(known)} classes need probabilities of shape "
            f"({len(truth)}, {len(known)}), got {p.shape}; "
            "pass the classes in the order of the columns as labels=."
        )
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("probabilities must lie between 0 and 1.")
    strange = sorted(set(truth.tolist()) - set(known), key=str)
    if strange:
        raise ValueError(f"y_true holds {strange[0]!r}, which is not among the labels {known}.")


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
