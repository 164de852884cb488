"""Corrections of cells without each fold, and of all rows, under the ridge of least loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.arrays import Array
from suffice.estimators.evidence.best import Best
from suffice.estimators.evidence.inputs import JudgedRows
from suffice.links import softmax
from suffice.model.weighing.corrections import CorrectionDesign, CorrectionSearch
from suffice.model.weighing.piece_weights import JUDGED

RIDGES = (128.0, 32.0, 8.0, 2.0)
"""How much corrections of cells are held near 0; weaker ones are tried as long as they pay."""

Corrected = tuple[Array, Array]
"""Corrections of cells, and what they are made of, from where they can be searched for again."""
InFolds = Callable[[Callable[[range], list[Corrected]], range], list[Corrected]]
"""What is learnt without each of some folds."""


class CellCorrections:
    """Corrections beside scores, which are those of all rows, and offsets, which do not know a fold each."""

    def __init__(
        self,
        design: CorrectionDesign,
        folds: JudgedRows,
        scores: Array,
        offsets: Sequence[Array],
        in_folds: InFolds,
    ) -> None:
        self.design, self.folds, self.scores, self.offsets = design, folds, scores, offsets
        self._in_folds = in_folds
        self._search = CorrectionSearch(design, folds.rows, softmax(scores).T)
        self._before = [offset[test] for offset, test in zip(offsets, folds.judging, strict=True)]
        starts = [np.zeros((design.jumps.shape[1], folds.rows.n_classes)).ravel()]
        self._first = self._without(RIDGES[0], starts)

    @property
    def pay_in_first_fold(self) -> bool:
        """Whether the first fold has less loss with corrections."""
        if not len(self.folds.judging[0]):
            return True
        return self._loss(self._first) < self.folds.loss(self._before[:1])

    def chosen(self, n_choosing: int) -> tuple[Array, Callable[[], Array]]:
        """What the best corrections add to held-out rows, and those of all rows, if they are wanted.

        The first folds choose the ridge.
        """
        ((_, start),) = self._first
        found = [*self._first, *self._without(RIDGES[0], [start] * (n_choosing - 1), 1)]
        best = Best(RIDGES[0], found, self._loss(found))
        if best.loss < self.folds.loss(self._before[:n_choosing]):
            best = best.while_it_pays(RIDGES[1:], self._judged)
        ridge, found = best.setting, best.found
        start = found[0][1]
        found = [*found, *self._without(ridge, [start] * (self.folds.n_folds - n_choosing), n_choosing)]
        return self.folds.side_by_side(self._added(found)), lambda: self._of_all_rows(ridge, start)

    def _of_all_rows(self, ridge: float, start: Array) -> Array:
        return self._search.learn(self.scores, ridge, start=start)[0]

    def _judged(self, ridge: float, before: Sequence[Corrected]) -> tuple[list[Corrected], float]:
        found = self._without(ridge, [start for _, start in before])
        return found, self._loss(found)

    def _without(self, ridge: float, starts: Sequence[Array], first: int = 0) -> list[Corrected]:
        """Corrections without each of as many folds as there are starts, from the first on."""

        def learn(folds: range) -> list[Corrected]:
            weights = [self.folds.training[i] for i in folds]
            begun = [starts[i - first] for i in folds]
            return self._search.learn_each([self.offsets[i] for i in folds], ridge, weights, begun, JUDGED)

        return self._in_folds(learn, range(first, first + len(starts)))

    def _added(self, found: Sequence[Corrected]) -> list[Array]:
        """What corrections add to the rows of each of the first folds, without which they were learnt."""
        of_all = self.design.cells @ np.concatenate([table for table, _ in found], axis=1)
        of_folds = np.split(of_all, len(found), axis=1)
        return [added[test] for added, test in zip(of_folds, self.folds.judging, strict=False)]

    def _loss(self, found: Sequence[Corrected]) -> float:
        scores = [a + b for a, b in zip(self._before, self._added(found), strict=False)]
        return self.folds.loss(scores)
