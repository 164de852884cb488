"""GaussianNB: own means and variances in each class, and a floor under the variances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import naive_bayes

from suffice.arrays import Array, Counts, Exponents
from suffice.dropin.base import DropIn
from suffice.factors.base import Totals
from suffice.factors.columns.left_out import leave_out_columns
from suffice.factors.columns.scores import SolvedColumns
from suffice.factors.columns.solve import solve_columns
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.left_out import LeftOut
from suffice.families import Normal
from suffice.families.elementary import exponent_of
from suffice.families.special import HALF_LOG_TWO_PI, LOG_TWO
from suffice.model.columns.chosen_families import Families
from suffice.model.folds.leave_one_out import EachRow
from suffice.model.statistics import Statistics
from suffice.storage import Fields


class GaussianNB(DropIn):
    """Gaussian naive Bayes with scikit-learn's parameters and attributes.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities of the classes; None for the class frequencies.
    var_smoothing : float, default=1e-9
        Portion of the largest column variance that is added to all variances when solving.

    Attributes
    ----------
    theta_, var_ : ndarray of shape (n_classes, n_features)
        The mean, and the variance including `epsilon_`, of each class and column.
    epsilon_ : float
        The value added to all variances.
    class_count_, class_prior_ : ndarray of shape (n_classes,)
        The weight and the prior probability of each class.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    Examples
    --------
    >>> from suffice.dropin import GaussianNB
    >>> model = GaussianNB().fit([[-1.0, 1.0], [-2.0, 1.5], [1.0, 4.0], [2.0, 3.0]], [1, 1, 2, 2])
    >>> model.predict([[-0.8, float("nan")]])
    array([1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = naive_bayes.GaussianNB._parameter_constraints  # noqa: SLF001

    def __init__(self, *, priors: ArrayLike | None = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _chosen_families(self) -> Families:
        """Normal columns."""
        return Normal(alpha=0.0)

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> FlooredColumns:
        if not isinstance(totals, ColumnTotals):
            raise TypeError("GaussianNB needs statistics of Normal columns.")
        solved = solve_columns(totals, labels, statistics.classes)
        return FlooredColumns(solved, statistics.support, self.var_smoothing)

    def _scores_without_each(self, totals: Totals, rows: EachRow) -> LeftOut | None:
        if not isinstance(totals, ColumnTotals):
            return None

        def floored(totals: ColumnTotals, labels: list[str], n_rows: int) -> SolvedColumns:
            solved = solve_columns(totals, labels, rows.statistics.classes)
            return FlooredColumns(solved, rows.statistics.support, self.var_smoothing, n_rows)

        return leave_out_columns(totals, rows.block(0), floored)

    def _class_priors(self, statistics: Statistics) -> Array:
        if self.priors is None:
            return np.asarray(statistics.weight / statistics.weight.sum())
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != statistics.classes.shape:
            raise ValueError("Number of priors must match number of classes.")
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError("The sum of the priors should be 1.")
        if (priors < 0).any():
            raise ValueError("Priors must be non-negative.")
        return priors

    @property
    def class_prior_(self) -> Array:
        """The prior probability of each class."""
        return self._rounded(self.priors_)

    @property
    def class_count_(self) -> Array:
        """The total sample weight of each class."""
        return self._rounded(super().class_count_)

    @property
    def theta_(self) -> Array:
        """The mean of each class and column."""
        return self._rounded(self._factor().location)

    @property
    def var_(self) -> Array:
        """The variance of each class and column, including `epsilon_`."""
        return self._rounded(self._factor().variance)

    @property
    def epsilon_(self) -> np.floating[Any]:
        """The value added to all variances."""
        floor: np.floating[Any] = self._rounded(np.array([self._factor().floor]))[0]
        return floor


class FlooredColumns(SolvedColumns):
    """Maximum likelihood, and then a share of the largest column variance on top of every variance.

    The columns may be those of several tables, each of which has a floor of its own.
    """

    def __init__(self, solved: SolvedColumns, support: Counts, share: float, n_tables: int = 1) -> None:
        super().__init__(solved.family, *solved.weight.shape)
        vars(self).update(vars(solved))
        absent = support == 0
        variance = np.where(solved.point | ~solved.active, 0.0, -0.5 / np.minimum(solved.natural[1], -1e-300))
        largest, unit = _largest_variances(solved, variance, n_tables)
        variance[absent] = 0.0
        self.location = np.where(absent[:, np.newaxis], 0.0, solved.location)
        scaled = share * largest
        with np.errstate(over="ignore"):
            self.floor = float(np.ldexp(scaled, 2 * unit)[0])
            # The unit of a column covers the floor too, so that neither leaves the floats.
            self.exponent = np.maximum(solved.exponent, unit + exponent_of(np.sqrt(scaled)))
            spread = np.ldexp(variance, 2 * (solved.exponent - self.exponent))
            spread = spread + np.ldexp(scaled, 2 * (unit - self.exponent))
            self.variance = np.ldexp(spread, 2 * self.exponent)
        if (scaled > 0).all():
            self._smooth(variance=spread, own=np.ldexp(variance, 2 * (solved.exponent - self.exponent)))

    def _smooth(self, variance: Array, own: Array) -> None:
        """Natural parameters of Normals about `location` with these variances, in the columns' units."""
        self.origin = self.location
        self.natural = np.stack([np.zeros_like(variance), -0.5 / variance])
        self.constant = -0.5 * np.log(variance) - self.exponent * LOG_TWO - HALF_LOG_TWO_PI
        self.point = np.zeros_like(self.point)
        self.active = np.asarray(self.weight.any(axis=0))
        per_row = np.where(self.active, self.constant - 0.5 * own / variance, 0.0)
        self.log_p_of_rows = float(np.sum(self.weight * per_row))


def _largest_variances(solved: SolvedColumns, variance: Array, n_tables: int) -> tuple[Array, Exponents]:
    """For each column the largest variance of a column of its table over all rows, in units of 4^unit."""
    everything = solved.weight.sum(axis=0)
    share = np.divide(solved.weight, everything, out=np.zeros_like(solved.weight), where=everything > 0)
    first = solved.location[np.argmax(solved.weight > 0, axis=0), np.arange(len(everything))]
    away = np.ldexp(np.where(share > 0, solved.location - first, 0.0), -solved.exponent)
    total = np.sum(share * (variance + np.square(away - np.sum(share * away, axis=0))), axis=0)
    exponent = np.where(total > 0, solved.exponent + exponent_of(np.sqrt(total)), -(2**20))
    unit = exponent.reshape(n_tables, -1).max(axis=1)
    unit = np.repeat(np.where(unit > -(2**20), unit, 0), len(total) // n_tables).astype(np.int32)
    with np.errstate(under="ignore"):
        in_units = np.ldexp(total, 2 * (solved.exponent - unit))
    largest = in_units.reshape(n_tables, -1).max(axis=1, initial=0.0)
    return np.repeat(largest, len(total) // n_tables), unit
