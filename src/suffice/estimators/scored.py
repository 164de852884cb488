"""Predictions that are read off the scores of a solved model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, read_only
from suffice.estimators.base import Estimator
from suffice.factors.scores import Scores
from suffice.links import log_odds_of_two
from suffice.model.priors import Priors, PriorShift, estimate_shift
from suffice.model.solved.solution import SolvedModel
from suffice.tables.table import Table


class Scored(Estimator):
    """A model that is solved when its parameters are first needed, and then scores rows."""

    _scores_densities: ClassVar[bool] = True
    """Whether scores are joint densities, log p(x, C_k), and not only ranks of the classes."""

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
        codes = self._read_off(X, Scores.best, compared=True)
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

    def decision_function(self, X: Any) -> Array:
        """Log odds of the second class for two classes, the scores of all classes otherwise.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            With more than two classes log p(x, C_k), or the scores a_k(x) of weighed evidence.
        """
        two = len(self._solved_model().classes) == 2
        base = self._scores_densities and not two
        return self._read_off(X, lambda scores: log_odds_of_two(scores.comparable()), base=base, compared=two)

    def with_priors(self, priors: Priors) -> Self:
        """Return a model with other class priors; nothing is refitted.

        Parameters
        ----------
        priors : "uniform", "empirical", array-like or dict
            The new priors, in the order of `classes_` or by label.

        Returns
        -------
        model : object
            A new model of the same class.
        """
        self._require_fitted()
        return self._under(priors, None)

    def adapt_priors(self, X: Any) -> Self:
        """Return a model whose class priors fit unlabelled rows, estimated by EM.

        The classes are assumed to look as they did in training and to have become rarer or more common.
        Where families are inferred from 25 rows or more, the test of the shift allows for posteriors that
        are too sure; elsewhere, and for weighed evidence, it takes them for right.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        model : object
            A new model of the same class; `prior_shift_` holds the priors and a test of the shift.
        """
        solved = self._solved_model()
        if self._scores_densities:
            solved.require_density("adapt_priors")
        with self._lock():
            solved = self._solved_model()
            counted = float(solved.weight.sum()) if solved.estimated_priors else None
            log_posterior, held_out = self.predict_log_proba(X), self._held_out_posteriors()
            shift = estimate_shift(log_posterior, solved.priors, solved.classes, counted, held_out)
            return self._under(shift.priors, shift)

    def _under(self, priors: Priors, shift: PriorShift | None) -> Self:
        """A model with other priors, and how they were found."""
        raise NotImplementedError

    def _held_out_posteriors(self) -> Any:
        """Posteriors of rows held out from training, if there are any."""
        return None

    def _read_off(
        self,
        X: Any,
        function: Callable[[Scores], NDArray[Any]],
        *,
        base: bool = False,
        compared: bool = False,
    ) -> NDArray[Any]:
        """Apply a function to the scores of each row."""
        solved = self._solved_model()
        return solved.read_off(self._read(X, reset=False), function, base=base, compared=compared)

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
