"""The figures of rows drawn anew with replacement, many draws at a time.

A draw is a weight for each row, how often it came up. All figures but one are ratios of sums over rows, so
they are products with the weights; the area under a ROC curve is one over the rows in the order of their
scores, which no draw changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array
from suffice.evaluation.metrics import CONFIDENCE_BINS, Answers, Key, gaps_of_rows

CELLS_AT_ONCE = 1 << 22
"""Weights and cells of confusion matrices that are held at a time."""


def resampled_figures(answers: Answers, times: int, rng: np.random.Generator) -> dict[Key, Array]:
    """Every figure of each of so many draws of the rows; NaN where it is undefined in a draw."""
    resampler = Resampler(answers)
    n = len(answers.truth)
    step = max(1, CELLS_AT_ONCE // max(n, answers.n_labels**2))
    parts = []
    for start in range(0, times, step):
        drawn = rng.integers(n, size=(min(step, times - start), n))
        weights = np.stack([np.bincount(rows, minlength=n) for rows in drawn]).astype(np.float64)
        parts.append(resampler.figures(weights if answers.weight is None else weights * answers.weight))
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


@dataclass(frozen=True)
class Curve:
    """The rows in the order of their scores for one class, those of equal scores in one group."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    positive: NDArray[np.bool_]

    @classmethod
    def of(cls, scores: Array, positive: NDArray[np.bool_]) -> Curve:
        """Sort the rows."""
        order = np.argsort(scores, kind="stable")
        starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)
        return cls(order, starts, positive[order])

    def areas(self, weights: Array) -> Array:
        """The chance that a row of the class scores above one that is not; ties count half."""
        ordered = weights[:, self.order]
        hits = np.add.reduceat(ordered * self.positive, self.starts, axis=1)
        others = np.add.reduceat(ordered * ~self.positive, self.starts, axis=1)
        below = np.cumsum(others, axis=1) - 0.5 * others
        pairs = hits.sum(axis=1) * others.sum(axis=1)
        return _ratio(np.sum(hits * below, axis=1), pairs)


class Resampler:
    """What is known of each row, from which all figures of weighted rows follow."""

    def __init__(self, answers: Answers) -> None:
        self.n_labels, self.n_classes = answers.n_labels, answers.n_classes
        n, rows = len(answers.truth), np.arange(len(answers.truth))
        k, p = answers.n_labels, answers.probability
        pairs = answers.truth * k + answers.predicted
        self.pairs = sparse.csr_array((np.ones(n), (pairs, rows)), shape=(k * k, n))
        self.losses = np.full((n, 2), np.nan)
        self.gaps = sparse.csr_array(np.full((1, n), np.nan))
        self.curves: list[Curve] = []
        if p is not None:
            at, gap = gaps_of_rows(p, answers.truth)
            self.gaps = sparse.csr_array((gap, (at, rows)), shape=(CONFIDENCE_BINS, n))
            self.curves = [Curve.of(p[:, j], answers.truth == j) for j in range(answers.n_classes)]
            if answers.n_classes > 1:
                self.losses = np.column_stack([_log_losses(p, answers.truth), _squares(p, answers.truth)])

    def figures(self, weights: Array) -> dict[Key, Array]:
        """Every figure for each row of weights, (draws, n)."""
        k, classes, total = self.n_labels, self.n_classes, weights.sum(axis=1)
        confusion = (self.pairs @ weights.T).T.reshape(-1, k, k)
        hits = np.diagonal(confusion, axis1=1, axis2=2)
        log_loss, brier = (weights @ self.losses).T / total
        areas = np.full((len(weights), classes), np.nan)
        for j, curve in enumerate(self.curves):
            areas[:, j] = curve.areas(weights)
        named: dict[Key, Array] = {
            ("accuracy", None): hits.sum(axis=1) / total,
            ("log_loss", None): log_loss,
            ("brier", None): brier,
            ("ece", None): np.abs(self.gaps @ weights.T).sum(axis=0) / total,
            ("roc_auc", None): areas.mean(axis=1),
        }
        hits, truth = hits[:, :classes], confusion.sum(axis=2)[:, :classes]
        given = confusion.sum(axis=1)[:, :classes]
        found = {"precision": (hits, given), "recall": (hits, truth), "f1": (2.0 * hits, given + truth)}
        by_class = {name: _ratio(part, whole) for name, (part, whole) in found.items()}
        for name, values in [*by_class.items(), ("roc_auc", areas)]:
            named |= {(name, j): values[:, j] for j in range(classes)}
        for name, (part, whole) in found.items():
            named[name, "macro"] = _mean(by_class[name], (truth + given > 0).astype(np.float64))
            named[name, "micro"] = _ratio(part.sum(axis=1), whole.sum(axis=1))
            named[name, "weighted"] = _mean(by_class[name], truth)
        return named


def _log_losses(probability: Array, truth: NDArray[np.intp]) -> Array:
    """−log p of each row's class; as in scikit-learn, p is at least the rounding of its precision."""
    least = np.finfo(probability.dtype).eps
    return -np.log(np.clip(probability[np.arange(len(truth)), truth], least, 1.0 - least))


def _squares(probability: Array, truth: NDArray[np.intp]) -> Array:
    """The squared distance of each row's posteriors from its class, halved for two classes."""
    away = probability - np.eye(probability.shape[1])[truth]
    return np.asarray(np.sum(away**2, axis=1) * (0.5 if probability.shape[1] == 2 else 1.0))


def _mean(values: Array, weight: Array) -> Array:
    """The mean over the classes; those without weight take no part."""
    return np.asarray(np.sum(np.where(weight > 0, values, 0.0) * weight, axis=1) / weight.sum(axis=1))


def _ratio(part: Array, whole: Array) -> Array:
    """NaN, undefined, where there is nothing to share."""
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))
