"""Predictions that are read off the scores of a solved model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, read_only
from suffice.estimators.base import Estimator
from suffice.factors.scores import Scores
from suffice.model.priors import PriorShift
from suffice.model.solution import SolvedModel
from suffice.tables.table import Table


class Scored(Estimator):
    """A model that is solved when its parameters are first needed, and then scores rows."""

    def _solved_model(self) -> SolvedModel:
        """The solved model."""
        raise NotImplementedError

    def _read(self, X: Any, *, reset: bool) -> Table:
        """Read X as a table; its columns are recorded, or checked against those seen in `fit`."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        codes = self._read_off(X, Scores.best, base=False)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._solved_model().posteriors(self._read(X, reset=False))

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors log p(C_k | x).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
        """
        return self._solved_model().log_posteriors(self._read(X, reset=False))

    def _read_off(self, X: Any, function: Callable[[Scores], NDArray[Any]], *, base: bool) -> NDArray[Any]:
        """Apply a function to the scores of each row."""
        return self._solved_model().read_off(self._read(X, reset=False), function, base=base)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        return read_only(self._solved_model().classes)

    @property
    def priors_(self) -> Array:
        """The class priors π_k, in the order of `classes_`."""
        return read_only(self._solved_model().priors)

    @property
    def prior_shift_(self) -> PriorShift:
        """How `adapt_priors` found the priors, with a test of the shift."""
        self._require_fitted()
        shift: PriorShift | None = self._learnt.shift
        if shift is None:
            raise AttributeError(
                "the priors were not adapted; model.adapt_priors(X) returns a model with adapted priors."
            )
        return shift
