"""The sums behind all pieces of evidence, and the evidence that they give when they are solved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice import factors
from suffice.arrays import Array, Codes, Counts
from suffice.estimators.evidence.pieces import Pieces
from suffice.factors import SolvedFactor, Totals
from suffice.factors.derived import CellOfPair
from suffice.factors.gaussian.solve import solve_gaussians
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.levels.totals import LevelCounts, LevelTotals
from suffice.factors.scores import bounded
from suffice.model.solved.solution import SavedSearches, SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.table import Table
from suffice.tables.wording import quoted

Parts = tuple[Statistics, Statistics, Statistics]
"""The sums of the table, of the derived columns, and of pairs."""
MOST_WEIGHT = 2.0**33
"""The weight of all rows by which evidence is weighed and solved: beyond, only ratios of weights matter."""


class PieceSums:
    """Sums of all pieces, which are updated in place."""

    def __init__(self, pieces: Pieces, accumulators: Sequence[Accumulator]) -> None:
        self.pieces = pieces
        self.accumulators = list(accumulators)

    @classmethod
    def empty(cls, pieces: Pieces) -> Self:
        """No rows yet."""
        return cls(pieces, [Accumulator.empty(schema) for schema in pieces.schemas])

    @classmethod
    def of(cls, pieces: Pieces, parts: Parts) -> Self:
        """A mutable copy."""
        return cls(pieces, [Accumulator.of(part) for part in parts])

    def update(
        self, table: Table, labels: NDArray[Any], codes: Codes, counts: Counts, weights: Array | None
    ) -> None:
        """Add rows of positive weight; what cannot be summed is refused before anything changes."""
        for accumulator, rows in zip(self.accumulators, self.pieces.tables(table), strict=True):
            accumulator.update(accumulator.schema.blocks(rows), labels, codes, counts, weights)

    def add(self, parts: Parts, sign: int) -> None:
        """Add or subtract the sums of other rows."""
        for accumulator, part in zip(self.accumulators, parts, strict=True):
            accumulator.add(part, sign)

    def times(self, factor: float) -> PieceSums:
        """The sums if each row counted so many times."""
        if factor == 1.0:
            return self
        base, beside, pairs = self.statistics()
        return PieceSums.of(self.pieces, (factor * base, factor * beside, factor * pairs))

    @property
    def too_heavy(self) -> float:
        """How many times too large the weight of all rows is."""
        return too_heavy(self.accumulators[0].weight)

    def problem(self) -> str | None:
        """Why no data could produce these sums, or None."""
        base, beside, _ = self.accumulators
        labels = [self.pieces.schema.labels[one.columns[0]] for one in self.pieces.beside]
        return base.problem() or beside.problem(labels) or self._problem_of_pairs()

    def _problem_of_pairs(self) -> str | None:
        """The same for pairs of columns, whose levels are places that say nothing to a reader."""
        sums = self.accumulators[2]
        size = float(np.abs(sums.weight).sum())
        counts = [one for totals in sums.totals if isinstance(totals, LevelTotals) for one in totals.columns]
        for pair, counted in zip(self.pieces.pairs, counts, strict=True):
            if counted.problem(size) or (counted.support.sum(axis=1) > sums.support).any():
                first, second = (quoted(self.pieces.schema.names[j]) for j in pair.columns)
                return (
                    f"columns {first} and {second} would have a negative row count for some values together"
                )
        return None

    def statistics(self) -> Parts:
        """Immutable copies."""
        base, beside, pairs = (one.statistics() for one in self.accumulators)
        return base, beside, pairs

    def solvable(self) -> Parts:
        """The sums of the classes that have rows, if any data could produce them."""
        base, beside, pairs = (one.solvable() for one in self.accumulators)
        return base, beside, pairs


class SolvedPieces:
    """The parameters of every piece."""

    def __init__(
        self,
        pieces: Pieces,
        base: SolvedModel,
        beside: SolvedModel,
        sums: Parts,
        further: Sequence[SolvedFactor],
    ) -> None:
        self.pieces, self.base, self.beside = pieces, base, beside
        self.further = further
        """All joint Gaussians but the first, which stands beside the derived columns."""
        self.classes = base.classes
        self.most = most_nats(sums[0])
        self._sums = sums

    @classmethod
    def of(cls, pieces: Pieces, sums: Parts) -> Self:
        """The parameters of these sums."""
        beside = sums[1]
        solved: SavedSearches = [None] * len(beside.totals)
        further: list[SolvedFactor] = []
        for at, labels in enumerate(beside.schema.factor_labels):
            if beside.schema.factors[at].family.joint:
                ((solved[at], *further),) = solve_joint(pieces, [beside.totals[at]], labels, beside.classes)
        models = SolvedModel.of(sums[0], None), SolvedModel.of(beside, "uniform", solved)
        return cls(pieces, *models, sums, further)

    @cached_property
    def pair_tables(self) -> list[Array]:
        """The bounded evidence of the cells of each pair."""
        sums = self._sums[2]
        most = most_nats(sums)
        return [one for totals in sums.totals for one in tables_of_pairs(self.pieces.pairs, totals, most)]


def solve_joint(
    pieces: Pieces, several: Sequence[Totals], labels: list[str], classes: NDArray[Any]
) -> list[list[SolvedFactor]]:
    """All joint Gaussians of each of some sums."""
    sums = [totals for totals in several if isinstance(totals, GaussianTotals)]
    if len(pieces.joint_solves) == 1 or len(sums) < len(several):
        return [[factors.solve(totals, labels, classes)] for totals in several]
    found: list[list[SolvedFactor]] = [[] for _ in sums]
    for n, alike in groupby(pieces.joint_solves, lambda one: one.n_columns):
        first = sums if n == len(pieces.joint) else [totals.take_columns(np.arange(n)) for totals in sums]
        solved = solve_gaussians(first, labels[:n], classes, [one.family for one in alike])
        for one, more in zip(found, solved, strict=True):
            one.extend(more)
    return found


def too_heavy(weight: Array | None) -> float:
    """How many times too large weights are together: a power of 2, so that sums are divided exactly."""
    total = 0.0 if weight is None else float(weight.sum())
    return 2.0 ** math.ceil(math.log2(total / MOST_WEIGHT)) if total > MOST_WEIGHT else 1.0


def most_nats(sums: Statistics) -> float:
    """Nats that a piece may say against a class: no more than the rows know."""
    return math.log(max(float(sums.weight.sum()), 2.0))


def rows_of_pairs(pairs: Sequence[CellOfPair], cells: Array) -> NDArray[np.intp]:
    """The row of each pair's table that a row reads; the last where a cell is missing."""
    sizes = np.array([pair.size for pair in pairs])
    return np.where(np.isnan(cells), sizes, cells).astype(np.intp)


def tables_of_pairs(pairs: Sequence[CellOfPair], totals: Totals, most: float) -> list[Array]:
    """For each pair, the bounded evidence of its cells beyond the two columns by themselves."""
    if not isinstance(totals, LevelTotals):
        return []
    return [bounded(_pair_table(*one), most) for one in zip(pairs, totals.columns, strict=True)]


def _pair_table(pair: CellOfPair, counted: LevelCounts) -> Array:
    """What the cells of a pair say beyond the two columns by themselves, (cells + 1, classes).

    It is log p(i, j | C_k) − log p(i | C_k) − log p(j | C_k); nothing where a cell is missing.

    There is one pseudo-row for each cell, as in Laplace's correction; but they are spread as if the columns
    were independent, which the table departs from as far as the rows say so.
    """
    k = counted.weight.shape[0]
    n = np.zeros((k, pair.size))
    n[:, np.array(counted.levels, dtype=np.intp)] = np.where(counted.support > 0, counted.weight, 0.0)
    counts = n.reshape(k, pair.first.size, pair.second.size)
    total = counts.sum(axis=(1, 2), keepdims=True)
    first = (counts.sum(axis=2, keepdims=True) + 0.5) / (total + 0.5 * pair.first.size)
    second = (counts.sum(axis=1, keepdims=True) + 0.5) / (total + 0.5 * pair.second.size)
    alone = first * second
    together = (counts + pair.size * alone) / (total + pair.size)
    table = np.log(together / alone).reshape(k, pair.size).T
    return np.vstack([table, np.zeros(k)])
