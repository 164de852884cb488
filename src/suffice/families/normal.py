"""Normal and LogNormal."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.dispersed import DispersedFamily
from suffice.families.elementary import FunctionName
from suffice.families.special import HALF_LOG_TWO_PI

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class Normal(DispersedFamily):
    """p(x) = (2πσ²)^−½ exp(−(x − μ)²/2σ²): u = (x, x²), λ = (μ/σ², −1/2σ²).

    Parameters
    ----------
    dispersion : {"free", "shared"}, default="free"
        Whether each class has its own σ², or all classes share one.
    ddof : float, default=0.0
        0 for maximum likelihood (1/n), 1 for the unbiased variance; per class, so K·ddof when shared.
    alpha : float, default=1.0
        Pseudo-observations at the variance of the whole column, about the class mean.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        Without effect: every finite number is in the support.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Normal
    >>> model = BayesClassifier(families=Normal(alpha=0))
    >>> model.fit([[1.0], [3.0], [7.0], [9.0]], ["a", "a", "b", "b"]).parameters_
    {0: {'mean': array([2., 8.]), 'variance': array([1., 1.])}}
    """

    ddof: float = field(default=0.0, kw_only=True)

    functions: ClassVar[tuple[FunctionName, ...]] = ("x", "x2")
    centred: ClassVar[bool] = True
    scaled: ClassVar[bool] = True
    conventional_degree: ClassVar[dict[str, int]] = {"mean": 1, "variance": 2}
    point_masses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.ddof, Real) and np.isfinite(self.ddof) and self.ddof >= 0):
            raise ValueError(f"{self.name}: ddof must be a finite number ≥ 0, got {self.ddof!r}.")

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        linear, negative_half_precision = natural
        quadratic = -0.25 * np.square(linear) / negative_half_precision
        return np.asarray(quadratic - 0.5 * np.log(-2.0 * negative_half_precision) + HALF_LOG_TWO_PI)

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        linear, negative_half_precision = natural
        variance = -0.5 / negative_half_precision
        mean = linear * variance
        return np.array([mean, np.square(mean) + variance])

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        variance = mean[1] - np.square(mean[0])
        return np.array([mean[0] / variance, -0.5 / variance])

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        linear, negative_half_precision = natural
        variance = -0.5 / negative_half_precision
        return {"mean": origin + linear * variance, "variance": variance}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        parameters = self.conventional(natural, origin)
        return rng.normal(parameters["mean"], np.sqrt(parameters["variance"]))

    def boundary(self, mean: Array, origin: Array, noise: Array | float = 0.0) -> NDArray[np.bool_]:
        variance = mean[1] - np.square(mean[0])
        return np.asarray(variance <= np.maximum(_ROUNDING * np.square(mean[0]), noise))

    def outside(self, mean: Array, origin: Array, noise: Array | float) -> NDArray[np.bool_]:
        return np.asarray(mean[1] - np.square(mean[0]) < -(noise + _ROUNDING * np.square(mean[0])))

    def smooth(self, mean: Array, weight: Array, pooled: Array) -> Array:
        # Add alpha pseudo-observations at the column's total variance about the class mean.
        total_variance = np.maximum(pooled[1] - np.square(pooled[0]), 0.0)
        variance = np.maximum(mean[1] - np.square(mean[0]), 0.0)
        count = weight + self.alpha - self.ddof
        # Where nothing is left to divide by, the limit alpha → 0⁺ is the total variance itself.
        some = count > 0
        spread = np.divide(
            weight * variance + self.alpha * total_variance, count, out=np.zeros_like(count), where=some
        )
        spread = np.where(some, spread, total_variance)
        location = np.where(weight > 0, mean[0], pooled[0])
        spread = np.where(weight > 0, spread, total_variance)
        return np.array([location, np.square(location) + spread])

    def smoothed_weight(self, weight: Array) -> Array:
        return np.maximum(weight + self.alpha - self.ddof, 0.0)

    def dispersion_from_mean(self, mean: Array, origin: Array) -> Array:
        return np.asarray(mean[1] - np.square(mean[0]))

    def mean_with_dispersion(self, mean: Array, origin: Array, dispersion: Array) -> Array:
        return np.array([mean[0], np.square(mean[0]) + dispersion])


@dataclass(frozen=True, repr=False)
class LogNormal(Normal):
    """Log x is Normal: p(x) = (1/x)·(2πσ²)^−½ exp(−(log x − μ)²/2σ²), u = (log x, log² x).

    The parameters are those of Normal, on log x; about an origin, log x stands for log(x/c).

    Parameters
    ----------
    dispersion : {"free", "shared"}, default="free"
        Whether each class has its own σ², or all classes share one.
    ddof : float, default=0.0
        0 for maximum likelihood (1/n), 1 for the unbiased variance of log x.
    alpha : float, default=1.0
        Pseudo-observations at the variance of log x in the whole column, about the class mean.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import LogNormal
    >>> model = BayesClassifier(families=LogNormal())
    >>> model.fit([[1.0], [10.0], [100.0], [1000.0]], ["a", "a", "b", "b"]).predict([[4.0]])
    array(['a'], dtype=object)
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("log", "log2")
    default_origin: ClassVar[float] = 1.0
    scaled: ClassVar[bool] = False
    has_base_measure: ClassVar[bool] = True
    support_name: ClassVar[str] = "positive numbers"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x > 0) & np.isfinite(x)

    def log_base_measure(self, x: Array) -> Array:
        return -np.log(x)

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return super().conventional(natural, np.log(origin))

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # Draw values; those that underflow become the smallest positive number.
        return np.maximum(np.exp(super().sample(natural, origin, rng)), np.finfo(np.float64).tiny)

    def origin_from_mean(self, mean: Array, origin: Array) -> Array:
        return np.asarray(origin * np.exp(mean[0]))

    def mean_log_base_measure(self, natural: Array, origin: Array) -> Array:
        # E[−log x] = −μ.
        return -self.conventional(natural, origin)["mean"]

    def log_power_integral(self, natural: Array, origin: Array, power: float) -> Array:
        # x^−a = x^(1−a)·h(x): a member with another mean.
        rest = 1.0 - power
        member = np.stack([power * natural[0] + rest, power * natural[1]])
        return np.asarray(self.log_normalizer(member, origin) + rest * np.log(origin))
