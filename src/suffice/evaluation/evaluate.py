"""How good a classifier is on rows whose labels are known, compared with always giving the same answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.evaluation.answers import Answers, read_answers, rows_of_confusion
from suffice.evaluation.cross_validation import out_of_fold
from suffice.evaluation.metrics import Key, Metrics, bootstrap_metrics
from suffice.evaluation.report import Interval, Report
from suffice.model.folds.held_out import LabelledData, is_regression
from suffice.plots.confusion import ConfusionDisplay
from suffice.plots.display import Display, default_width, legend_below, pyplot
from suffice.plots.palette import DISTINCT
from suffice.plots.reliability import ReliabilityDisplay, reliability_curves
from suffice.tables.container import PLAIN
from suffice.tables.recognized import has_names
from suffice.tables.table import read_table
from suffice.tables.targets import labelled, read_labels
from suffice.tables.wording import counted

SIDE_BY_SIDE = 6.0
"""Inches of width from which two panels stand side by side."""


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    groups: ArrayLike | None = None,
    refit_schema: bool = False,
    sample_weight: ArrayLike | None = None,
    bootstrap: int | None = None,
    level: float = 0.95,
    random_state: int = 0,
) -> Evaluation:
    """Evaluate a classifier on rows X whose labels y are known: a fitted one, or by cross-validation.

    Parameters
    ----------
    model : classifier
        A fitted classifier; any object with `predict`. Without `predict_proba`, the metrics of probabilities
        are undefined. With `cv`, it is fitted anew, and stays as it is.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in any container that the model takes.
    y : array-like of shape (n_samples,) or str
        The labels, or the name of the column of X that holds them.
    cv : int, splitter or iterable of (training rows, test rows), optional
        Evaluate the answers to the test rows of each split by a model fitted to its training rows. A row that
        is held out twice counts twice.
    groups, refit_schema
        With `cv`, as in `cross_val_scores`.
    sample_weight : array-like of shape (n_samples,), optional
        A row of weight k counts as k rows.
    bootstrap : int, optional
        How many times to resample the rows with replacement, for an interval of every metric.
    level : float, default=0.95
        The coverage of these intervals.
    random_state : int, default=0
        The seed of the bootstrap.

    Returns
    -------
    Evaluation
        The metrics; prints as a table.

    See Also
    --------
    Evaluation.of : Evaluate existing predictions, without a model.
    cross_val_scores : One or more scores of each split.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b", "b"]
    >>> report = suffice.evaluate(suffice.BayesClassifier().fit(X, y), X, y)
    >>> report.accuracy, report.baseline.accuracy
    (0.8, 0.6)
    """
    if isinstance(model, type) or not hasattr(model, "predict") or is_regression(model):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise TypeError(
            f"evaluate takes a {'' if cv is not None else 'fitted '}classifier first, got {what}."
        )
    if y is None:
        raise ValueError("y is None; evaluate needs the true labels: pass them, or the name of a column.")
    X, y = labelled(X, y)
    container = read_table(X).container if has_names(X) else PLAIN
    truth = read_labels(y)
    if len(truth) == 0:
        raise ValueError("there are no rows to evaluate: X and y are empty.")
    if cv is None:
        if groups is not None or refit_schema:
            raise ValueError("groups and refit_schema are for cross-validation; pass cv= with them.")
        predictions = np.asarray(model.predict(X))
        if predictions.shape != truth.shape:
            raise ValueError(
                f"X has {counted(len(predictions), 'row')}, but y has {counted(len(truth), 'label')}."
            )
        posteriors = model.predict_proba(X) if hasattr(model, "predict_proba") else None
        classes = getattr(model, "classes_", np.unique(truth))
    else:
        data = LabelledData.of(model, X, truth, sample_weight)
        rows, predictions, posteriors = out_of_fold(model, data, cv, groups, refit_schema=refit_schema)
        truth, classes = truth[rows], data.classes
        sample_weight = None if data.weight is None else data.weight[rows]
    evaluation = Evaluation.of(
        truth,
        posteriors,
        predictions=predictions,
        classes=classes,
        sample_weight=sample_weight,
        bootstrap=bootstrap,
        level=level,
        random_state=random_state,
    )
    return replace(evaluation, container=container)


class Evaluation(Report):
    """The metrics of a classifier on labelled rows, each with its baseline; NaN where undefined.

    `suffice.evaluate` makes one from a fitted classifier, `Evaluation.of` from its predictions, and
    `Evaluation.from_confusion` from a confusion matrix.

    Attributes
    ----------
    labels : tuple
        The classes of the model, then labels of y that it does not know, then other answers (refusals).
    accuracy, log_loss, brier, ece, roc_auc : float
        Metrics of all rows: the Brier score is `brier`, and the expected calibration error `ece`.
    precision, recall, f1, roc_auc_by_class : ndarray of shape (n_classes,)
        Metrics of each class, in the order of `labels`.
    macro, micro, weighted : Average
        Averages over the classes, with `.precision`, `.recall` and `.f1`; undefined where a class is
        undefined. A class in neither y nor the predictions is left out, and `weighted` leaves out every class
        without rows.
    confusion : ndarray of shape (n_labels, n_labels)
        Rows by true label (down) and predicted label (across).
    false_positives, false_negatives, support : ndarray of shape (n_labels,)
        For each label: rows wrongly given it, rows wrongly denied it, and rows that have it.
    baseline : Metrics
        The same metrics for always answering the most common class (`commonest`), with the class frequencies
        as its probabilities.
    intervals : dict
        With `bootstrap`: (low, high) by metric and class number, name of an average or None.
    level : float
        The confidence level of the intervals.
    known : tuple
        The classes of the model.
    answers : Answers
        The true labels, predictions and probabilities that the metrics are computed from.
    container : Container
        The kind of frame that `to_frame` returns.

    Examples
    --------
    >>> from suffice import Evaluation
    >>> Evaluation.of(["a", "b", "b"], predictions=["a", "b", "a"]).confusion
    array([[1, 0],
           [1, 1]])
    """

    @classmethod
    def of(
        cls,
        y_true: Any,
        posteriors: ArrayLike | None = None,
        *,
        predictions: Any = None,
        classes: Any = None,
        sample_weight: ArrayLike | None = None,
        bootstrap: int | None = None,
        level: float = 0.95,
        random_state: int = 0,
    ) -> Self:
        """Evaluate existing predictions, such as those of another library, another process or a file.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            The true labels.
        posteriors : array-like of shape (n_samples, n_classes), optional
            The probability of each class. Without posteriors, the metrics of probabilities are undefined.
        predictions : array-like of shape (n_samples,), optional
            The predicted labels; by default the most probable class of each row.
        classes : array-like of shape (n_classes,), optional
            The classes that the columns of `posteriors` stand for; by default the sorted labels of `y_true`
            and `predictions`.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        bootstrap, level, random_state
            As in `suffice.evaluate`.

        Returns
        -------
        Evaluation
            The metrics; prints as a table.

        Examples
        --------
        >>> from suffice import Evaluation
        >>> report = Evaluation.of(["ham", "spam", "ham"], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
        >>> round(report.accuracy, 3), round(report.log_loss, 3)
        (0.667, 0.415)
        """
        _check_settings(bootstrap, level)
        answers, labels, known = read_answers(y_true, posteriors, predictions, classes, sample_weight)
        return cls(
            **vars(Metrics.of(answers)),
            answers=answers,
            baseline=Metrics.of(answers.of_the_commonest()),
            labels=labels,
            known=known,
            intervals={} if bootstrap is None else _intervals(answers, bootstrap, level, random_state),
            level=level,
            container=PLAIN,
        )

    @classmethod
    def from_confusion(
        cls,
        confusion: Any,
        labels: Any = None,
        *,
        bootstrap: int | None = None,
        level: float = 0.95,
        random_state: int = 0,
    ) -> Self:
        """Evaluate a confusion matrix, such as a published one.

        Parameters
        ----------
        confusion : array-like of shape (n_labels, n_labels) or frame
            Numbers of rows by true label (down) and predicted label (across). The labels of a frame, such as
            that of `pandas.crosstab`, are its index and columns; a label may lack one of them.
        labels : array-like of shape (n_labels,), optional
            The labels of an array; by default 0, 1, 2, …
        bootstrap, level, random_state
            As in `suffice.evaluate`.

        Returns
        -------
        Evaluation
            The metrics; those of probabilities are undefined.

        Examples
        --------
        >>> from suffice import Evaluation
        >>> report = Evaluation.from_confusion([[50, 2], [5, 43]], labels=["ham", "spam"])
        >>> report.accuracy, report.recall.round(3)
        (0.93, array([0.962, 0.896]))
        """
        truth, predictions, known = rows_of_confusion(confusion, labels)
        resampled: dict[str, Any] = {"bootstrap": bootstrap, "level": level, "random_state": random_state}
        return cls.of(truth, predictions=predictions, classes=known, **resampled)

    def plot(self, ax: Any = None) -> EvaluationDisplay:
        """Draw the confusion matrix and the reliability of the probabilities.

        Parameters
        ----------
        ax : Axes or two Axes, optional
            Where to draw; a new figure by default. A single Axes shows the confusion matrix alone.

        Returns
        -------
        EvaluationDisplay
            What was drawn.
        """
        return EvaluationDisplay(self).plot(ax)


@dataclass
class EvaluationDisplay(Display):
    """The confusion matrix of an evaluation and, where there are probabilities, their reliability.

    Parameters
    ----------
    evaluation : Evaluation
        The result of `suffice.evaluate` or `Evaluation.of`.

    Attributes
    ----------
    confusion : ConfusionDisplay
        The confusion matrix.
    reliability : ReliabilityDisplay or None
        The reliability curves; None without probabilities.
    ax_ : Axes or array of Axes
        What was drawn on.
    figure_ : Figure
        The figure of `ax_`.

    Examples
    --------
    >>> from suffice.plots import EvaluationDisplay
    >>> display = EvaluationDisplay.from_predictions(["a", "b", "b"], ["a", "b", "a"])
    >>> display.confusion.labels
    ['a', 'b']
    """

    evaluation: Evaluation

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: ArrayLike | None = None, ax: Any = None
    ) -> Self:
        """Evaluate a fitted classifier on labelled rows, and draw the result.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier.
        X : array-like or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or str
            The labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        ax : Axes or two Axes, optional
            Where to draw, as in `plot`.

        Returns
        -------
        EvaluationDisplay
            What was drawn.
        """
        return cls(evaluate(estimator, X, y, sample_weight=sample_weight)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        y_proba: ArrayLike | None = None,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Evaluate predictions and, if given, posteriors, and draw the result.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            The true and the predicted labels.
        y_proba : array-like of shape (n_samples, n_classes), optional
            The posteriors.
        labels : sequence, optional
            The classes that the columns of `y_proba` stand for; by default all labels, sorted.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.
        ax : Axes or two Axes, optional
            Where to draw, as in `plot`.

        Returns
        -------
        EvaluationDisplay
            What was drawn.
        """
        evaluation = Evaluation.of(
            y_true, y_proba, predictions=y_pred, classes=labels, sample_weight=sample_weight
        )
        return cls(evaluation).plot(ax)

    def __post_init__(self) -> None:
        answers, labels = self.evaluation.answers, self.evaluation.labels
        self.confusion = ConfusionDisplay(self.evaluation.confusion, labels)
        self.reliability: ReliabilityDisplay | None = None
        if answers.probability is not None:
            classes, p = np.array(labels[: answers.n_classes]), answers.probability
            curves = reliability_curves(
                classes[answers.truth], p, labels=classes.tolist(), sample_weight=answers.weight
            )
            self.reliability = ReliabilityDisplay(curves)

    def plot(self, ax: Any = None) -> Self:
        """Draw the evaluation.

        Parameters
        ----------
        ax : Axes or two Axes, optional
            Where to draw; a new figure by default. A single Axes shows the confusion matrix alone.

        Returns
        -------
        EvaluationDisplay
            The display itself.
        """
        own = ax is None
        if own and self.reliability is not None:
            width = default_width()
            if width >= SIDE_BY_SIDE and len(self.confusion.labels) <= DISTINCT:
                figure = pyplot().figure(figsize=(width, 0.55 * width), layout="constrained")
                ax = figure.subplots(1, 2)
            else:
                figure = pyplot().figure(figsize=(width, 1.7 * width), layout="constrained")
                ax = figure.subplots(2, 1, height_ratios=(4, 3))
        axes = [] if ax is None else list(np.ravel(np.array(ax, dtype=object)))
        if len(axes) > 2 or (len(axes) == 2 and self.reliability is None):
            raise ValueError(
                f"there {'is one panel' if self.reliability is None else 'are two panels'} to draw, but "
                f"{len(axes)} axes were passed; pass one for each panel."
            )
        self.confusion.plot(axes[0] if axes else None)
        if len(axes) == 2 and self.reliability is not None:
            self.reliability.plot(axes[1], legend=False)
            legend_below(axes[1], self.reliability.handles(), own=own)
        self.ax_ = self.confusion.ax_ if ax is None else ax
        self.figure_ = self.confusion.figure_
        return self

    def to_frame(self) -> Any:
        """Return the metrics as a table.

        Returns
        -------
        frame
            That of `Evaluation.to_frame`.
        """
        return self.evaluation.to_frame()


def _check_settings(bootstrap: Any, level: Any) -> None:
    whole = isinstance(bootstrap, (int, np.integer)) and not isinstance(bootstrap, bool)
    if bootstrap is not None and not (whole and bootstrap >= 1):
        raise ValueError(f"bootstrap must be None or an integer ≥ 1, got {bootstrap!r}.")
    if not (isinstance(level, Real) and 0.0 < float(level) < 1.0):
        raise ValueError(f"level must be a number strictly between 0 and 1, got {level!r}.")


def _intervals(answers: Answers, times: int, level: float, random_state: int) -> dict[Key, Interval]:
    """Percentiles of every metric over the bootstrap; draws in which it is undefined do not count."""
    intervals = {}
    drawn = bootstrap_metrics(answers, times, np.random.default_rng(random_state))
    for key, found in drawn.items():
        values = found[~np.isnan(found)]
        ends = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2]) if len(values) else [np.nan, np.nan]
        intervals[key] = (float(ends[0]), float(ends[1]))
    return intervals
