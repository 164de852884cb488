"""A hash table of terms as four arrays, and its operations, term by term in Python.

`compiled/table.py` has the same functions for numba, on the same arrays, so that either can continue the
work of the other.

The hash of a term is h ← (h ⊕ w)·M, h ← h ⊕ h/2³² over its words w of eight bytes, the last of which is what
is left of the term after a leading 1. It has 63 bits. A term of seven bytes or less is one word, and a
product with an odd number loses nothing: these terms are equal if their hashes are. Longer terms carry `LONG`
in the 64th bit, and are compared byte by byte.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.text.documents import Bytes, Offsets

Ids = NDArray[np.int32]
Hashes = NDArray[np.uint64]

MULTIPLIER = 0x2545F4914F6CDD1D
LONG = 1 << 63
BITS = LONG - 1
FREE = -1


class Table(NamedTuple):
    """Term i is `arena[offsets[i]:offsets[i + 1]]`; `slots` holds ids, at or after the place of their hash.

    Arrays are longer than what they hold; the number of slots is a power of two and at least twice the terms.
    """

    arena: Bytes
    offsets: Offsets
    hashes: Hashes
    slots: Ids


def empty_table(terms: int, n_bytes: int) -> Table:
    """A table with room for this many terms and bytes."""
    slots = 1 << max(4, (2 * terms - 1).bit_length())
    return Table(
        arena=np.empty(n_bytes, np.uint8),
        offsets=np.zeros(terms + 1, np.int64),
        hashes=np.empty(terms, np.uint64),
        slots=np.full(slots, FREE, np.int32),
    )


def hash_of(term: bytes) -> int:
    """The hash of a term's bytes."""
    whole = len(term) - len(term) % 8
    words = [int.from_bytes(term[i : i + 8], "big") for i in range(0, whole, 8)]
    words.append(int.from_bytes(b"\1" + term[whole:], "big"))
    h = 0
    for word in words:
        h = ((h ^ word) * MULTIPLIER) & BITS
        h ^= h >> 32
    return h | LONG if whole else h


def locate(term: bytes, h: int, table: Table) -> tuple[int, int]:
    """The id of a term, or `FREE`, and the slot that holds it or would."""
    mask = len(table.slots) - 1
    slot = h & mask
    while (i := int(table.slots[slot])) != FREE:
        if int(table.hashes[i]) == h and (
            h < LONG or table.arena[table.offsets[i] : table.offsets[i + 1]].tobytes() == term
        ):
            break
        slot = (slot + 1) & mask
    return i, slot


def hash_terms(arena: Bytes, offsets: Offsets, hashes: Hashes) -> None:
    """Write the hash of each given term."""
    for k in range(len(hashes)):
        hashes[k] = hash_of(arena[offsets[k] : offsets[k + 1]].tobytes())


def find_terms(arena: Bytes, offsets: Offsets, table: Table, ids: Ids) -> None:
    """Write the id of each given term, or −1."""
    for k in range(len(ids)):
        term = arena[offsets[k] : offsets[k + 1]].tobytes()
        ids[k], _ = locate(term, hash_of(term), table)


def add_terms(
    arena: Bytes, offsets: Offsets, table: Table, size: int, ids: Ids, first: int
) -> tuple[int, int]:
    """Write the id of each given term from `first` on, new ones in order; stop where there is no more room.

    Returns how many are done and how many terms the table has.
    """
    for k in range(first, len(ids)):
        term = arena[offsets[k] : offsets[k + 1]].tobytes()
        h = hash_of(term)
        i, slot = locate(term, h, table)
        if i == FREE:
            start = int(table.offsets[size])
            if size == len(table.hashes) or start + len(term) > len(table.arena):
                return k, size
            i = size
            table.arena[start : start + len(term)] = np.frombuffer(term, np.uint8)
            table.offsets[i + 1] = start + len(term)
            table.hashes[i] = h
            table.slots[slot] = i
            size += 1
        ids[k] = i
    return len(ids), size


def fill_slots(hashes: Hashes, slots: Ids) -> None:
    """Put terms with these hashes, all different, into free slots."""
    mask = len(slots) - 1
    ids = np.arange(len(hashes), dtype=np.int32)
    wanted = (hashes & np.uint64(mask)).astype(np.int64)
    while len(ids):
        free = slots[wanted] == FREE
        slots[wanted[free]] = ids[free]  # of several that want one slot, one gets it
        left = slots[wanted] != ids
        ids, wanted = ids[left], (wanted[left] + 1) & mask
