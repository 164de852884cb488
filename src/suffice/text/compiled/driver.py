"""Counting with the compiled kernels: prepares documents and makes room, and more when it runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import read_only
from suffice.text.analysis import Analysis
from suffice.text.characters import ASCII, NEEDS_CONTEXT, UNICODE, code_point_table, letter_table
from suffice.text.compiled.count import CountBuffers, count_characters, count_single_words, count_words
from suffice.text.compiled.markup import blank_markup
from suffice.text.compiled.split import Split
from suffice.text.documents import Bytes, Documents, TermCounts
from suffice.text.hash_table import Table
from suffice.text.markup import unescaped
from suffice.text.vocabulary import Vocabulary

BLOCK = 1 << 18
"""Bytes that are looked through at once."""
BYTES_PER_ENTRY = 8
"""A first guess at how much text brings a new entry; more room is made where it is wrong."""


def count_documents(
    documents: Documents, analysis: Analysis, vocabulary: Vocabulary, *, grow: bool
) -> TermCounts:
    """How often each term occurs in each document."""
    documents = _prepared(documents, analysis)
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
            return TermCounts(entries.starts, entries.terms[:n], entries.counts[:n], entries.unknown)
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
    """Room for a document of this many bytes.

    Lower case makes three bytes of two at most, and " a " has two units more than "a". Memory that is not
    touched costs nothing.
    """
    return Split(
        buffer=np.empty(2 * longest + 8, np.uint8),
        units=np.empty(2 * longest + 8, np.int64),
        segments=np.zeros(longest + 8, np.int64),
        hashes=np.empty(longest + 8, np.uint64),
    )


def _room_for_entries(documents: Documents, vocabulary: Vocabulary) -> CountBuffers:
    """Room for the counts of documents."""
    guess = documents.n_bytes // BYTES_PER_ENTRY + 64
    return CountBuffers(
        starts=np.zeros(len(documents) + 1, np.int64),
        unknown=np.zeros(len(documents), np.int64),
        terms=np.empty(guess, np.int32),
        counts=np.empty(guess, np.int32),
        places=_places(vocabulary),
    )


def _with_more_entries(entries: CountBuffers, n: int, least: int) -> CountBuffers:
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


def _prepared(documents: Documents, analysis: Analysis) -> Documents:
    """The documents without HTML, if asked, and lower-cased by Python where a table cannot do it."""
    if analysis.strip_html:
        documents = _without_markup(documents)
        documents = _rewritten(documents, _containing(documents, "&"), unescaped)
    if analysis.lowercase:
        documents = _rewritten(documents, _containing(documents, NEEDS_CONTEXT), str.lower)
    return documents


def _text(documents: Documents) -> Bytes:
    """All the bytes from the first document to the last."""
    return documents.bytes[documents.offsets[0] : documents.offsets[-1]]


def _positions(text: Bytes, byte: int) -> NDArray[np.int64]:
    """Where a byte occurs; block by block, so that no mask as large as the text is made."""
    blocks = range(0, len(text), BLOCK)
    found = [np.flatnonzero(text[start : start + BLOCK] == byte) + start for start in blocks]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _containing(documents: Documents, characters: str) -> NDArray[np.int64]:
    """The documents in which any of these characters occurs."""
    text = _text(documents)
    found = []
    for character in characters:
        first, *rest = character.encode()
        places = _positions(text, first)
        for ahead, byte in enumerate(rest, start=1):
            places = places[text[places + ahead] == byte]
        found.append(places)
    places = np.concatenate(found) + documents.offsets[0]
    return np.unique(np.searchsorted(documents.offsets, places, side="right") - 1)


def _rewritten(documents: Documents, which: NDArray[np.int64], change: Callable[[str], str]) -> Documents:
    """The documents with some of them changed."""
    if len(which) == 0:
        return documents
    changed = [change(documents.text(i)).encode() for i in which.tolist()]
    lengths = np.diff(documents.offsets)
    lengths[which] = [len(text) for text in changed]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    pieces = b"".join(_interleaved(documents, which, changed))
    return Documents(np.frombuffer(pieces, np.uint8), offsets, documents.missing)


def _interleaved(
    documents: Documents, which: NDArray[np.int64], changed: Iterable[bytes]
) -> Iterator[memoryview | bytes]:
    """The runs of documents that stay, with the changed ones between them."""
    start = documents.offsets[0]
    for i, text in zip(which.tolist(), changed, strict=True):
        yield documents.bytes[start : documents.offsets[i]].data
        yield text
        start = documents.offsets[i + 1]
    yield documents.bytes[start : documents.offsets[-1]].data


def _without_markup(documents: Documents) -> Documents:
    """The documents with markup blanked."""
    if len(_containing(documents, "<")) == 0:
        return documents
    text, offsets = _text(documents).copy(), documents.offsets - documents.offsets[0]
    blank_markup(text, read_only(offsets))
    return Documents(text, offsets, documents.missing)
