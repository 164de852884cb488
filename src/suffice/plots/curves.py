"""PrecisionRecallDisplay and RocCurveDisplay: what a threshold on the probability trades against what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array
from suffice.plots.display import Display, foreground, legend_below, make_frame
from suffice.plots.palette import styles
from suffice.plots.reliability import checked_probabilities
from suffice.tables.targets import class_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Curve:
    """One class against the rest, threshold by threshold.

    Attributes
    ----------
    label : class
        The class, the positive one.
    x, y : ndarray of shape (n_thresholds,)
        Recall and precision, or the false and the true positive rate.
    threshold : ndarray of shape (n_thresholds,)
        Rows with at least this probability are taken for the class; ∞ where none is.
    area : float
        Average precision, or the area under the ROC curve.
    share : float
        The share of rows that are of the class.
    """

    label: Any
    x: Array
    y: Array
    threshold: Array
    area: float
    share: float


@dataclass
class CurveDisplay(Display):
    """Curves of one class against the rest, made by `PrecisionRecallDisplay` and `RocCurveDisplay`.

    Parameters
    ----------
    curves : list of Curve
        One per class, with `.x`, `.y`, `.threshold` and `.area`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.
    """

    _names: ClassVar[tuple[str, str]]
    """What x and y are."""
    _steps: ClassVar[str] = "default"
    """How the points are joined."""

    curves: list[Curve]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_proba: ArrayLike,
        *,
        labels: Sequence[Any] | None = None,
        positive: Any = None,
        sample_weight: ArrayLike | None = None,
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
        positive : label, optional
            The class to draw; by default the second of two, and each one against the rest of more.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        legend : bool, default=True
            Whether to name the classes below the picture.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        display
            The display, already drawn.
        """
        codes, p, known, weight = checked_probabilities(y_true, y_proba, labels, sample_weight)
        wanted = range(len(known)) if len(known) != 2 else [1]
        if positive is not None:
            wanted = [class_index(positive, known)]
        one_sided = [known[k] for k in wanted if not 0 < np.count_nonzero(codes == k) < len(codes)]
        if len(one_sided) == len(wanted):
            raise ValueError(
                f"a curve needs rows of the class and rows of others, but y_true has one kind only for "
                f"{one_sided[0]!r}; pass more rows."
            )
        made = [
            cls._curve(known[k], codes == k, p[:, k], weight) for k in wanted if known[k] not in one_sided
        ]
        return cls(made).plot(ax, legend=legend)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        sample_weight: ArrayLike | None = None,
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
        positive, sample_weight, legend, ax
            As in `from_predictions`.

        Returns
        -------
        display
            The display, already drawn.
        """
        return cls.from_predictions(
            y,
            estimator.predict_proba(X),
            labels=np.asarray(estimator.classes_).tolist(),
            positive=positive,
            sample_weight=sample_weight,
            legend=legend,
            ax=ax,
        )

    @classmethod
    def _curve(cls, label: Any, hit: NDArray[np.bool_], p: Array, weight: Array | None) -> Curve:
        raise NotImplementedError

    def _draw_chance(self, ax: Axes) -> None:
        """Draw what a classifier without information does."""
        raise NotImplementedError

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw the curves, and thinly what guessing would do.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        legend : bool, default=True
            Whether to name the classes below the picture, with the area under each curve.

        Returns
        -------
        display
            The display itself.
        """
        own, ax = ax is None, self._start(ax)
        self._draw_chance(ax)
        for curve, handle in zip(self.curves, self.handles(), strict=True):
            ax.plot(
                curve.x,
                curve.y,
                color=handle.get_color(),
                linestyle=handle.get_linestyle(),
                drawstyle=self._steps,
                linewidth=2,
                label="_curve",
            )
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel=self._names[0], ylabel=self._names[1])
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
                [], [], color=look.colour, linestyle=look.line, label=f"{curve.label} (area {curve.area:.3f})"
            )
            for look, curve in looks
        ]

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            A pyarrow Table with one line per class and threshold.
        """
        joined = [np.concatenate([getattr(one, name) for one in self.curves]) for name in ("x", "y")]
        return make_frame(
            {
                "class": [str(one.label) for one in self.curves for _ in one.x],
                self._names[0]: joined[0],
                self._names[1]: joined[1],
                "threshold": np.concatenate([one.threshold for one in self.curves]),
            }
        )


@dataclass
class PrecisionRecallDisplay(CurveDisplay):
    """Precision against recall for every threshold, one curve per class; thin lines are the class shares.

    Make a display with `from_predictions` or `from_estimator`. For two classes only the second is drawn
    unless `positive=` names one; for more, each class against the rest.

    Parameters
    ----------
    curves : list of Curve
        One per class: `.x` is the recall, `.y` the precision, `.area` the average precision.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from suffice.plots import PrecisionRecallDisplay
    >>> display = PrecisionRecallDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.curves[0].y.round(3), display.curves[0].x
    (array([0.5  , 0.667, 0.5  , 1.   , 1.   ]), array([1. , 1. , 0.5, 0.5, 0. ]))
    """

    _names: ClassVar[tuple[str, str]] = ("recall", "precision")
    _steps: ClassVar[str] = "steps-post"

    @classmethod
    def _curve(cls, label: Any, hit: NDArray[np.bool_], p: Array, weight: Array | None) -> Curve:
        from sklearn.metrics import average_precision_score, precision_recall_curve

        precision, recall, threshold = precision_recall_curve(hit, p, sample_weight=weight)
        area = average_precision_score(hit, p, sample_weight=weight)
        share = float(np.average(hit, weights=weight))
        return Curve(label, recall, precision, np.append(threshold, np.inf), float(area), share)

    def _draw_chance(self, ax: Axes) -> None:
        for curve, handle in zip(self.curves, self.handles(), strict=True):
            ax.axhline(curve.share, color=handle.get_color(), linestyle=":", linewidth=0.8, label="_share")


@dataclass
class RocCurveDisplay(CurveDisplay):
    """The true against the false positive rate for every threshold, one curve per class (ROC curves).

    Make a display with `from_predictions` or `from_estimator`. For two classes only the second is drawn
    unless `positive=` names one; for more, each class against the rest. The diagonal is guessing.

    Parameters
    ----------
    curves : list of Curve
        One per class: `.x` is the false positive rate, `.y` the true one, `.area` the area under the curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from suffice.plots import RocCurveDisplay
    >>> display = RocCurveDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> display.curves[0].area
    0.75
    """

    _names: ClassVar[tuple[str, str]] = ("false positive rate", "true positive rate")

    @classmethod
    def _curve(cls, label: Any, hit: NDArray[np.bool_], p: Array, weight: Array | None) -> Curve:
        from sklearn.metrics import roc_auc_score, roc_curve

        false, true, threshold = roc_curve(hit, p, sample_weight=weight)
        area = roc_auc_score(hit, p, sample_weight=weight)
        return Curve(label, false, true, threshold, float(area), float(np.average(hit, weights=weight)))

    def _draw_chance(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=foreground(), linewidth=0.8, alpha=0.6, label="_diagonal")
