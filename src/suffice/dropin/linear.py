"""LinearDiscriminantAnalysis: one covariance for all classes, and Fisher's directions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn import discriminant_analysis

from suffice.arrays import Array
from suffice.dropin.covariances import Covariances, Discriminant, joint_gaussian
from suffice.estimators.gaussian import GaussianDiscriminant
from suffice.factors.base import Block, Totals
from suffice.factors.checks import refuse_infinities
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.solve import assembled
from suffice.factors.gaussian.tying import Tying
from suffice.factors.scores import Scores
from suffice.kernels import threads
from suffice.kernels.choose import contiguous, gaussian_for, row_parts
from suffice.links import log_odds_of_two
from suffice.model.statistics import Statistics
from suffice.storage import Fields
from suffice.tables.wording import there_are


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
    covariance_estimator : None
        Not supported: it needs the rows, and the model keeps only their sums.

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
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=4)
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
        moments = Covariances.of(
            totals, statistics.classes, self.shrinkage, shared=svd, saved_search=saved_search
        )
        classwise = moments.classwise
        tying = Tying("shared", statistics.classes, 0.0)
        scatter_parts = classwise.moments.scatter_parts
        if scatter_parts is not None:
            scatter_parts = [replace(part, group=0) for part in scatter_parts]
        scatter = classwise.moments.scatter.sum(axis=0, keepdims=True)
        classwise = replace(
            classwise,
            tying=tying,
            moments=replace(classwise.moments, scatter_parts=scatter_parts, scatter=scatter),
        )
        solved = LinearGaussian(joint_gaussian(self.shrinkage), labels, classwise.active, len(labels))
        if svd:
            solved.within = moments.in_units(moments.standard)[0]
            matrix = moments.standard
            solved.solve_svd(moments, priors, self.tol)
        else:
            solved.within = np.einsum("k,kij->ij", priors, moments.each)
            matrix = moments.standardised(solved.within)[np.newaxis]
            solved.solve_within(moments, priors, directions=self.solver == "eigen")
        return assembled(solved, classwise, matrix.copy())

    @property
    def means_(self) -> Array:
        """Class means, (n_classes, n_features)."""
        return self._gaussian().mean

    @property
    def coef_(self) -> Array:
        """Weights of the linear scores, one row per class; for two classes, their difference."""
        rows = self._factor().coefficients
        return np.asarray(rows[[1]] - rows[[0]] if len(rows) == 2 else rows)

    @property
    def intercept_(self) -> Array:
        """Constants of the linear scores; for two classes, their difference."""
        factor = self._factor()
        constant = factor.constants - factor.coefficients @ factor.middle + self._solved_model().log_priors
        return np.asarray(constant[[1]] - constant[[0]] if len(constant) == 2 else constant)

    @property
    def covariance_(self) -> Array:
        """The covariance within the classes, weighted by the priors."""
        if self.solver == "svd":
            if not self.store_covariance:
                raise AttributeError("covariance_ requires store_covariance=True, or another solver.")
            if self.priors is not None:
                statistics = self._learnt.accumulator.solvable(self._declared)
                each = Covariances.of(statistics.totals[0], statistics.classes, None).each
                return np.asarray(np.einsum("k,kij->ij", self.priors_, each))
        return np.asarray(self._factor().within)

    @property
    def xbar_(self) -> Array:
        """The mean of the class means, weighted by the priors (solver="svd")."""
        if self.solver != "svd":
            raise AttributeError(f"xbar_ requires solver='svd', not {self.solver!r}.")
        return np.asarray(self._factor().middle)

    @property
    def scalings_(self) -> Array:
        """Discriminant directions in columns, best first; their signs are arbitrary."""
        self._require_directions("scalings_", AttributeError)
        return np.asarray(self._factor().scalings)

    @property
    def explained_variance_ratio_(self) -> Array:
        """The share of the variance between classes along each direction."""
        self._require_directions("explained_variance_ratio_", AttributeError)
        return np.asarray(self._factor().explained[: self._n_features_out])

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
        scalings = self.scalings_[:, : self._n_features_out]
        middle = self._factor().middle if self.solver == "svd" else np.zeros(len(scalings))
        table = self._read(X, reset=False)
        projected = np.empty((table.n_rows, scalings.shape[1]))

        def project(rows: slice) -> None:
            values = table.part(rows).numbers(slice(None))
            gaps = np.isnan(values)
            if gaps.any():
                values = np.where(gaps, self._expected(values.astype(np.float64)), values)
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


class LinearGaussian(SolvedGaussian):
    """Gaussians with one covariance, and the linear scores that scikit-learn's solvers derive from them.

    Rows without gaps are scored by `coefficients` about `middle`; others by the marginals of the Gaussians.
    """

    within: Array
    coefficients: Array
    """(k, d)."""
    constants: Array
    """What a row at `middle` scores, (k,), priors aside."""
    middle: Array
    scalings: Array
    explained: Array

    def solve_svd(self, moments: Covariances, priors: Array, tol: float) -> None:
        """Whiten by the principal axes of the correlations within classes, then find Fisher's directions."""
        deviation = np.sqrt(np.diag(self.within))
        deviation[deviation == 0] = 1.0
        strength, axes_within = _principal_axes(self.within / np.outer(deviation, deviation))
        rank = int(np.sum(strength > tol))
        whitening = (axes_within / deviation[:, np.newaxis])[:, :rank] / strength[:rank]
        self.middle = priors @ moments.mean
        away = moments.mean - self.middle
        between = (np.sqrt(priors)[:, np.newaxis] * away) @ whitening
        _, spread, axes = np.linalg.svd(between, full_matrices=False)
        explained = np.square(spread)
        self.explained = (
            explained / explained.sum() if explained.sum() > 0 else np.full_like(explained, np.nan)
        )
        kept = int(np.sum(spread > tol * spread.max(initial=0.0)))
        self.scalings = whitening @ axes[:kept].T
        projected = away @ self.scalings
        self.coefficients = projected @ self.scalings.T
        self.constants = -0.5 * np.sum(np.square(projected), axis=1)

    def solve_within(self, moments: Covariances, priors: Array, *, directions: bool) -> None:
        """Σ⁻¹·μ_k by least squares, or by the eigenvectors of Σ⁻¹·(the covariance between classes)."""
        mean = moments.mean
        if directions:
            values, vectors = linalg.eigh(moments.total - self.within, self.within)
            self.scalings = vectors[:, ::-1]
            self.explained = values[::-1] / values.sum()
            self.coefficients = mean @ self.scalings @ self.scalings.T
        else:
            self.coefficients = linalg.lstsq(self.within, mean.T)[0].T
        self.middle = priors @ mean
        quadratic = np.sum(mean * self.coefficients, axis=1)
        self.constants = self.coefficients @ self.middle - 0.5 * quadratic

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        """Linear scores of rows without gaps; log densities where those are wanted."""
        if base:
            super().add_scores(block, labels, scores, base=True)
            return
        limit = np.full(block.shape[1], np.finfo(np.float64).max)
        parameters = (np.ascontiguousarray(a) for a in (self.middle, self.coefficients, self.constants))
        kernels = gaussian_for(block.size * len(self.constants))
        done = kernels.linear_scores(contiguous(block), limit, *parameters, scores.finite)
        if done < len(block):
            refuse_infinities(block, labels)
            rest, finite = block[done:], scores.finite[done:]
            gaps = np.isnan(rest).any(axis=1)
            finite[~gaps] += (rest[~gaps] - self.middle) @ self.coefficients.T + self.constants
            by_marginals = np.zeros((int(gaps.sum()), finite.shape[1]))
            self._add_by_patterns(rest[gaps], by_marginals, base=False)
            finite[gaps] += by_marginals


def _principal_axes(covariance: Array) -> tuple[Array, Array]:
    """Standard deviations along the principal axes, largest first, and the axes in columns.

    With fewer rows than columns most axes have no spread. They are left out, and the others come from a
    factor L with LLᵀ = Σ that has only a few columns, which is cheaper.
    """
    factor, order, rank, _ = linalg.lapack.dpstrf(covariance, lower=1)
    if rank < len(covariance) // 2:
        root = np.empty((len(covariance), rank))
        root[order - 1] = np.tril(factor[:, :rank])
        axes, strength, _ = np.linalg.svd(root, full_matrices=False)
        return strength, axes
    values, vectors = linalg.eigh(covariance, check_finite=False)
    return np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1]
