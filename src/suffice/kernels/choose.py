"""Which kernels do the work, and on which rows: the only place that decides."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import discrete as discrete_reference
from suffice.kernels import gaussian as gaussian_reference
from suffice.kernels.threads import run

WORTH_AN_IMPORT = 1 << 21
"""Cells from which importing numba takes less time than it saves."""
WORTH_A_CALL = 1 << 14
"""The same, once it has been imported."""
CELLS_AT_ONCE = 1 << 20
"""Cells in a part: many parts for the threads, but few enough to add up their results."""


def gaussian_for(n_cells: int) -> ModuleType:
    """The kernels of Gaussian columns and blocks, for this many cells."""
    return _kernels_for("suffice.kernels.gaussian_compiled", n_cells) or gaussian_reference


def discrete_for(n_cells: int) -> ModuleType:
    """The kernels of levels, outcomes and counts, for this many cells."""
    return _kernels_for("suffice.kernels.discrete_compiled", n_cells) or discrete_reference


def import_kernels_for(n_cells: int) -> None:
    """Import the kernels that this many cells are worth, before they are read in smaller parts."""
    gaussian_for(n_cells)
    discrete_for(n_cells)


def _kernels_for(module: str, n_cells: int) -> ModuleType | None:
    return chosen(module, n_cells, WORTH_AN_IMPORT, WORTH_A_CALL)


def chosen(module: str, size: int, worth_an_import: int, worth_a_call: int) -> ModuleType | None:
    """A module of compiled kernels, where work of this size is worth it and numba may be used."""
    if size < worth_a_call or os.environ.get("SUFFICE_DISABLE_JIT", "0") not in {"", "0"}:
        return None
    if size < worth_an_import and module not in sys.modules:
        return None
    return _imported(module)


@cache
def _imported(module: str) -> ModuleType | None:
    try:
        return import_module(module)
    except ImportError:  # numba publishes nothing for this machine, or not yet for this NumPy
        return None


def row_parts(n_rows: int, n_columns: int, fewest: int = 1) -> list[slice]:
    """The rows in runs of a fixed size, whatever the number of threads: sums do not depend on it."""
    step = max(fewest, CELLS_AT_ONCE // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: numba compiles once for these, whoever owns the memory."""
    view = array.view()
    view.flags.writeable = False
    return view


def contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """The cells row by row in memory, copied if needed, as a read-only view."""
    return read_only(np.ascontiguousarray(array))


def first_infinity(values: NDArray[Any]) -> tuple[int, int] | None:
    """Row and column of the first ±inf, reading clean data once: its sum of squares is finite."""
    if values.dtype.kind != "f" or not values.size or has_squares(values):
        return None
    for rows in row_parts(*values.shape):
        infinite = np.isinf(values[rows])
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            return rows.start + int(row), int(column)
    return None


def infinity_refusal(label: str, row: int, value: float) -> str:
    """Word the refusal of an infinite number."""
    return (
        f"{label} contains the infinite value {value} at row {row}; "
        "drop the row, or replace the value with NaN, which is treated as missing."
    )


def has_squares(values: NDArray[Any]) -> bool:
    """Whether Σx² over the observed cells is finite, and so every difference of values: one read."""
    if values.dtype not in (np.float32, np.float64) or not values.flags.forc:
        return False
    cells = values.ravel(order="K")
    kernels = gaussian_for(cells.size)
    # In one row: a loop over few columns would stop the processor from adding several at once.
    parts = run(lambda at: kernels.sum_of_squares(read_only(cells[np.newaxis, at])), row_parts(cells.size, 1))
    return bool(np.isfinite(sum(parts)))


def is_complete(values: NDArray[Any]) -> bool:
    """Whether no cell is NaN: one read, without a mask."""
    if values.dtype.kind != "f" or not values.flags.forc:
        return not bool(np.isnan(values).any())
    flat = values.ravel(order="K")
    with np.errstate(all="ignore"):
        return not np.isnan(np.dot(flat, flat)) or not bool(np.isnan(values).any())
