"""The evidence of pieces that weights are learnt from, and judged by.

Weights are judged on a fold that they were not learnt from. But the densities behind the evidence of all
other rows know that fold: each row is scored by all folds but its own. Weights could tell from them what the
labels of the fold are, and noise would seem to pay. So weights that a fold judges are learnt from evidence
that knows neither the fold of a row nor the fold that judges. Of many rows, one fold more or less does not
matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.arrays import Array, Codes
from suffice.model.weighing.known_rows import KnownRows
from suffice.model.weighing.piece_weights import PieceWeights


@dataclass(frozen=True, eq=False)
class Inputs:
    """The evidence of rows, in which products are fast."""

    rows: Array
    """(classes, rows, pieces), each row by all folds but its own."""
    without: Array | None
    """(folds, classes, rows, pieces), the same by all folds but its own and one more; None of many rows."""

    def pieces(self, some: Codes | slice) -> Inputs:
        """The evidence of some pieces."""
        without = None if self.without is None else np.ascontiguousarray(self.without[..., some])
        return Inputs(np.ascontiguousarray(self.rows[..., some]), without)

    def total(self, weights: Array) -> Inputs:
        """The sum of all pieces, weighed, as one piece."""
        without = None if self.without is None else (self.without @ weights)[..., np.newaxis]
        return Inputs((self.rows @ weights)[..., np.newaxis], without)

    def replaced(self, places: Codes, others: Inputs) -> Inputs:
        """The same with other pieces in some places."""
        rows, without = self.rows.copy(), None
        rows[..., places] = others.rows
        if self.without is not None and others.without is not None:
            without = self.without.copy()
            without[..., places] = others.without
        return Inputs(rows, without)

    def scores(self, weights: Sequence[PieceWeights]) -> list[Array]:
        """The scores of all rows by the weights that each fold judges."""
        without = [self.rows] * len(weights) if self.without is None else self.without
        return [one.scores(rows) for one, rows in zip(weights, without, strict=True)]


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """Rows whose evidence is held out, in folds that judge weights learnt from other rows."""

    rows: KnownRows
    judging: list[Codes]
    """The rows of each fold."""
    training: list[Array]
    """The weights of the rows that the weights are learnt from, 0 of all others."""
    unseen: Array
    """The weight of other rows of each class, which could not be held out."""

    @property
    def n_folds(self) -> int:
        """The number of folds."""
        return len(self.judging)

    def n_that_hold(self, rows: float) -> int:
        """How many folds, from the first on, hold so many rows; all if these are fewer."""
        held = np.cumsum([self.rows.weight[test].sum() for test in self.judging])
        return min(int(np.searchsorted(held, rows)) + 1, self.n_folds)

    def side_by_side(self, of_folds: Sequence[Array]) -> Array:
        """The numbers of all rows for each class, from those of the first folds; 0 of all others."""
        found = np.zeros((len(self.rows.codes), self.rows.n_classes))
        for test, numbers in zip(self.judging, of_folds, strict=False):
            found[test] = numbers
        return found

    def loss(self, scores: Sequence[Array]) -> float:
        """The mean loss of the rows of the first folds by their scores."""
        some = np.sort(np.concatenate(self.judging[: len(scores)]))
        return self.rows.take(some).mean_loss(self.side_by_side(scores)[some])
