"""Rows for a regression: numbers in every cell, none missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import compute_class_weight

from suffice.engines.container import Container
from suffice.engines.table import Table
from suffice.families.elementary import Array
from suffice.reading import Names, read_features, read_more_features, read_targets
from suffice.regression.design import Block, Extent, Parts
from suffice.rows import LabelledRows


@dataclass(frozen=True)
class RegressionRows:
    """Rows to learn from, and what is known about all of them."""

    parts: Parts
    extent: Extent
    classes: NDArray[Any]
    class_weights: Array
    """Σ of the weights of each class."""
    names: Names | None
    """Of the columns, where they have names."""
    container: Container


def read_training(
    estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None, class_weight: Any
) -> RegressionRows:
    """Check and read rows, labels and weights."""
    labels = read_targets(estimator, y)
    table = read_features(estimator, X)
    rows = LabelledRows(table, labels, sample_weight)
    if len(rows.labels) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 classes, but y holds one class only: "
            f"{rows.labels.tolist()[0]!r}."
        )
    weights = rows.weights
    if class_weight is not None:
        by_row = _weights_of_classes(rows, class_weight)[rows.codes]
        weights = by_row if weights is None else weights * by_row
    parts = [Block(_numbers(rows.kept_table()), rows.codes, weights)]
    extent = Extent.of(parts)
    _refuse_gaps(table, extent)
    return RegressionRows(
        parts,
        extent,
        rows.labels,
        np.bincount(rows.codes, weights).astype(np.float64),
        table.names if table.named else None,
        table.container,
    )


def read_rows(estimator: Any, X: Any, names: Names | None) -> Any:
    """Check and read rows to predict, in columns that are named as when fitting."""
    table = read_more_features(estimator, X, names)
    numbers = _numbers(table)
    if table.n_rows:
        _refuse_gaps(table, Extent.of([Block(numbers, np.zeros(table.n_rows, np.intp), None)]))
    return numbers


def _weights_of_classes(rows: LabelledRows, class_weight: Any) -> Array:
    """What the rows of each class weigh beside their own weights."""
    if class_weight != "balanced" and not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict by label, got {class_weight!r}.")
    weights = compute_class_weight(
        class_weight, classes=rows.labels, y=rows.labels[rows.codes], sample_weight=rows.weights
    )
    for label, weight in zip(rows.labels.tolist(), weights.tolist(), strict=True):
        if not 0.0 < weight < np.inf:
            raise ValueError(
                f"class_weight is {weight} for the class {label!r}; weights must be finite and > 0 "
                "(to leave a class out, drop its rows)."
            )
    return np.asarray(weights)


def _numbers(table: Table) -> Any:
    """All cells as floats, dense or csr; text and moments are refused with the column's name."""
    for column in range(table.n_columns):
        kind = table.kind(column)
        if kind not in ("number", "boolean"):
            what = "text or categories" if kind == "level" else f"cells of the kind {kind!r}"
            raise ValueError(
                f"{table.label(column)} holds {what}, but a regression takes numbers; encode the column "
                "(OneHotEncoder), drop it, or use BayesClassifier, which takes it as it is."
            )
    if table.sparse is None:
        return table.numbers(slice(None))
    X = sparse.csr_array(table.sparse)
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def _refuse_gaps(table: Table, extent: Extent) -> None:
    missing = extent.first_missing()
    if missing is not None:
        raise ValueError(
            f"{table.label(missing)} has missing cells (NaN), and a regression has no term for them; fill "
            "them in (SimpleImputer), drop the column, or use BayesClassifier or GaussianDiscriminant, "
            "which take gaps."
        )
