"""BayesClassifier: a product of exponential families over any table."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from threading import Lock, RLock
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from suffice.archive import Fields, Saved, Setting, SufficeFileError
from suffice.engines.column_types import container_from_fields, state_of_container
from suffice.engines.container import Container
from suffice.engines.table import Table
from suffice.explanation import Explanation
from suffice.export import Exportable, Scoring
from suffice.expressions import Gaps
from suffice.factors import Regularized
from suffice.families.elementary import Array
from suffice.infer import Families, schema_of_statistics
from suffice.priors import Priors, class_priors
from suffice.reading import read_features, read_more_features, read_targets
from suffice.rows import LabelledRows
from suffice.schema import Schema
from suffice.scores import Scores, log_softmax_in_place, log_sum, softmax, softmax_in_place
from suffice.solution import Searched, Solution, searched_again
from suffice.statistics import Accumulator, Statistics

_LOCKS: WeakKeyDictionary[BayesClassifier, RLock] = WeakKeyDictionary()
_NEW_LOCK = Lock()


def _forget_locks() -> None:
    """In a child that was forked: locks of threads that it does not have would never be freed."""
    global _NEW_LOCK  # noqa: PLW0603, the lock itself may be held
    _LOCKS.clear()
    _NEW_LOCK = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)


@dataclass
class Learnt:
    """What a model has learnt: its sums, and the parameters once they are asked for."""

    accumulator: Accumulator
    container: Container | None = None
    solution: Solution | None = None
    searched: Searched | None = None
    """Parameters that a file brought along, until the sums change."""


class BayesClassifier(Exportable, Saved, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A generative classifier: p(x | C_k) is a product of families, one per column.

    It takes a table as it is: numbers, counts, flags, categories, dates, with gaps. Fitting sums
    sufficient statistics, so it may happen in any batches, be merged and be undone.

    Parameters
    ----------
    families : "infer", Family, dict or Schema, default="infer"
        The family of each column. A dict names columns (or positions, or tuples of them) and leaves the
        rest to inference; one family is for all columns; None as a value leaves a column out.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies, equal, or as given (in the order of `classes_`, or by label).

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
    priors_ : ndarray of shape (k,)
    schema_ : Schema
        The family of each column with the reason; prints as a table.
    statistics_ : Statistics
        The sums that the model is made of.
    parameters_ : dict
        The parameters people know (mean, variance, probability, …) by column.
    log_likelihood_, aic_, bic_ : float
        Of the fitted data, from the statistics alone.
    n_parameters_ : int
        Free parameters.
    regularized_ : list
        Parameters that had no maximum likelihood, and what was done instead.

    Examples
    --------
    >>> import numpy as np, suffice
    >>> X = np.array([[1.0, 5.0], [1.2, np.nan], [3.0, 9.0], [3.1, 8.0]])
    >>> model = suffice.BayesClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.1, np.nan], [np.nan, 8.5]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(self, families: Families = "infer", priors: Priors = None) -> None:
        self.families = families
        self.priors = priors

    def chosen_families(self) -> Families:
        """What decides the family of each column."""
        return self.families

    # --- fitting: every way ends in sums ---------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X with labels y; weight k is the row k times."""
        return self._atomically(
            lambda: self._learn(X, y, sample_weight, afresh=True, check=self._check_priors)
        )

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows. Any batches give the same model as one `fit`; `classes` is accepted and not needed."""
        return self._atomically(lambda: self._learn(X, y, sample_weight, afresh=not self._is_fitted()))

    def forget(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows away again, exactly to rounding, as if they had never been fitted."""
        check_is_fitted(self)
        rows = LabelledRows(self._read(X, reset=False), self._labels(y), sample_weight)
        gone = Accumulator.empty(self._learnt.accumulator.schema)
        rows.add_to(gone)
        with self._lock():
            return self._replace(
                self.statistics_, gone.statistics(), -1, "forget rows that were never fitted"
            )

    def merge(self, other: BayesClassifier | Statistics) -> Self:
        """Add another model's (or statistics') rows to this one."""
        check_is_fitted(self)
        added = other.statistics_ if isinstance(other, BayesClassifier) else other
        if not isinstance(added, Statistics):
            raise TypeError(f"merge takes a fitted model or Statistics, got {type(other).__name__}.")
        with self._lock():
            return self._replace(self.statistics_, added, 1, "merge")

    def __add__(self, other: BayesClassifier) -> Self:
        if not isinstance(other, BayesClassifier):
            return NotImplemented
        return copy(self).merge(other)

    def fit_statistics(self, statistics: Statistics) -> Self:
        """Fit from statistics, without a row; `families` may name other settings of solving (alpha)."""
        if not isinstance(statistics, Statistics):
            raise TypeError(f"fit_statistics takes Statistics, got {type(statistics).__name__}.")
        schema = schema_of_statistics(statistics.schema, self.chosen_families())
        accumulator = Accumulator.of(statistics.with_schema(schema))
        learnt = Learnt(accumulator)
        self._solution(learnt)
        self.n_features_in_ = len(schema)
        if schema.named and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._learnt = learnt
        return self

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        *,
        afresh: bool,
        check: Callable[[NDArray[Any]], None] | None = None,
    ) -> None:
        """Add rows, once `check` has seen their distinct labels."""
        table = self._read(X, reset=afresh)
        rows = LabelledRows(table, self._labels(y), sample_weight)
        if check is not None:
            check(rows.labels)
        if afresh:
            learnt = Learnt(Accumulator.empty(rows.schema(self.chosen_families())), table.container)
        else:
            learnt = self._learnt
            schema = rows.decided(learnt.accumulator.schema)
            if schema is not learnt.accumulator.schema:
                learnt = Learnt(Accumulator.of(self.statistics_), learnt.container)
                learnt.accumulator.decide(schema)
        rows.add_to(learnt.accumulator)
        learnt.solution = learnt.searched = None
        self._learnt = learnt

    def _check_priors(self, labels: NDArray[Any]) -> None:
        """Refuse priors that do not fit the classes."""
        class_priors(self.priors, labels, np.ones(len(labels)))

    def __copy__(self) -> Self:
        """A model that learns on its own."""
        model = type(self).__new__(type(self))
        model.__dict__ = dict(self.__dict__)
        if self._is_fitted():
            model.__dict__["_learnt"] = replace(self._learnt, accumulator=Accumulator.of(self.statistics_))
        return model

    def _atomically(self, change: Any) -> Self:
        """Run a change; where it fails, the model is as it was."""
        with self._lock():
            before = dict(self.__dict__)
            try:
                change()
            except BaseException:
                self.__dict__ = before
                raise
        return self

    def _lock(self) -> RLock:
        """What learning and solving in several threads take turns with; scoring needs no turn."""
        with _NEW_LOCK:
            return _LOCKS.setdefault(self, RLock())

    def _replace(self, mine: Statistics, theirs: Statistics, sign: int, deed: str) -> Self:
        """Combine statistics, refuse what no data could give, and only then change the model."""
        accumulator = Accumulator.of(mine)
        accumulator.add(theirs, sign)
        problem = accumulator.problem()
        if problem is not None:
            raise ValueError(f"cannot {deed}: {problem}.")
        self._learnt = Learnt(accumulator, self._learnt.container)
        return self

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
        solution = self.solve()
        best = [
            np.argmax(solution.scores(part, base=False).comparable(), axis=1)
            for part in self._read(X, reset=False).row_parts(len(solution.classes))
        ]
        return np.asarray(solution.classes[np.concatenate(best)])

    def predict_proba(self, X: Any) -> Array:
        """Posteriors p(C_k | x)."""
        return softmax_in_place(self._scores(X, base=False).comparable())

    def predict_log_proba(self, X: Any) -> Array:
        """Log posteriors."""
        return log_softmax_in_place(self._scores(X, base=False).comparable())

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Joint scores a_k(x) = log p(x | C_k) + log p(C_k), nothing dropped."""
        return self._scores(X, base=True).joint()

    def decision_function(self, X: Any) -> Array:
        """Log odds of the second class for two classes (1-D), joint scores otherwise."""
        if len(self.solve().classes) == 2:
            scores = self._scores(X, base=False).comparable()
            return scores[:, 1] - scores[:, 0]
        return self._scores(X, base=True).comparable()

    def score_samples(self, X: Any) -> Array:
        """Log p(x), all classes together."""
        self.solve().require_density("score_samples")
        return log_sum(self._scores(X, base=True).joint())

    def explain(self, X: Any) -> Explanation:
        """Contributions of every cell to every class's joint score."""
        solution = self.solve()
        table = self._read(X, reset=False)
        scores = solution.scores(table, base=True)
        return Explanation(
            contributions=solution.contributions(table),
            prior=solution.offset,
            total=scores.joint(),
            posterior=softmax(scores.comparable()),
            columns=solution.schema.names,
            classes=solution.classes,
            values=tuple(table.values(j) for j in range(table.n_columns)),
            container=table.container,
        )

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw rows (X, y) from the model, X in the container it was fitted on."""
        solution = self.solve()
        solution.require_density("sample")
        if n_samples != int(n_samples) or n_samples < 0:
            raise ValueError(f"n_samples must be a whole number ≥ 0, got {n_samples!r}.")
        rng = generator_of(random_state)
        codes = rng.choice(len(solution.classes), size=n_samples, p=solution.priors / solution.priors.sum())
        columns = solution.sample(codes, rng)
        container = self._learnt.container
        rows = np.column_stack(columns) if container is None else container.build(columns)
        return rows, solution.classes[codes]

    def with_priors(self, priors: Priors) -> Self:
        """A new model with other priors; nothing is refitted."""
        check_is_fitted(self)
        model = copy(self).merge(self.statistics_.zero())
        model.set_params(priors=priors)
        model.solve()
        return model

    def _scores(self, X: Any, *, base: bool) -> Scores:
        solution = self.solve()
        return solution.scores(self._read(X, reset=False), base=base)

    def _scoring(self, gaps: Gaps) -> Scoring:
        solution = self.solve()
        schema, container = solution.schema, self._learnt.container
        kinds = (None,) * len(schema) if container is None else container.kinds()
        return Scoring(schema.names, schema.named, kinds, solution.classes, solution.expression(gaps))

    # --- what was learnt -------------------------------------------------------------------------

    def _is_fitted(self) -> bool:
        return hasattr(self, "_learnt")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def solve(self) -> Solution:
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

    def _solution(self, learnt: Learnt) -> Solution:
        """From sums to parameters."""
        return Solution.of(learnt.accumulator, self.priors, learnt.searched)

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in order."""
        return self.solve().classes

    @property
    def priors_(self) -> Array:
        """π_k in the order of `classes_`."""
        return self.solve().priors

    @property
    def statistics_(self) -> Statistics:
        """A copy of the sums."""
        check_is_fitted(self)
        with self._lock():
            return self._learnt.accumulator.statistics()

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

    # --- files -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the model is, as a file holds it: settings, statistics, and what searches found."""
        solution, container = self.solve(), self._learnt.container
        self._check_priors(solution.classes)
        settings: dict[str, Any] = {
            name: value.state() if isinstance(value, Schema) else Setting(value)
            for name, value in self.get_params(deep=False).items()
        }
        return {
            "settings": settings,
            "n_features_in": hasattr(self, "n_features_in_"),
            "feature_names_in": hasattr(self, "feature_names_in_"),
            "container": [] if container is None else [state_of_container(container)],
            "statistics": self.statistics_.state(),
            "found": [factor.found() for factor in solution.factors],
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """The model from its state."""
        model = cls(**_settings(cls, fields.branch("settings")))
        statistics = Statistics.from_fields(fields.branch("statistics"))
        schema, accumulator = statistics.schema, Accumulator.of(statistics)
        container = fields.branches("container")
        model._learnt = Learnt(
            accumulator, container_from_fields(container[0], len(schema)) if container else None
        )
        if fields.flag("n_features_in"):
            model.n_features_in_ = len(schema)
        if fields.flag("feature_names_in"):
            if not (schema.named and all(isinstance(name, str) for name in schema.names)):
                raise fields.error("feature_names_in", "is true, but the columns have no names.")
            model.feature_names_in_ = np.array(schema.names, dtype=object)
        try:
            with np.errstate(all="ignore"):  # sums of a damaged file may overflow
                model._check_loaded(fields)
        except SufficeFileError:
            raise
        except (TypeError, ValueError, ArithmeticError) as error:
            raise SufficeFileError(f"the file holds no {cls.__name__}: {error}") from error
        return model

    def _check_loaded(self, fields: Fields) -> None:
        """Refuse settings and sums that no fitted model has; searches are not run again."""
        self.chosen_families()
        present = self._learnt.accumulator.solvable()
        self._check_priors(present.classes)
        found = fields.branches("found", len(present.schema.factors))
        self._learnt.searched = searched_again(present, found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _settings(cls: type[BayesClassifier], fields: Fields) -> dict[str, Any]:
    """The constructor's arguments; a schema given as `families` is a branch of its own."""
    names = cls._get_param_names()
    fields.require(names)
    return {
        name: Schema.from_fields(fields.branch(name)) if fields.is_branch(name) else fields.setting(name)
        for name in names
    }


def generator_of(random_state: Any) -> np.random.Generator:
    """A generator from what scikit-learn calls a random state, or the generator that was passed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
