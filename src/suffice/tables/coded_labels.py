"""Labels that are text, as the codes of their distinct values: rows are not compared one by one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.kernels import threads
from suffice.kernels.cells import row_runs
from suffice.tables.targets import read_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.arrays import Codes

TEXT_WIDTH = 64
"""The most characters of labels in an array of text whose sums are tried."""
POLARS_TEXT = ("String", "Categorical", "Enum")
"""How the names of types of text begin."""
ATTEMPTS, MOST_KINDS = 3, 500
"""How many sums are tried; they tell a hundred labels apart, and more than so many never."""
FIRST_ROWS = 1 << 12
"""Rows that show where labels differ, and mostly whether they are few."""
ROWS_AT_ONCE = 1 << 17
"""Rows that one thread tells apart at a time."""


@dataclass(frozen=True)
class CodedLabels:
    """The label values[codes[i]] of each row; values are distinct, in any order, and may have no rows."""

    values: NDArray[Any]
    codes: NDArray[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: NDArray[Any]) -> CodedLabels:
        return CodedLabels(self.values, self.codes[rows])


def read_coded_labels(y: Any) -> NDArray[Any] | CodedLabels:
    """Read one label per row; those that are all text as codes, all others as `read_labels` does."""
    coded = _coded(y)
    if coded is None or not len(coded) or coded.codes.min() < 0:  # a label is missing
        return read_labels(y)
    return coded


def _coded(y: Any) -> CodedLabels | None:
    library = type(y).__module__.partition(".")[0]
    if type(y) is np.ndarray and y.ndim == 1:
        return _of_objects(y) if y.dtype == object else _of_text(y) if y.dtype.kind == "U" else None
    if library == "pandas" and type(y).__name__ == "Series":
        if y.dtype.kind in "fiubcmM" or str(y.dtype) == "Sparse":
            return None
        return _of_values(*reversed(y.factorize()))
    if library == "polars" and type(y).__name__ == "Series":
        return _of_arrow(y.to_arrow()) if str(y.dtype).startswith(POLARS_TEXT) else None
    return _of_arrow(y) if library == "pyarrow" else None


def _of_values(values: Any, codes: Codes) -> CodedLabels | None:
    """Codes of a container, if they are those of text."""
    distinct = list(values)
    if not all(isinstance(value, str) for value in distinct):
        return None
    return CodedLabels(np.array([*distinct, None], dtype=object)[:-1], np.asarray(codes))


def _of_objects(y: NDArray[np.object_]) -> CodedLabels | None:
    """Python objects: a few that come again and again by their addresses, many by their hashes."""
    if not len(y) or not isinstance(y[0], str):
        return None
    addresses = np.frombuffer(np.ascontiguousarray(y), np.uintp)[:, np.newaxis]
    few = _told_apart(addresses) if len(y) > FIRST_ROWS else None
    distinct = y if few is None else y[few.rows]
    index: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(index.__getitem__, distinct.tolist()), np.intp, len(distinct))
    except TypeError:  # some object has no hash
        return None
    return _of_values(index, codes if few is None else codes[few.codes])


def _of_text(y: NDArray[np.str_]) -> CodedLabels | None:
    """Text of one width, by its characters."""
    if not len(y) or not 0 < y.itemsize <= 4 * TEXT_WIDTH or not y.dtype.isnative:
        return None
    few = _told_apart(np.ascontiguousarray(y).view(np.uint32).reshape(len(y), -1))
    return None if few is None else CodedLabels(y[few.rows], few.codes)


class _Few(NamedTuple):
    """A row of each kind, and the kind of every row."""

    rows: Codes
    codes: Codes


def _told_apart(cells: NDArray[np.unsignedinteger[Any]]) -> _Few | None:
    """Rows (n, width) of a few kinds, by sums of their cells; None where different rows have the same sum."""
    first = cells[:FIRST_ROWS]
    differing = np.flatnonzero((first != first[0]).any(axis=0)).tolist()  # all cells are compared in the end
    parts = row_runs(len(cells), 1, ROWS_AT_ONCE)
    for seed in range(ATTEMPTS):
        factors = np.random.default_rng(seed).integers(1, 1 << 63, (cells.shape[1],), dtype=np.uint64)
        summed = partial(_sums, cells, [(j, factors[j]) for j in differing])
        if np.count_nonzero(summed(slice(0, len(first)))[1] >= 0) > MOST_KINDS:
            return None
        sums, rows_of = zip(*threads.run(summed, parts), strict=True)
        row_of = np.max(rows_of, axis=0)
        place_of = np.cumsum(row_of >= 0) - 1
        rows = row_of[row_of >= 0]
        equal = partial(_equal, cells, cells[rows], place_of)
        codes = threads.run(equal, list(zip(parts, sums, strict=True)))
        found = [some for some in codes if some is not None]
        if len(found) == len(parts):
            return _Few(rows, np.concatenate(found))
    return None


def _sums(
    cells: NDArray[np.unsignedinteger[Any]], factors: list[tuple[int, np.uint64]], rows: slice
) -> tuple[NDArray[np.uint16], Codes]:
    """The sum of each of some rows, in 16 bits; and for each sum a row that has it, or −1."""
    total = np.zeros(rows.stop - rows.start, np.uint64)
    for j, factor in factors:
        total += cells[rows, j] * factor
    sums = (total >> np.uint64(48)).astype(np.uint16)
    row_of = np.full(1 << 16, -1)
    row_of[sums] = np.arange(rows.start, rows.stop)
    return sums, row_of


def _equal(
    cells: NDArray[np.unsignedinteger[Any]],
    kinds: NDArray[np.unsignedinteger[Any]],
    place_of: Codes,
    part: tuple[slice, NDArray[np.uint16]],
) -> Codes | None:
    """The kind of each of some rows by its sum; None where a row is not of that kind."""
    rows, sums = part
    codes = place_of[sums]
    return codes if (kinds.take(codes, axis=0) == cells[rows]).all() else None


def _of_arrow(y: Any) -> CodedLabels | None:
    """Text of Arrow, by its dictionary."""
    import pyarrow as pa

    of = getattr(y, "type", None)
    if of is None:
        return None
    of = of.value_type if pa.types.is_dictionary(of) else of
    if not any(kind(of) for kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        return None
    if isinstance(y, pa.ChunkedArray):
        y = y.unify_dictionaries() if pa.types.is_dictionary(y.type) else y
        y = y.combine_chunks()
        y = y.combine_chunks() if isinstance(y, pa.ChunkedArray) else y
    encoded = y if pa.types.is_dictionary(y.type) else y.dictionary_encode()
    return (
        None if encoded.null_count else _of_values(encoded.dictionary.to_pylist(), encoded.indices.to_numpy())
    )
