"""Whether the mean posteriors of new rows are those to be expected if the classes have their old priors π.

If posteriors are right, their mean is π. A model may be too sure or lean to one class; then the mean is πM,
where M holds the mean posteriors of rows of each class that the model has not seen. Under the old priors the
gap between the means has the variance T/n of n new rows, that of π if it was counted, and that of M.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.links import softmax
from suffice.storage import Fields
from suffice.storage.labels import labels_from_fields, state_of_labels

NEGLIGIBLE = 1e-12
"""The variance of a posterior that does not tell classes apart."""
MOST_CLASSES = 100
"""Classes whose posteriors are kept: files hold two square matrices of them."""
ROWS_PER_CLASS = 10
"""Held-out rows, on average, that a covariance of posteriors needs."""


@dataclass(frozen=True, eq=False)
class HeldOutPosteriors:
    """What the posteriors of a model are like on rows it has not seen, under the class shares of these."""

    classes: NDArray[Any]
    weight: Array
    """Σ w of the rows of each class."""
    mean: Array
    """The mean posteriors of the rows of each class, one class in each row."""
    within: Array
    """The covariance of posteriors about the mean of their class."""

    @classmethod
    def of(cls, evidence: Array, codes: Codes, weight: Array) -> Self | None:
        """Sum up w·log p(x | C_k) of held-out rows; None if they are too few for their classes."""
        n_classes = evidence.shape[1]
        counts = np.bincount(codes, minlength=n_classes)
        if n_classes > MOST_CLASSES or weight.sum() < ROWS_PER_CLASS * n_classes or not counts.all():
            return None
        of_class: Array = np.bincount(codes, weight, n_classes).astype(np.float64)
        posteriors = softmax(np.log(of_class) + _some_evidence(evidence))
        sums = [np.bincount(codes, weight * one, n_classes) for one in posteriors.T]
        mean = np.stack(sums, axis=1) / of_class[:, np.newaxis]
        apart = np.sqrt(weight)[:, np.newaxis] * (posteriors - mean[codes])
        return cls(np.arange(n_classes), of_class, mean, apart.T @ apart / weight.sum())

    def labelled(self, labels: NDArray[Any]) -> Self:
        """The same with the labels of the classes, which were numbers."""
        return replace(self, classes=labels[self.classes])

    def describes(self, classes: NDArray[Any]) -> bool:
        """Whether these are the classes of a model."""
        return bool(self.classes.tolist() == classes.tolist())

    def gap(self, evidence: Array, before: Array, counted: float | None) -> float:
        """How far the mean posteriors of new rows are from πM, as χ².

        `evidence` is w·log p(x | C_k) of the new rows, up to a constant of the row; `counted` is the weight
        of the rows whose shares are π, None if π was given.
        """
        n_rows, held_out = len(evidence), float(self.weight.sum())
        posteriors = softmax(np.log(self.weight) + _some_evidence(evidence))
        expected = before @ self.mean
        apart = posteriors - expected
        shifted = self.mean - expected
        between = (before[:, np.newaxis] * shifted).T @ shifted
        # Under the old priors, held-out and new rows have the same covariance.
        both = (held_out * (between + self.within) + apart.T @ apart) / (held_out + n_rows)
        of_mean = n_rows * np.sum(np.square(before) / self.weight) * self.within
        of_shares = 0.0 if counted is None else n_rows / counted * between
        return _squared(apart.mean(axis=0), both + of_mean + of_shares, n_rows)

    def _to_fields(self) -> dict[str, Any]:
        """The posteriors as a file holds them."""
        moments = {"weight": self.weight, "mean": self.mean, "within": self.within}
        return {"classes": state_of_labels(self.classes), **moments}

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        """Read and check the fields of a file."""
        classes = labels_from_fields(fields.branch("classes"))
        n_classes = len(classes)
        weight = fields.array("weight", np.float64, (n_classes,))
        mean, within = (fields.array(name, np.float64, (n_classes, n_classes)) for name in ("mean", "within"))
        if not (weight > 0).all():
            raise fields.error("weight", "must be positive.")
        if (mean < 0).any() or not np.allclose(mean.sum(axis=1), 1.0):
            raise fields.error("mean", "must hold posteriors: non-negative numbers that sum to 1.")
        if not np.allclose(within, within.T) or (np.linalg.eigvalsh(within) < -NEGLIGIBLE).any():
            raise fields.error("within", "must be a covariance.")
        return cls(classes, weight, mean, within)


def gap_to_priors(posteriors: Array, before: Array, counted: float | None) -> float:
    """How far the mean posteriors of new rows are from π, as χ²; this takes the posteriors for right."""
    n_rows = len(posteriors)
    apart = posteriors - before
    covariance = apart.T @ apart / n_rows
    # Counted shares move the posteriors too: M is then T/π, up to 1πᵀ.
    of_shares = 0.0 if counted is None else n_rows / counted * (covariance / before) @ covariance
    return _squared(apart.mean(axis=0), covariance + of_shares, n_rows)


def _squared(gap: Array, covariance: Array, n_rows: int) -> float:
    """n·gapᵀ·V⁻¹·gap over the directions in which posteriors vary."""
    covariance = covariance + NEGLIGIBLE * np.eye(len(gap))
    return float(n_rows * gap @ linalg.solve(covariance, gap, assume_a="pos"))


def _some_evidence(evidence: Array) -> Array:
    """The same; a row for which every class is ruled out says nothing about the classes."""
    return np.where(np.isneginf(evidence).all(axis=1, keepdims=True), 0.0, evidence)
