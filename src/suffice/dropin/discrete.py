"""What scikit-learn's discrete naive Bayes models share: alpha, and the priors of the classes."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from suffice.arrays import Array
from suffice.dropin.base import DropIn
from suffice.factors.scores import Scores
from suffice.model.explanation import Explanation
from suffice.model.statistics import Statistics

SMALLEST_ALPHA = 1e-10


class DiscreteNB(DropIn):
    """Counts smoothed by alpha, of each column or of all."""

    _prior_setting: ClassVar[str] = "class_prior"
    _takes_sparse: ClassVar[bool] = True
    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: ArrayLike | None

    def _check_fit(self) -> None:
        super()._check_fit()
        alpha = self._given_alpha()
        if alpha.ndim and alpha.shape != (self.n_features_in_,):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
            )
        if alpha.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        if alpha.min() < SMALLEST_ALPHA and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = "
                f"{SMALLEST_ALPHA:.1e}. Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=4,
            )

    def _given_alpha(self) -> Array:
        return np.asarray(self.alpha, dtype=np.float64)

    def _smoothing(self) -> Array:
        """Alpha, one number or one for each column, as it is used."""
        alpha = self._given_alpha()
        return alpha if self.force_alpha else np.maximum(alpha, SMALLEST_ALPHA)

    def _class_priors(self, statistics: Statistics) -> Array:
        n_classes = len(statistics.classes)
        if self.class_prior is not None:
            priors = np.asarray(self.class_prior, dtype=np.float64)
            if priors.shape != (n_classes,):
                raise ValueError("Number of priors must match number of classes.")
            if not (np.isfinite(priors).all() and (priors >= 0).all() and priors.any()):
                raise ValueError(f"class_prior must be finite and not negative, got {priors.tolist()}.")
            return priors
        if self.fit_prior:
            return np.asarray(statistics.weight / statistics.weight.sum())
        return np.full(n_classes, 1.0 / n_classes)

    @property
    def class_log_prior_(self) -> Array:
        """Log π_k, −inf for a class without rows."""
        return self._solved_model().log_priors

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Joint scores a_k(x), up to what is equal for all classes."""
        return self._read_off(X, Scores.joint, base=False)

    def explain(self, X: Any) -> Explanation:
        """Contributions of every cell to every class's joint score."""
        return self._solved_model().explain(self._read(X, reset=False), base=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
