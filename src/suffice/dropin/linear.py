"""LinearDiscriminantAnalysis: one covariance for all classes, and Fisher's directions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn import discriminant_analysis

from suffice.arrays import Array
from suffice.dropin.covariances import Covariances, Discriminant, inflation
from suffice.dropin.few_rows import FewRowsGaussian, Solver
from suffice.dropin.left_out import ClassCovariances, linear_without_each
from suffice.dropin.linear_scores import LinearGaussian, principal_axes, shared_gaussian
from suffice.estimators.gaussian import GaussianDiscriminant
from suffice.factors.base import Totals
from suffice.factors.left_out import LeftOut
from suffice.kernels import threads
from suffice.kernels.choose import row_parts
from suffice.links import log_odds_of_two
from suffice.model.folds.leave_one_out import EachRow
from suffice.model.statistics import Statistics
from suffice.storage import Fields
from suffice.tables.wording import there_are, warn


class LinearDiscriminantAnalysis(Discriminant, GaussianDiscriminant):
    """Linear discriminant analysis with scikit-learn's parameters and attributes.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        "svd" drops directions without variance. "lsqr" and "eigen" support shrinkage, and weight the
        covariances of the classes by their priors; "lsqr" has no `transform`.
    shrinkage : "auto", float or None, default=None
        How far each covariance is shrunk toward a multiple of the identity; "auto" is Ledoit and Wolf's
        estimate.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None for the class frequencies.
    n_components : int, default=None
        The number of directions in `transform`; None for min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether `covariance_` is available with solver="svd".
    tol : float, default=1e-4
        Standard deviations up to `tol`, in standardised columns, count as zero (solver="svd").
    covariance_estimator : estimator, default=None
        Estimates the covariances instead, from the rows passed to `fit`: an object with `fit` and
        `covariance_`. Rows can then be neither added nor removed, nor have weights.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the linear scores; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constants of the linear scores.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance within the classes.
    scalings_ : ndarray of shape (n_features, rank)
        Discriminant directions, best first; their signs are arbitrary.
    xbar_ : ndarray of shape (n_features,)
        The mean of the class means, weighted by the priors (solver="svd").
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of the variance between classes along each direction.
    classes_ : ndarray of shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from suffice.dropin import LinearDiscriminantAnalysis
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1.0]])
    array([1])
    """

    _finds_directions: ClassVar[bool] = True
    _no_estimator_with_svd: ClassVar[str] = (
        "covariance estimator is not supported with svd solver. Try another solver."
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = (
        discriminant_analysis.LinearDiscriminantAnalysis._parameter_constraints  # noqa: SLF001
    )

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: str | float | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _check_fit(self) -> None:
        n_classes, n_rows = len(self._learnt.accumulator.classes), int(self._learnt.accumulator.support.sum())
        if n_rows == 1:
            raise ValueError("Found array with 1 sample(s) while a minimum of 2 is required.")
        if n_rows == n_classes:
            raise ValueError("The number of samples must be more than the number of classes.")
        most = min(n_classes - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise ValueError("n_components cannot be larger than min(n_features, n_classes - 1).")
        if self.priors is not None and abs(np.sum(np.asarray(self.priors, dtype=np.float64)) - 1.0) > 1e-5:
            warn("The priors do not sum to 1. Renormalizing")
        self._solved_model()

    def _class_priors(self, statistics: Statistics) -> Array:
        if self.priors is None:
            return np.asarray(statistics.weight / statistics.weight.sum())
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != statistics.classes.shape:
            raise ValueError(
                f"priors has shape {priors.shape}, but {there_are(len(statistics.classes), 'class')}."
            )
        if (priors < 0).any():
            raise ValueError("priors must be non-negative")
        return priors / priors.sum() if abs(priors.sum() - 1.0) > 1e-5 else priors

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> LinearGaussian:
        priors = self._class_priors(statistics)
        svd = self.solver == "svd"
        if self._estimated is None:
            solver = Solver(self.solver, self.shrinkage, priors, self.tol)
            few_rows = FewRowsGaussian.of(totals, labels, statistics.classes, solver, saved_search)
            if few_rows is not None:
                return few_rows
        moments = Covariances.of(
            totals,
            statistics.classes,
            self.shrinkage,
            shared=svd,
            saved_search=saved_search,
            estimated=self._estimated,
        )
        moments.refuse_overflow(labels)
        if svd:
            solved = shared_gaussian(moments, labels)
            deviation, strength, axes = principal_axes(solved.within)
            strength *= np.sqrt(inflation(moments.weight.sum(), len(priors)))
            solved.solve_svd(moments.mean, deviation, strength, axes, priors, self.tol)
        else:
            solved = shared_gaussian(moments, labels, np.einsum("k,kij->ij", priors, moments.each))
            solved.solve_within(moments, priors, directions=self.solver == "eigen")
        return solved

    def _scores_without_each(self, totals: Totals, rows: EachRow) -> LeftOut | None:
        each = ClassCovariances.of(totals, rows.block(0), self.shrinkage)
        if each is None:
            return None
        given = None if self.priors is None else self._class_priors(rows.statistics)
        return linear_without_each(each, self.solver, np.exp(rows.log_priors(given)), self.tol)

    @property
    def means_(self) -> Array:
        """Class means, (n_classes, n_features)."""
        return self._rounded(self._gaussian().mean)

    @property
    def priors_(self) -> Array:
        """The class priors."""
        return self._rounded(super().priors_)

    @property
    def coef_(self) -> Array:
        """Weights of the linear scores, one row per class; for two classes, their difference."""
        return self._as_scores_are(self._factor().coefficients)

    @property
    def intercept_(self) -> Array:
        """Constants of the linear scores; for two classes, their difference."""
        factor = self._factor()
        constant = factor.constants - factor.coefficients @ factor.middle + self._solved_model().log_priors
        return self._as_scores_are(constant)

    def _as_scores_are(self, values: Array) -> Array:
        """Values by class; for two classes, their difference."""
        if len(values) == 2:
            return self._rounded(values[[1]] - values[[0]])
        return self._rounded_by_svd(values)

    def _rounded_by_svd(self, values: Array) -> Array:
        """As `_rounded`, if solver="svd": scikit-learn's other solvers have covariances in float64."""
        return self._rounded(values) if self.solver == "svd" else values

    @property
    def covariance_(self) -> Array:
        """The covariance within the classes, weighted by the priors."""
        if self.solver == "svd":
            if not self.store_covariance:
                raise AttributeError("covariance_ requires store_covariance=True, or another solver.")
            if self.priors is not None:
                statistics = self._learnt.accumulator.solvable(self._declared)
                each = Covariances.of(statistics.totals[0], statistics.classes, None).each
                return np.asarray(np.einsum("k,kij->ij", self._solved_model().priors, each))
        return np.asarray(self._factor().within)

    @property
    def xbar_(self) -> Array:
        """The mean of the class means, weighted by the priors (solver="svd")."""
        if self.solver != "svd":
            raise AttributeError(f"xbar_ requires solver='svd', not {self.solver!r}.")
        return self._rounded(self._factor().middle)

    @property
    def scalings_(self) -> Array:
        """Discriminant directions in columns, best first; their signs are arbitrary."""
        self._require_directions("scalings_", AttributeError)
        return self._rounded_by_svd(self._factor().scalings)

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of the variance between classes along each direction."""
        self._require_directions("explained_variance_ratio_", AttributeError)
        return self._rounded_by_svd(self._factor().explained[: self._n_features_out])

    def _require_directions(self, name: str, error: type[Exception]) -> None:
        self._solved_model()
        if self.solver == "lsqr":
            raise error(f"{name} not implemented for 'lsqr' solver (use 'svd' or 'eigen').")

    @property
    def _n_features_out(self) -> int:
        most = min(len(self.classes_) - 1, self.n_features_in_)
        return most if self.n_components is None else self.n_components

    def transform(self, X: Any) -> Array:
        """Project rows onto the discriminant directions.

        A missing value is replaced by its expectation given the observed ones.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The projected rows.
        """
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        scalings = self._factor().scalings[:, : self._n_features_out]
        middle = self._factor().middle if self.solver == "svd" else np.zeros(len(scalings))
        table = self._read(X, reset=False)
        projected = np.empty((table.n_rows, scalings.shape[1]))

        def project(rows: slice) -> None:
            values = table.part(rows).numbers(slice(None))
            gaps = np.isnan(values)
            if gaps.any():
                exact = values.astype(np.float64)
                values = np.where(gaps, self._expected(exact, self.predict_proba(exact)), values)
            np.matmul(values - middle, scalings, out=projected[rows])

        try:
            with threads.one_thread_per_product():
                threads.run(project, row_parts(table.n_rows, table.n_columns))
        except ValueError:  # read the whole table, so that the error names the right row
            table.numbers(slice(None))
            raise
        return projected

    def decision_function(self, X: Any) -> Array:
        """Linear scores of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; missing values are allowed.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The log odds of the second class for two classes, else one score per class.
        """
        return self._read_off(X, lambda scores: log_odds_of_two(scores.comparable()), base=False)
