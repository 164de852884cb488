"""BayesClassifier: a product of exponential families over any table."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.estimators.generative import FittedState
from suffice.estimators.settings import keep, settings_from_fields, state_of_settings, with_kept_settings
from suffice.estimators.splits import FittedToSplits
from suffice.factors.bounded import check_bound
from suffice.factors.left_out import LeftOut
from suffice.model.chosen_families import AllFamilies, Families, OnlyColumns, families_of_columns
from suffice.model.folds import TrainingSums
from suffice.model.infer import schema_of_statistics
from suffice.model.leave_one_out import EachRow
from suffice.model.priors import Priors, PriorShift, class_priors, estimate_shift
from suffice.model.solution import SolvedModel, solve_from_searches
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.storage import Fields, SufficeFileError
from suffice.tables.container_words import container_from_fields, state_of_container
from suffice.tables.files.batches import LabelledBatch, LabelledFiles
from suffice.tables.notations import Marks, checked_marks
from suffice.tables.targets import labelled

Posterior = Literal["plug-in", "predictive"]
POSTERIORS: tuple[Posterior, ...] = get_args(Posterior)
Check = Callable[[NDArray[Any]], None]
"""Refuses labels."""


class BayesClassifier(FittedToSplits):
    """A generative classifier: p(x | C_k) is a product of families, one per column.

    It takes a table as it is: numbers, counts, flags, categories, dates and text, with missing cells. Fitting
    adds up sufficient statistics, so rows can come in any batches, models can be merged, and rows forgotten.

    Parameters
    ----------
    families : "infer", Family, dict or Schema, default="infer"
        The family of each column. A dict maps columns (names, positions or tuples of them) to families and
        leaves the other columns to inference; None as a value leaves a column out. A single family is used
        for all columns.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies (None), equal ones, or the given ones (in the order of `classes_`,
        or by label).
    posterior : {"plug-in", "predictive"}, default="plug-in"
        Whether rows are scored with the estimated parameters, or averaged over what the parameters may be
        given the training rows. For small samples, "predictive" gives posteriors that are less sure.
    columns : None, list of names or positions, or mask, default=None
        The columns to use; all others are left out. None uses all.
    missing_marks : list of str, optional
        The texts that stand for a missing cell in columns of text. By default ?, -, NA, N/A, NaN, None, null
        and the empty text do in columns that are read as numbers or dates, and ? and the empty text in
        columns of categories.
    bound : float, optional
        Bounds what one cell may say: each class's density is mixed with that of the whole column, as if
        the class had this many rows more (1.0 is one row). For values far out in the tails of a family.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    schema_ : Schema
        The family of each column and why it was chosen; prints as a table.
    statistics_ : Statistics
        The sums that the model is made of.
    parameters_ : dict
        The usual parameters (mean, variance, probability, …) by column.
    log_likelihood_, aic_, bic_ : float
        Fit to the training rows, computed from the statistics alone.
    n_parameters_ : int
        The number of free parameters.
    regularized_ : list of Regularized
        Parameters without a maximum likelihood estimate, and what was done instead.
    prior_shift_ : PriorShift
        How `adapt_priors` found the priors; only on the model that it returns.

    Examples
    --------
    >>> import numpy as np, suffice
    >>> X = np.array([[1.0, 5.0], [1.2, np.nan], [3.0, 9.0], [3.1, 8.0]])
    >>> model = suffice.BayesClassifier().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[1.1, np.nan], [np.nan, 8.5]])
    array(['a', 'b'], dtype=object)
    """

    posterior: Posterior = "plug-in"
    columns: Iterable[Hashable] | None = None
    missing_marks: Iterable[str] | None = None
    bound: float | None = None

    def __init__(
        self,
        families: AllFamilies = "infer",
        priors: Priors = None,
        *,
        posterior: Posterior = "plug-in",
        columns: Iterable[Hashable] | None = None,
        missing_marks: Iterable[str] | None = None,
        bound: float | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.posterior = posterior
        self.columns = columns
        self.missing_marks = missing_marks
        self.bound = bound

    @with_kept_settings
    def _chosen_families(self) -> Families:
        """The setting that decides the family of each column."""
        return self._of_columns(self.families)

    def _of_columns(self, families: AllFamilies) -> Families:
        return families if self.columns is None else OnlyColumns.of(self.columns, families)

    def _on_columns(self, columns: Sequence[int], names: Sequence[Hashable], *, named: bool) -> Self:
        model = super()._on_columns(columns, names, named=named)
        if "families" in model.get_params(deep=False):
            model.families = families_of_columns(model.families, columns, names, named=named)
        model.columns = None  # those that are selected are among them
        return model

    @with_kept_settings
    def _marks(self) -> Marks | None:
        """The texts that stand for a missing cell; None if text is never read as anything else."""
        return checked_marks(self.missing_marks)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array-like, frame, dict of columns or list of dicts, of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted model.
        """
        return self._atomically(
            lambda: self._learn(X, y, sample_weight, afresh=True, check=self._check_priors)
        )

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows. Any sequence of batches gives the same model as one `fit`.

        Parameters
        ----------
        X : array-like, frame, dict of columns or list of dicts, of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        classes : array-like, optional
            Ignored: new classes may appear in any batch.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The changed model.
        """
        return self._atomically(lambda: self._learn(X, y, sample_weight, afresh=not self._is_fitted()))

    def _learn_files(self, files: LabelledFiles) -> None:
        def learn(batches: Iterator[LabelledBatch]) -> None:
            for number, (X, y, weights) in enumerate(batches):
                self._learn(X, y, weights, afresh=number == 0)
            self._check_priors(np.unique(self._learnt.accumulator.classes))

        self._atomically(lambda: files.through(learn))

    def forget(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Remove rows, as if they had never been fitted.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), fitted model or Statistics
            The rows to remove, or a model or statistics of them.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it; leave it out for a model or
            statistics.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The changed model.
        """
        self._require_fitted()
        gone = getattr(X, "statistics_", X) if y is None else None
        if not isinstance(gone, Statistics):
            X, y = labelled(X, y)
            rows = LabelledRows(self._read(X, reset=False), self._labels(y), sample_weight)
            gone = rows.statistics(self._learnt.accumulator.schema)
        deed = "forget rows that were never fitted"
        return self._atomically(lambda: self._replace(self.statistics_, gone, -1, deed))

    def merge(self, other: BayesClassifier | Statistics) -> Self:
        """Add the rows of another model or of statistics to this model.

        Parameters
        ----------
        other : fitted model or Statistics
            What to add; its columns must have the same families.

        Returns
        -------
        self : object
            The changed model.
        """
        self._require_fitted()
        added = getattr(other, "statistics_", other)
        if not isinstance(added, Statistics):
            raise TypeError(f"merge takes a fitted model or Statistics, got {type(other).__name__}.")
        return self._atomically(lambda: self._replace(self.statistics_, added, 1, "merge"))

    def __add__(self, other: BayesClassifier) -> Self:
        if not isinstance(other, BayesClassifier):
            return NotImplemented
        return copy(self).merge(other)

    def fit_statistics(self, statistics: Statistics) -> Self:
        """Fit from statistics alone, without any rows.

        Parameters
        ----------
        statistics : Statistics
            The sums of the rows. `families` may change the settings that act when solving, such as `alpha`.

        Returns
        -------
        self : object
            The fitted model.
        """
        if not isinstance(statistics, Statistics):
            raise TypeError(f"fit_statistics takes Statistics, got {type(statistics).__name__}.")
        return self._atomically(lambda: self._learn_statistics(statistics, afresh=True))

    def _learn_statistics(self, statistics: Statistics, *, afresh: bool) -> None:
        """Take over statistics, solved with the settings."""
        self._keep_settings(afresh=afresh)
        schema = schema_of_statistics(statistics.schema, self._chosen_families())
        learnt = FittedState(Accumulator.of(statistics.with_schema(schema)))
        self._solution(learnt)
        self._note_columns(schema)
        self._learnt = learnt

    def _learn(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, *, afresh: bool, check: Check | None = None
    ) -> None:
        """Add rows, or take over sums of rows, after `check` has seen their distinct labels."""
        self._keep_settings(afresh=afresh)
        self._check_scores()
        if isinstance(X, TrainingSums):
            if check is not None:
                check(np.sort(X.accumulator.classes))
            self._learnt = FittedState(X.accumulator, X.container)
            return
        X, y = labelled(X, y)
        table = self._read(X, reset=afresh)
        rows = LabelledRows(table, self._labels(y), sample_weight)
        if check is not None:
            check(rows.labels)
        if afresh:
            schema = rows.schema(self._chosen_families(), self._marks())
            learnt = FittedState(Accumulator.empty(schema), table.container)
        else:
            learnt = self._learnt
            schema = rows.decided(learnt.accumulator.schema, self._marks())
            if schema is not learnt.accumulator.schema:
                learnt = FittedState(Accumulator.of(self.statistics_), learnt.container)
                learnt.accumulator.decide(schema)
        rows.add_to(learnt.accumulator)
        learnt.solution = learnt.saved_searches = learnt.shift = None
        self._learnt = learnt

    @with_kept_settings
    def _check_priors(self, labels: NDArray[Any]) -> None:
        """Refuse priors that do not match the classes."""
        class_priors(self.priors, labels, np.ones(len(labels)))

    @with_kept_settings
    def _check_scores(self) -> None:
        """Refuse an unknown kind of score, or a bound that is none."""
        if self.posterior not in POSTERIORS:
            raise ValueError(f"posterior must be one of {POSTERIORS}, got {self.posterior!r}.")
        check_bound(self.bound)

    def __copy__(self) -> Self:
        """A copy that can be changed without changing this model."""
        if not self._is_fitted():
            model = type(self).__new__(type(self))
            model.__dict__ = dict(self.__dict__)
            return model
        with self._lock():
            return self._knowing(replace(self._learnt, accumulator=Accumulator.of(self.statistics_)), {})

    def _knowing(self, learnt: FittedState, settings: dict[str, Any]) -> Self:
        """A model with other contents, and some settings changed."""
        model = type(self).__new__(type(self))
        model.__dict__ = self.__dict__ | {"_learnt": learnt} | settings
        model.__dict__["_kept"] = keep(model.get_params(deep=False), self._kept)
        return model

    def _replace(self, mine: Statistics, theirs: Statistics, sign: int, deed: str) -> None:
        """Combine statistics, and refuse sums that no data could produce."""
        self._keep_settings(afresh=False)
        accumulator = Accumulator.of(mine)
        accumulator.add(theirs, sign)
        problem = accumulator.problem()
        if problem is not None:
            raise ValueError(f"cannot {deed}: {problem}.")
        self._learnt = FittedState(accumulator, self._learnt.container)

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

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        model : object
            A new model of the same class; `prior_shift_` holds the priors and a test of the shift.
        """
        self._solved_model().require_density("adapt_priors")
        with self._lock():
            shift = estimate_shift(self.predict_log_proba(X), self._solved_model().priors, self.classes_)
            return self._under(shift.priors, shift)

    def _under(self, priors: Priors, shift: PriorShift | None) -> Self:
        with self._lock():
            settings, solution = self._other_priors(priors)
            sums, container = Accumulator.of(self.statistics_), self._learnt.container
            learnt = FittedState(sums, container, solution, shift=shift)
            model = self._knowing(learnt, settings)
        _ = model.classes_  # solved now, so that priors that cannot be are refused here
        return model

    def _other_priors(self, priors: Priors) -> tuple[dict[str, Any], SolvedModel | None]:
        """The settings of a model with other priors, and its parameters unless they must be solved again."""
        return {"priors": priors}, self._solved_model().with_priors(priors)

    def _leave_out(self, rows: EachRow) -> LeftOut | None:
        if self.bound is not None:
            return None
        return rows.joint(self.priors, predictive=self.posterior == "predictive")

    @with_kept_settings
    def _solution(self, learnt: FittedState) -> SolvedModel:
        """Solve for the parameters."""
        self._check_scores()
        solved = SolvedModel.of(learnt.accumulator, self.priors, learnt.saved_searches)
        solved = solved if self.posterior == "plug-in" else solved.predictive()
        return solved if self.bound is None else solved.bounded(float(self.bound))

    @with_kept_settings
    def _to_fields(self) -> dict[str, Any]:
        """Everything the model is, as a file holds it: settings, statistics, and the results of searches."""
        solution, container = self._solved_model(), self._learnt.container
        self._check_priors(solution.classes)
        shift = {} if self._learnt.shift is None else {"shift": self._learnt.shift._to_fields()}
        return {
            "settings": state_of_settings(self.get_params(deep=False)),
            "n_features_in": hasattr(self, "n_features_in_"),
            "feature_names_in": hasattr(self, "feature_names_in_"),
            "container": [] if container is None else [state_of_container(container)],
            "statistics": self.statistics_._to_fields(),
            "found": [factor.saved_search() for factor in solution.factors],
            **shift,
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        """Restore a model from a file."""
        model = cls(**settings_from_fields(cls._get_param_names(), fields.branch("settings")))
        statistics = Statistics._from_fields(fields.branch("statistics"))
        schema, accumulator = statistics.schema, Accumulator.of(statistics)
        container = fields.branches("container")
        model._learnt = FittedState(
            accumulator, container_from_fields(container[0], len(schema)) if container else None
        )
        model._keep_settings()
        if fields.flag("n_features_in"):
            model.n_features_in_ = len(schema)
        model._load_names(fields, schema.names if schema.named else None)
        try:
            with np.errstate(all="ignore"):  # sums of a damaged file may overflow
                model._check_loaded(fields)
                if "shift" in fields:
                    model._learnt.shift = PriorShift._from_fields(fields.branch("shift"), model.classes_)
        except SufficeFileError:
            raise
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            raise SufficeFileError(f"the file does not hold a valid {cls.__name__}: {error}") from error
        return model

    def _check_loaded(self, fields: Fields) -> None:
        """Refuse settings and sums that no fitted model has; searches are not repeated."""
        self._chosen_families()
        self._marks()
        self._check_scores()
        present = self._learnt.accumulator.solvable()
        self._check_priors(present.classes)
        found = fields.branches("found", len(present.schema.factors))
        self._learnt.saved_searches = solve_from_searches(present, found)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags
