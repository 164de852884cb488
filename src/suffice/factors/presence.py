"""Whether cells are there, as evidence: log p(there | C_k) beside the log density of what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.export.expressions import (
    Expression,
    Gaps,
    Missing,
    Score,
    Where,
    all_of,
    as_expression,
    total_score,
)
from suffice.factors.base import Block, Separation, SolvedFactor, Totals, divergences
from suffice.factors.left_out import LabelledBlock, sums_of_others
from suffice.factors.natural import NaturalForm, not_linear
from suffice.factors.scores import Scores
from suffice.families import Bernoulli, Family

ALPHA = 1.0
"""Pseudo-counts of a cell that is there and of one that is missing, as in a `Bernoulli` column."""
FindGaps = Callable[[Block], tuple[Codes, Codes]]
"""The rows and columns of the missing cells of a block: `Totals.gaps`."""


def are_there_together(family: Family) -> bool:
    """Whether the columns of a block are there or missing together."""
    return family.factor == "counts"


def log_chances(present: Array, weight: Array) -> tuple[Array, Array]:
    """Log p and log(1 − p) for p = (n + α)/(N + 2α), of cells with weight n in rows of weight N."""
    whole = np.log(weight + 2.0 * ALPHA)
    absent = np.maximum(weight - present, 0.0)  # forgotten rows may leave rounding errors
    return np.log(present + ALPHA) - whole, np.log(absent + ALPHA) - whole


class WithPresence(SolvedFactor):
    """A factor that also scores whether the cells of some of its columns are there.

    The columns of a block of counts are there or missing together, so they have one chance.
    """

    def __init__(
        self,
        inner: SolvedFactor,
        find_gaps: FindGaps,
        present: Array,
        weight: Array,
        scored: NDArray[np.bool_],
    ) -> None:
        """Take the weight of the cells that are there (classes, columns) and of the rows (classes,)."""
        self.inner, self.find_gaps = inner, find_gaps
        self.present, self.weight, self.scored = present, weight, scored
        self.is_whole = are_there_together(inner.family)
        self.family, self.regularized = inner.family, inner.regularized
        self.has_density, self.ignores_priors = inner.has_density, inner.ignores_priors
        self.is_given_length = inner.is_given_length
        there, gone = log_chances(self._of_units(present), weight[:, np.newaxis])
        self.on = np.array([scored.any()]) if self.is_whole else scored
        self.there, self.gone = (np.where(self.on[:, np.newaxis], log.T, 0.0) for log in (there, gone))
        self.n_parameters = inner.n_parameters + len(weight) * int(self.on.sum())

    def _of_units(self, by_column: Array) -> Array:
        """One of the columns for all that are there together."""
        return by_column[:, :1] if self.is_whole else by_column

    @property
    def chance(self) -> Array:
        """p(there | C_k), (classes, columns), where it is scored."""
        return np.asarray(np.broadcast_to(np.exp(self.there).T, self.present.shape))

    def saved_search(self) -> dict[str, Any]:
        return self.inner.saved_search()

    @property
    def log_likelihood(self) -> float:
        n = self._of_units(self.present).T
        absent = np.maximum(self.weight - n, 0.0)
        return self.inner.log_likelihood + float(np.sum(n * self.there + absent * self.gone))

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        self.inner.add_scores(block, labels, scores, base=base)
        scores.finite += self.there.sum(axis=0)
        rows, columns = self.find_gaps(block)
        np.add.at(scores.finite, rows, (self.gone - self.there)[columns])

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        terms: list[Expression] = []
        for j in np.flatnonzero(self.on).tolist():
            there, gone = self.there[j], self.gone[j]
            if self.is_whole:
                whole = all_of([~Missing(column) for column in columns])
                terms.append(Where(whole, as_expression(there), as_expression(gone)))
            else:
                terms.append(self.inner.where_there(j, columns[j], there, gone))
        return total_score([self.inner.expression(columns, labels, gaps), *map(Score, terms)])

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        """Log p of each cell and of its being there; what columns have together is shared evenly."""
        cells = self.inner.contributions(block, labels, base=base)
        return np.asarray(cells + self._presence(block, len(cells)) * (len(self.there) / cells.shape[1]))

    def alone(self, block: Block, labels: list[str]) -> Array:
        cells = self.inner.alone(block, labels)
        return np.asarray(cells + self._presence(block, len(cells)))

    def _presence(self, block: Block, n_rows: int) -> Array:
        """Log p of each cell's being there or missing, (n, d, k), or (n, 1, k) of all together."""
        presence = np.broadcast_to(self.there, (n_rows, *self.there.shape)).copy()
        rows, columns = self.find_gaps(block)
        presence[rows, columns] = self.gone[columns]
        return presence

    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return self.inner.observed(block, labels)

    def take_columns(self, index: Codes) -> SolvedFactor:
        inner = self.inner.take_columns(index)
        return WithPresence(inner, self.find_gaps, self.present[:, index], self.weight, self.scored[index])

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        return self.inner.sample(classes, rng)

    def separation(self) -> Separation:
        """How far apart cells that are there hold the classes, plus how far apart their presence does."""
        cells = self.inner.separation()
        found = divergences(Bernoulli(), (self.there - self.gone).T[np.newaxis])
        presence = Separation.of_independent(*(np.moveaxis(one, -1, 0) for one in found))
        return Separation(
            cells.kl + presence.kl,
            cells.bhattacharyya + presence.bhattacharyya,
            cells.joint_kl + presence.joint_kl,
            cells.joint_bhattacharyya + presence.joint_bhattacharyya,
        )

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        if not self.scored.any():
            return self.inner.natural_forms(names, about)
        why = "whether a cell is there is evidence too"
        raise not_linear(names[int(np.argmax(self.scored))], self.family.name, why, "use missing='ignore'")

    def conventional(self) -> list[dict[str, Any]]:
        each = zip(self.inner.conventional(), self.chance.T, self.scored, strict=True)
        return [{**parameters, "presence": chance} if on else parameters for parameters, chance, on in each]


def presence_left_out(rows: LabelledBlock, totals: Totals, scored: NDArray[np.bool_]) -> Array:
    """Log p of which cells of each row are there, (n, k), by the model of all other rows."""
    n, k, present = len(rows.codes), len(rows.classes), totals.presence()
    if are_there_together(totals.family):
        present, scored = present[:, :1], np.array([scored.any()])
    absent = np.zeros((n, len(scored)), dtype=np.bool_)
    absent[totals.gaps(rows.block)] = True
    own = np.arange(n), rows.codes
    weight = np.repeat(rows.weight[np.newaxis], n, axis=0)
    weight[own] = sums_of_others(rows.weights, rows.codes, k)
    scores = np.zeros((n, k))
    for j in np.flatnonzero(scored).tolist():
        held = np.repeat(present[np.newaxis, :, j], n, axis=0)
        held[own] = sums_of_others(np.where(absent[:, j], 0.0, rows.weights), rows.codes, k)
        there, gone = log_chances(held, weight)
        scores += np.where(absent[:, [j]], gone, there)
    return scores
