"""Von Mises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import FunctionName
from suffice.families.special import bessel_ratio, newton_in_log

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class VonMises(Family):
    """p(x) = exp(κ·cos(x − μ))/2πI₀(κ): u = (cos(x − c) − 1, sin(x − c)), λ = κ(cos(μ − c), sin(μ − c)).

    x is an angle in radians, anywhere on the line; the density is that of one full turn.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        Without effect: every finite number is an angle.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import VonMises
    >>> model = BayesClassifier(families=VonMises())
    >>> model.fit([[0.1], [6.2], [3.0], [3.2]], ["a", "a", "b", "b"]).predict([[-0.2]])
    array(['a'], dtype=object)
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("cos", "sin")
    centred: ClassVar[bool] = True
    support_name: ClassVar[str] = "angles in radians"

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        concentration = np.hypot(natural[0], natural[1])
        return np.asarray(np.log(2.0 * np.pi * special.i0e(concentration)) + self._turned_away(natural))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        concentration = np.hypot(natural[0], natural[1])
        length, missing, _ = bessel_ratio(concentration)
        some = concentration > 0
        per_natural = np.where(some, length / np.where(some, concentration, 1.0), 0.5)
        return np.stack([-missing - per_natural * self._turned_away(natural), per_natural * natural[1]])

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        # Solve I₁(κ)/I₀(κ) = R by the odds R/(1 − R), which are nearly linear in κ.
        length = np.hypot(1.0 + mean[0], mean[1])
        some = length > 0
        target = np.where(some, length, 0.5)
        missing = np.where(some, self._missing_length(mean), 0.5)
        curved = missing * (1.0 + target)
        start = target * (1.0 + curved) / curved

        def residual_and_slope(concentration: Array) -> tuple[Array, Array]:
            ratio, rest, slope = bessel_ratio(concentration)
            return np.log(ratio / target) - np.log(rest / missing), slope / (ratio * rest)

        concentration = np.where(some, newton_in_log(start, residual_and_slope, self.name), 0.0)
        return np.asarray(concentration / target * np.stack([1.0 + mean[0], mean[1]]))

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        direction = origin + np.arctan2(natural[1], natural[0])
        turns = np.ceil((direction - np.pi) / (2.0 * np.pi))
        return {
            "direction": direction - 2.0 * np.pi * turns,
            "concentration": np.hypot(natural[0], natural[1]),
        }

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # Angles between −π and π.
        direction, concentration = self.conventional(natural, origin).values()
        return rng.vonmises(direction, concentration)

    def boundary(self, mean: Array, origin: Array, noise: Array | float = 0.0) -> NDArray[np.bool_]:
        size = np.abs(mean[0]) + np.square(mean[1])
        rounding = np.maximum(np.maximum(_ROUNDING * size, 1e-28), noise)
        return np.asarray(self._missing_length(mean) <= rounding)

    def outside(self, mean: Array, origin: Array, noise: Array | float) -> NDArray[np.bool_]:
        return np.asarray(self._missing_length(mean) < -noise)

    def origin_from_mean(self, mean: Array, origin: Array) -> Array:
        # The mean direction.
        return np.asarray(origin + np.arctan2(mean[1], 1.0 + mean[0]))

    def _missing_length(self, mean: Array) -> Array:
        """1 − R, as (1 − R²)/(1 + R)."""
        square = -mean[0] * (2.0 + mean[0]) - np.square(mean[1])
        return np.asarray(square / (1.0 + np.hypot(1.0 + mean[0], mean[1])))

    def _turned_away(self, natural: Array) -> Array:
        """κ − λ₁ = κ(1 − cos(μ − c))."""
        cos, sin = natural
        concentration = np.hypot(cos, sin)
        ahead = cos > 0
        return np.asarray(
            np.where(ahead, sin * (sin / np.where(ahead, concentration + cos, 1.0)), concentration - cos)
        )
