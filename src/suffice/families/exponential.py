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
    """p(x) = β e^−βx: u = x, λ = −β, A = −log β."""

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
