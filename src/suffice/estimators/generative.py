"""What is read off a generative model once it is solved: predictions, explanations, samples, reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.estimators.base import Estimator
from suffice.export import Scoring
from suffice.export.expressions import Gaps
from suffice.factors import Regularized
from suffice.factors.scores import Scores
from suffice.links import log_odds_of_two, log_softmax_in_place, log_sum, softmax_in_place
from suffice.model.explanation import ColumnEvidence, Explanation
from suffice.model.novelty import tail_probabilities
from suffice.model.priors import PriorShift
from suffice.model.sampling import draw_rows, in_container
from suffice.model.schema import Schema
from suffice.model.solution import SavedSearches, SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.container import PLAIN, Container
from suffice.tables.estimator_input import read_features, read_more_features, read_targets
from suffice.tables.table import Table, read_table


@dataclass
class FittedState:
    """What a model has learnt: its sums, and the parameters once they are asked for."""

    accumulator: Accumulator
    container: Container | None = None
    solution: SolvedModel | None = None
    saved_searches: SavedSearches | None = None
    """Parameters that a file brought along, until the sums change."""
    shift: PriorShift | None = None
    """How the priors were adapted to rows without labels."""


class Generative(Estimator):
    """A model of p(x, C_k) that has learnt sums, from which it is solved when it is first asked."""

    _learnt: FittedState

    def _solution(self, learnt: FittedState) -> SolvedModel:
        """From sums to parameters."""
        raise NotImplementedError

    def _solved_model(self) -> SolvedModel:
        """The parameters, which are solved for at first use after a change."""
        self._require_fitted()
        solution = self._learnt.solution
        if solution is None:
            with self._lock():
                solution = self._learnt.solution or self._solution(self._learnt)
                self._learnt.solution = solution
        return solution

    def _labels(self, y: Any) -> NDArray[Any]:
        """The label of each row."""
        return read_targets(self, y)

    def _read(self, X: Any, *, reset: bool) -> Table:
        """X as a table, its column names and number noted, or checked against the fitted ones."""
        if reset:
            return read_features(self, X)
        schema = self._learnt.accumulator.schema
        return read_more_features(self, X, schema.names if schema.named else None)

    # --- scoring ---------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        codes = self._read_off(X, lambda scores: np.argmax(scores.comparable(), axis=1), base=False)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x)."""
        return self._read_off(X, lambda scores: softmax_in_place(scores.comparable()), base=False)

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors."""
        return self._read_off(X, lambda scores: log_softmax_in_place(scores.comparable()), base=False)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Joint scores a_k(x) = log p(x | C_k) + log p(C_k), nothing dropped."""
        return self._read_off(X, Scores.joint, base=True)

    def decision_function(self, X: Any) -> Array:
        """Log odds of the second class for two classes (1-D), joint scores otherwise."""
        base = len(self._solved_model().classes) != 2
        return self._read_off(X, lambda scores: log_odds_of_two(scores.comparable()), base=base)

    def score_samples(self, X: Any) -> Array:
        """Log p(x), all classes together."""
        self._solved_model().require_density("score_samples")
        return self._read_off(X, lambda scores: log_sum(scores.joint()), base=True)

    def explain(self, X: Any) -> Explanation:
        """Contributions of every cell to every class's joint score."""
        return self._solved_model().explain(self._read(X, reset=False), base=True)

    def evidence(self) -> ColumnEvidence:
        """How far apart each column holds the classes: expected weight of evidence (KL) and Bhattacharyya."""
        return self._solved_model().separation(self._learnt.container or PLAIN)

    def sample(
        self,
        n_samples: int | None = None,
        random_state: Any = None,
        *,
        labels: Any = None,
        missing: bool = False,
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows (X, y) from the model, X in the container it was fitted on.

        Parameters
        ----------
        n_samples : int, optional
            How many; one, or as many as there are labels.
        random_state : int, Generator or RandomState, optional
        labels : label or sequence of labels, optional
            One class for all rows, or one for each; drawn from the priors by default.
        missing : bool, default=False
            Whether cells are missing as often as they were in training, column by column in each class.
        """
        solution = self._solved_model()
        codes, columns = draw_rows(solution, n_samples, random_state, labels, missing=missing)
        return self._contained(columns), solution.classes[codes]

    def _contained(self, columns: list[NDArray[Any]]) -> Any:
        container = self._learnt.container
        if container is None:
            return np.column_stack(columns)
        return in_container(columns, self._solved_model().schema, container)

    def novelty(self, X: Any, random_state: Any = 0) -> Array:
        """How strange each row is: the probability that the model gives one no more probable than it.

        Small means strange, even where the posterior of some class is 1. Rows of the model itself have values
        spread evenly between 0 and 1 (or above, for discrete columns). Missing cells are left out on both
        sides; a value that the model never gives, such as a category never seen, makes a row as strange as
        can be.

        Parameters
        ----------
        X : table
        random_state : int, Generator or RandomState, default=0
            Of the rows drawn for comparison, where no formula serves.
        """
        solution = self._solved_model()

        def draw(n_rows: int) -> Table:
            return read_table(self._contained(draw_rows(solution, n_rows, random_state)[1]))

        return tail_probabilities(solution, self._read(X, reset=False), draw)

    def _read_off(self, X: Any, function: Callable[[Scores], NDArray[Any]], *, base: bool) -> NDArray[Any]:
        """What a function makes of the scores of each row."""
        return self._solved_model().read_off(self._read(X, reset=False), function, base=base)

    def _scoring(self, gaps: Gaps) -> Scoring:
        return self._solved_model().scoring(self._learnt.container, gaps)

    # --- what the model reports ----------------------------------------------------------------------

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        return self._solved_model().classes

    @property
    def priors_(self) -> Array:
        """π_k in the order of `classes_`."""
        return self._solved_model().priors

    @property
    def prior_shift_(self) -> PriorShift:
        """How `adapt_priors` found the priors, and a test of the shift."""
        self._require_fitted()
        if self._learnt.shift is None:
            raise AttributeError(
                "the priors were not adapted; model.adapt_priors(rows) gives a model with them."
            )
        return self._learnt.shift

    @property
    def statistics_(self) -> Statistics:
        """A copy of the sums."""
        self._require_fitted()
        with self._lock():
            return self._learnt.accumulator.statistics()

    @property
    def _container(self) -> Container | None:
        """What the rows came in, if the model has seen rows."""
        self._require_fitted()
        return self._learnt.container

    @property
    def schema_(self) -> Schema:
        """The family of each column, and why."""
        return self._solved_model().schema

    @property
    def parameters_(self) -> dict[Any, dict[str, Any]]:
        """The parameters people know, by column."""
        return self._solved_model().parameters()

    @property
    def regularized_(self) -> list[Regularized]:
        """Parameters that had no maximum likelihood, and what was done instead."""
        return self._solved_model().regularized

    @property
    def log_likelihood_(self) -> float:
        """Log p(X, y) of the fitted rows."""
        return self._solved_model().log_likelihood

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        return self._solved_model().n_parameters

    def _criterion_terms(self) -> tuple[float, int, float]:
        return self.log_likelihood_, self.n_parameters_, float(self._solved_model().weight.sum())
