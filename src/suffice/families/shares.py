"""Several outcomes with shares p_j, of which each draw is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from suffice.arrays import Array
from suffice.families.base import Family


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
