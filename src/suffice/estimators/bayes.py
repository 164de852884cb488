"""BayesClassifier: a product of exponential families over any table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from suffice.arrays import Array
from suffice.estimators.base import FitsFiles
from suffice.estimators.learnt import FittedState
from suffice.estimators.naming import NamesItself
from suffice.estimators.reported import Reported
from suffice.export import Exportable, Scoring
from suffice.export.expressions import Gaps
from suffice.factors.scores import Scores
from suffice.links import log_odds_of_two, log_softmax_in_place, log_sum, softmax_in_place
from suffice.model.evidence import ColumnEvidence
from suffice.model.explanation import Explanation
from suffice.model.infer import Families, schema_of_statistics
from suffice.model.novelty import tail_probabilities
from suffice.model.priors import Priors, PriorShift, class_priors, estimate_shift
from suffice.model.sampling import draw_rows, in_container
from suffice.model.schema import settings_from_fields, state_of_settings
from suffice.model.solution import SolvedModel, solve_from_searches
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.storage import Fields, Saved, SufficeFileError
from suffice.tables.container import PLAIN
from suffice.tables.container_words import container_from_fields, state_of_container
from suffice.tables.estimator_input import read_features, read_more_features, read_targets
from suffice.tables.files import LabelledBatch, LabelledFiles
from suffice.tables.table import Table, read_table


class BayesClassifier(NamesItself, Reported, FitsFiles, Exportable, Saved, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
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
    array(['a', 'b'], dtype=object)
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

    def _learn_files(self, files: LabelledFiles) -> None:
        def learn(batches: Iterator[LabelledBatch]) -> None:
            for number, (X, y, weights) in enumerate(batches):
                self._learn(self._cells(X), y, weights, afresh=number == 0)
            self._check_priors(np.unique(self._learnt.accumulator.classes))

        self._atomically(lambda: files.through(learn))

    def forget(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Take rows away again (or the rows of a model or statistics), as if they had never been fitted."""
        check_is_fitted(self)
        gone = getattr(X, "statistics_", X) if y is None else None
        if not isinstance(gone, Statistics):
            rows = LabelledRows(self._read(X, reset=False), self._labels(y), sample_weight)
            gone = rows.statistics(self._learnt.accumulator.schema)
        with self._lock():
            return self._replace(self.statistics_, gone, -1, "forget rows that were never fitted")

    def merge(self, other: BayesClassifier | Statistics) -> Self:
        """Add another model's (or statistics') rows to this one."""
        check_is_fitted(self)
        added = getattr(other, "statistics_", other)
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
        learnt = FittedState(accumulator)
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
            learnt = FittedState(Accumulator.empty(rows.schema(self.chosen_families())), table.container)
        else:
            learnt = self._learnt
            schema = rows.decided(learnt.accumulator.schema)
            if schema is not learnt.accumulator.schema:
                learnt = FittedState(Accumulator.of(self.statistics_), learnt.container)
                learnt.accumulator.decide(schema)
        rows.add_to(learnt.accumulator)
        learnt.solution = learnt.saved_searches = learnt.shift = None
        self._learnt = learnt

    def _check_priors(self, labels: NDArray[Any]) -> None:
        """Refuse priors that do not fit the classes."""
        class_priors(self.priors, labels, np.ones(len(labels)))

    def __copy__(self) -> Self:
        """A model that learns on its own."""
        if not self._is_fitted():
            return self._knowing(None)
        with self._lock():
            return self._knowing(replace(self._learnt, accumulator=Accumulator.of(self.statistics_)))

    def _knowing(self, learnt: FittedState | None) -> Self:
        """A model of the same settings that has learnt this."""
        model = type(self).__new__(type(self))
        model.__dict__ = self.__dict__ | ({} if learnt is None else {"_learnt": learnt})
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

    def _replace(self, mine: Statistics, theirs: Statistics, sign: int, deed: str) -> Self:
        """Combine statistics, refuse what no data could give, and only then change the model."""
        accumulator = Accumulator.of(mine)
        accumulator.add(theirs, sign)
        problem = accumulator.problem()
        if problem is not None:
            raise ValueError(f"cannot {deed}: {problem}.")
        self._learnt = FittedState(accumulator, self._learnt.container)
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
        base = len(self.solve().classes) != 2
        return self._read_off(X, lambda scores: log_odds_of_two(scores.comparable()), base=base)

    def score_samples(self, X: Any) -> Array:
        """Log p(x), all classes together."""
        self.solve().require_density("score_samples")
        return self._read_off(X, lambda scores: log_sum(scores.joint()), base=True)

    def explain(self, X: Any) -> Explanation:
        """Contributions of every cell to every class's joint score."""
        return self.solve().explain(self._read(X, reset=False), base=True)

    def evidence(self) -> ColumnEvidence:
        """How far apart each column holds the classes: expected weight of evidence (KL) and Bhattacharyya."""
        return self.solve().evidence(self._learnt.container or PLAIN)

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
        solution = self.solve()
        codes, columns = draw_rows(solution, n_samples, random_state, labels, missing=missing)
        return self._contained(columns), solution.classes[codes]

    def _contained(self, columns: list[NDArray[Any]]) -> Any:
        container = self._learnt.container
        if container is None:
            return np.column_stack(columns)
        return in_container(columns, self.solve().schema, container)

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
        solution = self.solve()

        def draw(n_rows: int) -> Table:
            return read_table(self._contained(draw_rows(solution, n_rows, random_state)[1]))

        return tail_probabilities(solution, self._read(X, reset=False), draw)

    def with_priors(self, priors: Priors) -> Self:
        """A new model with other priors; nothing is refitted."""
        check_is_fitted(self)
        return self._under(priors, None)

    def adapt_priors(self, X: Any) -> Self:
        """A new model with the class priors of rows without labels, estimated by EM (see `prior_shift_`)."""
        self.solve().require_density("adapt_priors")
        with self._lock():
            shift = estimate_shift(self.predict_log_proba(X), self.priors_, self.classes_)
            return self._under(shift.priors, shift)

    def _under(self, priors: Priors, shift: PriorShift | None) -> Self:
        with self._lock():
            settings, solution = self._other_priors(priors)
            model = self._knowing(
                FittedState(Accumulator.of(self.statistics_), self._learnt.container, solution, shift=shift)
            )
        model.__dict__ |= settings
        model.solve()
        return model

    def _other_priors(self, priors: Priors) -> tuple[dict[str, Any], SolvedModel | None]:
        """The settings of a model with other priors, and its parameters unless they must be solved anew."""
        return {"priors": priors}, self.solve().with_priors(priors)

    def _read_off(self, X: Any, function: Callable[[Scores], NDArray[Any]], *, base: bool) -> NDArray[Any]:
        """What a function makes of the scores of each row."""
        return self.solve().read_off(self._read(X, reset=False), function, base=base)

    def _scoring(self, gaps: Gaps) -> Scoring:
        return self.solve().scoring(self._learnt.container, gaps)

    def _solution(self, learnt: FittedState) -> SolvedModel:
        """From sums to parameters."""
        return SolvedModel.of(learnt.accumulator, self.priors, learnt.saved_searches)

    # --- files -----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that the model is, as a file holds it: settings, statistics, and what searches found."""
        solution, container = self.solve(), self._learnt.container
        self._check_priors(solution.classes)
        shift = {} if self._learnt.shift is None else {"shift": self._learnt.shift.state()}
        return {
            "settings": state_of_settings(self.get_params(deep=False)),
            "n_features_in": hasattr(self, "n_features_in_"),
            "feature_names_in": hasattr(self, "feature_names_in_"),
            "container": [] if container is None else [state_of_container(container)],
            "statistics": self.statistics_.state(),
            "found": [factor.saved_search() for factor in solution.factors],
            **shift,
        }

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """The model from its state."""
        model = cls(**settings_from_fields(cls._get_param_names(), fields.branch("settings")))
        statistics = Statistics.from_fields(fields.branch("statistics"))
        schema, accumulator = statistics.schema, Accumulator.of(statistics)
        container = fields.branches("container")
        model._learnt = FittedState(
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
                if "shift" in fields:
                    model._learnt.shift = PriorShift.from_fields(fields.branch("shift"), model.classes_)
        except SufficeFileError:
            raise
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            raise SufficeFileError(f"the file holds no {cls.__name__}: {error}") from error
        return model

    def _check_loaded(self, fields: Fields) -> None:
        """Refuse settings and sums that no fitted model has; searches are not run again."""
        self.chosen_families()
        present = self._learnt.accumulator.solvable()
        self._check_priors(present.classes)
        found = fields.branches("found", len(present.schema.factors))
        self._learnt.saved_searches = solve_from_searches(present, found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
