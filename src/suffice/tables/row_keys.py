"""A number for each row that depends on what is in its cells, not on where it is or who holds it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.tables.table import Table

Keys = NDArray[np.uint64]

MISSING = np.uint64(0x9E3779B97F4A7C15)
CELLS_AT_ONCE = 1 << 18
"""Keys that are mixed at once."""


def row_keys(table: Table, columns: Iterable[int], documents: Iterable[int] = ()) -> Keys:
    """Keys of the rows: equal where the cells of all columns are, and in no order otherwise."""
    of_text = set(documents)
    keys = np.zeros(table.n_rows, dtype=np.uint64)
    if table.sparse is not None:
        return _keys_of_sparse(sparse.csr_array(table.sparse))
    listed = [*columns]
    step = max(1, CELLS_AT_ONCE // max(table.n_rows, 1))
    for first in range(0, len(listed), step):
        some = listed[first : first + step]
        found = np.empty((len(some), table.n_rows), dtype=np.uint64)
        for place, column in enumerate(some):
            found[place] = _keys_of_texts(table, column) if column in of_text else _keys_of(table, column)
        varies = (found != found[:, :1]).any(axis=1)  # a column that never varies tells no rows apart
        salt = _salt(first + np.flatnonzero(varies))
        keys += mixed(found[varies] + salt[:, np.newaxis]).sum(axis=0, dtype=np.uint64)
    return keys


def _keys_of(table: Table, column: int) -> Keys:
    if table.kind(column) != "level":
        return _keys_of_numbers(table.numbers([column], infinities=True)[:, 0])
    levels = table.levels(column)
    known = np.array([*map(_key, map(str, levels.values)), MISSING], dtype=np.uint64)
    return np.asarray(known[levels.codes])


def _keys_of_texts(table: Table, column: int) -> Keys:
    documents = table.documents(column)
    keys = np.array([_key(text) for text in documents.texts()], dtype=np.uint64)
    return keys if documents.missing is None else np.where(documents.missing, MISSING, keys)


def _keys_of_numbers(numbers: NDArray[np.floating]) -> Keys:
    exact = np.asarray(numbers, dtype=np.float64) + 0.0  # −0 is 0
    return np.where(np.isnan(exact), MISSING, exact.view(np.uint64))


def _keys_of_sparse(cells: sparse.csr_array) -> Keys:
    """The sum of the keys of all cells but 0."""
    each = mixed(_keys_of_numbers(cells.data) + _salt(cells.indices))
    each[cells.data == 0] = 0
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(each, dtype=np.uint64)])
    return np.asarray(sums[cells.indptr[1:]] - sums[cells.indptr[:-1]])


def _key(text: str) -> int:
    encoded = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little")


def _salt(column: NDArray[np.integer]) -> Keys:
    """A number for each column, so that equal cells of two columns are told apart."""
    return mixed(column.astype(np.uint64) + np.uint64(1))


def mixed(keys: Keys) -> Keys:
    """Numbers with all bits mixed (Steele, Lea and Flood's SplitMix64)."""
    keys = keys + MISSING
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(keys ^ (keys >> np.uint64(31)))
