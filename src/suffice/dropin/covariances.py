"""The base of scikit-learn's two discriminants: their settings, and class covariances from sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.dropin.base import DropIn
from suffice.factors.base import Totals
from suffice.factors.gaussian.moments import ClassMoments
from suffice.factors.gaussian.shrinkage import ledoit_wolf_share
from suffice.factors.gaussian.solve import class_moments
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.families import MultivariateNormal
from suffice.model.infer import Families
from suffice.storage import Fields


def joint_gaussian(shrinkage: Any) -> MultivariateNormal:
    """The family to sum for; Ledoit and Wolf's shrinkage needs fourth moments."""
    return MultivariateNormal("full", shrinkage="ledoit_wolf" if shrinkage == "auto" else None)


class Discriminant(DropIn):
    """One joint Gaussian in each class, whose covariances a solver regularises."""

    solver: str
    shrinkage: Any
    covariance_estimator: Any

    def _chosen_families(self) -> Families:
        """One joint Gaussian."""
        return joint_gaussian(self.shrinkage)

    def _validate_params(self) -> None:
        """Refuse settings that the solver does not support."""
        super()._validate_params()
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver.")
            if self.covariance_estimator is not None:
                raise ValueError(
                    "covariance_estimator is not supported with solver='svd'. Try another solver."
                )
        elif self.covariance_estimator is not None:
            if self.shrinkage is not None and self.shrinkage != 0:
                raise ValueError(
                    "covariance_estimator and shrinkage parameters are not None. "
                    "Only one of the two can be set."
                )
            raise NotImplementedError(
                "covariance_estimator needs the rows, but this model keeps only sums; use shrinkage, or "
                f"sklearn.discriminant_analysis.{type(self).__name__}."
            )


@dataclass(frozen=True)
class Covariances:
    """Moments of every class in the units of the data, divided by n, with scikit-learn's shrinkage."""

    classwise: ClassMoments
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
        """Solve the sums without a ridge, for one Σ or one of each class.

        With gaps this takes EM, unless `saved_search` holds where it ended when the model was saved.
        """
        if not isinstance(totals, GaussianTotals):
            raise TypeError("these statistics are not those of one joint Gaussian block.")
        if shared:
            totals = totals.with_family(replace(totals.family, covariance="shared"))
        return cls(class_moments(totals, classes, saved_search), shrinkage)

    @property
    def weight(self) -> Array:
        """The total sample weight of each class."""
        return self.classwise.moments.weight

    @cached_property
    def mean(self) -> Array:
        """μ_k, (k, d)."""
        mean = self.classwise.centre.copy()
        mean[:, self.classwise.active] += self.classwise.moments.mean * self.classwise.data.scale
        return mean

    @cached_property
    def share(self) -> Array:
        """The share of each class in the total weight."""
        return np.asarray(self.weight / self.weight.sum())

    @property
    def standard(self) -> Array:
        """Σ of each group that shares one, on the columns that vary and in their scales; not shrunk."""
        classwise = self.classwise
        weight = classwise.tying.pooled(self.weight)
        return np.asarray(classwise.moments.scatter / weight[:, np.newaxis, np.newaxis])

    def in_units(self, standard: Array) -> Array:
        """Matrices of the columns that vary, in the units of the data and with all columns."""
        d = len(self.classwise.scale)
        full = np.zeros((*standard.shape[:-2], d, d))
        scale = self.classwise.data.scale
        rows, columns = np.ix_(self.classwise.active, self.classwise.active)
        full[..., rows, columns] = standard * np.outer(scale, scale)
        return full

    def standardised(self, covariance: Array) -> Array:
        """The inverse of `in_units`, for one matrix."""
        scale = self.classwise.data.scale
        return np.asarray(
            covariance[np.ix_(self.classwise.active, self.classwise.active)] / np.outer(scale, scale)
        )

    @cached_property
    def each(self) -> Array:
        """Σ_k of each class, shrunk, (k, d, d)."""
        matrices = self.in_units(self.standard)
        return np.stack([self._shrunk(matrix, k) for k, matrix in enumerate(matrices)])

    @cached_property
    def total(self) -> Array:
        """The covariance of all rows, shrunk separately."""
        away = self.mean - self.share @ self.mean
        within = np.einsum("k,kij->ij", self.share, self.in_units(self.standard))
        return self._shrunk(within + (self.share[:, np.newaxis] * away).T @ away, None)

    def _shrunk(self, covariance: Array, k: int | None) -> Array:
        """Shrink the covariance of class k, or (None) of all rows, as scikit-learn does."""
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
        level = float(np.trace(correlation)) / d
        distance = float(np.vdot(correlation, correlation)) - d * level**2  # to level·I
        share = ledoit_wolf_share(correlation, distance, self._fourth_power(deviation, k), n)
        shrunk = (1.0 - share) * correlation + share * level * np.eye(d)
        return np.asarray(shrunk * np.outer(deviation, deviation))

    def _fourth_power(self, deviation: Array, k: int | None) -> float:
        """Σ w·|z/deviation|⁴ of class k about its mean, or (None) of all rows about theirs."""
        scale = self.classwise.data.scale
        factor = scale / deviation[self.classwise.active]
        if k is not None:
            return self.classwise.fourth_power([k], factor)
        away = (self.mean - self.share @ self.mean)[:, self.classwise.active] / scale
        return self.classwise.fourth_power(range(len(self.weight)), factor, away)
