"""Scorers by scikit-learn's names, or of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.evaluation.answers import Answers
from suffice.evaluation.metrics import log_loss
from suffice.model.folds.held_out import cure_without_posteriors
from suffice.tables.as_arrays import as_floats
from suffice.tables.wording import did_you_mean, quoted

Scorer = Callable[..., Any]
Scoring = str | Scorer | Iterable[str] | Mapping[str, str | Scorer]

OF_ALL_CLASSES = {
    "neg_brier_score": "brier_score_loss",
    "d2_log_loss_score": "d2_log_loss_score",
    "d2_brier_score": "d2_brier_score",
}
"""Scorers, and the metrics that must be told the classes, since not all of them may be in the test rows."""


@dataclass(frozen=True)
class Scorers:
    """Scorers by name."""

    named: dict[str, Scorer]
    alone: bool
    """Whether there is one, which was not put in a list or dict."""

    @classmethod
    def of(cls, scoring: Scoring, classes: NDArray[Any], *, weighted: bool) -> Scorers:
        """Read what the user chose; `weighted` scorers must take `sample_weight`."""
        alone = isinstance(scoring, str) or callable(scoring)
        if alone:
            named: dict[str, Any] = {"score": scoring}
        elif isinstance(scoring, Mapping):
            named = dict(scoring)
        elif isinstance(scoring, Iterable):
            named = {name: name for name in scoring}
        else:
            named = {}
        if not named:
            raise ValueError(f"scoring must name a scorer, such as 'neg_log_loss', got {scoring!r}.")
        scorers = {name: _scorer(one, classes) for name, one in named.items()}
        for name, scorer in scorers.items():
            if weighted and not _takes_weights(scorer):
                shown = named[name] if isinstance(named[name], str) else name
                raise ValueError(f"the scorer {shown!r} does not take sample_weight; leave the weights out.")
        return cls(scorers, alone)

    def scores(self, model: Any, X: Any, labels: NDArray[Any], weight: Array | None) -> Any:
        """The score of a fitted model, or scores by name of several scorers, or of one that has several."""
        given = {} if weight is None else {"sample_weight": weight}
        if not self.alone:
            return {name: float(score(model, X, labels, **given)) for name, score in self.named.items()}
        found = self.named["score"](model, X, labels, **given)
        return (
            {name: float(one) for name, one in found.items()} if isinstance(found, Mapping) else float(found)
        )


@dataclass(eq=False)
class NegativeLogLoss:
    """The scorer "neg_log_loss", without scikit-learn's checks of y, which take longer than the score."""

    classes: NDArray[Any]
    _last: tuple[Any, NDArray[np.intp]] | None = field(default=None, init=False, repr=False)

    def __call__(self, model: Any, X: Any, y: Any, sample_weight: Array | None = None) -> float:
        """The mean of log p(truth); the model knows these classes."""
        truth = self._codes(y)
        posteriors = posteriors_of(model, X)
        answers = Answers(truth, truth, posteriors, sample_weight, len(self.classes), len(self.classes))
        return -log_loss(answers)

    def _codes(self, y: Any) -> NDArray[np.intp]:
        """The number of each label's class; those of the last labels are kept for the next setting."""
        last = self._last
        if last is None or last[0] is not y:
            truth = np.searchsorted(self.classes, y)
            if not np.array_equal(self.classes[np.minimum(truth, len(self.classes) - 1)], y):
                raise ValueError(
                    f"y holds labels other than {self.classes.tolist()[:20]}, which the model knows."
                )
            if not (isinstance(y, np.ndarray) and y.flags.owndata and not y.flags.writeable):
                return np.asarray(truth)  # they may change
            last = self._last = y, truth
        return last[1]


def posteriors_of(model: Any, X: Any) -> NDArray[Any]:
    """`predict_proba` of a model that has it."""
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba; {cure_without_posteriors(model)}, or choose a "
            "scoring of predictions, such as 'accuracy'."
        )
    return as_floats(np.asarray(model.predict_proba(X)))


def refuse_one_class(classes: NDArray[Any], score: str) -> None:
    """Refuse labels of one class for a score that is undefined for them."""
    if len(classes) == 1:
        raise ValueError(
            f"{score} needs two classes or more, but y has only one class, {quoted(classes.tolist()[0])}; "
            "check y. cross_val_scores with scoring='accuracy' takes one class."
        )


def _scorer(scoring: Any, classes: NDArray[Any]) -> Scorer:
    from sklearn import metrics

    if callable(scoring):
        if getattr(scoring, "__module__", "").startswith("sklearn.metrics.") and inspect.isfunction(scoring):
            raise ValueError(
                f"{scoring.__name__} compares labels, but a scorer takes (model, X, y); wrap it in "
                "sklearn.metrics.make_scorer, or pass the name of a scorer."
            )
        return scoring  # type: ignore[no-any-return]
    names = metrics.get_scorer_names()
    if scoring not in names:
        near = did_you_mean(scoring, names)
        hint = near or "sklearn.metrics.get_scorer_names() lists the names."
        raise ValueError(f"there is no scorer {scoring!r}; {hint}")
    if scoring in ("neg_log_loss", *OF_ALL_CLASSES):
        refuse_one_class(classes, f"the scorer {scoring!r}")
    if scoring == "neg_log_loss":
        return NegativeLogLoss(classes)
    if scoring in OF_ALL_CLASSES:
        return metrics.make_scorer(  # type: ignore[no-any-return]
            getattr(metrics, OF_ALL_CLASSES[scoring]),
            greater_is_better=not scoring.startswith("neg_"),
            response_method="predict_proba",
            labels=classes,
        )
    return metrics.get_scorer(scoring)  # type: ignore[no-any-return]


def _takes_weights(scorer: Scorer) -> bool:
    """Whether a scorer, or the metric that it was made of, has a parameter `sample_weight`."""
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters.values()
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)
