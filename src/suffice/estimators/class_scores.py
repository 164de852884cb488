"""The scores of any classifier, and the classes of rows as numbers, in the order of given classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.estimators.base import Classifier, Estimator
from suffice.model.folds.held_out import HeldOut, LabelledData, answers_of_grid, cure_without_posteriors
from suffice.model.folds.one_by_one import Answered


def class_codes(labels: NDArray[Any], classes: NDArray[Any], weights: Array) -> Codes:
    """The place of each label among the classes; one that is unknown must have no weight."""
    place = {label: k for k, label in enumerate(classes.tolist())}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    strange = (codes < 0) & (weights > 0)
    if strange.any():
        raise ValueError(
            f"y has the label {labels[strange].tolist()[0]!r}, which the model does not know; its classes "
            f"are {classes.tolist()[:20]}."
        )
    return np.maximum(codes, 0)


def posteriors(model: Any, X: Any) -> Array:
    """p(C_k | x) of any classifier that has them."""
    if not hasattr(model, "predict_proba"):
        raise AttributeError(
            f"{type(model).__name__} has no posteriors, since it has no predict_proba; "
            f"{cure_without_posteriors(model)}."
        )
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def log_posteriors(model: Any, X: Any) -> Array:
    """Log p(C_k | x) of any classifier that has posteriors."""
    with np.errstate(divide="ignore"):
        if hasattr(model, "predict_log_proba"):
            return np.asarray(model.predict_log_proba(X), dtype=np.float64)
        return np.log(posteriors(model, X))


def class_scores(model: Any, X: Any, classes: NDArray[Any], n_rows: float) -> Array:
    """Log posteriors, up to a constant of each row, of these classes; −inf for unknown ones.

    Posteriors of models that compute no log scores are as precise as `n_rows` rows allow.
    """
    if hasattr(model, "predict_log_proba") or hasattr(model, "predict_proba"):
        found = log_posteriors(model, X)
        if not _computes_log_scores(model):
            found = np.log((n_rows * np.exp(found) + 1.0 / found.shape[1]) / (n_rows + 1.0))
    elif hasattr(model, "decision_function"):
        found = np.asarray(model.decision_function(X), dtype=np.float64)
        found = np.outer(found, [-0.5, 0.5]) if found.ndim == 1 else found
    else:
        raise TypeError(
            f"Calibrated needs scores, but {type(model).__name__} has neither predict_proba nor "
            "decision_function."
        )
    known = np.asarray(model.classes_).tolist()
    if found.shape[1] != len(known):
        raise ValueError(
            f"{type(model).__name__} has {len(known)} classes, but {found.shape[1]} scores for each row; use "
            "decision_function_shape='ovr'."
        )
    place = {label: k for k, label in enumerate(classes.tolist())}
    scores = np.full((len(found), len(classes)), -np.inf)
    scores[:, [place[label] for label in known]] = found
    return scores


def _computes_log_scores(model: Any) -> bool:
    """Whether the answers are those of a model of this library, of which no posterior is rounded to 0."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        return _computes_log_scores(model[-1])
    if hasattr(model, "best_estimator_"):  # a search
        return _computes_log_scores(model.best_estimator_)
    if isinstance(model, Classifier) and hasattr(model, "_fitted_model"):  # a wrapper
        return _computes_log_scores(model._fitted_model())  # noqa: SLF001  also of this library
    return isinstance(model, (Estimator, Answered))


@dataclass(frozen=True)
class ScoredRows:
    """A fitted model, and scores of rows by models that have not seen them."""

    model: Any
    rows: Codes
    """Positions, each as often as the row is held out."""
    scores: Array


def scored_rows(
    model: Any,
    data: LabelledData,
    splits: Sequence[tuple[Codes, Codes]],
    settings: Sequence[Mapping[str, Any]],
) -> list[ScoredRows]:
    """The model of all rows under each of several settings, and the scores of its rows out of fold."""

    def ask(fold: HeldOut) -> tuple[Any, Codes, Array]:
        if not len(fold.rows):
            return fold.model, fold.rows, np.empty((0, len(data.classes)))
        return None, fold.rows, class_scores(fold.model, fold.X, data.classes, data.n_rows)

    # The last split holds no row out, so that one pass over the rows serves all models.
    everyone = np.arange(len(data.labels))
    splits = [*splits, (everyone, everyone[:0])]
    found: list[list[tuple[Any, Codes, Array]]] = [[] for _ in settings]
    for number, answer in answers_of_grid(ask, model, data, splits, settings, refit_schema=False):
        found[number].append(answer)
    places = {label: k for k, label in enumerate(data.classes.tolist())}
    scored = []
    for one in found:
        models, rows, scores = zip(*one, strict=True)
        known = [places[label] for label in np.asarray(models[-1].classes_).tolist()]
        scored.append(ScoredRows(models[-1], np.concatenate(rows), np.concatenate(scores)[:, known]))
    return scored
