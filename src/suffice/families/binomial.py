"""Binomial."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import DevianceTerms, FunctionName
from suffice.families.special import log_multichoose


@dataclass(frozen=True, repr=False)
class Binomial(Family):
    """p(x) = n!/(x!·(n − x)!)·πˣ(1 − π)ⁿ⁻ˣ: u = x, λ = log(π/(1 − π)), A = n·log(1 + e^λ).

    Parameters
    ----------
    n : int
        The number of trials, known and the same for all rows.
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Binomial
    >>> model = BayesClassifier(families=Binomial(10, alpha=0))
    >>> model.fit([[1], [3], [6], [8]], ["a", "a", "b", "b"]).parameters_
    {0: {'probability': array([0.2, 0.7])}}
    """

    n: int

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    has_base_measure: ClassVar[bool] = True
    discrete: ClassVar[bool] = True
    point_masses: ClassVar[bool] = True
    support_name: ClassVar[str] = "whole numbers from 0 to n"

    def __post_init__(self) -> None:
        super().__post_init__()
        whole = isinstance(self.n, Real) and not isinstance(self.n, bool) and np.isfinite(self.n)
        if not (whole and self.n >= 1 and self.n == int(self.n)):
            raise ValueError(f"{self.name}: n must be a whole number ≥ 1, got {self.n!r}.")
        object.__setattr__(self, "n", int(self.n))

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray((x >= 0) & (x <= self.n) & (x == np.floor(x)))

    def log_base_measure(self, x: Array) -> Array:
        return log_multichoose(self.n - x + 1.0, x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return np.asarray(self.n * np.logaddexp(0.0, natural[0]))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return np.asarray(self.n * special.expit(natural))

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        return np.log(mean) - np.log(self.n - mean)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"probability": np.asarray(special.expit(natural[0]))}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        return np.asarray(rng.binomial(self.n, special.expit(natural[0])) + 0.0)

    def mean_bounds(self) -> tuple[float, float]:
        return (0.0, float(self.n))

    @property
    def deviance_terms(self) -> DevianceTerms:
        n = float(self.n)
        return lambda x, mean: ((x, mean, x - mean), (n - x, n - mean, mean - x))

    def likely_counts(self, natural: Array, origin: Array) -> tuple[Array, Array]:
        mean = self.mean_from_natural(natural, origin)[0]
        reach = 20.0 * np.sqrt(mean * special.expit(-natural[0])) + 40.0
        return np.maximum(mean - reach, 0.0), np.minimum(mean + reach, self.n)
