"""Parameters of number columns, and what needs nothing else: usual names, draws and divergences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.base import Separation
from suffice.factors.scores import CERTAIN, IMPOSSIBLE
from suffice.families import Family
from suffice.families.elementary import rebase

PER_COLUMN = (
    "natural",
    "constant",
    "origin",
    "exponent",
    "weight",
    "point",
    "location",
    "doubt",
    "vanishing",
    "active",
)
"""The arrays of `ColumnParameters`; the columns are on their last axis."""


class ColumnParameters:
    """λ of every class and column about `origin`, with the constants that complete the log density.

    `point` marks classes and columns whose distribution is a single value, `location`, known up to `doubt`
    after rows were removed; other values there leave `vanishing` for each power of alpha. `active` marks the
    columns that vary at all.
    """

    def __init__(self, family: Family, n_classes: int, n_columns: int) -> None:
        self.family = family
        self.natural = np.zeros((family.n_statistics, n_classes, n_columns))
        self.constant = np.zeros((n_classes, n_columns))
        self.origin = np.zeros((n_classes, n_columns))
        self.exponent = np.zeros(n_columns, dtype=np.int32)
        self.weight = np.zeros((n_classes, n_columns))
        self.point = np.zeros((n_classes, n_columns), dtype=np.bool_)
        self.location = np.zeros((n_classes, n_columns))
        self.doubt = np.zeros((n_classes, n_columns))
        self.vanishing = np.zeros((n_classes, n_columns))
        self.active = np.ones(n_columns, dtype=np.bool_)

    def off_point(self, values: Array, k: int, columns: Any) -> tuple[Array, Array]:
        """Orders and finite parts of values in class k where the distribution is a point mass."""
        with np.errstate(over="ignore"):
            away = np.abs(values - self.location[k, columns])
        vanishing = self.vanishing[k, columns]
        if self.family.discrete:
            return away, away * vanishing
        hit = away <= self.doubt[k, columns]
        return np.where(hit, CERTAIN, IMPOSSIBLE), np.where(hit, 0.0, vanishing)

    def largest(self) -> Array:
        """The largest |x| that is not cut off; beyond, scores would overflow, all alike."""
        spread = self._spread()
        return np.where(spread < 623.0, np.exp2(np.minimum(spread, 622.0) + 400.0), np.inf)

    def smallest(self) -> Array:
        """The smallest |x| that is not cut off."""
        return np.asarray(np.exp2(np.maximum(self._spread() - 400.0, -1022.0)))

    def _spread(self) -> Array:
        """The power of two that the values of each active column are measured in."""
        spread = self.exponent[self.active].astype(np.float64)
        if self.family.default_origin > 0:
            spread = spread + np.log2(self.origin[:, self.active].max(axis=0))
        return spread

    def conventional(self) -> list[dict[str, Any]]:
        """The parameters people know, for each column: name → (k,) array."""
        degenerate = self.point | ~self.active
        named = self.family.conventional(self._members(degenerate), self._origin_in_units())
        degrees = self.family.conventional_degree
        with np.errstate(over="ignore"):
            named = {name: np.ldexp(v, degrees.get(name, 0) * self.exponent) for name, v in named.items()}
        if self.family.scaled and "mean" in named:
            named["mean"] = self.origin + named["mean"]
        if degenerate.any():
            limits = self._limits()
            named = {name: np.where(degenerate, limits[name], value) for name, value in named.items()}
            named["always"] = np.where(degenerate, self.location, np.nan)
        return [{name: value[:, j] for name, value in named.items()} for j in range(self.constant.shape[1])]

    def _limits(self) -> dict[str, Array]:
        """The parameters of a distribution that is the single value `location`, NaN where there are none."""
        low, high = self.family.mean_bounds()
        if np.isfinite(low):
            end = np.where(self.location >= high, np.inf, -np.inf)
            with np.errstate(all="ignore"):
                return self.family.conventional(np.stack([end]), self.origin)
        known = {"mean": self.location, "variance": np.zeros_like(self.location)}
        if self.family.default_origin > 0:
            known = {}
        nothing = np.full_like(self.location, np.nan)
        return {name: known.get(name, nothing) for name in ("mean", "variance", *self._names())}

    def _names(self) -> tuple[str, ...]:
        """What the family calls its parameters."""
        member = np.full((self.family.n_statistics, 1), np.nan)
        return tuple(self.family.conventional(member, np.ones(1)))

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """One value per row for each column, drawn from the row's class."""
        degenerate = self.point | ~self.active
        if degenerate.all():
            return list(self.location[classes].T)
        members = self._drawn_members(degenerate, classes, rng)
        drawn = self.family.sample(members, self._origin_in_units()[classes], rng)
        if self.family.scaled:
            drawn = self.origin[classes] + np.ldexp(drawn, self.exponent)
        return list(np.where(degenerate[classes], self.location[classes], drawn).T)

    def _drawn_members(
        self, degenerate: NDArray[np.bool_], classes: Codes, rng: np.random.Generator
    ) -> Array:
        """λ of the member of the family that each row is drawn from, (m, rows, columns)."""
        return self._members(degenerate)[:, classes]

    def separation(self) -> Separation:
        """How far apart the classes are."""
        family, n_classes = self.family, len(self.constant)
        kl, distance = (np.zeros((self.constant.shape[1], n_classes, n_classes)) for _ in range(2))
        members = self._members(self.point | ~self.active)
        for k in range(n_classes):
            about = self._origin_in_units()[k]
            theirs = self.moved(members, self.origin[k])
            with np.errstate(invalid="ignore"):
                mine = np.broadcast_to(members[:, [k]], theirs.shape)
                kl[:, k] = family.kl(mine, theirs, about).T
                distance[:, k] = family.bhattacharyya(mine, theirs, about).T
        if self.point.any():
            self._separate_points(kl, distance)
        kl[~self.active], distance[~self.active] = 0.0, 0.0
        return Separation.of_independent(kl, distance)

    def moved(self, natural: Array, origin: Array) -> Array:
        """λ of every class about one origin per column: u about one origin is linear in u about another."""
        moved = np.zeros_like(natural)
        target = np.broadcast_to(origin, self.origin.shape)
        no_weight = np.zeros_like(self.origin)
        for i in range(len(natural)):
            unit = np.zeros_like(natural)
            unit[i] = 1.0
            u = rebase(self.family.functions, unit, no_weight, target, self.origin, self.exponent)
            moved[i] = np.sum(natural * u, axis=0)
        return moved

    def _separate_points(self, kl: Array, distance: Array) -> None:
        """Fill in the pairs of classes of which at least one is a single value."""
        for k, other in np.ndindex(kl.shape[1:]):
            for j in np.flatnonzero(self.point[k] | self.point[other]):
                here, there = self.location[[k, other], j]
                if self.point[k, j] and self.point[other, j]:
                    equal = np.abs(here - there) <= self.doubt[k, j] + self.doubt[other, j]
                    cost = 0.0 if equal else np.inf
                    kl[j, k, other] = distance[j, k, other] = cost
                    continue
                single, spread = (k, other) if self.point[k, j] else (other, k)
                cost = np.inf
                if self.family.discrete:
                    at = np.asarray(self.location[single, j])
                    cost = -float(self.family.log_density(at, self.natural[:, spread, j]))
                kl[j, k, other] = cost if self.point[k, j] else np.inf
                distance[j, k, other] = 0.5 * cost

    def _origin_in_units(self) -> Array:
        """The origin as λ knows it: scaled sums are about 0 in their own units."""
        return np.zeros_like(self.origin) if self.family.scaled else self.origin

    def _members(self, degenerate: NDArray[np.bool_]) -> Array:
        """λ, with a valid stand-in for distributions that are single values."""
        if not degenerate.any():
            return self.natural
        valid = ~degenerate
        stand_in = self.natural[:, valid][:, :1] if valid.any() else np.full((len(self.natural), 1), np.nan)
        return np.where(degenerate, stand_in[:, :, np.newaxis], self.natural)
