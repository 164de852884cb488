"""Posteriors that agree with how often the classes occur among rows that the model has not seen."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone

from suffice.arrays import Array, Codes
from suffice.estimators.base import Estimator, not_fitted
from suffice.estimators.class_scores import class_codes, class_scores
from suffice.estimators.other_priors import log_prior_ratio, reweighted
from suffice.estimators.wrapper import Wrapper, is_fitted
from suffice.evaluation.cross_validation import HeldOut, LabelledData, answers
from suffice.export.exportable import Exportable
from suffice.export.expressions import RULED_OUT, Gaps
from suffice.export.scoring import Scoring
from suffice.model.calibration import FITTED, Calibration, CalibrationRows, Method, Scaling, Steps
from suffice.model.priors import Priors, are_estimated, class_priors
from suffice.storage import Fields, Saved, Setting, SufficeFileError
from suffice.storage.load import loaded
from suffice.storage.saved import named_fields


class Calibrated(Exportable, Saved, ClassifierMixin, Wrapper):  # type: ignore[misc]
    """A classifier with calibrated posteriors, fitted to its scores of rows that it has not seen.

    The scores come from cross-validation. The models of this package need one pass over the rows for it, all
    others are fitted once for each fold. Then the model is fitted to all rows.

    Parameters
    ----------
    model : classifier
        Any classifier with `predict_proba` or `decision_function`.
    method : {"temperature", "vector", "isotonic"}, default="temperature"
        How scores a_k become posteriors. "temperature": p ∝ exp(a_k/T), which changes no prediction.
        "vector": p ∝ exp(a_k/T + b_k), with a bias for each class. "isotonic": a non-decreasing function of
        the posterior of each class against the rest, normalised; it needs the most rows.
    cv : int, splitter, iterable or "prefit", default=5
        The folds, as in `cross_val_scores`. With "prefit" the model is already fitted, and is calibrated on
        the rows passed to `fit`, which it should not have seen.
    priors : None, "uniform", array-like or dict, default=None
        Class priors to reweight the calibrated posteriors to. None leaves them as they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels of the model.
    model_ : classifier
        The fitted model.
    priors_ : ndarray of shape (n_classes,)
        The class priors: the class frequencies among the rows it was calibrated on, unless `priors` is given.
    temperature_ : float
        T; more than 1 for a model that was too sure. Not for "isotonic".
    bias_ : ndarray of shape (n_classes,)
        b_k, which add up to 0. Not for "isotonic".

    Examples
    --------
    >>> import suffice
    >>> X, y = suffice.load_penguins()
    >>> model = suffice.Calibrated(suffice.BayesClassifier()).fit(X, y)
    >>> round(model.temperature_, 2)
    1.15
    """

    _calibration: Calibration
    _shares: Array

    def __init__(
        self, model: Any, method: Method = "temperature", cv: Any = 5, *, priors: Priors = None
    ) -> None:
        self.model = model
        self.method = method
        self.cv = cv
        self.priors = priors

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> Self:
        """Fit the model, and calibrate it on rows held out.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows, for the model and for the calibration.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for a `cv` that keeps groups together.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        if self.method not in tuple(FITTED):
            raise ValueError(f"method must be one of {', '.join(map(repr, FITTED))}, got {self.method!r}.")
        if not (hasattr(X, "shape") or hasattr(X, "__len__")):
            X = np.asarray(X)  # an object that only arrays can be made of
        if isinstance(self.cv, str):
            model = self._prefit()
        else:
            weight = {} if sample_weight is None else {"sample_weight": sample_weight}
            model = clone(self.model).fit(X, y, **weight)
        data = LabelledData.of(self.model, X, y, sample_weight)
        weights = np.ones(len(data.labels)) if data.weight is None else data.weight
        codes = class_codes(data.labels, model.classes_, weights)
        shares = np.bincount(codes, weights, len(model.classes_)) / weights.sum()
        class_priors(self.priors, model.classes_, shares)
        if isinstance(self.cv, str):
            rows, scores = np.arange(len(codes)), class_scores(model, X, model.classes_)
        else:
            rows, scores = self._held_out_scores(data, model.classes_, groups)
        times = np.bincount(rows, minlength=len(codes))
        held = CalibrationRows.of(scores, codes[rows], weights[rows] / times[rows])
        self._calibration = FITTED[self.method](held)
        self.model_, self._shares = model, shares
        return self

    def _prefit(self) -> Any:
        if self.cv != "prefit":
            raise ValueError(
                f"cv must be a number of folds, a splitter, splits or 'prefit', got {self.cv!r}."
            )
        if not is_fitted(self.model):
            raise not_fitted(self.model, ", as cv='prefit' needs it to be")
        return self.model

    def _held_out_scores(
        self, data: LabelledData, classes: NDArray[Any], groups: ArrayLike | None
    ) -> tuple[Codes, Array]:
        """The rows held out, each as often as it is, and their scores by models that have not seen them."""

        def ask(fold: HeldOut) -> tuple[Codes, Array]:
            return fold.rows, class_scores(fold.model, fold.X, classes)

        found = list(answers(ask, self.model, data, data.splits(self.cv, groups), refit_schema=False))
        rows, scores = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(scores)

    def _fitted_model(self) -> Any:
        if not hasattr(self, "_calibration"):
            raise not_fitted(self)
        return self.model_

    def predict_log_proba(self, X: Any) -> Array:
        """Calibrated log posteriors.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        log_posteriors : ndarray of shape (n_samples, n_classes)
        """
        model = self._fitted_model()
        found = self._calibration.log_posteriors(class_scores(model, X, model.classes_))
        return (
            found if are_estimated(self.priors) else reweighted(found, self._log_prior_ratio(), self.priors_)
        )

    def predict_proba(self, X: Any) -> Array:
        """Calibrated posteriors.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_classes)
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return np.asarray(self.classes_[np.argmax(self.predict_log_proba(X), axis=1)])

    def explain(self, X: Any) -> Any:
        """Split the calibrated score of each class, a_k/T + b_k, into the contributions of the cells.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows, as the wrapped model takes them.

        Returns
        -------
        explanation : Explanation or TextExplanation
            What the model's own `explain` returns, with contributions divided by T; b_k and other priors are
            part of `prior`.
        """
        scaling, model = self._scaling("explain"), self._fitted_model()
        if not hasattr(model, "explain"):
            raise AttributeError(
                f"{type(model).__name__} has no explain, so its calibrated scores have none."
            )
        explanation = model.explain(X)
        if getattr(explanation, "unit", "nats") != "nats":
            raise ValueError(
                f"the scores of {type(model).__name__} are in {explanation.unit}, so their parts do not add "
                "up to a log posterior; explain the model itself."
            )
        bias = scaling.bias + self._log_prior_ratio()
        return explanation._rescaled(scaling.slope, bias, self.predict_proba(X))  # noqa: SLF001  also of this library

    def with_priors(self, priors: Priors) -> Self:
        """Return the same classifier under other class priors; nothing is refitted.

        Parameters
        ----------
        priors : "uniform", "empirical", array-like or dict
            The new priors, in the order of `classes_` or by label.

        Returns
        -------
        model : object
            A new classifier.
        """
        self._fitted_model()
        other = copy(self)
        other.priors = priors
        other._log_prior_ratio()  # noqa: SLF001, refuses priors that cannot be
        return other

    def _log_prior_ratio(self) -> Array:
        """What other priors add to the score of each class."""
        new = self.priors_
        if are_estimated(self.priors):
            return np.zeros(len(new))
        return log_prior_ratio(new, self._shares, self.classes_)

    @property
    def priors_(self) -> Array:
        """The class priors."""
        return class_priors(self.priors, self.classes_, self._shares)

    @property
    def temperature_(self) -> float:
        """T, by which scores are divided."""
        return 1.0 / self._scaling("temperature_").slope

    @property
    def bias_(self) -> Array:
        """b_k, which are added to scores."""
        return self._scaling("bias_").bias

    def _scaling(self, wanted: str) -> Scaling:
        self._fitted_model()
        if isinstance(self._calibration, Scaling):
            return self._calibration
        raise AttributeError(
            f"{wanted} needs calibrated scores that are linear in those of the model, which those of "
            "method='isotonic' are not; use 'temperature' or 'vector'."
        )

    def _scoring(self, gaps: Gaps) -> Scoring:
        model, scaling = self._fitted_model(), self._scaling("an export")
        if not isinstance(model, Estimator):
            raise TypeError(
                f"{type(self).__name__} can be exported if its model can, but {type(model).__name__} has no "
                "to_sql and to_onnx; wrap a model of this library."
            )
        scoring = model._scoring(gaps)  # noqa: SLF001  also of this library
        ruled_out = np.isneginf(self._log_prior_ratio()) | (getattr(model, "priors_", self._shares) == 0)
        bias = np.where(ruled_out, RULED_OUT, scaling.bias + self._log_prior_ratio())
        return replace(scoring, score=scoring.score.rescaled(scaling.slope, bias))

    def _to_fields(self) -> dict[str, Any]:
        model = self._fitted_model()
        if not isinstance(self.cv, (int, str)):
            raise TypeError(
                f"cv is a {type(self.cv).__name__}, which a file cannot hold; a fitted classifier no longer "
                "needs it, so call set_params(cv=5) before saving."
            )
        settings = {"method": self.method, "cv": self.cv, "priors": self.priors}
        return {
            "settings": {name: Setting(value) for name, value in settings.items()},
            "model": named_fields(model),
            "calibration": self._calibration._to_fields(),
            "shares": self._shares,
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        settings = fields.settings("settings")
        fields.branch("settings").require(("method", "cv", "priors"))
        if fields.branch("model").text("class") in ("Calibrated", "Statistics"):
            raise fields.error("model.class", "must be a model.")
        model = loaded(fields.branch("model"))
        made = cls(model, **settings)
        if made.method not in tuple(FITTED) or not isinstance(made.cv, (int, str)):
            raise fields.error("settings", "are not those of a Calibrated.")
        kind = Steps if made.method == "isotonic" else Scaling
        try:
            with np.errstate(all="ignore"):  # sums of a damaged file may overflow
                n_classes = len(model.classes_)
        except (ValueError, ArithmeticError) as error:
            raise SufficeFileError(f"the file does not hold a valid model: {error}") from error
        made._calibration = kind._from_fields(fields.branch("calibration"), n_classes)
        made._shares = fields.array("shares", np.float64, (n_classes,))
        if (made._shares < 0).any() or abs(made._shares.sum() - 1.0) > 1e-8:
            raise fields.error("shares", "must be shares of the classes.")
        made.model_ = model
        try:
            made._log_prior_ratio()
        except ValueError as error:
            raise SufficeFileError(f"the file does not hold a valid Calibrated: {error}") from error
        return made
