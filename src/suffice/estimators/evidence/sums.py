"""The sums behind all pieces of evidence, and the evidence that they give when they are solved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice import factors
from suffice.arrays import Array, Codes, Counts
from suffice.estimators.evidence.pieces import Pieces
from suffice.factors import SolvedFactor
from suffice.factors.base import Block
from suffice.factors.derived import CellOfPair
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.scores import Scores, bounded
from suffice.factors.weighed import weighed
from suffice.model.columns import Factor
from suffice.model.solution import SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.table import Table

Parts = tuple[Statistics, Statistics, Statistics]
"""The sums of the table, of the derived columns, and of pairs."""


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

    def problem(self) -> str | None:
        """Why no data could produce these sums, or None."""
        return next(filter(None, (one.problem() for one in self.accumulators)), None)

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

    def __init__(self, pieces: Pieces, parts: Parts) -> None:
        base, beside, pairs = parts
        self.pieces = pieces
        self.base = SolvedModel.of(base, None)
        self.classes = self.base.classes
        self.most = math.log(max(float(base.weight.sum()), 2.0))
        """Nats that a piece may say against a class: no more than the rows know."""
        self.beside = SolvedModel.of(beside, "uniform")
        self.full: SolvedFactor | None = None
        if pieces.has_full:
            at = next(i for i, one in enumerate(beside.schema.factors) if one.family.joint)
            totals, labels = (
                beside.totals[at].with_family(pieces.full_family),
                beside.schema.factor_labels[at],
            )
            self.full = factors.solve(totals, labels, self.classes)
        tables = _pair_tables(pieces.pairs, SolvedModel.of(pairs, "uniform"))
        self.pair_tables = [bounded(one, self.most) for one in tables]

    def evidence(self, table: Table) -> Array:
        """Log p of each piece for each class, (rows, pieces, classes), without what classes share."""
        base, beside, pairs = self.pieces.tables(table)
        pieces, k = self.pieces, len(self.classes)
        cells = np.zeros((table.n_rows, len(self.base.schema), k))
        for at, factor, labels, block in _factors(self.base, base):
            cells[:, at.columns] = self._unweighed(factor, at).contributions(block, labels, base=False)
        found = [cells[:, columns].sum(axis=1) for columns in pieces.of_columns]
        single = np.zeros((table.n_rows, len(pieces.steps) + len(pieces.presence), k))
        together: list[Array] = []
        for at, factor, labels, block in _factors(self.beside, beside):
            if at.family.joint:
                both = (factor,) if self.full is None else (factor, self.full)
                together += [_scores(self._unweighed(one, at), block, labels, k) for one in both]
            else:
                single[:, at.columns] = self._unweighed(factor, at).contributions(block, labels, base=False)
        found += [*single.swapaxes(0, 1), *together]
        places = rows_of_pairs(pieces.pairs, pairs)
        found += [one[places[:, j]] for j, one in enumerate(self.pair_tables)]
        evidence = np.stack(found, axis=1) if found else np.zeros((table.n_rows, 0, k))
        return np.asarray(evidence - evidence.mean(axis=2, keepdims=True))

    def _unweighed(self, factor: SolvedFactor, at: Factor) -> SolvedFactor:
        """A factor of bounded evidence, whose columns have the weight 1."""
        return weighed(factor, np.ones(len(at.columns)), self.most)


def _factors(model: SolvedModel, table: Table) -> Iterator[tuple[Factor, SolvedFactor, list[str], Block]]:
    """The factors of a model, each with its cells."""
    schema = model.schema
    return zip(schema.factors, model.factors, model.factor_labels, schema.blocks(table), strict=True)


def _scores(factor: SolvedFactor, block: Block, labels: list[str], n_classes: int) -> Array:
    """What all columns of a factor say together."""
    scores = Scores(np.zeros((len(block), n_classes)))
    factor.add_scores(block, labels, scores, base=False)
    return scores.finite


def rows_of_pairs(pairs: Sequence[CellOfPair], table: Table) -> NDArray[np.intp]:
    """The row of each pair's table that a row reads; the last where a cell is missing."""
    codes = table.numbers(slice(None)) if pairs else np.zeros((table.n_rows, 0))
    sizes = np.array([pair.size for pair in pairs])
    return np.where(np.isnan(codes), sizes, codes).astype(np.intp)


def _pair_tables(pairs: Sequence[CellOfPair], solved: SolvedModel) -> list[Array]:
    """For each pair, what its cells say beyond the two columns by themselves, (cells + 1, classes)."""
    tables: list[Array] = []
    for factor in solved.factors:
        if isinstance(factor, SolvedLevels):
            tables += [_pair_table(pair, one) for pair, one in zip(pairs, factor.tables, strict=True)]
    return tables


def _pair_table(pair: CellOfPair, counted: LevelTable) -> Array:
    """log p(i, j | C_k) − log p(i | C_k) − log p(j | C_k); nothing where a cell is missing.

    There is one pseudo-row for each cell, as in Laplace's correction; but they are spread as if the columns
    were independent, which the table departs from as far as the rows say so.
    """
    k = counted.weight.shape[0]
    n = np.zeros((k, pair.size))
    n[:, np.array(counted.levels, dtype=np.intp)] = counted.weight
    counts = n.reshape(k, pair.first.size, pair.second.size)
    total = counts.sum(axis=(1, 2), keepdims=True)
    first = (counts.sum(axis=2, keepdims=True) + 0.5) / (total + 0.5 * pair.first.size)
    second = (counts.sum(axis=1, keepdims=True) + 0.5) / (total + 0.5 * pair.second.size)
    alone = first * second
    together = (counts + pair.size * alone) / (total + pair.size)
    table = np.log(together / alone).reshape(k, pair.size).T
    return np.vstack([table, np.zeros(k)])
