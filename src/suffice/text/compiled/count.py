"""Counting, compiled by numba: the loops over every term."""

from __future__ import annotations

from typing import NamedTuple

from suffice.kernels.jit import inlined, kernel
from suffice.text.compiled.split import Points, Split, split_characters, split_padded, split_words
from suffice.text.compiled.table import FREE, hash_slice, insert, locate
from suffice.text.documents import Bytes, Offsets
from suffice.text.hash_table import Ids, Table


class CountBuffers(NamedTuple):
    """The counts so far: rows as in `TermCounts`, and where in the current row each term is.

    `terms` and `counts` have room for more; the driver makes more where that runs out.
    """

    starts: Offsets
    unknown: Offsets
    terms: Ids
    counts: Ids
    places: Ids


@inlined
def record(term: int, row: int, n: int, entries: CountBuffers) -> int:
    """Count one occurrence of a term in the row that began at entry `row`; returns the number of entries.

    `places` says where in the row each term is. It is not cleared between rows, nor set at first: a place is
    believed if it lies in the row and names the term.
    """
    _, _, terms, counts, places = entries
    at = row + places[term]
    if row <= at < n and terms[at] == term:
        counts[at] += 1
    else:
        places[term] = n - row
        terms[n] = term
        counts[n] = 1
        n += 1
    return n


@kernel
def count_row(
    split: Split,
    n_segments: int,
    lengths: tuple[int, int],
    terms: Table,
    size: int,
    grow: bool,
    entries: CountBuffers,
    row: int,
    is_words: bool,
    is_padded: bool,
) -> tuple[int, int, int]:
    """Count every term of a document; returns how many terms, entries and unknown terms there are.

    A padded word that is shorter than a term is a term itself. When the vocabulary grows, a term is
    unknown only if there was no room for it.
    """
    buffer, units, segments, hashes = split
    gap = 1 if is_words else 0  # the blank after a word is not part of it
    n = row
    unknown = 0
    for s in range(n_segments):
        first, last = segments[s], segments[s + 1]
        for length in range(lengths[0], lengths[1] + 1):
            if length > last - first and not is_padded:
                break
            for i in range(first, max(first, last - length) + 1):
                start, end = units[i], units[min(i + length, last)] - gap
                h = hashes[i] if is_words and length == 1 else hash_slice(buffer, start, end)
                term, slot = locate(buffer, start, end, h, terms)
                if (
                    term == FREE
                    and grow
                    and unknown == 0
                    and insert(buffer, start, end, h, slot, terms, size)
                ):
                    term = size
                    size += 1
                if not FREE < term < size:
                    unknown += 1
                else:
                    n = record(term, row, n, entries)
            if length >= last - first:
                break
    return size, n, unknown


@kernel
def count_words(
    text: Bytes,
    offsets: Offsets,
    letters: Bytes,
    points: Points,
    stops: Table,
    split: Split,
    lengths: tuple[int, int],
    terms: Table,
    size: int,
    grow: bool,
    entries: CountBuffers,
    first: int,
    row: int,
) -> tuple[int, int, int, int]:
    """Count the terms of words of each document from `first` on, as long as there is room.

    Returns the next document, the number of terms, the number of entries, and how many more entries the next
    document may need if it is those that ran out.
    """
    for d in range(first, len(offsets) - 1):
        split_words(text, offsets[d], offsets[d + 1], letters, points, stops, split)
        needed = split.segments[1] * (lengths[1] - lengths[0] + 1)
        if row + needed > len(entries.terms):
            return d, size, row, needed
        size, n, unknown = count_row(
            split, 1, lengths, terms, size, grow, entries, row, is_words=True, is_padded=False
        )
        if unknown and grow:
            return d, size, row, 0
        entries.unknown[d] = unknown
        entries.starts[d + 1] = row = n
    return len(offsets) - 1, size, row, 0


@kernel
def count_single_words(
    text: Bytes,
    offsets: Offsets,
    letters: Bytes,
    points: Points,
    stops: Table,
    split: Split,
    table: Table,
    size: int,
    grow: bool,
    entries: CountBuffers,
    first: int,
    row: int,
) -> tuple[int, int, int, int]:
    """`count_words` for terms of one word, which is most of all counting: one plain loop."""
    buffer, units, segments, hashes = split
    starts, unknown, terms, counts, places = entries
    for d in range(first, len(offsets) - 1):
        split_words(text, offsets[d], offsets[d + 1], letters, points, stops, split)
        if row + segments[1] > len(terms):
            return d, size, row, segments[1]
        n = row
        unknown[d] = 0
        for k in range(segments[1]):
            start, end = units[k], units[k + 1] - 1
            term, slot = locate(buffer, start, end, hashes[k], table)
            if not FREE < term < size:  # beyond: added to the original after the snapshot
                if not grow:
                    unknown[d] += 1
                    continue
                if not insert(buffer, start, end, hashes[k], slot, table, size):
                    return d, size, row, 0
                term = size
                size += 1
            at = row + places[term]
            if row <= at < n and terms[at] == term:
                counts[at] += 1
            else:
                places[term] = n - row
                terms[n] = term
                counts[n] = 1
                n += 1
        starts[d + 1] = row = n
    return len(offsets) - 1, size, row, 0


@kernel
def count_characters(
    text: Bytes,
    offsets: Offsets,
    points: Points,
    is_padded: bool,
    split: Split,
    lengths: tuple[int, int],
    terms: Table,
    size: int,
    grow: bool,
    entries: CountBuffers,
    first: int,
    row: int,
) -> tuple[int, int, int, int]:
    """Count the terms of characters of each document from `first` on; returns the same as `count_words`."""
    for d in range(first, len(offsets) - 1):
        n_segments = 1
        if is_padded:
            n_segments = split_padded(text, offsets[d], offsets[d + 1], points, split)
        else:
            split_characters(text, offsets[d], offsets[d + 1], points, split)
        needed = split.segments[n_segments] * (lengths[1] - lengths[0] + 1)
        if row + needed > len(entries.terms):
            return d, size, row, needed
        size, n, unknown = count_row(
            split, n_segments, lengths, terms, size, grow, entries, row, is_words=False, is_padded=is_padded
        )
        if unknown and grow:
            return d, size, row, 0
        entries.unknown[d] = unknown
        entries.starts[d + 1] = row = n
    return len(offsets) - 1, size, row, 0
