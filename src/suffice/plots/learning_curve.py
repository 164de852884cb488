"""LearningCurveDisplay: error against the number of training rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from suffice.plots.display import Display, legend_below, library
from suffice.plots.palette import styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass
class LearningCurveDisplay(Display):
    """Mean curves with bands of one standard error, rows on a logarithmic axis.

    Parameters
    ----------
    curves : LearningCurves
        What `suffice.compare` gives.
    """

    curves: Any

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Fit clones of a classifier, or of several, on growing parts of the rows, as `suffice.compare` does.

        A dict names several; the options are those of `suffice.compare`.
        """
        models = [estimator] if hasattr(estimator, "fit") else estimator
        return cls(library().compare(models, X, y, **options))

    def plot(self, ax: Axes | None = None, measure: Literal["error", "log_loss"] = "error") -> Self:
        """Draw the curves of a measure; gives the display."""
        mean, spread = self.curves.mean_and_standard_error(measure)
        ax = self._start(ax)
        for i, (name, look) in enumerate(zip(self.curves.models, styles(len(mean)), strict=True)):
            sizes = self.curves.sizes
            ax.plot(sizes, mean[i], color=look.colour, linestyle=look.line, marker=look.marker, label=name)
            ax.fill_between(
                sizes, mean[i] - spread[i], mean[i] + spread[i], alpha=0.2, color=look.colour, linewidth=0
            )
        ax.set(xscale="log", xlabel="training rows", ylabel=f"{measure.replace('_', '-')} on unseen rows")
        legend_below(ax)
        return self

    def to_frame(self) -> Any:
        """The curves as a frame."""
        return self.curves.to_frame()
