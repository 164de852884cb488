"""How unusual a row is: the probability that a row drawn from the model is no more probable.

P(p(X′) ≤ p(x)) for X′ drawn from the fitted mixture, on the cells that the row has. With a single Gaussian it
is a χ² probability. Otherwise rows are drawn from the model. Beyond those, the tail of several Gaussians
falls as their χ² bound Σ_k π_k·P(π_k·p(X′ | C_k) ≤ p(x)) does, and the tail of other densities exponentially
in −log p. Rare outcomes of discrete columns, and rare bins, are steps in that tail that the drawn rows may
miss, so Chernoff's bound is used there, which is never too small. A row with a value that the model never
produces has probability 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from suffice.arrays import Array
from suffice.factors.base import Block
from suffice.factors.scores import Scores
from suffice.factors.words.totals import TextBlock
from suffice.kernels.cells import row_patterns
from suffice.links import log_sum
from suffice.model.solution import SolvedModel
from suffice.tables.columns import LevelCells
from suffice.tables.table import Table
from suffice.text import Documents

DRAWN_ROWS = 1 << 15
TAIL = 0.01
"""The share of the drawn rows that shows how fast the tail of a density falls."""
RESOLVED = 100
"""Drawn rows that are enough to estimate a share to about 10 %."""
POWERS = np.linspace(0.01, 0.99, 50)
"""Powers of p over which Chernoff's bound is minimised."""
ROUNDING = 1e-9
"""Two sums of the same cells may differ by this much, relatively."""


def tail_probabilities(solution: SolvedModel, table: Table, draw: Callable[[int], Table]) -> Array:
    """P(p(X′) ≤ p(x)) of each row of a table; rows are drawn from the model where there is no formula."""
    solution.require_density("novelty")
    if any(factor.is_given_length for factor in solution.factors):
        raise ValueError(
            "novelty needs the probability of whole rows, but Multinomial and Words model counts given "
            "their sum; use event='bernoulli'."
        )
    log_p = log_sum(solution.scores(table, base=True).joint())
    result = np.ones(table.n_rows)
    drawn_blocks = cache(lambda: solution.schema.blocks(draw(DRAWN_ROWS)))
    observed, ignored = solution.observed(table)
    for seen, rows in row_patterns(observed):
        if seen.any():
            result[rows] = _probabilities(solution, seen, drawn_blocks, log_p[rows])
    return np.where(ignored.any(axis=1), 0.0, result)


def _probabilities(
    solution: SolvedModel, seen: NDArray[np.bool_], drawn_blocks: Callable[[], list[Block]], log_p: Array
) -> Array:
    """The probabilities of rows with the same cells observed."""
    tail = _gaussian_tail(solution, seen)
    if tail is not None and len(tail.share) == 1:
        return tail(log_p)
    drawn = np.sort(_log_p_of_drawn(solution, seen, drawn_blocks()))
    room = ROUNDING * (1.0 + np.abs(np.nan_to_num(log_p)))
    below = np.searchsorted(drawn, log_p + room, side="right")
    share = (1.0 + below) / (1.0 + len(drawn))
    bound = _chernoff_bound(solution, seen)
    edge = (1.0 + RESOLVED) / (1.0 + len(drawn))
    rare = edge * _fallen(drawn, tail, log_p) if bound is None else np.minimum(bound(log_p), edge)
    return np.where(below >= RESOLVED, share, rare)


def _fallen(drawn: Array, tail: GaussianTail | None, log_p: Array) -> Array:
    """How far the tail of a density has fallen below the rarest drawn rows, which are sorted."""
    start = drawn[RESOLVED - 1]
    if tail is not None:
        return np.asarray(np.minimum(tail(log_p) / tail(np.array([start])), 1.0))
    # Densities of exponential families fall in the end by one nat for each nat, and are not taken to fall
    # faster.
    at = int(TAIL * len(drawn))
    decay = max(1.0, float(np.mean(drawn[at] - drawn[:at])) if np.isfinite(drawn[0]) else 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.exp(np.minimum(log_p - start, 0.0) / decay))


@dataclass(frozen=True)
class GaussianTail:
    """Σ_k π_k·P(π_k·p(X′ | C_k) ≤ p): the tail of a mixture of Gaussians, exact where they do not overlap."""

    degrees: int
    share: Array
    peak: Array
    """Log density of each class at its mean."""

    def __call__(self, log_p: Array) -> Array:
        """The probability of a density at most this large."""
        squares = 2.0 * (np.log(self.share) + self.peak - log_p[:, np.newaxis])
        return np.asarray(stats.chi2.sf(squares, self.degrees) @ self.share)


def _gaussian_tail(solution: SolvedModel, seen: NDArray[np.bool_]) -> GaussianTail | None:
    """The tail where all observed columns are Gaussian."""
    possible = solution.priors > 0
    degrees, peak = 0, np.zeros(len(solution.priors))
    for at, factor in zip(solution.schema.factors, solution.factors, strict=True):
        here = seen[at.columns]
        if here.any():
            found = factor.gaussian_peak(here)
            if found is None:
                return None
            degrees, peak = degrees + found[0], peak + found[1]
    if degrees == 0:
        return None
    return GaussianTail(degrees, solution.priors[possible], peak[possible])


@dataclass(frozen=True)
class ChernoffBound:
    """Σ_k π_k·min_s (p/π_k)^s·E[p(X′ | C_k)^−s] ≥ Σ_k π_k·P(π_k·p(X′ | C_k) ≤ p) ≥ P(p(X′) ≤ p)."""

    share: Array
    log_moments: Array
    """Log E[p(X′ | C_k)^−s] for s = 1 − `POWERS`, (powers, classes)."""

    def __call__(self, log_p: Array) -> Array:
        """A bound on the probability of a density at most this large."""
        s = (1.0 - POWERS)[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            by_class = [
                np.min(s * (log_p - np.log(share)) + log_moments[:, np.newaxis], axis=0)
                for share, log_moments in zip(self.share, self.log_moments.T, strict=True)
            ]
        return np.asarray(self.share @ np.exp(np.minimum(by_class, 0.0)))


def _chernoff_bound(solution: SolvedModel, seen: NDArray[np.bool_]) -> ChernoffBound | None:
    """The bound where a column with steps is observed, and the moments of all columns are known."""
    factors = zip(solution.schema.factors, solution.factors, strict=True)
    some = [(at, factor) for at, factor in factors if seen[at.columns].any()]
    if not any(at.family.has_steps for at, _ in some):
        return None
    log_moments = np.zeros((len(POWERS), len(solution.priors)))
    for at, factor in some:
        found = factor.log_power_sums(seen[at.columns], POWERS)
        if found is None:
            return None
        log_moments = log_moments + found
    possible = solution.priors > 0
    return ChernoffBound(solution.priors[possible], log_moments[:, possible])


def _log_p_of_drawn(solution: SolvedModel, seen: NDArray[np.bool_], blocks: list[Block]) -> Array:
    """Log p of the drawn rows on some columns."""
    scores = Scores(np.tile(solution.offset, (DRAWN_ROWS, 1)))
    factors = zip(solution.schema.factors, solution.factors, solution.factor_labels, blocks, strict=True)
    for at, factor, labels, block in factors:
        factor.add_scores(_without(block, ~seen[at.columns]), labels, scores, base=True)
    return log_sum(scores.joint())


def _without(block: Block, hidden: NDArray[np.bool_]) -> Block:
    """The block with some columns missing."""
    if not hidden.any():
        return block
    if isinstance(block, LevelCells):
        return block.without(hidden)
    if isinstance(block, list):
        return [_nothing(one) if gone else one for one, gone in zip(block, hidden, strict=True)]
    values = block.toarray() if sparse.issparse(block) else np.array(block, dtype=np.float64)
    values[:, hidden] = np.nan
    return values


def _nothing(column: TextBlock) -> TextBlock:
    """A column without a document."""
    return TextBlock(Documents.missing_ones(len(column.documents)))
