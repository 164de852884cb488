"""The evidence of a sample of rows, by the sums of all rows but those that it is held out from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.held_out import CodedRows, Folds, FoldSums, evidence, evidence_of_pairs
from suffice.estimators.evidence.inputs import Inputs
from suffice.estimators.evidence.learning import MANY_ROWS, SIDE_BY_SIDE
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.sample import Sample
from suffice.estimators.evidence.sums import Parts, PieceSums
from suffice.factors.scores import zeros_by_class
from suffice.kernels import threads
from suffice.model.statistics import Accumulator

FEW_ROWS, ROWS_PER_PIECE = 1_000, 32
"""Rows, and rows for each piece, below which evidence must not know the fold that judges."""
MOST_TWICE = 1 << 22
"""Numbers of evidence that are held out from two folds at a time, for each fold."""


class SampleEvidence:
    """The sums of all rows, or of all but the sample, and the evidence of each fold by the rest.

    With `whole`, these sums score the sample, each fold subtracted if they hold it.
    """

    def __init__(
        self, sample: Sample, pieces: Pieces, whole: Parts | None = None, *, subtracted: bool = True
    ) -> None:
        self.sample, self.pieces, self.subtracted = sample, pieces, subtracted
        self._rest = PieceSums.empty(pieces)
        """Of all rows but the sample, unless the sums of all are known."""
        self._all_rows = self._whole = whole
        if whole is None:
            sample.all.add_to(self._rest, sample.places)
            if any(factor.reads == "documents" for factor in pieces.schema.factors):
                # To count words again and again would take longer than to subtract those of a fold.
                self._all_rows = self._whole = self.total().statistics()
        if self._whole is not None and subtracted and sample.has_parts:
            self._whole = self._in_parts(self._whole)

    def _in_parts(self, whole: Parts) -> Parts:
        """Sums in which the rows of the sample count as often as they have parts, which folds subtract."""
        sums = PieceSums.of(self.pieces, whole)
        for accumulator, cells in zip(sums.accumulators, self.sample.cells.of_schemas, strict=True):
            gone = Accumulator.empty(accumulator.schema)
            self.sample.add_once(gone, cells)
            accumulator.add(gone.statistics(), -1)
            self.sample.add(accumulator, cells)
        return sums.statistics()

    def total(self) -> PieceSums:
        """The sums of all rows."""
        if self._all_rows is not None:
            return PieceSums.of(self.pieces, self._all_rows)
        sums = PieceSums.of(self.pieces, self._rest.statistics())
        for accumulator, cells in zip(sums.accumulators, self.sample.cells.of_schemas, strict=True):
            self.sample.add_once(accumulator, cells)
        return sums

    def sum_pairs(self, pieces: Pieces) -> None:
        """Sum pairs of columns beside all else: those of pieces that are the same otherwise."""
        sample, rows = self.sample, self.sample.all
        self.pieces = pieces
        sample.cells.read_pairs(self.pieces)
        accumulator = Accumulator.empty(self.pieces.pairs_schema)
        for some, table in rows.others(sample.places) if pieces.pairs else ():
            blocks = accumulator.schema.blocks(self.pieces.table_of_pairs(table))
            accumulator.update(blocks, *rows.labels_of(some))
        self._rest.pieces, self._rest.accumulators[2] = self.pieces, accumulator
        if self._whole is not None and self._all_rows is not None:
            in_parts, once = (Accumulator.of(accumulator.statistics()) for _ in range(2))
            sample.add(in_parts, sample.cells.pairs)
            sample.add_once(once, sample.cells.pairs)
            self._whole = (*self._whole[:2], in_parts.statistics())
            self._all_rows = (*self._all_rows[:2], once.statistics())

    def pairs_of_folds(self) -> list[tuple[int, int]]:
        """All pairs of folds, if a fold tells so much that the evidence behind weights must not know it."""
        sample, n_pieces = self.sample, len(self.pieces.listed)
        few = min(max(FEW_ROWS, ROWS_PER_PIECE * n_pieces), MANY_ROWS)
        is_small = len(sample) * n_pieces * len(sample.all.labels) <= MOST_TWICE
        are_known = self._whole is None or self.subtracted
        if sample.independent.sum() >= few or not is_small or not are_known or len(sample.folds) < 3:
            return []
        return sample.pairs_of_folds

    def inputs(self, pairs_of_folds: Sequence[tuple[int, int]]) -> Inputs:
        """The evidence of known rows but that of pairs of columns, held out from their own folds.

        For each of some pairs of folds, it is held out from both as well: one judges the rows of the other.
        """
        base, beside = self._fold_sums(0), self._fold_sums(1)
        return self._inputs(base, lambda folds: evidence(self.pieces, base, beside, folds), pairs_of_folds)

    def inputs_of_pairs(self, pairs_of_folds: Sequence[tuple[int, int]]) -> Inputs:
        """The same of pairs of columns."""
        sums, cells = self._fold_sums(2), self.sample.cells.places_in_pairs
        return self._inputs(
            sums, lambda folds: evidence_of_pairs(self.pieces, sums, folds, cells), pairs_of_folds
        )

    def _fold_sums(self, part: int) -> FoldSums:
        """The sums that folds are scored by: of the table, of derived columns, or of pairs."""
        rest, held = self._rest.accumulators[part], self.sample.rows
        if self._whole is not None:
            before, sign = Accumulator.of(self._whole[part]), -1 if self.subtracted else 0
        else:
            before, sign = Accumulator.empty(rest.schema), 1
            if len(rest.classes):
                before = Accumulator.of(rest.statistics())
        rows = CodedRows(held.labels, held.codes, held.weights)
        return FoldSums(self.sample.cells.of_schemas[part], rows, before, sign)

    def _inputs(
        self,
        sums: FoldSums,
        score: Callable[[Folds], list[Array]],
        pairs: Sequence[tuple[int, int]],
    ) -> Inputs:
        folds, known = self.sample.folds, self.sample.known
        sets = [*folds, *(np.append(folds[i], folds[j]) for i, j in pairs)]
        each = [said.transpose(2, 0, 1) for said in self._scored(sums, score, sets)]
        k, _, n_pieces = each[0].shape
        found = np.empty((1 + len(folds) * bool(pairs), k, len(self.sample), n_pieces))
        for rows, said in zip(folds, each, strict=False):
            found[:, :, rows] = said
        for (i, j), said in zip(pairs, each[len(folds) :], strict=True):
            found[1 + j][:, folds[i]], found[1 + i][:, folds[j]] = np.split(said, [len(folds[i])], axis=1)
        if len(known) < len(self.sample):
            found = found[:, :, known]
        return Inputs(found[0], found[1:] if pairs else None)

    def _scored(
        self, sums: FoldSums, score: Callable[[Folds], list[Array]], held: Sequence[Codes]
    ) -> list[Array]:
        """Evidence of each of some sets of rows; small ones are scored at once, large ones side by side."""
        labels = self.sample.all.labels
        is_large = len(self.sample) * len(self.pieces.listed) * len(labels) >= SIDE_BY_SIDE
        several = sums.alike(held, at_once=self._whole is None and not is_large)
        scored = threads.run(score, several) if is_large else [*map(score, several)]
        found: list[Array] = [np.zeros(0)] * len(held)
        for folds, each in zip(several, scored, strict=True):
            for place, said in zip(folds.places, each, strict=True):
                found[place] = _of_all_classes(said, sums.classes(folds), labels)
        return found


def _of_all_classes(said: Array, classes: NDArray[Any], labels: NDArray[Any]) -> Array:
    """Evidence for all labels, from that for the classes behind it."""
    if np.array_equal(classes, labels):
        return said
    known = np.flatnonzero(np.isin(classes, labels))  # the sums may hold more classes than the rows
    found = zeros_by_class(*said.shape[:2], len(labels))
    found[:] = said.min(axis=2, keepdims=True, initial=0.0)  # of classes in no other fold
    found[:, :, np.searchsorted(labels, classes[known])] = said[:, :, known]
    return found
