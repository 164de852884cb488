"""The columns that predict best, found one by one by cross-validation from rows that are summed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice.arrays import Array, Codes
from suffice.evaluation.cross_validation import scores_on
from suffice.evaluation.scorers import Scorer, Scorers
from suffice.kernels.choose import one_choice
from suffice.links import softmax
from suffice.model.folds.column_scores import Columns, ColumnScores, Direction
from suffice.model.folds.held_out import LabelledData, fitted_grid
from suffice.progress import Progress
from suffice.tables.estimator_input import read_features, read_more_features
from suffice.tables.parts import take_columns
from suffice.tables.table import Table, take_rows
from suffice.tables.targets import labelled

DIRECTIONS = ("forward", "backward")
Method = TypeVar("Method", bound=Callable[..., Any])


def _if_the_model_has(name: str) -> Callable[[Method], Method]:
    """A method that the selector has if its model does."""
    return cast(
        "Callable[[Method], Method]",
        available_if(lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), name)),
    )


class OnePassSelector(MetaEstimatorMixin, ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Select columns step by step, by the cross-validated score of the model that has only them.

    Each step adds the column that improves the score most, or leaves out the one whose loss harms it least.
    The models of this package add up each row once and score each test row once by every column: where
    columns are independent given the class, a step only adds up scores, and a joint Gaussian is solved from
    the sums of its columns. Other classifiers are fitted to each split for every step.

    `best_score_` has chosen among many sets of columns, so it is too good. To measure the whole procedure on
    rows that it has not seen, cross-validate the selector itself: `cross_val_scores(selector, X, y)`.

    Parameters
    ----------
    estimator : classifier
        The model; it stays as it is.
    direction : {"forward", "backward"}, default="forward"
        Whether to start with no column and add some, or with all and leave some out.
    n_features_to_select : "auto" or int, default="auto"
        How many columns to select; "auto" stops when the score improves no more.
    tol : float, default=0
        With "auto", a column is added if the score improves by more than `tol`, and left out if the score
        falls by no more than `tol`.
    cv : int, splitter or iterable of (training rows, test rows), default=10
        The number of folds, stratified by class, or any splits as in scikit-learn.
    scoring : str or callable, default="neg_log_loss"
        The name of a scikit-learn scorer, or a callable `scorer(model, X, y)`, for which every model is
        fitted.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_columns,)
        Which columns are selected.
    n_features_ : int
        How many they are.
    history_ : dict of ndarray
        A row for each step: the `column` that was added or left out (None for all columns at the start), how
        many columns there were then (`n_features`), and the `mean_test_score`, `std_test_score` and scores of
        the splits (`split0_test_score`, …). It makes a frame: `pandas.DataFrame(selector.history_)`.
    best_estimator_ : classifier
        The model of the selected columns, fitted to all rows.
    best_score_ : float
        The mean score of the selected columns.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns that could be selected.

    See Also
    --------
    OnePassSearchCV : The best of many settings.

    Examples
    --------
    >>> import suffice
    >>> X, species = suffice.load_penguins()
    >>> selector = suffice.OnePassSelector(suffice.BayesClassifier(), cv=5).fit(X, species)
    >>> selector.get_feature_names_out().tolist()
    ['island', 'bill_length_mm', 'bill_depth_mm', 'flipper_length_mm']
    """

    support_: NDArray[np.bool_]
    best_estimator_: Any
    _names: tuple[Hashable, ...] | None

    def __init__(
        self,
        estimator: Any,
        *,
        direction: Direction = "forward",
        n_features_to_select: int | Literal["auto"] = "auto",
        tol: float = 0.0,
        cv: Any = 10,
        scoring: str | Scorer = "neg_log_loss",
    ) -> None:
        self.estimator = estimator
        self.direction = direction
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.cv = cv
        self.scoring = scoring

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Select columns, and fit the model of them to all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, in any container that the model takes.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows, in fitting and in scoring.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for splitters that keep groups together.

        Returns
        -------
        self : object
            The selector, which predicts as its best model does.
        """
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction must be one of {DIRECTIONS}, got {self.direction!r}.")
        if not (isinstance(self.tol, Real) and np.isfinite(self.tol)):
            raise ValueError(f"tol must be a finite number, got {self.tol!r}.")
        if not (isinstance(self.scoring, str) or callable(self.scoring)):
            raise TypeError(f"a selector takes one scorer, such as 'neg_log_loss', got {self.scoring!r}.")
        X, y = labelled(X, y)
        data = LabelledData.of(self.estimator, X, y, sample_weight)
        if len(data.classes) < 2:
            raise ValueError(
                "selection compares how well columns tell classes apart, but y has only one class."
            )
        table = read_features(self, X)
        scorers = Scorers.of(self.scoring, data.classes, weighted=data.weight is not None)
        splits = data.splits(self.cv, groups)
        with Progress("selection") as progress, one_choice(data.n_cells):
            steps = self._steps(data, scorers, table, splits)
            selected = self._select(steps, table, progress)
        self._names = table.names if table.named else None
        self.support_ = np.isin(np.arange(table.n_columns), sorted(selected))
        weight = {} if data.weight is None else {"sample_weight": data.weight}
        model = _on_columns(self.estimator, sorted(selected), table)
        self.best_estimator_ = model.fit(take_columns(X, sorted(selected)), y, **weight)
        self.n_features_ = len(selected)
        self.best_score_ = float(self.history_["mean_test_score"][-1])
        return self

    def _steps(
        self, data: LabelledData, scorers: Scorers, table: Table, splits: list[tuple[Codes, Codes]]
    ) -> _FromSums | _Refits:
        """The scores of sets of columns: from sums, unless the model or the scorer needs the rows."""
        if isinstance(self.scoring, str) and hasattr(self.estimator, "_column_scores"):
            folds = self.estimator._column_scores(data.X, data.labels, splits, data.weight)
            if folds is not None:
                return _FromSums(data, scorers, folds, [test for _, test in splits])
        return _Refits(data, scorers, self.estimator, table, splits)

    def _select(self, steps: _FromSums | _Refits, table: Table, progress: Progress) -> Columns:
        """The selected columns, after as many steps as improve the score or were asked for."""
        forward, free = self.direction == "forward", steps.columns
        wanted = self._wanted(len(free))
        selected = frozenset[int]() if forward else free
        history: list[tuple[Any, int, Array]] = [] if forward else [(None, len(free), steps.of(free))]
        last = wanted or (len(free) if forward else 1)
        while len(selected) != last:
            progress.say(f"{len(selected)} of {len(free)} columns")
            found = steps.after_steps(selected, self.direction)
            column = max(found, key=lambda j: found[j].mean())
            if np.isnan(found[column]).any():
                raise ValueError(
                    f"the score {self.scoring!r} of {table.label(column)} is not a number; choose another."
                )
            gain = found[column].mean() - history[-1][2].mean() if history else np.inf
            if wanted is None and (gain <= self.tol if forward else gain < -self.tol):
                break
            selected = selected | {column} if forward else selected - {column}
            history.append((table.names[column], len(selected), found[column]))
        scores = np.array([scores for _, _, scores in history])
        named = np.empty(len(history), dtype=object)
        named[:] = [name for name, _, _ in history]
        self.history_ = {
            "column": named,
            "n_features": np.array([n for _, n, _ in history]),
            "mean_test_score": scores.mean(axis=1),
            "std_test_score": scores.std(axis=1),
            **{f"split{split}_test_score": of_split for split, of_split in enumerate(scores.T)},
        }
        return selected

    def _wanted(self, most: int) -> int | None:
        """How many columns to select; None until the score improves no more."""
        wanted = self.n_features_to_select
        if wanted == "auto":
            return None
        if isinstance(wanted, (bool, str)) or wanted not in range(1, most + 1):
            raise ValueError(
                f"n_features_to_select must be 'auto' or a whole number from 1 to {most}, the number of "
                f"columns that have a family, got {wanted!r}."
            )
        return int(wanted)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are selected.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their positions instead of a mask.

        Returns
        -------
        support : ndarray
            A mask of shape (n_columns,), or the positions of the selected columns.
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_.copy()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the selected columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of all columns, for arrays, which have none; x0, x1, … otherwise.

        Returns
        -------
        names : ndarray of str
        """
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        return np.asarray(_check_feature_names_in(self, input_features)[self.support_])

    def transform(self, X: Any) -> Any:
        """Return the selected columns.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        selected : array or frame of shape (n_samples, n_selected)
            In the container of X.
        """
        return self._selected(X)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.classes_)

    @_if_the_model_has("predict")
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row by the selected columns.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, with all columns.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        selected = self._selected(X)
        return np.asarray(self.best_estimator_.predict(selected))

    @_if_the_model_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        """Posteriors of the classes by the selected columns.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, with all columns.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        selected = self._selected(X)
        return np.asarray(self.best_estimator_.predict_proba(selected))

    def _selected(self, X: Any) -> Any:
        """The selected columns, whatever container `set_output` asks for."""
        check_is_fitted(self)
        read_more_features(self, X, self._names)
        return take_columns(X, np.flatnonzero(self.support_).tolist())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


class _FromSums:
    """Scores of sets of columns by models of statistics: no row is read again."""

    def __init__(
        self, data: LabelledData, scorers: Scorers, folds: list[ColumnScores], tests: list[Codes]
    ) -> None:
        self._data, self._scorers = data, scorers
        self._folds = list(zip(folds, tests, strict=True))
        self.columns = folds[0].columns

    def of(self, selected: Columns) -> Array:
        """The score of each split by the selected columns."""
        return np.array([self._score(fold, fold.of(selected), test) for fold, test in self._folds])

    def after_steps(self, selected: Columns, direction: Direction) -> dict[int, Array]:
        """The score of each split after each step that may be taken, by the column of the step."""
        found: dict[int, list[float]] = {}
        for fold, test in self._folds:
            for column, scores in fold.after_steps(selected, direction):
                found.setdefault(column, []).append(self._score(fold, scores, test))
        return {column: np.array(found[column]) for column in sorted(found)}

    def _score(self, fold: ColumnScores, scores: Array, test: Codes) -> float:
        return float(scores_on(test, None, _Answered(fold.classes, scores), self._data, self._scorers))


class _Refits:
    """Scores of sets of columns by models that are fitted to the columns."""

    def __init__(
        self, data: LabelledData, scorers: Scorers, model: Any, table: Table, splits: list[Any]
    ) -> None:
        self._data, self._scorers, self._model, self._table = data, scorers, model, table
        self._splits = splits
        self.columns = frozenset(range(table.n_columns))

    def of(self, selected: Columns) -> Array:
        """The score of each split by the selected columns."""
        columns = sorted(selected)
        data = replace(self._data, X=take_columns(self._data.X, columns))
        model = _on_columns(self._model, columns, self._table)
        found = fitted_grid(model, data, self._splits, [{}], refit_schema=False)
        return np.array(
            [
                scores_on(test, take_rows(data.X, test), fitted, data, self._scorers)
                for (_, _, fitted), (_, test) in zip(found, self._splits, strict=True)
            ]
        )

    def after_steps(self, selected: Columns, direction: Direction) -> dict[int, Array]:
        """The score of each split after each step that may be taken, by the column of the step."""
        steps = self.columns - selected if direction == "forward" else selected
        return {column: self.of(selected ^ {column}) for column in sorted(steps)}


class _Answered(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model that has already answered: scorers ask it about the rows whose scores it holds."""

    def __init__(self, classes: NDArray[Any], scores: Array) -> None:
        self.classes_ = classes
        self.scores = scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the highest score."""
        return np.asarray(self.classes_[np.argmax(self.scores, axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """The posteriors."""
        return softmax(self.scores)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _on_columns(model: Any, columns: list[int], table: Table) -> Any:
    """An unfitted model for a table of some of the columns."""
    if hasattr(model, "_on_columns"):
        return model._on_columns(columns, table.names, named=table.named)
    return clone(model)
