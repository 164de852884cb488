"""The rows of a regression where workers have them: every pass sends coefficients and brings back sums.

A first pass finds the classes and the extent of the columns, and brings some rows along. Where these are all
rows, no other pass is needed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.engines.kept_rows import KeptRows, merge_kept
from suffice.engines.partial_sums import Merge, MergeSeveral, labelled_table, packed
from suffice.estimators.regression.design import SAMPLE, Block, Extent, RowsElsewhere, Total, total
from suffice.estimators.regression.objective import Pair, Sums
from suffice.estimators.regression.rows import (
    CLASSES,
    RegressionRows,
    SeenRows,
    block_of,
    training,
    weights_of_classes,
)
from suffice.tables.estimator_input import read_features, read_targets
from suffice.tables.files.batches import Labelled, LabelledBatch
from suffice.tables.table import take_rows

KEPT_BYTES = 1 << 23
"""Bytes of numbers that come with the first pass; more rows than that stay with the workers."""
LARGE = 1 << 20
"""Bytes of a Hessian from which it is added up in groups before it reaches the driver."""
TOTALS = {one.__name__: one for one in (Sums, Pair, Extent)}
"""What a pass may sum, beside single numbers."""


def read_with_workers(estimator: Any, labelled: Labelled, class_weight: Any) -> RegressionRows:
    """Read and check rows that workers have; few of them are brought here."""
    merge_classes = Merge.under(CLASSES)
    merge = MergeSeveral((merge_classes, MergeTotals(add), merge_kept))
    parts = merge.unpacked(labelled.reduced(_FirstPass(KEPT_BYTES), merge, is_large=True))
    found, kept = merge_classes.unpacked(parts[:1]), KeptRows.unpacked(parts[2:])
    if not len(kept):
        raise ValueError("there are no rows to learn from.")
    extent: Extent = unpacked_total(parts[1])
    some = kept.batch()
    classes, totals = read_targets(estimator, found.classes), found.weight
    by_class = weights_of_classes(estimator, classes, totals, class_weight)
    sample = block_of(labelled_table(some), classes, by_class)
    table = read_features(estimator, take_rows(some.X, np.arange(1)))
    if len(sample) == extent.n_rows:
        return training([sample], extent, table, classes, totals, by_class)
    rows = _WorkerRows(labelled, classes, by_class, sample)
    return training(rows, extent, table, classes, totals, by_class)


@dataclass(frozen=True)
class _FirstPass:
    """The weights of the classes, the extent of the columns, and some rows; it is sent to workers."""

    kept_bytes: int

    def __call__(self, batches: Iterable[LabelledBatch], part: int) -> bytes:
        """All three of a part, packed."""
        seen, kept = SeenRows(), KeptRows(0, part)
        for batch in batches:
            block = seen.add(labelled_table(batch))
            kept.most = max(SAMPLE, self.kept_bytes // (8 * max(1, block.X.shape[1])))
            kept.add(batch)
        return MergeSeveral.packed(
            [packed(seen.classes.statistics()), packed_total(seen.extent), kept.packed()]
        )


@dataclass(frozen=True)
class _WorkerRows(RowsElsewhere):
    """The rows of all parts, with the workers that have them."""

    labelled: Labelled
    classes: NDArray[Any]
    by_class: Array | None
    sample: Block

    def total(self, function: Callable[[Block], Total], plus: Callable[[Total, Total], Total]) -> Total:
        """One pass over all parts."""
        work = _Pass(self.classes, self.by_class, function, plus)
        size = 8 * (len(self.classes) * self.sample.X.shape[1]) ** 2
        summed = self.labelled.reduced(work, MergeTotals(plus), is_large=size > LARGE)
        found: Total = unpacked_total(summed)
        return found


@dataclass(frozen=True)
class _Pass:
    """The sum of a function over the blocks of a part; it is sent to workers."""

    classes: NDArray[Any]
    by_class: Array | None
    function: Callable[[Block], Any]
    plus: Callable[[Any, Any], Any]

    def __call__(self, batches: Iterable[LabelledBatch], part: int) -> bytes:
        """The sum, packed; nothing for a part without rows."""
        rows = map(labelled_table, batches)
        blocks = (block_of(one, self.classes, self.by_class) for one in rows)
        first = next(blocks, None)
        if first is None:
            return b""
        return packed_total(total(chain([first], blocks), self.function, self.plus))


@dataclass(frozen=True)
class MergeTotals:
    """Adds up packed sums of passes; those of parts without rows are empty."""

    plus: Callable[[Any, Any], Any]

    def __call__(self, parts: list[bytes]) -> bytes:
        """The packed sum."""
        found = list(map(unpacked_total, filter(None, parts)))
        return packed_total(reduce(self.plus, found)) if found else b""


def packed_total(found: Any) -> bytes:
    """The sums of a pass as bytes: a number, or numbers and arrays by name."""
    file = io.BytesIO()
    fields = {"number": found} if isinstance(found, float) else vars(found)
    held: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    np.savez(file, kind=np.array(type(found).__name__), **held)
    return file.getvalue()


def unpacked_total(found: bytes) -> Any:
    """The sums of a pass."""
    with np.load(io.BytesIO(found)) as held:  # which refuses all but plain arrays
        fields = {name: array if array.ndim else array.item() for name, array in held.items()}
    kind = fields.pop("kind")
    return TOTALS[kind](**fields) if kind in TOTALS else fields["number"]
