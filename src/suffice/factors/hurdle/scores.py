"""Scores of columns with one value that repeats: log ρ at the value, log(1 − ρ) + log f(x) elsewhere."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.export.expressions import (
    Cell,
    Expression,
    Gaps,
    Score,
    Where,
    as_expression,
    total_score,
)
from suffice.factors.base import Block, Separation, SolvedFactor
from suffice.factors.hurdle.totals import HurdleTotals, split_cells
from suffice.factors.kinds import predictive, solve
from suffice.factors.scores import Scores
from suffice.families import Hurdle


def solve_hurdle(totals: HurdleTotals, labels: list[str], classes: NDArray[Any]) -> SolvedHurdle:
    """The parameters of both parts."""
    parts = (solve(part, labels, classes) for part in (totals.outcome, totals.rest))
    return SolvedHurdle(totals.family, *parts)


def predictive_hurdle(solved: SolvedHurdle, labels: list[str], classes: NDArray[Any]) -> SolvedHurdle:
    """Both parts with predictive scores, where they have such scores of their own."""
    parts = (predictive(part, labels, classes) for part in (solved.outcome, solved.rest))
    return SolvedHurdle(solved.family, *parts)


class SolvedHurdle(SolvedFactor):
    """The scores of the outcomes and of the rest, added."""

    family: Hurdle

    def __init__(self, family: Hurdle, outcome: SolvedFactor, rest: SolvedFactor) -> None:
        self.family = family
        self.outcome = outcome
        self.rest = rest
        self.n_parameters = outcome.n_parameters + rest.n_parameters
        self.regularized = [*outcome.regularized, *rest.regularized]

    @property
    def log_likelihood(self) -> float:
        return self.outcome.log_likelihood + self.rest.log_likelihood

    def _split(self, block: Block, labels: list[str]) -> tuple[Array, Array]:
        """The cells of both parts. What the rest ignores is missing in both."""
        outcome, rest = split_cells(block, self.family.at, labels)
        if not self.family.takes_every_number:
            outcome = np.where(self.rest.observed(rest, labels)[1], np.nan, outcome)
        return outcome, rest

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        outcome, rest = self._split(block, labels)
        self.rest.add_scores(rest, labels, scores, base=base)
        self.outcome.add_scores(outcome, labels, scores, base=base)

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        outcome, rest = self._split(block, labels)
        of_rest = self.rest.contributions(rest, labels, base=base)
        return of_rest + self.outcome.contributions(outcome, labels, base=base)

    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        outcome, rest = self._split(block, labels)
        seen, ignored = self.rest.observed(rest, labels)
        return seen | self.outcome.observed(outcome, labels)[0], ignored

    def take_columns(self, index: Codes) -> SolvedHurdle:
        return SolvedHurdle(self.family, self.outcome.take_columns(index), self.rest.take_columns(index))

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        return total_score([self._column(j, column, labels[j], gaps) for j, column in enumerate(columns)])

    def _column(self, j: int, column: int, label: str, gaps: Gaps) -> Score:
        one = self.take_columns(np.array([j]))
        rest = one.rest.expression([column], [label], gaps)
        # Both outcomes, scored as cells are.
        cells = np.array([[0.0], [1.0]])
        table = Scores(np.zeros((2, self.share.shape[1])))
        one.outcome.add_scores(cells, [label], table, base=True)
        at_value, counted = Cell(column) == as_expression(self.family.at), one.rest.counted(0, column, label)

        def joined(outcomes: Array, of_rest: Expression) -> Expression:
            elsewhere = Where(counted, of_rest + outcomes[0], as_expression(0.0))
            return Where(at_value, as_expression(outcomes[1]), elsewhere)

        finite = joined(table.finite, rest.finite)
        if table.order is None and rest.order is None:
            return Score(finite)
        order = np.zeros_like(table.finite) if table.order is None else table.order
        return Score(finite, joined(order, as_expression(0.0) if rest.order is None else rest.order))

    def counted(self, j: int, column: int, label: str) -> Expression:
        at_value = Cell(column) == as_expression(self.family.at)
        return at_value | self.rest.counted(j, column, label)

    @cached_property
    def share(self) -> Array:
        """ρ of each column and class, (d, k)."""
        return np.stack([named["probability"] for named in self.outcome.conventional()])

    @cached_property
    def log_shares(self) -> Array:
        """Log(1 − ρ) and log ρ of each column and class, (2, d, k): the scores of both outcomes."""
        labels = [""] * len(self.share)
        outcomes = np.repeat([[0.0], [1.0]], len(labels), axis=1)
        scores = self.outcome.contributions(outcomes, labels, base=True)
        varies = self.outcome.observed(outcomes, labels)[0][0]
        with np.errstate(divide="ignore"):  # a column with one outcome is left out of the scores
            return np.where(varies[:, np.newaxis], scores, np.log([1.0 - self.share, self.share]))

    def log_power_sums(self, powers: Array) -> Array:
        """∫ p^a = ρ^a + (1 − ρ)^a·∫ f^a."""
        a, (off, on) = powers[:, np.newaxis, np.newaxis], self.log_shares
        with np.errstate(invalid="ignore"):
            return np.asarray(np.logaddexp(a * on, a * off + self.rest.log_power_sums(powers)))

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        outcomes, rest = self.outcome.sample(classes, rng), self.rest.sample(classes, rng)
        return [np.where(a == 1, self.family.at, b) for a, b in zip(outcomes, rest, strict=True)]

    def separation(self) -> Separation:
        """KL = KL of the outcomes + (1 − ρ)·KL of the rest; ∫√pq = √ρρ′ + √(1 − ρ)(1 − ρ′)·∫√ff′."""
        outcome, rest = self.outcome.separation(), self.rest.separation()
        off, on = (0.5 * (share[:, :, np.newaxis] + share[:, np.newaxis]) for share in self.log_shares)
        away = np.exp(self.log_shares[0])[:, :, np.newaxis]
        kl = outcome.kl + away * np.where(away > 0, rest.kl, 0.0)
        return Separation.of_independent(kl, -np.logaddexp(on, off - rest.bhattacharyya))

    def conventional(self) -> list[dict[str, Any]]:
        name = f"share of {self.family.at}"
        return [
            {name: share, **named} for share, named in zip(self.share, self.rest.conventional(), strict=True)
        ]
