"""What single cells say beyond all evidence that is weighed: corrections δ_jk(x_j), shrunk toward 0.

They are a softmax regression beside scores that are known, whose inputs say which cells a row lies in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.kernels.cells import as_rows
from suffice.model.weighing.known_rows import KnownRows
from suffice.model.weighing.piece_weights import CONVERGED, solver_of
from suffice.model.weighing.quasi_newton import Solve, minimise

GUESSED_FROM = 2_000
"""Rows from which the curvature of corrections is guessed."""


@dataclass(frozen=True)
class CorrectionDesign:
    """Which cells rows lie in, and how corrections of cells are made of what is shrunk toward 0.

    Levels are shrunk each by itself. Neighbouring intervals are shrunk toward each other: what is shrunk are
    the jumps from one to the next.
    """

    cells: sparse.csr_array
    """(n, m), 1 where a row lies in a cell."""
    jumps: sparse.csr_array
    """(m, p): corrections as sums of what is shrunk."""
    places: Codes
    """(n, d), the cell of each column that a row lies in; m where it is missing."""
    first: Codes
    """The first cell of each column, and m."""

    @classmethod
    def of(cls, codes: Array, sizes: Sequence[int], ordered: Sequence[bool]) -> CorrectionDesign:
        """The design of coarse cells (n, d), NaN where missing, of so many cells each."""
        first = np.cumsum([0, *sizes])
        there = ~np.isnan(codes)
        places = np.where(there, codes + first[:-1], first[-1]).astype(np.intp)
        starts = np.append(0, np.cumsum(np.count_nonzero(there, axis=1)))
        cells = as_rows(starts, places[there], np.ones(starts[-1]), int(first[-1]))
        blocks = [
            np.tril(np.ones((size, size)))[:, 1:] if in_order else np.eye(size)
            for size, in_order in zip(sizes, ordered, strict=True)
        ]
        return cls(cells, sparse.csr_array(sparse.block_diag(blocks)), places, first)

    def curvature(self, of_rows: Array) -> Array:
        """Σ_n v_n·x_n·x_nᵀ, with x_n what is shrunk and v_n the curvature of a row's loss in its scores."""
        m = self.jumps.shape[0]
        cells = np.zeros((m + 1, m + 1))
        for j, (begin, end) in enumerate(pairwise(self.first.tolist())):
            # All columns up to this one, whose cells come before: half of a symmetric matrix.
            own = np.minimum(self.places[:, j], end) - begin
            both = own[:, np.newaxis] * (m + 1) + self.places[:, : j + 1]
            sums = np.bincount(both.ravel(), np.repeat(of_rows, j + 1), (end - begin + 1) * (m + 1))
            cells[begin:end] = sums.reshape(-1, m + 1)[: end - begin]
        half = cells[:m, :m]
        whole = half + half.T - np.diag(half.diagonal())
        return np.asarray(self.jumps.T @ (self.jumps.T @ whole).T)


class CorrectionSearch:
    """Corrections (cells, classes) of least penalised loss, for one ridge or choice of rows after another."""

    def __init__(self, design: CorrectionDesign, rows: KnownRows, posteriors: Array) -> None:
        """Posteriors (k, n) are those of the rows before corrections, from which the curvature is guessed."""
        self.design, self.rows = design, rows
        self._of_cells, self._of_jumps = design.cells.T, design.jumps.T
        # The mean curvature in the scores of all classes is that of each, and some rows show it: a guess that
        # one matrix holds.
        some = slice(None, None, -(-len(rows.codes) // GUESSED_FROM))
        curvature = rows.weight * np.sum(posteriors * (1.0 - posteriors), axis=0) / (len(posteriors) - 1)
        part = replace(design, places=design.places[some]).curvature(curvature[some])
        self._curvature = part * (float(curvature.sum()) / max(float(curvature[some].sum()), 1e-300))
        self._known: dict[tuple[float, float], Solve] = {}

    def learn(
        self,
        offset: Array,
        ridge: float,
        weight: Array | None = None,
        start: Array | None = None,
        converged: float = CONVERGED,
    ) -> tuple[Array, Array]:
        """Corrections beside an offset (n, k), of rows with these weights, and what they are made of."""
        starts = None if start is None else [start]
        weights = [self.rows.weight if weight is None else weight]
        return self.learn_each([offset], ridge, weights, starts, converged)[0]

    def learn_each(
        self,
        offsets: Sequence[Array],
        ridge: float,
        weights: Sequence[Array],
        starts: Sequence[Array] | None = None,
        converged: float = CONVERGED,
    ) -> list[tuple[Array, Array]]:
        """The same beside each of some offsets, of rows with weights of its own: all in one search."""
        rows = replace(self.rows, weight=np.stack(weights))
        beside = np.stack([offset.T for offset in offsets])
        cells, jumps = self.design.cells, self.design.jumps
        m, k, n = beside.shape
        p = jumps.shape[1]

        def at(flat: Array) -> tuple[Array, Array]:
            added = cells @ (jumps @ _side_by_side(flat, k))
            loss, posteriors = rows.loss_and_posteriors(beside + added.T.reshape(m, k, n))
            residuals = np.ascontiguousarray(rows.residuals_of(posteriors).reshape(m * k, n).T)
            slope = _one_by_one(self._of_jumps @ (self._of_cells @ residuals), k) + ridge * flat
            return loss + 0.5 * ridge * np.vecdot(flat, flat), slope

        sizes = rows.weight.sum(axis=1)
        begin = np.zeros((m, p * k)) if starts is None else np.stack(starts)
        known = self._solver(ridge, float(sizes.mean()))
        found = minimise(at, begin, converged * sizes, known, None, rough=True)
        return [(np.asarray(jumps @ one.reshape(p, k)), one) for one in found]

    def _solver(self, ridge: float, size: float) -> Solve:
        """The product of the inverse of what is guessed for a Hessian with slopes."""
        # Folds differ by a row or so, and need no guess of their own.
        share, k = round(size / float(self.rows.weight.sum()), 2), self.rows.n_classes
        if (ridge, share) not in self._known:
            solve = solver_of(share * self._curvature + ridge * np.eye(len(self._curvature)))
            self._known[ridge, share] = lambda slopes: _one_by_one(solve(_side_by_side(slopes, k).T).T, k)
        return self._known[ridge, share]


def _side_by_side(each: Array, k: int) -> Array:
    """Several tables of k columns, one in each row, as one table."""
    tables = each.reshape(len(each), -1, k)
    return np.concatenate(tables, axis=1) if len(tables) > 1 else tables[0]


def _one_by_one(table: Array, k: int) -> Array:
    """Tables of k columns that are side by side, one in each row."""
    parts = table.reshape(len(table), -1, k)
    return np.asarray(parts.transpose(1, 0, 2).reshape(parts.shape[1], -1))
