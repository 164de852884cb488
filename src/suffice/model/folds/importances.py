"""How much each column by itself says about the classes of rows that were held out, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.links import log_softmax
from suffice.model.folds.column_scores import ColumnScores
from suffice.model.folds.held_out import LabelledData
from suffice.tables.wording import quoted


def column_importances(
    data: LabelledData, splits: Sequence[tuple[Codes, Codes]], folds: list[ColumnScores], n_columns: int
) -> Array:
    """The mean over test rows of log p(class | cell) − log p(class); 0 for a column without a family."""
    gains, total = np.zeros(n_columns), 0.0
    for split, (scores, (_, test)) in enumerate(zip(folds, splits, strict=True)):
        labels, weight = data.labels_and_weights(test)
        own, everyone = None, np.arange(len(test))
        weight = np.ones(len(test)) if weight is None else weight
        total += float(weight.sum())
        for j in sorted(scores.columns):
            log_posterior = log_softmax(scores.of(frozenset([j])))
            own = _places(labels, scores.classes, split) if own is None else own  # known once solved
            gains[j] += weight @ (log_posterior[everyone, own] - scores.log_priors[own])
    return gains / total


def _places(labels: NDArray[Any], classes: NDArray[Any], split: int) -> Codes:
    """The place of each label among the classes of the training rows."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    for label in labels.tolist():
        if label not in known:
            raise ValueError(
                f"class {quoted(label)} has test rows but no training rows in split {split}; use fewer folds."
            )
    return np.array([known[label] for label in labels.tolist()], dtype=np.intp)
