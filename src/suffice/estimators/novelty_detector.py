"""An outlier detector around any model that knows how unusual a row is."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from suffice.arrays import Array
from suffice.estimators.wrapper import Wrapper
from suffice.model.folds.worse_than_shares import unchecked
from suffice.tables.records import are_records, read_records


class NoveltyDetector(OutlierMixin, Wrapper):  # type: ignore[misc]
    """Tell unusual rows (−1), which the model is unlikely to produce, from ordinary ones (1).

    Parameters
    ----------
    model : classifier with `novelty`
        Fitted or not; if it is fitted, calling `fit` here is not necessary.
    rate : float, default=0.01
        The share of rows drawn from the model itself that count as outliers: those whose `novelty` is lower.

    Attributes
    ----------
    offset_ : float
        The score below which a row is an outlier: the rate.
    model_ : classifier
        The fitted clone of `model`, after `fit`.

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
        """Fit a clone of the model; without labels, all rows are one class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Passed on to the model.
        **params : dict
            Other parameters of the wrapped model's `fit`.

        Returns
        -------
        self : object
            The fitted detector; `model_` is the fitted clone.
        """
        self._check_rate()
        if y is None:
            sized: Any = read_records(X) if are_records(X) else X
            n_rows = sized.shape[0] if hasattr(sized, "shape") else len(sized)  # sparse has no length
            y = np.zeros(n_rows, dtype=np.intp)
        with unchecked():  # densities alone decide
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
        """The model's `novelty`: the smaller, the more unusual.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        model = self._fitted_model()
        if not hasattr(model, "novelty"):
            raise AttributeError(
                f"NoveltyDetector needs a model of p(x), but {type(model).__name__} has no novelty; use a "
                "generative model, such as BayesClassifier."
            )
        return np.asarray(model.novelty(X))

    def decision_function(self, X: Any) -> Array:
        """The model's `novelty` minus the rate: negative for outliers.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """−1 for outliers and 1 for the other rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        outliers : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) < 0.0, -1, 1)
