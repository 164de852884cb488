"""Rows whose classes are known: the losses of their scores, and how these slope."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.arrays import Array, Codes
from suffice.links import log_softmax


@dataclass(frozen=True)
class KnownRows:
    """Rows whose classes are known, with weights, or with several of each row: (…, n)."""

    codes: Codes
    weight: Array
    n_classes: int

    def take(self, rows: Codes) -> KnownRows:
        """Some of the rows."""
        return KnownRows(self.codes[rows], self.weight[rows], self.n_classes)

    @cached_property
    def log_shares(self) -> Array:
        """The log of each class's share, with half a row more in each class."""
        weights = self.weight.reshape(-1, len(self.codes))
        counts = np.stack([np.bincount(self.codes, one, self.n_classes) for one in weights]) + 0.5
        shares = counts / counts.sum(axis=1, keepdims=True)
        return np.asarray(np.log(shares).reshape(*self.weight.shape[:-1], -1))

    def losses(self, scores: Array) -> Array:
        """−log posterior of the class of each row."""
        return np.asarray(-log_softmax(scores)[np.arange(len(self.codes)), self.codes])

    def mean_loss(self, scores: Array) -> float:
        """The mean of the same, by weight."""
        return float(np.average(self.losses(scores), weights=self.weight))

    def mean(self, numbers: Array) -> float:
        """The mean of a number of each row."""
        return float(np.average(numbers, weights=self.weight))

    def standard_error(self, numbers: Array) -> float:
        """The standard error of the same."""
        away = numbers - self.mean(numbers)
        return math.sqrt(self.mean(away * away) / float(self.weight.sum()))

    def residuals(self, log_posteriors: Array) -> Array:
        """Weight times posterior less 1 for the class of the row: the slope of the loss in each score."""
        residuals = np.exp(log_posteriors)
        residuals[np.arange(len(self.codes)), self.codes] -= 1.0
        residuals *= self.weight[:, np.newaxis]
        return residuals

    def loss_and_posteriors(self, scores: Array) -> tuple[Array, Array]:
        """The loss of all rows, and their posteriors (…, k, n), from scores (…, k, n)."""
        scores = scores - scores.max(axis=-2, keepdims=True)
        own = scores.reshape(*scores.shape[:-2], -1).take(self._places, axis=-1)
        posteriors = np.exp(scores, out=scores)
        total = posteriors.sum(axis=-2)
        loss = np.vecdot(self.weight, np.log(total) - own)
        posteriors /= total[..., np.newaxis, :]
        return loss, posteriors

    def residuals_of(self, posteriors: Array) -> Array:
        """Weight times posterior less 1 for the class of the row, (…, k, n): the slope of the loss."""
        residuals = posteriors - self._is_own
        residuals *= self.weight[..., np.newaxis, :]
        return residuals

    @cached_property
    def _places(self) -> Codes:
        """Where the classes of rows are among scores (k, n), one after the other."""
        n_rows = len(self.codes)
        return np.asarray(n_rows * self.codes + np.arange(n_rows))

    @cached_property
    def _is_own(self) -> Array:
        """1 for the class of a row, 0 for the others, (k, n)."""
        return np.asarray(np.arange(self.n_classes)[:, np.newaxis] == self.codes, dtype=np.float64)
