"""A solved model: parameters of every factor and the class priors. It scores rows and never sums them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.archive import Fields
from suffice.engines.table import Table
from suffice.expressions import RULED_OUT, Gaps, Score, as_expression, total_score
from suffice.factors import Regularized, Solved
from suffice.factors.base import Codes
from suffice.families.elementary import Array
from suffice.priors import Priors, are_estimated, class_priors
from suffice.rows import read_blocks
from suffice.scores import Scores
from suffice.statistics import Accumulator, Statistics

Searched = list[Solved | None]
"""For each factor its parameters, if they took a search."""


def searched_again(statistics: Statistics, found: list[Fields]) -> Searched:
    """The parameters that took a search, from what it found when the model was saved."""
    labels = statistics.schema.factor_labels
    return [
        totals.solve_again(names, statistics.classes, part) if len(part) else None
        for totals, names, part in zip(statistics.totals, labels, found, strict=True)
    ]


class Solution:
    """p(x, C_k) = π_k · Π_f p_f(x_f | λ_kf), ready to score."""

    def __init__(
        self, statistics: Statistics, factors: list[Solved], priors: Array, *, estimated: bool
    ) -> None:
        self.schema = statistics.schema
        self.classes = statistics.classes
        self.weight = statistics.weight
        self.priors = priors
        self.factors = factors
        self.factor_labels = statistics.schema.factor_labels
        free = len(self.classes) - 1 if estimated else 0
        self.n_parameters = free + sum(factor.n_parameters for factor in factors)

    @classmethod
    def of(cls, accumulator: Accumulator, priors: Priors, searched: Searched | None = None) -> Self:
        """Solve every factor by its own family, over the classes that have rows.

        Those that were `searched` already, when the model was saved, are as they were found.
        """
        statistics = accumulator.solvable()
        known = searched or [None] * len(statistics.totals)
        solved = [
            found or totals.solve(labels, statistics.classes)
            for totals, labels, found in zip(
                statistics.totals, statistics.schema.factor_labels, known, strict=True
            )
        ]
        values = class_priors(priors, statistics.classes, statistics.weight)
        solution = cls(statistics, solved, values, estimated=are_estimated(priors))
        if solution._ignores_priors() and not are_estimated(priors) and not isinstance(priors, str):
            raise ValueError("event='complement' leaves priors out, as published; pass priors=None.")
        return solution

    @property
    def log_priors(self) -> Array:
        """Log π_k, −inf for a class ruled out."""
        with np.errstate(divide="ignore"):
            return np.log(self.priors)

    @property
    def offset(self) -> Array:
        """What every row scores before its cells: log π_k, or nothing where all factors ignore priors."""
        return np.zeros(len(self.classes)) if self._ignores_priors() else self.log_priors

    def _ignores_priors(self) -> bool:
        return bool(self.factors) and all(factor.ignores_priors for factor in self.factors)

    @property
    def log_likelihood(self) -> float:
        """Log p of the summarized rows and labels, from the statistics alone."""
        self.require_density("log_likelihood_")
        present = self.weight > 0
        joint = float(self.weight[present] @ self.log_priors[present])
        return joint + sum(factor.log_likelihood for factor in self.factors)

    def require_density(self, deed: str) -> None:
        """Refuse what only a density can do."""
        if not all(factor.has_density for factor in self.factors):
            raise ValueError(
                f"{deed} needs a density, and event='complement' or weight_norm=True has none; "
                "use event='multinomial'."
            )

    @property
    def regularized(self) -> list[Regularized]:
        """Parameters that had no maximum likelihood, and what was done."""
        return [entry for factor in self.factors for entry in factor.regularized]

    def scores(self, table: Table, *, base: bool) -> Scores:
        """Joint scores of every row; `base=False` where only posteriors are wanted."""
        scores = Scores(np.tile(self.offset, (table.n_rows, 1)))
        for factor, labels, block in zip(
            self.factors, self.factor_labels, read_blocks(table, self.schema), strict=True
        ):
            factor.add_scores(block, labels, scores, base=base)
        return scores

    def expression(self, gaps: Gaps) -> Score:
        """The scores as an expression over the cells of a row."""
        offset = Score(as_expression(np.maximum(self.offset, RULED_OUT)))
        parts = zip(self.schema.factors, self.factors, self.factor_labels, strict=True)
        return total_score(
            [offset, *(factor.expression(at.columns.tolist(), labels, gaps) for at, factor, labels in parts)]
        )

    def contributions(self, table: Table) -> Array:
        """Log p of each cell, (rows, columns, classes); columns left out contribute 0."""
        result = np.zeros((table.n_rows, len(self.schema), len(self.classes)))
        blocks = read_blocks(table, self.schema)
        for at, factor, labels, block in zip(
            self.schema.factors, self.factors, self.factor_labels, blocks, strict=True
        ):
            result[:, at.columns] = factor.contributions(block, labels)
        # Beside an impossible cell, a cell of infinite density counts for nothing.
        ruled_out = np.isneginf(result).any(axis=1, keepdims=True)
        return np.where(ruled_out & np.isposinf(result), 0.0, result)

    def sample(self, codes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """One row of each class in `codes`, column by column; columns left out are missing."""
        columns: list[NDArray[Any]] = [np.full(len(codes), np.nan) for _ in self.schema]
        for at, factor in zip(self.schema.factors, self.factors, strict=True):
            for j, values in zip(at.columns.tolist(), factor.sample(codes, rng), strict=True):
                columns[j] = values
        return columns

    def parameters(self) -> dict[Any, dict[str, Any]]:
        """The parameters people know, by column."""
        named = {}
        for at, factor in zip(self.schema.factors, self.factors, strict=True):
            for j, values in zip(at.columns.tolist(), factor.conventional(), strict=True):
                named[self.schema.names[j]] = values
        return named
