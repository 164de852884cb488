"""The rows of a regression, read block by block in a fixed order.

Rows may come in any parts: one array, or pieces that are read again on every pass. They are cut into blocks
of a fixed size, and what a pass sums is added block by block in the order of the rows. So the iterations are
the same to the last bit whatever the parts and the number of threads. Rows that are with workers are summed
there, part by part, and the iterations are the same but for rounding.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import islice
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array
from suffice.estimators.regression.likelihoods import Codes
from suffice.kernels.threads import one_thread_per_product, run, threads

CELLS_PER_BLOCK = 1 << 17
"""A block of rows and its products stay in the cache…"""
LEAST_ROWS = 256
"""…but many columns take a few rows at least, or adding up their sums would be the work…"""
LEAST_SPARSE_ROWS = 1 << 14
"""…and rows that are mostly 0 are short, however many their columns."""
BLOCKS_PER_RUN = 4
"""Blocks that one thread adds up by itself; it must not depend on the number of threads."""
RUNS_PER_THREAD = 8
"""Runs that are at work or wait to be added, for each thread."""
FAR = 100.0
"""Columns further from 0 than this many spreads are centred, so that their sums keep their digits."""
REPRESENTABLE = (1e-70, 1e70)
"""Largest values whose squares and fourth powers are numbers; other columns are rescaled."""
SMALLEST_UNIT, LARGEST_UNIT = -511, 1023
"""The square of 2 to the one power is a number still, and 2 to the other."""
SAMPLE = 1024
"""Rows that tell where a column lies and how far it spreads."""

Total = TypeVar("Total")


@dataclass(frozen=True)
class Block:
    """Adjacent rows with their classes and weights."""

    X: Any
    """(n, d) numbers, dense or csr."""
    codes: Codes
    weights: Array | None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Block:
        return Block(self.X[rows], self.codes[rows], None if self.weights is None else self.weights[rows])

    def stored(self, *, sparsely: bool) -> Block:
        """The same rows, dense or csr."""
        if sparse.issparse(self.X) == sparsely:
            return self
        return replace(self, X=sparse.csr_array(self.X) if sparsely else self.X.toarray())

    def weighted(self, values: Array) -> Array:
        """Values whose last axis is the rows, times the weights of the rows."""
        return values if self.weights is None else values * self.weights


class RowsElsewhere(ABC):
    """Rows that are summed where they are, of which some are at hand."""

    sample: Block
    """Some of the rows, each as likely as any other."""

    @abstractmethod
    def total(self, function: Callable[[Block], Total], plus: Callable[[Total, Total], Total]) -> Total:
        """The sum of a function, which is sent to the rows, over all blocks."""


Parts = Iterable[Block] | RowsElsewhere
"""Rows that may be read again and again: a list, or whatever opens a new iterator each time.

All parts are dense or all sparse.
"""


@dataclass(frozen=True)
class Extent:
    """The number of rows, and the least and the greatest value of each column, NaN where one is missing."""

    n_rows: int
    low: Array
    high: Array

    @classmethod
    def of(cls, parts: Parts) -> Extent:
        """Read all parts once."""
        return total(parts, _extent)

    @classmethod
    def empty(cls) -> Extent:
        """That of no rows, of any number of columns."""
        return cls(0, np.array(np.inf), np.array(-np.inf))

    def __add__(self, other: Extent) -> Extent:
        return Extent(
            self.n_rows + other.n_rows, np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        )

    def first_missing(self) -> int | None:
        """The first column with a missing cell."""
        missing = np.flatnonzero(np.isnan(self.low))
        return int(missing[0]) if len(missing) else None


@dataclass(frozen=True)
class Design:
    """Rows, and the coordinates in which they are solved.

    A row enters as (x − shift) / unit. Ordinary columns have shift 0 and unit 1 and are not copied.
    """

    parts: Parts
    n_rows: int
    n_columns: int
    shift: Array | None = None
    unit: Array | None = None
    is_sparse: bool = False
    entries_per_row: float = 0.0
    """Of sparse rows: how many are stored, estimated from some of them."""
    weight: float = 1.0
    """Σ of the weights of the rows."""
    against_rest: int | None = None
    """The class that is 1 where all others are 0; None leaves the classes as they are."""

    @classmethod
    def of(cls, parts: Parts, extent: Extent, *, centred: bool) -> Design:
        """The rows in coordinates that keep their digits; only a model with an intercept may centre."""
        plain = cls(parts, extent.n_rows, len(extent.low))
        some = plain.sample_of(min(plain.n_at_hand, SAMPLE)).X
        is_sparse = sparse.issparse(some)
        shift = _far_centers(some.astype(np.float64)) if centred and not is_sparse else None
        about = 0.0 if shift is None else shift
        size = np.maximum(np.abs(extent.low - about), np.abs(extent.high - about))
        size = np.where(size > 0.0, size, 1.0)
        strange = (size < REPRESENTABLE[0]) | (size > REPRESENTABLE[1])
        # A power of two, so that rescaling is exact.
        exponent = np.clip(np.frexp(size)[1], SMALLEST_UNIT, LARGEST_UNIT)
        unit = np.where(strange, np.ldexp(1.0, exponent), 1.0) if strange.any() else None
        if is_sparse and isinstance(parts, list):
            parts = list(_blocks(parts))  # to cut sparse rows is to copy them: once is enough
        stored = some.nnz / some.shape[0] if is_sparse else 0.0
        return replace(
            plain, parts=parts, shift=shift, unit=unit, is_sparse=is_sparse, entries_per_row=stored
        )

    @property
    def is_elsewhere(self) -> bool:
        """Whether the rows are summed where they are."""
        return isinstance(self.parts, RowsElsewhere)

    @property
    def n_at_hand(self) -> int:
        """The number of rows that a sample can have."""
        return len(self.parts.sample) if isinstance(self.parts, RowsElsewhere) else self.n_rows

    def sample(self, n_rows: int) -> Design:
        """The design of a fixed random choice of rows, in the same coordinates."""
        return replace(self, parts=[self.sample_of(n_rows)], n_rows=n_rows)

    def sample_of(self, n_rows: int) -> Block:
        """A fixed random choice of rows, as they came."""
        n, parts = self.n_at_hand, self.parts
        chosen = np.sort(np.random.default_rng(0).choice(n, n_rows, replace=False, shuffle=False))
        taken, start = [], 0
        for part in [parts.sample] if isinstance(parts, RowsElsewhere) else parts:
            first, last = np.searchsorted(chosen, (start, start + len(part)))
            taken.append(part[chosen[first:last] - start])
            start += len(part)
        return _joined(taken)

    def total(self, function: Callable[[Block], Total], plus: Callable[[Total, Total], Total] = add) -> Total:
        """The sum over all rows of a function of a block in the solver's coordinates."""
        return total(self.parts, partial(_of_prepared, self.without_rows(), function), plus)

    def without_rows(self) -> Design:
        """The coordinates, which are sent to rows that are elsewhere."""
        return replace(self, parts=()) if self.is_elsewhere else self

    def prepared(self, block: Block) -> Block:
        """A block in the solver's coordinates."""
        X = block.X if block.X.dtype == np.float64 else block.X.astype(np.float64)
        if self.shift is not None:
            X = X - self.shift
        if self.unit is not None:
            X = X @ sparse.diags_array(1.0 / self.unit) if self.is_sparse else X / self.unit
        codes = block.codes if self.against_rest is None else block.codes == self.against_rest
        return Block(X, codes, block.weights)


def total(
    parts: Parts, function: Callable[[Block], Total], plus: Callable[[Total, Total], Total] = add
) -> Total:
    """The sum of a function over all blocks, in the order of the rows; there must be a row."""
    if isinstance(parts, RowsElsewhere):
        return parts.total(function, plus)

    def of_run(blocks: list[Block]) -> Total:
        return reduce(plus, map(function, blocks))

    blocks = _blocks(parts)
    runs = iter(lambda: list(islice(blocks, BLOCKS_PER_RUN)), [])
    sums: list[Total] = []
    with one_thread_per_product():
        while window := list(islice(runs, RUNS_PER_THREAD * threads())):
            sums = [reduce(plus, [*sums, *run(of_run, window)])]
    return sums[0]


def _of_prepared(design: Design, function: Callable[[Block], Total], block: Block) -> Total:
    return function(design.prepared(block))


def _blocks(parts: Iterable[Block]) -> Iterator[Block]:
    """The rows in blocks of a fixed size, wherever the parts begin and end."""
    held: list[Block] = []
    for part in parts:
        least = LEAST_SPARSE_ROWS if sparse.issparse(part.X) else LEAST_ROWS
        size = max(least, CELLS_PER_BLOCK // max(1, part.X.shape[1]))
        start = 0
        while start < len(part):
            stop = start + size - sum(map(len, held))
            held.append(part if (start, stop) == (0, len(part)) else part[start:stop])
            start = stop
            if sum(map(len, held)) == size:
                yield _joined(held)
                held = []
    if held:
        yield _joined(held)


def _joined(blocks: list[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    stack = sparse.vstack if sparse.issparse(blocks[0].X) else np.concatenate
    weights = None
    if any(block.weights is not None for block in blocks):
        each = [np.ones(len(block)) if block.weights is None else block.weights for block in blocks]
        weights = np.concatenate(each)
    return Block(
        stack([block.X for block in blocks]),
        np.concatenate([block.codes for block in blocks]),
        weights,
    )


def _extent(block: Block) -> Extent:
    X = block.X
    if not sparse.issparse(X):
        return Extent(len(block), X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64))
    low, high = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    with np.errstate(invalid="ignore"):  # NaN stays NaN
        np.minimum.at(low, X.indices, X.data)
        np.maximum.at(high, X.indices, X.data)
    return Extent(len(block), low, high)


def _far_centers(some: Array) -> Array | None:
    """The medians of columns that lie far from 0, and 0 for the others; None if no column does."""
    center = np.median(some, axis=0)
    far = np.abs(center) / FAR > (np.abs(some - center) / len(some)).sum(axis=0)
    return np.where(far, center, 0.0) if far.any() else None
