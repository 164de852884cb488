"""Anything array-like as an ndarray, in a type that kernels read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from suffice.arrays import Codes

LARGEST_EXACT = 2.0**53
"""Beyond this, floats leave out whole numbers."""
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def as_floats(values: NDArray[Any]) -> NDArray[np.floating[Any]]:
    """Return numbers, booleans or objects of these as float64 (float32 stays), with NaN for None."""
    if values.dtype in FLOATS:
        return values
    return values.astype(np.float64)


def as_native(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers or booleans in this machine's byte order, and uncommon floats as float64."""
    if values.dtype.kind == "f":
        return as_floats(values)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Turn anything array-like into an ndarray in which numbers stay numbers and gaps stay gaps."""
    if isinstance(values, np.ma.MaskedArray):
        exact = values.dtype.kind == "f" or (values.dtype.kind in "iu" and not _is_beyond_floats(values.data))
        array = np.array(values.data, dtype=np.float64 if exact else object)
        array[np.ma.getmaskarray(values)] = None  # NaN in a float array
        return array
    if hasattr(values, "to_list") and str(getattr(values, "dtype", "")).endswith("128"):
        values = values.to_list()  # NumPy has no such integers
    try:
        array = np.asarray(values)
        if isinstance(values, (list, tuple)) and (array.dtype.kind in "US" or _lost_digits(array, values)):
            array = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ValueError(
            f"{name} is not rectangular; all rows must have the same number of cells."
        ) from error
    return array


def _is_beyond_floats(numbers: NDArray[Any]) -> bool:
    """Whether floats leave out whole numbers of this size."""
    return bool(numbers.size and max(-float(np.nanmin(numbers)), float(np.nanmax(numbers))) >= LARGEST_EXACT)


def _lost_digits(array: NDArray[Any], values: Any) -> bool:
    """Whether NumPy made integers of a list floats that are not equal to them."""
    if array.dtype.kind != "f" or np.isnan(array).all() or not _is_beyond_floats(array):
        return False
    cells = np.asarray(values, dtype=object).ravel().tolist()
    return any(isinstance(cell, (int, np.integer)) and int(float(cell)) != int(cell) for cell in cells)


def complex_refusal(label: str) -> str:
    """The message that refuses complex numbers."""
    return (
        f"Complex data not supported: {label} holds complex numbers; "
        "pass their real and imaginary parts as two columns."
    )


def floats_of_rows(series: Any, rows: slice | Codes) -> NDArray[np.floating[Any]]:
    """Some cells of a column of Polars or Arrow as floats."""
    if isinstance(rows, slice):
        return as_floats(series.slice(rows.start, rows.stop - rows.start).to_numpy())
    return as_floats((series.gather(rows) if hasattr(series, "gather") else series.take(rows)).to_numpy())
