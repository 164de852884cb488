"""EvaluationDisplay: which classes are confused, and whether the probabilities can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.elementary import Array
from suffice.plots.confusion import ConfusionDisplay
from suffice.plots.display import Display, default_width, library, pyplot
from suffice.plots.reliability import ReliabilityDisplay

SIDE_BY_SIDE = 6.0
"""Inches of width from which two panels stand side by side."""
MOST_CLASSES = 6
"""Classes up to which each has its own curve, and the panels are small."""


@dataclass
class Predictions:
    """A classifier that has answered already."""

    classes_: NDArray[Any]
    answers: NDArray[Any]
    predict_proba: Callable[[Any], Array] = field(init=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """What it answered."""
        return self.answers


@dataclass
class EvaluationDisplay(Display):
    """The confusion matrix of an evaluation and, where the model gives probabilities, their reliability.

    With more than six classes the reliability is that of the most probable class of each row.

    Parameters
    ----------
    evaluation : Evaluation
        What `suffice.evaluate` gives.

    Attributes
    ----------
    confusion : ConfusionDisplay
    reliability : ReliabilityDisplay or None
    """

    evaluation: Any

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Judge a fitted classifier on rows whose labels are known."""
        return cls(library().evaluate(estimator, X, y, sample_weight=sample_weight))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        y_proba: Any = None,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Judge predictions and, if given, posteriors; their columns are the `labels`, or the sorted ones."""
        from sklearn.utils.multiclass import unique_labels

        known = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
        given = Predictions(known, np.asarray(y_pred))
        if y_proba is not None:
            posteriors = np.asarray(y_proba, dtype=np.float64)
            given.predict_proba = lambda _: posteriors
        return cls.from_estimator(given, None, y_true, sample_weight=sample_weight)

    def __post_init__(self) -> None:
        answers, labels = self.evaluation.answers, self.evaluation.labels
        self.confusion = ConfusionDisplay(self.evaluation.confusion, labels)
        self.reliability: ReliabilityDisplay | None = None
        if answers.probability is not None:
            classes, p = np.array(labels[: answers.n_classes]), answers.probability
            if len(classes) <= MOST_CLASSES:
                self.reliability = ReliabilityDisplay.from_predictions(
                    classes[answers.truth], p, labels=classes.tolist(), sample_weight=answers.weight
                )
            else:
                right = p.argmax(axis=1) == answers.truth
                whole = ReliabilityDisplay.from_predictions(
                    right, p.max(axis=1), labels=[False, True], sample_weight=answers.weight
                )
                self.reliability = ReliabilityDisplay([replace(whole.curves[0], label="most probable class")])

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : Axes or two Axes, optional
            Those of a new figure unless given; on one alone stands the confusion matrix.

        Returns
        -------
        EvaluationDisplay
        """
        if ax is None and self.reliability is not None:
            width = default_width()
            wide = width >= SIDE_BY_SIDE and len(self.confusion.labels) <= MOST_CLASSES
            figure = pyplot().figure(
                figsize=(width, 0.55 * width if wide else 1.9 * width), layout="constrained"
            )
            ax = figure.subplots(*((1, 2) if wide else (2, 1)))
        axes = [] if ax is None else list(np.ravel(np.array(ax, dtype=object)))
        if len(axes) > 2 or (len(axes) == 2 and self.reliability is None):
            raise ValueError(
                f"there {'is one panel' if self.reliability is None else 'are two panels'} to draw and "
                f"{len(axes)} axes; pass one for each."
            )
        self.confusion.plot(axes[0] if axes else None)
        if len(axes) == 2 and self.reliability is not None:
            self.reliability.plot(axes[1])
        self.ax_ = self.confusion.ax_ if ax is None else ax
        self.figure_ = self.confusion.figure_
        return self

    def to_frame(self) -> Any:
        """The figures of the evaluation as a frame."""
        return self.evaluation.to_frame()
