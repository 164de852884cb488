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
    listed, of_text = [*columns], set(documents)
    keys = np.zeros(table.n_rows, dtype=np.uint64)
    if table.sparse is not None:
        cells = sparse.csr_array(table.sparse)
        return _keys_of_sparse(cells if listed == [*range(cells.shape[1])] else cells[:, listed])
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
    """The keys of the same rows in a dense array: that of a row of zeros, and how the other cells differ."""
    n_rows, n_columns = cells.shape
    salt = _salt(np.arange(n_columns))
    of_zeros = mixed(salt)
    found = _keys_of_numbers(cells.data)
    least, most = np.full(n_columns, ~np.uint64(0)), np.zeros(n_columns, dtype=np.uint64)
    np.minimum.at(least, cells.indices, found)
    np.maximum.at(most, cells.indices, found)
    has_zeros = np.bincount(cells.indices, minlength=n_columns) < n_rows
    varies = np.where(has_zeros, most > 0, least != most)
    each = mixed(found + salt[cells.indices]) - of_zeros[cells.indices]
    each[~varies[cells.indices]] = 0
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(each, dtype=np.uint64)])
    rows = sums[cells.indptr[1:]] - sums[cells.indptr[:-1]]
    return np.asarray(rows + of_zeros[varies].sum(dtype=np.uint64))


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
