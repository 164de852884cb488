"""Inverse Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.dispersed import DispersedFamily
from suffice.families.elementary import FunctionName
from suffice.families.special import HALF_LOG_TWO_PI, LOG_TWO, log_scaled_bessel_k, scaled_exp1

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class InverseGaussian(DispersedFamily):
    """p(x) = (s/2πx³)^½ exp(−s(x − μ)²/2μ²x): u = (x − c, c/x − 1), λ = (−s/2μ², −s/2c), h = x^−3/2.

    With `dispersion="shared"` all classes have one shape s, and each class has its own mean μ.

    Parameters
    ----------
    dispersion : {"free", "shared"}, default="free"
        Whether each class has its own shape s, or all classes share one.
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import InverseGaussian
    >>> model = BayesClassifier(families=InverseGaussian())
    >>> model.fit([[1.0], [2.0], [4.0], [8.0]], ["a", "a", "b", "b"]).predict([[5.0]])
    array(['b'], dtype=object)
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("x", "reciprocal")
    default_origin: ClassVar[float] = 1.0
    centred: ClassVar[bool] = True
    has_base_measure: ClassVar[bool] = True
    support_name: ClassVar[str] = "positive numbers"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x > 0) & np.isfinite(x)

    def log_base_measure(self, x: Array) -> Array:
        return -1.5 * np.log(x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        # ½·log(2π/s) + s/2c·(c/μ − 1)², so that nothing cancels with c near μ.
        shape = -2.0 * origin * natural[1]
        away = self._away_from_mean(natural, origin)
        return np.asarray(HALF_LOG_TWO_PI - 0.5 * np.log(shape) - natural[1] * np.square(away))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        away = self._away_from_mean(natural, origin)
        return np.stack([-origin * away / (1.0 + away), away - 0.5 / natural[1]])

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        reciprocal = -0.5 / self._excess(mean, origin)
        location = origin + mean[0]
        return np.stack([reciprocal / location * (origin / location), reciprocal])

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        mean = origin / (1.0 + self._away_from_mean(natural, origin))
        return {"mean": mean, "shape": -2.0 * origin * natural[1]}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # A root of s(x − μ)²/μ²x = z², z standard normal: the smaller with probability μ/(μ + x).
        mean, shape = self.conventional(natural, origin).values()
        half = 0.5 * np.square(rng.standard_normal(np.shape(mean))) * mean / shape
        ratio = 1.0 + half + np.sqrt(half * (2.0 + half))
        smaller = rng.random(np.shape(mean)) * (1.0 + ratio) <= ratio
        return np.where(smaller, mean / ratio, mean * ratio)

    def boundary(self, mean: Array, origin: Array, noise: Array | float = 0.0) -> NDArray[np.bool_]:
        size = np.maximum(np.abs(mean[0] / (origin + mean[0])), np.abs(mean[1]))
        rounding = np.maximum(np.maximum(_ROUNDING * size * (1.0 + size), 1e-28), noise)
        return np.asarray(self._excess(mean, origin) <= rounding)

    def outside(self, mean: Array, origin: Array, noise: Array | float) -> NDArray[np.bool_]:
        inside = origin + mean[0] > 0
        excess = self._excess(np.where(inside, mean, 0.0), origin)
        return np.asarray(~inside | (excess < -(noise + _ROUNDING * np.abs(mean[1]))))

    def mean_log_base_measure(self, natural: Array, origin: Array) -> Array:
        # −3/2·E[log x], with E[log x] = log μ − e^z·E₁(z) and z = 2s/μ.
        mean, shape = self.conventional(natural, origin).values()
        return 1.5 * (scaled_exp1(2.0 * shape / mean) - np.log(mean))

    def log_power_integral(self, natural: Array, origin: Array, power: float) -> Array:
        # Log(2μ^ν·e^z·K_ν(z)) − aλ₂(c/μ − 1)² with ν = 1 − 3a/2 and z = a·s/μ.
        away = self._away_from_mean(natural, origin)
        order, mean = 1.0 - 1.5 * power, origin / (1.0 + away)
        z = -2.0 * power * natural[1] * (1.0 + away)
        bessel = log_scaled_bessel_k(order, z)
        return np.asarray(LOG_TWO + order * np.log(mean) + bessel - power * natural[1] * np.square(away))

    def dispersion_from_mean(self, mean: Array, origin: Array) -> Array:
        # 1/s = E[1/x] − 1/E[x].
        return self._excess(mean, origin) / origin

    def mean_with_dispersion(self, mean: Array, origin: Array, dispersion: Array) -> Array:
        return np.stack([mean[0], origin * dispersion - mean[0] / (origin + mean[0])])

    def _excess(self, mean: Array, origin: Array) -> Array:
        """c/s = E[c/x] − c/E[x]."""
        return np.asarray(mean[1] + mean[0] / (origin + mean[0]))

    def _away_from_mean(self, natural: Array, origin: Array) -> Array:
        """c/μ − 1."""
        square = origin * natural[0] / natural[1]
        return np.asarray((square - 1.0) / (np.sqrt(square) + 1.0))
