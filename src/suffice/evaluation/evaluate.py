"""How good a classifier is on rows whose labels are known, beside one that always gives the same answer."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor

from suffice.evaluation.answers import Answers, read_answers
from suffice.evaluation.metrics import Key, Metrics, bootstrap_metrics, confusion
from suffice.plots.confusion import ConfusionDisplay
from suffice.plots.display import Display, default_width, legend_below, pyplot
from suffice.plots.palette import DISTINCT
from suffice.plots.reliability import ReliabilityDisplay, reliability_curves
from suffice.tables.container import PLAIN, Container
from suffice.tables.table import is_frame, read_table
from suffice.tables.targets import read_labels, split_target

NAMES = {
    "accuracy": "accuracy",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "log_loss": "log loss",
    "brier": "Brier score",
    "ece": "calibration error",
    "roc_auc": "ROC AUC",
}
MOST_CLASSES = 20
"""Classes up to which the confusion matrix is printed."""
SIDE_BY_SIDE = 6.0
"""Inches of width from which two panels stand side by side."""
Interval = tuple[float, float]


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: ArrayLike | None = None,
    bootstrap: int | None = None,
    level: float = 0.95,
    random_state: int = 0,
) -> Evaluation:
    """Judge a fitted classifier on rows X whose labels y are known.

    Parameters
    ----------
    model : classifier
        Fitted; any that has `predict`. Without `predict_proba` the figures of probabilities are undefined.
    X : table
        In any container that the model takes.
    y : array-like or str
        The labels, or the name of the column of X that holds them.
    sample_weight : array-like, optional
        Weight k counts as the row k times.
    bootstrap : int, optional
        How many times the rows are drawn anew, with replacement, for an interval of every figure.
    level : float, default=0.95
        Of those intervals.
    random_state : int, default=0
        Of the bootstrap.

    Returns
    -------
    Evaluation
        Prints as a table.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b", "b"]
    >>> report = suffice.evaluate(suffice.BayesClassifier().fit(X, y), X, y)
    >>> report.accuracy, report.baseline.accuracy
    (0.8, 0.6)
    """
    if isinstance(model, type) or not hasattr(model, "predict") or _is_regressor(model):
        what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise TypeError(f"evaluate takes a fitted classifier first, got {what}.")
    container = PLAIN
    if y is None:
        raise ValueError(
            "y is None: evaluate compares with known labels; pass them, or the name of a column."
        )
    if isinstance(y, str):
        X, y = split_target(X, y)
    if is_frame(X):
        container = read_table(X).container
    truth = read_labels(y)
    if len(truth) == 0:
        raise ValueError("there are no rows to evaluate: X and y are empty.")
    _check_settings(bootstrap, level)
    predicted = np.asarray(model.predict(X))
    if predicted.shape != truth.shape:
        raise ValueError(f"X has {len(predicted)} rows and y has {len(truth)} labels; they must be as many.")
    answers, labels, known = read_answers(
        truth,
        model.predict_proba(X) if hasattr(model, "predict_proba") else None,
        predicted,
        getattr(model, "classes_", np.unique(truth)),
        sample_weight,
    )
    return Evaluation(
        **vars(Metrics.of(answers)),
        answers=answers,
        baseline=Metrics.of(answers.of_the_commonest()),
        labels=labels,
        known=known,
        intervals={} if bootstrap is None else _intervals(answers, bootstrap, level, random_state),
        level=level,
        container=container,
    )


@dataclass(frozen=True, eq=False)
class Evaluation(Metrics):
    """The figures of a classifier on labelled rows, each beside its baseline; NaN where undefined.

    Attributes
    ----------
    labels : tuple
        The classes of the model, then labels of y that it does not know, then other answers (refusals).
    accuracy, log_loss, brier, ece, roc_auc : float
    precision, recall, f1, roc_auc_by_class : ndarray
        One number for each class, in the order of `labels`.
    macro, micro, weighted : Average
        With `.precision`, `.recall` and `.f1`; undefined where that of a class is. A class in neither y nor
        the predictions takes no part, and in `weighted` none without rows.
    confusion : ndarray
        Rows by truth (down) and prediction (across).
    false_positives, false_negatives, support : ndarray
        For each label: wrongly given, wrongly not given, and rows that have it.
    baseline : Metrics
        The same figures for always answering the commonest class (`commonest`), with the shares of the
        classes as its probabilities.
    intervals : dict
        With `bootstrap`: (low, high) by (figure, class number, average's name or None).
    """

    answers: Answers
    baseline: Metrics
    labels: tuple[Any, ...]
    known: tuple[Any, ...]
    intervals: dict[Key, Interval]
    level: float
    container: Container

    @property
    def confusion(self) -> NDArray[Any]:
        """Rows by truth (down) and prediction (across)."""
        return confusion(self.answers)

    @property
    def support(self) -> NDArray[Any]:
        """The rows that have each label."""
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def false_positives(self) -> NDArray[Any]:
        """The rows wrongly given each label."""
        counts = self.confusion
        return np.asarray(counts.sum(axis=0) - counts.diagonal())

    @property
    def false_negatives(self) -> NDArray[Any]:
        """The rows of each label given another one."""
        counts = self.confusion
        return np.asarray(counts.sum(axis=1) - counts.diagonal())

    @property
    def commonest(self) -> Any:
        """The commonest class of y: the baseline's constant answer."""
        return self.labels[int(np.argmax(self.answers.shares()))]

    # --- giving them out -------------------------------------------------------------------------

    def to_frame(self) -> Any:
        """One line per figure and class or average, with its baseline and its interval if there is one."""
        flat, baseline = self.flat(), self.baseline.flat()
        fields: dict[str, Any] = {
            "figure": [name for name, _ in flat],
            "of": [self._of(who) for _, who in flat],
            "value": list(flat.values()),
            "baseline": [baseline[key] for key in flat],
        }
        if self.intervals:
            fields["low"] = [self.intervals[key][0] for key in flat]
            fields["high"] = [self.intervals[key][1] for key in flat]
        return self.container.frame(fields)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON; None where a figure is undefined."""

        def nested(figures: Metrics) -> dict[str, Any]:
            result: dict[str, Any] = {name: _plain(value) for name, value in figures.scalars().items()}
            result["classes"] = {
                str(self.labels[k]): {n: _plain(v[k]) for n, v in figures.by_class().items()}
                for k in range(self.answers.n_classes)
            }
            for kind, average in figures.averages().items():
                result[kind] = {name: _plain(value) for name, value in average._asdict().items()}
            return result

        result = nested(self)
        result |= {
            "labels": list(self.labels),
            "confusion": self.confusion.tolist(),
            "false_positives": self.false_positives.tolist(),
            "false_negatives": self.false_negatives.tolist(),
            "baseline": {"answer": self.commonest, **nested(self.baseline)},
        }
        if self.intervals:
            result["intervals"] = [
                {"figure": name, "of": self._of(who), "low": _plain(low), "high": _plain(high)}
                for (name, who), (low, high) in self.intervals.items()
            ]
        return result

    def plot(self, ax: Any = None) -> EvaluationDisplay:
        """Draw the confusion matrix and the reliability of the probabilities; on one axes only the matrix."""
        return EvaluationDisplay(self).plot(ax)

    def _of(self, who: str | int | None) -> str:
        return "all rows" if who is None else str(self.labels[who]) if isinstance(who, int) else who

    # --- printing --------------------------------------------------------------------------------

    def __repr__(self) -> str:
        parts = [self._heading()]
        for title, table in self._tables():
            parts += ["", *([title] if title else []), _text(table)]
        return "\n".join([*parts, *(f"\n{note}" for note in self._notes())])

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self._heading())}</b></p>"]
        for title, table in self._tables():
            head, *body = [[html.escape(cell) for cell in row] for row in table]
            rows = "".join(f"<tr><th>{row[0]}</th>{_cells('td', row[1:])}</tr>" for row in body)
            caption = f"<caption>{html.escape(title)}</caption>" if title else ""
            parts.append(f"<table>{caption}<tr>{_cells('th', head)}</tr>{rows}</table>")
        return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in self._notes())])

    def _heading(self) -> str:
        rows = len(self.answers.truth)
        weight = "" if self.answers.weight is None else f" of weight {self.answers.weight.sum():g}"
        return f"Evaluation of {rows} rows{weight}, {self.answers.n_classes} classes"

    def _tables(self) -> list[tuple[str, list[list[str]]]]:
        always = f"always {_name(self.commonest)}"
        overall = [["", "model", always]]
        baseline = self.baseline.scalars()
        for name, value in self.scalars().items():
            overall.append([NAMES[name], self._figure((name, None), value), _shown(baseline[name])])
        by_class = [["", *(NAMES[name] for name in self.by_class()), "rows", "false +", "false −"]]
        wrong = zip(self.support, self.false_positives, self.false_negatives, strict=True)
        for k, counts in enumerate(list(wrong)[: self.answers.n_classes]):
            figures = [self._figure((n, k), float(v[k])) for n, v in self.by_class().items()]
            by_class.append([_name(self.labels[k]), *figures, *(f"{count:g}" for count in counts)])
        for kind, average in self.averages().items():
            figures = [self._figure((n, kind), value) for n, value in average._asdict().items()]
            by_class.append([f"({kind})", *figures, "", "", "", ""])
        figures = [_shown(value) for value in self.baseline.macro]
        by_class.append([f"({always}, macro)", *figures, _shown(self.baseline.roc_auc), "", "", ""])
        tables = [("", overall), ("", by_class)]
        if len(self.labels) <= MOST_CLASSES:
            matrix = [["", *map(_name, self.labels)]]
            lines = list(zip(self.labels, self.confusion, strict=True))[: self.answers.n_classes]
            matrix += [[_name(label), *(f"{count:g}" for count in row)] for label, row in lines]
            tables.append(("Confusion: truth in rows, prediction in columns", matrix))
        return tables

    def _figure(self, key: Key, value: float) -> str:
        if key not in self.intervals or np.isnan(value):
            return _shown(value)
        low, high = self.intervals[key]
        return f"{value:.3f} [{low:.3f}, {high:.3f}]"

    def _notes(self) -> list[str]:
        notes = []
        if self.intervals:
            notes.append(f"In brackets, {100 * self.level:g} % of the bootstrap.")
        strange = [_name(label) for label in self.labels[len(self.known) : self.answers.n_classes]]
        if strange:
            notes.append(f"The model does not know {', '.join(strange)}: those rows count as errors.")
        refused = self.labels[self.answers.n_classes :]
        if refused:
            count = int(np.sum(self.answers.predicted >= self.answers.n_classes))
            notes.append(f"{count} rows were answered {', '.join(map(_name, refused))}, which is no class.")
        return notes


def _is_regressor(model: Any) -> bool:
    return isinstance(model, BaseEstimator) and is_regressor(model)


@dataclass
class Predictions:
    """A classifier that has answered already."""

    classes_: NDArray[Any]
    answers: NDArray[Any]
    predict_proba: Callable[[Any], NDArray[Any]] = field(init=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """What it answered."""
        return self.answers


@dataclass
class EvaluationDisplay(Display):
    """The confusion matrix of an evaluation and, where the model gives probabilities, their reliability.

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
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, ax: Any = None
    ) -> Self:
        """Judge a fitted classifier on rows whose labels are known, and draw it on `ax` as `plot` does."""
        return cls(evaluate(estimator, X, y, sample_weight=sample_weight)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        y_proba: Any = None,
        *,
        labels: Sequence[Any] | None = None,
        sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:
        """Judge predictions and, if given, posteriors, and draw them on `ax` as `plot` does.

        The columns of the posteriors are the `labels`, or the sorted ones.
        """
        from sklearn.utils.multiclass import unique_labels

        known = unique_labels(y_true, y_pred) if labels is None else np.asarray(labels)
        given = Predictions(known, np.asarray(y_pred))
        if y_proba is not None:
            posteriors = np.asarray(y_proba)
            given.predict_proba = lambda _: posteriors
        return cls.from_estimator(given, None, y_true, sample_weight=sample_weight, ax=ax)

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
        """Draw it.

        Parameters
        ----------
        ax : Axes or two Axes, optional
            Those of a new figure unless given; on one alone stands the confusion matrix.

        Returns
        -------
        EvaluationDisplay
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
                f"there {'is one panel' if self.reliability is None else 'are two panels'} to draw and "
                f"{len(axes)} axes; pass one for each."
            )
        self.confusion.plot(axes[0] if axes else None)
        if len(axes) == 2 and self.reliability is not None:
            legend_below(self.reliability.plot(axes[1], legend=False).ax_, own=own)
        self.ax_ = self.confusion.ax_ if ax is None else ax
        self.figure_ = self.confusion.figure_
        return self

    def to_frame(self) -> Any:
        """The figures of the evaluation as a frame."""
        return self.evaluation.to_frame()


def _check_settings(bootstrap: Any, level: Any) -> None:
    whole = isinstance(bootstrap, (int, np.integer)) and not isinstance(bootstrap, bool)
    if bootstrap is not None and not (whole and bootstrap >= 1):
        raise ValueError(f"bootstrap must be None or a whole number ≥ 1, got {bootstrap!r}.")
    if not (isinstance(level, Real) and 0.0 < float(level) < 1.0):
        raise ValueError(f"level must be a number strictly between 0 and 1, got {level!r}.")


def _intervals(answers: Answers, times: int, level: float, random_state: int) -> dict[Key, Interval]:
    """Percentiles of every figure over rows drawn anew; draws in which it is undefined do not count."""
    intervals = {}
    drawn = bootstrap_metrics(answers, times, np.random.default_rng(random_state))
    for key, found in drawn.items():
        values = found[~np.isnan(found)]
        ends = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2]) if len(values) else [np.nan, np.nan]
        intervals[key] = (float(ends[0]), float(ends[1]))
    return intervals


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _name(label: Any) -> str:
    return repr(label) if isinstance(label, str) else str(label)


def _shown(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.3f}"


def _cells(tag: str, cells: list[str]) -> str:
    return "".join(f"<{tag}>{cell}</{tag}>" for cell in cells)


def _text(table: list[list[str]]) -> str:
    """Columns under their heads, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in table
    )
