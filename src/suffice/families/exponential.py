"""Exponential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import FunctionName


@dataclass(frozen=True, repr=False)
class Exponential(Family):
    """p(x) = β e^−βx: u = x, λ = −β, A = −log β.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Exponential
    >>> model = BayesClassifier(families=Exponential(alpha=0))
    >>> model.fit([[1.0], [3.0], [7.0], [9.0]], ["a", "a", "b", "b"]).parameters_
    {0: {'rate': array([0.5  , 0.125])}}
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    scaled: ClassVar[bool] = True
    conventional_degree: ClassVar[dict[str, int]] = {"rate": -1}
    point_masses: ClassVar[bool] = True
    support_name: ClassVar[str] = "numbers ≥ 0"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x >= 0) & np.isfinite(x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        return np.asarray(-np.log(-natural[0]))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        return -1.0 / natural

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        return -1.0 / mean

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"rate": -natural[0]}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        return np.asarray(rng.exponential(-1.0 / natural[0]))

    def mean_bounds(self) -> tuple[float, float]:
        return (0.0, np.inf)
