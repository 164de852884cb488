"""The rows of a regression: a number in every cell, none missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from suffice.arrays import Array
from suffice.estimators.regression.design import Block, Extent, Parts
from suffice.kernels.choose import is_complete
from suffice.lazy import scikit_learn
from suffice.model.summarize import LabelledRows
from suffice.tables.container import Container
from suffice.tables.estimator_input import Names, read_features, read_more_features, read_targets
from suffice.tables.files.batches import Labelled, LabelledBatch
from suffice.tables.table import Table, read_table, take_rows
from suffice.tables.targets import joined_labels, labelled, read_labels
from suffice.tables.wording import quoted

HELD_BYTES = 1 << 27
"""Bytes of numbers from files that are kept in memory; beyond that, files are read on every pass."""


@dataclass(frozen=True)
class RegressionRows:
    """The training rows, and what is known about all of them."""

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
    """Read and check rows, labels and weights."""
    X, y = labelled(X, y)
    labels = read_targets(estimator, y)
    table = read_features(estimator, X)
    rows = LabelledRows(table, labels, sample_weight)
    totals = np.bincount(rows.codes, rows.weights).astype(np.float64)
    by_class = weights_of_classes(estimator, rows.labels, totals, class_weight)
    return _training([block_of(rows, rows.labels, by_class)], table, rows.labels, totals, by_class)


def read_training_files(estimator: Any, files: Labelled, class_weight: Any) -> RegressionRows:
    """Read and check the rows of files: kept in memory if few, otherwise read again on every pass."""

    def scan(batches: Iterator[LabelledBatch]) -> tuple[list[Table], dict[Any, float], list[Any], int]:
        first: list[Table] = []
        seen, size = [], 0
        totals: dict[Any, float] = {}
        for X, y, weights in batches:
            first = first or [read_features(estimator, take_rows(X, np.arange(1)))]
            table = read_table(X)
            rows = LabelledRows(table, read_targets(estimator, y), weights)
            sums = np.bincount(rows.codes, rows.weights).tolist()
            for label, weight in zip(rows.labels.tolist(), sums, strict=True):
                totals[label] = totals.get(label, 0.0) + weight
            seen.append(rows.labels)
            size += table.n_rows * table.n_columns * np.dtype(np.float64).itemsize
        return first, totals, seen, size

    (table,), sums, seen, size = files.through(scan)
    classes = np.unique(joined_labels(seen))
    totals = np.array([sums[label] for label in classes.tolist()])
    by_class = weights_of_classes(estimator, classes, totals, class_weight)
    parts = _FileParts(files, classes, by_class)
    return _training(list(parts) if size <= HELD_BYTES else parts, table, classes, totals, by_class)


@dataclass(frozen=True)
class _FileParts:
    """The rows of files as numbers."""

    files: Labelled
    classes: NDArray[Any]
    by_class: Array | None

    def __iter__(self) -> Iterator[Block]:
        for X, y, weights in self.files:
            yield block_of(LabelledRows(read_table(X), read_labels(y), weights), self.classes, self.by_class)


def block_of(rows: LabelledRows, classes: NDArray[Any], by_class: Array | None) -> Block:
    """Rows as numbers, with codes among all classes."""
    codes = np.searchsorted(classes, rows.labels)[rows.codes]
    weights = rows.weights
    if by_class is not None:
        weights = by_class[codes] if weights is None else weights * by_class[codes]
    with rows.counting_all():
        return Block(numbers_of(rows.kept_table), codes, weights)


def _training(
    parts: Parts, table: Table, classes: NDArray[Any], totals: Array, by_class: Array | None
) -> RegressionRows:
    return training(parts, Extent.of(parts), table, classes, totals, by_class)


def training(
    parts: Parts,
    extent: Extent,
    table: Table,
    classes: NDArray[Any],
    totals: Array,
    by_class: Array | None,
) -> RegressionRows:
    """Rows of known classes, without missing cells; `table` has their columns."""
    _refuse_gaps(table, extent)
    return RegressionRows(
        parts,
        extent,
        classes,
        totals if by_class is None else totals * by_class,
        table.names if table.named else None,
        table.container,
    )


def read_rows(estimator: Any, X: Any, names: Names | None) -> Any:
    """Read and check rows to predict, whose columns are named as in `fit`."""
    table = read_more_features(estimator, X, names)
    numbers = numbers_of(table)
    if not is_complete(numbers.data if sparse.issparse(numbers) else numbers):
        _refuse_gaps(table, Extent.of([Block(numbers, np.zeros(table.n_rows, np.intp), None)]))
    return numbers


def weights_of_classes(
    estimator: Any, classes: NDArray[Any], totals: Array, class_weight: Any
) -> Array | None:
    """The factors that class_weight gives the rows of each class, whose own weights add up to `totals`."""
    if len(classes) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs at least 2 classes, but y has only one class: "
            f"{quoted(classes.tolist()[0])}."
        )
    if class_weight is None:
        return None
    if not isinstance(class_weight, dict) and not (
        isinstance(class_weight, str) and class_weight == "balanced"
    ):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict by label, got {class_weight!r}.")
    weights = scikit_learn.compute_class_weight(
        class_weight, classes=classes, y=classes, sample_weight=totals
    )
    for label, weight in zip(classes.tolist(), weights.tolist(), strict=True):
        if not 0.0 < weight < np.inf:
            raise ValueError(
                f"class_weight is {weight} for class {quoted(label)}; class weights must be finite and > 0 "
                "(to leave a class out, drop its rows)."
            )
    return np.asarray(weights)


def numbers_of(table: Table) -> Any:
    """All cells as floats, dense or csr; columns of other kinds are refused by name."""
    if table.stored is not None:
        X = sparse.csr_array(table.sparse)
        return X if X.dtype.kind == "f" else X.astype(np.float64)
    for column in range(table.n_columns):
        kind = table.kind(column)
        if kind not in ("number", "boolean"):
            what = "text or categories" if kind == "level" else f"values of the kind {kind!r}"
            raise ValueError(
                f"{table.label(column)} holds {what}, but a regression needs numbers; encode the column "
                "(OneHotEncoder), drop it, or use BayesClassifier, which takes it as it is."
            )
    return table.numbers(slice(None))


def _refuse_gaps(table: Table, extent: Extent) -> None:
    missing = extent.first_missing()
    if missing is not None:
        raise ValueError(
            f"{table.label(missing)} has missing cells (NaN), which a regression cannot use; fill them in "
            "(SimpleImputer), drop the column, or use BayesClassifier or GaussianDiscriminant, which accept "
            "missing cells."
        )
