"""An outlier detector made of any model that knows how strange a row is."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from suffice.arrays import Array
from suffice.estimators.wrapper import Wrapper


class NoveltyDetector(OutlierMixin, Wrapper):  # type: ignore[misc]
    """Tell rows that the model could hardly have given (−1) from the others (1).

    Parameters
    ----------
    model : classifier with `novelty`
        Fitted or not; a fitted one needs no `fit` here.
    rate : float, default=0.01
        The share of rows from the model itself that are taken for outliers: those of `novelty` below it.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [0.5], [9.0], [10.0], [9.5]], ["a", "a", "a", "b", "b", "b"]
    >>> detector = suffice.NoveltyDetector(suffice.GaussianDiscriminant().fit(X, y))
    >>> detector.predict([[0.4], [5.0], [9.7]])
    array([ 1, -1,  1])
    """

    def __init__(self, model: Any, rate: float = 0.01) -> None:
        self.model = model
        self.rate = rate

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Fit a clone of the model; without labels all rows are one class."""
        self._check_rate()
        if y is None:
            y = np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), dtype=np.intp)  # sparse has no length
        return super().fit(X, y, sample_weight, **params)

    @property
    def offset_(self) -> float:
        """The score below which a row is an outlier: the rate."""
        self._check_rate()
        return float(self.rate)

    def _check_rate(self) -> None:
        if not (isinstance(self.rate, Real) and 0.0 < self.rate < 1.0):
            raise ValueError(f"rate must be a number strictly between 0 and 1, got {self.rate!r}.")

    def score_samples(self, X: Any) -> Array:
        """`novelty` of the model: the smaller, the stranger."""
        model = self._fitted_model()
        if not hasattr(model, "novelty"):
            raise AttributeError(
                f"NoveltyDetector needs a model that knows p(x), and {type(model).__name__} has no novelty; "
                "use a generative one, such as BayesClassifier."
            )
        return np.asarray(model.novelty(X))

    def decision_function(self, X: Any) -> Array:
        """`novelty` less the rate: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """−1 for outliers, 1 for the others."""
        return np.where(self.decision_function(X) < 0.0, -1, 1)
