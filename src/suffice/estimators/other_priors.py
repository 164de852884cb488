"""Other class priors for any classifier, by reweighting its posteriors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array
from suffice.estimators.class_scores import log_posteriors
from suffice.estimators.wrapper import WrappedClassifier
from suffice.links import log_softmax
from suffice.model.priors import Priors, PriorShift, class_priors, estimate_shift
from suffice.tables.targets import checked_weights, read_labels
from suffice.tables.wording import quoted


class WithPriors(WrappedClassifier):
    """A classifier under other class priors: p(C_k | x) times new prior over old prior, normalised.

    Models of this library that have priors of their own have a method `with_priors` instead.

    Parameters
    ----------
    model : classifier
        A classifier with `predict_proba`, fitted or not.
    priors : "uniform", array-like or dict, default="uniform"
        The new priors, in the order of `classes_` or by label.
    training_priors : array-like, dict or None, default=None
        The old priors. None takes those that the fitted model reports (`priors_`, `class_prior_`), or the
        class frequencies of the labels passed to `fit`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels of the model.
    priors_, training_priors_ : ndarray of shape (n_classes,)
        The new and the old priors.
    prior_shift_ : PriorShift
        How the priors were estimated; only on the model that `adapt_priors` returns.
    model_ : classifier
        The fitted clone of `model`, after `fit`.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [1.2], [2.0]], ["ill", "well", "well", "well"]
    >>> model = suffice.LogisticRegression().fit(X, y)
    >>> model.predict([[0.7]]).tolist()
    ['well']
    >>> suffice.WithPriors(model, {"ill": 0.5, "well": 0.5}).predict([[0.7]]).tolist()
    ['ill']
    """

    prior_shift_: PriorShift

    def __init__(self, model: Any, priors: Priors = "uniform", *, training_priors: Priors = None) -> None:
        self.model = model
        self.priors = priors
        self.training_priors = training_priors

    def _wrap(self, fitted: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        super()._wrap(fitted, y, sample_weight)
        labels = read_labels(y)
        weight = (
            np.ones(len(labels)) if sample_weight is None else checked_weights(sample_weight, len(labels))
        )
        self._shares = np.array([weight[labels == label].sum() for label in self.classes_]) / weight.sum()

    @property
    def training_priors_(self) -> Array:
        """The priors that the model's posteriors are based on."""
        given = self._as_fitted().training_priors
        if given is not None:
            return class_priors(given, self.classes_, np.ones(len(self.classes_)))
        found = priors_of(self._fitted_model())
        if found is None:
            found = getattr(self, "_shares", None)
        if found is None:
            raise ValueError(
                f"{type(self.model).__name__} does not report the priors it was trained with; pass "
                "training_priors=, such as the class frequencies of the training labels."
            )
        return found

    @property
    def priors_(self) -> Array:
        """The new priors."""
        return class_priors(self._as_fitted().priors, self.classes_, self.training_priors_)

    def _log_posteriors(self, X: Any) -> Array:
        new = self.priors_
        factor = log_prior_ratio(new, self.training_priors_, self.classes_)
        return reweighted(super()._log_posteriors(X), factor, new)


def adapt_priors(model: Any, X: Any, *, training_priors: Priors = None) -> Any:
    """Adapt the class priors of a fitted classifier to unlabelled rows.

    The classes are assumed to look as they did in training and to have become rarer or more common.

    Parameters
    ----------
    model : classifier
        A fitted classifier with `predict_proba`.
    X : array-like or frame of shape (n_samples, n_features)
        The new rows.
    training_priors : array-like, dict or None, default=None
        For classifiers that do not report the priors they were trained with.

    Returns
    -------
    classifier
        A new classifier with the new priors, and with a test of the shift in `prior_shift_`: a model of the
        same class if it has priors of its own, otherwise `WithPriors` around the model.

    Examples
    --------
    >>> import suffice
    >>> X, y = [[0.0], [1.0], [1.2], [2.0]], ["a", "a", "b", "b"]
    >>> model = suffice.adapt_priors(suffice.LogisticRegression().fit(X, y), [[0.1], [0.3], [0.2]])
    >>> bool(model.priors_[0] > 0.5)
    True
    """
    if hasattr(model, "adapt_priors"):
        if training_priors is not None:
            raise ValueError(f"{type(model).__name__} has priors of its own; leave training_priors out.")
        return model.adapt_priors(X)
    wrapped = WithPriors(model, training_priors=training_priors)
    classes, before = wrapped.classes_, wrapped.training_priors_
    shift = estimate_shift(log_posteriors(model, X), before, classes)
    wrapped.priors = shift.priors
    wrapped.prior_shift_ = shift
    return wrapped


def log_prior_ratio(new: Array, old: Array, classes: NDArray[Any]) -> Array:
    """Log new/old of each class, −inf where the new prior is 0."""
    impossible = (old == 0) & (new > 0)
    if impossible.any():
        label = classes.tolist()[int(np.argmax(impossible))]
        raise ValueError(
            f"class {quoted(label)} had prior 0 in training, so its posteriors cannot be reweighted."
        )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(old > 0, np.log(new) - np.log(old), -np.inf)


def reweighted(log_posterior: Array, factor: Array, new: Array) -> Array:
    """Log posteriors under new priors, from the log ratio of new and old ones."""
    scores = log_posterior + factor
    # A row for which every class is ruled out says nothing about the classes; it gets the new priors.
    with np.errstate(divide="ignore"):
        return log_softmax(np.where(np.isneginf(scores).all(axis=1, keepdims=True), np.log(new), scores))


def priors_of(model: Any) -> Array | None:
    """The priors that a fitted classifier reports."""
    for name in ("priors_", "class_prior_"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name), dtype=np.float64)
    if hasattr(model, "class_log_prior_"):
        return np.exp(np.asarray(model.class_log_prior_, dtype=np.float64))
    return None
