"""QuadraticDiscriminantAnalysis: a mean and a covariance for each class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from sklearn import discriminant_analysis

from suffice.arrays import Array, Codes
from suffice.dropin.covariances import Covariances, Discriminant, inflation, joint_gaussian
from suffice.dropin.left_out import ClassCovariances, quadratic_without_each
from suffice.factors.base import Totals
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.left_out import LeftOut
from suffice.families import MultivariateNormal
from suffice.families.special import HALF_LOG_TWO_PI
from suffice.links import log_odds_of_two
from suffice.model.folds.leave_one_out import EachRow
from suffice.model.statistics import Statistics
from suffice.storage import Fields


class QuadraticDiscriminantAnalysis(Discriminant):
    """Quadratic discriminant analysis with scikit-learn's parameters and attributes.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Which parameter regularises: `reg_param` with "svd", `shrinkage` with "eigen".
    shrinkage : "auto", float or None, default=None
        How far each covariance is shrunk toward a multiple of the identity; "auto" is Ledoit and Wolf's
        estimate.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None for the class frequencies.
    reg_param : float, default=0.0
        γ, where each covariance Σ is replaced by (1 − γ)·Σ + γ·I.
    store_covariance : bool, default=False
        Whether `covariance_` is available.
    tol : float, default=1e-4
        Variances up to `tol` count as zero.
    covariance_estimator : estimator, default=None
        Estimates the covariances instead, from the rows passed to `fit`: an object with `fit` and
        `covariance_`. Rows can then be neither added nor removed, nor have weights.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    rotations_ : list of ndarray of shape (n_features, n_features)
        The principal axes of each class, in columns; their signs are arbitrary.
    scalings_ : list of ndarray of shape (n_features,)
        The variances along the principal axes of each class.
    covariance_ : list of ndarray of shape (n_features, n_features)
        The covariance of each class.
    classes_ : ndarray of shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from suffice.dropin import QuadraticDiscriminantAnalysis
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2]).predict([[-0.8, -1.0]])
    array([1])
    """

    _joins_labels: ClassVar[bool] = False
    _no_estimator_with_svd: ClassVar[str] = (
        "covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead."
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = (
        discriminant_analysis.QuadraticDiscriminantAnalysis._parameter_constraints  # noqa: SLF001
    )

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: str | float | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _check_fit(self) -> None:
        self._solved_model()

    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> SolvedGaussian:
        classes, n_rows, d = statistics.classes.tolist(), statistics.support, len(labels)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {len(classes)} class.")
        if (n_rows < 2).any():
            label = classes[int(np.argmax(n_rows < 2))]
            raise ValueError(f"y has only 1 sample in class {label}, covariance is ill defined.")
        moments = Covariances.of(
            totals,
            statistics.classes,
            self.shrinkage,
            saved_search=saved_search,
            estimated=self._estimated,
        )
        moments.refuse_overflow(labels)
        classwise = moments.classwise
        solved = RotatedGaussian(joint_gaussian(None), labels, np.arange(d), d)
        solved.group = classwise.tying.group
        solved.centre, solved.shift = moments.mean, np.zeros_like(moments.mean)
        solved.scale[classwise.active] = classwise.data.scale
        matrices = moments.each
        if self.solver == "svd":
            matrices = matrices * inflation(moments.weight, 1)[:, np.newaxis, np.newaxis]
            matrices = (1.0 - self.reg_param) * matrices + self.reg_param * np.eye(d)
        for k, label in enumerate(classes):
            scaling, rotation = linalg.eigh(matrices[k], check_finite=False)
            if np.sum(scaling > self.tol) < d or (self.solver == "svd" and n_rows[k] < d):
                raise linalg.LinAlgError(self._singular(label, int(n_rows[k]), d))
            solved.scalings.append(scaling[::-1])
            solved.rotations.append(rotation[:, ::-1])
        solved.standard = matrices / np.outer(solved.scale, solved.scale)
        solved.n_parameters = len(classes) * (d + d * (d + 1) // 2)
        solved.scatter_parts = classwise.moments.scatter_parts if len(classwise.active) == d else None
        solved.em = classwise.moments.saved_search
        return solved

    def _scores_without_each(self, totals: Totals, rows: EachRow) -> LeftOut | None:
        each = ClassCovariances.of(totals, rows.block(0), self.shrinkage)
        if each is None or each.are_few:
            return None
        return quadratic_without_each(each, self.solver, self.reg_param, self.tol)

    def _singular(self, label: Any, n_rows: int, d: int) -> str:
        start = f"The covariance matrix of class {label} is not full rank. "
        if self.solver == "svd" and n_rows <= d:
            return (
                f"{start}When using `solver='svd'` the number of samples in each class should be more than "
                f"the number of features, but class {label} has {n_rows} samples and {d} features. Try "
                "using `solver='eigen'` and setting the parameter `shrinkage` for regularization."
            )
        cure = "shrinkage" if self.solver == "eigen" else "reg_param"
        return f"{start}Increase the value of `{cure}` to reduce the collinearity."

    def _class_priors(self, statistics: Statistics) -> Array:
        if self.priors is None:
            return np.asarray(statistics.weight / statistics.weight.sum())
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != statistics.classes.shape or (priors < 0).any():
            raise ValueError(
                f"priors must be {len(statistics.classes)} non-negative numbers, one for each class, "
                f"got {priors.tolist()}."
            )
        return priors

    def decision_function(self, X: Any) -> Array:
        """Quadratic scores of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; missing values are allowed.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The log odds of the second class for two classes, else log(p(x | C_k)·π_k) + d/2·log 2π.
        """
        constant = 0.0 if len(self.classes_) == 2 else self.n_features_in_ * HALF_LOG_TWO_PI
        return self._read_off(X, lambda scores: log_odds_of_two(scores.comparable()) + constant, base=True)

    @property
    def means_(self) -> Array:
        """Class means, (n_classes, n_features)."""
        return self._rounded(self._factor().centre)

    @property
    def rotations_(self) -> list[Array]:
        """The principal axes of each class, in columns; their signs are arbitrary."""
        return self._rounded_by_svd(self._factor().rotations)

    @property
    def scalings_(self) -> list[Array]:
        """The variances along the principal axes of each class."""
        return self._rounded_by_svd(self._factor().scalings)

    @property
    def covariance_(self) -> list[Array]:
        """The covariance of each class, with `store_covariance=True`."""
        if not self.store_covariance:
            raise AttributeError("covariance_ requires store_covariance=True.")
        factor = self._factor()
        axes = zip(factor.rotations, factor.scalings, strict=True)
        return self._rounded_by_svd([(r * s) @ r.T for r, s in axes])

    def _rounded_by_svd(self, each: list[Array]) -> list[Array]:
        """As `_rounded`, if solver="svd": scikit-learn's other solver has covariances in float64."""
        return [self._rounded(values) for values in each] if self.solver == "svd" else list(each)


class RotatedGaussian(SolvedGaussian):
    """Gaussians with their principal axes."""

    def __init__(self, family: MultivariateNormal, labels: list[str], active: Codes, d: int) -> None:
        super().__init__(family, labels, active, d)
        self.scalings: list[Array] = []
        self.rotations: list[Array] = []
