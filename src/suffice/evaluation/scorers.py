"""Scorers by scikit-learn's names, or of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from suffice.tables.wording import did_you_mean

Scorer = Callable[..., Any]
Scoring = str | Scorer | Iterable[str] | Mapping[str, str | Scorer]

OF_ALL_CLASSES = {
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier_score_loss",
    "d2_log_loss_score": "d2_log_loss_score",
    "d2_brier_score": "d2_brier_score",
}
"""Scorers, and the metrics that must be told the classes, since not all of them may be in the test rows."""


def read_scoring(scoring: Scoring, classes: NDArray[Any], *, weighted: bool) -> dict[str, Scorer]:
    """Scorers by name; `weighted` ones must take `sample_weight`."""
    if isinstance(scoring, str):
        named: dict[str, Any] = {scoring: scoring}
    elif callable(scoring):
        named = {getattr(scoring, "__name__", "score"): scoring}
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
            raise ValueError(f"the scorer {name!r} does not take sample_weight; leave the weights out.")
    return scorers


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
