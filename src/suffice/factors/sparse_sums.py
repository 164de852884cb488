"""Sums of the columns, or words, that each class holds, in as few bytes as keep them exact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts

Ids = NDArray[np.int32]
PENDING = 1 << 20
"""At least this many entries may wait before they are summed."""
ENTRIES_AT_ONCE = 1 << 18
"""Entries that are sorted at once."""


class SparseSums:
    """For some classes and columns: Σ w·x, the rows with x > 0, and of words also Σ w·[x > 0].

    Entries are sorted by class and then column, without duplicates. Most classes hold few of many columns;
    columns that a class does not hold take no memory. Sums are stored in half the bytes where that is exact,
    and are read as full floats and integers. The arrays are never written to, so copies share them.
    """

    def __init__(
        self,
        classes: Ids,
        columns: Ids,
        total: NDArray[Any],
        support: NDArray[Any],
        present: NDArray[Any] | None = None,
    ) -> None:
        self.classes = classes
        self.columns = columns
        self._sums: tuple[NDArray[Any], ...] = narrowed(total, np.float32), narrowed(support, np.int32)
        if present is not None:
            self._sums += (narrowed(present, np.float32),)
        for array in self.arrays():
            array.setflags(write=False)

    @classmethod
    def of_tables(cls, first: int, *tables: NDArray[Any]) -> Self:
        """The entries of plain (classes, columns) tables, whose first class has this number."""
        held = np.flatnonzero(tables[1])
        n_columns = max(tables[1].shape[1], 1)
        return cls(
            (held // n_columns + first).astype(np.int32),
            (held % n_columns).astype(np.int32),
            *(table.ravel()[held] for table in tables),
        )

    @property
    def total(self) -> Array:
        """Σ w·x."""
        return self._sums[0].astype(np.float64, copy=False)

    @property
    def support(self) -> Counts:
        """The number of rows with x > 0."""
        return self._sums[1].astype(np.int64, copy=False)

    @property
    def present(self) -> Array:
        """Σ w·[x > 0], of words."""
        return self._sums[2].astype(np.float64, copy=False)

    def __len__(self) -> int:
        return len(self.columns)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All arrays, as they are kept."""
        return self.classes, self.columns, *self._sums

    def is_held(self) -> NDArray[np.bool_]:
        """Whether each entry comes from at least one row."""
        return np.asarray(self._sums[1] > 0)

    def are_positive(self) -> bool:
        """Whether every sum is above 0."""
        return all(array.min(initial=1) > 0 for array in self._sums)

    def draws(self, n_classes: int) -> Array:
        """Σ w·x of each class."""
        total = np.zeros(n_classes)
        for part in self.parts():
            total += np.bincount(part.classes, part.total, n_classes)
        return total

    def keys(self) -> Counts:
        """One number for each class and column, in their order."""
        return (self.classes.astype(np.int64) << 32) | self.columns

    def starts(self, n_classes: int) -> Counts:
        """Where the entries of each class begin, and the last end."""
        return np.searchsorted(self.classes, np.arange(n_classes + 1, dtype=np.int32))

    def table(self, values: NDArray[Any], n_classes: int, n_columns: int) -> NDArray[Any]:
        """One value of each entry as a plain table, 0 elsewhere."""
        table = np.zeros((n_classes, n_columns), values.dtype)
        table[self.classes, self.columns] = values
        return table

    def part(self, first: int, last: int) -> SparseSums:
        """A run of the entries."""
        return SparseSums(*(array[first:last] for array in self.arrays()))

    def parts(self) -> Iterator[SparseSums]:
        """The entries in runs of a limited size."""
        return (self.part(first, first + ENTRIES_AT_ONCE) for first in range(0, len(self), ENTRIES_AT_ONCE))

    def chosen(self, which: NDArray[np.bool_]) -> SparseSums:
        """Some of the entries."""
        return self if which.all() else SparseSums(*(array[which] for array in self.arrays()))

    def of_classes(self, index: Codes) -> SparseSums:
        """The entries of these classes, renumbered; −1 stands for a class without entries."""
        wanted = index.astype(np.int32)
        starts = np.searchsorted(self.classes, wanted)
        lengths = np.searchsorted(self.classes, wanted, side="right") - starts
        if lengths.sum() == len(self) and np.array_equal(index, np.arange(len(index))):
            return self
        at = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        at += np.arange(len(at))
        numbers = np.repeat(np.arange(len(index), dtype=np.int32), lengths)
        return SparseSums(numbers, *(array[at] for array in self.arrays()[1:]))

    def renumbered(self, columns: Ids) -> SparseSums:
        """The same sums of columns with other numbers, in the same order."""
        return SparseSums(self.classes, columns, *self._sums)

    def with_total(self, total: Array) -> SparseSums:
        """The same entries with another Σ w·x."""
        return SparseSums(self.classes, self.columns, total, *self._sums[1:])

    def scaled(self, factor: Array | int, sign: int = 1) -> SparseSums:
        """Sums times a factor, or one for each entry; support keeps its size."""
        present = (self.present * factor,) if len(self._sums) > 2 else ()
        return SparseSums(self.classes, self.columns, self.total * factor, self.support * sign, *present)

    def changed(self, more: SparseSums) -> SparseSums | None:
        """The sums after adding to a few of them, or None if some of these are not held yet."""
        at = self._places(more)
        if at is None:
            return None
        sums, gone = [], np.ones(len(at), np.bool_)
        for mine, added in zip(self._sums, more._sums, strict=True):
            wide = _wide(added.dtype)
            values = mine[at].astype(wide) + added.astype(wide)
            gone &= values == 0
            kept = narrowed(values, mine.dtype.type)
            whole = mine.astype(kept.dtype)
            whole[at] = kept
            sums.append(whole)
        entries = SparseSums(self.classes, self.columns, *sums)
        held = np.ones(len(self), np.bool_)
        held[at[gone]] = False
        return entries.chosen(held)

    def _places(self, few: SparseSums) -> NDArray[np.intp] | None:
        """Where the same classes and columns are here, or None if some are not."""
        at = np.empty(len(few), np.intp)
        for k in np.unique(few.classes).tolist():
            first, last = np.searchsorted(self.classes, [k, k + 1])
            asked = few.classes == k
            at[asked] = first + np.searchsorted(self.columns[first:last], few.columns[asked])
            at[asked & (at == last)] = -1
        is_there = (
            (at >= 0) & (self.columns[at] == few.columns) if len(self) else np.zeros(len(few), np.bool_)
        )
        return at if is_there.all() else None


class ClassSparseSums:
    """Sums that grow: new entries wait unsummed, so that adding a row costs no more than the row."""

    def __init__(self, entries: SparseSums) -> None:
        self.entries = entries

    @property
    def entries(self) -> SparseSums:
        """The sums, by class and then column."""
        if len(self._entries) > 1:
            self.entries = summed(self._entries)
        return self._entries[0]

    @entries.setter
    def entries(self, entries: SparseSums) -> None:
        self._entries = [entries]
        self._waiting = 0

    def append(self, more: SparseSums) -> None:
        """Add entries; they are summed when they are asked for, or when many wait."""
        self._entries.append(more)
        self._waiting += len(more)
        if self._waiting > max(PENDING, len(self._entries[0])):
            self.entries = summed(self._entries)


def no_sums(*, of_words: bool = False) -> SparseSums:
    """No entries."""
    ids, sums = np.empty(0, np.int32), np.empty(0, np.float32)
    return SparseSums(ids, ids, sums, ids, sums if of_words else None)


def joined(parts: list[SparseSums]) -> SparseSums:
    """All entries, one after the other; the list is emptied, so that memory is given back early."""
    held = [part for part in parts if len(part)] or parts[:1]
    parts.clear()
    if len(held) == 1:
        return held[0]
    columns = [list(arrays) for arrays in zip(*(part.arrays() for part in held), strict=True)]
    held.clear()
    whole = []
    for arrays in columns:
        whole.append(np.concatenate(arrays))
        arrays.clear()
    return SparseSums(*whole)


def ordered(entries: SparseSums) -> SparseSums:
    """One entry for each class and column, from any, in order; those that are exactly zero leave."""
    if len(entries) == 0:
        return entries
    classes, columns, *sums = entries.arrays()
    keys = entries.keys()
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    added = [np.add.reduceat(array[order], first, dtype=_wide(array.dtype)) for array in sums]
    held = np.logical_or.reduce([array != 0 for array in added])
    at = order[first][held]
    return SparseSums(classes[at], columns[at], *(array[held] for array in added))


def summed(parts: list[SparseSums]) -> SparseSums:
    """One entry for each class and column of several entries; those that are exactly zero leave.

    They are sorted in blocks of classes: so it needs little beside the parts and the result.
    """
    small = [part for part in parts[1:] if len(part) < ENTRIES_AT_ONCE]
    if len(small) > 1 and sum(map(len, small)) < ENTRIES_AT_ONCE:
        large = [part for part in parts[1:] if len(part) >= ENTRIES_AT_ONCE]
        parts = [parts[0], *large, ordered(joined(small))]
    parts = [part for part in parts if len(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    n_classes = 1 + max(int(part.classes[-1]) for part in parts)
    before = np.cumsum(sum(np.bincount(part.classes, minlength=n_classes) for part in parts))
    edges = np.unique(before // ENTRIES_AT_ONCE, return_index=True)[1].tolist()
    edges = [0, *(edge for edge in edges if edge), len(before)]
    blocks = []
    for first, last in pairwise(edges):
        places = (np.searchsorted(part.classes, [first, last]) for part in parts)
        blocks.append(ordered(joined([part.part(*at) for part, at in zip(parts, places, strict=True)])))
    return joined(blocks)


def sums_by_class(entries: SparseSums, values: NDArray[Any], n_classes: int) -> Array:
    """The sum of some values over the entries of each class, whatever order the columns came in."""
    starts = entries.starts(n_classes).tolist()
    return np.array([sum_of(values[first:last]) for first, last in pairwise(starts)], dtype=np.float64)


def sum_of(values: NDArray[Any]) -> float:
    """The sum of some values, smallest first: the same to the last bit in whatever order they are."""
    return float(np.sort(values).sum())


def narrowed(array: NDArray[Any], kind: type[np.generic]) -> NDArray[Any]:
    """The array in the narrower kind, where that changes no value."""
    if array.dtype == kind:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = array.astype(kind)
    return narrow if np.array_equal(narrow, array) else array


def _wide(kind: np.dtype[Any]) -> type[np.generic]:
    """The kind in which numbers of this one are added."""
    return np.float64 if kind.kind == "f" else np.int64
