"""ConfusionDisplay: how often each class was predicted as each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.arrays import Array
from suffice.plots.display import Display, background, default_width, make_frame
from suffice.plots.layout import (
    LABELS,
    LINE_HEIGHT,
    LONGEST,
    SMALLEST_LETTERS,
    lay_out,
    name_ticks,
    points,
    room_in_inches,
    width_in_inches,
)
from suffice.plots.palette import COLOURS, rgb
from suffice.tables.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

Normalize = Literal["true", "pred", "all"]
WHAT = {"true": "share of the true class", "pred": "share of the predicted class", "all": "share of all rows"}
MOST_ZEROS = 10
"""Up to this many classes, zeros are written too."""
SMALLEST_NUMBERS, LARGEST_NUMBERS = 4.5, 10.0
"""In points; cells too small for the smallest numbers have colours only."""
NARROWEST = 4.0
"""The width of a new figure in inches, at the least, unless figures are to be smaller."""
BESIDE = 0.5
"""Inches beside the matrix that names do not take: the label of the axis and the edge of the page."""


@dataclass
class ConfusionDisplay(Display):
    """A confusion matrix: true classes in rows, predicted classes in columns, coloured by share of the row.

    Parameters
    ----------
    confusion : array-like of shape (n_classes, n_classes)
        Counts or sums of weights, with true classes in rows.
    labels : sequence of length n_classes
        The classes, in the order of the matrix.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes that were drawn on.
    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from suffice.plots import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"])
    >>> display.confusion
    array([[1., 1.],
           [0., 1.]])
    """

    confusion: ArrayLike
    labels: Sequence[Any]

    def __post_init__(self) -> None:
        self.confusion = np.asarray(self.confusion, dtype=np.float64)
        self.labels = list(self.labels)
        k = len(self.labels)
        if self.confusion.shape != (k, k):
            raise ValueError(f"{k} labels need a {k} × {k} matrix, got shape {self.confusion.shape}.")

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: Any = None,
        normalize: Normalize | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the confusion matrix of true and predicted labels.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        labels : sequence, optional
            The classes to draw, in this order; by default all of them, sorted.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        normalize : {"true", "pred", "all"}, optional
            Write shares instead of counts, as in `plot`.
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        ConfusionDisplay
            The display, already drawn.
        """
        from sklearn.metrics import confusion_matrix
        from sklearn.utils.multiclass import unique_labels

        known = unique_labels(y_true, y_pred).tolist() if labels is None else list(labels)
        counts = confusion_matrix(y_true, y_pred, labels=known, sample_weight=sample_weight)
        return cls(counts, known).plot(ax, normalize=normalize)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: Any = None,
        normalize: Normalize | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the confusion matrix of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
            Any classifier with `predict`.
        X : array-like or frame of shape (n_samples, n_features)
            Rows to predict.
        y : array-like of shape (n_samples,)
            True labels.
        labels, sample_weight, normalize, ax
            As in `from_predictions`.

        Returns
        -------
        ConfusionDisplay
            The display, already drawn.
        """
        return cls.from_predictions(
            y,
            estimator.predict(X),
            labels=labels,
            sample_weight=sample_weight,
            normalize=normalize,
            ax=ax,
        )

    def plot(self, ax: Axes | None = None, *, normalize: Normalize | None = None) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        normalize : {"true", "pred", "all"}, optional
            Write shares of the row, of the column or of the total instead of counts. The colours always show
            shares of the row, so that rare classes are visible. Cells too small for numbers stay empty.

        Returns
        -------
        ConfusionDisplay
            The display itself.
        """
        counts = np.asarray(self.confusion)
        shown = self.shares(normalize) if normalize is not None else counts
        k = len(self.labels)
        names = [one_line(label, LONGEST) for label in self.labels]
        label_width = min(max(map(width_in_inches, names), default=0.0), LABELS * default_width())
        width = min(default_width(), max(NARROWEST, 1.0 + label_width + 0.6 * k))
        ax = self._start(ax, (width, 0.9 * width))
        paper, ink = background(ax), rgb(COLOURS[0])
        shade = np.nan_to_num(self.shares("true"))[:, :, np.newaxis]
        colours = paper + shade * (ink - paper)
        ax.imshow(colours, aspect="equal")
        what = "" if normalize is None else f" ({WHAT[normalize]})"
        ax.set(xlabel=f"predicted{what}", ylabel="true")
        side = _side(ax, names)
        for axis in (ax.xaxis, ax.yaxis):
            name_ticks(axis, range(k), names, side)
        written = {
            (i, j): _written(float(shown[i, j]), whole=normalize is None)
            for i, j in np.ndindex(k, k)
            if counts[i, j] != 0 or k <= MOST_ZEROS
        }
        size = _number_size(set(written.values()), side / max(k, 1))
        for (i, j), text in written.items() if size >= SMALLEST_NUMBERS else ():
            ax.text(
                j, i, text, ha="center", va="center", fontsize=size, color=_readable(colours[i, j])
            ).set_in_layout(False)  # it lies within the axes, and many are slow to measure
        lay_out(ax)
        return self

    def shares(self, normalize: Normalize) -> Array:
        """Return the matrix as shares.

        Parameters
        ----------
        normalize : {"true", "pred", "all"}
            Shares of the row, of the column or of the total.

        Returns
        -------
        ndarray of shape (n_classes, n_classes)
            The shares; NaN where the total is zero.
        """
        counts = np.asarray(self.confusion)
        if normalize not in WHAT:
            raise ValueError(f"normalize must be 'true', 'pred', 'all' or None, got {normalize!r}.")
        axis = {"true": 1, "pred": 0, "all": None}[normalize]
        total = np.broadcast_to(counts.sum(axis=axis, keepdims=True), counts.shape)
        return np.asarray(np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0))

    def to_frame(self) -> Any:
        """Return the data of the picture.

        Returns
        -------
        frame
            A pyarrow Table with one line per pair of classes: true, predicted, rows.
        """
        names = [str(label) for label in self.labels]
        k = len(names)
        return make_frame(
            {
                "true": np.repeat(names, k).tolist(),
                "predicted": names * k,
                "rows": np.asarray(self.confusion).ravel(),
            }
        )


def _side(ax: Axes, names: Sequence[str]) -> float:
    """The length of the sides of the matrix in inches, next to names that fit its rows."""
    width, height = room_in_inches(ax)
    size = points("medium")
    side = 0.0
    for _ in range(3):  # smaller names leave more room for the rows, and these for names
        label_width = min(max(width_in_inches(name, size) for name in names), LABELS * width)
        side = max(min(width, height) - label_width - BESIDE, 0.1 * width)
        size = max(SMALLEST_LETTERS, min(size, 72.0 * side / (LINE_HEIGHT * len(names))))
    return side


def _number_size(written: Iterable[str], cell: float) -> float:
    """The font size in points at which the longest number fits into a cell."""
    longest = max((width_in_inches(text, 1.0) for text in written), default=0.0)
    return 0.85 * cell / max(longest, 1.0 / 72.0, 0.85 * cell / LARGEST_NUMBERS)


def _written(value: float, *, whole: bool) -> str:
    """A count unchanged, a share with two digits, and a dash for an undefined share."""
    if np.isnan(value):
        return "–"
    return f"{value:.6g}" if whole else f"{value:.2f}"


def _readable(colour: Array) -> str:
    """Black or white, whichever contrasts with a colour."""
    return "black" if float(colour @ np.array([0.299, 0.587, 0.114])) > 0.55 else "white"
