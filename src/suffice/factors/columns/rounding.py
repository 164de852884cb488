"""The rounding error of the sums of a class, mostly left by removed rows, and the classes that it makes vary.

Every sum remembers how much Σ w·|u(x)| it ever was, as a power of two: its rounding error is a small share of
that, however little is left. A class whose dispersion is no larger is constant, as it would be in a fit
without the removed rows; of counts, a class whose mean is no farther from a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Exponents
from suffice.families import Family
from suffice.families.elementary import ElementaryFunction, Function, elementary, rebase

ROUNDING = 64.0 * float(np.finfo(np.float64).eps)
NOTHING = -4096
"""The exponent of a sum that never was anything but 0."""
_LARGEST = float(np.finfo(np.float64).max)

DISTANCE: Mapping[tuple[Function, ...], Callable[[Array], tuple[Array | float, Array | float]]] = (
    MappingProxyType(
        {
            ("x", "x2"): lambda _: (0.0, 1.0),
            ("log", "log2"): lambda _: (0.0, 1.0),
            ("x", "log"): lambda c: (1.0 / c, -1.0),
            ("x", "reciprocal"): lambda c: (1.0 / c, 1.0),
            ("log", "log1m"): lambda c: (-c, c - 1.0),
            ("cos", "sin"): lambda _: (-1.0, 0.0),
        }
    )
)
"""Coefficients a of the distance Σ aᵢ·uᵢ(x) of x from the origin c, 0 at c and positive elsewhere."""


def follows(family: Family) -> bool:
    """Whether the rounding error of these sums is known: of counts, or of a distance from the origin."""
    return counts(family) or _has_distance(family)


def counts(family: Family) -> bool:
    """Whether the sums are of counts, from 0 on, which may all be equal to a bound of the family."""
    at_zero = family.functions == ("x",) and family.default_origin == 0.0 and family.mean_bounds()[0] == 0.0
    return family.discrete and not family.centred and at_zero


def _has_distance(family: Family) -> bool:
    return family.centred and family.functions in DISTANCE


def cancels(family: Family) -> bool:
    """Whether the distance is a small difference of sums: (x − c)²/2c² of such as (x − c)/c."""
    return _has_distance(family) and all(a != 0.0 for a in DISTANCE[family.functions](np.asarray(0.5)))


def _distance(family: Family, origin: Array) -> Array:
    """The coefficients of the distance from the origin, (m, …)."""
    return np.stack([np.broadcast_to(a, origin.shape) for a in DISTANCE[family.functions](origin)])


def peaks_of(family: Family, total: Array, weight: Array, origin: Array, unit: Exponents) -> Exponents:
    """Exponents of bounds on Σ w·|u(x)| and of Σ w, (m + 1, classes, columns), from the sums alone.

    If D is the distance of all rows from the origin and W their weight, Σ w·|u| is at most D where u is a
    square, and else D + √2WD. Of counts it is the sum itself.
    """
    rows = np.broadcast_to(np.abs(weight), origin.shape)
    if counts(family):
        return _exponents(np.concatenate([np.abs(total), rows[np.newaxis]]))
    a = _distance(family, origin)
    with np.errstate(all="ignore"):
        away = np.maximum(np.nan_to_num(np.sum(a * total, axis=0)), 0.0)
        root = np.sqrt(2.0 * rows * away)
        is_square = _each(family, lambda one: one.root is not None)
        bound = np.where(a == 0.0, root, np.where(is_square, away, (away + root) / np.abs(a)))
    bound = np.concatenate([np.minimum(bound, _LARGEST), rows[np.newaxis]])
    degree = np.append(_each(family, lambda one: one.degree), 0)[:, np.newaxis, np.newaxis]
    return _exponents(bound, degree * unit)


def _exponents(bound: Array, unit: Exponents | int = 0) -> Exponents:
    return np.where(bound > 0, np.frexp(bound)[1] + unit, NOTHING).astype(np.int32)


def moved_peaks(family: Family, peak: Exponents, origin: Array, target: Array, unit: Exponents) -> Exponents:
    """What the sums ever were, about another origin."""
    degree = _each(family, lambda one: one.degree)
    size = _moved(
        family, np.ldexp(1.0, np.clip(peak[:-1] - degree * unit, -1074, 1000)), origin, target, unit
    )
    exponent = np.frexp(np.minimum(size, _LARGEST))[1] + degree * unit
    return np.concatenate([np.where(peak[:-1] == NOTHING, NOTHING, exponent), peak[-1:]]).astype(np.int32)


@dataclass(frozen=True)
class AboutMeans:
    """Mean statistics of each class and column about its own mean, with their rounding error."""

    mean: Array
    centre: Array
    spread: Array
    """How far from 0 rounding may have moved the dispersion of a class."""
    doubt: Array
    """How far from its place rounding may have moved the centre."""

    @classmethod
    def of(
        cls, family: Family, total: Array, weight: Array, origin: Array, peak: Exponents, unit: Exponents
    ) -> AboutMeans:
        """The sums about their own means, given what they ever were."""
        degree = np.append(_each(family, lambda one: one.degree), 0)[:, np.newaxis, np.newaxis]
        size = np.ldexp(1.0, np.clip(peak - degree * unit, -1074, 1023)) / weight
        mean = total / weight
        noise = ROUNDING * (size[:-1] + np.abs(mean) * size[-1])
        if counts(family):
            return cls(mean, origin, noise[0], np.zeros_like(origin))
        centre = centre_of(family, mean, origin, unit)
        mean = rebase(family.functions, mean, np.ones_like(origin), origin, centre, unit)
        noise = _moved(family, noise, origin, centre, unit)
        doubt = np.spacing(np.abs(centre))
        for i, error in enumerate(noise):
            alone = np.zeros_like(noise)
            alone[i] = error
            doubt += np.abs(centre_of(family, alone, centre, unit) - centre)
        return cls(mean, centre, np.sum(np.abs(_distance(family, centre)) * noise, axis=0), doubt)


def centre_of(family: Family, mean: Array, origin: Array, exponent: Exponents) -> Array:
    """Where values with this mean lie: the family's choice, in the units of the data."""
    with np.errstate(over="ignore"):
        raw = [
            np.ldexp(row, function.degree * exponent)
            for function, row in zip(elementary(family.functions), mean, strict=True)
        ]
        return family.origin_from_mean(np.array(raw), origin)


def _moved(family: Family, error: Array, origin: Array, target: Array, unit: Exponents) -> Array:
    """How large errors of sums may become about another origin, where the sums are linear in them."""
    result = np.zeros_like(error)
    no_weight = np.zeros_like(origin)
    for i, one in enumerate(error):
        alone = np.zeros_like(error)
        alone[i] = one
        result += np.abs(rebase(family.functions, alone, no_weight, origin, target, unit))
    return result


def _each(family: Family, value: Callable[[ElementaryFunction], int]) -> NDArray[np.int64]:
    """Something of every function, (m, 1, 1)."""
    return np.array([value(one) for one in elementary(family.functions)])[:, np.newaxis, np.newaxis]
