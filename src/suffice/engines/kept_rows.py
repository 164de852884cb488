"""Some rows of a stream or of many parts, each as likely to be kept as any other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.engines.packed_rows import joined_rows, pack_rows, unpack_rows
from suffice.model.dealt import SEED
from suffice.tables.files.batches import LabelledBatch
from suffice.tables.table import take_rows


class _Held(NamedTuple):
    """Rows of one part, in their order, with the random number of each."""

    part: int
    numbers: Array
    rows: LabelledBatch


class KeptRows:
    """The rows with the smallest random numbers among all that have passed, at most so many.

    The numbers of a part depend on its number alone. So the same rows are kept whoever lets the parts pass,
    in whatever order they are merged.

    Parameters
    ----------
    most : int
        How many rows are kept.
    part : int, default=0
        The number of the part that passes; a stream is one part.
    """

    def __init__(self, most: int, part: int = 0) -> None:
        self.most = most
        self.n_batches = 0
        self._part, self._rng = part, np.random.default_rng([SEED, part])
        self._held: list[_Held] = []

    @classmethod
    def unpacked(cls, several: Iterable[bytes]) -> KeptRows:
        """The rows that are kept of all parts together; bytes may be empty, but not all of them."""
        kept = cls(0)
        for packed in filter(None, several):
            rows, numbers = unpack_rows(packed)
            kept.most = int(numbers["most"][0])
            for part in np.unique(numbers["part"]).tolist():
                some = np.flatnonzero(numbers["part"] == part)
                kept._hold(_Held(part, numbers["number"][some], _taken(rows, some)))
        return kept

    def add(self, batch: LabelledBatch) -> None:
        """Let the rows of a batch pass; those that weigh nothing are not kept."""
        self.n_batches += 1
        if batch.weight is not None and not batch.weight.all():
            batch = _taken(batch, np.flatnonzero(batch.weight))
        self._hold(_Held(self._part, self._rng.random(len(batch.y)), batch))

    def _hold(self, more: _Held) -> None:
        self._held.append(more)
        numbers = np.concatenate([one.numbers for one in self._held])
        if len(numbers) <= self.most:
            return
        limit = np.partition(numbers, self.most - 1)[self.most - 1]
        kept = [(one, np.flatnonzero(one.numbers <= limit)) for one in self._held]
        self._held = [
            _Held(one.part, one.numbers[some], _taken(one.rows, some)) for one, some in kept if len(some)
        ]

    def __len__(self) -> int:
        return sum(len(one.numbers) for one in self._held)

    def batch(self) -> LabelledBatch:
        """The rows that were kept, part after part."""
        return joined_rows([one.rows for one in self._in_order()])

    def _in_order(self) -> list[_Held]:
        return sorted(self._held, key=lambda one: one.part)

    def packed(self) -> bytes:
        """The same as bytes; none if there are no rows."""
        if not self._held:
            return b""
        held = self._in_order()
        parts = [np.full(len(one.numbers), one.part) for one in held]
        numbers = {
            "part": np.concatenate(parts),
            "number": np.concatenate([one.numbers for one in held]),
            "most": np.full(len(self), self.most),
        }
        return pack_rows(self.batch(), numbers)


def merge_kept(several: list[bytes]) -> bytes:
    """The rows that are kept of several parts together, as bytes."""
    return KeptRows.unpacked(several).packed()


def _taken(batch: LabelledBatch, rows: NDArray[np.intp]) -> LabelledBatch:
    """Some rows of a batch."""
    weight = None if batch.weight is None else batch.weight[rows]
    return LabelledBatch(take_rows(batch.X, rows), take_rows(batch.y, rows), weight)
