"""The figures that judge predictions: scikit-learn's metrics, and NaN where a figure is undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    brier_score_loss,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)

from suffice.arrays import Array

Key = tuple[str, str | int | None]
"""A figure and what it is of: a class by its number, an average, or all rows."""
ROWS_AT_ONCE = 1 << 17
"""Rows that scikit-learn is asked about at a time."""
CONFIDENCE_BINS = 15
"""Bins of equal width in which confidence is compared with accuracy (Guo et al. 2017)."""


class Average(NamedTuple):
    """Precision, recall and F1 averaged over the classes."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class Answers:
    """Truth and predictions as numbers of labels; the first of them are the classes that a row can have."""

    truth: NDArray[np.intp]
    predicted: NDArray[np.intp]
    probability: Array | None
    """(n, classes), where the model has posteriors."""
    weight: Array | None
    n_labels: int
    n_classes: int

    def take(self, rows: NDArray[np.intp] | slice) -> Answers:
        """Some rows, as often as they are named; adjacent ones are not copied."""
        return Answers(
            self.truth[rows],
            self.predicted[rows],
            None if self.probability is None else self.probability[rows],
            None if self.weight is None else self.weight[rows],
            self.n_labels,
            self.n_classes,
        )

    def shares(self) -> Array:
        """The share of each class in the truth."""
        counts = np.bincount(self.truth, self.weight, self.n_classes)
        return np.asarray(counts / counts.sum())

    def of_the_commonest(self) -> Answers:
        """The best answers that look at no row: always the commonest class, and the shares as posteriors.

        They differ only in the truth, so that one row of a class stands for all of them, by its weight.
        """
        counts = np.bincount(self.truth, self.weight, self.n_classes).astype(np.float64)
        present = np.flatnonzero(counts)
        return Answers(
            present,
            np.full(len(present), np.argmax(counts), dtype=np.intp),
            None if self.probability is None else np.tile(self.shares(), (len(present), 1)),
            counts[present],
            self.n_labels,
            self.n_classes,
        )


@dataclass(frozen=True, eq=False)
class Metrics:
    """All figures of some answers."""

    accuracy: float
    """The share of rows that are right."""
    precision: Array
    """Of the rows given a class, the share that has it."""
    recall: Array
    """Of the rows that have a class, the share that was given it."""
    f1: Array
    """The harmonic mean of precision and recall."""
    macro: Average
    """The plain mean over the classes."""
    micro: Average
    """All classes counted together."""
    weighted: Average
    """The mean over the classes, by their rows."""
    log_loss: float
    """The mean of −log p(truth)."""
    brier: float
    """The mean squared error of the posteriors, halved for two classes."""
    ece: float
    """Expected calibration error: how far confidence is from accuracy."""
    roc_auc: float
    """The area under the ROC curve, the mean of each class against the rest; a class without rows has none,
    and leaves the mean undefined."""
    roc_auc_by_class: Array

    @classmethod
    def of(cls, answers: Answers) -> Metrics:
        """The figures of truth and predictions."""
        # These figures are of the confusion matrix, so that one row stands for all rows of a cell.
        counts = confusion(answers)
        truth, predicted = np.nonzero(counts)
        weight = counts[truth, predicted]
        classes = np.arange(answers.n_classes)
        precision, recall, f1, _ = precision_recall_fscore_support(
            truth, predicted, labels=classes, zero_division=np.nan, sample_weight=weight
        )
        micro = precision_recall_fscore_support(
            truth, predicted, labels=classes, average="micro", zero_division=np.nan, sample_weight=weight
        )[:3]
        shares = answers.shares()
        # As in scikit-learn, a class in neither the truth nor the predictions takes no part in the averages.
        occurs = (shares > 0) | (np.bincount(predicted, minlength=answers.n_labels)[: len(shares)] > 0)
        by_class = np.stack([precision, recall, f1])[:, occurs]
        curves = _roc_auc_by_class(answers)
        return cls(
            accuracy=float(accuracy_score(truth, predicted, sample_weight=weight)),
            precision=precision,
            recall=recall,
            f1=f1,
            macro=Average(*by_class.mean(axis=1).tolist()),
            micro=Average(*map(float, micro)),
            weighted=Average(*(_weighted_mean(row, shares[occurs]) for row in by_class)),
            log_loss=_log_loss(answers),
            brier=_brier(answers),
            ece=_calibration_error(answers),
            roc_auc=float(np.mean(curves)),
            roc_auc_by_class=curves,
        )

    def scalars(self) -> dict[str, float]:
        """The figures that are one number for all classes."""
        return {
            one.name: value for one in fields(Metrics) if isinstance(value := getattr(self, one.name), float)
        }

    def by_class(self) -> dict[str, Array]:
        """The figures that are one number for each class."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "roc_auc": self.roc_auc_by_class,
        }

    def averages(self) -> dict[str, Average]:
        """Averages over the classes, by kind."""
        return {"macro": self.macro, "micro": self.micro, "weighted": self.weighted}

    def flat(self) -> dict[Key, float]:
        """Every figure by its name and what it is of."""
        named: dict[Key, float] = {}
        named.update({(name, None): value for name, value in self.scalars().items()})
        for name, values in self.by_class().items():
            named.update({(name, k): float(value) for k, value in enumerate(values)})
        for kind, average in self.averages().items():
            named.update({(name, kind): value for name, value in average._asdict().items()})
        return named


def confusion(answers: Answers) -> NDArray[np.float64 | np.int64]:
    """Rows (or their weight) by truth (rows of the matrix) and prediction (columns)."""
    # Counted here, since scikit-learn's own warns where there is a single label.
    pairs, k = answers.truth * answers.n_labels + answers.predicted, answers.n_labels
    return np.bincount(pairs, answers.weight, k * k).reshape(k, k)


def _weighted_mean(values: Array, shares: Array) -> float:
    some = shares > 0
    return float(np.sum(values[some] * shares[some]) / np.sum(shares[some]))


def _log_loss(answers: Answers) -> float:
    """−log p of the truth; as in scikit-learn, p is at least the rounding of its precision, 2e-16."""
    labels = np.arange(answers.n_classes)
    return _mean_over_rows(
        answers, lambda some: log_loss(some.truth, some.probability, labels=labels, sample_weight=some.weight)
    )


def _brier(answers: Answers) -> float:
    """The mean squared distance of the posteriors from the truth, halved for two classes."""
    two, labels = answers.n_classes == 2, np.arange(answers.n_classes)

    def score(some: Answers) -> float:
        return float(
            brier_score_loss(
                some.truth,
                some.probability[:, 1] if two and some.probability is not None else some.probability,
                labels=labels,
                sample_weight=some.weight,
                scale_by_half=two,
                **({"pos_label": 1} if two else {}),
            )
        )

    return _mean_over_rows(answers, score)


def _mean_over_rows(answers: Answers, score: Callable[[Answers], float]) -> float:
    """A mean over rows, in runs of them: scikit-learn holds several copies of the posteriors."""
    if answers.probability is None or answers.n_classes < 2:
        return float("nan")
    n = len(answers.truth)
    runs = [answers.take(slice(start, start + ROWS_AT_ONCE)) for start in range(0, n, ROWS_AT_ONCE)]
    sizes = [len(run.truth) if run.weight is None else float(run.weight.sum()) for run in runs]
    return float(np.average([score(run) for run in runs], weights=sizes))


def _calibration_error(answers: Answers) -> float:
    """Expected calibration error: mean distance of confidence from accuracy, in bins of confidence."""
    if answers.probability is None:
        return float("nan")
    at, gap = gaps_of_rows(answers.probability, answers.truth)
    weight = np.ones(len(gap)) if answers.weight is None else answers.weight
    return float(np.abs(np.bincount(at, weight * gap, CONFIDENCE_BINS)).sum() / weight.sum())


def gaps_of_rows(probability: Array, truth: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array]:
    """The bin of each row's confidence, and whether the row is right less that confidence."""
    confidence = probability.max(axis=1)
    at = np.clip(np.ceil(confidence * CONFIDENCE_BINS).astype(np.intp) - 1, 0, CONFIDENCE_BINS - 1)
    return at, np.asarray((probability.argmax(axis=1) == truth) - confidence)


def _roc_auc_by_class(answers: Answers) -> Array:
    """The area under the curve of each class against the rest."""
    areas = np.full(answers.n_classes, np.nan)
    if answers.probability is None:
        return areas
    for k in range(answers.n_classes):
        positive = answers.truth == k
        if positive.any() and not positive.all():
            areas[k] = roc_auc_score(positive, answers.probability[:, k], sample_weight=answers.weight)
    return areas
