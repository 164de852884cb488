"""A number for each row that depends on what is in its cells, not on where it is or who holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Codes
from suffice.tables.table import Table

Keys = NDArray[np.uint64]

MISSING = np.uint64(0x9E3779B97F4A7C15)
CELLS_AT_ONCE = 1 << 18
"""Keys that are mixed at once."""
FEWEST_DIFFERENT = 25
"""Different rows from which it is told whether they could be equal by chance."""


@dataclass(frozen=True, eq=False)
class RowKeys:
    """Keys of rows of a table, and whether rows with equal keys are copies of one row."""

    table: Table
    columns: tuple[int, ...]
    documents: frozenset[int]
    rows: Codes
    """The places of the rows in the table."""
    keys: Keys

    @classmethod
    def of(cls, table: Table, columns: Iterable[int], documents: Iterable[int] = ()) -> RowKeys:
        """The keys of all rows, by what is in some columns."""
        listed, of_text = (*columns,), frozenset(documents)
        return cls(table, listed, of_text, np.arange(table.n_rows), row_keys(table, listed, of_text))

    def take(self, some: Codes) -> RowKeys:
        """The keys of some rows."""
        return replace(self, rows=self.rows[some], keys=self.keys[some])

    @cached_property
    def are_copies(self) -> bool:
        """Whether not even two of the different rows are expected to be equal by chance.

        Then rows that are equal have not met by chance: somebody copied them. Rows that can meet also meet
        nearly: so many pairs of different rows agree in all columns but one, and the chance that they agree
        in this one, too, is about that of any two rows.
        """
        rows = self.rows[np.unique(self.keys, return_index=True)[1]]
        if len(rows) < FEWEST_DIFFERENT:
            return False
        if self.table.sparse is not None:
            return not _differ_in_one_cell(_some_columns(self.table.take(rows), self.columns))
        parts = [part[:, rows] for part in _keys_of_columns(self.table, self.columns, self.documents)]
        keys = _summed(parts, len(rows))
        columns = iter(self.columns)
        return all(
            self._expected_pairs(rows, next(columns), keys - of_column) < 0.5
            for part in parts
            for of_column in part
        )

    def _expected_pairs(self, rows: Codes, column: int, others: Keys) -> float:
        """How many pairs of rows would be equal by chance, by those that differ in one column alone."""
        times = np.unique(others, return_counts=True)[1]
        nearly = 0.5 * float(np.sum(times * (times - 1.0)))
        if not nearly:
            return 0.0
        of_text = column in self.documents  # short ones repeat
        chance = 1.0 if of_text else _chance_of_equals(self.table, rows, column)
        return nearly * chance / (1.0 - chance) if chance < 1.0 else np.inf


def _chance_of_equals(table: Table, rows: Codes, column: int) -> float:
    """The chance that a column is equal in two of some rows, of which no two are equal.

    That is how often two rows agree in this column. Where there is no other column they never do, so the
    chance is at least that of levels as frequent as each other, or of numbers spread evenly over their range,
    in steps of their smallest difference.
    """
    if table.kind(column) == "level":
        counts = np.bincount(table.levels(column).codes[rows] + 1)
        spread = float(np.count_nonzero(counts))
    else:
        numbers = np.asarray(table.numbers([column], infinities=True)[rows, 0], dtype=np.float64)
        values, counts = np.unique(numbers, return_counts=True)  # a gap is one value
        values = values[np.isfinite(values)]
        spread = 1.0
        if len(values) > 1:
            values = values / np.abs(values).max()
            spread += float((values[-1] - values[0]) / max(np.diff(values).min(), np.finfo(float).tiny))
    agreeing = float(np.sum(counts * (counts - 1.0))) / (len(rows) * (len(rows) - 1.0))
    return float(min(1.0, max(agreeing, 1.0 / spread)))


def row_keys(table: Table, columns: Iterable[int], documents: Iterable[int] = ()) -> Keys:
    """Keys of the rows: equal where the cells of all columns are, and in no order otherwise."""
    listed = (*columns,)
    if table.sparse is not None:
        return _keys_of_sparse(_some_columns(table, listed))
    return _summed(_keys_of_columns(table, listed, frozenset(documents)), table.n_rows)


def _summed(parts: Iterable[Keys], n_rows: int) -> Keys:
    keys = np.zeros(n_rows, dtype=np.uint64)
    for part in parts:
        keys += part.sum(axis=0, dtype=np.uint64)
    return keys


def _keys_of_columns(table: Table, listed: tuple[int, ...], of_text: frozenset[int]) -> Iterator[Keys]:
    """What each column adds to the keys of rows, (columns, rows), for some columns at once."""
    step = max(1, CELLS_AT_ONCE // max(table.n_rows, 1))
    for first in range(0, len(listed), step):
        some = listed[first : first + step]
        found = np.empty((len(some), table.n_rows), dtype=np.uint64)
        for place, column in enumerate(some):
            found[place] = _keys_of_texts(table, column) if column in of_text else _keys_of(table, column)
        varies = (found != found[:, :1]).any(axis=1)  # a column that never varies tells no rows apart
        salt = _salt(first + np.arange(len(some)))
        yield np.where(varies[:, np.newaxis], mixed(found + salt[:, np.newaxis]), np.uint64(0))


def _some_columns(table: Table, listed: tuple[int, ...]) -> sparse.csr_array:
    cells = sparse.csr_array(table.sparse)
    return cells if listed == (*range(cells.shape[1]),) else cells[:, list(listed)]


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
    of_zeros, each = _keys_of_entries(cells)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(each, dtype=np.uint64)])
    return np.asarray(of_zeros + sums[cells.indptr[1:]] - sums[cells.indptr[:-1]])


def _keys_of_entries(cells: sparse.csr_array) -> tuple[np.uint64, Keys]:
    """The key of a row of zeros, and what each entry adds to it."""
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
    return of_zeros[varies].sum(dtype=np.uint64), each


def _differ_in_one_cell(cells: sparse.csr_array) -> bool:
    """Whether two different rows differ in one cell alone: without it they are equal, or one is the other."""
    _, each = _keys_of_entries(cells)
    keys = _keys_of_sparse(cells)
    without = np.repeat(keys, np.diff(cells.indptr)) - each
    some = each != 0  # entries that may be zeros, or of columns that never vary
    by_column = mixed(without[some] + _salt(cells.indices[some]))
    return bool(np.isin(without[some], keys).any()) or len(np.unique(by_column)) < len(by_column)


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
