"""Cross-validation of a model fitted to files: the rows of each fold are forgotten, then predicted."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from suffice.evaluation.evaluate import Evaluation
    from suffice.tables.files.batches import LabelledBatch

FOLDS = 5
MOST_ROWS = 50_000
"""The most rows that are predicted; of more rows every second, fourth, … is."""


class Sample:
    """Rows spread evenly over all rows, however many there are."""

    def __init__(self, batches: Iterator[LabelledBatch]) -> None:
        self.n_rows = 0
        self._stride = 1
        self._parts: list[tuple[Any, Any, Any]] = []
        for batch in batches:
            self._add(batch)
        tables, labels, weights = zip(*self._parts, strict=True)
        self.X = pa.concat_tables(tables)
        self.y = np.concatenate(labels)
        self.weight = None if weights[0] is None else np.concatenate(weights)

    def _add(self, batch: LabelledBatch) -> None:
        from suffice.tables.targets import read_labels

        first = -self.n_rows % self._stride
        self.n_rows += batch.X.num_rows
        self._parts.append(_every(batch.X, read_labels(batch.y), batch.weight, first, self._stride))
        while sum(len(labels) for _, labels, _ in self._parts) > MOST_ROWS:
            self._stride *= 2
            start, thinned = 0, []
            for table, labels, weight in self._parts:
                thinned.append(_every(table, labels, weight, start % 2, 2))
                start += len(labels)
            self._parts = thinned


def _every(X: Any, y: Any, weight: Any, first: int, stride: int) -> tuple[Any, Any, Any]:
    if stride == 1:
        return X, y, weight
    rows = np.arange(first, len(y), stride)
    return X.take(rows), y[rows], None if weight is None else weight[rows]


def cross_validated(model: Any, sample: Sample) -> Evaluation | None:
    """How well a fitted model does on rows it has not seen; None if there are too few rows."""
    import suffice

    n = len(sample.y)
    if n < 2 * FOLDS or len(model.classes_) < 2:
        return None
    fold = np.random.default_rng(0).permutation(n) % FOLDS
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    posterior = np.zeros((n, len(place)))
    for number in range(FOLDS):
        rows, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if len(np.unique(sample.y[rest])) < 2:
            return None
        other = _without(model, sample, rows, rest)
        # A class that occurs only in this fold gets 0.
        columns = np.array([place[label] for label in other.classes_.tolist()])
        posterior[np.ix_(rows, columns)] = other.predict_proba(sample.X.take(rows))
    return suffice.Evaluation.of(sample.y, posterior, classes=model.classes_, sample_weight=sample.weight)


def _without(model: Any, sample: Sample, rows: Any, rest: Any) -> Any:
    """The model as if it had not seen these rows."""
    from sklearn.base import clone

    def of(some: Any) -> tuple[Any, Any, Any]:
        return sample.X.take(some), sample.y[some], None if sample.weight is None else sample.weight[some]

    if hasattr(model, "forget"):
        return copy(model).forget(*of(rows))
    return clone(model).fit(*of(rest))
