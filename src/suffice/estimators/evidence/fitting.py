"""From rows to sums and weights: rows are summed in folds, each of which the sums of the others score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from suffice.arrays import Codes
from suffice.estimators.evidence.inputs import Inputs
from suffice.estimators.evidence.learning import Learning, Learnt
from suffice.estimators.evidence.pairs import choose_pairs
from suffice.estimators.evidence.pieces import Group, Pieces
from suffice.estimators.evidence.rows import MOST_ROWS, Rows
from suffice.estimators.evidence.sample import Sample
from suffice.estimators.evidence.sample_evidence import SampleEvidence
from suffice.estimators.evidence.sums import Parts, PieceSums
from suffice.estimators.evidence.weighed import Weights
from suffice.estimators.evidence.word_corrections import WordDesign
from suffice.factors.derived import CoarseCell
from suffice.kernels import threads
from suffice.links import softmax
from suffice.model.columns.schema import Schema
from suffice.model.dealt import spread_rows
from suffice.model.summarize import LabelledRows
from suffice.model.weighing.known_rows import KnownRows
from suffice.progress import Progress

FIRST_ROWS = 2_000
"""Rows of larger tables from which the kinds of evidence are chosen, before all rows are summed."""
FIRST_FOLDS = 3
"""Folds of these rows."""


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
    """Rows whose sums are wanted, and weights of what these say."""

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
        self.rows, self.options = rows, options
        self.sample = Sample(rows, pieces, options.folds)
        self.evidence = SampleEvidence(self.sample, pieces, whole, subtracted=subtracted)
        self._may_choose_pairs = whole is None and not pieces.pairs and bool(options.most_pairs)

    @property
    def pieces(self) -> Pieces:
        """What is weighed."""
        return self.evidence.pieces

    def fitted(self) -> Fitted:
        """Learn the weights, and add up the sums."""
        learnt = unweighed(self.pieces, self.rows)
        if self.sample.are_enough:
            # Most products are small, and threads would wait for each other.
            with Progress("weighing the evidence") as progress, threads.one_thread_per_product():
                learnt = self._learn(progress.say)
        return Fitted(self.evidence.total(), learnt)

    def _learn(self, say: Callable[[str], None]) -> Learnt:
        say("evidence held out")
        pairs_of_folds = self.evidence.pairs_of_folds()
        learning = self._learning(self.evidence.inputs(pairs_of_folds), self.pieces.cells)
        say("weights")
        learnt = learning.learn()
        if self.pieces.words:
            say("words")
            learnt = learning.with_words(learnt, self._word_design(learning.rows))
        without = self.pieces
        if self._may_choose_pairs and self.pieces.coarse:
            say("pairs of columns")
            self._choose_pairs(learnt, learning.rows)
        of_pairs = None
        if self.pieces.pairs:
            of_pairs = self.evidence.inputs_of_pairs(pairs_of_folds)
            with_pairs = learning.with_pairs(learnt, of_pairs)
            if with_pairs.levels[-1].share or not self._may_choose_pairs:
                learnt = with_pairs
            else:
                of_pairs = None
                self.evidence.sum_pairs(without)
        return learning.with_nats(learning.judged(learnt), of_pairs)

    def _learning(self, evidence: Inputs, cells: Sequence[CoarseCell]) -> Learning:
        codes = self.sample.cells.derived(cells)[self.sample.known] if cells else None
        judged = self.sample.judged(twice=evidence.without is not None)
        penalties, nonnegative = self.options.penalties, self.options.nonnegative
        return Learning(self.pieces, evidence, codes, judged, penalties=penalties, nonnegative=nonnegative)

    def _word_design(self, rows: KnownRows) -> WordDesign:
        columns, schema = self.pieces.words, self.pieces.schema
        families = {j: at.family for at in schema.factors for j in at.columns.tolist()}
        table = self.sample.cells.table.take(self.sample.known)
        return WordDesign.of(columns, [families[j] for j in columns], table, rows)

    def _choose_pairs(self, learnt: Learnt, rows: KnownRows) -> None:
        """Choose pairs, and sum them beside all else."""
        coarse = self.pieces.coarse
        codes = self.sample.cells.derived(coarse)[self.sample.known]
        pairs = choose_pairs(coarse, codes, softmax(learnt.held_out), rows, self.options.most_pairs)
        if pairs:
            self.evidence.sum_pairs(self.pieces.with_pairs(pairs))

    def worth_summing(self) -> Pieces:
        """The pieces without kinds of evidence that held-out rows do not miss."""
        if not self.sample.are_enough:
            return self.pieces
        with threads.one_thread_per_product():
            # A judge that knows too much keeps a kind rather than not.
            return self._without_unmissed(self._learning(self.evidence.inputs([]), ()))

    def _without_unmissed(self, learning: Learning) -> Pieces:
        """The pieces without those kinds that these rows do not miss, one after the other."""
        rows = learning.rows
        pieces, dropped = self.pieces, np.zeros(0, dtype=np.intp)
        joint, solves = pieces.places("joint"), pieces.joint_solves
        own = joint[np.array([one.family.covariance == "full" for one in solves], dtype=np.bool_)]
        plain = joint[np.array([one.n_columns < len(pieces.joint) for one in solves], dtype=np.bool_)]
        kinds: list[tuple[dict[str, Any], Codes]] = [
            ({"steps": ()}, pieces.places("steps")),
            ({"own_covariances": False}, own),
            ({"n_plain": 0}, plain),
        ]
        penalty = self.options.penalties[0]
        before = learning.loss_without(dropped, penalty)
        for change, places in kinds:
            after = learning.loss_without(np.union1d(dropped, places), penalty)
            if rows.mean(after - before) <= rows.standard_error(after - before):
                dropped, before = np.union1d(dropped, places), after
                pieces = replace(pieces, **change)
        return pieces


def unweighed(pieces: Pieces, rows: Rows) -> Learnt:
    """Equal weights of all columns, which need no rows held out.

    Errors of d columns that have nothing to do with each other add up to √d times those of one.
    """
    k, columns = len(rows.labels), pieces.places("columns")
    weights = np.zeros(len(pieces.listed))
    weights[columns] = 1.0 / np.sqrt(max(len(columns), 1))
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
