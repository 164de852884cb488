"""The evidence of rows held out: each fold, or pair of folds, is scored by the sums of all other rows.

Folds of few rows are summed, solved and scored at once, side by side: each has columns of its own, in which
the rows that it does not learn from, or does not score, are missing. Joint blocks are summed fold by fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice import factors
from suffice.arrays import Array, Codes, Counts, read_only
from suffice.estimators.evidence.pieces import POWERS, Pieces
from suffice.estimators.evidence.read_cells import SchemaCells
from suffice.estimators.evidence.sums import rows_of_pairs, solve_joint, tables_of_pairs
from suffice.factors import SolvedFactor, Totals
from suffice.factors.base import Block
from suffice.factors.blocks import MISSING
from suffice.factors.gaussian.scores import scores_at_once
from suffice.factors.scores import Scores, bounded, zeros_by_class
from suffice.factors.words.scores import SolvedWords
from suffice.kernels.cells import row_runs
from suffice.model.statistics import Accumulator

Solve = Callable[[list[Totals], list[str], NDArray[Any]], list[list[SolvedFactor]]]
"""(several totals, labels, classes) → for each, the parameters of one factor, or of several of its sums."""


def solve_once(several: list[Totals], labels: list[str], classes: NDArray[Any]) -> list[list[SolvedFactor]]:
    """The parameters of a factor."""
    return [[factors.solve(totals, labels, classes)] for totals in several]


class CodedRows(NamedTuple):
    """The class of each row, labels[codes[i]], and its weight if rows have any."""

    labels: NDArray[Any]
    codes: Codes
    weights: Array | None


@dataclass(frozen=True)
class Folds:
    """Some folds that are scored by sums of the same classes."""

    held: list[Codes]
    """The rows of each."""
    places: list[int]
    """Where each is among all folds."""
    n_rows: int
    """Of all folds."""
    present: Codes
    """Which classes have rows behind the scores."""
    most: Array
    """Nats that a piece may say against a class, for each."""

    @cached_property
    def scored(self) -> Codes:
        """The rows of each fold, side by side; of one fold, in one dimension."""
        if len(self.held) == 1:
            return self.held[0]
        rows = np.full((max(map(len, self.held)), len(self.held)), MISSING)
        for place, fold in enumerate(self.held):
            rows[: len(fold), place] = fold
        return rows

    @cached_property
    def learnt(self) -> Codes:
        """All rows but those of each fold, in the same way."""
        rows = np.arange(self.n_rows)
        if len(self.held) == 1:
            return np.delete(rows, self.held[0])
        rows = rows[:, np.newaxis].repeat(len(self.held), axis=1)
        for place, fold in enumerate(self.held):
            rows[fold, place] = MISSING
        return read_only(rows[(rows != MISSING).any(axis=1)])

    def apart(self) -> list[Folds]:
        """Each fold by itself."""
        each = zip(self.held, self.places, self.most[:, np.newaxis], strict=True)
        return [Folds([fold], [place], self.n_rows, self.present, most) for fold, place, most in each]


class FoldSums:
    """The sums that folds of some rows are scored by, under one schema: before + others, or before − own.

    `sign` is 1 if the sums before lack the rows, −1 if they hold them, and 0 if nothing is to be changed.
    """

    def __init__(self, cells: SchemaCells, rows: CodedRows, before: Accumulator, sign: int) -> None:
        self.cells, self.rows, self.sign = cells, rows, sign
        self._is_checked = len(before.classes) > 0  # sums of these rows alone are right
        before.make_room(rows.labels)
        self.before = before.selected(np.arange(len(before.classes)))
        self.codes = np.searchsorted(self.before.classes, rows.labels)[rows.codes]

    def alike(self, folds: Sequence[Codes], *, at_once: bool) -> list[Folds]:
        """The folds that are scored at once: those behind which all classes are, if that is wanted."""
        supports, weights = zip(*map(self._behind, folds), strict=True)
        present = [np.flatnonzero(support > 0) for support in supports]
        most = np.log(np.maximum([weight.sum() for weight in weights], 2.0))
        whole = [i for i, some in enumerate(present) if len(some) == len(self.before.classes) and at_once]
        batches = [whole] * bool(whole) + [[i] for i in range(len(folds)) if i not in whole]
        return [
            Folds([folds[i] for i in some], some, len(self.codes), present[some[0]], most[some])
            for some in batches
        ]

    def _behind(self, fold: Codes) -> tuple[Counts, Array]:
        """The number of rows of each class behind the scores of a fold, and their weight."""
        some = np.delete(np.arange(len(self.codes)), fold) if self.sign > 0 else fold
        codes, weights = self.codes[some], None if self.rows.weights is None else self.rows.weights[some]
        k = len(self.before.classes)
        support, weight = np.bincount(codes, minlength=k), np.bincount(codes, weights, k)
        return self.before.support + self.sign * support, self.before.weight + self.sign * weight

    def classes(self, folds: Folds) -> NDArray[Any]:
        """The classes that have rows."""
        return self.before.classes[folds.present]

    def totals(self, folds: Folds) -> list[list[tuple[Folds, Totals]]]:
        """The sums of each factor: of all folds side by side, or of each of them."""
        each = [
            [(some, self._totals(at, some)) for some in ([folds] if together else folds.apart())]
            for at, together in enumerate(self.cells.side_by_side)
        ]
        if len(folds.held) == 1 and (self._is_checked or not len(folds.present)):
            support, weight = self._behind(folds.held[0])
            totals = [totals for ((_, totals),) in each]
            checked = Accumulator(self.before.schema, self.before.classes, weight, support, totals).solvable()
            return [[(folds, totals)] for totals in checked.totals]
        if len(folds.present) < len(self.before.classes):
            return [[(some, totals.take_classes(folds.present)) for some, totals in one] for one in each]
        return each

    def _totals(self, at: int, folds: Folds) -> Totals:
        before, m = self.before.totals[at], len(folds.held)
        every_class, every_column = np.arange(len(self.before.classes)), np.arange(before.n_columns)
        totals = before.take_classes(every_class) if m == 1 else before.take_columns(np.tile(every_column, m))
        if self.sign > 0:
            self._add(totals, at, folds.learnt, m)
        elif self.sign < 0:
            gone = before.empty(before.family, before.n_columns).take_classes(np.full(len(every_class), -1))
            self._add(gone, at, folds.scored, m)
            totals.add(gone, -1)
        return totals

    def _add(self, totals: Totals, at: int, rows: Codes, m: int) -> None:
        """Add some rows to sums of m times the columns."""
        if len(rows):
            some = rows if rows.ndim == 1 else rows.max(axis=1)
            weights = None if self.rows.weights is None else self.rows.weights[some]
            block, labels = self.cells.summed[at](rows), self.cells.labels[at] * m
            totals.prepare(block, labels, self.codes[some], weights, len(self.before.classes))(totals)

    def said(
        self,
        at: int,
        folds: Folds,
        sums: list[tuple[Folds, Totals]],
        solve: Solve = solve_once,
        widths: Sequence[int | None] = (None,),
    ) -> Array:
        """The evidence of a factor, (rows, folds, columns, classes); of a joint one, all of it.

        `widths` says how many columns each of several factors of the same sums reads.
        """
        labels, k = self.cells.labels[at] * len(sums[0][0].held), len(folds.present)
        solved = solve([totals for _, totals in sums], labels, self.classes(folds))
        rows = [some.scored for some, _ in sums]
        blocks = [self.cells.scored[at](some) for some in rows]
        parts = [
            _cells_of_each(several, blocks if n is None else [block[:, :n] for block in blocks], labels, k)
            for n, several in zip(widths, zip(*solved, strict=True), strict=True)
        ]
        each = parts[0]
        if len(parts) > 1:
            each = [np.concatenate(cells, axis=1) for cells in zip(*parts, strict=True)]
        said = each[0].reshape(len(rows[0]), len(sums[0][0].held), -1, k)
        if len(each) > 1:
            said = np.zeros((len(folds.scored), len(each), *each[0].shape[1:]))
            for place, one in enumerate(each):
                said[: len(one), place] = one
        return said


def _cells_of_each(
    several: Sequence[SolvedFactor], blocks: Sequence[Block], labels: list[str], n_classes: int
) -> list[Array]:
    """What each column says, or all of a joint factor together, of blocks that have a factor each."""
    at_once = scores_at_once(several, blocks) if len(several) > 1 else None
    if at_once is not None:
        return [scores[:, np.newaxis] for scores in at_once]
    return [_cells(*one, labels, n_classes) for one in zip(several, blocks, strict=True)]


def _cells(factor: SolvedFactor, block: Block, labels: list[str], n_classes: int) -> Array:
    """What each column of a factor says, (rows, columns, classes), or all of a joint one together.

    After the columns of text come the same, divided by each power of their length.
    """
    if factor.family.joint:
        scores = Scores(np.zeros((block.shape[0], n_classes)))
        factor.add_scores(block, labels, scores, base=False)
        return scores.joint()[:, np.newaxis]
    if isinstance(factor, SolvedWords):
        return np.concatenate(factor.contributions_by(block, labels, (0.0, *POWERS)), axis=1)
    return factor.contributions(block, labels, base=False)


def evidence(pieces: Pieces, base: FoldSums, beside: FoldSums, folds: Folds) -> list[Array]:
    """Log p of each piece but pairs for each class, (rows, pieces, classes) of each fold.

    It is up to what classes share. After all pieces come those of text once more, divided by each power of
    their length.
    """
    n_rows, m, k = len(folds.scored), len(folds.held), len(folds.present)
    n_columns, n_single = len(pieces.of_columns), len(pieces.steps) + len(pieces.presence)
    together = n_columns + n_single
    n_pieces, texts = together + len(pieces.joint_solves), pieces.texts
    found = zeros_by_class(n_rows, m, n_pieces + len(POWERS) * len(texts), k)
    places = np.empty(len(pieces.schema), dtype=np.intp)
    for piece, columns in enumerate(pieces.of_columns):
        places[columns] = piece
    powers = {int(pieces.of_columns[text][0]): n_pieces + i for i, text in enumerate(texts.tolist())}
    for at, (factor, sums) in enumerate(zip(pieces.schema.factors, base.totals(folds), strict=True)):
        said = base.said(at, folds, sums)
        columns = factor.columns[:1] if factor.family.joint else factor.columns
        _add_bounded(found, places[columns], said[:, :, : len(columns)], folds)
        for j, column in enumerate(columns.tolist() if said.shape[2] > len(columns) and len(texts) else ()):
            scaled = np.arange(powers[column], found.shape[2], len(texts))
            _add_bounded(found, scaled, said[:, :, len(columns) + j :: len(columns)], folds)
    for at, (factor, sums) in enumerate(zip(pieces.beside_schema.factors, beside.totals(folds), strict=True)):
        if factor.family.joint:
            widths = [one.n_columns for one in pieces.joint_solves]
            said = beside.said(at, folds, sums, partial(solve_joint, pieces), widths)
            _add_bounded(found, np.arange(together, n_pieces), said, folds)
        else:
            _add_bounded(found, n_columns + factor.columns, beside.said(at, folds, sums), folds)
    for rows in row_runs(n_rows, found[:1].size):
        part = found[rows]
        part -= part.mean(axis=3, keepdims=True)
    return [found[: len(fold), place] for place, fold in enumerate(folds.held)]


def _add_bounded(found: Array, places: Codes, said: Array, folds: Folds) -> None:
    """Add the bounded evidence of columns to the pieces at these places, a few rows at a time."""
    most, apart = folds.most[:, np.newaxis, np.newaxis], np.flatnonzero(np.diff(places) != 1) + 1
    runs = [*pairwise([0, *apart.tolist(), len(places)])]
    for rows in row_runs(len(said), said[:1].size):
        part = bounded(said[rows], most)
        for first, last in runs:
            found[rows, :, places[first] : places[first] + last - first] += part[:, :, first:last]


def evidence_of_pairs(pieces: Pieces, sums: FoldSums, folds: Folds, cells: Array) -> list[Array]:
    """The evidence of pairs for each class, (rows, pairs, classes) of each fold, up to what classes share."""
    ((_, totals),) = sums.totals(folds)[0]
    rows, n_pairs = rows_of_pairs(pieces.pairs, cells), len(pieces.pairs)
    found = []
    for place, (fold, most) in enumerate(zip(folds.held, folds.most.tolist(), strict=True)):
        own = totals.take_columns(place * n_pairs + np.arange(n_pairs))
        tables = enumerate(tables_of_pairs(pieces.pairs, own, most))
        each = [(table - table.mean(axis=1, keepdims=True))[rows[fold, j]] for j, table in tables]
        found.append(np.stack(each, axis=1))
    return found
