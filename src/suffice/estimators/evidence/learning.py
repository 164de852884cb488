"""Learning the weights, level by level, each shrunk toward the one above it.

    class shares → one weight for all columns → a weight for each piece → a correction for each cell → pairs

With one weight, the evidence of documents is divided by the power of their length that pays most, if any.
All levels are learnt from evidence that is held out, and each is judged on folds that neither its weights nor
the evidence behind them have seen. A level that does not pay there counts less, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.best import Best
from suffice.estimators.evidence.cell_corrections import CellCorrections
from suffice.estimators.evidence.inputs import Inputs, JudgedRows
from suffice.estimators.evidence.pieces import POWERS, Pieces
from suffice.estimators.evidence.trust import least_between_0_and_1, trust
from suffice.estimators.evidence.weighed import Weights
from suffice.estimators.evidence.word_corrections import JUDGED_WORDS, WordDesign, WordSearch
from suffice.kernels import threads
from suffice.links import log_softmax
from suffice.model.weighing.corrections import CorrectionDesign
from suffice.model.weighing.piece_weights import (
    JUDGED,
    PieceWeights,
    WeightSearch,
    alike,
    mean_residuals,
)

PENALTIES = (6.0, 36.0, 200.0, 1200.0)
"""How much weights of one kind are held together; stronger ones are tried as long as they pay."""
COMMON_PARTS = (1.0, 0.25, 0.0625, 2.0**-6, 2.0**-8)
"""Variances of what weights of one kind have in common; smaller ones are tried as long as they pay."""
WORD_RIDGES = (3.0, 1.0, 0.3, 0.1, 0.03)
"""The same for corrections of words."""
PAIR_PENALTY = 6.0
PAIRS_TOGETHER = 0.3
ENOUGH_ROWS = 1_000
"""Rows held out that choose a setting."""
MANY_ROWS = 4_000
"""Rows from which a level must clearly pay: they show what is worth its time when predicting."""
DOUBT = 4.0
"""How much a level is trusted before any row is seen: its share is 1, give or take a half."""

SIDE_BY_SIDE = 1 << 20
"""Numbers of evidence from which folds are learnt in threads: of fewer, all are learnt in one search."""

Result = TypeVar("Result")


@dataclass
class Level:
    """One level of the model: what it adds to the scores of held-out rows, and how much of it counts."""

    name: str
    loss: float
    """The mean loss of held-out rows with this level and all above."""
    share: float
    """How much of it counts."""


@dataclass
class Learnt:
    """Weights, and how they were found."""

    weights: Weights
    held_out: Array
    """Scores of the rows by weights that they were not used for."""
    levels: list[Level] = field(default_factory=list)
    nats: Array = field(default_factory=lambda: np.zeros(0))
    """What each piece, and then the corrections of each column, add to held-out rows."""


class Learning:
    """Held-out evidence of some rows, and folds in which weights are judged.

    After the pieces come those of text once more, divided by each power of their length.
    """

    def __init__(
        self,
        pieces: Pieces,
        evidence: Inputs,
        codes: Array | None,
        judged: JudgedRows,
        *,
        penalties: Sequence[float] = PENALTIES,
        nonnegative: bool = False,
    ) -> None:
        self.pieces, self.folds, self.rows = pieces, judged, judged.rows
        n_texts = len(pieces.texts)
        n_pieces = evidence.rows.shape[2] - len(POWERS) * n_texts
        starts = range(n_pieces, evidence.rows.shape[2], n_texts) if n_texts else ()
        self.evidence = evidence.pieces(slice(n_pieces)) if n_texts else evidence
        self._by_length = [evidence.pieces(slice(first, first + n_texts)) for first in starts]
        self._together = alike(pieces.alike_groups, n_pieces, apart=0.0)
        self.penalties, self.nonnegative = penalties, nonnegative
        self.design: CorrectionDesign | None = None
        self.words: WordDesign | None = None
        if codes is not None and codes.shape[1]:
            sizes = [cell.size for cell in pieces.cells]
            self.design = CorrectionDesign.of(codes, sizes, [not cell.levels for cell in pieces.cells])

    @property
    def inputs(self) -> Array:
        """The evidence of all rows."""
        return self.evidence.rows

    def learn(self) -> Learnt:
        """The levels up to corrections of cells."""
        rows, k = self.rows, self.rows.n_classes
        nothing = np.zeros((sum(cell.size for cell in self.pieces.cells), k))
        shares = np.broadcast_to(rows.log_shares, (len(rows.codes), k))
        levels = [Level("class shares", rows.mean_loss(shares), 1.0)]
        if not self.inputs.shape[2]:
            return Learnt(Weights(np.zeros(0), np.zeros(k), nothing), shares, levels)
        one, held = self._one_weight()
        levels.append(Level("one weight", rows.mean_loss(held), 1.0))
        power, one, held = self._divided_by_length(one, held)
        if power:
            levels.append(Level(f"divided by length^{power:g}", rows.mean_loss(held), 1.0))
        each, without_folds, each_held = self._each_weight(one)
        share = self._share(held, each_held)
        held = held + share * (each_held - held)
        levels.append(Level("a weight for each piece", rows.mean_loss(held), share))
        weights = one.weights + share * (each.weights - one.weights)
        bias = one.bias + share * (each.bias - one.bias)
        corrections = nothing
        if self.design is not None:
            added, of_all_rows = self._corrections(self.design, each, without_folds)
            share = self._share(held, held + added)
            held = held + share * added
            corrections = share * of_all_rows() if share else nothing
            levels.append(Level("corrections of cells", rows.mean_loss(held), share))
        counts = np.bincount(rows.codes, rows.weight, k)
        # The bias of a class without held-out rows is not known.
        beside = np.where(counts > 0, bias - np.log(np.maximum(counts, 1e-300) / counts.sum()), 0.0)
        return Learnt(Weights(weights, beside, corrections, power), held, levels)

    def loss_without(self, dropped: Codes, penalty: float) -> Array:
        """The losses of held-out rows by weights of all but some pieces."""
        kept = np.setdiff1d(np.arange(self.inputs.shape[2]), dropped)
        covariance = self._covariance(penalty)[np.ix_(kept, kept)]
        search = self._search(self.evidence.pieces(kept))
        everyone = search.learn(covariance, converged=JUDGED)
        return self.rows.losses(self._held_out(search, covariance, everyone))

    def with_words(self, learnt: Learnt, words: WordDesign) -> Learnt:
        """The same with corrections of words, if they pay; one fold chooses their ridge."""
        held = learnt.held_out
        search = WordSearch(words.inputs, self.rows, held)
        fold = next(i for i, some in enumerate(self.folds.judging) if len(some))
        test, training = self.folds.judging[fold], self.folds.training
        judges = self.rows.take(test)

        def judged(ridge: float, before: Array | None) -> tuple[Array | None, float]:
            found = search.learn(ridge, training[fold], before, JUDGED_WORDS)
            return found, judges.mean_loss(held[test] + words.inputs[test] @ found)

        none_found: Array | None = None
        best = Best(0.0, none_found, judges.mean_loss(held[test])).while_it_pays(WORD_RIDGES, judged)
        if best.found is None:
            return learnt
        ridge, table = best.setting, search.learn(best.setting, start=best.found)
        tables = self._in_folds(
            lambda folds: [search.learn(ridge, training[i], table, JUDGED_WORDS) for i in folds],
            range(self.folds.n_folds),
        )
        added = np.empty_like(held)
        for of_others, some in zip(tables, self.folds.judging, strict=True):
            added[some] = words.inputs[some] @ of_others
        share = self._share(held, held + added)
        held = held + share * added
        levels = [*learnt.levels, Level("corrections of words", self.rows.mean_loss(held), share)]
        if not share:
            return replace(learnt, levels=levels)
        self.words = words
        return Learnt(replace(learnt.weights, words=words.corrections(share * table)), held, levels)

    def with_pairs(self, learnt: Learnt, evidence: Inputs) -> Learnt:
        """The same with pairs of columns.

        They were chosen on the rows that judge them: if they lose even there, they do not count.
        """
        n = evidence.rows.shape[2]
        covariance = (np.eye(n) + PAIRS_TOGETHER**2) / PAIR_PENALTY
        held = learnt.held_out
        search = self._search(evidence, held)
        found = search.learn(covariance)
        added = self._held_out(search, covariance, found)
        pays = self.rows.mean_loss(held + added) < self.rows.mean_loss(held)
        share = self._share(held, held + added) if pays else 0.0
        old = learnt.weights
        weights = replace(
            old,
            pieces=np.concatenate([old.pieces, share * found.weights]),
            bias=old.bias + share * found.bias,
        )
        held = held + share * added
        levels = [*learnt.levels, Level("pairs of columns", self.rows.mean_loss(held), share)]
        return Learnt(weights, held, levels)

    def judged(self, learnt: Learnt) -> Learnt:
        """The same as far as held-out rows show that it tells more than the class shares."""
        rows = self.rows
        silent = np.broadcast_to(rows.log_shares, learnt.held_out.shape)
        added = learnt.held_out - silent
        share = trust(rows, added, self.folds.unseen)
        held = silent + share * added
        levels = [replace(level, share=share * level.share) for level in learnt.levels[1:]]
        if levels:
            levels[-1].loss = rows.mean_loss(held)
        return Learnt(learnt.weights.times(share), held, [*learnt.levels[:1], *levels])

    def with_nats(self, learnt: Learnt, of_pairs: Inputs | None = None) -> Learnt:
        """The same with the nats that each piece adds, and the corrections of each column."""
        weights, rows = learnt.weights, self.rows
        inputs = [self.inputs] if of_pairs is None else [self.inputs, of_pairs.rows]
        ends = np.cumsum([each.shape[2] for each in inputs])
        parts = [*zip(inputs, np.split(weights.pieces, ends[:-1]), strict=True)]
        added = np.sum([(each @ of_each).T for each, of_each in parts], axis=0)
        if self.design is not None:
            added += self.design.cells @ weights.corrections
        if self.words is not None:
            of_words = np.concatenate([one.table for one in weights.words])
            added += self.words.inputs @ of_words
        residuals = mean_residuals(rows.log_shares + weights.bias + added, rows) / rows.weight.sum()
        by_class = residuals.T.reshape(-1)
        nats = [of_each * (by_class @ each.reshape(by_class.size, -1)) for each, of_each in parts]
        if self.design is not None:
            of_cells = np.sum((self.design.cells.T @ residuals) * weights.corrections, axis=1)
            nats.append(np.add.reduceat(of_cells, self.design.first[:-1]))
        if self.words is not None:
            each = self.words.corrections((self.words.inputs.T @ residuals) * of_words)
            nats.append(np.array([one.table.sum() for one in each]))
        return replace(learnt, nats=np.concatenate(nats))

    def _one_weight(self) -> tuple[PieceWeights, Array]:
        """One weight for all columns together."""
        columns = self.pieces.places("columns")
        weights = np.zeros(self.inputs.shape[2])
        weights[columns] = 1.0
        search = self._search(self.evidence.total(weights))
        covariance = 100.0 * np.eye(1)
        found = search.learn(covariance)
        held = self._held_out(search, covariance, found)
        return PieceWeights(found.weights[0] * weights, found.bias), held

    def _divided_by_length(self, one: PieceWeights, held: Array) -> tuple[float, PieceWeights, Array]:
        """The power of their length that divides the evidence of documents, if any pays, under one weight.

        The inputs become those of this power.
        """
        best, undivided, losses = (0.0, one, held), self.evidence, self.rows.losses(held)
        chosen, best_loss = undivided, self.rows.mean(losses)
        for power, of_text in zip(POWERS, self._by_length, strict=False):
            self.evidence = undivided.replaced(self.pieces.texts, of_text)
            found, now_held = self._one_weight()
            loss = self.rows.mean_loss(now_held)
            if loss >= best_loss:
                break
            best_loss = loss
            if self._is_clear(losses - self.rows.losses(now_held)):
                best, chosen = (power, found, now_held), self.evidence
        self.evidence, self._by_length = chosen, []
        return best

    def _each_weight(self, one: PieceWeights) -> tuple[PieceWeights, list[PieceWeights], Array]:
        """A weight for each piece, of all rows and without each fold, with the penalty of least loss.

        Then held-out rows say how large the weights of a kind are likely to be. Many rows say it by the
        weights themselves.
        """
        search = self._search(self.evidence)
        loosest = self.penalties[0], COMMON_PARTS[0]
        everyone = search.learn(self._covariance(*loosest), start=one, converged=JUDGED)

        def judged(
            prior: tuple[float, float], before: list[PieceWeights]
        ) -> tuple[list[PieceWeights], float]:
            found = self._without_folds(search, self._covariance(*prior), before)
            return found, self.folds.loss(self._scores_of_folds(search.inputs, found))

        best = Best(loosest, [everyone] * self._n_choosing, np.inf)
        best = best.while_it_pays([(penalty, COMMON_PARTS[0]) for penalty in self.penalties], judged)
        if not self._are_many:
            best = best.while_it_pays([(best.setting[0], common) for common in COMMON_PARTS[1:]], judged)
        covariance, found = self._covariance(*best.setting), best.found
        left = [everyone] * (self.folds.n_folds - len(found))
        found = [*found, *self._without_folds(search, covariance, left, len(found))]
        held = self.folds.side_by_side(self._scores_of_folds(search.inputs, found))
        return search.learn(covariance, start=everyone), found, held

    def _covariance(self, penalty: float, common: float = COMMON_PARTS[0]) -> Array:
        """The covariance of the weights before any row is seen."""
        return np.asarray(common * self._together + np.eye(len(self._together)) / penalty)

    def _search(self, inputs: Inputs, offset: Array | None = None) -> WeightSearch:
        """A search for weights, which may have to be ≥ 0."""
        return WeightSearch(inputs.rows, self.rows, offset, inputs.without, nonnegative=self.nonnegative)

    def _held_out(self, search: WeightSearch, covariance: Array, start: PieceWeights) -> Array:
        """Scores of each fold by weights of the others."""
        found = self._without_folds(search, covariance, [start] * self.folds.n_folds)
        return self.folds.side_by_side(self._scores_of_folds(search.inputs, found))

    def _without_folds(
        self, search: WeightSearch, covariance: Array, starts: Sequence[PieceWeights], first: int = 0
    ) -> list[PieceWeights]:
        """Weights, to be judged, without each of as many folds as there are starts, from the first on."""

        def learn(folds: range) -> list[PieceWeights]:
            weights = [self.folds.training[i] for i in folds]
            begun = [starts[i - first] for i in folds]
            return search.learn_each(covariance, weights, begun, JUDGED, folds[0])

        return self._in_folds(learn, range(first, first + len(starts)))

    def _scores_of_folds(self, inputs: Array, found: Sequence[PieceWeights]) -> list[Array]:
        """The scores of the rows of the first folds by weights without them."""
        by_fold = inputs @ np.stack([weights.weights for weights in found], axis=1)
        return [
            by_fold[:, test, fold].T + weights.bias
            for fold, (weights, test) in enumerate(zip(found, self.folds.judging, strict=False))
        ]

    def _in_folds(self, learn: Callable[[range], list[Result]], folds: range) -> list[Result]:
        """What is learnt without each of some folds: at once, or in threads if there is enough to do."""
        if self.inputs.size < SIDE_BY_SIDE:
            return learn(folds) if folds else []
        return [found for (found,) in threads.run(lambda fold: learn(range(fold, fold + 1)), folds)]

    def _corrections(
        self, design: CorrectionDesign, each: PieceWeights, without_folds: Sequence[PieceWeights]
    ) -> tuple[Array, Callable[[], Array]]:
        """What corrections of cells add to held-out rows, and those of all rows, if they are wanted."""
        scores = each.scores(self.inputs)
        offsets = self.evidence.scores(without_folds)
        corrections = CellCorrections(design, self.folds, scores, offsets, self._in_folds)
        if self._are_many and not corrections.pay_in_first_fold:
            return np.zeros_like(scores), lambda: np.zeros((design.cells.shape[1], self.rows.n_classes))
        return corrections.chosen(self._n_choosing)

    def _share(self, before: Array, after: Array) -> float:
        """How much of a level counts: all of it, unless held-out rows say otherwise."""
        rows, added = self.rows, after - before

        def slope(share: float) -> float:
            residuals = rows.residuals(log_softmax(before + share * added))
            return float(np.sum(residuals * added)) - DOUBT * (1.0 - share)

        if self._are_many and not self._is_clear(rows.losses(before) - rows.losses(after)):
            return 0.0
        return least_between_0_and_1(slope)

    @property
    def _n_choosing(self) -> int:
        """How many folds, from the first on, choose a setting: those that hold enough rows.

        Of many rows, the rows of all folds are needed to tell what still pays a little.
        """
        return self.folds.n_folds if self._are_many else self.folds.n_that_hold(ENOUGH_ROWS)

    @property
    def _are_many(self) -> bool:
        """Whether there are so many rows that a level must clearly pay."""
        return bool(self.rows.weight.sum() >= MANY_ROWS)

    def _is_clear(self, gains: Array) -> bool:
        """Whether the mean of some gains is above its standard error."""
        return self.rows.mean(gains) > self.rows.standard_error(gains)
