"""Scores of terms: what one count of a column, or one word, adds to the score of each class.

Most columns are never seen in most classes, and all unseen columns of a class have the same score. So each
class has one default, and each column it has seen the difference from that default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array
from suffice.factors.scores import IMPOSSIBLE
from suffice.factors.sparse_sums import SparseSums

DENSE_BYTES = 1 << 26
"""Scores up to this size are kept as a plain matrix, which multiplies faster."""


@dataclass
class TermScores:
    """The score of each column in each class: `default[class]` + `beyond[column, class]`."""

    beyond: Any
    """(columns, classes), sparse where large."""
    default: Array
    baseline: Array
    """The score of an empty row."""

    @classmethod
    def of(cls, entries: SparseSums, beyond: Array, size: int, default: Array, baseline: Array) -> TermScores:
        """From the difference between each entry's score and the default."""
        n_classes = len(default)
        if not are_large(n_classes, size):
            dense = np.zeros((size, n_classes))
            dense[entries.columns, entries.classes] = beyond
            return cls(dense, default, baseline)
        by_class = rows_of_entries(beyond, entries.columns, entries.starts(n_classes), size)
        return cls(by_class.T.tocsr(), default, baseline)

    def of_entries(self, entries: SparseSums) -> Array:
        """The score of each of some entries."""
        beyond = np.asarray(self.beyond[entries.columns, entries.classes]).reshape(-1)
        return np.asarray(beyond + self.default[entries.classes])

    def scores(self, x: Any, lengths: Array) -> Array:
        """Σ x·score of each row."""
        product = x @ self.beyond
        product = product.toarray() if sparse.issparse(product) else product
        product += lengths[:, np.newaxis] * self.default + self.baseline
        return np.asarray(product)


def are_large(n_classes: int, size: int) -> bool:
    """Whether a plain matrix of this size would be too large."""
    return 8 * n_classes * size > DENSE_BYTES


def multinomial_scores(
    entries: SparseSums, draws: Array, alpha: float, size: int, unseen: int = 0
) -> tuple[TermScores, TermScores | None]:
    """Log θ = log (N_j + α)/(N + αV), V = size + unseen; and its powers of alpha, where it vanishes."""
    nothing = np.zeros(len(draws))
    if alpha > 0:
        default = np.log(alpha) - np.log(draws + alpha * max(size + unseen, 1))
        return TermScores.of(entries, log_gain(entries, alpha), size, default, nothing), None
    # The limit α → 0⁺: an unseen column has order 1 and leaves 1/N; a class without counts is uniform.
    some = draws > 0
    default = np.where(some, -np.log(np.where(some, draws, 1.0)), -np.log(max(size, 1)))
    # A word in every document has idf 0 and total 0: it counts as unseen.
    entries = entries.chosen(entries.total > 0)
    orders = np.where(some, IMPOSSIBLE, 0.0)
    return (
        TermScores.of(entries, np.log(entries.total), size, default, nothing),
        TermScores.of(entries, -orders[entries.classes], size, orders, nothing),
    )


def counts_elsewhere(counts: Array, everywhere: NDArray[Any]) -> Array:
    """The counts of all other classes together, from which complement naive Bayes learns."""
    return np.asarray(np.maximum(everywhere - counts, 0.0))


def log_gain(entries: SparseSums, alpha: float) -> Array:
    """Log (N_j + α)/α: log θ of each entry, relative to a column without counts."""
    gain = entries.total / alpha
    return np.log1p(gain, out=gain)


def rows_of_entries(values: NDArray[Any], columns: NDArray[Any], starts: NDArray[Any], size: int) -> Any:
    """A sparse array of `size` columns, whose row i holds the entries starts[i]:starts[i + 1]."""
    # Starts of eight bytes would make columns of eight.
    starts = starts.astype(np.int32) if len(columns) < 1 << 31 else starts
    return sparse.csr_array((values, columns, starts), shape=(len(starts) - 1, size))
