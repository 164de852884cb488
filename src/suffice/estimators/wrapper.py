"""What estimators that wrap a classifier share: they take it fitted or not, and pass rows through."""

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
from suffice.estimators.base import not_fitted


class Wrapper(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator around `model`, which is used as it is if it is fitted, and cloned and fitted by `fit`."""

    model: Any

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **params: Any) -> Self:
        """Fit a clone of the model; weights and other parameters go to its `fit`."""
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            params = process_routing(self, "fit", **params).model.fit
        self.model_ = clone(self.model, safe=False).fit(X, y, **params)
        return self

    def _fitted_model(self) -> Any:
        """The model that `fit` made, or the one that came fitted."""
        if hasattr(self, "model_"):
            return self.model_
        if not _is_fitted(self.model):
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
                f"{type(self).__name__} needs posteriors, and {type(model).__name__} has no predict_proba; "
                "wrap it in CalibratedClassifierCV."
            )
        return np.asarray(model.predict_proba(X), dtype=np.float64)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels of the model."""
        return np.asarray(self._fitted_model().classes_)

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the model."""
        return int(self._fitted_model().n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the model's columns."""
        return np.asarray(self._fitted_model().feature_names_in_)

    def get_metadata_routing(self) -> Any:
        """What goes where, for scikit-learn's metadata routing."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(model=self.model, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.model, "__sklearn_tags__"):
            tags.input_tags = get_tags(self.model).input_tags
        return tags


def _is_fitted(model: Any) -> bool:
    """Whether a model can answer; one that is no estimator of scikit-learn can if it knows its classes."""
    if not isinstance(model, BaseEstimator):
        return not isinstance(model, type) and hasattr(model, "classes_")
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
