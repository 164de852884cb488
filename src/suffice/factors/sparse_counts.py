"""Class sums and scores of sparse counts, row by row: no product with a table of class memberships."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import threads
from suffice.factors.base import Codes, Counts
from suffice.families.elementary import Array
from suffice.kernels.choice import discrete_for, read_only

GROUPS = 16
"""Groups of classes of about equal size; a class belongs to one, so its rows are added in their order."""


def add_sparse_counts(
    block: Any,
    classes: Codes,
    weights: Array | None,
    sums: tuple[Array, Counts, Array, Counts, Array],
) -> None:
    """Add rows to Σw·x and support by class and column, and to weight, rows and Σw·log h by class."""
    block = block.tocsr()
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    kernels = discrete_for(block.nnz)
    by_row = np.ones(len(classes)) if weights is None else weights
    rows = tuple(read_only(array) for array in (block.indptr, block.indices, block.data, classes, by_row))
    threads.run(
        lambda group: kernels.add_counts(read_only(group), *rows, *sums),
        _groups(classes, len(sums[3]), np.diff(block.indptr)),
    )


def _groups(classes: Codes, n_classes: int, n_entries: NDArray[Any]) -> list[Codes]:
    """The rows of some classes each, in order."""
    by_class = np.bincount(classes, n_entries, minlength=n_classes)
    share = np.cumsum(by_class) / max(by_class.sum(), 1.0)
    group = np.minimum((share * GROUPS).astype(np.uint8), GROUPS - 1)[classes]
    order = np.argsort(group, kind="stable")
    return [part for part in np.split(order, np.cumsum(np.bincount(group))[:-1]) if len(part)]


def add_sparse_count_scores(block: Any, table: Array, out: Array) -> None:
    """Add Σ x·table[column] to each row's scores."""
    block = block.tocsr()
    arrays = (read_only(array) for array in (block.indptr, block.indices, block.data))
    discrete_for(block.nnz * out.shape[1]).add_count_scores(*arrays, table, out)
