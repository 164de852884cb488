"""The base of scikit-learn's two discriminants: their settings, and class covariances from sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.fixes import parse_version

from suffice.arrays import Array
from suffice.dropin.base import DropIn
from suffice.dropin.estimated import EstimatedCovariances
from suffice.factors.base import Totals
from suffice.factors.gaussian.moments import ClassMoments
from suffice.factors.gaussian.shrinkage import ledoit_wolf_share
from suffice.factors.gaussian.solve import class_moments
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.families import MultivariateNormal
from suffice.model.columns.chosen_families import Families
from suffice.model.statistics import Statistics
from suffice.storage import Fields


def joint_gaussian(shrinkage: Any) -> MultivariateNormal:
    """The family to sum for; Ledoit and Wolf's shrinkage needs fourth moments."""
    return MultivariateNormal("full", shrinkage="ledoit_wolf" if shrinkage == "auto" else None)


def inflation(weight: Array, n_means: int) -> Array:
    """By how much the variances of solver="svd" exceed those divided by n.

    Since scikit-learn 1.9.1 they do not; before, they are divided by n less the number of means.
    """
    if parse_version(sklearn.__version__) >= parse_version("1.9.1"):
        return np.ones_like(weight)
    if (weight <= n_means).any():
        raise ValueError(
            f"rows with a total weight of {weight.min():g} and {n_means} class mean(s) leave no degrees of "
            "freedom for a covariance; give the rows larger weights, or use another solver."
        )
    return np.asarray(weight / (weight - n_means))


class Discriminant(DropIn):
    """One joint Gaussian in each class, whose covariances a solver regularises."""

    _no_estimator_with_svd: ClassVar[str]
    """How scikit-learn refuses `covariance_estimator` with solver="svd"."""
    _finds_directions: ClassVar[bool] = False
    """Whether solver="eigen" compares the covariances within the classes with that of all rows."""
    solver: str
    shrinkage: Any
    covariance_estimator: Any
    _estimated: EstimatedCovariances | None = None

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
                raise ValueError(self._no_estimator_with_svd)
        elif self.covariance_estimator is not None and self.shrinkage not in (None, 0):
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )

    def _learn(self, X: Any, y: Any, sample_weight: ArrayLike | None, **options: Any) -> None:
        super()._learn(X, y, sample_weight, **options)
        self._estimated = None
        if self.covariance_estimator is not None:
            if sample_weight is not None:
                raise ValueError(
                    "covariance_estimator does not take weights; leave sample_weight out, or use shrinkage."
                )
            table, labels = self._read(X, reset=False), self._labels(y)
            self._estimated = EstimatedCovariances.of(
                self.covariance_estimator,
                table,
                labels,
                total=self._finds_directions and self.solver == "eigen",
            )

    def fit_statistics(self, statistics: Statistics) -> Self:
        """Fit from statistics alone, without any rows; a `covariance_estimator` would need them.

        Parameters
        ----------
        statistics : Statistics
            The sums of the rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._require_sums("fit from statistics")
        return super().fit_statistics(statistics)

    def _needs_rows(self) -> bool:
        return self.covariance_estimator is not None

    def _require_sums(self, deed: str, rows: str = "all rows") -> None:
        if self.covariance_estimator is not None:
            raise NotImplementedError(
                f"cannot {deed}: covariance_estimator needs all rows at once, and the model keeps only their "
                f"sums; call fit with {rows}, or use shrinkage."
            )


@dataclass(frozen=True)
class Covariances:
    """Moments of every class in the units of the data, divided by n, with scikit-learn's shrinkage."""

    classwise: ClassMoments
    shrinkage: Any
    estimated: EstimatedCovariances | None = None
    """Covariances to use instead of those of the sums."""

    @classmethod
    def of(
        cls,
        totals: Totals,
        classes: NDArray[Any],
        shrinkage: Any,
        *,
        shared: bool = False,
        saved_search: Fields | None = None,
        estimated: EstimatedCovariances | None = None,
    ) -> Covariances:
        """Solve the sums without a ridge, for one Σ or one of each class.

        With gaps this takes EM, unless `saved_search` holds where it ended when the model was saved.
        """
        if not isinstance(totals, GaussianTotals):
            raise TypeError("these statistics are not those of one joint Gaussian block.")
        if shared:
            totals = totals.with_family(replace(totals.family, covariance="shared"))
        return cls(class_moments(totals, classes, saved_search), shrinkage, estimated)

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

    def refuse_overflow(self, labels: list[str]) -> None:
        """Refuse columns whose variances, which scikit-learn's attributes hold, are not floats."""
        with np.errstate(over="ignore"):
            variances = np.einsum("gii->gi", self.standard) * np.square(self.classwise.data.scale)
        beyond = ~np.isfinite(variances).all(axis=0)
        if beyond.any():
            label = labels[int(self.classwise.active[np.argmax(beyond)])]
            raise ValueError(
                f"{label} has a variance of more than 1.8e308; divide it by a constant, such as 1e200, or "
                "use GaussianDiscriminant, which takes numbers of any size."
            )

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
        if self.estimated is not None:
            return self.estimated.each
        matrices = self.in_units(self.standard)
        return np.stack([self._shrunk(matrix, k) for k, matrix in enumerate(matrices)])

    @cached_property
    def total(self) -> Array:
        """The covariance of all rows, shrunk separately."""
        if self.estimated is not None and self.estimated.total is not None:
            return self.estimated.total
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
        square = float(np.vdot(correlation, correlation))
        distance = square - d * level**2  # to level·I
        share = ledoit_wolf_share(square, distance, self._fourth_power(deviation, k), n)
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
