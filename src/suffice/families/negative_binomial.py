"""Negative binomial."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import DevianceTerms, FunctionName
from suffice.families.special import log1mexp, log_multichoose


@dataclass(frozen=True, repr=False)
class NegativeBinomial(Family):
    """p(x) = Γ(x + r)/(Γ(r)·x!)·(1 − π)ˣ πʳ: u = x, λ = log(1 − π), A = −r·log(1 − e^λ).

    x counts the failures before the r-th success; its variance is μ + μ²/r.

    Parameters
    ----------
    r : float, default=1.0
        The number of successes, known and not fitted; any number > 0.
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import NegativeBinomial
    >>> model = BayesClassifier(families=NegativeBinomial(r=2))
    >>> model.fit([[0], [2], [6], [8]], ["a", "a", "b", "b"]).predict([[5]])
    array(['b'], dtype=object)
    """

    r: float = 1.0

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    has_base_measure: ClassVar[bool] = True
    discrete: ClassVar[bool] = True
    point_masses: ClassVar[bool] = True
    support_name: ClassVar[str] = "whole numbers ≥ 0"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.r, Real) and np.isfinite(self.r) and self.r > 0):
            raise ValueError(f"{self.name}: r must be a finite number > 0, got {self.r!r}.")
        object.__setattr__(self, "r", float(self.r))

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray((x >= 0) & (x == np.floor(x)) & np.isfinite(x))

    def log_base_measure(self, x: Array) -> Array:
        return log_multichoose(np.asarray(self.r), x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return -self.r * log1mexp(natural[0])

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return -self.r * np.exp(natural) / np.expm1(natural)

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        return -np.log1p(self.r / mean)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"mean": self.mean_from_natural(natural, origin)[0], "probability": -np.expm1(natural[0])}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # Poisson counts of Gamma means: also for r that is not whole.
        return np.asarray(
            rng.poisson(rng.gamma(self.r, self.mean_from_natural(natural, origin)[0] / self.r)) + 0.0
        )

    def mean_bounds(self) -> tuple[float, float]:
        return (0.0, np.inf)

    @property
    def deviance_terms(self) -> DevianceTerms:
        return self._terms_of_trials

    def _terms_of_trials(self, x: Any, mean: Array) -> tuple[tuple[Any, Any, Any], ...]:
        # As of x failures in x + r trials; ψ(x, μ) − ψ(x + r, μ + r) would cancel if μ is much larger than r.
        success = self.r / (mean + self.r)
        trials, away = x + self.r, (x - mean) * success
        return (x, trials * (mean / (mean + self.r)), away), (self.r, trials * success, -away)

    def likely_counts(self, natural: Array, origin: Array) -> tuple[Array, Array]:
        mean = self.mean_from_natural(natural, origin)[0]
        deviation = np.sqrt(mean * (1.0 + mean / self.r))
        return np.maximum(mean - 40.0 * deviation, 0.0), mean + 40.0 * deviation - 80.0 / natural[0] + 40.0
