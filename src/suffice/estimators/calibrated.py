"""Posteriors that agree with how often the classes occur among rows that the model has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import chain
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.arrays import Array, Codes
from suffice.estimators.base import Estimator, not_fitted
from suffice.estimators.class_scores import ScoredRows, class_codes, class_scores, scored_rows
from suffice.estimators.other_priors import log_prior_ratio, reweighted
from suffice.estimators.wrapper import WrappedClassifier, is_fitted
from suffice.export.exportable import Exportable
from suffice.export.expressions import RULED_OUT, Gaps
from suffice.export.scoring import Scoring
from suffice.model.folds.held_out import LabelledData, with_settings
from suffice.model.priors import Priors, are_estimated, class_priors
from suffice.model.weighing.calibration import FITTED, Calibration, CalibrationRows, Method, Scaling, Steps
from suffice.storage import Fields, Saved, Setting, SufficeFileError
from suffice.storage.load import loaded
from suffice.storage.saved import named_fields

STORED_CV = (int, str, type(None))
"""The types of `cv` that a file can hold."""


class Calibrated(Exportable, Saved, WrappedClassifier):
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
    1.16
    """

    _calibration: Calibration
    _shares: Array
    _n_rows: float = np.nan
    """The weight of the rows passed to `fit`; only models that no file can hold need it."""

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
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight k counts as k rows, for the model and for the calibration.
        groups : array-like of shape (n_samples,), optional
            The group of each row, for a `cv` that keeps groups together.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._check_method()
        if isinstance(self.cv, str):
            model, data = self._prefit(), LabelledData.read(X, y, sample_weight)
            scores = class_scores(model, data.X, np.asarray(model.classes_), data.n_rows)
            self._calibrate(data, ScoredRows(model, np.arange(len(data.labels)), scores))
            return self
        data = LabelledData.of(self.model, X, y, sample_weight)
        (found,) = scored_rows(self.model, data, data.splits(self.cv, groups), [{}])
        self._calibrate(data, found)
        return self

    def _fitted_grid(
        self,
        data: LabelledData,
        splits: list[tuple[Codes, Codes]],
        settings: Sequence[Mapping[str, Any]],
        *,
        refit_schema: bool,
    ) -> Iterator[tuple[int, int, Any]]:
        # Folds of training rows differ from split to split, so that each has a pass of its own, and families
        # of its own.
        for split, (train, _) in enumerate(splits):
            some = data.take(train)
            for (model, cv), inner in self._inner_settings(settings, "model", "cv"):
                if isinstance(cv, str):
                    for number in chain.from_iterable(numbers for _, numbers in inner):
                        unfitted = with_settings(self, settings[number])
                        yield number, split, unfitted.fit(some.X, some.labels, some.weight)
                    continue
                changes = [changed for changed, _ in inner]
                scored = scored_rows(model, some, some.splits(cv, None), changes)
                for found, (_, numbers) in zip(scored, inner, strict=True):
                    for number in numbers:
                        one: Calibrated = with_settings(self, settings[number])
                        one._calibrate(some, found)
                        yield number, split, one

    def _check_method(self) -> None:
        if self.method not in tuple(FITTED):
            raise ValueError(f"method must be one of {', '.join(map(repr, FITTED))}, got {self.method!r}.")

    def _prefit(self) -> Any:
        if self.cv != "prefit":
            raise ValueError(
                f"cv must be a number of folds, a splitter, splits or 'prefit', got {self.cv!r}."
            )
        if not is_fitted(self.model):
            raise not_fitted(self.model, ", as cv='prefit' needs it to be")
        return self.model

    def _calibrate(self, data: LabelledData, found: ScoredRows) -> None:
        """Take over a model, and fit the map from its scores to posteriors."""
        self._check_method()
        classes = np.asarray(found.model.classes_)
        weights = np.ones(len(data.labels)) if data.weight is None else data.weight
        codes = class_codes(data.labels, classes, weights)
        shares = np.bincount(codes, weights, len(classes)) / weights.sum()
        class_priors(self.priors, classes, shares)
        times = np.bincount(found.rows, minlength=len(codes))
        share = weights[found.rows] / times[found.rows]
        held = CalibrationRows.of(found.scores, codes[found.rows], share)
        self._calibration = FITTED[self.method](held)
        self.model_, self._shares, self._n_rows = found.model, shares, data.n_rows
        self._keep_settings()

    @property
    def partial_fit(self) -> NoReturn:
        """Refused: a map from scores to posteriors needs rows that the model has not seen."""
        raise AttributeError(
            "Calibrated has no partial_fit, since rows that the model has learnt from cannot calibrate it; "
            "call fit with all rows, or update the model and calibrate it on other rows with cv='prefit'."
        )

    def _fitted_model(self) -> Any:
        if not hasattr(self, "_calibration"):
            raise not_fitted(self)
        return self.model_

    def _log_posteriors(self, X: Any) -> Array:
        model = self._fitted_model()
        found = self._calibration.log_posteriors(class_scores(model, X, self.classes_, self._n_rows))
        if are_estimated(self._as_fitted().priors):
            return found
        return reweighted(found, self._log_prior_ratio(), self.priors_)

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
        other: Self = copy(self)
        other.priors = priors
        other._keep_settings(afresh=False)
        other._log_prior_ratio()
        return other

    def _log_prior_ratio(self) -> Array:
        """What other priors add to the score of each class."""
        new = self.priors_
        if are_estimated(self._as_fitted().priors):
            return np.zeros(len(new))
        return log_prior_ratio(new, self._shares, self.classes_)

    @property
    def priors_(self) -> Array:
        """The class priors."""
        return class_priors(self._as_fitted().priors, self.classes_, self._shares)

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
        model, fitted = self._fitted_model(), self._as_fitted()
        if not isinstance(self.cv, STORED_CV):
            raise TypeError(
                f"cv is a {type(self.cv).__name__}, which a file cannot hold; a fitted classifier no longer "
                "needs it, so call set_params(cv=5) before saving."
            )
        if isinstance(model, Calibrated):
            raise TypeError(
                "a file cannot hold a Calibrated of a Calibrated; calibrate the inner model alone."
            )
        settings = {"method": fitted.method, "cv": self.cv, "priors": fitted.priors}
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
        if made.method not in tuple(FITTED) or not isinstance(made.cv, STORED_CV):
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
        made._keep_settings()
        try:
            made._log_prior_ratio()
        except ValueError as error:
            raise SufficeFileError(f"the file does not hold a valid Calibrated: {error}") from error
        return made
