"""Beta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.elementary import FunctionName
from suffice.families.special import (
    HALF_LOG_TWO_PI,
    SolveError,
    log_minus_digamma,
    one_minus_trigamma,
    stirling_remainder,
    x_minus_log1p,
)

_ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
_SMALLEST = float(np.finfo(np.float64).tiny)
_LARGEST = float(np.nextafter(1.0, 0.0))


@dataclass(frozen=True, repr=False)
class Beta(Family):
    """p(x) = xᵃ⁻¹(1 − x)ᵇ⁻¹/B(a, b): u = (log(x/c), log((1 − x)/(1 − c))), λ = (a, b), h = 1/x(1 − x).

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations with the mean statistics of the whole column, added to each class.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside the support means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Beta
    >>> model = BayesClassifier(families=Beta())
    >>> model.fit([[0.1], [0.2], [0.7], [0.9]], ["a", "a", "b", "b"]).predict([[0.3]])
    array(['a'], dtype=object)
    """

    functions: ClassVar[tuple[FunctionName, ...]] = ("log", "log1m")
    default_origin: ClassVar[float] = 0.5
    centred: ClassVar[bool] = True
    has_base_measure: ClassVar[bool] = True
    support_name: ClassVar[str] = "numbers between 0 and 1, both excluded"

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x > 0) & (x < 1)

    def log_base_measure(self, x: Array) -> Array:
        return -np.log(x) - np.log1p(-x)

    def log_normalizer(self, natural: Array, origin: Array) -> Array:
        # Log B(a, b) − a·log c − b·log(1 − c), written so that large a and b do not cancel.
        a, b = natural
        s, t, log_s, log_t = self._away_from_mean(natural, origin)
        near = a * x_minus_log1p(np.maximum(s, -0.5)) + b * x_minus_log1p(np.maximum(t, -0.5))
        away = np.where(np.minimum(s, t) > -0.5, near, -a * log_s - b * log_t)
        remainder = stirling_remainder(a) + stirling_remainder(b) - stirling_remainder(a + b)
        return np.asarray(away + remainder + HALF_LOG_TWO_PI - 0.5 * (np.log(a) + np.log(b) - np.log(a + b)))

    def mean_from_natural(self, natural: Array, origin: Array) -> Array:
        # ψ(a) − ψ(a + b) − log c, and the same of b and 1 − c.
        _, _, log_s, log_t = self._away_from_mean(natural, origin)
        return log_minus_digamma(natural.sum(axis=0)) - log_minus_digamma(natural) - np.stack([log_s, log_t])

    def natural_from_mean(self, mean: Array, origin: Array) -> Array:
        # Newton's method in (log a, log b), about the origin where both means are −γ.
        gap = self._gap(mean, origin)
        log_x, log_rest = np.log(origin) + mean[0] + gap, np.log1p(-origin) + mean[1] + gap
        centre, rest = np.exp(log_x), np.exp(log_rest)
        # ψ(a) is about log(a − ½).
        twice_spread = -2.0 * np.expm1(-gap)
        log_a = np.log(0.5 + np.exp(log_x - gap) / twice_spread)
        log_b = np.log(0.5 + np.exp(log_rest - gap) / twice_spread)
        for _ in range(100):
            a, b = np.exp(log_a), np.exp(log_b)
            p, q = a / (a + b), b / (a + b)
            L_a, L_b, L_n = log_minus_digamma(a), log_minus_digamma(b), log_minus_digamma(a + b)
            T_a, T_b, T_n = -one_minus_trigamma(a), -one_minus_trigamma(b), -one_minus_trigamma(a + b)
            away = centre * b - rest * a
            s, t = away / a, -away / b
            near_s, near_t = np.abs(s) < 0.5, np.abs(t) < 0.5
            near = near_s & near_t
            s, t = np.where(near_s, s, 0.0), np.where(near_t, t, 0.0)
            # The residuals, and their mean by p and q: it is small for large a + b, so it is written apart.
            F_a = L_n - L_a + gap - np.where(near_s, np.log1p(s), log_x - np.log(p))
            F_b = L_n - L_b + gap - np.where(near_t, np.log1p(t), log_rest - np.log(q))
            centred = p * x_minus_log1p(s) + q * x_minus_log1p(t) - (p * L_a + q * L_b - L_n) + gap
            F = np.where(near, centred, p * F_a + q * F_b)
            determinant = p * T_a + (q * T_b - T_n) + T_a * (T_b - q * T_n) - p * T_b * T_n
            step_a = (F + (T_b - q * T_n) * F_a + q * T_n * F_b) / determinant
            step_b = (F + p * T_n * F_a + (T_a - p * T_n) * F_b) / determinant
            size = np.maximum(np.abs(step_a), np.abs(step_b))
            damping = 2.0 / np.maximum(size, 2.0)
            log_a, log_b = log_a - damping * step_a, log_b - damping * step_b
            if np.all(size <= 1e-8):
                return np.stack([np.exp(log_a), np.exp(log_b)])
        raise SolveError(f"{self.name}: Newton's method did not converge in 100 steps")

    def conventional(self, natural: Array, origin: Array) -> dict[str, Array]:
        return {"a": natural[0], "b": natural[1]}

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # Draw values; those that round to 0 or 1 become the nearest number between them.
        return np.asarray(np.clip(rng.beta(natural[0], natural[1]), _SMALLEST, _LARGEST))

    def boundary(self, mean: Array, origin: Array, noise: Array | float = 0.0) -> NDArray[np.bool_]:
        size = origin * np.abs(np.expm1(mean[0])) + (1.0 - origin) * np.abs(np.expm1(mean[1]))
        rounding = np.maximum(_ROUNDING * size, 1e-28 * origin * (1.0 - origin))
        return np.asarray(self._gap(mean, origin) <= np.maximum(rounding, noise))

    def outside(self, mean: Array, origin: Array, noise: Array | float) -> NDArray[np.bool_]:
        return np.asarray(self._gap(mean, origin) < -noise)

    def origin_from_mean(self, mean: Array, origin: Array) -> Array:
        # G₁/(G₁ + G₂) of the geometric means of x and 1 − x.
        x, rest = origin * np.exp(mean[0]), (1.0 - origin) * np.exp(mean[1])
        both = x + rest
        share = np.divide(x, both, out=np.full_like(both, 0.5), where=both > 0)
        return np.asarray(np.clip(share, _SMALLEST, _LARGEST))

    def mean_log_base_measure(self, natural: Array, origin: Array) -> Array:
        # E[−log x − log(1 − x)].
        return np.asarray(
            -np.sum(self.mean_from_natural(natural, origin), axis=0) - np.log(origin) - np.log1p(-origin)
        )

    def log_power_integral(self, natural: Array, origin: Array, power: float) -> Array:
        # h(x)^a = (x(1 − x))^(1−a)·h(x): a member with other shapes.
        rest = 1.0 - power
        away = rest * (np.log(origin) + np.log1p(-origin))
        return np.asarray(self.log_normalizer(power * natural + rest, origin) + away)

    def _gap(self, mean: Array, origin: Array) -> Array:
        """γ = −log(G₁ + G₂), zero when all x are equal and about 1/2(a + b) when they are close."""
        excess = origin * np.expm1(mean[0]) + (1.0 - origin) * np.expm1(mean[1])
        close = -np.log1p(np.maximum(excess, -0.5))
        far = -np.logaddexp(np.log(origin) + mean[0], np.log1p(-origin) + mean[1])
        return np.asarray(np.where(excess > -0.5, close, far))

    def _away_from_mean(self, natural: Array, origin: Array) -> tuple[Array, Array, Array, Array]:
        """The ratios of c to a/(a + b) and of 1 − c to b/(a + b), less 1; and their logarithms."""
        a, b = natural
        away = origin * b - (1.0 - origin) * a
        s, t = away / a, -away / b
        log_s = np.where(s > -0.5, np.log1p(np.maximum(s, -0.5)), np.log(origin) - np.log(a / (a + b)))
        log_t = np.where(t > -0.5, np.log1p(np.maximum(t, -0.5)), np.log1p(-origin) - np.log(b / (a + b)))
        return s, t, log_s, log_t
