"""Documents into words or characters, compiled by numba: the loops over every byte of text."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.jit import inlined, kernel
from suffice.text import characters
from suffice.text.compiled.table import EIGHT, FREE, LONG, ONE, hashed, locate, mixed
from suffice.text.documents import Bytes, Offsets
from suffice.text.hash_table import Hashes, Table

Points = NDArray[np.uint32]

WORD = np.uint32(characters.WORD)
SPACE = np.uint32(characters.SPACE)
CODE_POINT = np.uint32(characters.CODE_POINT)
ASCII = characters.ASCII
BLANK = ord(" ")
OUTSIDE = characters.OUTSIDE
NONE, SEVEN = np.uint64(0), np.uint64(7)


class Split(NamedTuple):
    """The units of one document, which are words or characters, in segments that terms do not cross.

    Unit i begins at `buffer[units[i]]`; segment s has the units from `segments[s]` to `segments[s + 1]`.
    `hashes` are those of words.
    """

    buffer: Bytes
    units: Offsets
    segments: Offsets
    hashes: Hashes


@inlined
def decoded(text: Bytes, i: Any) -> tuple[np.uint32, Any]:
    """The code point that begins at byte i, which is not ASCII, and where the next begins."""
    lead, second = np.uint32(text[i]), np.uint32(text[i + 1]) & 0x3F
    if lead < 0xE0:
        return ((lead & 0x1F) << 6) | second, i + 2
    third = np.uint32(text[i + 2]) & 0x3F
    if lead < 0xF0:
        return ((lead & 0x0F) << 12) | (second << 6) | third, i + 3
    fourth = np.uint32(text[i + 3]) & 0x3F
    return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | fourth, i + 4


@inlined
def encode(point: np.uint32, buffer: Bytes, w: Any) -> Any:
    """Write a code point as UTF-8 at w; returns where the next goes."""
    if point < 0x80:
        buffer[w] = point
        return w + 1
    if point < 0x800:
        buffer[w] = 0xC0 | (point >> 6)
    else:
        if point < 0x10000:
            buffer[w] = 0xE0 | (point >> 12)
        else:
            buffer[w] = 0xF0 | (point >> 18)
            w += 1
            buffer[w] = 0x80 | ((point >> 12) & 0x3F)
        w += 1
        buffer[w] = 0x80 | ((point >> 6) & 0x3F)
    buffer[w + 1] = 0x80 | (point & 0x3F)
    return w + 2


@kernel
def split_words(
    text: Bytes, begin: int, end: int, letters: Bytes, points: Points, stops: Table, split: Split
) -> None:
    """Write the words of `text[begin:end]`, with a blank after each, as one segment; hash them on the way.

    Indices are unsigned: numba would allow for negative ones at every byte. The inner loop is one word.
    """
    buffer, units, segments, hashes = split
    n = w = np.uint64(0)
    i, stop = np.uint64(begin), np.uint64(end)
    while i < stop:
        letter = letters[text[i]]
        if letter == OUTSIDE:
            i += ONE
            continue
        start, continued = w, np.uint64(0)
        h, word = np.uint64(0), ONE
        while True:
            if letter < ASCII:
                buffer[w] = letter
                w += ONE
                i += ONE
                word = (word << EIGHT) | np.uint64(letter)
                if (w - start) & SEVEN == NONE:
                    h, word = mixed(h, word), ONE
            else:
                point, after = decoded(text, np.int64(i))
                point = points[point]
                i = np.uint64(after)
                if not point & WORD:
                    break
                first = w
                w = np.uint64(encode(point & CODE_POINT, buffer, np.int64(w)))
                continued += w - first - ONE
                h, word = hashed(h, word, buffer, np.int64(start), np.int64(first), np.int64(w))
            if i >= stop:
                break
            letter = letters[text[i]]
            if letter == OUTSIDE:
                break
        length = w - start
        h = mixed(h, word) | (LONG * np.uint64(length > SEVEN))
        if length - continued > ONE and (
            len(stops.hashes) == 0 or locate(buffer, np.int64(start), np.int64(w), h, stops)[0] == FREE
        ):
            units[n] = start
            hashes[n] = h
            n += ONE
            buffer[w] = BLANK
            w += ONE
        else:
            w = start
    units[n] = w
    segments[1] = n


@kernel
def split_characters(text: Bytes, begin: int, end: int, points: Points, split: Split) -> None:
    """Write the characters of `text[begin:end]` as one segment, several of white space as one blank."""
    buffer, units, segments, _ = split
    n = w = 0
    spaces = 0
    i = begin
    while i < end:
        point = np.uint32(text[i])
        if point < ASCII:
            i += 1
        else:
            point, i = decoded(text, i)
        point = points[point]
        spaces = spaces + 1 if point & SPACE else 0
        if spaces > 1:
            w = units[n - 1]
            buffer[w] = BLANK
            w += 1
        else:
            units[n] = w
            n += 1
            w = encode(point & CODE_POINT, buffer, w)
    units[n] = w
    segments[1] = n


@kernel
def split_padded(text: Bytes, begin: int, end: int, points: Points, split: Split) -> int:
    """Write each word of `text[begin:end]`, between blanks, as a segment of characters; returns how many."""
    buffer, units, segments, _ = split
    n = w = n_segments = 0
    i = begin
    while i <= end:
        point = np.uint32(text[i]) if i < end else np.uint32(BLANK)
        if point < ASCII:
            i += 1
        else:
            point, i = decoded(text, i)
        point = points[point]
        outside = n == segments[n_segments]
        if point & SPACE and outside:
            continue
        if outside:
            units[n] = w
            n += 1
            buffer[w] = BLANK
            w += 1
        units[n] = w
        n += 1
        if point & SPACE:
            buffer[w] = BLANK
            w += 1
            n_segments += 1
            segments[n_segments] = n
        else:
            w = encode(point & CODE_POINT, buffer, w)
    units[n] = w
    return n_segments
