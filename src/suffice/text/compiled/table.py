"""The functions of `text/hash_table.py`, compiled by numba."""

from __future__ import annotations

import numpy as np

from suffice.kernels.jit import inlined, kernel
from suffice.text import hash_table as table
from suffice.text.documents import Bytes, Offsets
from suffice.text.hash_table import Hashes, Ids, Table

Index = int | np.int64

FREE = table.FREE
MULTIPLIER = np.uint64(table.MULTIPLIER)
LONG = np.uint64(table.LONG)
BITS = np.uint64(table.BITS)
ONE, EIGHT, HALF = np.uint64(1), np.uint64(8), np.uint64(32)


@inlined
def mixed(h: np.uint64, word: np.uint64) -> np.uint64:
    """A hash with one more word of eight bytes."""
    h = ((h ^ word) * MULTIPLIER) & BITS
    return h ^ (h >> HALF)


@inlined
def hashed(
    h: np.uint64, word: np.uint64, source: Bytes, start: Index, first: Index, end: Index
) -> tuple[np.uint64, np.uint64]:
    """A hash and the word under way, with the bytes from `first` to `end` of a term that began at `start`."""
    for i in range(first, end):
        word = (word << EIGHT) | np.uint64(source[i])
        if (i + 1 - start) & 7 == 0:
            h, word = mixed(h, word), ONE
    return h, word


@inlined
def hash_slice(source: Bytes, start: int, end: int) -> np.uint64:
    """The hash of `source[start:end]`."""
    h, word = hashed(np.uint64(0), ONE, source, start, start, end)
    h = mixed(h, word)
    return h | LONG if end - start > 7 else h


@inlined
def same(source: Bytes, start: Index, end: Index, arena: Bytes, offsets: Offsets, i: int) -> bool:
    """Whether term i is `source[start:end]`."""
    begin, length = offsets[i], end - start
    k = 0
    if offsets[i + 1] - begin == length:
        while k < length and arena[begin + k] == source[start + k]:
            k += 1
    return k == length


@inlined
def locate(source: Bytes, start: Index, end: Index, h: np.uint64, terms: Table) -> tuple[int, np.int64]:
    """The id of the term `source[start:end]`, or `FREE`, and the slot that holds it or would."""
    arena, offsets, hashes, slots = terms
    mask = len(slots) - 1
    slot = np.int64(h & np.uint64(mask))
    i = slots[slot]
    while i != FREE and not (hashes[i] == h and (h < LONG or same(source, start, end, arena, offsets, i))):
        slot = (slot + 1) & mask
        i = slots[slot]
    return i, slot


@inlined
def insert(
    source: Bytes, start: int, end: int, h: np.uint64, slot: np.int64, terms: Table, size: int
) -> bool:
    """Add the term `source[start:end]` as number `size`; False where there is no room."""
    arena, offsets, hashes, slots = terms
    at = offsets[size]
    room = size < len(hashes) and at + end - start <= len(arena)
    if room:
        for k in range(end - start):
            arena[at + k] = source[start + k]
        offsets[size + 1] = at + end - start
        hashes[size] = h
        slots[slot] = size
    return room


@kernel
def hash_terms(source: Bytes, places: Offsets, hashes: Hashes) -> None:
    """Write the hash of each given term."""
    for k in range(len(hashes)):
        hashes[k] = hash_slice(source, places[k], places[k + 1])


@kernel
def find_terms(source: Bytes, places: Offsets, terms: Table, ids: Ids) -> None:
    """Write the id of each given term, or −1."""
    for k in range(len(ids)):
        start, end = places[k], places[k + 1]
        ids[k] = locate(source, start, end, hash_slice(source, start, end), terms)[0]


@kernel
def add_terms(
    source: Bytes, places: Offsets, terms: Table, size: int, ids: Ids, first: int
) -> tuple[int, int]:
    """Write the id of each given term from `first` on, new ones in order; stop where there is no room."""
    k = first
    while k < len(ids):
        start, end = places[k], places[k + 1]
        h = hash_slice(source, start, end)
        i, slot = locate(source, start, end, h, terms)
        if i == FREE:
            if not insert(source, start, end, h, slot, terms, size):
                break
            i = size
            size += 1
        ids[k] = i
        k += 1
    return k, size


@kernel
def fill_slots(hashes: Hashes, slots: Ids) -> None:
    """Put terms with these hashes, all different, into free slots."""
    mask = len(slots) - 1
    for i in range(len(hashes)):
        slot = np.int64(hashes[i] & np.uint64(mask))
        while slots[slot] != FREE:
            slot = (slot + 1) & mask
        slots[slot] = i
