"""How well a family tells the classes apart on rows that it has not seen, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, read_only
from suffice.factors import KINDS, Totals
from suffice.factors.blocks import MISSING
from suffice.families import Family
from suffice.kernels import threads
from suffice.kernels.choose import one_choice, whole_work
from suffice.links import log_sum
from suffice.model.dealt import deal_by_content, splits_of
from suffice.tables.columns import LevelCells, array_column
from suffice.tables.row_keys import RowKeys

Item = TypeVar("Item", bound=np.generic)

FOLDS = 5
CELLS_AT_ONCE = 1 << 20
"""Cells of the folds that are looked at at once."""
SCORES_AT_ONCE = 1 << 15
"""Scores, cells times classes, that losses are computed from at once, so that they stay in the cache."""


class Losses(NamedTuple):
    """What a family says of cells held out, (rows, columns)."""

    classes: Array
    """−log p(class | cell)."""
    cells: Array
    """−log p(cell | class)."""


class _RowsOfFolds(NamedTuple):
    """The rows of some folds, side by side."""

    learnt: Codes
    """(rows, folds), those that each learns from."""
    any_learnt: Codes
    """The row that some fold learns from."""
    held: Codes
    """(rows, folds), those that each holds out."""


class ColumnLosses:
    """Rows in folds, each scored by the sums of the others; with weights, a row may lie in several folds."""

    def __init__(self, classes: Codes, keys: RowKeys, n_classes: int, weights: Array | None) -> None:
        dealt = deal_by_content(classes, weights, keys, FOLDS)
        self._row = None if dealt.weights is None else dealt.rows
        self.classes = self.in_parts(classes)
        self.n_classes = n_classes
        self.weights = dealt.weights
        self.size = float(len(classes) if weights is None else weights.sum())
        """The number of rows, where one of weight k counts as k."""
        self._fold = dealt.fold
        self._folds = splits_of(dealt.fold, FOLDS)
        self._log_priors = np.stack([self._log_prior(training) for training, _ in self._folds])
        hidden = dealt.fold[:, np.newaxis] == np.arange(FOLDS)
        self._learnt = np.where(hidden, MISSING, np.arange(len(hidden))[:, np.newaxis])
        """The rows that each fold learns from, (rows, folds)."""
        self._held = np.full((int(hidden.sum(axis=0).max(initial=0)), FOLDS), MISSING)
        """Those that it holds out, in the same way."""
        for fold, (_, held_out) in enumerate(self._folds):
            self._held[: len(held_out), fold] = held_out
        self._rows_of = {range(FOLDS): self._rows_of_folds(range(FOLDS))}

    def in_parts(self, rows: NDArray[Item]) -> NDArray[Item]:
        """What belongs to rows, once for each part of a row, as all losses are."""
        return rows if self._row is None else rows[self._row]

    def of(self, families: Sequence[Family], numbers: Array) -> list[Losses]:
        """The losses of each cell by itself, by families of the same sums; infinite where one cannot be."""
        numbers = self.in_parts(numbers)
        try:
            return self._of_all(families, numbers)
        except ValueError:
            return [self._of_each(family, numbers) for family in families]

    def _of_each(self, family: Family, numbers: Array) -> Losses:
        """The losses by a family that cannot hold some of the columns, one after the other."""
        losses = Losses(*np.full((2, *numbers.shape), np.inf))
        for j in range(numbers.shape[1]):
            with suppress(ValueError):
                ((losses.classes[:, [j]], losses.cells[:, [j]]),) = self._of_all([family], numbers[:, [j]])
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

    def error(self, losses: Array, mean: Array) -> Array:
        """The standard error of the mean over rows."""
        away = np.square(losses - mean)
        return np.asarray(np.sqrt(self.mean(away) / self.size))

    def _rows_of_folds(self, folds: range) -> _RowsOfFolds:
        """The rows of some folds."""
        learnt, held = (rows[:, folds.start : folds.stop] for rows in (self._learnt, self._held))
        learnt = learnt[(learnt != MISSING).any(axis=1)]
        return _RowsOfFolds(read_only(learnt), learnt.max(axis=1), held)

    def _log_prior(self, rows: Codes) -> Array:
        counts = np.bincount(self.classes[rows], self._weights(rows), self.n_classes)
        # A class without rows still has a chance.
        return np.asarray(np.log((counts + 1.0 / self.n_classes) / (counts.sum() + 1.0)))

    def _weights(self, rows: Codes) -> Array | None:
        return None if self.weights is None else self.weights[rows]

    def _of_all(self, families: Sequence[Family], numbers: Array) -> list[Losses]:
        losses = [Losses(*np.empty((2, *numbers.shape))) for _ in families]
        cells = _Cells(KINDS[families[0].factor].totals, numbers)
        together, n_cells = max(1, CELLS_AT_ONCE // max(numbers.size, 1)), whole_work(numbers.size)

        def score(first: int) -> None:
            with one_choice(n_cells):
                self._score(families, cells, range(first, min(first + together, FOLDS)), losses)

        threads.run(score, range(0, FOLDS, together))
        return losses

    def _score(self, families: Sequence[Family], cells: _Cells, folds: range, losses: list[Losses]) -> None:
        """The losses of the rows of some folds, each of which has the columns to itself, side by side.

        What a fold does not learn from is missing in its columns.
        """
        kind, k = KINDS[families[0].factor], self.n_classes
        learnt, some, held = self._rows_of.get(folds) or self._rows_of_folds(folds)
        labels = ["column"] * (len(folds) * losses[0].cells.shape[1])
        totals = kind.totals.empty(families[0], len(labels)).take_classes(np.full(k, -1))
        weights = None if self.weights is None else self.weights[some]
        totals.prepare(cells.to_sum(learnt), labels, self.classes[some], weights, k)(totals)
        block = cells.to_score(held)
        for family, found in zip(families, losses, strict=True):
            solved = kind.solve(totals.with_family(family), labels, np.arange(k))
            scores = solved.contributions(block, labels, base=True).reshape(*held.shape, -1, k)
            unseen = solved.observed(block, labels)[1] if kind.totals.reads == "levels" else None
            self._write(scores, unseen, held, folds, found)

    def _write(
        self, scores: Array, unseen: NDArray[np.bool_] | None, rows: Codes, folds: range, losses: Losses
    ) -> None:
        """Write the losses of rows (rows, folds) from scores (rows, folds, columns, classes)."""
        step = max(1, SCORES_AT_ONCE * len(rows) // max(scores.size, 1))
        for first in range(0, len(rows), step):
            some = slice(first, first + step)
            self._write_some(
                scores[some], None if unseen is None else unseen[some], rows[some], folds, losses
            )

    def _write_some(
        self, scores: Array, unseen: NDArray[np.bool_] | None, rows: Codes, folds: range, losses: Losses
    ) -> None:
        """The same for rows whose scores stay in the cache."""
        k, held = self.n_classes, rows != MISSING
        log_prior, own_class = self._log_priors[folds.start : folds.stop], self.classes[rows]
        own = scores[np.arange(len(rows))[:, np.newaxis], np.arange(len(folds)), :, own_class]
        total = log_sum((scores + log_prior[:, np.newaxis]).reshape(-1, k)).reshape(own.shape)
        of_classes = total - own - log_prior[np.arange(len(folds)), own_class][..., np.newaxis]
        if unseen is not None:
            # A level never seen is rarer than one in so many rows.
            learnt = (self._folds[fold][0] for fold in folds)
            n_learnt = np.array(
                [[len(one) if self.weights is None else self.weights[one].sum()] for one in learnt]
            )
            own = np.where(unseen.reshape(own.shape), -np.log(n_learnt), own)
        some = rows[held]
        losses.classes[some], losses.cells[some] = of_classes[held], -own[held]


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
