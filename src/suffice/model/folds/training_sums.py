"""Sums of the training rows of every split of a table; where folds are disjoint, each row is summed once.

So it is where training rows grow from split to split.

The training rows of a fold are the rows of all other folds, so their sums are the total without the fold.
They are found by adding the other folds, not by subtracting one: what is left of a difference of large sums
is rounding errors, which a column that is constant in the training rows would take for its variance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Array, Codes
from suffice.model.columns.chosen_families import Families, Smoothed
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.container import Container
from suffice.tables.notations import Marks
from suffice.tables.table import Table
from suffice.tables.targets import checked_weights
from suffice.tables.wording import counted

CELLS_AT_ONCE = 1 << 22
"""Cells that are copied at once to be summed."""

FEW_CELLS = 1 << 18
"""Cells of a table that is summed in the time of a few additions of statistics."""

Splits = Iterable[tuple[Any, Any]]
"""Training rows and test rows, by position or by masks."""


@dataclass
class TrainingSums:
    """The sums of the training rows of one split, which a model is fitted to in place of the rows."""

    accumulator: Accumulator
    container: Container


@dataclass
class _Run:
    """Disjoint folds and the rows in none of them; or a single split, whose training rows are `rest`."""

    folds: list[Codes]
    rest: Codes


class SplitRows:
    """The rows of a table, whose schemas are those of all rows, whatever the split."""

    def __init__(self, table: Table, labels: NDArray[Any], weights: ArrayLike | None) -> None:
        self.table = table
        self.labels = labels
        self.weights = None if weights is None else checked_weights(weights, table.n_rows)
        self._schemas: list[tuple[Families, Marks | None, Schema]] = []

    def schema(self, families: Families, marks: Marks | None = None) -> Schema:
        """The schema that all rows get; it is chosen once for equal families and marks of missing cells."""
        if isinstance(families, Smoothed):
            return families.on(self.schema(families.families, marks))
        for given, known, chosen in self._schemas:
            if given == families and known == marks:
                return chosen
        schema = LabelledRows(self.table, self.labels, self.weights).schema(families, marks)
        self._schemas.append((families, marks, schema))
        return schema

    def training_sums(
        self, splits: Splits, schemas: Sequence[Schema]
    ) -> Iterator[tuple[Codes, list[Statistics]]]:
        """The training rows of each split, by position, and their sums under each of some schemas."""
        nothing = [Accumulator.empty(schema).statistics() for schema in schemas]
        tables = [schema.read(self.table) for schema in schemas]
        everyone = np.arange(self.table.n_rows)
        before, rest = everyone[:0], nothing
        for run in _runs(splits, everyone):
            alone = len(run.folds) == 1
            if not alone and self._are_summed_sooner(run):
                for rows in run.folds:
                    train = np.delete(everyone, rows)
                    self._check_weights(train)
                    yield train, self._sums(tables, train, nothing)
                continue
            folds = [nothing if alone else self._sums(tables, rows, nothing) for rows in run.folds]
            if not np.array_equal(run.rest[: len(before)], before):
                before, rest = everyone[:0], nothing
            # Where training rows grow from split to split, only the new ones are summed.
            before, rest = run.rest, self._sums(tables, run.rest[len(before) :], rest)
            others = (_without_each(parts, sums) for *parts, sums in zip(*folds, rest, strict=True))
            for rows, *sums in zip(run.folds, *others, strict=True):
                train = run.rest if alone else np.delete(everyone, rows)
                self._check_weights(train)
                yield train, sums

    def _are_summed_sooner(self, run: _Run) -> bool:
        """Whether to sum a small table anew takes less time than to add up the sums of single rows."""
        n_cells = self.table.n_rows * self.table.cells_per_row
        return n_cells <= FEW_CELLS and all(len(rows) == 1 for rows in run.folds)

    def _check_weights(self, train: Codes) -> None:
        if self.weights is not None:
            checked_weights(self.weights[train], len(train))

    def take(self, rows: Codes) -> tuple[NDArray[Any], Array | None]:
        """The labels and the weights of some rows."""
        return self.labels[rows], None if self.weights is None else self.weights[rows]

    def _sums(self, tables: list[Table], rows: Codes, nothing: list[Statistics]) -> list[Statistics]:
        """The sums of some rows under each schema, which reads its own table, in batches."""
        if self.weights is not None:
            rows = rows[self.weights[rows] > 0]
        accumulators = [Accumulator.of(one) for one in nothing]
        size = max(1, CELLS_AT_ONCE // self.table.cells_per_row)
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            labels = self.take(batch)
            taken = {table: LabelledRows(table.take(batch), *labels) for table in dict.fromkeys(tables)}
            for table, accumulator in zip(tables, accumulators, strict=True):
                taken[table].add_to(accumulator)
        return [accumulator.statistics() for accumulator in accumulators]


def read_splits(splits: Splits, n_rows: int) -> Iterator[tuple[Codes, Codes]]:
    """Splits by position; those without training rows are refused."""
    everyone = np.arange(n_rows)
    for number, (train, test) in enumerate(iterated(splits)):
        chosen = _chosen(everyone, train, f"the training rows of split {number}")
        held = _chosen(everyone, test, f"the test rows of split {number}")
        if not len(chosen):
            raise ValueError(f"split {number} has no training rows; check cv.")
        yield chosen, held


def iterated(splits: Any) -> Splits:
    """The splits; a number of folds or a splitter in their place is refused."""
    if isinstance(splits, Iterable):
        return splits
    raise TypeError(
        "splits must be pairs of training rows and test rows, such as those of scikit-learn's "
        f"StratifiedKFold(5).split(X, y), got {splits!r}."
    )


def _chosen(everyone: Codes, rows: Any, name: str) -> Codes:
    """The rows at some positions or where a mask is true."""
    try:
        return everyone[np.asarray(rows) if len(rows) else []]
    except IndexError as error:
        found = np.asarray(rows)
        if found.dtype.kind == "b":
            got = f"a mask of length {len(found)}"
        else:
            strange = np.ones(found.shape, dtype=np.bool_)
            if found.dtype.kind in "iu":
                strange = (found < -len(everyone)) | (found >= len(everyone))
            got = repr(found[strange].tolist()[0])
        raise ValueError(
            f"{name} must be positions or a mask of {counted(len(everyone), 'row')}, got {got}."
        ) from error


def _runs(splits: Splits, everyone: Codes) -> Iterator[_Run]:
    """Runs of consecutive splits whose folds are disjoint and whose training rows are all rows but the fold.

    Any other split is a run of its own.
    """
    folds: list[Codes] = []
    free = np.ones(len(everyone), dtype=np.bool_)
    for train, test in read_splits(splits, len(everyone)):
        held, chosen = np.zeros((2, len(everyone)), dtype=np.bool_)
        held[test] = chosen[train] = True
        fold = np.flatnonzero(held)
        complement = len(train) + len(fold) == len(everyone) and bool((held ^ chosen).all())
        if folds and not (complement and free[fold].all()):
            yield _Run(folds, np.flatnonzero(free))
            folds = []
            free[:] = True
        if complement:
            folds.append(fold)
            free[fold] = False
        else:
            yield _Run([fold], train)
    if folds:
        yield _Run(folds, np.flatnonzero(free))


def _without_each(parts: Sequence[Statistics], others: Statistics) -> Iterator[Statistics]:
    """For each part, the sums of all other parts and of `others`.

    Each half of the parts is added once for the whole other half, so a part is added log₂ n times, not n.
    """
    if len(parts) == 1:
        yield others
        return
    middle = len(parts) // 2
    for own, added in ((parts[:middle], parts[middle:]), (parts[middle:], parts[:middle])):
        grown = Accumulator.of(others)
        for part in added:
            grown.add(part, 1)
        yield from _without_each(own, grown.statistics())
