"""The base of the generative estimators with scikit-learn's names: validation and declared classes."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.multiclass import unique_labels

from suffice.arrays import Array
from suffice.estimators.bayes import BayesClassifier
from suffice.estimators.generative import FittedState
from suffice.estimators.settings import with_kept_settings
from suffice.export.expressions import (
    Cell,
    Expression,
    Gaps,
    Score,
    Where,
    all_of,
    as_expression,
    total,
    with_cells,
)
from suffice.export.scoring import Scoring
from suffice.factors.base import SolvedFactor, Totals
from suffice.factors.left_out import LeftOut
from suffice.model.folds.leave_one_out import EachRow
from suffice.model.priors import Priors, class_priors
from suffice.model.solved.solution import SolvedModel
from suffice.model.statistics import Statistics
from suffice.storage import Fields
from suffice.storage.labels import labels_from_fields, state_of_labels
from suffice.tables.files.batches import Labelled
from suffice.tables.table import Table
from suffice.tables.targets import labelled, require_one_kind


class DropIn(BayesClassifier):
    """A BayesClassifier of one family whose settings, checks and parameters are scikit-learn's."""

    _prior_setting: ClassVar[str] = "priors"
    """The constructor's argument that holds the class priors."""
    _solves_columns_apart: ClassVar[bool] = False
    _takes_sparse: ClassVar[bool] = False
    _joins_labels: ClassVar[bool] = True
    """Whether text in objects becomes strings of one width, as scikit-learn's `unique_labels` makes it."""
    _declared: Any = None
    """Classes that are known whether or not they have rows, or None."""
    _closed: bool = False
    """Whether the declared classes are the only ones."""

    def _marks(self) -> None:
        """Text is never read as numbers, as in scikit-learn."""

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows X with labels y.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The training rows; missing values are allowed.
        y : array-like of shape (n_samples,) or str
            The class labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = labelled(X, y)

        def learn() -> None:
            self._validate_params()
            self._closed = False
            self._declared = None if sample_weight is None else self._labels_without_weight(y, sample_weight)
            self._learn(X, y, sample_weight, afresh=True)
            self._check_fit()

        return self._atomically(learn)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to those already fitted; the result equals one fit on all of them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The new rows; missing values are allowed.
        y : array-like of shape (n_samples,) or str
            The class labels, or the name of the column of X that holds them.
        classes : array-like of shape (n_classes,), default=None
            All labels that may ever occur in y. Unlike in scikit-learn it is optional: without it, any batch
            may bring new classes.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """

        def learn() -> None:
            self._validate_params()
            self._require_sums("add rows")
            if classes is not None:
                self._declare(unique_labels(classes))
            afresh = not self._is_fitted()
            if self._closed and not afresh:  # rows are added in place: refuse before, not after
                self._check_fit()
            self._learn(X, y, sample_weight, afresh=afresh, check=self._check_declared)
            if self._closed and afresh:
                self._check_fit()

        return self._atomically(learn)

    def _declare(self, classes: NDArray[Any]) -> None:
        if self._is_fitted() and not (self._closed and np.array_equal(self._declared, classes)):
            known = self._declared if self._closed else self.classes_
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}."
            )
        self._declared, self._closed = classes, True

    def _check_declared(self, labels: NDArray[Any]) -> None:
        """Refuse labels that were not among the declared classes."""
        if self._closed:
            require_one_kind(self._declared, labels)
            unknown = labels[~np.isin(labels, self._declared)]
            if len(unknown):
                raise ValueError(
                    f"The target label(s) {unknown} in y do not exist in the initial classes "
                    f"{self._declared}."
                )

    def _require_sums(self, deed: str, rows: str = "all rows") -> None:
        """Refuse what sums alone allow, if a setting needs the rows as well."""

    def _learn_files(self, files: Labelled) -> None:
        self._require_sums("fit from files")
        super()._learn_files(files)

    def _replace(self, mine: Statistics, theirs: Statistics, sign: int, deed: str) -> None:
        if sign < 0:
            self._require_sums("forget rows", "the rows that are left")
        self._require_sums("add rows")
        super()._replace(mine, theirs, sign, deed)

    def _labels_without_weight(self, y: Any, sample_weight: ArrayLike) -> NDArray[Any] | None:
        """All labels, if some rows have weight zero: their labels count as classes too."""
        with suppress(TypeError, ValueError):  # bad weights are refused where rows are read
            if not np.all(np.asarray(sample_weight, dtype=np.float64) > 0):
                return np.unique(self._labels(y))
        return None

    def _check_fit(self) -> None:
        """Refuse settings that do not match the data, at fit."""
        if getattr(self, self._prior_setting) is not None:
            self._class_priors(self._learnt.accumulator.solvable(self._declared))

    def _other_priors(self, priors: Priors) -> tuple[dict[str, Any], SolvedModel | None]:
        # Solved again: some of scikit-learn's solvers weight the classes by their priors.
        solution = self._solved_model()
        return {self._prior_setting: class_priors(priors, solution.classes, solution.weight)}, None

    def _read(self, X: Any, *, reset: bool) -> Table:
        if sparse.issparse(X) and not self._takes_sparse:
            raise TypeError(
                f"Sparse data was passed, but {type(self).__name__} requires dense data; use X.toarray()."
            )
        return super()._read(X, reset=reset)

    def _labels(self, y: Any) -> NDArray[Any]:
        labels = super()._labels(np.asarray(y) if isinstance(y, (list, tuple)) else y)
        return labels.astype(np.str_) if self._joins_labels and labels.dtype == object else labels

    def _coded_labels(self, y: Any) -> NDArray[Any]:
        return self._labels(y)

    def _to_fields(self) -> dict[str, Any]:
        """All that the model is, as a file holds it: declared classes too."""
        declared = [] if self._declared is None else [state_of_labels(self._declared)]
        return {**super()._to_fields(), "declared": declared, "closed": self._closed}

    def _check_priors(self, labels: NDArray[Any]) -> None:
        """Priors are checked where the parameters are solved."""

    def _check_loaded(self, fields: Fields) -> None:
        self._validate_params()
        self._closed = fields.flag("closed")
        for labels in fields.branches("declared"):
            self._declared = labels_from_fields(labels)
        self._learnt.solution = self._solution(self._learnt, fields.branches("found", 1)[0])

    @with_kept_settings
    def _solution(self, learnt: FittedState, saved_search: Fields | None = None) -> SolvedModel:
        statistics = learnt.accumulator.solvable(self._declared)
        totals, labels = statistics.totals[0], statistics.schema.factor_labels[0]
        factor = self._solved(totals, labels, statistics, saved_search)
        priors = np.array(self._class_priors(statistics))  # a copy: the user may change theirs
        estimated = getattr(self, self._prior_setting) is None
        return SolvedModel(statistics, [factor], priors, estimated=estimated)

    def _leave_out(self, rows: EachRow) -> LeftOut | None:
        if self._declared is not None and not np.array_equal(self._declared, rows.statistics.classes):
            return None
        found = self._scores_without_each(rows.statistics.totals[0], rows)
        if found is None:
            return None
        given = None
        if getattr(self, self._prior_setting) is not None or not getattr(self, "fit_prior", True):
            given = self._class_priors(rows.statistics)
        return LeftOut(found.scores + rows.log_priors(given), found.exact & rows.class_stays)

    def _scores_without_each(self, totals: Totals, rows: EachRow) -> LeftOut | None:
        """The scores of every row, without priors, by the model of all others; None if only refits know."""
        return None

    @abstractmethod
    def _solved(
        self, totals: Totals, labels: list[str], statistics: Statistics, saved_search: Fields | None = None
    ) -> SolvedFactor:
        """The parameters of the only factor; `saved_search` is the end of a search, read from a file."""

    @abstractmethod
    def _class_priors(self, statistics: Statistics) -> Array:
        """π_k, checked as scikit-learn checks them."""

    @property
    def decision_function(self) -> Any:
        """Absent, as in scikit-learn: meta-estimators check for it."""
        raise AttributeError(
            f"{type(self).__name__} has no decision_function, as in scikit-learn; "
            "use predict_joint_log_proba."
        )

    def _scoring(self, gaps: Gaps) -> Scoring:
        # A query cannot raise an error for one row: a row that would raise one has no result instead.
        solution = copy(self._solved_model())
        factor = copy(self._factor())
        factor.family = replace(factor.family, unseen="ignore")
        solution.factors = [factor]
        scoring = solution.scoring(self._learnt.container, gaps)
        finite, order = scoring.score.finite, scoring.score.order
        finite = with_cells(finite, self._read_cell)
        order = None if order is None else with_cells(order, self._read_cell)
        accepted = self._accepted()
        if accepted:
            whole, nothing = all_of(accepted), as_expression(0.0)
            finite = total([finite, Where(whole, nothing, as_expression(np.nan))])
            order = None if order is None else Where(whole, order, nothing)
        return replace(scoring, score=Score(finite, order))

    def _read_cell(self, cell: Cell) -> Expression:
        """A cell as the model reads it."""
        return cell

    def _accepted(self) -> list[Expression]:
        """The conditions, on the columns, for rows that do not raise an error."""
        return []

    def _factor(self) -> Any:
        return self._solved_model().factors[0]

    def _rounded(self, values: Array) -> Array:
        """Parameters as float32 if the first rows were float32, where scikit-learn's are."""
        container = self._learnt.container
        return values if container is None else container.rounded(values)

    @property
    def class_count_(self) -> Array:
        """The total sample weight of each class."""
        return self._solved_model().weight

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        tags.input_tags.categorical = False
        return tags
