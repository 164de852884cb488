"""Poisson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import DevianceTerms, FunctionName


@dataclass(frozen=True, repr=False)
class Poisson(Family):
    """p(x) = μˣ e^−μ / x!: u = x, λ = log μ, A = μ, h = 1/x!.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Poisson
    >>> model = BayesClassifier(families=Poisson(alpha=0))
    >>> model.fit([[0], [2], [6], [8]], ["a", "a", "b", "b"]).parameters_
    {0: {'mean': array([1., 7.])}}
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    has_base_measure: ClassVar[bool] = True
    discrete: ClassVar[bool] = True
    point_masses: ClassVar[bool] = True
    support_name: ClassVar[str] = "whole numbers ≥ 0"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray((x >= 0) & (x == np.floor(x)) & np.isfinite(x))

    def log_base_measure(self, x: Array) -> Array:
        return np.asarray(-special.gammaln(x + 1.0))

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return np.asarray(np.exp(natural[0]))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return np.exp(natural)

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        return np.log(mean)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"mean": np.exp(natural[0])}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        return np.asarray(rng.poisson(np.exp(natural[0])).astype(np.float64))

    def mean_bounds(self) -> tuple[float, float]:
        return (0.0, np.inf)

    @property
    def deviance_terms(self) -> DevianceTerms:
        return lambda x, mean: ((x, mean, x - mean),)

    def likely_counts(self, natural: Array, origin: Array) -> tuple[Array, Array]:
        mean = np.exp(natural[0])
        reach = 20.0 * np.sqrt(mean) + 40.0
        return np.maximum(mean - reach, 0.0), mean + reach
