"""Learning the weights, level by level, each shrunk toward the one above it.

    class shares → one weight for all columns → a weight for each piece → a correction for each cell → pairs

All levels are learnt from evidence that is held out, and each is judged on rows that its weights were not
learnt from. A level that does not pay there counts less, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import optimize

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.weighed import Weights
from suffice.model.dealt import dealt_folds
from suffice.model.weighing import (
    CONVERGED,
    JUDGED,
    CorrectionDesign,
    KnownRows,
    PieceWeights,
    alike,
    learn_corrections,
    learn_weights,
    mean_residuals,
)

PENALTIES = (6.0, 36.0, 200.0, 1200.0)
"""How much weights of one kind are held together; stronger ones are tried as long as they pay."""
RIDGES = (8.0, 32.0, 128.0)
"""How much corrections of cells are held near 0; stronger ones are tried as long as they pay."""
PAIR_PENALTY = 6.0
PAIRS_TOGETHER = 0.3
MANY_ROWS = 4_000
"""Rows from which a level must clearly pay: they show what is worth its time when predicting."""
DOUBT = 4.0
"""How much a level is trusted before any row is seen: its share is 1, give or take a half."""


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
    """Held-out evidence of some rows, (rows, pieces, classes), and folds in which weights are judged."""

    def __init__(
        self,
        pieces: Pieces,
        evidence: Array,
        codes: Array | None,
        rows: KnownRows,
        *,
        folds: int,
        penalties: Sequence[float] = PENALTIES,
        nonnegative: bool = False,
    ) -> None:
        self.pieces, self.evidence, self.rows = pieces, evidence, rows
        self.penalties, self.nonnegative = penalties, nonnegative
        self.splits = dealt_folds(rows.codes, folds, shuffled=True)
        self.design = None
        if codes is not None and codes.shape[1]:
            sizes = [cell.size for cell in pieces.cells]
            self.design = CorrectionDesign.of(codes, sizes, [not cell.levels for cell in pieces.cells])

    def learn(self) -> Learnt:
        """The levels up to corrections of cells."""
        rows, k = self.rows, self.rows.n_classes
        nothing = np.zeros((sum(cell.size for cell in self.pieces.cells), k))
        shares = np.broadcast_to(rows.log_shares, (len(rows.codes), k))
        levels = [Level("class shares", rows.mean_loss(shares), 1.0)]
        if not self.evidence.shape[1]:
            return Learnt(Weights(np.zeros(0), np.zeros(k), nothing), shares, levels)
        one, held = self._one_weight()
        levels.append(Level("one weight", rows.mean_loss(held), 1.0))
        each, judged, each_held = self._each_weight()
        share = self._share(held, each_held)
        held = held + share * (each_held - held)
        levels.append(Level("a weight for each piece", rows.mean_loss(held), share))
        weights = one.weights + share * (each.weights - one.weights)
        bias = one.bias + share * (each.bias - one.bias)
        corrections = nothing
        if self.design is not None:
            corrections, added = self._corrections(self.design, each, judged)
            share = self._share(held, held + added)
            held = held + share * added
            corrections = share * corrections
            levels.append(Level("corrections of cells", rows.mean_loss(held), share))
        counts = np.bincount(rows.codes, rows.weight, k)
        # The bias of a class without held-out rows is not known.
        beside = np.where(counts > 0, bias - np.log(np.maximum(counts, 1e-300) / counts.sum()), 0.0)
        return Learnt(Weights(weights, beside, corrections), held, levels)

    def loss_without(self, dropped: Codes, penalty: float) -> Array:
        """The losses of held-out rows by weights of all but some pieces."""
        kept = np.setdiff1d(np.arange(self.evidence.shape[1]), dropped)
        covariance = self._covariance(penalty)[np.ix_(kept, kept)]
        evidence = self.evidence[:, kept]
        losses = np.empty(len(self.rows.codes))
        start = None
        for train, test in self.splits:
            start = self._learnt(evidence[train], train, covariance, start=start)
            losses[test] = self.rows.take(test).losses(start.scores(evidence[test]))
        return losses

    def with_pairs(self, learnt: Learnt, evidence: Array) -> Learnt:
        """The same with pairs of columns, whose held-out evidence is (rows, pairs, classes)."""
        n = evidence.shape[1]
        covariance = (np.eye(n) + PAIRS_TOGETHER**2) / PAIR_PENALTY
        held = learnt.held_out

        def fit(some: Codes) -> PieceWeights:
            return self._learnt(evidence[some], some, covariance, held[some])

        added = np.empty_like(held)
        for train, test in self.splits:
            added[test] = fit(train).scores(evidence[test])
        share = self._share(held, held + added)
        found, old = fit(np.arange(len(held))), learnt.weights
        weights = Weights(
            np.concatenate([old.pieces, share * found.weights]),
            old.bias + share * found.bias,
            old.corrections,
        )
        held = held + share * added
        levels = [*learnt.levels, Level("pairs of columns", self.rows.mean_loss(held), share)]
        return Learnt(weights, held, levels)

    def with_nats(self, learnt: Learnt, of_pairs: Array | None = None) -> Learnt:
        """The same with the nats that each piece adds, and the corrections of each column."""
        weights, rows = learnt.weights, self.rows
        evidence = self.evidence if of_pairs is None else np.concatenate([self.evidence, of_pairs], axis=1)
        added = np.einsum("nfk,f->nk", evidence, weights.pieces)
        if self.design is not None:
            added += self.design.cells @ weights.corrections
        residuals = mean_residuals(rows.log_shares + weights.bias + added, rows) / rows.weight.sum()
        nats = weights.pieces * np.einsum("nfk,nk->f", evidence, residuals)
        if self.design is not None:
            of_cells = np.sum((self.design.cells.T @ residuals) * weights.corrections, axis=1)
            first = np.cumsum([0, *(cell.size for cell in self.pieces.cells)])[:-1]
            nats = np.concatenate([nats, np.add.reduceat(of_cells, first)])
        return replace(learnt, nats=nats)

    def _one_weight(self) -> tuple[PieceWeights, Array]:
        """One weight for all columns together."""
        columns = self.pieces.places("columns")
        total = self.evidence[:, columns].sum(axis=1)[:, np.newaxis]
        covariance = 100.0 * np.eye(1)

        def fit(some: Codes) -> PieceWeights:
            return self._learnt(total[some], some, covariance)

        held = self._held_out(lambda train: fit(train).scores, total)
        found = fit(np.arange(len(total)))
        weights = np.zeros(self.evidence.shape[1])
        weights[columns] = found.weights[0]
        return PieceWeights(weights, found.bias), held

    def _each_weight(self) -> tuple[PieceWeights, list[PieceWeights], Array]:
        """A weight for each piece, of all rows and without each fold, with the penalty of least loss."""
        best_loss, best, best_held = np.inf, self.penalties[0], np.zeros((0, 0))
        judged: list[PieceWeights] = []
        for penalty in self.penalties:
            held = np.empty((len(self.rows.codes), self.rows.n_classes))
            found = []
            for i, (train, test) in enumerate(self.splits):
                found.append(self._weights(train, penalty, judged[i] if judged else None))
                held[test] = found[i].scores(self.evidence[test])
            loss = self.rows.mean_loss(held)
            if loss >= best_loss:
                break
            best_loss, best, best_held, judged = loss, penalty, held, found
        return self._weights(np.arange(len(best_held)), best, judged[0]), judged, best_held

    def _weights(self, some: Codes, penalty: float, start: PieceWeights | None = None) -> PieceWeights:
        return self._learnt(self.evidence[some], some, self._covariance(penalty), start=start)

    def _covariance(self, penalty: float) -> Array:
        """The covariance of the weights before any row is seen."""
        return alike(self.pieces.alike_groups(), self.evidence.shape[1], penalty**-0.5)

    def _learnt(
        self,
        evidence: Array,
        some: Codes,
        covariance: Array,
        offset: Array | None = None,
        start: PieceWeights | None = None,
    ) -> PieceWeights:
        """Weights of some rows, which may have to be ≥ 0; those of a part are only judged."""
        rows = self.rows.take(some)
        converged = CONVERGED if len(some) == len(self.rows.codes) else JUDGED
        return learn_weights(
            evidence, rows, covariance, offset, start, nonnegative=self.nonnegative, converged=converged
        )

    def _corrections(
        self, design: CorrectionDesign, each: PieceWeights, judged: Sequence[PieceWeights]
    ) -> tuple[Array, Array]:
        """Corrections of all cells, with the ridge of least loss, and what they add to held-out rows."""
        everyone = np.arange(len(self.rows.codes))
        designs = [design.take(train) for train, _ in self.splits]
        offsets = [
            (found.scores(self.evidence[train]), found.scores(self.evidence[test]))
            for found, (train, test) in zip(judged, self.splits, strict=True)
        ]
        starts: list[Array | None] = [None] * len(self.splits)
        best_loss, best, best_added = np.inf, RIDGES[0], np.zeros((0, 0))
        for ridge in RIDGES:
            added = np.empty((len(everyone), self.rows.n_classes))
            losses = np.empty(len(everyone))
            for i, (train, test) in enumerate(self.splits):
                table, starts[i] = learn_corrections(
                    designs[i], self.rows.take(train), offsets[i][0], ridge, starts[i], converged=JUDGED
                )
                added[test] = design.cells[test] @ table
                losses[test] = self.rows.take(test).losses(offsets[i][1] + added[test])
            loss = float(np.average(losses, weights=self.rows.weight))
            if loss >= best_loss:
                break
            best_loss, best, best_added = loss, ridge, added
        table, _ = learn_corrections(design, self.rows, each.scores(self.evidence), best)
        return table, best_added

    def _held_out(self, fit: Callable[[Codes], Callable[[Array], Array]], evidence: Array) -> Array:
        """Scores of each fold by the weights of the others."""
        held = np.empty((len(evidence), self.rows.n_classes))
        for train, test in self.splits:
            held[test] = fit(train)(evidence[test])
        return held

    def _share(self, before: Array, after: Array) -> float:
        """How much of a level counts: all of it, unless held-out rows say otherwise."""
        rows = self.rows

        def loss(share: float) -> float:
            held = before + share * (after - before)
            return float(rows.weight @ rows.losses(held)) + 0.5 * DOUBT * (1.0 - share) ** 2

        if len(rows.codes) >= MANY_ROWS and not self._is_clear(rows.losses(before) - rows.losses(after)):
            return 0.0
        found = optimize.minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-3})
        return float(found.x) if loss(float(found.x)) < loss(1.0) else 1.0

    def _is_clear(self, gains: Array) -> bool:
        """Whether the mean of some gains is above its standard error."""
        mean = float(np.average(gains, weights=self.rows.weight))
        return bool(mean > np.std(gains) / np.sqrt(len(gains)))
