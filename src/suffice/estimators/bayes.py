"""BayesClassifier: a product of exponential families over any table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.engines.sources import is_lazy
from suffice.estimators.from_sources import FittedFromSources
from suffice.estimators.generative import FittedState, forgetting
from suffice.estimators.settings import NestedFamily, keep, with_kept_settings
from suffice.factors.left_out import LeftOut
from suffice.model.class_weights import ClassWeight, reweighted
from suffice.model.columns.chosen_families import (
    AllFamilies,
    Families,
    OnlyColumns,
    Smoothed,
    families_of_columns,
)
from suffice.model.columns.presence import Missing, presence_of_columns
from suffice.model.columns.schema import Schema
from suffice.model.folds.leave_one_out import EachRow
from suffice.model.folds.training_sums import TrainingSums
from suffice.model.folds.worse_than_shares import is_checked, worse_than_shares
from suffice.model.inference.infer import schema_of_statistics
from suffice.model.priors import Priors, PriorShift
from suffice.model.solved.solution import Posterior, SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.notations import Marks, checked_marks
from suffice.tables.targets import labelled

Check = Callable[[NDArray[Any]], None]
"""Refuses labels."""


class BayesClassifier(NestedFamily, FittedFromSources):
    """A generative classifier: p(x | C_k) is a product of families, one per column.

    It takes a table as it is: numbers, counts, flags, categories, dates and text, with missing cells. Fitting
    adds up sufficient statistics, so rows can come in any batches, models can be merged, and rows forgotten.

    Parameters
    ----------
    families : "infer", Family, dict or Schema, default="infer"
        The family of each column. A dict maps columns (names, positions or tuples of them) to families and
        leaves the other columns to inference; None as a value leaves a column out. A single family is used
        for all columns. A Schema, such as `schema_` of another model, fixes what all columns are.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies (None), equal ones, or the given ones (in the order of `classes_`,
        or by label).
    posterior : {"plug-in", "predictive"}, default="plug-in"
        Whether rows are scored with the estimated parameters, or averaged over what the parameters may be
        given the training rows. For small samples, "predictive" gives posteriors that are less sure.
    alpha : float, optional
        The smoothing of every inferred family, in pseudo-observations; None keeps the default of each family.
        Families that the user chose, here or for a schema or statistics that are passed, keep their own.
    class_weight : None, "balanced" or dict, default=None
        How many rows each row counts as, by class; 1 for classes that a dict does not name. "balanced" lets
        all classes weigh the same. It acts when solving: on the priors, and on what classes share.
    columns : None, list of names or positions, or mask, default=None
        The columns to use; all others are left out. None uses all.
    missing_marks : list of str, optional
        The texts that stand for a missing cell in columns of text. By default ?, -, NA, N/A, NaN, None, null
        and the empty text do in columns that are read as numbers or dates, and ? and the empty text in
        columns of categories.
    evidence_weight : float, optional
        w in log π_k + w·log p(x | C_k), which posteriors compare. By default 1, the product of the families;
        where families are inferred from at least 25 rows, what held-out rows say, if they clearly do.
    missing : {"ignore", "evidence"} or list of columns, default="ignore"
        Whether a missing cell says nothing, or is scored by log p(missing | C_k), and any other cell also by
        log p(there | C_k): in all columns, or in these. Columns without a family stay ignored.
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
    feature_importances_ : ndarray of shape (n_features,)
        What each column by itself added to rows held out when families were inferred, in nats a row. For
        other rows, see `importances`.
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

    columns: Iterable[Hashable] | None = None
    missing_marks: Iterable[str] | None = None

    def __init__(
        self,
        families: AllFamilies = "infer",
        priors: Priors = None,
        *,
        posterior: Posterior = "plug-in",
        alpha: float | None = None,
        class_weight: ClassWeight = None,
        columns: Iterable[Hashable] | None = None,
        missing_marks: Iterable[str] | None = None,
        evidence_weight: float | None = None,
        missing: Missing = "ignore",
        bound: float | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.posterior = posterior
        self.alpha = alpha
        self.class_weight = class_weight
        self.columns = columns
        self.missing_marks = missing_marks
        self.evidence_weight = evidence_weight
        self.missing = missing
        self.bound = bound

    @with_kept_settings
    def _chosen_families(self) -> Families:
        """The setting that decides the family of each column."""
        families = self._of_columns(self.families)
        return families if self.alpha is None else Smoothed(families, self.alpha)

    def _smoothed(self, schema: Schema) -> Schema:
        """The schema with the alpha of inferred families."""
        families = self._chosen_families()
        return families.on(schema) if isinstance(families, Smoothed) else schema

    def _of_columns(self, families: AllFamilies) -> AllFamilies | OnlyColumns:
        return families if self.columns is None else OnlyColumns.of(self.columns, families)

    def _on_columns(self, columns: Sequence[int], names: Sequence[Hashable], *, named: bool) -> Self:
        model = super()._on_columns(columns, names, named=named)
        if "families" in model.get_params(deep=False):
            model.families = families_of_columns(model.families, columns, names, named=named)
        model.columns = None  # those that are selected are among them
        model.missing = presence_of_columns(model.missing, columns, names, named=named)
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
        if is_lazy(X):
            return self._fit_lazy(X, y, sample_weight)
        learnt: list[LabelledRows | None] = []
        self._atomically(
            lambda: learnt.append(self._learn(X, y, sample_weight, afresh=True, check=self._check_priors))
        )
        self._warn_if_worse_than_shares(learnt[0])
        return self

    @with_kept_settings
    def _warn_if_worse_than_shares(self, rows: LabelledRows | None) -> None:
        """Say so if the product of families that the user chose predicts worse than the class shares."""
        learnt = self._learnt.accumulator.schema.held_out is not None and self.evidence_weight is None
        if rows is None or learnt or not is_checked() or "families" not in self._kept:
            return
        table, shares = rows.kept_table, rows.shares()
        message = worse_than_shares(self._solved_model, table, rows.codes, rows.weights, shares)
        if message is not None:
            warnings.warn(message, UserWarning, stacklevel=4)

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
            rows = LabelledRows(self._read(X, reset=False), self._coded_labels(y), sample_weight)
            gone = rows.statistics(self._learnt.accumulator.schema)
        deed = forgetting(self.statistics_, gone)
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
    ) -> LabelledRows | None:
        """Add rows, or take over sums of rows, after `check` has seen their distinct labels."""
        self._keep_settings(afresh=afresh)
        if isinstance(X, TrainingSums):
            self._check_scoring(X.accumulator.schema.names)
            if check is not None:
                check(np.sort(X.accumulator.classes))
            self._learnt = FittedState(X.accumulator, X.container)
            return None
        X, y = labelled(X, y)
        table = self._read(X, reset=afresh)
        self._check_scoring(table.names)
        rows = LabelledRows(table, self._coded_labels(y), sample_weight)
        if check is not None:
            check(rows.labels)
        if afresh:
            schema = rows.schema(self._chosen_families(), self._marks())
            learnt = FittedState(Accumulator.empty(schema), table.container)
        else:
            learnt = self._learnt
            schema = self._smoothed(rows.decided(learnt.accumulator.schema, self._marks()))
            if schema is not learnt.accumulator.schema:
                learnt = FittedState(Accumulator.of(self.statistics_), learnt.container)
                learnt.accumulator.decide(schema)
        rows.add_to(learnt.accumulator)
        learnt.solution = learnt.saved_searches = learnt.shift = None
        self._learnt = learnt
        return rows

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
        accumulator.decide(self._smoothed(accumulator.schema))
        problem = accumulator.problem()
        if problem is not None:
            raise ValueError(f"cannot {deed}: {problem}.")
        self._learnt = FittedState(accumulator, self._learnt.container)

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
        if self.class_weight is not None or self.bound is not None:
            return None
        schema, own = rows.statistics.schema, self.evidence_weight
        weight = schema.evidence_weight if own is None else own
        scored = self._scored_presence(schema.names)
        return rows.joint(self.priors, weight, predictive=self.posterior == "predictive", presence=scored)

    @with_kept_settings
    def _solution(self, learnt: FittedState) -> SolvedModel:
        """Solve for the parameters."""
        self._check_scoring(learnt.accumulator.schema.names)
        statistics = reweighted(learnt.accumulator.solvable(), self.class_weight)
        solved = SolvedModel.of(statistics, self.priors, learnt.saved_searches)
        if self.evidence_weight is not None:
            solved = solved.weighing(self.evidence_weight)
        solved = solved if self.posterior == "plug-in" else solved.predictive()
        solved = solved if self.bound is None else solved.bounded(float(self.bound))
        return solved.with_presence(self._scored_presence(solved.schema.names))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags
