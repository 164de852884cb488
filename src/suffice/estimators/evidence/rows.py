"""Labelled rows that are weighed: in an order of their own, and in parts."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.estimators.evidence.sums import PieceSums
from suffice.kernels.choose import one_choice
from suffice.model.columns.schema import Schema
from suffice.model.summarize import LabelledRows
from suffice.tables.row_keys import RowKeys
from suffice.tables.table import Table

MOST_ROWS = 20_000
"""Rows that weights are learnt from: few numbers need no more."""
ROWS_AT_ONCE = 1 << 16


def with_less_weight(rows: LabelledRows, smaller: float) -> LabelledRows:
    """The same rows, each of which counts so many times less."""
    if rows.weights is None or smaller == 1.0:
        return rows
    lighter = copy(rows)
    lighter.weights = rows.weights / smaller
    return lighter


class Rows:
    """Labelled rows of positive weight, of which parts are summed."""

    def __init__(self, rows: LabelledRows) -> None:
        self.table = rows.kept_table
        self.keys: RowKeys | None = None
        """Of what each row holds, if rows are in the order of these."""
        self.labels, self.codes = rows.labels, rows.codes
        self.weights = rows.weights
        self.weight = np.ones(len(self.codes)) if rows.weights is None else rows.weights

    def take(self, some: Codes) -> Rows:
        """Some of the rows, by position."""
        other = copy(self)
        other.table, other.codes, other.weight = self.table.take(some), self.codes[some], self.weight[some]
        other.weights = None if self.weights is None else self.weights[some]
        other.keys = None if self.keys is None else self.keys.take(some)
        return other

    def in_order(self, schema: Schema) -> Rows:
        """The same rows in an order that depends on what they hold, so that a shuffle changes no digit.

        More rows are as they come, since a sample of them is drawn by position.
        """
        if len(self.codes) > MOST_ROWS:
            return self
        ordered = copy(self)
        ordered.keys = keys = schema.keys(schema.read(self.table))
        return ordered.take(np.lexsort((self.weight, keys.keys, self.codes)))

    def add_to(self, sums: PieceSums, apart_from: Codes) -> None:
        """Add all rows but some."""
        with one_choice(len(self.codes) * self.table.cells_per_row):
            for some, table in self.others(apart_from):
                sums.update(table, *self.labels_of(some))

    def labels_of(self, some: Codes) -> tuple[NDArray[Any], Codes, Counts, Array | None]:
        """The labels that some rows have, the place of each row's label, how often each occurs; weights."""
        codes, weights = self.codes[some], None if self.weights is None else self.weights[some]
        counts = np.bincount(codes, minlength=len(self.labels))
        present = np.flatnonzero(counts)
        if len(present) == len(counts):
            return self.labels, codes, counts, weights
        own = np.cumsum(counts > 0) - 1
        return self.labels[present], own[codes], counts[present], weights

    def labelled(self, some: Codes, weights: Array | None) -> Rows:
        """The labels of some rows, or parts of rows, with their weights."""
        other = copy(self)
        other.codes, other.weights = self.codes[some], weights
        other.weight = np.ones(len(some)) if weights is None else weights
        return other

    def others(self, some: Codes) -> Iterator[tuple[Codes, Table]]:
        """All rows but some, in batches."""
        n = len(self.codes)
        left = np.ones(n, dtype=np.bool_)
        left[some] = False
        for start in range(0, n, ROWS_AT_ONCE):
            part = slice(start, min(start + ROWS_AT_ONCE, n))
            if left[part].any():
                yield start + np.flatnonzero(left[part]), self.table.part(part).take(left[part])
