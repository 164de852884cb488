"""Labelled rows → Statistics, the only step of fitting that touches data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.kernels.choose import class_counts, one_choice
from suffice.model.columns.chosen_families import Families
from suffice.model.columns.declared import with_declared_levels
from suffice.model.columns.schema import Schema
from suffice.model.inference.infer import choose_schema, decide_more
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.coded_labels import CodedLabels
from suffice.tables.notations import Marks
from suffice.tables.row_source import rename_row, row_in
from suffice.tables.table import Table
from suffice.tables.targets import checked_weights
from suffice.tables.wording import counted

MOST_NUMBERS = 1 << 12
"""The range of whole-number labels that are counted."""


class LabelledRows:
    """A table with its labels and weights, checked, without the rows of weight zero."""

    def __init__(self, table: Table, y: NDArray[Any] | CodedLabels, sample_weight: ArrayLike | None) -> None:
        if len(y) != table.n_rows:
            raise ValueError(f"X has {counted(table.n_rows, 'row')}, but y has {counted(len(y), 'label')}.")
        self._table = table
        self.weights = None if sample_weight is None else checked_weights(sample_weight, table.n_rows)
        self.kept: Codes | None = None
        """The positions of the rows that count; None if all do."""
        if self.weights is not None and not (self.weights > 0).all():
            self.kept = np.flatnonzero(self.weights > 0)
            y, self.weights = y[self.kept], self.weights[self.kept]
        self.labels, self.codes, self.counts = _label_codes(y, table.n_rows * table.cells_per_row)

    def schema(self, families: Families, marks: Marks | None = None, *, weigh: bool = True) -> Schema:
        """Choose a schema for these rows; without marks of missing cells, text is levels as it is."""
        table = self.kept_table
        with self.counting_all():
            schema = choose_schema(
                table, self.codes, len(self.labels), self.weights, families, marks, weigh=weigh
            )
        if schema.held_out is not None:
            schema = replace(schema, held_out=schema.held_out.labelled(self.labels))
        return with_declared_levels(schema, table)

    def decided(self, schema: Schema, marks: Marks | None = None) -> Schema:
        """The schema, with its undecided columns decided as far as these rows allow."""
        table = self.kept_table
        with self.counting_all():
            decided = decide_more(schema, table, self.codes, len(self.labels), self.weights, marks)
        return with_declared_levels(decided, table)

    def statistics(self, schema: Schema) -> Statistics:
        """The sums of these rows."""
        accumulator = Accumulator.empty(schema)
        self.add_to(accumulator)
        return accumulator.statistics()

    def add_to(self, accumulator: Accumulator) -> None:
        """Add these rows to sums; anything wrong is refused before anything changes."""
        table = self.kept_table
        # The choice is that of all columns, as in files.
        with self.counting_all(), one_choice(table.n_rows * table.cells_per_row):
            blocks = accumulator.schema.blocks(table, accumulator.totals)
            accumulator.update(blocks, self.labels, self.codes, self.counts, self.weights)

    def shares(self) -> Array:
        """The share of each label in the weight of all rows."""
        counts = self.counts if self.weights is None else np.bincount(self.codes, self.weights)
        return np.asarray(counts / counts.sum())

    @cached_property
    def kept_table(self) -> Table:
        """The rows that count."""
        return self._table if self.kept is None else self._table.take(self.kept)

    @contextmanager
    def counting_all(self) -> Iterator[None]:
        """Let errors about a row count all rows, those of weight zero too."""
        try:
            yield
        except (TypeError, ValueError) as error:
            row = row_in(error)
            if self.kept is not None and row is not None:
                rename_row(error, int(self.kept[row]))
            raise


def _label_codes(y: NDArray[Any] | CodedLabels, n_cells: int) -> tuple[NDArray[Any], Codes, Counts]:
    """The distinct labels, sorted; the index of each row's label; and the number of rows of each label.

    The rows have so many cells, by which kernels are chosen.
    """
    if isinstance(y, CodedLabels):
        counts = class_counts(y.codes, len(y.values), n_cells)
        held = np.flatnonzero(counts)
        order = held[np.argsort(y.values[held], kind="stable")]
        places = np.zeros(len(y.values), dtype=np.intp)
        places[order] = np.arange(len(order))
        return y.values[order], places[y.codes], counts[order]
    if y.dtype.kind in "iu" and len(y):
        low = int(y.min())
        n_labels = int(y.max()) - low + 1
        if n_labels <= MOST_NUMBERS:  # counted, which is faster than sorted
            # Labels of few bits may be farther apart than these hold with a sign.
            above = (y - y.dtype.type(low)).view(f"u{y.itemsize}") if low else y
            places = np.ascontiguousarray(above, dtype=np.intp)
            counts = class_counts(places, n_labels, n_cells)
            present = counts > 0
            labels = present.nonzero()[0].astype(y.dtype) + y.dtype.type(low)
            own = places if present.all() else (np.cumsum(present) - 1)[places]
            return labels, own, counts[present]
    codes: NDArray[np.intp] | None = None
    if y.dtype == object:  # hashed, which is faster than sorted
        index: defaultdict[Any, int] = defaultdict(count().__next__)
        codes = np.fromiter(map(index.__getitem__, y.tolist()), np.intp, len(y))
        y = np.array([*index], dtype=object)
    try:
        labels, places = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise TypeError(f"the labels mix types without an order: {', '.join(kinds)}; use one type.") from None
    codes = places.reshape(-1) if codes is None else places.reshape(-1)[codes]
    return labels, codes, class_counts(codes, len(labels), n_cells)
