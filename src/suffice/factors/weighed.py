"""A factor whose evidence is bounded, and counts more or less: w_j · log p(x_j | C_k), column by column.

What a cell says against a class, compared with the class that it speaks for most, is bounded: a density that
was estimated from n rows knows nothing of odds beyond n to 1, whatever its tails say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.export.expressions import AcrossClasses, Clip, Gaps, Score, total_score
from suffice.factors.base import Block, Separation, SolvedFactor
from suffice.factors.scores import Scores, bounded


def weighed(factor: SolvedFactor, by: Array, most: float) -> SolvedFactor:
    """The factor with bounded and weighed evidence: its parameters changed if they can be, else wrapped."""
    return factor.scaled(by, most) or WeighedFactor(factor, by, most)


class WeighedFactor(SolvedFactor):
    """The bounded scores of another factor, times the weight of each column. They rank the classes.

    The columns of a joint block have one weight, and their evidence is bounded together.
    """

    has_density = False

    def __init__(self, inner: SolvedFactor, by: Array, most: float) -> None:
        self.inner, self.by, self.most = inner, by, most
        self.family, self.regularized = inner.family, inner.regularized
        self.n_parameters = inner.n_parameters
        self.ignores_priors = inner.ignores_priors

    @property
    def log_likelihood(self) -> float:
        return self.inner.log_likelihood

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        if self.family.joint:
            scores.finite += self.by[0] * self._together(block, labels, scores)
        else:
            self.inner.add_bounded(block, labels, self.by, self.most, scores)

    def _together(self, block: Block, labels: list[str], scores: Scores) -> Array:
        """The bounded evidence of all columns."""
        own = Scores(np.zeros_like(scores.finite))
        self.inner.add_scores(block, labels, own, base=False)
        scores.unseen += own.unseen
        return bounded(own.joint(), self.most)

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        if self.family.joint:
            return self.bounded_score(self.inner.expression(columns, labels, gaps), float(self.by[0]))
        each = zip(columns, labels, self.by.tolist(), strict=True)
        return total_score(
            [
                self.bounded_score(
                    self.inner.take_columns(np.array([j])).expression([column], [label], gaps), w
                )
                for j, (column, label, w) in enumerate(each)
                if w
            ]
        )

    def bounded_score(self, score: Score, weight: float) -> Score:
        """A score with the bound and its weight; what has an order is ruled out up to the bound."""
        finite = score.finite
        if not finite.is_vector and score.order is None:
            return Score(finite * 0.0)
        if score.order is not None:
            finite = finite - score.order * (2.0 * self.most)
        return Score(Clip(finite - AcrossClasses("max", finite), -self.most, 0.0) * weight)

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        cells = self.inner.contributions(block, labels, base=False)
        if not self.family.joint:
            return bounded(cells, self.most) * self.by[:, np.newaxis]
        seen = self.inner.observed(block, labels)[0][:, :, np.newaxis]
        together = self._together(block, labels, Scores(np.zeros((len(cells), cells.shape[2]))))
        best = together.argmax(axis=1)[:, np.newaxis, np.newaxis]
        against = np.where(seen, cells - np.take_along_axis(cells, best, axis=2), 0.0)
        unbounded = against.sum(axis=1)
        # A bound on their sum takes the same share from all cells. To take it evenly from each would leave
        # millions of nats for and against, whose sum has lost its digits.
        share = np.divide(together, unbounded, out=np.ones_like(together), where=unbounded < together)
        against *= share[:, np.newaxis]
        rest = (together - against.sum(axis=1)) / np.maximum(seen.sum(axis=1), 1)
        return np.asarray(self.by[0] * np.where(seen, against + rest[:, np.newaxis], 0.0))

    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return self.inner.observed(block, labels)

    def take_columns(self, index: Codes) -> SolvedFactor:
        return WeighedFactor(self.inner.take_columns(index), self.by[index], self.most)

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        return self.inner.sample(classes, rng)

    def separation(self) -> Separation:
        return self.inner.separation()

    def conventional(self) -> list[dict[str, Any]]:
        return self.inner.conventional()
