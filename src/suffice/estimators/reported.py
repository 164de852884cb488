"""What a fitted generative model reports of itself."""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from suffice.arrays import Array
from suffice.estimators.learnt import FittedState
from suffice.estimators.locks import lock_of
from suffice.factors import Regularized
from suffice.model.priors import PriorShift
from suffice.model.schema import Schema
from suffice.model.solution import SolvedModel
from suffice.model.statistics import Statistics
from suffice.tables.container import Container


class Reported:
    """A model that has learnt sums, from which it is solved; both in the attributes that end in _."""

    _learnt: FittedState

    def _solution(self, learnt: FittedState) -> SolvedModel:
        """From sums to parameters."""
        raise NotImplementedError

    def _lock(self) -> RLock:
        """What learning and solving in several threads take turns with; scoring needs no turn."""
        return lock_of(self)

    def _is_fitted(self) -> bool:
        return hasattr(self, "_learnt")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def solve(self) -> SolvedModel:
        """Solve for the parameters, which happens by itself at first use after a change."""
        if not self._is_fitted():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )
        solution = self._learnt.solution
        if solution is None:
            with self._lock():
                solution = self._learnt.solution or self._solution(self._learnt)
                self._learnt.solution = solution
        return solution

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        return self.solve().classes

    @property
    def priors_(self) -> Array:
        """π_k in the order of `classes_`."""
        return self.solve().priors

    @property
    def prior_shift_(self) -> PriorShift:
        """How `adapt_priors` found the priors, and a test of the shift."""
        check_is_fitted(self)
        if self._learnt.shift is None:
            raise AttributeError(
                "the priors were not adapted; model.adapt_priors(rows) gives a model with them."
            )
        return self._learnt.shift

    @property
    def statistics_(self) -> Statistics:
        """A copy of the sums."""
        check_is_fitted(self)
        with self._lock():
            return self._learnt.accumulator.statistics()

    @property
    def container_(self) -> Container | None:
        """What the rows came in, if the model has seen rows."""
        check_is_fitted(self)
        return self._learnt.container

    @property
    def schema_(self) -> Schema:
        """The family of each column, and why."""
        return self.solve().schema

    @property
    def parameters_(self) -> dict[Any, dict[str, Any]]:
        """The parameters people know, by column."""
        return self.solve().parameters()

    @property
    def regularized_(self) -> list[Regularized]:
        """Parameters that had no maximum likelihood, and what was done instead."""
        return self.solve().regularized

    @property
    def log_likelihood_(self) -> float:
        """Log p(X, y) of the fitted rows."""
        return self.solve().log_likelihood

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        return self.solve().n_parameters

    @property
    def aic_(self) -> float:
        """Akaike's information criterion, 2p − 2·log likelihood."""
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood_

    @property
    def bic_(self) -> float:
        """The Bayesian information criterion, p·log n − 2·log likelihood, n the total weight."""
        return float(self.n_parameters_ * np.log(self.solve().weight.sum()) - 2.0 * self.log_likelihood_)
