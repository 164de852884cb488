"""Counts of words by class: sparse sums over a vocabulary that grows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
from suffice.factors.base import gather
from suffice.factors.class_sums import SparseRows, class_sums
from suffice.factors.sparse_sums import (
    ENTRIES_AT_ONCE,
    ClassSparseSums,
    Ids,
    SparseSums,
    no_sums,
    ordered,
    summed,
)
from suffice.families import Words
from suffice.storage import Fields
from suffice.text import TermCounts, Vocabulary

FEW = 8
"""Entries are looked up among this many times as many, instead of being sorted together with them."""
CELLS_PER_ENTRY = 8
"""Sums over arrays of all words pay off up to this many cells per entry; beyond, entries are sorted."""


class WordCounts(ClassSparseSums):
    """The words of one column: a vocabulary, and entries of classes and words.

    Copies share the vocabulary as it is now; a copy that grows takes one of its own.
    """

    def __init__(
        self, vocabulary: Vocabulary, entries: SparseSums, weight: Array, rows: Counts, *, shared: bool
    ) -> None:
        super().__init__(entries)
        self.vocabulary = vocabulary
        self.weight = weight
        self.rows = rows
        self._shared = shared

    @classmethod
    def empty(cls) -> Self:
        """No classes, no words."""
        return cls(Vocabulary(), no_sums(of_words=True), np.zeros(0), np.zeros(0, np.int64), shared=False)

    def state(self) -> dict[str, Any]:
        """The counts, as a file holds them."""
        entries = self.entries
        return {
            "classes": entries.classes,
            "words": entries.columns,
            "total": entries.total,
            "present": entries.present,
            "support": entries.support,
            "vocabulary": {"text": self.vocabulary.arena, "offsets": self.vocabulary.offsets},
            "weight": self.weight,
            "rows": self.rows,
        }

    @classmethod
    def from_fields(cls, n_classes: int, fields: Fields) -> Self:
        """The counts from their state."""
        branch = fields.branch("vocabulary")
        offsets = branch.array("offsets", np.int64, (None,))
        vocabulary = Vocabulary.from_utf8(branch.array("text", np.uint8, (None,)), offsets)
        if vocabulary is None:
            raise fields.error("vocabulary", "is not a list of distinct words.")
        classes = fields.array("classes", np.int32, (None,))
        words = fields.array("words", np.int32, classes.shape)
        for name, ids, most in (("classes", classes, n_classes), ("words", words, len(vocabulary))):
            if ((ids < 0) | (ids >= most)).any():
                raise fields.error(name, "holds a number that is out of range.")
        entries = SparseSums(
            classes,
            words,
            total=fields.array("total", np.float64, classes.shape),
            support=fields.array("support", np.int64, classes.shape),
            present=fields.array("present", np.float64, classes.shape),
        )
        if (np.diff(entries.keys()) <= 0).any():
            raise fields.error("words", "must be sorted and distinct within each class.")
        weight = fields.array("weight", np.float64, (n_classes,))
        rows = fields.array("rows", np.int64, (n_classes,))
        return cls(vocabulary, entries, weight, rows, shared=False)

    def learn(self, words: Vocabulary) -> Ids:
        """The id of each word of a batch; words that are new are added, in their order."""
        if len(self.vocabulary) == 0:  # the words of the first batch are those of the counter
            self.vocabulary, self._shared = words, False
            return np.arange(len(words), dtype=np.int32)
        return self._growing().union(words)

    def _growing(self) -> Vocabulary:
        """The vocabulary, to add words to: from now on this counter's own."""
        if self._shared:
            self.vocabulary = self.vocabulary.copy()
            self._shared = False
        return self.vocabulary

    def replace(self, former: WordCounts) -> None:
        """Take over the vocabulary of counts that are no longer used, so that it need not be copied."""
        if self.vocabulary.extends(former.vocabulary) and former.vocabulary.extends(self.vocabulary):
            self._shared, former._shared = former._shared, True

    def add(self, other: WordCounts, sign: int) -> None:
        """Add (or subtract) counts over the same classes; words that are gone leave the vocabulary."""
        mine, theirs = self.entries, other.entries
        if not self.vocabulary.extends(other.vocabulary):
            theirs = ordered(theirs.renumbered(self._ids_of(other.vocabulary, sign)[theirs.columns]))
        theirs = theirs.scaled(sign, sign)
        changed = mine.changed(theirs) if FEW * len(theirs) < len(mine) else None
        self.entries = summed([mine, theirs]) if changed is None else changed
        self.weight = self.weight + sign * other.weight
        self.rows = self.rows + sign * other.rows
        if sign < 0 and (changed is None or len(changed) < len(mine)):
            self._forget_words()

    def _ids_of(self, vocabulary: Vocabulary, sign: int) -> Ids:
        """The id of each word of another vocabulary; words that are new are added."""
        if sign < 0:  # words that are subtracted are usually known: then nothing grows
            ids = self.vocabulary.find(vocabulary.arena, vocabulary.offsets)
            if (ids >= 0).all():
                return ids
        return self._growing().union(vocabulary)

    def _forget_words(self) -> None:
        """Keep only the words that are held by some entry."""
        entries = self.entries
        used = np.zeros(len(self.vocabulary), np.bool_)
        used[entries.columns] = True
        if not used.all():
            ids = np.cumsum(used, dtype=np.int32) - 1
            self.vocabulary = self.vocabulary.take(np.flatnonzero(used))
            self._shared = False
            self.entries = entries.renumbered(ids[entries.columns])

    def scale(self, factors: Array) -> None:
        """Multiply the sums of each class by its factor; row support stays."""
        self.weight = self.weight * factors
        self.entries = self.entries.scaled(factors[self.entries.classes])

    def take_classes(self, index: Codes) -> WordCounts:
        """A copy with these classes; −1 stands for a class without rows."""
        return WordCounts(
            self.vocabulary.snapshot(),
            self.entries.of_classes(index),
            gather(self.weight, index, 0),
            gather(self.rows, index, 0),
            shared=True,
        )


def class_entries(
    counts: TermCounts, classes: Codes, weights: Array | None, family: Words, n_classes: int, size: int
) -> SparseSums:
    """Sum the counts of a batch by class and word; the memory used beside the result is bounded."""
    x = document_values(counts, family)
    if n_classes * size > max(CELLS_PER_ENTRY * len(x), 1 << 16):
        return summed([no_sums(of_words=True), *_ordered_runs(counts, x, classes, weights)])
    rows = SparseRows(counts.starts, counts.terms, x, size)
    return class_sums(rows, classes, weights, n_classes, of_words=True)


def _ordered_runs(
    counts: TermCounts, x: NDArray[Any], classes: Codes, weights: Array | None
) -> Iterator[SparseSums]:
    """Each run of documents summed by sorting its entries."""
    runs = np.flatnonzero(np.diff(counts.starts // ENTRIES_AT_ONCE)) + 1
    for first, last in pairwise(np.unique([0, *runs.tolist(), len(counts)]).tolist()):
        held = slice(counts.starts[first], counts.starts[last])
        per_document = np.diff(counts.starts[first : last + 1])
        codes = np.repeat(classes[first:last].astype(np.int32), per_document)
        worth = np.repeat(np.ones(last - first) if weights is None else weights[first:last], per_document)
        once = np.ones(len(codes), np.int32)
        yield ordered(SparseSums(codes, counts.terms[held], x[held] * worth, once, worth))


def document_values(counts: TermCounts, family: Words) -> NDArray[Any]:
    """The value of each count: after tf, then length."""
    if family.tf == "count" and family.length is None:
        return counts.counts
    x = term_frequencies(counts.counts, family)
    if family.length == "l2":
        x = x / np.repeat(document_lengths(counts, x), np.diff(counts.starts))
    return x


def term_frequencies(counts: NDArray[Any], family: Words) -> Array:
    """The value of each count after tf."""
    if family.tf == "log":
        return np.asarray(np.log1p(counts), dtype=np.float64)
    kept = np.minimum(counts, 1) if family.tf == "binary" else counts
    return np.asarray(kept, dtype=np.float64)


def document_lengths(counts: TermCounts, x: Array) -> Array:
    """The Euclidean length of each document."""
    n = len(counts)
    return np.sqrt(np.bincount(np.repeat(np.arange(n), np.diff(counts.starts)), x**2, minlength=n))
