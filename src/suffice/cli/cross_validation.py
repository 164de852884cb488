"""Cross-validation of a model of files, on rows drawn from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from suffice.evaluation.evaluate import Evaluation
    from suffice.tables.files.batches import LabelledBatch

FOLDS = 5
MOST_ROWS = 50_000
"""The most rows that are used; of more, so many are drawn."""


class Sample:
    """Rows drawn at random from all rows, however many there are; the same each time."""

    def __init__(self, batches: Iterator[LabelledBatch]) -> None:
        from suffice.engines.kept_rows import KeptRows

        self.n_rows, kept = 0, KeptRows(MOST_ROWS)
        for batch in batches:
            self.n_rows += len(batch.y)
            kept.add(batch)
        self.X, self.y, self.weight = kept.batch()


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
