"""The evaluation of any number of rows, batch by batch, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.evaluation.answers import Answers, check_types
from suffice.evaluation.evaluate import Evaluation
from suffice.evaluation.metrics import (
    CONFIDENCE_BINS,
    Metrics,
    Rows,
    areas_of_groups,
    metrics_of_sums,
    own_weights,
    sums_by,
)
from suffice.tables.container import PLAIN
from suffice.tables.targets import read_labels

EXACT_CELLS = 1 << 22
"""Posteriors up to which all of them are kept."""
SCORE_CELLS = 1 << 21
"""Bins of posteriors for ROC curves, over all classes."""
SCORE_BINS = 1 << 15
"""Bins for one class, at most."""
LOWEST, HIGHEST = -6.0, 3.0
"""Where the bins end: arsinh of a quarter of the log odds of the least positive number and of 1 − 2⁻⁵³."""


class _Part(NamedTuple):
    truth: NDArray[np.int32]
    posteriors: Array
    weight: Array | None


@dataclass(frozen=True)
class SummedAnswers(Answers):
    """Answers of which only sums are left: a row for each cell of the confusion matrix, with its weight."""

    rows: int
    is_weighted: bool

    @property
    def n_rows(self) -> int:
        """How many rows were answered."""
        return self.rows

    @property
    def total_weight(self) -> float | None:
        """The weight of all rows; None where rows have no weights."""
        return super().total_weight if self.is_weighted else None

    @property
    def has_posteriors(self) -> bool:
        """Whether the model gave the posteriors of the rows."""
        return True


class StreamedEvaluation:
    """Evaluates answers that come in batches.

    Few answers are kept and evaluated as they are. Of many, all metrics are sums over the rows, except the
    areas under ROC curves: those are computed from posteriors in bins that are equally wide in the arsinh of
    their log odds, which move an area by less than half of the share of pairs that fall into one bin.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes that the columns of posteriors stand for.
    """

    def __init__(self, classes: NDArray[Any]) -> None:
        self._classes = classes
        self._place = {label: k for k, label in enumerate(classes.tolist())}
        self._parts: list[_Part] = []
        self._n_cells = 0
        self._sums: _Sums | None = None

    def add(self, y: Any, posteriors: Array, weight: Array | None) -> None:
        """Add rows with their labels, posteriors and weights, if they have any."""
        found, codes = np.unique(read_labels(y), return_inverse=True)
        places = [self._place.setdefault(label, len(self._place)) for label in found.tolist()]
        part = _Part(np.array(places, dtype=np.int32)[codes], posteriors, weight)
        if self._sums is not None:
            self._sums.add(part, len(self._place))
            return
        self._parts.append(part)
        self._n_cells += posteriors.size
        if self._n_cells > EXACT_CELLS and len(self._classes) > 1:
            self._sums = _Sums(len(self._classes))
            for one in self._parts:
                self._sums.add(one, len(self._place))
            self._parts = []

    def evaluation(self) -> Evaluation:
        """All metrics of the rows so far."""
        if self._sums is not None:
            return self._of_sums(self._sums)
        truth, posteriors, weights = zip(*self._parts, strict=True)
        labels = read_labels(list(self._place))
        return Evaluation.of(
            labels[np.concatenate(truth)],
            np.concatenate(posteriors),
            classes=self._classes,
            sample_weight=None if weights[0] is None else np.concatenate(weights),
        )

    def _of_sums(self, sums: _Sums) -> Evaluation:
        labels, known = tuple(self._place), tuple(self._classes.tolist())
        check_types(list(known), list(labels[len(known) :]))
        answers = sums.answers(len(labels))
        return Evaluation(
            **vars(Metrics.from_measured(sums.measured(len(labels)), len(labels))),
            answers=answers,
            baseline=Metrics.of(answers.of_the_commonest()),
            labels=labels,
            known=known,
            intervals={},
            level=0.95,
            container=PLAIN,
        )


class _Sums:
    """Sums over rows, from which the metrics are computed."""

    def __init__(self, n_known: int) -> None:
        self.n_known = n_known
        self.n_rows, self.is_weighted = 0, False
        self.confusion = np.zeros((n_known, n_known))
        self.log_loss = self.squares = self.total = 0.0
        self.gaps = np.zeros(CONFIDENCE_BINS)
        self.n_bins = min(SCORE_BINS, max(16, SCORE_CELLS // n_known))
        self.all, self.hits = np.zeros((2, n_known, self.n_bins))
        """The weight of all rows and of those of the class, by bin of its posterior."""

    def add(self, part: _Part, n_labels: int) -> None:
        """Add rows whose labels are the first of so many."""
        truth, p = part.truth.astype(np.intp), part.posteriors
        padded = np.zeros((len(p), n_labels))
        padded[:, : self.n_known] = p
        answers = Answers(truth, p.argmax(axis=1), padded, part.weight, n_labels, n_labels)
        rows, weights = Rows(answers), own_weights(answers)
        weight = weights[0]
        self.n_rows += len(p)
        self.is_weighted = part.weight is not None
        self.confusion = self._grown(n_labels)
        self.confusion += sums_by(rows.pairs, weights, n_labels**2).reshape(n_labels, n_labels)
        self.total += float(weight.sum())
        self.log_loss += float(weight @ rows.log_losses)
        self.squares += float(weight @ rows.squares)
        self.gaps += sums_by(rows.bins, weights * rows.gaps, CONFIDENCE_BINS)[0]
        for k in range(self.n_known):
            bins = _bins(p[:, k], self.n_bins)
            self.all[k] += np.bincount(bins, weight, self.n_bins)
            own = truth == k
            self.hits[k] += np.bincount(bins[own], weight[own], self.n_bins)

    def _grown(self, n_labels: int) -> Array:
        grown = np.zeros((n_labels, n_labels))
        grown[: len(self.confusion), : len(self.confusion)] = self.confusion
        return grown

    def measured(self, n_labels: int) -> Any:
        """Every metric, as an array of length 1."""
        matrix = self._grown(n_labels)
        areas = np.full((1, n_labels), 0.5)  # the posterior of a class that the model does not know is 0
        areas[0, : self.n_known] = areas_of_groups(self.hits, self.all - self.hits)
        of_class = matrix.sum(axis=1)
        areas[0, (of_class == 0.0) | (of_class == self.total)] = np.nan
        total = np.array([self.total])
        return metrics_of_sums(
            matrix[np.newaxis],
            total,
            self.log_loss / total,
            self.squares / total,
            self.gaps[np.newaxis],
            areas,
        )

    def answers(self, n_labels: int) -> SummedAnswers:
        """The confusion matrix as answers."""
        matrix = self._grown(n_labels)
        truth, predicted = np.nonzero(matrix)
        weight = matrix[truth, predicted]
        return SummedAnswers(
            truth, predicted, None, weight, n_labels, n_labels, self.n_rows, self.is_weighted
        )


def _bins(p: Array, n_bins: int) -> NDArray[np.intp]:
    """The bin of each posterior; the order of posteriors is that of their bins."""
    with np.errstate(divide="ignore"):
        odds = np.arcsinh(0.25 * (np.log(p) - np.log1p(-p)))
    place = (np.clip(odds, LOWEST, HIGHEST) - LOWEST) * ((n_bins - 3) / (HIGHEST - LOWEST))
    bins = 1 + place.astype(np.intp)
    bins[p <= 0.0], bins[p >= 1.0] = 0, n_bins - 1
    return bins
