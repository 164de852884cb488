"""How well a family tells the classes apart on rows that it has not seen, column by column."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors import KINDS, Totals
from suffice.families import Family
from suffice.kernels import threads
from suffice.kernels.choose import one_choice, whole_work
from suffice.links import log_sum
from suffice.model.dealt import dealt_folds
from suffice.tables.columns import LevelCells, array_column
from suffice.tables.row_keys import Keys

FOLDS = 5
CELLS_AT_ONCE = 1 << 18
"""Cells of the folds that are looked at at once."""
MISSING = -1
"""The place of a row without cells, after all others."""


class Losses(NamedTuple):
    """What a family says of cells held out, (rows, columns)."""

    classes: Array
    """−log p(class | cell)."""
    cells: Array
    """−log p(cell | class)."""


class ColumnLosses:
    """Rows in folds, each scored by the sums of the others."""

    def __init__(self, classes: Codes, keys: Keys, n_classes: int, weights: Array | None) -> None:
        self.classes = classes
        self.n_classes = n_classes
        self.weights = weights
        self._folds = dealt_folds(classes, keys, FOLDS)
        self._fold = np.empty(len(classes), dtype=np.intp)
        for fold, (_, held_out) in enumerate(self._folds):
            self._fold[held_out] = fold
        self._log_priors = np.stack([self._log_prior(training) for training, _ in self._folds])

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
        cells = _Cells(KINDS[family.factor].totals, numbers)
        together, n_cells = max(1, CELLS_AT_ONCE // max(numbers.size, 1)), whole_work(numbers.size)

        def score(first: int) -> None:
            with one_choice(n_cells):
                self._score(family, cells, range(first, min(first + together, FOLDS)), losses)

        threads.run(score, range(0, FOLDS, together))
        return losses

    def _score(self, family: Family, cells: _Cells, folds: range, losses: Losses) -> None:
        """The losses of the rows of some folds, each of which has the columns to itself, side by side.

        What a fold does not learn from is missing in its columns.
        """
        kind, k, n_folds = KINDS[family.factor], self.n_classes, len(folds)
        hidden = np.stack([self._fold == fold for fold in folds], axis=1)
        learnt = np.flatnonzero(~hidden.all(axis=1))
        rows = np.where(hidden[learnt], MISSING, learnt[:, np.newaxis])
        labels = ["column"] * (n_folds * losses.cells.shape[1])
        totals = kind.totals.empty(family, len(labels)).take_classes(np.full(k, -1))
        weights = None if self.weights is None else self.weights[learnt]
        totals.prepare(cells.to_sum(rows), labels, self.classes[learnt], weights, k)(totals)
        solved = kind.solve(totals, labels, np.arange(k))

        rows = np.full((max(len(self._folds[fold][1]) for fold in folds), n_folds), MISSING)
        for place, fold in enumerate(folds):
            rows[: len(self._folds[fold][1]), place] = self._folds[fold][1]
        block, held = cells.to_score(rows), rows != MISSING
        scores = solved.contributions(block, labels, base=True).reshape(*rows.shape, -1, k)
        log_prior, own_class = self._log_priors[folds.start : folds.stop], self.classes[rows]
        own = np.take_along_axis(scores, own_class[:, :, np.newaxis, np.newaxis], axis=3)[..., 0]
        total = log_sum((scores + log_prior[:, np.newaxis]).reshape(-1, k)).reshape(own.shape)
        of_classes = total - own - log_prior[np.arange(n_folds), own_class][..., np.newaxis]
        if kind.totals.reads == "levels":
            # A level never seen is rarer than one in so many rows.
            unseen = solved.observed(block, labels)[1].reshape(own.shape)
            n_learnt = np.array([[len(self._folds[fold][0])] for fold in folds])
            own = np.where(unseen, -np.log(n_learnt), own)
        losses.classes[rows[held]], losses.cells[rows[held]] = of_classes[held], -own[held]


class _Cells:
    """Cells of rows (rows, folds), as the sums of a family read them: the columns of each fold in turn."""

    def __init__(self, totals: type[Totals], numbers: Array) -> None:
        numbers = np.vstack([numbers, np.full(numbers.shape[1], np.nan)])  # the last row is missing
        self.to_sum = self.to_score = Totals.batches(numbers)
        if totals.reads == "numbers":
            self.to_sum = totals.batches(numbers)
        else:
            cells = LevelCells(None, [array_column(column, "column").levels for column in numbers.T])
            self.to_sum = self.to_score = cells.encoded()
