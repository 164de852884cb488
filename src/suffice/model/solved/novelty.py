"""How unusual a row is: the probability that a row drawn from the model is no more probable.

P(p(X′) ≤ p(x)) for X′ drawn from the fitted mixture, on the cells that the row has. With a single Gaussian it
is a χ² probability. With several joint Gaussians the row is compared with rows on rays from their means,
otherwise with rows drawn from the model. Beyond those, the tail of several Gaussians falls as their χ² bound
Σ_k π_k·P(π_k·p(X′ | C_k) ≤ p(x)) does, and the tail of other densities exponentially in −log p. Rare outcomes
of discrete columns, and rare bins, are steps in that tail that drawn rows may miss, so Chernoff's bound is
used there, which is never too small. A row with a value that the model never produces has probability 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.base import SolvedFactor
from suffice.families import Words
from suffice.kernels import threads
from suffice.kernels.cells import row_patterns
from suffice.links import log_sum
from suffice.model.solved.drawn_rows import DrawnRows
from suffice.model.solved.gaussian_rays import DrawnRays, RowsOnRays, counts_up_to
from suffice.model.solved.solution import SolvedModel
from suffice.tables.table import Table

DRAWN_ROWS = 1 << 15
TAIL = 0.01
"""The share of the drawn rows that shows how fast the tail of a density falls."""
RESOLVED = 100
"""Drawn rows that are enough to estimate a share to about 10 %."""
POWERS = np.linspace(0.01, 0.99, 50)
"""Powers of p over which Chernoff's bound is minimised."""
ROUNDING = 1e-9
"""Two sums of the same cells may differ by this much, relatively."""


def tail_probabilities(
    solution: SolvedModel,
    table: Table,
    draw: Callable[[int], DrawnRows],
    generator: Callable[[], np.random.Generator],
) -> Array:
    """P(p(X′) ≤ p(x)) of each row of a table; rows are drawn from the model where there is no formula."""
    _require_whole_rows(solution)
    log_p = log_sum(solution.scores(table, base=True).joint())
    result = np.ones(table.n_rows)
    observed, ignored = solution.observed(table)
    moments = cache(lambda: _column_moments(solution))
    left, joint = [], []
    for seen, rows in row_patterns(observed):
        tail = _gaussian_tail(solution, seen)
        if tail is not None and len(tail.share) == 1:
            result[rows] = tail(log_p[rows])
        elif tail is not None and tail.joint is not None:
            joint.append((rows, tail, *tail.joint))
        elif seen.any():
            left.append((seen, rows, tail))
    if joint:
        rays = DrawnRays(solution.priors, generator())

        def compare(pattern: tuple[Codes, GaussianTail, SolvedFactor, NDArray[np.bool_]]) -> None:
            rows, tail, factor, seen = pattern
            result[rows] = _on_rays(rays.rows(factor, seen, tail.degrees), tail, log_p[rows])

        with threads.one_thread_per_product():
            threads.run(compare, joint)
    if left:
        by_pattern = draw(DRAWN_ROWS).log_p(np.array([seen for seen, _, _ in left]))
        for (seen, rows, tail), drawn in zip(left, by_pattern, strict=True):
            bound = _chernoff_bound(solution, seen, moments)
            result[rows] = _probabilities(drawn, tail, bound, log_p[rows])
    return np.where(ignored.any(axis=1), 0.0, result)


def _require_whole_rows(solution: SolvedModel) -> None:
    """Raise if there is no probability of whole rows."""
    solution.require_density("novelty")
    for factor in solution.factors:
        if factor.is_given_length:
            of_words = "event='bernoulli', as in TextClassifier('bernoulli') or families=Words('bernoulli')"
            cure = of_words if isinstance(factor.family, Words) else "Poisson columns"
            raise ValueError(
                f"novelty needs the probability of whole rows, but {factor.family.name} models counts given "
                f"their sum; use {cure}."
            )


def _on_rays(drawn: RowsOnRays, tail: GaussianTail, log_p: Array) -> Array:
    """The probabilities of rows of joint Gaussians with the same cells observed."""
    share, edge = drawn.shares_up_to(log_p), RESOLVED / DRAWN_ROWS
    rare = share < edge
    if rare.any():
        share[rare] = edge * tail.fallen(drawn.quantile(edge), log_p[rare])
    return share


def _probabilities(
    drawn: Array, tail: GaussianTail | None, bound: ChernoffBound | None, log_p: Array
) -> Array:
    """The probabilities of rows with the same cells observed, on which log p of the drawn rows is `drawn`."""
    room = ROUNDING * (1.0 + np.abs(np.nan_to_num(log_p)))
    below = counts_up_to(log_p + room, drawn)
    share = (1.0 + below) / (1.0 + len(drawn))
    edge = (1.0 + RESOLVED) / (1.0 + len(drawn))
    resolved = below >= RESOLVED
    if resolved.all():
        return np.asarray(share)
    rare = edge * _fallen(drawn, tail, log_p) if bound is None else np.minimum(bound(log_p), edge)
    return np.where(resolved, share, rare)


def _fallen(drawn: Array, tail: GaussianTail | None, log_p: Array) -> Array:
    """How far the tail of a density has fallen below the rarest drawn rows."""
    at = int(TAIL * len(drawn))
    rarest = np.sort(np.partition(drawn, at)[: at + 1])
    start = rarest[RESOLVED - 1]
    if tail is not None:
        return tail.fallen(start, log_p)
    # Densities of exponential families fall in the end by one nat for each nat, and are not taken to fall
    # faster.
    decay = max(1.0, float(np.mean(rarest[at] - rarest[:at])) if np.isfinite(rarest[0]) else 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.exp(np.minimum(log_p - start, 0.0) / decay))


@dataclass(frozen=True)
class GaussianTail:
    """Σ_k π_k·P(π_k·p(X′ | C_k) ≤ p): the tail of a mixture of Gaussians, exact where they do not overlap."""

    degrees: int
    share: Array
    peak: Array
    """Log density of each class at its mean."""
    joint: tuple[SolvedFactor, NDArray[np.bool_]] | None
    """The one factor that is observed, if it is joint, and which of its columns are."""

    def __call__(self, log_p: Array) -> Array:
        """The probability of a density at most this large."""
        squares = 2.0 * (np.log(self.share) + self.peak - log_p[:, np.newaxis])
        from scipy import stats

        return np.asarray(stats.chi2.sf(squares, self.degrees) @ self.share)

    def fallen(self, start: float, log_p: Array) -> Array:
        """How far it has fallen below a log density."""
        return np.asarray(np.minimum(self(log_p) / self(np.array([start])), 1.0))


def _gaussian_tail(solution: SolvedModel, seen: NDArray[np.bool_]) -> GaussianTail | None:
    """The tail where all observed columns are Gaussian."""
    possible = solution.priors > 0
    degrees, peak, parts = 0, np.zeros(len(solution.priors)), []
    for at, factor in zip(solution.schema.factors, solution.factors, strict=True):
        here = seen[at.columns]
        if here.any():
            found = factor.gaussian_peak(here)
            if found is None:
                return None
            degrees, peak = degrees + found[0], peak + found[1]
            parts.append((factor, here))
    if degrees == 0:
        return None
    joint = parts[0] if len(parts) == 1 and parts[0][0].family.joint else None
    return GaussianTail(degrees, solution.priors[possible], peak[possible], joint)


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


def _chernoff_bound(
    solution: SolvedModel, seen: NDArray[np.bool_], moments: Callable[[], Array]
) -> ChernoffBound | None:
    """The bound where a column with steps is observed, and the moments of all columns are known."""
    factors = zip(solution.schema.factors, solution.factors, strict=True)
    some = [(at, factor) for at, factor in factors if seen[at.columns].any()]
    if not any(at.family.has_steps for at, _ in some):
        return None
    log_moments = moments()[:, seen].sum(axis=1)
    for at, factor in some:
        peak = factor.gaussian_peak(seen[at.columns]) if at.family.joint else None
        if peak is not None:
            log_moments = log_moments + _gaussian_moments(*peak)
    if np.isnan(log_moments).any():
        return None
    possible = solution.priors > 0
    return ChernoffBound(solution.priors[possible], log_moments[:, possible])


def _column_moments(solution: SolvedModel) -> Array:
    """Log E[p(x_j | C_k)^−s] of each independent column, (powers, columns, classes); 0 for joint ones."""
    result = np.zeros((len(POWERS), len(solution.schema), len(solution.classes)))
    for at, factor in zip(solution.schema.factors, solution.factors, strict=True):
        if not at.family.joint:
            result[:, at.columns] = factor.log_power_sums(POWERS)
    return result


def _gaussian_moments(degrees: int, peak: Array) -> Array:
    """The same of a joint Gaussian, (powers, classes)."""
    a = POWERS[:, np.newaxis]
    return np.asarray((a - 1.0) * peak - 0.5 * degrees * np.log(a))
