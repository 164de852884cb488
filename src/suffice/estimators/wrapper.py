"""What the estimators share that wrap a classifier, fitted or not."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from suffice.arrays import Array
from suffice.estimators.base import Printed, not_fitted
from suffice.estimators.settings import KeepsSettings
from suffice.tables.targets import labelled


class Wrapper(KeepsSettings, MetaEstimatorMixin, Printed):  # type: ignore[misc]
    """An estimator around `model`, which is used as it is if fitted, and cloned by `fit` otherwise."""

    model: Any

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Fit a clone of the model.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Passed on to the model.
        **params : dict
            Other parameters of the wrapped model's `fit`.

        Returns
        -------
        self : object
            The fitted wrapper; `model_` is the fitted clone.
        """
        X, y = labelled(X, y)
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **params).model.fit
        self.model_ = clone(self.model, safe=False).fit(X, y, **params)
        self._keep_settings()
        return self

    def _fitted_model(self) -> Any:
        """The model that `fit` made, or the one that was passed in fitted."""
        if hasattr(self, "model_"):
            return self.model_
        if not is_fitted(self.model):
            raise not_fitted(self, ", nor is its model")
        return self.model

    def __sklearn_is_fitted__(self) -> bool:
        try:
            self._fitted_model()
        except NotFittedError:
            return False
        return True

    def _posteriors(self, X: Any) -> Array:
        """`predict_proba` of the model."""
        model = self._fitted_model()
        if not hasattr(model, "predict_proba"):
            raise AttributeError(
                f"{type(self).__name__} needs posteriors, but {type(model).__name__} has no predict_proba; "
                "wrap it in CalibratedClassifierCV."
            )
        return np.asarray(model.predict_proba(X), dtype=np.float64)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels of the model."""
        return np.asarray(self._fitted_model().classes_)

    @property
    def n_features_in_(self) -> int:
        """The number of columns the model was fitted to."""
        return int(self._fitted_model().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns the model was fitted to."""
        return np.asarray(self._fitted_model().feature_names_in_)

    def get_metadata_routing(self) -> Any:
        """Which metadata goes where, for scikit-learn's metadata routing.

        Returns
        -------
        router : MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(model=self.model, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.model, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.model).input_tags
        return tags


def is_fitted(model: Any) -> bool:
    """Whether a model can predict; one that is not a scikit-learn estimator can if it has `classes_`."""
    if not isinstance(model, BaseEstimator):
        return not isinstance(model, type) and hasattr(model, "classes_")
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
