"""Every metric, once: of weighted rows, for one set of weights or for many at a time.

A metric is a ratio of sums over rows, each row times its weight; so is the area under a ROC curve, once the
rows are sorted by their scores. A bootstrap only draws other weights, how often each row came up, so it needs
no formulas of its own.

The definitions are those of scikit-learn, with NaN where a metric is 0/0. So is the floor of the log loss: a
probability counts as at least the rounding error of its precision, 2e-16 in double and 1e-7 in single
precision. A posterior is rounded by about as much, so a smaller floor would measure rounding; and a log loss
can be compared only if everyone computes it in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from suffice.arrays import Array
from suffice.evaluation.answers import Answers

Key = tuple[str, str | int | None]
"""A metric and what it is of: a class by its number, an average, or all rows."""
ROWS_AT_ONCE = 1 << 17
"""Rows whose posteriors are copied at a time."""
CELLS_AT_ONCE = 1 << 22
"""Weights and cells of confusion matrices that a bootstrap holds at a time."""
CONFIDENCE_BINS = 15
"""Bins of equal width in which confidence is compared with accuracy (Guo et al. 2017)."""


class Average(NamedTuple):
    """Precision, recall and F1 averaged over the classes."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class Metrics:
    """All metrics of a classifier on labelled rows; NaN where undefined."""

    accuracy: float
    """The share of rows that are right."""
    precision: Array
    """Of the rows predicted to be of a class, the share that is."""
    recall: Array
    """Of the rows of a class, the share that was predicted to be."""
    f1: Array
    """The harmonic mean of precision and recall."""
    macro: Average
    """The plain mean over the classes."""
    micro: Average
    """All classes counted together."""
    weighted: Average
    """The mean over the classes, weighted by their rows."""
    log_loss: float
    """The mean of −log p(truth)."""
    brier: float
    """The mean squared error of the posteriors, halved for two classes."""
    ece: float
    """The expected calibration error: how far confidence is from accuracy."""
    roc_auc: float
    """The area under the ROC curve, averaged over each class against the rest; undefined if a class has no
    rows."""
    roc_auc_by_class: Array
    """The area under the ROC curve of each class against the rest."""

    @classmethod
    def of(cls, answers: Answers) -> Metrics:
        """Compute every metric of some answers.

        Parameters
        ----------
        answers : Answers
            True labels, predictions and probabilities.

        Returns
        -------
        metrics : Metrics
        """
        measured = _measure(Rows(answers), own_weights(answers), _curves(answers))
        return cls.from_measured(measured, answers.n_classes)

    @classmethod
    def from_measured(cls, measured: dict[Key, Array], n_classes: int) -> Metrics:
        """Gather what was measured with one set of weights.

        Parameters
        ----------
        measured : dict
            Each metric, as an array of length 1.
        n_classes : int
            The number of classes.

        Returns
        -------
        metrics : Metrics
        """
        values = {key: float(of_rows[0]) for key, of_rows in measured.items()}

        def by_class(name: str) -> Array:
            return np.array([values[name, k] for k in range(n_classes)])

        def average(kind: str) -> Average:
            return Average(*(values[name, kind] for name in Average._fields))

        return cls(
            accuracy=values["accuracy", None],
            precision=by_class("precision"),
            recall=by_class("recall"),
            f1=by_class("f1"),
            macro=average("macro"),
            micro=average("micro"),
            weighted=average("weighted"),
            log_loss=values["log_loss", None],
            brier=values["brier", None],
            ece=values["ece", None],
            roc_auc=values["roc_auc", None],
            roc_auc_by_class=by_class("roc_auc"),
        )

    def scalars(self) -> dict[str, float]:
        """Return the metrics that are one number for all classes.

        Returns
        -------
        dict of str → float
            By name: accuracy, log_loss, brier, ece and roc_auc.
        """
        return {
            one.name: value for one in fields(Metrics) if isinstance(value := getattr(self, one.name), float)
        }

    def by_class(self) -> dict[str, Array]:
        """Return the metrics that are one number for each class.

        Returns
        -------
        dict of str → ndarray of shape (n_classes,)
            By name: precision, recall, f1 and roc_auc.
        """
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "roc_auc": self.roc_auc_by_class,
        }

    def averages(self) -> dict[str, Average]:
        """Return the averages over the classes.

        Returns
        -------
        dict of str → Average
            By kind: macro, micro and weighted.
        """
        return {"macro": self.macro, "micro": self.micro, "weighted": self.weighted}

    def flat(self) -> dict[Key, float]:
        """Return every metric in one dictionary.

        Returns
        -------
        dict
            By name and class number, name of an average or, for all rows, None.
        """
        named: dict[Key, float] = {}
        named.update({(name, None): value for name, value in self.scalars().items()})
        for name, values in self.by_class().items():
            named.update({(name, k): float(value) for k, value in enumerate(values)})
        for kind, average in self.averages().items():
            named.update({(name, kind): value for name, value in average._asdict().items()})
        return named


def confusion(answers: Answers) -> NDArray[np.float64 | np.int64]:
    """Rows (or their weight) by truth (rows of the matrix) and prediction (columns)."""
    k = answers.n_labels
    counts = np.bincount(_pairs(answers), answers.weight, k * k).reshape(k, k)
    return counts if answers.total_weight is not None else counts.astype(np.int64)


def error_and_log_loss(answers: Answers) -> tuple[float, float]:
    """The share of rows that are wrong, and the log loss."""
    wrong = (answers.truth != answers.predicted).astype(np.float64)
    return float(_means(wrong, own_weights(answers))[0]), log_loss(answers)


def log_loss(answers: Answers) -> float:
    """The mean of −log p of each row's class."""
    return float(_means(_log_losses(answers), own_weights(answers))[0])


def bootstrap_metrics(answers: Answers, times: int, rng: np.random.Generator) -> dict[Key, Array]:
    """Every metric of rows drawn with replacement, so many times; NaN where it is undefined in a draw."""
    rows, curves = Rows(answers), list(_curves(answers))
    n = len(answers.truth)
    step = max(1, CELLS_AT_ONCE // max(n, answers.n_labels**2))
    parts = []
    for start in range(0, times, step):
        drawn = rng.integers(n, size=(min(step, times - start), n))
        counts = np.stack([np.bincount(some, minlength=n) for some in drawn])
        parts.append(_measure(rows, counts * own_weights(answers), curves))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


class Rows:
    """What each row adds to the metrics, whatever its weight."""

    def __init__(self, answers: Answers) -> None:
        self.n_labels, self.n_classes = answers.n_labels, answers.n_classes
        self.pairs = _pairs(answers)
        self.log_losses = _log_losses(answers)
        self.squares = _squares(answers)
        self.bins, self.gaps = _gaps(answers)


@dataclass(frozen=True)
class _Curve:
    """The rows in the order of their scores for one class, those of equal scores in one group."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    positive: NDArray[np.bool_]

    @classmethod
    def of(cls, scores: Array, positive: NDArray[np.bool_]) -> _Curve:
        """Sort the rows."""
        order = np.argsort(scores, kind="stable")
        starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)
        return cls(order, starts, positive[order])

    def areas(self, weights: Array) -> Array:
        """The area under the curve for each set of weights."""
        ordered = weights[:, self.order]
        hits = np.add.reduceat(ordered * self.positive, self.starts, axis=1)
        others = np.add.reduceat(ordered * ~self.positive, self.starts, axis=1)
        return areas_of_groups(hits, others)


def areas_of_groups(hits: Array, others: Array) -> Array:
    """The chance that a row of the class scores above another, from weights by score; ties count half."""
    below = np.cumsum(others, axis=1) - 0.5 * others
    return _ratio(np.sum(hits * below, axis=1), hits.sum(axis=1) * others.sum(axis=1))


def _measure(rows: Rows, weights: Array, curves: Iterable[_Curve]) -> dict[Key, Array]:
    """Every metric for each set of weights, (sets, n)."""
    areas = np.full((len(weights), rows.n_classes), np.nan)
    for j, curve in enumerate(curves):
        areas[:, j] = curve.areas(weights)
    k = rows.n_labels
    return metrics_of_sums(
        sums_by(rows.pairs, weights, k * k).reshape(-1, k, k),
        weights.sum(axis=1),
        _means(rows.log_losses, weights),
        _means(rows.squares, weights),
        sums_by(rows.bins, weights * rows.gaps, CONFIDENCE_BINS),
        areas,
    )


def metrics_of_sums(
    matrices: Array, total: Array, log_loss: Array, squares: Array, gaps: Array, areas: Array
) -> dict[Key, Array]:
    """Every metric from sums over the rows, for each set of weights.

    These are confusion matrices, the total weight, the mean log loss and squared distance, the gaps of each
    bin of confidence, and the areas under the ROC curves of each class.
    """
    classes = areas.shape[1]
    right = np.diagonal(matrices, axis1=1, axis2=2)
    named: dict[Key, Array] = {
        ("accuracy", None): right.sum(axis=1) / total,
        ("log_loss", None): log_loss,
        ("brier", None): squares * 0.5 if classes == 2 else squares,
        ("ece", None): np.abs(gaps).sum(axis=1) / total,
        ("roc_auc", None): areas.mean(axis=1),
    }
    hits = right[:, :classes]
    truth, given = matrices.sum(axis=2)[:, :classes], matrices.sum(axis=1)[:, :classes]
    ratios = {"precision": (hits, given), "recall": (hits, truth), "f1": (2.0 * hits, given + truth)}
    by_class = {name: _ratio(part, whole) for name, (part, whole) in ratios.items()}
    for name, values in [*by_class.items(), ("roc_auc", areas)]:
        named |= {(name, j): values[:, j] for j in range(classes)}
    for name, (part, whole) in ratios.items():
        # As in scikit-learn, a class in neither the truth nor the predictions takes no part in the averages.
        named[name, "macro"] = _mean_over_classes(by_class[name], (truth + given > 0).astype(np.float64))
        named[name, "micro"] = _ratio(part.sum(axis=1), whole.sum(axis=1))
        named[name, "weighted"] = _mean_over_classes(by_class[name], truth)
    return named


def own_weights(answers: Answers) -> Array:
    """The weights of the rows as one set."""
    return np.ones((1, len(answers.truth))) if answers.weight is None else answers.weight[np.newaxis]


def _pairs(answers: Answers) -> NDArray[np.intp]:
    """The cell of the confusion matrix that each row is in."""
    return answers.truth * answers.n_labels + answers.predicted


def _log_losses(answers: Answers) -> Array:
    """−log p of each row's class."""
    p = answers.probability
    if p is None or answers.n_classes < 2:
        return np.full(len(answers.truth), np.nan)
    least = np.finfo(p.dtype).eps
    of_truth = np.clip(p[np.arange(len(p)), answers.truth], least, 1.0 - least)
    return np.asarray(-xlogy(p.dtype.type(1.0), of_truth))  # scikit-learn's logarithm, to the last bit


def _squares(answers: Answers) -> Array:
    """The squared distance of each row's posteriors from its class."""
    n, p = len(answers.truth), answers.probability
    squares = np.full(n, np.nan)
    if p is None or answers.n_classes < 2:
        return squares
    for start in range(0, n, ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        away = p[some].astype(np.float64)
        away[np.arange(len(away)), answers.truth[some]] -= 1.0
        squares[some] = np.einsum("ij,ij->i", away, away)
    return squares


def _gaps(answers: Answers) -> tuple[NDArray[np.intp], Array]:
    """The bin of each row's confidence, and the row's correctness (0 or 1) minus that confidence."""
    p = answers.probability
    if p is None:
        return np.zeros(len(answers.truth), dtype=np.intp), np.full(len(answers.truth), np.nan)
    confidence = p.max(axis=1)
    bins = np.clip(np.ceil(confidence * CONFIDENCE_BINS).astype(np.intp) - 1, 0, CONFIDENCE_BINS - 1)
    return bins, np.asarray((p.argmax(axis=1) == answers.truth) - confidence)


def _curves(answers: Answers) -> Iterator[_Curve]:
    """The ROC curve of each class against the rest, one at a time: each is as long as the rows."""
    if answers.probability is not None:
        for j in range(answers.n_classes):
            yield _Curve.of(answers.probability[:, j], answers.truth == j)


def sums_by(codes: NDArray[np.intp], weights: Array, size: int) -> Array:
    """The weight of each code, for each set of weights."""
    return np.stack([np.bincount(codes, some, size) for some in weights])


def _means(values: Array, weights: Array) -> Array:
    """The mean over the rows for each set of weights, in the precision of the values."""
    weights = weights.astype(values.dtype, copy=False)
    return np.asarray(np.sum(weights * values, axis=1) / weights.sum(axis=1))


def _mean_over_classes(values: Array, weight: Array) -> Array:
    """The mean over the classes; those without weight take no part."""
    return np.asarray(np.sum(np.where(weight > 0, values, 0.0) * weight, axis=1) / weight.sum(axis=1))


def _ratio(part: Array, whole: Array) -> Array:
    """The quotient; NaN where the denominator is 0."""
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))
