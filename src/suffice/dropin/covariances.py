"""Means and covariances of the classes as scikit-learn's discriminants define them, from scatter sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.base import Totals
from suffice.factors.gaussian.moments import ClassMoments
from suffice.factors.gaussian.solve import class_moments
from suffice.factors.gaussian.totals import ScatterTotals
from suffice.families import MultivariateNormal
from suffice.storage import Fields


def family_of(shrinkage: Any) -> MultivariateNormal:
    """What is summed: Ledoit and Wolf's shrinkage needs fourth moments."""
    return MultivariateNormal("full", shrinkage="ledoit_wolf" if shrinkage == "auto" else None)


@dataclass(frozen=True)
class Covariances:
    """Moments of every class in the units of the data, divided by n, with scikit-learn's shrinkage."""

    found: ClassMoments
    shrinkage: Any

    @classmethod
    def of(
        cls,
        totals: Totals,
        classes: NDArray[Any],
        shrinkage: Any,
        *,
        shared: bool = False,
        saved_search: Fields | None = None,
    ) -> Covariances:
        """Solve scatter sums without a ridge, for one Σ or one of each class.

        With gaps this is EM, or (`again`) what it found when the model was saved.
        """
        if not isinstance(totals, ScatterTotals):
            raise TypeError("these statistics are not of one joint Gaussian block.")
        if shared:
            totals = totals.with_family(replace(totals.family, covariance="shared"))
        return cls(class_moments(totals, classes, saved_search), shrinkage)

    @property
    def weight(self) -> Array:
        """The rows' weight of each class."""
        return self.found.moments.weight

    @cached_property
    def mean(self) -> Array:
        """μ_k, (k, d)."""
        mean = self.found.centre.copy()
        mean[:, self.found.active] += self.found.moments.mean * self.found.data.scale
        return mean

    @cached_property
    def share(self) -> Array:
        """The rows of each class over all rows."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def standard(self) -> Array:
        """Σ of each group that shares one, on the columns that vary and in their scales; not shrunk."""
        found = self.found
        weight = found.tying.pooled(self.weight)
        return np.asarray(found.moments.scatter / weight[:, np.newaxis, np.newaxis])

    def in_units(self, standard: Array) -> Array:
        """Matrices of the columns that vary, in the units of the data and with all columns."""
        d = len(self.found.scale)
        full = np.zeros((*standard.shape[:-2], d, d))
        scale = self.found.data.scale
        rows, columns = np.ix_(self.found.active, self.found.active)
        full[..., rows, columns] = standard * np.outer(scale, scale)
        return full

    def standardised(self, covariance: Array) -> Array:
        """The opposite of `in_units`, for one matrix."""
        scale = self.found.data.scale
        return np.asarray(covariance[np.ix_(self.found.active, self.found.active)] / np.outer(scale, scale))

    @cached_property
    def each(self) -> Array:
        """Σ_k of each class, shrunk, (k, d, d)."""
        matrices = self.in_units(self.standard)
        return np.stack([self._shrunk(matrix, k) for k, matrix in enumerate(matrices)])

    @cached_property
    def total(self) -> Array:
        """The covariance of all rows, shrunk on its own."""
        away = self.mean - self.share @ self.mean
        within = np.einsum("k,kij->ij", self.share, self.in_units(self.standard))
        return self._shrunk(within + (self.share[:, np.newaxis] * away).T @ away, None)

    def _shrunk(self, covariance: Array, k: int | None) -> Array:
        """What scikit-learn makes of the covariance of class k, or (None) of all rows."""
        if self.shrinkage is None:
            return covariance
        d = len(covariance)
        if isinstance(self.shrinkage, Real):
            level = float(self.shrinkage) * np.trace(covariance) / d
            return np.asarray((1.0 - float(self.shrinkage)) * covariance + level * np.eye(d))
        deviation = np.sqrt(np.diag(covariance))
        deviation[deviation == 0] = 1.0
        correlation = covariance / np.outer(deviation, deviation)
        n = float(self.weight.sum() if k is None else self.weight[k])
        fourth = self._fourth_power(
            deviation, range(len(self.weight)) if k is None else [k], about_all=k is None
        )
        level = float(np.trace(correlation)) / d
        size = float(np.vdot(correlation, correlation))
        distance = size - d * level**2
        noise = min((fourth / n - size) / n, distance)
        share = noise / distance if noise != 0 else 0.0
        shrunk = (1.0 - share) * correlation + share * level * np.eye(d)
        return np.asarray(shrunk * np.outer(deviation, deviation))

    def _fourth_power(self, deviation: Array, classes: Any, *, about_all: bool) -> float:
        """Σ w·|z|⁴ over classes, z in units of `deviation`, about the class mean or that of all rows."""
        found = self.found
        factor = found.data.scale / deviation[found.active]
        away = np.zeros_like(found.moments.mean)
        if about_all:
            away = (self.mean - self.share @ self.mean)[:, found.active] / found.data.scale
        total = 0.0
        for k in classes:
            for cell in found.data.cells[k]:
                shift = cell.shift + (away[k] - found.moments.mean[k]) / cell.factor
                total += cell.raw.fourth_power(shift, cell.factor * factor)
        return total
