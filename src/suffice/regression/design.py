"""The rows of a regression, read block by block in a fixed order.

Each pass over the rows sums blocks in the order of the rows, whatever the number of threads and however the
rows came in, so that the iterations are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from operator import add
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from suffice.families.elementary import Array
from suffice.regression.likelihoods import Codes
from suffice.threads import run

CELLS_PER_BLOCK = 1 << 17
"""A block of rows and its products stay in the cache."""
PARTS = 16
"""Into how many runs of blocks the rows are cut, for the threads; it must not depend on their number."""
FAR = 100.0
"""Columns further from 0 than this many spreads are centred, so that their sums keep their digits."""
REPRESENTABLE = (1e-70, 1e70)
"""Largest values whose squares and fourth powers are numbers; other columns are rescaled."""
SMALLEST_UNIT = -511
"""The square of 2 to this power is a number still."""
SAMPLE = 1024
"""Rows that tell where a column lies and how far it spreads."""

Total = TypeVar("Total")


@dataclass(frozen=True)
class Block:
    """Adjacent rows as a model reads them."""

    X: Any
    """(n, d) floats, dense or sparse."""
    codes: Codes
    weights: Array | None

    def weighted(self, values: Array) -> Array:
        """Values whose last axis is the rows, times the weights of the rows."""
        return values if self.weights is None else values * self.weights


class Design:
    """Rows, their classes and weights, and the coordinates in which they are solved.

    A row enters as (x − shift) / unit. Ordinary columns have shift 0 and unit 1 and are not copied.
    """

    def __init__(
        self,
        X: Any,
        codes: Codes,
        weights: Array | None,
        shift: Array | None = None,
        unit: Array | None = None,
    ) -> None:
        self.X = X
        self.codes = np.asarray(codes, dtype=np.intp)
        self.weights = weights
        self.shift = shift
        self.unit = unit
        self.n_rows, self.n_columns = X.shape

    @classmethod
    def of(
        cls, X: Any, codes: Codes, weights: Array | None, bounds: tuple[Array, Array] | None, *, centred: bool
    ) -> Design:
        """The rows in coordinates that keep their digits, given the bounds of the columns (None if sparse).

        Only a model with an intercept may centre.
        """
        plain = cls(X, codes, weights)
        if bounds is None:
            return plain
        some = plain.sample(min(plain.n_rows, SAMPLE)).X.astype(np.float64)
        center = np.median(some, axis=0)
        far = np.abs(center) > FAR * (np.abs(some - center) / len(some)).sum(axis=0)
        shift = np.where(far, center, 0.0) if centred and far.any() else None
        low, high = bounds
        about = 0.0 if shift is None else shift
        size = np.maximum(np.abs(low - about), np.abs(high - about))
        size = np.where(size > 0.0, size, 1.0)
        strange = (size < REPRESENTABLE[0]) | (size > REPRESENTABLE[1])
        # A power of two, so that rescaling is exact.
        exponent = np.maximum(np.frexp(size)[1], SMALLEST_UNIT)
        unit = np.where(strange, np.ldexp(1.0, exponent), 1.0) if strange.any() else None
        return cls(X, codes, weights, shift, unit)

    def sample(self, n_rows: int) -> Design:
        """A fixed random choice of rows, in the same coordinates."""
        chosen = np.sort(np.random.default_rng(0).choice(self.n_rows, n_rows, replace=False))
        weights = None if self.weights is None else self.weights[chosen]
        return Design(self.X[chosen], self.codes[chosen], weights, self.shift, self.unit)

    def with_codes(self, codes: Codes) -> Design:
        """The same rows with other classes."""
        return Design(self.X, codes, self.weights, self.shift, self.unit)

    def total(self, function: Callable[[Block], Total], plus: Callable[[Total, Total], Total] = add) -> Total:
        """The sum of a function over all blocks, in the order of the rows."""

        def of_part(part: Sequence[slice]) -> Total:
            return reduce(plus, map(function, map(self._block, part)))

        return reduce(plus, run(of_part, self._parts()))

    def scores(self, coefficients: Array, X: Any) -> Array:
        """W·x for rows in the solver's coordinates, (m, n)."""
        return np.asarray((X @ coefficients.T).T if sparse.issparse(X) else coefficients @ X.T)

    def _parts(self) -> list[list[slice]]:
        blocks = blocks_of(self.n_rows, self.n_columns)
        per_part = -(-len(blocks) // PARTS)
        return [blocks[start : start + per_part] for start in range(0, len(blocks), per_part)]

    def _block(self, rows: slice) -> Block:
        X = self.X[rows]
        if X.dtype != np.float64:
            X = X.astype(np.float64)
        if self.shift is not None:
            X = X - self.shift
        if self.unit is not None:
            X = X / self.unit
        return Block(X, self.codes[rows], None if self.weights is None else self.weights[rows])


def blocks_of(n_rows: int, n_columns: int) -> list[slice]:
    """The blocks that rows are cut into."""
    step = max(64, CELLS_PER_BLOCK // max(1, n_columns))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def extent(X: Any) -> tuple[Array, Array]:
    """The smallest and the largest value of each column, NaN where a cell is missing."""

    def of_block(block: Block) -> tuple[Array, Array]:
        return block.X.min(axis=0), block.X.max(axis=0)

    def widest(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
        return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])

    return Design(X, np.zeros(X.shape[0], dtype=np.intp), None).total(of_block, widest)


def one_thread_per_product() -> AbstractContextManager[Any]:
    """The blocks are the parallel work: products with threads of their own would only wait for each other."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


@cache
def _blas() -> Any:
    """What sets the number of threads of the matrix products; looking for the libraries takes a while."""
    return import_module("threadpoolctl").ThreadpoolController()
