"""A growing set of terms, with ids in the order of arrival."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import read_only
from suffice.kernels.choose import chosen
from suffice.text import hash_table
from suffice.text.documents import Bytes, Documents, Offsets
from suffice.text.hash_table import FREE, Ids, Table, empty_table

BYTES_PER_TERM = 8
"""A first guess; more room is made where it is wrong."""
ROOM = 16
"""The terms for which an empty vocabulary has room."""
WORTH_COMPILING = 1 << 17
"""Bytes of text, with those of the vocabulary, from which compiled kernels do the work."""
FARTHEST, FEW = 20, 10_000
"""The most slots between terms and their places, on average over at least so many: words leave one or two."""


class Vocabulary:
    """A growing set of UTF-8 terms with ids 0, 1, 2 … in order of first arrival."""

    def __init__(self, room: int = ROOM) -> None:
        self.table = empty_table(room, room * BYTES_PER_TERM)
        self._size = 0

    @classmethod
    def of(cls, terms: Iterable[str]) -> Vocabulary:
        """The vocabulary of some strings."""
        encoded = [term.encode() for term in terms]
        offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        vocabulary = cls(len(encoded))
        vocabulary.add(np.frombuffer(b"".join(encoded), np.uint8), offsets)
        return vocabulary

    @classmethod
    def from_utf8(cls, arena: Bytes, offsets: Offsets) -> Vocabulary | None:
        """The terms `arena[offsets[i]:offsets[i + 1]]` as a vocabulary, if they are distinct texts.

        Texts whose hashes were made to agree are refused: looking them up would take quadratic time.
        """
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(arena) or (np.diff(offsets) < 0).any():
            return None
        inside = offsets[offsets < len(arena)]
        if ((arena[inside] & 0xC0) == 0x80).any():  # a character is cut in two
            return None
        try:
            arena.tobytes().decode()
        except UnicodeDecodeError:
            return None
        vocabulary = cls(len(offsets) - 1)
        if vocabulary.is_crowded_by(arena, offsets):
            return None
        vocabulary.add(arena, offsets)
        return vocabulary if len(vocabulary) == len(offsets) - 1 else None

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"Vocabulary({self._size} terms, {self.nbytes} bytes)"

    @property
    def nbytes(self) -> int:
        """The memory in use."""
        return sum(array.nbytes for array in self.table)

    @property
    def arena(self) -> Bytes:
        """The bytes of all the terms."""
        return self.table.arena[: self.table.offsets[self._size]]

    @property
    def offsets(self) -> Offsets:
        """Where each term begins in `arena`, and where the last ends."""
        return self.table.offsets[: self._size + 1]

    def kernels_for(self, n_bytes: int) -> ModuleType:
        """The functions of the table, compiled where text of this size or the vocabulary is worth it.

        Counting text into a large vocabulary is compiled whatever the size of the text: making or loading
        such a vocabulary has imported numba.
        """
        n_bytes += int(self.table.offsets[self._size]) + self._size
        return chosen("suffice.text.compiled.table", n_bytes, WORTH_COMPILING) or hash_table

    def is_crowded_by(self, arena: Bytes, offsets: Offsets) -> bool:
        """Whether terms lie far behind the slots of their hashes, all of them in an empty table."""
        hashes = np.empty(len(offsets) - 1, np.uint64)
        kernels = self.kernels_for(len(arena) + len(hashes))
        kernels.hash_terms(read_only(arena), read_only(offsets), hashes)
        wanted = np.sort(hashes & np.uint64(len(self.table.slots) - 1)).astype(np.int64)
        order = np.arange(len(wanted))
        slots = np.maximum.accumulate(wanted - order) + order
        return int((slots - wanted).sum()) > FARTHEST * max(len(wanted), FEW)

    def add(self, arena: Bytes, offsets: Offsets) -> Ids:
        """The id of each term `arena[offsets[i]:offsets[i + 1]]`; those not known yet are added."""
        ids = np.empty(len(offsets) - 1, np.int32)
        arena, offsets = read_only(arena), read_only(offsets)
        kernels = self.kernels_for(int(offsets[-1] - offsets[0]) + len(ids))
        done = 0
        while done < len(ids):
            done, self._size = kernels.add_terms(arena, offsets, self.table, self._size, ids, done)
            if done < len(ids):
                self.make_room()
        return ids

    def union(self, other: Vocabulary) -> Ids:
        """Add the terms of another vocabulary; returns their ids in this one."""
        if len(self) == 0:
            # Whatever arrives first keeps its ids, its hashes and its slots.
            self.table = other.copy().table
            self._size = len(other)
            return np.arange(len(other), dtype=np.int32)
        return self.add(other.arena, other.offsets)

    def find(self, arena: Bytes, offsets: Offsets) -> Ids:
        """The id of each term `arena[offsets[i]:offsets[i + 1]]`, or −1."""
        ids = np.empty(len(offsets) - 1, np.int32)
        kernels = self.kernels_for(int(offsets[-1] - offsets[0]) + len(ids))
        kernels.find_terms(read_only(arena), read_only(offsets), self.table, ids)
        ids[ids >= self._size] = FREE  # added to the original after this snapshot was taken
        return ids

    def make_room(self) -> None:
        """Double what ran out, the room for terms or for their bytes, so that copies are rare."""
        arena, offsets, hashes, slots = self.table
        if self._size < len(hashes):
            arena = _lengthened(arena, 2 * len(arena) + ROOM * BYTES_PER_TERM)
        else:
            room = 2 * len(hashes) + ROOM
            offsets, hashes = _lengthened(offsets, room + 1), _lengthened(hashes, room)
            if 2 * room > len(slots):
                slots = empty_table(room, 0).slots
                self.kernels_for(0).fill_slots(hashes[: self._size], slots)
        self.table = Table(arena, offsets, hashes, slots)

    def extend_to(self, size: int) -> None:
        """Take over the terms that a kernel has written into the table."""
        self._size = size

    def terms(self) -> list[str]:
        """The terms in the order of their ids."""
        texts: list[str] = self.arrow().to_pylist()
        return texts

    def words_of(self, ids: NDArray[np.integer[Any]]) -> list[str]:
        """The terms with these ids, which may repeat."""
        texts: list[str] = self.arrow().take(ids).to_pylist() if len(ids) else []
        return texts

    def arrow(self) -> Any:
        """The terms as a pyarrow LargeStringArray over the same memory, valid for the terms it has now."""
        import pyarrow as pa

        offsets, arena = pa.py_buffer(self.offsets), pa.py_buffer(self.arena)
        return pa.LargeStringArray.from_buffers(len(self), offsets, arena)

    def sorted_order(self) -> NDArray[np.int64]:
        """The ids in the order of the terms' code points."""
        import pyarrow.compute as pc

        return np.asarray(pc.sort_indices(self.arrow())).astype(np.int64)

    def take(self, ids: NDArray[np.integer[Any]]) -> Vocabulary:
        """A vocabulary of these terms, in this order."""
        terms = Documents(self.arena, self.offsets).take(ids)
        taken = Vocabulary(len(ids))
        taken.add(terms.bytes, terms.offsets)
        if len(taken) != len(ids):
            raise ValueError("ids must be distinct")
        return taken

    def snapshot(self) -> Vocabulary:
        """The current terms over the same memory; the original may grow, a snapshot must be copied first."""
        twin = Vocabulary(0)
        twin.table, twin._size = self.table, self._size
        return twin

    def extends(self, other: Vocabulary) -> bool:
        """Whether this has the terms of the other under the same ids, because one is the other's snapshot."""
        mine, theirs = self.table, other.table
        same = mine.hashes is theirs.hashes and mine.arena is theirs.arena
        return same and len(other) <= len(self)

    def copy(self) -> Vocabulary:
        """An independent copy."""
        twin = Vocabulary(0)
        arena, offsets, hashes, slots = self.table
        own = np.full_like(slots, FREE)
        self.kernels_for(0).fill_slots(hashes[: self._size], own)
        twin.table = Table(arena.copy(), offsets.copy(), hashes.copy(), own)
        twin._size = self._size
        return twin


def _lengthened(array: Any, length: int) -> Any:
    """A longer array that begins with this one."""
    longer = np.empty(length, array.dtype)
    longer[: len(array)] = array
    return longer
