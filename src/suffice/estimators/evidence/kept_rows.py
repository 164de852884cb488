"""Some rows of a stream, each as likely to be kept as any other."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.model.dealt import SEED
from suffice.tables.files.batches import LabelledBatch
from suffice.tables.table import take_rows
from suffice.tables.targets import read_labels


class KeptRows:
    """The rows with the smallest random numbers among all that have passed, at most so many."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.n_batches = 0
        self._rng = np.random.default_rng(SEED)
        self._parts: list[tuple[np.ndarray[tuple[int], np.dtype[np.float64]], LabelledBatch]] = []

    def add(self, batch: LabelledBatch) -> None:
        """Let the rows of a batch pass."""
        self.n_batches += 1
        self._parts.append((self._rng.random(len(batch.y)), batch))
        numbers = np.concatenate([one for one, _ in self._parts])
        if len(numbers) <= self.most:
            return
        limit = np.partition(numbers, self.most - 1)[self.most - 1]
        parts = [(one, np.flatnonzero(one <= limit), rows) for one, rows in self._parts]
        self._parts = [(one[kept], _taken(rows, kept)) for one, kept, rows in parts if len(kept)]

    def batch(self) -> LabelledBatch:
        """The rows that were kept."""
        held = [rows for _, rows in self._parts]
        weights = [rows.weight for rows in held if rows.weight is not None]
        return LabelledBatch(
            _joined([rows.X for rows in held]),
            np.concatenate([read_labels(rows.y) for rows in held]),
            np.concatenate(weights) if weights else None,
        )


def _joined(parts: list[Any]) -> Any:
    """Tables or arrays, one below the other."""
    import pyarrow as pa

    if isinstance(parts[0], pa.Table):
        return pa.concat_tables(parts, promote_options="permissive")
    return np.concatenate(parts)


def _taken(batch: LabelledBatch, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> LabelledBatch:
    """Some rows of a batch."""
    weight = None if batch.weight is None else batch.weight[rows]
    return LabelledBatch(take_rows(batch.X, rows), take_rows(batch.y, rows), weight)
