"""Rows drawn from a model, and their log densities on any choice of the columns.

Given the class, all columns are independent but those of one joint factor. So log p(x | C_k) on some columns
is the sum of their cells, and a matrix product scores the drawn rows for many choices at once. Cells are
rounded to a grid on which these sums are exact, so that the scores for one choice of columns do not depend on
which others are scored with it. Joint factors draw their columns anew for each choice, from the same noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.factors.base import Block
from suffice.factors.scores import CERTAIN, IMPOSSIBLE, Scores
from suffice.factors.words.totals import TextBlock
from suffice.kernels import threads
from suffice.kernels.cells import row_patterns
from suffice.links import log_sum
from suffice.model.solved.solution import SolvedModel
from suffice.tables.columns import LevelCells
from suffice.tables.table import Table
from suffice.text import Documents

CHOICES_AT_ONCE = 256
"""Choices of columns whose log densities are in memory at once."""
CELLS_AT_ONCE = 1 << 21
"""Log densities of cells that are in memory at once, if there are too many to keep."""
MOST_KEPT = 1 << 24
"""The most log densities of cells that are kept; more are computed again for the next choices."""
SCORES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Part:
    """Some of the drawn rows."""

    rows: slice
    noise: list[Array]
    """Standard normal numbers for each joint factor, (rows, columns)."""
    cells: Array
    """Log p of the cells of independent columns, (columns, classes, rows), without infinities."""
    orders: Array | None
    """Their orders, where some cell is infinite."""


class DrawnRows:
    """A table whose rows were drawn from these classes of a model, which are in order."""

    def __init__(self, solution: SolvedModel, classes: Codes, table: Table, rng: np.random.Generator) -> None:
        self.solution = solution
        self.classes = classes
        self.n_rows = table.n_rows
        self.factors = [*zip(solution.schema.factors, solution.factors, solution.factor_labels, strict=True)]
        n_cells = len(solution.schema) * len(solution.classes)
        self._blocks = [by_rows(block) for block in solution.schema.blocks(table)]
        self._joint = [(at, factor) for at, factor, _ in self.factors if at.family.joint]
        self._noise = [rng.standard_normal((self.n_rows, len(at.columns))) for at, _ in self._joint]
        step = max(1, CELLS_AT_ONCE // max(n_cells, 1))
        self._slices = [slice(i, min(i + step, self.n_rows)) for i in range(0, self.n_rows, step)]
        self._kept = [*self._read()] if self.n_rows * n_cells <= MOST_KEPT else None

    def log_p(self, choices: NDArray[np.bool_]) -> Iterator[Array]:
        """For each choice of columns, a row of `choices`, log p of the drawn rows on them."""
        for first in range(0, len(choices), CHOICES_AT_ONCE):
            yield from self._log_p(choices[first : first + CHOICES_AT_ONCE])

    def _log_p(self, choices: NDArray[np.bool_]) -> Array:
        result = np.empty((len(choices), self.n_rows))
        n_scores = len(self.solution.classes) * (self._slices[0].stop - self._slices[0].start)
        step = max(1, SCORES_AT_ONCE // n_scores)
        batches = [slice(i, i + step) for i in range(0, len(choices), step)]
        for part in self._kept or self._read():

            def score(batch: slice, part: Part = part) -> None:
                result[batch, part.rows] = log_sum(self._scores(part, choices[batch]).joint())

            with threads.one_thread_per_product():
                threads.run(score, batches)
        return result

    def _read(self) -> Iterator[Part]:
        solution = self.solution
        for rows in self._slices:
            cells = np.zeros((rows.stop - rows.start, len(solution.schema), len(solution.classes)))
            for (at, factor, labels), block in zip(self.factors, self._blocks, strict=True):
                if not at.family.joint:
                    cells[:, at.columns] = factor.contributions(block(rows), labels, base=True)
            infinite, orders = np.isinf(cells), None
            if infinite.any():
                orders = _columns_first(np.where(infinite, np.where(cells < 0, IMPOSSIBLE, CERTAIN), 0.0))
                cells[infinite] = 0.0
            noise = [one[rows] for one in self._noise]
            yield Part(rows, noise, _columns_first(_on_grid(cells)), orders)

    def _scores(self, part: Part, choices: NDArray[np.bool_]) -> Scores:
        """Joint scores, (choices, classes, rows)."""
        scores = Scores(_sums(choices, part.cells))
        scores.finite += self.solution.offset[:, np.newaxis]
        if part.orders is not None:
            scores.order = _sums(choices, part.orders)
        for (at, factor), noise in zip(self._joint, part.noise, strict=True):
            for seen, which in row_patterns(choices[:, at.columns]):
                scores.finite[which] += factor.simulated_scores(seen, self.classes[part.rows], noise).T
        return scores


def _columns_first(cells: Array) -> Array:
    return np.ascontiguousarray(cells.transpose(1, 2, 0))


def _on_grid(cells: Array) -> Array:
    """Cells, (rows, columns, classes), rounded so that every sum over columns is exact, in any order.

    The grid of a row and class is that of their Σ|cell| in floats, so nothing is lost that a sum would keep.
    """
    exponent = np.frexp(np.abs(cells).sum(axis=1, keepdims=True))[1] - 52
    return np.asarray(np.ldexp(np.rint(np.ldexp(cells, -exponent)), exponent))


def _sums(choices: NDArray[np.bool_], cells: Array) -> Array:
    """The sums of the chosen columns, (choices, classes, rows)."""
    product = choices.astype(np.float64) @ cells.reshape(len(cells), -1)
    return product.reshape(len(choices), *cells.shape[1:])


def by_rows(block: Block) -> Callable[[slice | Codes], Block]:
    """A block as a function of some rows, which are read fast."""
    if isinstance(block, LevelCells):
        return block.encoded()
    if isinstance(block, list):
        return lambda rows: [TextBlock(_some(one.documents, rows)) for one in block]
    by_row = block.tocsr() if sparse.issparse(block) else block
    return lambda rows: by_row[rows]


def _some(documents: Documents, rows: slice | Codes) -> Documents:
    return documents.part(rows.start, rows.stop) if isinstance(rows, slice) else documents.take(rows)
