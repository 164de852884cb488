"""Counting with the compiled kernels: gives them room, and more where it runs out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.choose import read_only
from suffice.text.analysis import Analysis
from suffice.text.characters import ASCII, UNICODE, code_point_table, letter_table
from suffice.text.compiled.count import Entries, count_characters, count_single_words, count_words
from suffice.text.compiled.prepare import prepared
from suffice.text.compiled.split import Split
from suffice.text.counts import Counts
from suffice.text.documents import Documents
from suffice.text.hash_table import Table
from suffice.text.vocabulary import Vocabulary

BYTES_PER_ENTRY = 8
"""A first guess at how much text brings a new entry; more room is made where it is wrong."""


def count_documents(
    documents: Documents, analysis: Analysis, vocabulary: Vocabulary, *, grow: bool
) -> Counts:
    """How often each term occurs in each document."""
    documents = prepared(documents, analysis)
    text, offsets = read_only(documents.bytes), read_only(documents.offsets)
    points, letters = _points(documents, analysis.lowercase), letter_table(analysis.lowercase)
    stops = _stop_table(analysis.stop_set)
    split = _room_to_split(int(np.diff(offsets).max(initial=0)))
    entries = _room_for_entries(documents, vocabulary)
    done, size, n = 0, len(vocabulary), 0
    while True:
        rest = (vocabulary.table, size, grow, entries, done, n)
        lengths = analysis.ngram_range
        if analysis.analyzer != "word":
            is_padded = analysis.analyzer == "char_wb"
            done, size, n, needed = count_characters(text, offsets, points, is_padded, split, lengths, *rest)
        elif lengths == (1, 1):
            done, size, n, needed = count_single_words(text, offsets, letters, points, stops, split, *rest)
        else:
            done, size, n, needed = count_words(text, offsets, letters, points, stops, split, lengths, *rest)
        if grow:
            vocabulary.extend_to(size)
        if done == len(documents):
            return Counts(entries.starts, entries.terms[:n], entries.counts[:n], entries.unknown)
        if needed:
            entries = _with_more_entries(entries, n, n + needed)
        else:
            vocabulary.make_room()
            entries = entries._replace(places=_places(vocabulary))


def _points(documents: Documents, lowercase: bool) -> NDArray[np.uint32]:
    """The table of code points, no larger than the text needs."""
    text = documents.bytes[documents.offsets[0] : documents.offsets[-1]]
    return code_point_table(lowercase, ASCII if text.max(initial=0) < ASCII else UNICODE)


def _room_to_split(longest: int) -> Split:
    """Room for a document of so many bytes.

    Lower case makes three bytes of two at most, and " a " has two units more than "a". Memory that is not
    touched costs nothing.
    """
    return Split(
        buffer=np.empty(2 * longest + 8, np.uint8),
        units=np.empty(2 * longest + 8, np.int64),
        segments=np.zeros(longest + 8, np.int64),
        hashes=np.empty(longest + 8, np.uint64),
    )


def _room_for_entries(documents: Documents, vocabulary: Vocabulary) -> Entries:
    """Room for the counts of documents."""
    guess = documents.n_bytes // BYTES_PER_ENTRY + 64
    return Entries(
        starts=np.zeros(len(documents) + 1, np.int64),
        unknown=np.zeros(len(documents), np.int64),
        terms=np.empty(guess, np.int32),
        counts=np.empty(guess, np.int32),
        places=_places(vocabulary),
    )


def _with_more_entries(entries: Entries, n: int, least: int) -> Entries:
    """The first n entries with room for twice as many, and for the `least` that are needed."""
    room = max(least, 2 * len(entries.terms))
    terms, counts = np.empty(room, np.int32), np.empty(room, np.int32)
    terms[:n], counts[:n] = entries.terms[:n], entries.counts[:n]
    return entries._replace(terms=terms, counts=counts)


def _places(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Room for a place of each term that the vocabulary has room for."""
    return np.empty(len(vocabulary.table.hashes), np.int32)


@lru_cache
def _stop_table(words: frozenset[str]) -> Table:
    """The words to leave out, as a table."""
    return Vocabulary.of(sorted(words)).table
