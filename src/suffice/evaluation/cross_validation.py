"""Cross-validation: every row is answered by a model that has not seen it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from suffice.arrays import Array, Codes
from suffice.evaluation.scorers import Scorers, Scoring, posteriors_of, refuse_one_class
from suffice.model.folds.held_out import HeldOut, LabelledData, answers, leaves_rows_out
from suffice.model.folds.one_by_one import OneByOne


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
    y : array-like of shape (n_samples,) or str
        The labels, or the name of the column of X that holds them.
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
        from all rows. Then a split with other families is fitted from its rows.

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
        return scores_on(fold.rows, fold.X, fold.model, data, scorers)

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
    y : array-like of shape (n_samples,) or str
        The labels, or the name of the column of X that holds them.
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
    if isinstance(splits, OneByOne) and leaves_rows_out(model, refit_schema=refit_schema):
        known = data.without_each(model, [{}])[0]
    if known is not None:
        rows = np.flatnonzero(known.exact)
        posteriors[rows], times[rows] = _over(data.classes, known.classes, known.posteriors(rows)), 1
        splits = [splits[split] for split in np.flatnonzero(~known.exact).tolist()]
    deque(answers(fill, model, data, splits, refit_schema=refit_schema), maxlen=0)
    if (times != 1).any():
        row = int(np.argmax(times != 1))
        held = f"hold out row {row} {times[row]} times" if times[row] else f"never hold out row {row}"
        raise ValueError(
            f"these splits {held}, so it has no single answer; use cv=10 or a splitter that holds out each "
            "row once. suffice.evaluate takes any splits."
        )
    return posteriors


def scores_on(rows: Codes, X: Any, model: Any, data: LabelledData, scorers: Scorers) -> Any:
    """The scores of a fitted model on some rows, of which X are the cells."""
    return scorers.scores(_with_all_classes(model, data.classes), X, *data.labels_and_weights(rows))


def out_of_fold(
    model: Any, data: LabelledData, cv: Any, groups: ArrayLike | None, *, refit_schema: bool
) -> tuple[Codes, NDArray[Any], Array | None]:
    """The test rows of all splits in order, each as often as it is held out; predictions and posteriors."""
    if hasattr(model, "predict_proba"):
        refuse_one_class(data.classes, "the log loss")

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
