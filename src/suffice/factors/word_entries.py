"""Entries: the sums of some words in some classes, kept in as few bytes as hold them exactly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.factors.base import Codes, Counts
from suffice.families.elementary import Array

Ids = NDArray[np.int32]
ENTRIES_AT_ONCE = 1 << 18
"""Entries that are sorted at once."""


class Entries:
    """For some classes and words: Σ w·x, Σ w·[x > 0], and in how many documents the word occurs.

    Counts and most weights have a few digits: they are kept in half the bytes where that loses none, and are
    full floats and integers whenever they are read.
    """

    def __init__(
        self,
        classes: Ids,
        words: Ids,
        total: NDArray[Any],
        present: NDArray[Any],
        support: NDArray[Any],
    ) -> None:
        self.classes = classes
        self.words = words
        self._sums = _narrow(total, np.float32), _narrow(present, np.float32), _narrow(support, np.int32)

    @property
    def total(self) -> Array:
        """Σ w·x."""
        return self._sums[0].astype(np.float64, copy=False)

    @property
    def present(self) -> Array:
        """Σ w·[x > 0]."""
        return self._sums[1].astype(np.float64, copy=False)

    @property
    def support(self) -> Counts:
        """The number of documents."""
        return self._sums[2].astype(np.int64, copy=False)

    def __len__(self) -> int:
        return len(self.words)

    def columns(self) -> tuple[NDArray[Any], ...]:
        """All columns, as they are kept."""
        return self.classes, self.words, *self._sums

    def blocks(self) -> Iterator[Entries]:
        """The entries in runs of a limited size."""
        return (
            self.chosen(slice(first, first + ENTRIES_AT_ONCE))
            for first in range(0, len(self), ENTRIES_AT_ONCE)
        )

    def chosen(self, which: NDArray[Any] | slice) -> Entries:
        """Some of the entries."""
        return Entries(*(array[which] for array in self.columns()))

    def renumbered(self, words: Ids) -> Entries:
        """The same sums of words with other ids."""
        return Entries(self.classes, words, *self._sums)

    def with_total(self, total: Array) -> Entries:
        """The same entries with another Σ w·x."""
        return Entries(self.classes, self.words, total, *self._sums[1:])

    def scaled(self, factor: float, sign: int = 1) -> Entries:
        """Sums times a factor; support keeps its size."""
        return Entries(
            self.classes, self.words, self.total * factor, self.present * factor, self.support * sign
        )

    def changed(self, more: Entries) -> Entries | None:
        """The sums with more added to a few of them, or None where there are no such sums to add to."""
        at = self._places(more)
        if at is None:
            return None
        sums, gone = [], np.ones(len(at), np.bool_)
        for mine, added in zip(self._sums, (more.total, more.present, more.support), strict=True):
            values = mine[at].astype(added.dtype) + added
            gone &= values == 0
            kept = _narrow(values, mine.dtype.type)
            whole = mine.astype(kept.dtype)
            whole[at] = kept
            sums.append(whole)
        entries = Entries(self.classes, self.words, *sums)
        if not gone.any():
            return entries
        held = np.ones(len(self), np.bool_)
        held[at[gone]] = False
        return entries.chosen(held)

    def _places(self, few: Entries) -> NDArray[np.intp] | None:
        """Where the same classes and words are here, or None if some are not."""
        at = np.empty(len(few), np.intp)
        for k in np.unique(few.classes).tolist():
            first, last = np.searchsorted(self.classes, [k, k + 1])
            asked = few.classes == k
            at[asked] = first + np.searchsorted(self.words[first:last], few.words[asked])
            at[asked & (at == last)] = -1
        is_there = (at >= 0) & (self.words[at] == few.words) if len(self) else np.zeros(len(few), np.bool_)
        return at if is_there.all() else None

    def of_classes(self, index: Codes, n_classes: int) -> Entries:
        """The entries of these of the n classes, which are numbered anew; −1 stands for none."""
        starts = np.searchsorted(self.classes, np.arange(n_classes + 1))
        parts = []
        for new, old in enumerate(index.tolist()):
            if old >= 0:
                part = self.chosen(slice(starts[old], starts[old + 1]))
                part.classes = np.full(len(part), new, np.int32)
                parts.append(part)
        return joined([no_entries(), *parts])


def no_entries() -> Entries:
    """None."""
    return Entries(
        np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0, np.int64)
    )


def joined(parts: list[Entries]) -> Entries:
    """All entries, one after the other; the list is emptied, so that memory is given back early."""
    held = [part for part in parts if len(part)] or parts[:1]
    parts.clear()
    if len(held) == 1:
        return held[0]
    columns = [list(arrays) for arrays in zip(*(part.columns() for part in held), strict=True)]
    held.clear()
    whole = []
    for arrays in columns:
        whole.append(np.concatenate(arrays))
        arrays.clear()
    return Entries(*whole)


def ordered(entries: Entries) -> Entries:
    """One entry for each class and word, in order; those that are exactly zero leave."""
    if len(entries) == 0:
        return entries
    classes, words, *sums = entries.columns()
    keys = (classes.astype(np.int64) << 32) | words
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    kinds = (np.float64, np.float64, np.int64)
    added = [
        np.add.reduceat(array[order], first, dtype=kind) for array, kind in zip(sums, kinds, strict=True)
    ]
    held = (added[0] != 0) | (added[1] != 0) | (added[2] != 0)
    at = order[first][held]
    return Entries(classes[at], words[at], *(array[held] for array in added))


def summed(parts: list[Entries]) -> Entries:
    """`ordered` for parts that each have their classes in order, in blocks of classes: so it needs little
    beside the parts and the result.
    """
    small = [part for part in parts[1:] if len(part) < ENTRIES_AT_ONCE]
    if len(small) > 1 and sum(map(len, small)) < ENTRIES_AT_ONCE:
        large = [part for part in parts[1:] if len(part) >= ENTRIES_AT_ONCE]
        parts = [parts[0], *large, ordered(joined(small))]
    parts = [part for part in parts if len(part)]
    if not parts:
        return no_entries()
    before = np.cumsum(sum(np.bincount(part.classes, minlength=_most(parts)) for part in parts))
    edges = np.unique(before // ENTRIES_AT_ONCE, return_index=True)[1].tolist()
    edges = [0, *(edge for edge in edges if edge), len(before)]
    blocks = []
    for first, last in pairwise(edges):
        places = (np.searchsorted(part.classes, [first, last]) for part in parts)
        blocks.append(
            ordered(joined([part.chosen(slice(*at)) for part, at in zip(parts, places, strict=True)]))
        )
    return joined(blocks)


def sums_by_class(entries: Entries, values: NDArray[Any], n_classes: int) -> Array:
    """The sum of some values over the entries of each class, whatever order the words came in."""
    starts = np.searchsorted(entries.classes, np.arange(n_classes + 1)).tolist()
    return np.array([sum_of(values[first:last]) for first, last in pairwise(starts)], dtype=np.float64)


def sum_of(values: NDArray[Any]) -> float:
    """The sum of some values, smallest first: the same to the last bit in whatever order they are."""
    return float(np.sort(values).sum())


def _most(parts: list[Entries]) -> int:
    """One more than the highest class."""
    return 1 + max(int(part.classes[-1]) for part in parts)


def _narrow(array: NDArray[Any], kind: type[np.generic]) -> NDArray[Any]:
    """The array in the narrower kind, where that changes no value."""
    if array.dtype == kind:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = array.astype(kind)
    return narrow if np.array_equal(narrow, array) else array
