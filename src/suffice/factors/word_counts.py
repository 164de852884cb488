"""Counts of words by class: sparse sums over a vocabulary that grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.archive import Fields
from suffice.factors.base import Codes, Counts, gather
from suffice.families import Words
from suffice.families.elementary import Array
from suffice.text import Counts as DocumentCounts
from suffice.text import Vocabulary, class_sums

Ids = NDArray[np.int32]
PENDING = 1 << 20
"""Entries that may wait before they are summed, at the least."""


@dataclass
class Entries:
    """For some classes and words: Σ w·x, Σ w·[x > 0], and in how many documents the word occurs."""

    classes: Ids
    words: Ids
    total: Array
    present: Array
    support: Counts

    def __len__(self) -> int:
        return len(self.words)

    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All columns."""
        return self.classes, self.words, self.total, self.present, self.support

    def chosen(self, which: NDArray[Any]) -> Entries:
        """Some of the entries."""
        return Entries(*(array[which] for array in self.arrays()))

    def scaled(self, factor: float, sign: int = 1) -> Entries:
        """Sums times a factor; support keeps its size."""
        return Entries(
            self.classes, self.words, self.total * factor, self.present * factor, self.support * sign
        )

    def summed(self) -> Entries:
        """One entry for each class and word, in order; those that are exactly zero leave."""
        keys = (self.classes.astype(np.int64) << 32) | self.words
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
        sums = [
            np.add.reduceat(array[order], first) if len(first) else array
            for array in (self.total, self.present, self.support)
        ]
        held = (sums[0] != 0) | (sums[1] != 0) | (sums[2] != 0)
        at = order[first][held]
        return Entries(self.classes[at], self.words[at], *(array[held] for array in sums))


def no_entries() -> Entries:
    """None."""
    return Entries(
        np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty(0), np.empty(0, np.int64)
    )


def joined(parts: list[Entries]) -> Entries:
    """All entries, one after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.arrays() for part in parts), strict=True)
    return Entries(*(np.concatenate(arrays) for arrays in columns))


class WordCounts:
    """The words of one column: a vocabulary, and entries of classes and words.

    New entries wait unsummed, so that adding a document costs what the document costs. Copies share the
    vocabulary until one of them grows it.
    """

    def __init__(
        self, vocabulary: Vocabulary, entries: list[Entries], weight: Array, rows: Counts, *, shared: bool
    ) -> None:
        self.vocabulary = vocabulary
        self.weight = weight
        self.rows = rows
        self._entries = entries
        self._waiting = 0
        self._shared = shared

    @classmethod
    def empty(cls) -> Self:
        """No classes, no words."""
        return cls(Vocabulary(), [no_entries()], np.zeros(0), np.zeros(0, np.int64), shared=False)

    def state(self) -> dict[str, Any]:
        """The counts, as a file holds them."""
        vocabulary = {"text": self.vocabulary.arena, "offsets": self.vocabulary.offsets}
        return {**vars(self.entries), "vocabulary": vocabulary, "weight": self.weight, "rows": self.rows}

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from their state."""
        branch = fields.branch("vocabulary")
        offsets = branch.array("offsets", np.int64, (None,))
        vocabulary = Vocabulary.from_utf8(branch.array("text", np.uint8, (None,)), offsets)
        if vocabulary is None:
            raise fields.error("vocabulary", "is no list of different words.")
        classes = fields.array("classes", np.int32, (None,))
        words = fields.array("words", np.int32, classes.shape)
        place = (classes.astype(np.int64) << 32) | words
        if (np.diff(place) <= 0).any():
            raise fields.error("words", "must be in order, each once in a class.")
        for name, ids, most in (("classes", classes, n_classes), ("words", words, len(vocabulary))):
            if ((ids < 0) | (ids >= most)).any():
                raise fields.error(name, "names something that does not exist.")
        entries = Entries(
            classes,
            words,
            total=fields.array("total", np.float64, classes.shape),
            present=fields.array("present", np.float64, classes.shape),
            support=fields.array("support", np.int64, classes.shape),
        )
        weight = fields.array("weight", np.float64, (n_classes,))
        rows = fields.array("rows", np.int64, (n_classes,))
        return cls(vocabulary, [entries], weight, rows, shared=False)

    @property
    def entries(self) -> Entries:
        """The sums, by class and then word."""
        if len(self._entries) > 1:
            self._entries = [joined(self._entries).summed()]
            self._waiting = 0
        return self._entries[0]

    def growing(self) -> Vocabulary:
        """The vocabulary, to add words to: from now on this counter's own."""
        if self._shared:
            self.vocabulary = self.vocabulary.copy()
            self._shared = False
        return self.vocabulary

    def append(self, more: Entries) -> None:
        """Add entries; they are summed later, or when many wait."""
        self._entries.append(more)
        self._waiting += len(more)
        if self._waiting > max(PENDING, len(self._entries[0])):
            self._entries = [self.entries]

    def add(self, other: WordCounts, sign: int) -> None:
        """Add (or subtract) counts over the same classes; words that are gone leave the vocabulary."""
        theirs = other.entries
        if other.vocabulary is not self.vocabulary:
            ids = self.growing().union(other.vocabulary)
            theirs = Entries(theirs.classes, ids[theirs.words], *theirs.arrays()[2:])
        self._entries = [joined([self.entries, theirs.scaled(sign, sign)]).summed()]
        self.weight = self.weight + sign * other.weight
        self.rows = self.rows + sign * other.rows
        if sign < 0:
            self._forget_words()

    def _forget_words(self) -> None:
        """Keep only the words that are held by some entry."""
        entries = self.entries
        used = np.zeros(len(self.vocabulary), np.bool_)
        used[entries.words] = True
        if not used.all():
            ids = np.cumsum(used, dtype=np.int32) - 1
            self.vocabulary = self.vocabulary.take(np.flatnonzero(used))
            self._shared = False
            self._entries = [Entries(entries.classes, ids[entries.words], *entries.arrays()[2:])]

    def scale(self, factor: float) -> None:
        """Multiply every sum; row support stays."""
        self.weight = self.weight * factor
        self._entries = [self.entries.scaled(factor)]

    def take_classes(self, index: Codes) -> WordCounts:
        """A copy with these classes; −1 stands for a class without rows."""
        entries = self.entries
        starts = np.searchsorted(entries.classes, np.arange(len(self.rows) + 1))
        if not np.array_equal(index, np.arange(len(self.rows))):
            places = [(new, slice(starts[old], starts[old + 1])) for new, old in enumerate(index) if old >= 0]
            parts = [entries.chosen(np.r_[place]) for _, place in places]
            for (new, _), part in zip(places, parts, strict=True):
                part.classes = np.full(len(part), new, np.int32)
            entries = joined([no_entries(), *parts])
        self._shared = True
        return WordCounts(
            self.vocabulary,
            [entries],
            gather(self.weight, index, 0),
            gather(self.rows, index, 0),
            shared=True,
        )


def class_entries(
    counts: DocumentCounts, classes: Codes, weights: Array | None, family: Words, n_classes: int, size: int
) -> Entries:
    """The counts of a batch summed by class and word."""
    x = document_values(counts, family)
    if n_classes * size > max(8 * len(x), 1 << 16):
        per_document = np.diff(counts.starts)
        codes = np.repeat(classes, per_document).astype(np.int32)
        worth = np.ones(len(x)) if weights is None else np.repeat(weights, per_document)
        return Entries(codes, counts.terms, x * worth, worth, np.ones(len(x), np.int64)).summed()
    total, present, support = class_sums(counts, x, classes, weights, (n_classes, size))
    held = np.flatnonzero(support)
    at, words = (held // size).astype(np.int32), (held % size).astype(np.int32)
    return Entries(at, words, total.ravel()[held], present.ravel()[held], support.ravel()[held])


def document_values(counts: DocumentCounts, family: Words) -> NDArray[Any]:
    """What each count is worth: tf, then length."""
    if family.tf == "count" and family.length is None:
        return counts.counts
    x = np.minimum(counts.counts, 1) if family.tf == "binary" else counts.counts
    x = np.log1p(x) if family.tf == "log" else x.astype(np.float64)
    if family.length == "l2":
        per_document = np.diff(counts.starts)
        rows = np.repeat(np.arange(len(per_document)), per_document)
        size = np.sqrt(np.bincount(rows, x**2, minlength=len(per_document)))
        x = x / np.repeat(size, per_document)
    return x
