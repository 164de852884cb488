"""The sums behind all pieces of evidence, and the evidence that they give when they are solved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.estimators.evidence.pieces import POWERS, Pieces
from suffice.factors import SolvedFactor
from suffice.factors.base import Block
from suffice.factors.derived import CellOfPair
from suffice.factors.gaussian.solve import solve_gaussians
from suffice.factors.levels.scores import LevelTable, SolvedLevels
from suffice.factors.scores import Scores, bounded
from suffice.factors.weighed import weighed
from suffice.factors.words.scores import SolvedWords
from suffice.model.columns import Factor
from suffice.model.solution import SavedSearches, SolvedModel
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

    def __init__(
        self,
        pieces: Pieces,
        base: SolvedModel,
        beside: SolvedModel,
        sums: Parts,
        full: SolvedFactor | None,
    ) -> None:
        self.pieces, self.base, self.beside = pieces, base, beside
        self.full = full
        """The joint Gaussian with a covariance for each class."""
        self.classes = base.classes
        self.most = most_nats(sums[0])
        self._sums = sums

    @classmethod
    def of(cls, pieces: Pieces, sums: Parts) -> Self:
        """The parameters of these sums."""
        saved, full = _joint_gaussians(pieces, sums[1])
        return cls(
            pieces, SolvedModel.of(sums[0], None), SolvedModel.of(sums[1], "uniform", saved), sums, full
        )

    @classmethod
    def of_each(cls, pieces: Pieces, several: Sequence[Parts]) -> list[Self]:
        """The parameters of several sums, to score rows; sums of the same classes are solved at once."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for i, sums in enumerate(several):
            alike.setdefault(tuple(sums[0].classes.tolist()), []).append(i)
        found: dict[int, Self] = {}
        for places in alike.values():
            base = SolvedModel.of_each([several[i][0] for i in places], None)
            joint, full = zip(*(_joint_gaussians(pieces, several[i][1]) for i in places), strict=True)
            beside = SolvedModel.of_each([several[i][1] for i in places], "uniform", joint)
            for i, of_table, of_derived, own in zip(places, base, beside, full, strict=True):
                found[i] = cls(pieces, of_table, of_derived, several[i], own)
        return [found[i] for i in range(len(several))]

    @cached_property
    def pair_tables(self) -> list[Array]:
        """The bounded evidence of the cells of each pair."""
        return solved_pairs(self.pieces.pairs, self._sums[2])

    def evidence(self, base: list[Block], beside: list[Block], n_rows: int) -> Array:
        """Log p of each piece but pairs for each class, (rows, pieces, classes), up to what classes share.

        `base` and `beside` are the cells of the rows, as the factors of the table and of the derived columns
        read them. After all pieces come those of text once more, divided by each power of their length.
        """
        pieces, k = self.pieces, len(self.classes)
        n_columns, n_single = len(pieces.of_columns), len(pieces.steps) + len(pieces.presence)
        together = n_columns + n_single
        n_pieces, texts = together + bool(pieces.joint) + pieces.has_full, pieces.texts
        found = np.zeros((n_rows, n_pieces + len(POWERS) * len(texts), k))
        of_columns = np.zeros((n_rows, len(self.base.schema), k))
        places = {int(pieces.of_columns[text][0]): n_pieces + i for i, text in enumerate(texts.tolist())}
        for at, factor, labels, block in _factors(self.base, base):
            if len(texts) and isinstance(factor, SolvedWords):
                said = bounded(factor.contributions_by(block, labels, (0.0, *POWERS)), self.most)
                of_columns[:, at.columns] = said[0]
                for j, column in enumerate(at.columns.tolist()):
                    found[:, places[column] :: len(texts)] = said[1:, :, j].swapaxes(0, 1)
                continue
            of_columns[:, at.columns] = self._unweighed(factor, at).contributions(block, labels, base=False)
        for i, columns in enumerate(pieces.of_columns):
            of_columns[:, columns].sum(axis=1, out=found[:, i])
        for at, factor, labels, block in _factors(self.beside, beside):
            if at.family.joint:
                for i, one in enumerate((factor,) if self.full is None else (factor, self.full)):
                    found[:, together + i] = _scores(self._unweighed(one, at), block, labels, k)
            else:
                cells = self._unweighed(factor, at).contributions(block, labels, base=False)
                found[:, n_columns + at.columns] = cells
        found -= found.mean(axis=2, keepdims=True)
        return found

    def _unweighed(self, factor: SolvedFactor, at: Factor) -> SolvedFactor:
        """A factor of bounded evidence, whose columns have the weight 1."""
        return weighed(factor, np.ones(len(at.columns)), self.most)


def _joint_gaussians(pieces: Pieces, beside: Statistics) -> tuple[SavedSearches, SolvedFactor | None]:
    """The joint Gaussian of derived columns, at its place among their factors, if it is solved twice.

    The second time is with a covariance for each class.
    """
    found: SavedSearches = [None] * len(beside.totals)
    if not pieces.has_full:
        return found, None
    at = next(i for i, one in enumerate(beside.schema.factors) if one.family.joint)
    families = [pieces.joint_family, pieces.full_family]
    labels = beside.schema.factor_labels[at]
    found[at], full = solve_gaussians(beside.totals[at], labels, beside.classes, families)
    return found, full


def most_nats(sums: Statistics) -> float:
    """Nats that a piece may say against a class: no more than the rows know."""
    return math.log(max(float(sums.weight.sum()), 2.0))


def _factors(
    model: SolvedModel, blocks: list[Block]
) -> Iterator[tuple[Factor, SolvedFactor, list[str], Block]]:
    """The factors of a model, each with its cells."""
    return zip(model.schema.factors, model.factors, model.factor_labels, blocks, strict=True)


def _scores(factor: SolvedFactor, block: Block, labels: list[str], n_classes: int) -> Array:
    """What all columns of a factor say together."""
    scores = Scores(np.zeros((len(block), n_classes)))
    factor.add_scores(block, labels, scores, base=False)
    return scores.finite


def rows_of_pairs(pairs: Sequence[CellOfPair], cells: Array) -> NDArray[np.intp]:
    """The row of each pair's table that a row reads; the last where a cell is missing."""
    sizes = np.array([pair.size for pair in pairs])
    return np.where(np.isnan(cells), sizes, cells).astype(np.intp)


def solved_pairs(pairs: Sequence[CellOfPair], sums: Statistics) -> list[Array]:
    """For each pair, the bounded evidence of its cells beyond the two columns by themselves."""
    most = most_nats(sums)
    return [bounded(one, most) for one in _pair_tables(pairs, SolvedModel.of(sums, "uniform"))]


def evidence_of_pairs(pairs: Sequence[CellOfPair], sums: Statistics, cells: Array) -> Array:
    """The evidence of pairs for each class, (rows, pairs, classes), up to what classes share."""
    rows = rows_of_pairs(pairs, cells)
    found = np.zeros((len(cells), len(pairs), len(sums.classes)))
    for j, table in enumerate(solved_pairs(pairs, sums)):
        found[:, j] = (table - table.mean(axis=1, keepdims=True))[rows[:, j]]
    return found


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
