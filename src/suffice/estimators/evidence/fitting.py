"""From rows to sums and weights: rows are summed in folds, each of which the sums of the others score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.held_out import CodedRows, Folds, FoldSums, evidence, evidence_of_pairs
from suffice.estimators.evidence.inputs import Inputs, JudgingFolds
from suffice.estimators.evidence.learning import MANY_ROWS, SIDE_BY_SIDE, Learning, Learnt
from suffice.estimators.evidence.pairs import choose_pairs
from suffice.estimators.evidence.pieces import Group, Pieces
from suffice.estimators.evidence.read_cells import ReadCells, SchemaCells
from suffice.estimators.evidence.rows import MOST_ROWS, Rows
from suffice.estimators.evidence.sums import Parts, PieceSums
from suffice.estimators.evidence.weighed import Weights
from suffice.estimators.evidence.word_corrections import WordDesign
from suffice.factors.scores import zeros_by_class
from suffice.kernels import threads
from suffice.links import softmax
from suffice.model.dealt import deal_by_content, splits_of, spread_rows
from suffice.model.known_rows import KnownRows
from suffice.model.schema import Schema
from suffice.model.statistics import Accumulator
from suffice.model.summarize import LabelledRows
from suffice.progress import Progress

FEW_ROWS, ROWS_PER_PIECE = 1_000, 32
"""Rows, and rows for each piece, below which evidence must not know the fold that judges."""
MOST_TWICE = 1 << 22
"""Numbers of evidence that are held out from two folds at a time, for each fold."""
FEWEST_ROWS = 25
"""Rows from which weights are learnt: five in each fold."""
FEWEST_TAKEN = 5_000
MOST_WORK = 2.5e8
"""Operations of one Hessian, rows × classes × pieces², which bound these rows further."""
FIRST_ROWS = 2_000
"""Rows of larger tables from which the kinds of evidence are chosen, before all rows are summed."""
FIRST_FOLDS = 3
"""Folds of these rows."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Options:
    """What is weighed and how: the settings of the estimator, checked."""

    groups: tuple[Group, ...]
    penalties: tuple[float, ...]
    most_pairs: int
    folds: int
    """Whose evidence comes from the sums of the others, and in which weights are judged."""
    nonnegative: bool = False


@dataclass(frozen=True, eq=False)
class Fitted:
    """Sums of all rows, and the weights of what they say."""

    sums: PieceSums
    learnt: Learnt


class Fitting:
    """The sums of some rows in folds and of all others, and the evidence of each fold by the rest."""

    def __init__(
        self,
        rows: Rows,
        pieces: Pieces,
        options: Options,
        whole: Parts | None = None,
        *,
        subtracted: bool = True,
    ) -> None:
        """Sum the rows. With `whole`, these sums score the rows, each fold subtracted if they hold it."""
        self.rows, self.pieces, self.options = rows, pieces, options
        self.subtracted = subtracted
        k = len(rows.labels)
        f = len(pieces.listed)
        # Corrections of words are many, and need more rows than weights: the biases take little work.
        work = k * f**2 + k**2 if pieces.words else k * (f + k) ** 2
        most = int(np.clip(MOST_WORK // work, FEWEST_TAKEN, MOST_ROWS))
        sample = spread_rows(len(rows.codes), most)
        table = rows.table.take(sample) if len(sample) < len(rows.codes) else rows.table
        read = pieces.schema.read(table)
        keys = pieces.schema.keys(read) if rows.keys is None else rows.keys.take(sample)
        weights = None if rows.weights is None else rows.weights[sample]
        dealt = deal_by_content(rows.codes[sample], weights, keys, options.folds)
        self.sample = sample[dealt.rows]
        """The position of each row whose weights are learnt from; of rows in several folds, of each part."""
        self.held = rows.labelled(self.sample, dealt.weights)
        self.independent = dealt.independent * self.held.weight
        """The weight of each row where weights are learnt: copies of a row show no more than one."""
        in_parts = len(self.sample) > len(sample)
        self.once = np.unique(dealt.rows, return_index=True)[1] if in_parts else None
        self.cells = ReadCells(pieces, table.take(dealt.rows) if in_parts else read)
        self.fold = np.unique(dealt.fold, return_inverse=True)[1]
        self.folds = [held for _, held in splits_of(self.fold, int(self.fold.max(initial=-1)) + 1)]
        self.choose_pairs = whole is None and not pieces.pairs
        self.all_rows = self.whole = whole
        self.rest = PieceSums.empty(pieces)
        if whole is None:
            rows.add_to(self.rest, self.sample)
            if any(factor.reads == "documents" for factor in pieces.schema.factors):
                # To count words again and again would take longer than to subtract those of a fold.
                self.all_rows = self.whole = self.total().statistics()
        if self.whole is not None and subtracted and in_parts:
            self.whole = self._in_parts(self.whole)

    def _in_parts(self, whole: Parts) -> Parts:
        """Sums in which the rows of the sample count as often as they have parts, which folds subtract."""
        sums = PieceSums.of(self.pieces, whole)
        for accumulator, cells in zip(sums.accumulators, self.cells.of_schemas, strict=True):
            gone = Accumulator.empty(accumulator.schema)
            self._add_once(gone, cells)
            accumulator.add(gone.statistics(), -1)
            self._add(accumulator, cells, np.arange(len(self.sample)))
        return sums.statistics()

    def _add(self, accumulator: Accumulator, cells: SchemaCells, some: Codes) -> None:
        """Add some rows of the sample, or parts of rows, to sums."""
        if len(some):
            accumulator.update(cells.to_sum(some), *self.held.labels_of(some))

    def _add_once(self, accumulator: Accumulator, cells: SchemaCells) -> None:
        """Add all rows of the sample to sums."""
        some = np.arange(len(self.sample)) if self.once is None else self.once
        if len(some):
            accumulator.update(cells.to_sum(some), *self.rows.labels_of(self.sample[some]))

    def fitted(self) -> Fitted:
        """Learn the weights, and add up the sums."""
        known = self._known()
        learnt = unweighed(self.pieces, self.rows)
        if self._are_enough(known):
            # Most products are small, and threads would wait for each other.
            with Progress("weighing the evidence") as progress, threads.one_thread_per_product():
                learnt = self._learn(known, progress.say)
        return Fitted(self.total(), learnt)

    def total(self) -> PieceSums:
        """The sums of all rows."""
        if self.all_rows is not None:
            return PieceSums.of(self.pieces, self.all_rows)
        sums = PieceSums.of(self.pieces, self.rest.statistics())
        for accumulator, cells in zip(sums.accumulators, self.cells.of_schemas, strict=True):
            self._add_once(accumulator, cells)
        return sums

    def _are_enough(self, known: Codes) -> bool:
        """Whether weights can be learnt from some rows."""
        return bool(self.independent[known].sum() >= FEWEST_ROWS and len(self.rows.labels) > 1)

    def _known(self) -> Codes:
        """The rows of the sample whose class has rows in other folds."""
        left, of_folds = self._weight_of_classes()
        own = of_folds[self.held.codes, self.fold]
        return np.flatnonzero(left[self.held.codes] > own * (1.0 + ROUNDING))

    def _weight_of_classes(self) -> tuple[Array, Array]:
        """The weight of the rows of each class, and of those in each fold, (classes, folds)."""
        k, m = len(self.rows.labels), len(self.folds)
        of_class = np.asarray(np.bincount(self.rows.codes, self.rows.weight, k), dtype=np.float64)
        of_folds = np.bincount(m * self.held.codes + self.fold, self.held.weight, k * m)
        return of_class, np.asarray(of_folds.reshape(k, m), dtype=np.float64)

    def _known_rows(self, known: Codes) -> KnownRows:
        return KnownRows(self.held.codes, self.independent, len(self.rows.labels)).take(known)

    def _learn(self, known: Codes, say: Callable[[str], None]) -> Learnt:
        rows = self._known_rows(known)
        say("evidence held out")
        pairs_of_folds = self._pairs_of_folds()
        evidence = self._inputs(self._evidence, known, pairs_of_folds)
        cells = self.cells.derived(self.pieces.cells)[known] if self.pieces.cells else None
        say("weights")
        learning = self._learning(evidence, cells, rows, known)
        learnt = learning.learn()
        if self.pieces.words:
            say("words")
            learnt = learning.with_words(learnt, self._word_design(rows, known))
        if self.choose_pairs and self.options.most_pairs and self.pieces.coarse:
            say("pairs of columns")
            self._choose_pairs(learnt, rows, known)
        of_pairs = None
        if self.pieces.pairs:
            of_pairs = self._inputs(self._evidence_of_pairs, known, pairs_of_folds)
            learnt = learning.with_pairs(learnt, of_pairs)
        return learning.with_nats(learning.judged(learnt), of_pairs)

    def _word_design(self, rows: KnownRows, known: Codes) -> WordDesign:
        columns, schema = self.pieces.words, self.pieces.schema
        families = {j: at.family for at in schema.factors for j in at.columns.tolist()}
        return WordDesign.of(columns, [families[j] for j in columns], self.cells.table.take(known), rows)

    def _learning(self, evidence: Inputs, cells: Array | None, rows: KnownRows, known: Codes) -> Learning:
        options, folds = self.options, self._judging_folds(rows, known, twice=evidence.without is not None)
        return Learning(
            self.pieces,
            evidence,
            cells,
            rows,
            folds,
            self._unseen(known),
            penalties=options.penalties,
            nonnegative=options.nonnegative,
        )

    def _unseen(self, known: Codes) -> Array:
        """The weight of all rows but those that are known, by class."""
        left = self.independent.copy()
        left[known] = 0.0
        return np.asarray(np.bincount(self.held.codes, left, len(self.rows.labels)), dtype=np.float64)

    def _judging_folds(self, rows: KnownRows, known: Codes, *, twice: bool) -> JudgingFolds:
        """The folds of known rows; none learns from a row whose class is unknown without it and another."""
        codes, fold = rows.codes, self.fold[known]
        left, of_folds = self._weight_of_classes()
        left, training = left[codes] - of_folds[codes, fold], []
        for one in range(len(self.folds)):
            is_learnt = fold != one
            if twice:
                is_learnt &= left > of_folds[codes, one] * (1.0 + ROUNDING) + ROUNDING
            training.append(np.where(is_learnt, rows.weight, 0.0))
        return JudgingFolds([held for _, held in splits_of(fold, len(self.folds))], training)

    def worth_summing(self) -> Pieces:
        """The pieces without kinds of evidence that held-out rows do not miss."""
        known = self._known()
        if not self._are_enough(known):
            return self.pieces
        with threads.one_thread_per_product():
            # A judge that knows too much keeps a kind rather than not.
            evidence = self._inputs(self._evidence, known, [])
            learning = self._learning(evidence, None, self._known_rows(known), known)
            return self._without_unmissed(learning)

    def _without_unmissed(self, learning: Learning) -> Pieces:
        """The pieces without those kinds that these rows do not miss, one after the other."""
        rows = learning.rows
        pieces, dropped = self.pieces, np.zeros(0, dtype=np.intp)
        kinds = [
            (replace(pieces, steps=()), pieces.places("steps")),
            (replace(pieces, own_covariances=False), pieces.places("joint")[1:]),
        ]
        penalty = self.options.penalties[0]
        before = learning.loss_without(dropped, penalty)
        for without, places in kinds:
            after = learning.loss_without(np.union1d(dropped, places), penalty)
            if rows.mean(after - before) <= rows.standard_error(after - before):
                dropped, before = np.union1d(dropped, places), after
                pieces = replace(
                    pieces,
                    steps=pieces.steps and without.steps,
                    own_covariances=pieces.own_covariances and without.own_covariances,
                )
        return pieces

    def _choose_pairs(self, learnt: Learnt, rows: KnownRows, known: Codes) -> None:
        """Choose pairs, and sum them beside all else."""
        coarse = self.pieces.coarse
        codes = self.cells.derived(coarse)[known]
        pairs = choose_pairs(coarse, codes, softmax(learnt.held_out), rows, self.options.most_pairs)
        if not pairs:
            return
        self.pieces = self.pieces.with_pairs(pairs)
        self.cells.read_pairs(self.pieces)
        accumulator = Accumulator.empty(self.pieces.pairs_schema)
        for some, table in self.rows.others(self.sample):
            blocks = accumulator.schema.blocks(self.pieces.table_of_pairs(table))
            accumulator.update(blocks, *self.rows.labels_of(some))
        self.rest.pieces, self.rest.accumulators[2] = self.pieces, accumulator
        if self.whole is not None and self.all_rows is not None:
            in_parts, once = (Accumulator.of(accumulator.statistics()) for _ in range(2))
            self._add(in_parts, self.cells.pairs, np.arange(len(self.sample)))
            self._add_once(once, self.cells.pairs)
            self.whole = (*self.whole[:2], in_parts.statistics())
            self.all_rows = (*self.all_rows[:2], once.statistics())

    def _inputs(
        self,
        evidence: Callable[[Sequence[Codes]], list[Array]],
        known: Codes,
        pairs: Sequence[tuple[int, int]],
    ) -> Inputs:
        """The evidence of known rows, held out from their own folds, and from pairs of one with a judge."""
        folds = self.folds
        sets = [*folds, *(np.append(folds[i], folds[j]) for i, j in pairs)]
        each = [said.transpose(2, 0, 1) for said in evidence(sets)]
        k, _, n_pieces = each[0].shape
        found = np.empty((1 + len(folds) * bool(pairs), k, len(self.sample), n_pieces))
        for rows, said in zip(folds, each, strict=False):
            found[:, :, rows] = said
        for (i, j), said in zip(pairs, each[len(folds) :], strict=True):
            found[1 + j][:, folds[i]], found[1 + i][:, folds[j]] = np.split(said, [len(folds[i])], axis=1)
        if len(known) < len(self.sample):
            found = found[:, :, known]
        return Inputs(found[0], found[1:] if pairs else None)

    def _pairs_of_folds(self) -> list[tuple[int, int]]:
        """All pairs of folds, if a fold tells so much that the evidence behind weights must not know it."""
        n_pieces = len(self.pieces.listed)
        few = min(max(FEW_ROWS, ROWS_PER_PIECE * n_pieces), MANY_ROWS)
        is_small = len(self.sample) * n_pieces * len(self.rows.labels) <= MOST_TWICE
        are_known = self.whole is None or self.subtracted
        if self.independent.sum() >= few or not is_small or not are_known or len(self.folds) < 3:
            return []
        return [*combinations(range(len(self.folds)), 2)]

    def _evidence(self, held: Sequence[Codes]) -> list[Array]:
        """The evidence of some rows of the sample but that of pairs, by the sums of all others."""
        base, beside = self._fold_sums(0), self._fold_sums(1)
        return self._scored(base, held, lambda folds: evidence(self.pieces, base, beside, folds))

    def _evidence_of_pairs(self, held: Sequence[Codes]) -> list[Array]:
        """The same of pairs."""
        sums, cells = self._fold_sums(2), self.cells.places_in_pairs
        return self._scored(sums, held, lambda folds: evidence_of_pairs(self.pieces, sums, folds, cells))

    def _fold_sums(self, part: int) -> FoldSums:
        """The sums that folds are scored by: of the table, of derived columns, or of pairs."""
        rest, held = self.rest.accumulators[part], self.held
        rows = CodedRows(held.labels, held.codes, held.weights)
        if self.whole is not None:
            before, sign = Accumulator.of(self.whole[part]), -1 if self.subtracted else 0
        else:
            before, sign = Accumulator.empty(rest.schema), 1
            if len(rest.classes):
                before = Accumulator.of(rest.statistics())
        return FoldSums(self.cells.of_schemas[part], rows, before, sign)

    def _scored(
        self, sums: FoldSums, held: Sequence[Codes], score: Callable[[Folds], list[Array]]
    ) -> list[Array]:
        """Evidence of each of some sets of rows; small ones are scored at once, large ones side by side."""
        labels = self.rows.labels
        is_large = len(self.sample) * len(self.pieces.listed) * len(labels) >= SIDE_BY_SIDE
        several = sums.alike(held, at_once=self.whole is None and not is_large)
        scored = threads.run(score, several) if is_large else [*map(score, several)]
        found: list[Array] = [np.zeros(0)] * len(held)
        for folds, each in zip(several, scored, strict=True):
            for place, said in zip(folds.places, each, strict=True):
                found[place] = self._of_all_classes(said, sums.classes(folds))
        return found

    def _of_all_classes(self, said: Array, classes: NDArray[Any]) -> Array:
        """Evidence for all classes of the rows, from that for the classes behind it."""
        labels = self.rows.labels
        if np.array_equal(classes, labels):
            return said
        known = np.flatnonzero(np.isin(classes, labels))  # the sums may hold more classes than the rows
        found = zeros_by_class(*said.shape[:2], len(labels))
        found[:] = said.min(axis=2, keepdims=True, initial=0.0)  # of classes in no other fold
        found[:, :, np.searchsorted(labels, classes[known])] = said[:, :, known]
        return found


def unweighed(pieces: Pieces, rows: Rows) -> Learnt:
    """The product of the families, which needs no rows held out."""
    k = len(rows.labels)
    weights = np.zeros(len(pieces.listed))
    weights[pieces.places("columns")] = 1.0
    corrections = np.zeros((sum(cell.size for cell in pieces.cells), k))
    return Learnt(Weights(weights, np.zeros(k), corrections), np.zeros((0, k)))


@contextmanager
def naming_rows(rows: LabelledRows, schema: Schema) -> Iterator[None]:
    """Where a part of the rows is refused, or rows in another order: all of them tell which row it is."""
    try:
        yield
    except (TypeError, ValueError):
        rows.statistics(schema)
        raise


def fit_rows(rows: LabelledRows, schema: Schema, options: Options, pieces: Pieces | None = None) -> Fitted:
    """Sums and weights of rows; which pieces there are is chosen from them, or given."""
    with naming_rows(rows, schema):
        return _fit_rows(Rows(rows).in_order(schema), schema, options, pieces)


def _fit_rows(chosen: Rows, schema: Schema, options: Options, pieces: Pieces | None) -> Fitted:
    if pieces is None:
        some = spread_rows(len(chosen.codes), MOST_ROWS)
        table = chosen.table if len(some) == len(chosen.codes) else chosen.table.take(some)
        weights = None if chosen.weights is None else chosen.weights[some]
        with np.errstate(invalid="ignore"):  # infinities, which the sums refuse
            pieces = Pieces.of(schema, table, options.groups, weights)
        if len(some) < len(chosen.codes):
            few = replace(options, folds=FIRST_FOLDS)
            first = Fitting(chosen.take(spread_rows(len(chosen.codes), FIRST_ROWS)), pieces, few)
            pieces = first.worth_summing()
    return Fitting(chosen, pieces, options).fitted()
