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
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Accumulator
from suffice.model.summarize import LabelledRows
from suffice.tables.container import Container
from suffice.tables.estimator_input import Names, read_features, read_more_features, read_targets
from suffice.tables.files.batches import Labelled, LabelledBatch
from suffice.tables.table import Table, read_table, take_rows
from suffice.tables.targets import labelled, read_labels
from suffice.tables.wording import quoted

HELD_BYTES = 1 << 27
"""Bytes of numbers from files that are kept in memory; beyond that, files are read on every pass."""
CLASSES = Schema((), named=False)
"""No columns: the sums are those of the classes."""


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


class SeenRows:
    """What is known of rows that have passed: the weights of their classes, and the extent of the columns."""

    def __init__(self) -> None:
        self.classes = Accumulator.empty(CLASSES)
        self.extent = Extent.empty()
        self.are_sparse: bool | None = None
        """Whether the first rows were, as which all others are read."""

    def add(self, rows: LabelledRows) -> Block:
        """Let rows pass, and return them as numbers, with codes among their own labels."""
        block = _numbered(rows)
        if self.are_sparse is None:
            self.are_sparse = sparse.issparse(block.X)
        block = block.stored(sparsely=self.are_sparse)
        rows.add_to(self.classes)
        if len(block):
            with rows.counting_all():
                self.extent += complete_extent(rows.kept_table, block)
        return block


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
    block = block_of(rows, rows.labels, by_class)
    with rows.counting_all():
        extent = complete_extent(rows.kept_table, block)
    return training([block], extent, table, rows.labels, totals, by_class)


def read_training_files(estimator: Any, files: Labelled, class_weight: Any) -> RegressionRows:
    """Read and check the rows of files: kept in memory if few, otherwise read again on every pass."""

    def scan(batches: Iterator[LabelledBatch]) -> tuple[list[Table], SeenRows, _Held, bool]:
        first: list[Table] = []
        seen, size = SeenRows(), 0
        held: _Held = []
        for X, y, weights in batches:
            first = first or [read_features(estimator, take_rows(X, np.arange(1)))]
            table = read_more_features(estimator, X, _names(first[0]))
            rows = LabelledRows(table, read_targets(estimator, y), weights)
            held.append((rows.labels, seen.add(rows)))
            size += table.n_rows * table.n_columns * np.dtype(np.float64).itemsize
            if size > HELD_BYTES:
                held.clear()
        return first, seen, held, size <= HELD_BYTES

    (table,), seen, held, are_all = files.through(scan)
    found = seen.classes.statistics()
    classes, totals = found.classes, found.weight
    by_class = weights_of_classes(estimator, classes, totals, class_weight)
    some = [_among(classes, labels, block, by_class) for labels, block in held]
    parts = some if are_all else _FileParts(files, classes, by_class, bool(seen.are_sparse))
    return training(parts, seen.extent, table, classes, totals, by_class)


_Held = list[tuple[NDArray[Any], Block]]
"""Labels, and rows with codes among them."""


@dataclass(frozen=True)
class _FileParts:
    """The rows of files as numbers."""

    files: Labelled
    classes: NDArray[Any]
    by_class: Array | None
    are_sparse: bool

    def __iter__(self) -> Iterator[Block]:
        for X, y, weights in self.files:
            rows = LabelledRows(read_table(X), read_labels(y), weights)
            yield block_of(rows, self.classes, self.by_class).stored(sparsely=self.are_sparse)


def block_of(rows: LabelledRows, classes: NDArray[Any], by_class: Array | None) -> Block:
    """Rows as numbers, with codes among all classes."""
    return _among(classes, rows.labels, _numbered(rows), by_class)


def _numbered(rows: LabelledRows) -> Block:
    """Rows as numbers, with codes among their own labels."""
    with rows.counting_all():
        return Block(numbers_of(rows.kept_table), rows.codes, rows.weights)


def _among(classes: NDArray[Any], labels: NDArray[Any], block: Block, by_class: Array | None) -> Block:
    """Rows with codes among some labels, as rows with codes among all classes."""
    codes = np.searchsorted(classes, labels)[block.codes]
    weights = block.weights
    if by_class is not None:
        weights = by_class[codes] if weights is None else weights * by_class[codes]
    return Block(block.X, codes, weights)


def training(
    parts: Parts,
    extent: Extent,
    table: Table,
    classes: NDArray[Any],
    totals: Array,
    by_class: Array | None,
) -> RegressionRows:
    """Rows of known classes, without missing cells; `table` has their columns."""
    return RegressionRows(
        parts,
        extent,
        classes,
        totals if by_class is None else totals * by_class,
        _names(table),
        table.container,
    )


def _names(table: Table) -> Names | None:
    return table.names if table.named else None


def read_rows(estimator: Any, X: Any, names: Names | None) -> Any:
    """Read and check rows to predict, whose columns are named as in `fit`."""
    table = read_more_features(estimator, X, names)
    numbers = numbers_of(table)
    if not is_complete(numbers.data if sparse.issparse(numbers) else numbers):
        complete_extent(table, Block(numbers, np.zeros(table.n_rows, np.intp), None))
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
                "(OneHotEncoder), drop it, or use EvidenceClassifier or BayesClassifier, which take it as it "
                "is."
            )
    return table.numbers(slice(None))


def complete_extent(table: Table, block: Block) -> Extent:
    """The extent of a table's columns as numbers; missing cells are refused."""
    extent = Extent.of([block])
    missing = extent.first_missing()
    if missing is not None:
        cells = block.X[:, [missing]]
        row = int(np.isnan(cells.toarray() if sparse.issparse(cells) else cells).argmax())
        raise ValueError(
            f"{table.label(missing)} has missing cells (NaN), the first at row {row}, which a regression "
            "cannot use; fill them in (SimpleImputer), drop the column, or use EvidenceClassifier, "
            "BayesClassifier or GaussianDiscriminant, which accept missing cells."
        )
    return extent
