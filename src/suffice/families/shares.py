"""Several outcomes with shares p_j, of which each draw is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array
from suffice.families.base import NO_UNIT, Family
from suffice.families.elementary import FunctionName


@dataclass(frozen=True, repr=False)
class Shares(Family):
    """One draw, outcomes on the leading axis: λ_j = log p_j, A = log Σ e^λ."""

    discrete: ClassVar[bool] = True
    point_masses: ClassVar[bool] = True

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return np.asarray(special.logsumexp(natural, axis=0))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return np.asarray(special.softmax(natural, axis=0))

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(mean)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"probability": self.mean_from_natural(natural, origin)}

    def smooth(self, mean: Array, weight: Array, pooled: Array) -> Array:
        # Add alpha pseudo-observations of each outcome.
        n_outcomes = mean.shape[0]
        total = weight + self.alpha * n_outcomes
        counts = weight * mean + self.alpha
        return np.asarray(
            np.divide(counts, total, out=np.full_like(counts, 1.0 / max(n_outcomes, 1)), where=total > 0)
        )


@dataclass(frozen=True, repr=False)
class OneOfSeveral(Shares):
    """One outcome, given by its number: u = the indicator of each outcome."""

    def statistics(
        self, x: Array, origin: Array | float | None = None, exponent: NDArray[np.int32] = NO_UNIT
    ) -> Array:
        # The indicators of the levels 0, 1, … max(x), levels on the leading axis.
        codes = np.asarray(x)
        levels = np.arange(int(codes.max(initial=-1)) + 1).reshape((-1,) + (1,) * codes.ndim)
        return np.asarray((codes[np.newaxis] == levels).astype(np.float64))

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # A level number for each entry.
        cumulative = np.cumsum(self.mean_from_natural(natural, origin), axis=0)
        draws = rng.random(np.shape(natural)[1:]) * cumulative[-1]
        return np.asarray(np.sum(draws >= cumulative[:-1], axis=0).astype(np.float64))

    def log_density(self, x: Array, natural: Array, origin: Array | float | None = None) -> Array:
        # Log p of level numbers x (−inf for a number that is not a level).
        codes = np.asarray(x)
        inside = (codes >= 0) & (codes < natural.shape[0]) & (codes == np.floor(codes))
        rows = np.where(inside, codes, 0).astype(np.intp)
        log_p = natural - self.log_normalizer(natural, np.zeros(()))
        shape = np.broadcast_shapes(rows.shape, log_p.shape[1:])
        padding = (1,) * (len(shape) + 1 - log_p.ndim)
        table = log_p.reshape(log_p.shape[0], *padding, *log_p.shape[1:])
        chosen = np.take_along_axis(
            np.broadcast_to(table, (log_p.shape[0], *shape)), np.broadcast_to(rows, shape)[np.newaxis], axis=0
        )
        return np.where(inside, chosen[0], -np.inf)


@dataclass(frozen=True, repr=False)
class Draws(Shares):
    """n draws in their order, counted by their outcomes on the leading axis: p(x) = Πp_jˣʲ, u = x."""

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x >= 0) & np.isfinite(x)

    def log_base_measure(self, x: Array) -> Array:
        return np.zeros(x.shape[1:])

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # One draw: a single count of 1 on the leading axis.
        probability = np.moveaxis(self.mean_from_natural(natural, origin), 0, -1)
        return np.moveaxis(rng.multinomial(1, probability), -1, 0).astype(np.float64)

    def log_density(self, x: Array, natural: Array, origin: Array | float | None = None) -> Array:
        # Log p of whole rows of counts, columns on the leading axis.
        x = np.asarray(x, dtype=np.float64)
        log_p = natural - self.log_normalizer(natural, np.zeros(()))
        return np.asarray(self.log_base_measure(x) + special.xlogy(x, np.exp(log_p)).sum(axis=0))
