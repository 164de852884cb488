"""ConfusionDisplay: how often each class was taken for each other."""

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
    SMALLEST_LETTERS,
    lay_out,
    name_ticks,
    points,
    room_in_inches,
    width_in_inches,
)
from suffice.plots.palette import COLOURS, rgb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

Normalize = Literal["true", "pred", "all"]
WHAT = {"true": "share of the true class", "pred": "share of the predicted class", "all": "share of all rows"}
MOST_ZEROS = 10
"""Classes up to which cells without rows are written."""
SMALLEST_NUMBERS, LARGEST_NUMBERS = 4.5, 10.0
"""Points; where cells are too small for numbers, the colours speak alone."""
BESIDE = 0.5
"""Inches beside the matrix that are not names: the label of the axis and the edge of the page."""


@dataclass
class ConfusionDisplay(Display):
    """A confusion matrix: truth in rows, prediction in columns, coloured by the share of the row.

    Parameters
    ----------
    confusion : array-like of shape (k, k)
        Counts, or weights, with the truth in rows.
    labels : sequence of length k
        The classes, in the order of the matrix.

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
            raise ValueError(f"{k} labels need a {k} × {k} matrix, got one of shape {self.confusion.shape}.")

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
        """Count true and predicted labels and draw them.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
        labels : sequence, optional
            Orders the classes and may leave some out; all, sorted, unless given.
        sample_weight : array-like of shape (n,), optional
            Weight k counts as the row k times.
        normalize, ax
            As `plot` takes them.

        Returns
        -------
        ConfusionDisplay
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
        """Predict X with a fitted classifier, compare with y and draw; the options of `from_predictions`."""
        return cls.from_predictions(
            y,
            estimator.predict(X),
            labels=labels,
            sample_weight=sample_weight,
            normalize=normalize,
            ax=ax,
        )

    def plot(self, ax: Axes | None = None, *, normalize: Normalize | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Those of a new figure unless given.
        normalize : {"true", "pred", "all"}, optional
            Write shares of the row, of the column or of all instead of counts. The colours are shares of the
            row either way, so that a rare class is seen. Nothing is written into cells too small for it.

        Returns
        -------
        ConfusionDisplay
        """
        counts = np.asarray(self.confusion)
        shown = self.shares(normalize) if normalize is not None else counts
        k = len(self.labels)
        names = [str(label) for label in self.labels]
        label_width = min(max(map(width_in_inches, names), default=0.0), LABELS * default_width())
        width = min(default_width(), 1.0 + label_width + 0.6 * k)
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
        """The matrix as shares; NaN, undefined, where there is nothing to share."""
        counts = np.asarray(self.confusion)
        if normalize not in WHAT:
            raise ValueError(f"normalize must be 'true', 'pred', 'all' or None, got {normalize!r}.")
        axis = {"true": 1, "pred": 0, "all": None}[normalize]
        total = np.broadcast_to(counts.sum(axis=axis, keepdims=True), counts.shape)
        return np.asarray(np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0))

    def to_frame(self) -> Any:
        """One line per pair of labels: true, predicted, rows."""
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
    """How long the sides of the matrix will be, in inches, beside names as small as its rows ask for."""
    width, height = room_in_inches(ax)
    size = points("medium")
    side = 0.0
    for _ in range(3):  # smaller names leave more room for the rows, and these for names
        label_width = min(max(width_in_inches(name, size) for name in names), LABELS * width)
        side = max(min(width, height) - label_width - BESIDE, 0.1 * width)
        size = max(SMALLEST_LETTERS, min(size, 72.0 * side / (LINE_HEIGHT * len(names))))
    return side


def _number_size(written: Iterable[str], cell: float) -> float:
    """The letters with which the longest number fits into a cell, in points."""
    longest = max((width_in_inches(text, 1.0) for text in written), default=0.0)
    return 0.85 * cell / max(longest, 1.0 / 72.0, 0.85 * cell / LARGEST_NUMBERS)


def _written(value: float, *, whole: bool) -> str:
    """A count as it is, a share with two digits; undefined shares are a dash."""
    if np.isnan(value):
        return "–"
    return f"{value:.6g}" if whole else f"{value:.2f}"


def _readable(colour: Array) -> str:
    """Black or white, whichever stands out from a colour."""
    return "black" if float(colour @ np.array([0.299, 0.587, 0.114])) > 0.55 else "white"
