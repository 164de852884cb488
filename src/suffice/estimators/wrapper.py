"""What the estimators share that wrap a classifier, fitted or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from suffice.arrays import Array, Codes
from suffice.estimators.base import Classifier, Printed, not_fitted
from suffice.estimators.class_scores import log_posteriors
from suffice.estimators.settings import KeepsSettings
from suffice.model.folds.held_out import LabelledData, fitted_grid, with_settings
from suffice.model.folds.training_sums import Splits, read_splits
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
        self._wrap(clone(self.model, safe=False).fit(X, y, **params), y, sample_weight)
        return self

    def _wrap(self, fitted: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        """Take over a model that was fitted to rows with these labels and weights."""
        self.model_ = fitted
        self._keep_settings()

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


InnerSettings = tuple[tuple[Any, ...], list[tuple[dict[str, Any], list[int]]]]


class WrappedClassifier(Classifier, Wrapper):
    """A classifier around `model`, with posteriors that follow from those of the model."""

    def fit_grid(
        self,
        X: Any,
        y: Any,
        splits: Splits,
        settings: Sequence[Mapping[str, Any]],
        sample_weight: ArrayLike | None = None,
        *,
        refit_schema: bool = False,
    ) -> Iterator[tuple[int, int, Self]]:
        """Fit a new wrapper to the training rows of each split under each of several settings.

        The models come from the `fit_grid` of the wrapped model, if it has one, so that they can share one
        pass over the rows. Settings that differ in the wrapper alone share their models.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        splits : iterable of (training rows, test rows)
            Positions or masks, such as those of a scikit-learn splitter.
        settings : sequence of dict
            Parameters to set, by name; those of the wrapped model begin with `model__`.
        sample_weight : array-like of shape (n_samples,), optional
            Passed on to the model.
        refit_schema : bool, default=False
            Whether the families of the columns are those of the training rows of each split, not of all rows.

        Returns
        -------
        models : iterator of (int, int, object)
            The number of the settings, the number of the split, and the fitted wrapper.
        """
        data = LabelledData.read(X, y, sample_weight)
        chosen = list(read_splits(splits, len(data.labels)))
        return self._fitted_grid(data, chosen, settings, refit_schema=refit_schema)

    def _fitted_grid(
        self,
        data: LabelledData,
        splits: list[tuple[Codes, Codes]],
        settings: Sequence[Mapping[str, Any]],
        *,
        refit_schema: bool,
    ) -> Iterator[tuple[int, int, Any]]:
        for (model,), inner in self._inner_settings(settings, "model"):
            changes = [changed for changed, _ in inner]
            models = fitted_grid(model, data, splits, changes, refit_schema=refit_schema)
            for place, split, fitted in models:
                train = splits[split][0]
                for number in inner[place][1]:
                    one: WrappedClassifier = with_settings(self, settings[number])
                    one._wrap(fitted, *data.labels_and_weights(train))
                    yield number, split, one

    def _inner_settings(self, settings: Sequence[Mapping[str, Any]], *outer: str) -> list[InnerSettings]:
        """The settings of the wrapped model, each with the numbers of the wrapper's settings that have it.

        They are grouped by the values of some of the wrapper's own settings.
        """
        groups: dict[Any, tuple[tuple[Any, ...], dict[Any, tuple[dict[str, Any], list[int]]]]] = {}
        for number, changed in enumerate(settings):
            own = {**self.get_params(deep=False), **changed}
            values = tuple(own[name] for name in outer)
            inner = {name[7:]: value for name, value in changed.items() if name.startswith("model__")}
            # The same objects; whether others are equal to them, such as arrays, cannot always be told.
            _, known = groups.setdefault(tuple(map(id, values)), (values, {}))
            key = tuple(sorted((name, id(value)) for name, value in inner.items()))
            known.setdefault(key, (inner, []))[1].append(number)
        return [(values, list(known.values())) for values, known in groups.values()]

    def _log_posteriors(self, X: Any) -> Array:
        return log_posteriors(self._fitted_model(), X)

    def _posteriors(self, X: Any) -> Array:
        return np.exp(self._log_posteriors(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors log p(C_k | x).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
        """
        return self._log_posteriors(X)

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._posteriors(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.asarray(self.classes_[np.argmax(self._log_posteriors(X), axis=1)])


def is_fitted(model: Any) -> bool:
    """Whether a model can predict; one that is not a scikit-learn estimator can if it has `classes_`."""
    if not isinstance(model, BaseEstimator):
        return not isinstance(model, type) and hasattr(model, "classes_")
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
