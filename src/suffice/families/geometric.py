"""Geometric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import FunctionName
from suffice.families.special import log1mexp


@dataclass(frozen=True, repr=False)
class Geometric(Family):
    """p(x) = (1 − π)ˣ π: u = x, λ = log(1 − π), A = −log(1 − e^λ).

    x counts the failures before the first success, so it starts at 0 (in SciPy it starts at 1).

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Geometric
    >>> model = BayesClassifier(families=Geometric(alpha=0))
    >>> model.fit([[0], [2], [6], [8]], ["a", "a", "b", "b"]).parameters_
    {0: {'probability': array([0.5  , 0.125])}}
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    discrete: ClassVar[bool] = True
    point_masses: ClassVar[bool] = True
    support_name: ClassVar[str] = "whole numbers ≥ 0"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray((x >= 0) & (x == np.floor(x)) & np.isfinite(x))

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return -log1mexp(natural[0])

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return -np.exp(natural) / np.expm1(natural)

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        return -np.log1p(1.0 / mean)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"probability": -np.expm1(natural[0])}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        return np.asarray(rng.geometric(-np.expm1(natural[0])) - 1.0)

    def mean_bounds(self) -> tuple[float, float]:
        return (0.0, np.inf)
