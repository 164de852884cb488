"""Scores of every row by the model of all other rows, found without a model for each of them.

The sums of the other rows are sums of what comes before a row and of what comes after it, so nothing is
subtracted. Where a formula would lose digits, the row is marked: it is to be solved afresh.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.base import Block
from suffice.kernels.cells import class_blocks

CELLS_AT_ONCE = 1 << 20
"""Parameters that are solved at once."""


@dataclass(frozen=True)
class LabelledBlock:
    """The cells of a factor with the class and the weight, above 0, of each row."""

    block: Block
    labels: list[str]
    """The columns, for messages."""
    codes: Codes
    weights: Array
    classes: NDArray[Any]
    """The class labels, all of which have rows."""
    predictive: bool = False
    """Whether scores are averages over the posterior of the parameters."""

    def take(self, some: NDArray[np.bool_]) -> LabelledBlock:
        """The classes and weights of some rows, without their cells."""
        return replace(self, block=None, codes=self.codes[some], weights=self.weights[some])

    @property
    def support(self) -> Counts:
        """The number of rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def weight(self) -> Array:
        """The weight of each class."""
        by_class = np.bincount(self.codes, self.weights, minlength=len(self.classes))
        return np.asarray(by_class, dtype=np.float64)

    def parts(self, cells_per_row: int) -> list[slice]:
        """The rows in runs, of which each has this many parameters to solve."""
        step = max(1, CELLS_AT_ONCE // max(cells_per_row, 1))
        return [slice(start, start + step) for start in range(0, len(self.codes), step)]


@dataclass(frozen=True)
class LeftOut:
    """Scores (n, k) of every row by the model of all others, up to a constant of the row."""

    scores: Array
    exact: NDArray[np.bool_]
    """The rows whose scores are those of a refit; all others must be refitted."""

    @classmethod
    def checked(cls, scores: Array, exact: NDArray[np.bool_]) -> LeftOut:
        """Scores that are not finite are not exact."""
        return cls(scores, exact & np.isfinite(scores).all(axis=1))


def sums_of_others(terms: Array, codes: Codes, n_classes: int) -> Array:
    """For each row the sum of the terms, (n, …), of all other rows of its class: added, not subtracted."""
    sums = np.empty_like(terms)
    for _, rows in class_blocks(codes, n_classes):
        mine = terms[rows]
        others = np.zeros_like(mine)
        np.cumsum(mine[:-1], axis=0, out=others[1:])
        others[:-1] += np.cumsum(mine[:0:-1], axis=0)[::-1]
        sums[rows] = others
    return sums
