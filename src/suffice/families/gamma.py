"""Gamma."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.dispersed import DispersedFamily
from suffice.families.elementary import FunctionName, log_shift
from suffice.families.special import (
    log_minus_digamma,
    newton_in_log,
    one_minus_trigamma,
    stirling_remainder,
    x_minus_log1p,
)

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, repr=False)
class Gamma(DispersedFamily):
    """p(x) = βᵃ xᵃ⁻¹ e^−βx / Γ(a): u = (x − c, log(x/c)), λ = (−β, a), h = 1/x.

    With `dispersion="shared"` all classes have one shape a, and each class has its own mean a/β.

    Parameters
    ----------
    dispersion : {"free", "shared"}, default="free"
        Whether each class has its own shape a, or all classes share one.
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Gamma
    >>> model = BayesClassifier(families=Gamma())
    >>> model.fit([[1.0], [2.0], [4.0], [9.0]], ["a", "a", "b", "b"]).predict([[5.0]])
    array(['b'], dtype=object)
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("x", "log")
    default_origin: ClassVar[float] = 1.0
    centred: ClassVar[bool] = True
    has_base_measure: ClassVar[bool] = True
    support_name: ClassVar[str] = "positive numbers"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x > 0) & np.isfinite(x)

    def log_base_measure(self, x: Array) -> Array:
        return -np.log(x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        # Log Γ(a) − a·log(βc) + βc, written so that large shapes do not cancel.
        negative_rate, shape = natural
        ratio = -negative_rate * origin / shape
        near = x_minus_log1p(np.maximum(ratio, 0.5) - 1.0)
        away_from_mean = np.where(ratio > 0.5, near, ratio - 1.0 - np.log(ratio))
        at_mean = stirling_remainder(shape) - 0.5 * np.log(shape / (2.0 * np.pi))
        return np.asarray(shape * away_from_mean + at_mean)

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        negative_rate, shape = natural
        mean_log = -log_minus_digamma(shape) - np.log(-negative_rate * origin / shape)
        return np.stack([-shape / negative_rate - origin, mean_log])

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        # Solve log a − ψ(a) = log E[x] − E[log x]; then β = a / E[x].
        gap = self.dispersion_from_mean(mean, origin)
        root = np.sqrt(np.square(gap - 3.0) + 24.0 * gap)
        start = np.where(gap < 3.0, (3.0 - gap + root) / (12.0 * gap), 2.0 / (np.abs(gap - 3.0) + root))

        def residual_and_slope(shape: Array) -> tuple[Array, Array]:
            value = log_minus_digamma(shape)
            return np.log(value / gap), one_minus_trigamma(shape) / value

        shape = newton_in_log(start, residual_and_slope, self.name)
        return np.stack([-shape / (origin + mean[0]), shape])

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"shape": natural[1], "rate": -natural[0]}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # Draw values; those that underflow become the smallest positive number.
        return np.asarray(np.maximum(rng.gamma(natural[1], -1.0 / natural[0]), np.finfo(np.float64).tiny))

    def boundary(self, mean: Array, origin: Array, noise: Array | float = 0.0) -> NDArray[np.bool_]:
        size = np.maximum(np.abs(mean[0]) / (origin + mean[0]), np.abs(mean[1]))
        rounding = np.maximum(np.maximum(_ROUNDING * size, 1e-28), noise)
        return np.asarray(self.dispersion_from_mean(mean, origin) <= rounding)

    def outside(self, mean: Array, origin: Array, noise: Array | float) -> NDArray[np.bool_]:
        inside = origin + mean[0] > 0
        gap = self.dispersion_from_mean(np.where(inside, mean, 0.0), origin)
        return np.asarray(~inside | (gap < -(noise + _ROUNDING * np.abs(mean[1]))))

    def mean_log_base_measure(self, natural: Array, origin: Array) -> Array:
        # E[−log x].
        return np.asarray(-(self.mean_from_natural(natural, origin)[1] + np.log(origin)))

    def log_power_integral(self, natural: Array, origin: Array, power: float) -> Array:
        # x^−a = x^(1−a)·h(x): a member with another shape.
        rest = 1.0 - power
        member = np.stack([power * natural[0], power * natural[1] + rest])
        return np.asarray(self.log_normalizer(member, origin) + rest * np.log(origin))

    def dispersion_from_mean(self, mean: Array, origin: Array) -> Array:
        # Log E[x] − E[log x].
        return np.asarray(log_shift(origin, mean[0]) - mean[1])

    def mean_with_dispersion(self, mean: Array, origin: Array, dispersion: Array) -> Array:
        return np.stack([mean[0], log_shift(origin, mean[0]) - dispersion])
