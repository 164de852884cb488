"""Cross-validation: every row is answered by a model that has not seen it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from suffice.arrays import Array, Codes
from suffice.evaluation.left_out import (
    Answered,
    OneByOne,
    Split,
    leaves_one_out,
    row_of_each,
    with_known_answers,
)
from suffice.evaluation.scorers import Scorers, Scoring, posteriors_of
from suffice.kernels.choose import one_choice
from suffice.model.folds import read_splits
from suffice.model.leave_one_out import LeftOutPosteriors
from suffice.progress import Progress
from suffice.tables.table import take_rows
from suffice.tables.targets import checked_weights, read_labels

Answer = TypeVar("Answer")


def cross_val_scores(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    scoring: Scoring = "neg_log_loss",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    refit_schema: bool = False,
) -> Any:
    """Score a classifier on the test rows of each split, after fitting it to the training rows.

    The models of this package add up each row once, and are solved for every fold from the sums of the
    others. All other classifiers are cloned and fitted to each split.

    Parameters
    ----------
    model : classifier
        A classifier, fitted or not; it stays as it is.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in any container that the model takes.
    y : array-like of shape (n_samples,)
        The labels.
    cv : int, splitter or iterable of (training rows, test rows), default=10
        The number of folds, stratified by class, or any splits as in scikit-learn.
    scoring : str, callable, list or dict, default="neg_log_loss"
        The name of a scikit-learn scorer, or a callable `scorer(model, X, y)`; a list of names or a dict of
        scorers for several.
    groups : array-like of shape (n_samples,), optional
        The group of each row, for splitters that keep groups together.
    sample_weight : array-like of shape (n_samples,), optional
        A row of weight k counts as k rows, in fitting and in scoring.
    refit_schema : bool, default=False
        Whether the families of the columns are inferred from the training rows of each split, instead of
        from all rows. Then every split is fitted from its rows.

    Returns
    -------
    scores : ndarray of shape (n_splits,), or dict of them
        The score of each split; by name for several scorers.

    See Also
    --------
    evaluate : Every metric of the answers to unseen rows, with `cv=`.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[i % 7, i % 5] for i in range(60)], [i % 7 > 3 for i in range(60)]
    >>> suffice.cross_val_scores(suffice.BayesClassifier(), X, y, cv=3, scoring="accuracy")
    array([1., 1., 1.])
    """
    data = LabelledData.of(model, X, y, sample_weight)
    scorers = Scorers.of(scoring, data.classes, weighted=data.weight is not None)

    def scores_of(fold: HeldOut) -> Any:
        return data.scores(scorers, fold.model, fold.X, fold.rows)

    splits = data.splits(cv, groups)
    found = list(answers(scores_of, model, data, splits, refit_schema=refit_schema))
    if not isinstance(found[0], Mapping):
        return np.array(found)
    return {name: np.array([scores[name] for scores in found]) for name in found[0]}


def cross_val_predict_proba(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    refit_schema: bool = False,
) -> Array:
    """Compute the posteriors of every row by a model that was fitted without it.

    Parameters
    ----------
    model : classifier
        A classifier with `predict_proba`, fitted or not; it stays as it is.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in any container that the model takes.
    y : array-like of shape (n_samples,)
        The labels.
    cv : int, splitter or iterable of (training rows, test rows), default=10
        The number of folds, stratified by class, or splits that hold out each row once.
    groups, sample_weight, refit_schema
        As in `cross_val_scores`.

    Returns
    -------
    posteriors : ndarray of shape (n_samples, n_classes)
        One column for each label of y, sorted. A class without training rows has the posterior 0.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [0.5], [8.0], [9.0], [8.5]], ["a", "a", "a", "b", "b", "b"]
    >>> suffice.cross_val_predict_proba(suffice.BayesClassifier(), X, y, cv=3).round(3)[:, 1]
    array([0.001, 0.008, 0.003, 0.992, 0.999, 0.997])
    """
    data = LabelledData.of(model, X, y, sample_weight)
    posteriors = np.empty((len(data.labels), len(data.classes)))
    times = np.zeros(len(data.labels), dtype=np.intp)

    def fill(fold: HeldOut) -> None:
        posteriors[fold.rows] = posteriors_over(data.classes, fold.model, fold.X)
        np.add.at(times, fold.rows, 1)

    splits = data.splits(cv, groups)
    known = None
    if isinstance(splits, OneByOne) and sums_rows(model, refit_schema=refit_schema):
        known = data.without_each(model, [{}])[0]
    if known is not None:
        rows = np.flatnonzero(known.exact)
        posteriors[rows], times[rows] = _over(data.classes, known.classes, known.posteriors(rows)), 1
        splits = [splits[split] for split in np.flatnonzero(~known.exact).tolist()]
    deque(answers(fill, model, data, splits, refit_schema=refit_schema), maxlen=0)
    if (times != 1).any():
        row = int(np.argmax(times != 1))
        raise ValueError(
            f"these splits hold out row {row} {times[row]} times, so it has no single answer; use cv=10 or "
            "a splitter that holds out each row once. suffice.evaluate takes any splits."
        )
    return posteriors


@dataclass(frozen=True)
class LabelledData:
    """Rows with their labels and weights, checked."""

    X: Any
    labels: NDArray[Any]
    classes: NDArray[Any]
    weight: Array | None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> LabelledData:
        """Check the labels and weights, and that the model can be fitted."""
        if isinstance(model, type) or not hasattr(model, "fit") or is_regression(model):
            what = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
            raise TypeError(f"cross-validation takes a classifier first, got {what}.")
        labels = read_labels(y)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows != len(labels):
            raise ValueError(f"X has {n_rows} rows, but y has {len(labels)} labels.")
        weight = None if sample_weight is None else checked_weights(sample_weight, n_rows)
        return cls(X, labels, np.unique(labels), weight)

    @property
    def n_cells(self) -> int:
        """The number of cells, for choosing kernels once for all splits."""
        return int(np.prod(getattr(self.X, "shape", len(self.labels))))

    def splits(self, cv: Any, groups: ArrayLike | None) -> Sequence[tuple[Codes, Codes]]:
        """The training and test rows of each split, by position."""
        splitter = _splitter(cv, self.labels)
        if len(self.labels) > 1 and leaves_one_out(splitter, len(self.labels)):
            return OneByOne(len(self.labels))
        found = splitter.split(self.X, self.labels, groups)
        splits = list(read_splits(found, len(self.labels)))
        if not splits:
            raise ValueError("cv has no splits; pass a number of folds, such as cv=10.")
        return splits

    def without_each(
        self, model: Any, settings: Sequence[Mapping[str, Any]]
    ) -> list[LeftOutPosteriors | None]:
        """The answers of a model of sums to each row without it, where they take no refits."""
        return model._without_each(self.X, self.labels, settings, self.weight)  # type: ignore[no-any-return]  # noqa: SLF001

    def scores(self, scorers: Scorers, model: Any, X: Any, rows: Codes) -> Any:
        """The scores of a fitted model on some rows, of which X are the cells."""
        weight = None if self.weight is None else self.weight[rows]
        return scorers.scores(_with_all_classes(model, self.classes), X, self.labels[rows], weight)


@dataclass(frozen=True)
class HeldOut:
    """The test rows of a split, and the model of its training rows."""

    rows: Codes
    X: Any
    model: Any


def answers(
    ask: Callable[[HeldOut], Answer],
    model: Any,
    data: LabelledData,
    splits: Sequence[tuple[Codes, Codes]],
    *,
    refit_schema: bool,
) -> Iterator[Answer]:
    """Fit the model to the training rows of each split and ask it about the test rows, split by split."""
    fitted = fitted_grid(model, data, splits, [{}], refit_schema=refit_schema)
    with Progress("cross-validation") as progress, one_choice(data.n_cells):
        for number, (_, test) in enumerate(splits):
            progress.say(f"split {number + 1} of {len(splits)}")
            try:
                fitted_model, cells = next(fitted)[2], take_rows(data.X, test)
                if isinstance(fitted_model, Answered):
                    fitted_model.held_out = cells
                yield ask(HeldOut(test, cells, fitted_model))
            except Exception as error:
                error.add_note(f"This happened in split {number} of the cross-validation.")
                raise


def out_of_fold(
    model: Any, data: LabelledData, cv: Any, groups: ArrayLike | None, *, refit_schema: bool
) -> tuple[Codes, NDArray[Any], Array | None]:
    """The test rows of all splits in order, each as often as it is held out; predictions and posteriors."""

    def both(fold: HeldOut) -> tuple[Codes, NDArray[Any], Array | None]:
        proba = hasattr(fold.model, "predict_proba")
        posteriors = posteriors_over(data.classes, fold.model, fold.X) if proba else None
        return fold.rows, np.asarray(fold.model.predict(fold.X)), posteriors

    splits = data.splits(cv, groups)
    found = answers(both, model, data, splits, refit_schema=refit_schema)
    rows, predictions, posteriors = zip(*found, strict=True)
    order = np.argsort(np.concatenate(rows), kind="stable")
    return (
        np.concatenate(rows)[order],
        np.concatenate(predictions)[order],
        None if posteriors[0] is None else np.concatenate(posteriors)[order],
    )


def posteriors_over(classes: NDArray[Any], model: Any, X: Any) -> Array:
    """The posteriors of these classes; 0 for those that the model does not know."""
    return _over(classes, model.classes_, posteriors_of(model, X))


def _over(classes: NDArray[Any], known: NDArray[Any], found: Array) -> Array:
    """Posteriors of known classes as those of all classes."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    posteriors = np.zeros((len(found), len(classes)))
    posteriors[:, [place[label] for label in known.tolist()]] = found
    return posteriors


def fitted_grid(
    model: Any,
    data: LabelledData,
    splits: Sequence[tuple[Codes, Codes]],
    settings: Sequence[Mapping[str, Any]],
    *,
    refit_schema: bool,
) -> Iterator[tuple[int, int, Any]]:
    """Models of each setting and split, with their numbers: from sums, or by fitting clones.

    Models that share sums come split by split; with a single setting, so do all models.
    """
    if sums_rows(model, refit_schema=refit_schema):

        def fit(some: Sequence[Split], numbers: Sequence[int]) -> Iterator[tuple[int, int, Any]]:
            chosen = [settings[number] for number in numbers]
            return model.fit_grid(data.X, data.labels, some, chosen, data.weight)  # type: ignore[no-any-return]

        rows = row_of_each(splits, len(data.labels))
        if rows is None:
            yield from fit(splits, range(len(settings)))
        else:
            known = data.without_each(model, settings)
            yield from with_known_answers(splits, rows, known, fit)
        return
    if data.weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise TypeError(f"{type(model).__name__}.fit does not take sample_weight; leave the weights out.")
    for split, (train, _) in enumerate(splits):
        X, labels = take_rows(data.X, train), data.labels[train]
        weight = {} if data.weight is None else {"sample_weight": data.weight[train]}
        for number, changed in enumerate(settings):
            one = clone(model).set_params(**clone(dict(changed), safe=False))
            yield number, split, one.fit(X, labels, **weight)


def sums_rows(model: Any, *, refit_schema: bool) -> bool:
    """Whether models of splits are made from sums."""
    return hasattr(model, "fit_grid") and not refit_schema


def _splitter(cv: Any, labels: NDArray[Any]) -> Any:
    """A splitter; numbers of folds that the rows do not allow are refused."""
    from sklearn.model_selection import check_cv

    if isinstance(cv, (int, np.integer)):
        largest = int(np.unique(labels, return_counts=True)[1].max(initial=0))
        if isinstance(cv, bool) or cv < 2:
            raise ValueError(f"cv must be at least 2 folds, a splitter or splits, got {cv!r}.")
        if cv > len(labels):
            raise ValueError(f"cv={cv} folds need at least as many rows, but there are {len(labels)}.")
        if cv > largest:
            raise ValueError(
                f"cv={cv} folds are stratified, but the largest class has only {largest} rows; pass a "
                f"smaller cv, or cv=sklearn.model_selection.KFold({cv})."
            )
    return check_cv(cv, labels, classifier=True)


def is_regression(model: Any) -> bool:
    """Whether a model predicts numbers, not classes."""
    return isinstance(model, BaseEstimator) and is_regressor(model)


def _with_all_classes(model: Any, classes: NDArray[Any]) -> Any:
    """The model, or where some classes had no training rows, the model with posteriors 0 for them."""
    known = getattr(model, "classes_", classes)
    return model if len(known) == len(classes) else OfAllClasses(model, classes)


class OfAllClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted model that knows some of the classes, for scorers that need a posterior of each."""

    def __init__(self, model: Any, classes: NDArray[Any]) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """All classes."""
        return self.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """The predictions of the model."""
        return np.asarray(self.model.predict(X))

    def predict_proba(self, X: Any) -> Array:
        """The posteriors of the model, and 0 for classes that it does not know."""
        return posteriors_over(self.classes, self.model, X)

    def __sklearn_is_fitted__(self) -> bool:
        return True
