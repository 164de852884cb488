"""From rows to sums and weights: rows are summed in folds, each of which the sums of the others score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.estimators.evidence.learning import Learning, Learnt
from suffice.estimators.evidence.pairs import choose_pairs
from suffice.estimators.evidence.pieces import Group, Pieces
from suffice.estimators.evidence.sums import Parts, PieceSums, SolvedPieces
from suffice.estimators.evidence.weighed import Weights
from suffice.kernels import threads
from suffice.links import softmax
from suffice.model.dealt import SEED, dealt_folds
from suffice.model.schema import Schema
from suffice.model.statistics import Accumulator
from suffice.model.summarize import LabelledRows
from suffice.model.weighing import KnownRows
from suffice.progress import Progress
from suffice.tables.table import Table

FOLDS = 5
"""Folds of rows whose evidence comes from the sums of the others."""
FEWEST_ROWS = 25
"""Rows from which weights are learnt: five in each fold."""
MOST_ROWS = 20_000
"""Rows that weights are learnt from: few numbers need no more."""
FEWEST_TAKEN = 5_000
MOST_WORK = 2.5e8
"""Operations of one Hessian, rows × classes × pieces², which bound these rows further."""
FIRST_ROWS = 2_000
"""Rows of larger tables from which the kinds of evidence are chosen, before all rows are summed."""
ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Options:
    """What is weighed and how: the settings of the estimator, checked."""

    groups: tuple[Group, ...]
    penalties: tuple[float, ...]
    most_pairs: int
    folds: int
    nonnegative: bool = False


@dataclass(frozen=True, eq=False)
class Fitted:
    """Sums of all rows, and the weights of what they say."""

    sums: PieceSums
    learnt: Learnt


class Rows:
    """Labelled rows of positive weight, of which parts are summed."""

    def __init__(self, rows: LabelledRows) -> None:
        self.table = rows.kept_table()
        self.labels, self.codes = rows.labels, rows.codes
        self.weights = rows.weights
        self.weight = np.ones(len(self.codes)) if rows.weights is None else rows.weights

    def take(self, some: Codes) -> Rows:
        """Some of the rows, by position."""
        other = copy(self)
        other.table, other.codes, other.weight = self.table.take(some), self.codes[some], self.weight[some]
        other.weights = None if self.weights is None else self.weights[some]
        return other

    def add_to(self, sums: PieceSums, some: Codes, table: Table) -> None:
        """Add some rows, whose cells are in `table`."""
        sums.update(table, *self.labels_of(some))

    def labels_of(self, some: Codes) -> tuple[NDArray[Any], Codes, Counts, Array | None]:
        """The labels that some rows have, the place of each row's label, how often each occurs; weights."""
        present, own, counts = np.unique(self.codes[some], return_inverse=True, return_counts=True)
        return self.labels[present], own, counts, None if self.weights is None else self.weights[some]

    def others(self, some: Codes) -> Iterator[tuple[Codes, Table]]:
        """All rows but some, in batches."""
        n = len(self.codes)
        left = np.ones(n, dtype=np.bool_)
        left[some] = False
        for start in range(0, n, ROWS_AT_ONCE):
            part = slice(start, min(start + ROWS_AT_ONCE, n))
            if left[part].any():
                yield start + np.flatnonzero(left[part]), self.table.part(part).take(left[part])


def sampled(n_rows: int, most: int) -> Codes:
    """All rows, or as many at random, in order."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(SEED).choice(n_rows, most, replace=False))


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
        self.rows, self.pieces, self.options, self.whole = rows, pieces, options, whole
        self.subtracted = subtracted
        k = len(rows.labels)
        most = int(np.clip(MOST_WORK // (k * (len(pieces.listed) + k) ** 2), FEWEST_TAKEN, MOST_ROWS))
        self.sample = sampled(len(rows.codes), most)
        self.table = rows.table.take(self.sample) if self._is_part else rows.table
        self.folds = [test for _, test in dealt_folds(rows.codes[self.sample], FOLDS)]
        self.parts = [self._summed(fold) for fold in self.folds]
        self.rest = PieceSums.empty(pieces)
        if whole is None:
            for some, table in rows.others(self.sample):
                rows.add_to(self.rest, some, table)

    @property
    def _is_part(self) -> bool:
        return len(self.sample) < len(self.rows.codes)

    def _summed(self, fold: Codes) -> PieceSums:
        sums = PieceSums.empty(self.pieces)
        if len(fold):
            self.rows.add_to(sums, self.sample[fold], self.table.take(fold))
        return sums

    def fitted(self) -> Fitted:
        """Learn the weights, and add up the sums."""
        known = self._known()
        learnt = unweighed(self.pieces, self.rows)
        if len(known) >= FEWEST_ROWS and len(self.rows.labels) > 1:
            # Most products are small, and threads would wait for each other.
            with Progress("weighing the evidence") as progress, threads.one_thread_per_product():
                learnt = self._learn(known, progress.say)
        return Fitted(self.total(), learnt)

    def total(self) -> PieceSums:
        """The sums of all rows."""
        if self.whole is not None:
            return PieceSums.of(self.pieces, self.whole)
        for part in self.parts:
            self.rest.add(part.statistics(), 1)
        return self.rest

    def _known(self) -> Codes:
        """The rows of the sample whose class has rows in other folds."""
        codes = self.rows.codes[self.sample]
        fold = np.empty(len(codes), dtype=np.intp)
        for i, some in enumerate(self.folds):
            fold[some] = i
        of_class = np.bincount(self.rows.codes, minlength=len(self.rows.labels))
        own = np.zeros((len(of_class), FOLDS), dtype=np.intp)
        np.add.at(own, (codes, fold), 1)
        return np.flatnonzero(of_class[codes] > own[codes, fold])

    def _learn(self, known: Codes, say: Callable[[str], None]) -> Learnt:
        n_classes = len(self.rows.labels)
        codes, weight = self.rows.codes[self.sample], self.rows.weight[self.sample]
        rows = KnownRows(codes, weight, n_classes).take(known)
        say("evidence held out")
        evidence = self._held_out()
        cells = self.pieces.codes(self.pieces.cells, self.table)[known] if self.pieces.cells else None
        say("weights")
        n_pairs = len(self.pieces.pairs)
        learning = self._learning(evidence[known][:, : evidence.shape[1] - n_pairs], cells, rows)
        learnt = learning.learn()
        of_pairs = evidence[known][:, -n_pairs:] if n_pairs else None
        if not n_pairs and self.options.most_pairs and self.pieces.coarse:
            say("pairs of columns")
            self._choose_pairs(learnt, rows, known)
            if self.pieces.pairs:
                of_pairs = self._held_out(only_pairs=True)[known]
        if of_pairs is not None:
            learnt = learning.with_pairs(learnt, of_pairs)
        return learning.with_nats(learnt, of_pairs)

    def _learning(self, evidence: Array, cells: Array | None, rows: KnownRows) -> Learning:
        options = self.options
        return Learning(
            self.pieces,
            evidence,
            cells,
            rows,
            folds=options.folds,
            penalties=options.penalties,
            nonnegative=options.nonnegative,
        )

    def worth_summing(self) -> Pieces:
        """The pieces without kinds of evidence that held-out rows do not miss."""
        known = self._known()
        if len(known) < FEWEST_ROWS or len(self.rows.labels) < 2:
            return self.pieces
        codes, weight = self.rows.codes[self.sample], self.rows.weight[self.sample]
        rows = KnownRows(codes, weight, len(self.rows.labels)).take(known)
        with threads.one_thread_per_product():
            learning = self._learning(self._held_out()[known], None, rows)
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
            missed = float(np.average(after - before, weights=rows.weight))
            if missed <= float(np.std(after - before)) / np.sqrt(len(before)):
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
        codes = self.pieces.codes(coarse, self.table)[known]
        pairs = choose_pairs(coarse, codes, softmax(learnt.held_out), rows, self.options.most_pairs)
        if not pairs:
            return
        self.pieces = self.pieces.with_pairs(pairs)
        for part, fold in zip(self.parts, self.folds, strict=True):
            self._sum_pairs(part, self.sample[fold], self.table.take(fold))
        self._sum_pairs(self.rest, np.zeros(0, dtype=np.intp), self.table)
        for some, table in self.rows.others(self.sample):
            self._sum_pairs(self.rest, some, table, fresh=False)

    def _sum_pairs(self, sums: PieceSums, some: Codes, table: Table, *, fresh: bool = True) -> None:
        """Sum the pairs of rows whose other pieces are summed already."""
        sums.pieces = self.pieces
        schema = self.pieces.pairs_schema
        if fresh:
            sums.accumulators[2] = Accumulator.empty(schema)
        if len(some):
            pairs = self.pieces.tables(table)[2]
            sums.accumulators[2].update(schema.blocks(pairs), *self.rows.labels_of(some))

    def _held_out(self, *, only_pairs: bool = False) -> Array:
        """The evidence of every row of the sample, by the sums of all rows but those of its fold."""
        n_pieces = len(self.pieces.pairs) if only_pairs else len(self.pieces.listed)
        found = np.zeros((len(self.sample), n_pieces, len(self.rows.labels)))
        for i, fold in enumerate(self.folds):
            if not len(fold):
                continue
            solved = SolvedPieces(self.pieces, self._without(i).solvable())
            evidence = solved.evidence(self.table.take(fold))
            evidence = evidence[:, evidence.shape[1] - n_pieces :]
            places = np.searchsorted(self.rows.labels, solved.classes)
            lowest = evidence.min(axis=2, keepdims=True, initial=0.0)
            found[fold] = lowest  # of classes that are in no other fold
            found[np.ix_(fold, np.arange(n_pieces), places)] = evidence
        return found

    def _without(self, fold: int) -> PieceSums:
        """The sums of all rows but those of a fold."""
        if self.whole is not None:
            sums = PieceSums.of(self.pieces, self.whole)
            if self.subtracted:
                sums.add(self.parts[fold].statistics(), -1)
            return sums
        sums = PieceSums.of(self.pieces, self.rest.statistics())
        for i, part in enumerate(self.parts):
            if i != fold:
                sums.add(part.statistics(), 1)
        return sums


def unweighed(pieces: Pieces, rows: Rows) -> Learnt:
    """The product of the families, which needs no rows held out."""
    k = len(rows.labels)
    weights = np.zeros(len(pieces.listed))
    weights[pieces.places("columns")] = 1.0
    corrections = np.zeros((sum(cell.size for cell in pieces.cells), k))
    return Learnt(Weights(weights, np.zeros(k), corrections), np.zeros((0, k)))


def fit_rows(rows: LabelledRows, schema: Schema, options: Options, pieces: Pieces | None = None) -> Fitted:
    """Sums and weights of rows; which pieces there are is chosen from them, or given."""
    chosen = Rows(rows)
    if pieces is None:
        some = sampled(len(chosen.codes), MOST_ROWS)
        table = chosen.table if len(some) == len(chosen.codes) else chosen.table.take(some)
        pieces = Pieces.of(schema, table, options.groups)
        if len(some) < len(chosen.codes):
            few = replace(options, folds=2)
            first = Fitting(chosen.take(sampled(len(chosen.codes), FIRST_ROWS)), pieces, few)
            pieces = first.worth_summing()
    return Fitting(chosen, pieces, options).fitted()
