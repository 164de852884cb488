"""How well a family tells the classes apart on rows that it has not seen, column by column."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors import KINDS, Totals
from suffice.families import Family
from suffice.links import log_sum
from suffice.model.dealt import dealt_folds
from suffice.tables.columns import LevelCells, array_column

FOLDS = 5
_Batches = Callable[[Codes], Any]


class Losses(NamedTuple):
    """What a family says of cells held out, (rows, columns)."""

    classes: Array
    """−log p(class | cell)."""
    cells: Array
    """−log p(cell | class)."""


class ColumnLosses:
    """Rows in folds, each scored by the sums of the others."""

    def __init__(self, classes: Codes, n_classes: int, weights: Array | None) -> None:
        self.classes = classes
        self.n_classes = n_classes
        self.weights = weights
        self._folds = dealt_folds(classes, FOLDS)
        self._log_priors = [self._log_prior(training) for training, _ in self._folds]

    def of(self, family: Family, numbers: Array) -> Losses:
        """The losses of each cell by itself; infinite in columns that the family cannot hold."""
        try:
            return self._of_all(family, numbers)
        except ValueError:
            losses = Losses(*np.full((2, *numbers.shape), np.inf))
            for j in range(numbers.shape[1]):
                with suppress(ValueError):
                    losses.classes[:, [j]], losses.cells[:, [j]] = self._of_all(family, numbers[:, [j]])
            return losses

    def by_priors(self) -> Array:
        """−log of the share of a row's class among the rows of the other folds."""
        result = np.empty(len(self.classes))
        for (_, held_out), log_prior in zip(self._folds, self._log_priors, strict=True):
            result[held_out] = -log_prior[self.classes[held_out]]
        return result

    def mean(self, losses: Array) -> Array:
        """The mean over rows, by weight."""
        if self.weights is None:
            return np.asarray(losses.mean(axis=0))
        return np.asarray(np.average(losses, axis=0, weights=self.weights), dtype=np.float64)

    def error(self, losses: Array) -> Array:
        """The standard error of the mean over rows."""
        away = np.square(losses - self.mean(losses))
        size = float(len(losses) if self.weights is None else self.weights.sum())
        return np.asarray(np.sqrt(self.mean(away) / size))

    def _log_prior(self, rows: Codes) -> Array:
        counts = np.bincount(self.classes[rows], self._weights(rows), self.n_classes)
        # A class without rows still has a chance.
        return np.asarray(np.log((counts + 1.0 / self.n_classes) / (counts.sum() + 1.0)))

    def _weights(self, rows: Codes) -> Array | None:
        return None if self.weights is None else self.weights[rows]

    def _of_all(self, family: Family, numbers: Array) -> Losses:
        losses = Losses(*np.empty((2, *numbers.shape)))
        kind, labels, n_classes = KINDS[family.factor], ["column"] * numbers.shape[1], self.n_classes
        summed, scored = _batches(kind.totals, numbers)
        for (training, held_out), log_prior in zip(self._folds, self._log_priors, strict=True):
            block, classes = summed(training), self.classes[training]
            totals = kind.totals.empty(family, numbers.shape[1]).take_classes(np.full(n_classes, -1))
            totals.prepare(block, labels, classes, self._weights(training), n_classes)(totals)
            solved = kind.solve(totals, labels, np.arange(n_classes))
            block = scored(held_out)
            scores = solved.contributions(block, labels, base=True)
            own_class = self.classes[held_out]
            own = np.take_along_axis(scores, own_class[:, np.newaxis, np.newaxis], axis=2)[:, :, 0]
            total = log_sum((scores + log_prior).reshape(-1, n_classes)).reshape(own.shape)
            losses.classes[held_out] = total - own - log_prior[own_class, np.newaxis]
            if kind.totals.reads == "levels":
                # A level never seen is rarer than one in so many rows.
                own = np.where(solved.observed(block, labels)[1], -np.log(len(training)), own)
            losses.cells[held_out] = -own
        return losses


def _batches(totals: type[Totals], numbers: Array) -> tuple[_Batches, _Batches]:
    """Batches of some rows, to sum and to score, as the sums of a family read columns."""
    if totals.reads == "numbers":
        return totals.batches(numbers), lambda rows: numbers[rows]
    cells = LevelCells(None, [array_column(column, "column").levels for column in numbers.T])
    encoded = cells.encoded()
    return encoded, encoded
