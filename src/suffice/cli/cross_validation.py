"""Cross-validation of a model of files, on rows spread evenly over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from suffice.evaluation.evaluate import Evaluation
    from suffice.tables.files.batches import LabelledBatch

FOLDS = 5
MOST_ROWS = 50_000
"""The most rows that are used; of more rows every second, fourth, … is."""


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
    """How well a model does on rows it has not seen; None if there are too few rows.

    A fitted model of families keeps those that the first rows of the files decided.
    """
    from sklearn.base import clone
    from sklearn.model_selection import PredefinedSplit

    import suffice

    n = len(sample.y)
    fold = np.random.default_rng(0).permutation(n) % FOLDS
    if n < 2 * FOLDS or any(len(np.unique(sample.y[fold != number])) < 2 for number in range(FOLDS)):
        return None
    if "families" in model.get_params():
        model = clone(model).set_params(families=model.schema_)
    splits = PredefinedSplit(fold)
    return suffice.evaluate(model, sample.X, sample.y, cv=splits, sample_weight=sample.weight)
