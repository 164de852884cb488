"""Labels that are text, as the codes of their distinct values: rows are not compared one by one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.tables.targets import read_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.arrays import Codes

TEXT_WIDTH = 64
"""The most characters of labels in an array of text whose sums are tried."""
POLARS_TEXT = ("String", "Categorical", "Enum")
"""How the names of types of text begin."""
ATTEMPTS = 3
"""How many sums are tried; they tell a hundred labels apart, and thousands never."""


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
    """Python objects, by their hashes."""
    if not len(y) or not isinstance(y[0], str):
        return None
    index: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        codes = np.fromiter(map(index.__getitem__, y.tolist()), np.intp, len(y))
    except TypeError:  # some object has no hash
        return None
    return _of_values(index, codes)


def _of_text(y: NDArray[np.str_]) -> CodedLabels | None:
    """Text of one width, by sums of its characters; None where different texts have the same sums."""
    if not len(y) or not 0 < y.itemsize <= 4 * TEXT_WIDTH or not y.dtype.isnative:
        return None
    characters = np.ascontiguousarray(y).view(np.uint32).reshape(len(y), -1)
    for seed in range(ATTEMPTS):
        factors = np.random.default_rng(seed).integers(1, 1 << 63, characters.shape[1], dtype=np.uint64)
        sums = ((characters @ factors) >> np.uint64(48)).astype(np.uint16)
        row_of = np.full(1 << 16, -1)
        row_of[sums[::-1]] = np.arange(len(y))[::-1]
        found = np.flatnonzero(row_of >= 0)
        place_of = np.zeros(1 << 16, dtype=np.intp)
        place_of[found] = np.arange(len(found))
        rows, codes = row_of[found], place_of[sums]
        if np.array_equal(characters[rows][codes], characters):
            return CodedLabels(y[rows], codes)
    return None


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
