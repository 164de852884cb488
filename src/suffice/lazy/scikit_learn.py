"""What estimators take from scikit-learn, or stand-ins for a program that only asks a model.

To import scikit-learn takes longer than to load a model and predict with it, and neither needs it. A program
that hands no estimator to scikit-learn, such as `suffice predict`, can therefore do with stand-ins. They are
chosen before the first estimator is imported, for the whole process.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from typing import Any, Self

_HOMES = {
    "BaseEstimator": "sklearn.base",
    "ClassifierMixin": "sklearn.base",
    "TransformerMixin": "sklearn.base",
    "NotFittedError": "sklearn.exceptions",
    "ConvergenceWarning": "sklearn.exceptions",
    "validate_data": "sklearn.utils.validation",
    "has_fit_parameter": "sklearn.utils.validation",
    "check_classification_targets": "sklearn.utils.multiclass",
    "check_random_state": "sklearn.utils",
    "clone": "sklearn.base",
    "compute_class_weight": "sklearn.utils",
    "is_regressor": "sklearn.base",
}
"""Names and the modules they are imported from, at first use."""
_CHOSEN = {"stand-ins": False}


def stand_in() -> None:
    """Use the stand-ins, unless scikit-learn has been imported already."""
    _CHOSEN["stand-ins"] = "sklearn" not in sys.modules


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.")
    if _CHOSEN["stand-ins"] and name in _STAND_INS:
        return _STAND_INS[name]
    return getattr(import_module(_HOMES[name]), name)


class _BaseEstimator:
    """An estimator with settings."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(set(inspect.signature(cls.__init__).parameters) - {"self"})

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Change settings."""
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({settings})"[:N_CHAR_MAX]


class _Mixin:
    """Nothing that a model is asked for."""


class _NotFittedError(ValueError, AttributeError):
    """An estimator that is not fitted."""


def _validate_data(estimator: Any, X: Any, **_: Any) -> Any:
    """Rows as they are, if there are as many columns as in training."""
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {estimator.n_features_in_}.")
    return X


_STAND_INS: dict[str, Any] = {
    "BaseEstimator": _BaseEstimator,
    "ClassifierMixin": _Mixin,
    "TransformerMixin": type("_Transformer", (), {"__doc__": "Nothing that a model is asked for."}),
    "NotFittedError": _NotFittedError,
    "ConvergenceWarning": UserWarning,
    "validate_data": _validate_data,
}
