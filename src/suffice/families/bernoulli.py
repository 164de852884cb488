"""Bernoulli."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import FunctionName


@dataclass(frozen=True, repr=False)
class Bernoulli(Family):
    """p(x) = μˣ(1 − μ)¹⁻ˣ: u = x, λ = log(μ/(1 − μ)), A = log(1 + e^λ).

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations of each outcome: (n₁ + α)/(n + 2α), Laplace's +1/+2 by default.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Bernoulli
    >>> model = BayesClassifier(families=Bernoulli())
    >>> model.fit([[0], [0], [0], [1]], ["a", "a", "b", "b"]).parameters_
    {0: {'probability': array([0.25, 0.5 ])}}
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    discrete: ClassVar[bool] = True
    point_masses: ClassVar[bool] = True
    support_name: ClassVar[str] = "0 or 1"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray((x == 0) | (x == 1))

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, natural[0]))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return np.asarray(special.expit(natural))

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        return np.asarray(special.logit(mean))

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"probability": np.asarray(special.expit(natural[0]))}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        probability = special.expit(natural[0])
        return np.asarray((rng.random(np.shape(probability)) < probability).astype(np.float64))

    def mean_bounds(self) -> tuple[float, float]:
        return (0.0, 1.0)

    def smooth(self, mean: Array, weight: Array, pooled: Array) -> Array:
        # Add alpha pseudo-observations of each outcome.
        total = weight + 2.0 * self.alpha
        counts = weight * mean + self.alpha
        return np.divide(counts, total, out=np.full_like(counts, 0.5), where=total > 0)
