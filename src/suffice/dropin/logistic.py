"""LogisticRegression with an l2 penalty or no penalty."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import linear_model

from suffice.arrays import Array
from suffice.estimators.regression import LogisticRegression as CoreLogisticRegression
from suffice.tables.targets import labelled
from suffice.tables.wording import warn

TIGHTEST, LOOSEST = 1e-10, 1e-5
"""The limits of `tol`, in standard errors."""


class LogisticRegression(CoreLogisticRegression):
    """Logistic regression with scikit-learn's parameters and attributes, with an l2 penalty or no penalty.

    All solvers except "liblinear" have the same optimum; one method finds it, to within 1e-5 standard errors.

    Parameters
    ----------
    penalty : {"l2", None}, default="deprecated"
        Deprecated in scikit-learn 1.8: use `C=inf` for no penalty.
    C : float, default=1.0
        The inverse of the strength of the penalty; `inf` means maximum likelihood without a penalty.
    l1_ratio : float, default=0.0
        Must be 0; for an l1 penalty, use scikit-learn's own class.
    tol : float, default=1e-4
        The tolerance of the search, in standard errors; more than 1e-5 counts as 1e-5.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    solver : str, default="lbfgs"
        Accepted for compatibility. "liblinear", which penalises the intercept, needs `fit_intercept=False`.
    max_iter : int, default=100
        The largest number of iterations over all rows.
    dual, intercept_scaling, random_state, verbose, warm_start, n_jobs
        Accepted for compatibility; they do not affect the optimum.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The coefficients; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts; one for two classes.
    n_iter_ : ndarray of shape (1,)
        The number of iterations over all rows.

    Examples
    --------
    >>> from suffice.dropin import LogisticRegression
    >>> X = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]]
    >>> LogisticRegression().fit(X, [0, 0, 1, 0, 1, 1]).predict([[0.7], [2.8]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = linear_model.LogisticRegression._parameter_constraints  # noqa: SLF001

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or str
            Their labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows.

        Returns
        -------
        LogisticRegression
            The fitted model.
        """
        self._validate_params()
        self._warn_of_deprecations()
        penalty = self._checked_penalty()
        X, y = labelled(X, y)
        y = np.asarray(y) if isinstance(y, (list, tuple)) else y
        if self.solver == "liblinear" and len(np.unique(np.asarray(y))) > 2:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3); use "
                "another solver, or a OneVsRestClassifier."
            )
        self._refuse_unsupported(penalty)
        core = CoreLogisticRegression(
            C=np.inf if penalty is None else self.C,
            fit_intercept=self.fit_intercept,
            class_weight=self.class_weight,
            max_iter=max(int(self.max_iter), 1),
            tol=min(max(float(self.tol), TIGHTEST), LOOSEST),
        )
        learnt = vars(core.fit(X, y, sample_weight))
        for name in ("_learnt", "n_features_in_", "feature_names_in_"):
            if name in learnt:
                setattr(self, name, learnt[name])
            elif hasattr(self, name):
                delattr(self, name)
        self._keep_settings()
        return self

    @property
    def coef_(self) -> Array:
        """The coefficients; one row for two classes. They are float32 if the rows were."""
        return self._fitted().container.rounded(super().coef_)

    @property
    def intercept_(self) -> Array:
        """The intercepts; one for two classes. They are float32 if the rows were."""
        return self._fitted().container.rounded(super().intercept_)

    @property
    def n_iter_(self) -> NDArray[Any]:
        """The number of iterations over all rows."""
        return super().n_iter_.astype(np.int32)

    def _check_settings(self) -> None:
        self._validate_params()

    def _warn_of_deprecations(self) -> None:
        """Warn about deprecated parameters as scikit-learn does."""
        if self.penalty != "deprecated":
            warn(
                "'penalty' was deprecated in version 1.8 and will be removed in 1.10. To avoid this warning, "
                "leave 'penalty' set to its default value and use 'l1_ratio' or 'C' instead.",
                FutureWarning,
            )
        elif self.l1_ratio is None:
            warn(
                "'l1_ratio=None' was deprecated in version 1.8 and will trigger an error in 1.10. "
                "Use 0<=l1_ratio<=1 instead.",
                FutureWarning,
            )
        if self.penalty is None and self.C != 1.0:
            warn("Setting penalty=None will ignore the C and l1_ratio parameters")
        if self.penalty == "l2" and self.l1_ratio != 0:
            warn(
                f"Inconsistent values: penalty=l2 with l1_ratio={self.l1_ratio}. penalty is deprecated. "
                "Please use l1_ratio only."
            )
        if self.n_jobs is not None:
            warn(
                "'n_jobs' has no effect since 1.8 and will be removed in 1.10. You provided "
                f"'n_jobs={self.n_jobs}', please leave it unspecified.",
                FutureWarning,
            )

    def _checked_penalty(self) -> str | None:
        """The kind of penalty, after refusing what scikit-learn refuses."""
        penalty = self.penalty
        if penalty == "deprecated":
            penalty = "l2" if not self.l1_ratio else "l1" if self.l1_ratio == 1 else "elasticnet"
            penalty = None if np.isinf(self.C) else penalty
        if self.solver not in ("liblinear", "saga") and penalty not in ("l2", None):
            raise ValueError(
                f"Solver {self.solver} supports only 'l2' or None penalties, got {penalty} penalty."
            )
        if self.solver != "liblinear" and self.dual:
            raise ValueError(f"Solver {self.solver} supports only dual=False, got dual={self.dual}")
        if penalty == "elasticnet" and self.solver != "saga":
            raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={self.solver}.")
        if self.solver == "liblinear" and penalty is None:
            raise ValueError("C=np.inf as well as penalty=None is not supported for the liblinear solver")
        return penalty

    def _refuse_unsupported(self, penalty: str | None) -> None:
        """Refuse penalties that scikit-learn has and this class does not."""
        if penalty in ("l1", "elasticnet"):
            raise NotImplementedError(
                f"the {penalty} penalty is not supported, since its objective is not smooth; use "
                "sklearn.linear_model.LogisticRegression instead, or l1_ratio=0."
            )
        if self.solver == "liblinear" and self.fit_intercept:
            raise NotImplementedError(
                "solver='liblinear' penalises the intercept too, which is not supported; use solver='lbfgs', "
                "which does not, or sklearn.linear_model.LogisticRegression."
            )
