"""What is read off a generative model once it is solved: predictions, explanations, samples, reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array, Codes
from suffice.estimators.base import refused_as_absent, sum_of_own
from suffice.estimators.linear import LinearInStatistics
from suffice.export.expressions import Gaps
from suffice.export.scoring import Scoring
from suffice.factors import Regularized
from suffice.factors.scores import Scores
from suffice.links import log_sum
from suffice.model.columns.schema import Schema
from suffice.model.explaining.column_evidence import ColumnEvidence
from suffice.model.explaining.explanation import Explanation
from suffice.model.priors import PriorShift
from suffice.model.solved.drawn_rows import DrawnRows
from suffice.model.solved.novelty import tail_probabilities
from suffice.model.solved.parameters import Parameters
from suffice.model.solved.sampling import draw_classes, draw_rows, generator_of, in_container
from suffice.model.solved.solution import SavedSearches, SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.coded_labels import CodedLabels
from suffice.tables.container import PLAIN, Container
from suffice.tables.estimator_input import (
    read_coded_targets,
    read_features,
    read_more_features,
    read_targets,
)
from suffice.tables.table import Table, read_table
from suffice.tables.targets import codes_of_rows, labelled
from suffice.tables.text_table import are_cells, is_list_of_documents
from suffice.text import read_documents


@dataclass
class FittedState:
    """The contents of a fitted model: its sums, and the parameters once they are needed."""

    accumulator: Accumulator
    container: Container | None = None
    solution: SolvedModel | None = None
    saved_searches: SavedSearches | None = None
    """Parameters that were read from a file; they hold until the sums change."""
    shift: PriorShift | None = None
    """How the priors were adapted to unlabelled rows."""


class Generative(LinearInStatistics):
    """A model of p(x, C_k) that holds sums and is solved for its parameters when they are first needed."""

    _learnt: FittedState

    def _solution(self, learnt: FittedState) -> SolvedModel:
        """Solve for the parameters."""
        raise NotImplementedError

    def _solved_model(self) -> SolvedModel:
        """The solved model; it is solved at first use after a change."""
        self._require_fitted()
        solution = self._learnt.solution
        if solution is None:
            with self._lock():
                solution = self._learnt.solution or self._solution(self._learnt)
                self._learnt.solution = solution
        return solution

    def _labels(self, y: Any) -> NDArray[Any]:
        """Read the label of each row."""
        return read_targets(self, y)

    def _coded_labels(self, y: Any) -> NDArray[Any] | CodedLabels:
        """Read the label of each row, text as codes."""
        return read_coded_targets(self, y)

    def _read(self, X: Any, *, reset: bool) -> Table:
        """Read X as a table; its columns are recorded, or checked against those seen in `fit`."""
        if reset:
            return read_features(self, X)
        schema = self._learnt.accumulator.schema
        if schema.named and schema.factors:
            X = in_columns_of_text(X, schema)
        return read_more_features(self, X, schema.names if schema.named else None)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Joint scores a_k(x) = log p(x | C_k) + log p(C_k), with all constants.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
        """
        return self._read_off(X, Scores.joint, base=True)

    def score_samples(self, X: Any) -> Array:
        """Log density log p(x), summed over the classes.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        log_p : ndarray of shape (n_samples,)
        """
        self._solved_model().require_density("score_samples")
        return self._read_off(X, lambda scores: log_sum(scores.joint()), base=True)

    def log_likelihood(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Σ w·log p(x, C_y) of any rows whose classes are known; of the training rows, `log_likelihood_`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights w ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        log_likelihood : float
            −∞ if the model gives some row the probability 0.
        """
        solution = self._solved_model()
        solution.require_density("log_likelihood")
        X, y = labelled(X, y)
        joint = self.predict_joint_log_proba(X)
        return sum_of_own(joint, self._codes(y, len(joint)), sample_weight)

    def explain(self, X: Any) -> Explanation:
        """Split the joint score of each class into the contributions of the cells.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        explanation : Explanation
            Contributions in nats, by row, column and class; they add up to `predict_joint_log_proba`.
        """
        return self._solved_model().explain(self._read(X, reset=False), base=True)

    def evidence(self, X: Any = None, y: Any = None) -> ColumnEvidence:
        """How well each column, by itself, tells the classes apart.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), optional
            Rows that the model was not fitted to; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it.

        Returns
        -------
        evidence : ColumnEvidence
            The expected weight of evidence (Kullback–Leibler divergence) and the Bhattacharyya distance of
            every pair of classes, by column; with rows, also the nats per row that each column really adds
            for the true class, and those that the model believes it adds.
        """
        solution = self._solved_model()
        evidence = solution.separation(self._learnt.container or PLAIN)
        if X is None and y is None:
            return evidence
        if X is None or y is None:
            raise ValueError("evidence takes rows with their classes: pass both X and y, or neither.")
        X, y = labelled(X, y)
        table = self._read(X, reset=False)
        if not table.n_rows:
            raise ValueError("X has no rows, which say nothing about the columns; pass some.")
        codes = self._codes(y, table.n_rows)
        gained, believed = solution.gains(table, codes)
        return replace(evidence, gained=gained, believed=believed)

    def _codes(self, y: Any, n_rows: int) -> Codes:
        """The class of each of some rows."""
        return codes_of_rows(self._labels(y), self._solved_model().classes, n_rows)

    def sample(
        self,
        n_samples: int | None = None,
        random_state: Any = None,
        *,
        labels: Any = None,
        missing: bool = False,
    ) -> tuple[Any, NDArray[Any]]:
        """Draw rows from the model.

        Parameters
        ----------
        n_samples : int, optional
            How many rows; by default 1, or one for each label.
        random_state : int, Generator or RandomState, optional
            The source of random numbers.
        labels : label or array-like of labels, optional
            One class for all rows, or one for each row; by default they are drawn from the priors.
        missing : bool, default=False
            Whether cells are missing as often as they were in training, independently in each column and
            class.

        Returns
        -------
        X : array or frame of shape (n_samples, n_features)
            In the kind of container that the model was fitted to.
        y : ndarray of shape (n_samples,)
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
        """How unusual each row is: the probability that a row drawn from the model is no more probable.

        A small value means an unusual row, even where the posterior of some class is 1. Rows drawn from the
        model itself have values spread evenly between 0 and 1 (or higher, for discrete columns). Missing
        cells are left out on both sides, even if the model takes their absence for evidence. A value that the
        model never produces, such as an unseen category, gives 0.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        random_state : int, Generator or RandomState, default=0
            For the rows that are drawn for comparison where there is no formula.

        Returns
        -------
        probability : ndarray of shape (n_samples,)
        """
        solution = self._solved_model().of_values()

        def generator() -> np.random.Generator:
            return generator_of(random_state)

        def draw(n_rows: int) -> DrawnRows:
            rng = generator()
            codes = np.sort(draw_classes(solution, n_rows, rng))
            table = read_table(self._contained(solution.sample(codes, rng, missing=False)))
            return DrawnRows(solution, codes, table, rng)

        return tail_probabilities(solution, self._read(X, reset=False), draw, generator)

    def _marginal(self, columns: Sequence[int]) -> SolvedModel:
        """The model of some columns, by position, for pictures of them."""
        return self._solved_model().marginal(columns)

    def _scoring(self, gaps: Gaps) -> Scoring:
        return self._solved_model().scoring(self._learnt.container, gaps)

    @property
    def statistics_(self) -> Statistics:
        """A copy of the sums that the model is made of."""
        self._require_fitted()
        with self._lock():
            return self._learnt.accumulator.statistics()

    @property
    def _container(self) -> Container | None:
        """The kind of container that the rows came in, if the model has seen rows."""
        self._require_fitted()
        return self._learnt.container

    @property
    def schema_(self) -> Schema:
        """The family of each column and why it was chosen."""
        return self._solved_model().schema

    @property
    def feature_importances_(self) -> Array:
        """What each column by itself added to rows held out when families were inferred, in nats a row."""
        nats = self.schema_.nats
        if nats is None:
            raise AttributeError(
                "feature_importances_ are known where families are inferred from at least 25 rows of a "
                "frame; importances(X, y) measures them for any model."
            )
        return nats

    @property
    def parameters_(self) -> Parameters:
        """The usual parameters (mean, variance, probability, …) by column: a dict, with `to_frame()`."""
        solved = self._solved_model()
        return Parameters(solved.parameters(), solved.classes, self._learnt.container or PLAIN)

    @property
    def regularized_(self) -> list[Regularized]:
        """Parameters without a maximum likelihood estimate, and what was done instead."""
        return self._solved_model().regularized

    @property
    def log_likelihood_(self) -> float:
        """log p(X, y) of the training rows."""
        with refused_as_absent():
            return self._solved_model().log_likelihood

    @property
    def n_parameters_(self) -> int:
        """The number of free parameters."""
        return self._solved_model().n_parameters

    def _criterion_terms(self) -> tuple[float, int, float]:
        return self.log_likelihood_, self.n_parameters_, float(self._solved_model().weight.sum())


def in_columns_of_text(X: Any, schema: Schema) -> Any:
    """A list or column of documents as a table, if all columns are text; any other table as it is."""
    if not schema.factors or any(factor.reads != "documents" for factor in schema.factors):
        return X
    if is_list_of_documents(X, or_missing=True):
        return {str(name): X for name in schema.names}
    if are_cells(X):
        read_documents(X)  # which refuses them
    if schema.named:
        _refuse_other_columns(read_table(X), schema)
    return X


def _refuse_other_columns(table: Table, schema: Schema) -> None:
    """Refuse a table without the columns of text that a model reads, and say which of its columns may be one.

    Of a list of documents, these columns have names that its user never saw.
    """
    known = set(table.names) & set(schema.names) if table.named else len(schema) == table.n_columns
    if known:
        return
    text = next((j for j in range(table.n_columns) if table.kind(j) == "level"), None)
    of_text = "" if text is None else f", {f'X[{table.names[text]!r}]' if table.named else f'X[:, {text}]'}"
    raise ValueError(
        "this model was fitted on documents, and X is a table of other columns; pass the column of documents"
        f"{of_text}."
    )


def forgetting(held: Statistics, gone: Statistics) -> str:
    """What the removal of rows is called where it is refused."""
    plain = all(np.allclose(one.weight, one.support, rtol=1e-9, atol=0.0) for one in (held, gone))
    return (
        f"forget rows that were never fitted{'' if plain else ' with these weights (pass those of the fit)'}"
    )
