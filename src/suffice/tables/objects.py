"""Arrays of Python objects: what they may be, and numbers among them read at once."""

from __future__ import annotations

from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tables.as_arrays import LARGEST_EXACT, complex_refusal

NESTED = (list, tuple, dict, set, frozenset, np.ndarray)
WORTH_ARROW = 1 << 16
"""Objects that Arrow reads in less time than it takes to import."""


def numbers_of_objects(X: NDArray[Any]) -> NDArray[np.float64] | None:
    """Objects that are Python's numbers, as floats; None if some are not, or would lose digits."""
    if X.size >= WORTH_ARROW:
        return _numbers_by_arrow(X)
    types = set(map(type, X.flat))
    if not types or not types <= {float, int, NoneType}:
        return None
    try:
        numbers = X.astype(np.float64)
    except OverflowError:
        return None
    exact = int not in types or np.fmax.reduce(np.abs(numbers), axis=None, initial=0.0) < LARGEST_EXACT
    return numbers if exact else None


def _numbers_by_arrow(X: NDArray[Any]) -> NDArray[np.float64] | None:
    """The same, from types and values that are read together."""
    import pyarrow as pa

    try:
        read = pa.array(X.ravel(), from_pandas=False)
    except (pa.ArrowException, OverflowError):  # types that do not go together, or more than 64 bits
        return None
    if read.type not in (pa.int64(), pa.float64()):
        return None
    numbers = read.to_numpy(zero_copy_only=False).astype(np.float64, copy=False).reshape(X.shape)
    if read.type == pa.int64() and np.fmax.reduce(np.abs(numbers), axis=None) >= LARGEST_EXACT:
        return None
    # Among numbers, Arrow takes some booleans for numbers.
    outcomes = X[(numbers == 0) | (numbers == 1)]
    return numbers if {bool, np.bool_}.isdisjoint(map(type, outcomes)) else None


def require_single_values(values: NDArray[Any], types: set[type], label: str) -> None:
    """Refuse cells of these types that are not single values, or complex."""
    for cls in types:
        if issubclass(cls, NESTED):
            row = next(i for i, cell in enumerate(values) if type(cell) is cls)
            raise TypeError(
                f"{label} of X holds a {cls.__name__} at row {row}, but every cell of this argument must be "
                "a string or a number; split nested values into several columns."
            )
        if issubclass(cls, (complex, np.complexfloating)):
            raise ValueError(complex_refusal(label))  # noqa: TRY004, scikit-learn expects a ValueError
