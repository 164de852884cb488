"""ConfusionDisplay: how often each class was taken for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.families.elementary import Array
from suffice.plots.display import Display, background, default_width, make_frame, pyplot
from suffice.plots.palette import COLOURS, rgb
from suffice.plots.room import LABELS, lay_out, name_ticks, width_in_inches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

Normalize = Literal["true", "pred", "all"]
WHAT = {"true": "share of the true class", "pred": "share of the predicted class", "all": "share of all rows"}
MOST_ZEROS = 10
"""Classes up to which cells without rows are written."""


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
        cls, y_true: Any, y_pred: Any, *, labels: Sequence[Any] | None = None, sample_weight: Any = None
    ) -> Self:
        """Count true and predicted labels; `labels` orders the classes and may leave some out."""
        from sklearn.metrics import confusion_matrix
        from sklearn.utils.multiclass import unique_labels

        known = unique_labels(y_true, y_pred).tolist() if labels is None else list(labels)
        return cls(confusion_matrix(y_true, y_pred, labels=known, sample_weight=sample_weight), known)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, labels: Sequence[Any] | None = None, sample_weight: Any = None
    ) -> Self:
        """Predict X with a fitted classifier and compare with y."""
        return cls.from_predictions(y, estimator.predict(X), labels=labels, sample_weight=sample_weight)

    def plot(self, ax: Axes | None = None, *, normalize: Normalize | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes, optional
            Those of a new figure unless given.
        normalize : {"true", "pred", "all"}, optional
            Write shares of the row, of the column or of all instead of counts. The colours are shares of the
            row either way, so that a rare class is seen.

        Returns
        -------
        ConfusionDisplay
        """
        counts = np.asarray(self.confusion)
        written = self.shares(normalize) if normalize is not None else counts
        k = len(self.labels)
        names = [str(label) for label in self.labels]
        label_width = min(max(map(width_in_inches, names), default=0.0), LABELS * default_width())
        side = min(default_width(), 1.0 + label_width + 0.6 * k)
        ax = self._start(ax, (side, 0.9 * side))
        paper, ink = background(ax), rgb(COLOURS[0])
        shade = np.nan_to_num(self.shares("true"))[:, :, np.newaxis]
        colours = paper + shade * (ink - paper)
        ax.imshow(colours, aspect="equal")
        small = max(4.0, min(10.0, 60.0 / k))
        for i, j in np.ndindex(k, k):
            if counts[i, j] == 0 and k > MOST_ZEROS:
                continue
            ax.text(
                j,
                i,
                _written(float(written[i, j]), whole=normalize is None),
                ha="center",
                va="center",
                fontsize=small,
                color=_readable(colours[i, j]),
            ).set_in_layout(False)  # it lies within the axes, and many are slow to measure
        what = "" if normalize is None else f" ({WHAT[normalize]})"
        ax.set(xlabel=f"predicted{what}", ylabel="true")
        for _ in range(2):  # names must fit the rows, whose height depends on the names
            height = ax.get_window_extent().height / ax.figure.dpi
            size = max(4.0, min(float(pyplot().rcParams["font.size"]), 0.8 * 72.0 * height / k))
            for axis in (ax.xaxis, ax.yaxis):
                name_ticks(axis, range(k), names, size)
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


def _written(value: float, *, whole: bool) -> str:
    """A count as it is, a share with two digits; undefined shares are a dash."""
    if np.isnan(value):
        return "–"
    return f"{value:.6g}" if whole else f"{value:.2f}"


def _readable(colour: Array) -> str:
    """Black or white, whichever stands out from a colour."""
    return "black" if float(colour @ np.array([0.299, 0.587, 0.114])) > 0.55 else "white"
