"""Log p of a mixture of joint Gaussians, on rays from the means of its classes.

A row of class c is μ_c + r·L_c·u, with a direction u and r² ~ χ². Only directions are drawn: the distances r
are quantiles of their distribution, and each ray has several, ahead and behind. Squared distances from the
other classes are quadratic in r, so one product of matrices scores all rows on a ray. Log p varies with r
far more than with u, so these 16,384 rows tell P(log p ≤ t) about as well as twice as many drawn ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array, Counts
from suffice.factors.base import SolvedFactor
from suffice.links import log_sum

PLACES = 1 << 13
"""Places on rays: rows there and at the opposite places are scored."""
MOST_PER_RAY = 8
FEWEST_RAYS = 4
"""From the mean of each class, however rare."""
FEW_LIMITS = 32
"""Limits that are compared with all scores one by one."""


@dataclass(frozen=True)
class RowsOnRays:
    """Log p of rows on rays from the mean of each class."""

    share: Array
    """The prior of each class."""
    log_p: list[Array]

    def shares_up_to(self, limits: Array) -> Array:
        """P(log p ≤ limit)."""
        result = np.zeros(len(limits))
        for share, log_p in zip(self.share, self.log_p, strict=True):
            result += share / len(log_p) * counts_up_to(limits, log_p)
        return np.minimum(result, 1.0)

    def quantile(self, share: float) -> float:
        """The lowest log p that has this share at or below it."""
        weight = np.repeat(self.share / [*map(len, self.log_p)], [*map(len, self.log_p)])
        log_p = np.concatenate(self.log_p)
        order = np.argsort(log_p)
        return float(log_p[order[np.searchsorted(np.cumsum(weight[order]), share)]])


class DrawnRays:
    """Directions and distances, for any number of columns."""

    def __init__(self, priors: Array, rng: np.random.Generator) -> None:
        self._possible = np.flatnonzero(priors > 0)
        self._share = priors[self._possible]
        self._seed = int(rng.integers(1 << 62))
        self._drawn = cache(self._draw)

    def rows(self, factor: SolvedFactor, seen: NDArray[np.bool_], degrees: int) -> RowsOnRays:
        """Rows on some columns of a joint Gaussian factor, of which so many vary."""
        directions, distances = self._drawn(degrees)
        log_p = []
        for rays, r in zip(factor.along_rays(seen, directions), distances, strict=True):
            scores = np.empty((len(self._possible), 2, *r.shape))
            peak = rays.peak[self._possible] + np.log(self._share)
            for both, top, k in zip(scores, peak, self._possible.tolist(), strict=True):
                even, odd = top - 0.5 * rays.squares[k] * r**2, rays.slopes[k] * r
                both[0], both[1] = even - odd, even + odd
            log_p.append(log_sum(scores.reshape(len(scores), -1).T))
        return RowsOnRays(self._share, log_p)

    def _draw(self, degrees: int) -> tuple[dict[int, Array], list[Array]]:
        """For each class, directions, and the distances of the places along them: (places, rays)."""
        per_ray = min(MOST_PER_RAY, 1 << (degrees // 3).bit_length())
        n_rays = np.maximum(np.ceil(self._share * (PLACES // per_ray)).astype(np.intp), FEWEST_RAYS).tolist()
        noise = np.random.default_rng((self._seed, degrees)).standard_normal((max(n_rays), degrees))
        noise /= np.sqrt(np.einsum("ij,ij->i", noise, noise))[:, np.newaxis]
        upper = [(np.arange(per_ray * n) + 0.5) / (per_ray * n) for n in n_rays]
        distances = [np.sqrt(special.chdtri(degrees, one)).reshape(per_ray, -1) for one in upper]
        return {k: noise[:n] for k, n in zip(self._possible.tolist(), n_rays, strict=True)}, distances


def counts_up_to(limits: Array, values: Array) -> Counts:
    """How many values each limit is not below: they are sorted only for many limits."""
    if len(limits) > FEW_LIMITS:
        return np.searchsorted(np.sort(values), limits, side="right")
    return np.array([np.count_nonzero(values <= limit) for limit in limits])
