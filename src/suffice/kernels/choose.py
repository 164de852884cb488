"""Which kernels do the work, and on which rows: the only place that decides."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Codes, Counts, read_only
from suffice.kernels import columns as columns_reference
from suffice.kernels import discrete as discrete_reference
from suffice.kernels import gaussian as gaussian_reference
from suffice.kernels.cells import place_of_entry, row_runs
from suffice.kernels.columns import ColumnCells, columns_of
from suffice.kernels.threads import run, uninterrupted

WORTH_COMPILING = 1 << 24
"""Cells, times classes where they are scored, from which compiled kernels do the work.

Importing numba takes longer than it saves in one call, but is done once in a process. At this size the most
that either can lose is about the same: docs/decisions/0027-kernels-chosen-by-the-data.md.
"""
CELLS_AT_ONCE = 1 << 20
"""Cells in a part: many parts for the threads, but few enough to add up their results."""

_here = threading.local()
_imported: dict[str, ModuleType | None] = {}


def gaussian_for(n_cells: int) -> ModuleType:
    """The kernels of Gaussian columns and blocks, for this many cells."""
    return chosen("suffice.kernels.gaussian_compiled", n_cells, WORTH_COMPILING) or gaussian_reference


def discrete_for(n_cells: int) -> ModuleType:
    """The kernels of levels, outcomes and counts, for this many cells."""
    return chosen("suffice.kernels.discrete_compiled", n_cells, WORTH_COMPILING) or discrete_reference


def columns_for(n_cells: int) -> ModuleType:
    """The kernels of columns that lie apart, for this many cells."""
    return chosen("suffice.kernels.columns_compiled", n_cells, WORTH_COMPILING) or columns_reference


def chosen(module: str, size: int, worth_compiling: int) -> ModuleType | None:
    """A module of compiled kernels, where work of this size is worth it and numba may be used.

    The choice depends on the data alone, never on what the process has done before: the same call gives
    the same bits everywhere.
    """
    if size < worth_compiling and not getattr(_here, "is_large", False):
        return None
    if os.environ.get("SUFFICE_DISABLE_JIT", "0") not in {"", "0"}:
        return None
    if module not in _imported:
        _imported[module] = uninterrupted(lambda: _import(module))
    return _imported[module]


def _import(module: str) -> ModuleType | None:
    try:
        return import_module(module)
    except ImportError:  # numba publishes nothing for this machine, or not yet for this NumPy
        return None


@contextmanager
def one_choice(n_cells: int) -> Iterator[None]:
    """Choose kernels for all this work at once, in this thread, where it is done in smaller steps."""
    before = getattr(_here, "is_large", False)
    _here.is_large = before or n_cells >= WORTH_COMPILING
    try:
        yield
    finally:
        _here.is_large = before


def whole_work(n_cells: int) -> int:
    """The cells to choose by in other threads, for a part of the work that this thread has chosen for."""
    return max(n_cells, WORTH_COMPILING) if getattr(_here, "is_large", False) else n_cells


class GrowingWork:
    """Work that comes in batches: kernels are chosen by the cells of all batches so far."""

    def __init__(self) -> None:
        self._n_cells = 0

    @contextmanager
    def more(self, n_cells: int) -> Iterator[None]:
        """Choose kernels for the next batch, in this thread."""
        self._n_cells += n_cells
        with one_choice(self._n_cells):
            yield


def row_parts(n_rows: int, n_columns: int, fewest: int = 1) -> list[slice]:
    """The rows in runs of a fixed size, whatever the number of threads: sums do not depend on it."""
    return row_runs(n_rows, n_columns, CELLS_AT_ONCE, fewest)


def class_counts(classes: Codes, n_classes: int, n_cells: int) -> Counts:
    """The number of rows of each class, for work on so many cells."""
    kernels, counts = columns_for(n_cells), np.zeros(n_classes, np.int64)

    def counted(rows: slice) -> Counts:
        own = np.zeros(n_classes, np.int64)
        kernels.count_rows(read_only(classes[rows]), own)
        return own

    for own in run(counted, row_runs(len(classes), 1, fewest=16 * n_classes)):  # few counts beside the rows
        counts += own
    return counts


def contiguous(array: NDArray[Any] | ColumnCells, n_cells: int = 0) -> NDArray[Any]:
    """The cells row by row in memory, copied if needed, as a read-only view; they are a part of `n_cells`."""
    in_rows = isinstance(array, np.ndarray) and (array.ndim == 1 or array.flags.c_contiguous)
    columns = None if in_rows else columns_of(array)
    if columns is None:
        return read_only(np.ascontiguousarray(array))
    return brought_together(columns, columns_for(max(array.size, n_cells)))


def brought_together(columns: list[NDArray[Any]], kernels: ModuleType) -> NDArray[Any]:
    """Columns of one type as a read-only array with its cells row by row in memory."""
    values = np.empty((len(columns[0]), len(columns)), columns[0].dtype)
    words = np.dtype(f"u{values.itemsize}")  # so that a kernel is compiled for a size, not for a type
    kernels = kernels if len(columns) >= kernels.WIDTH else columns_reference
    for at, some in column_groups([column.view(words) for column in columns], kernels.WIDTH):
        kernels.bring_together(some, at, values.view(words))
    return read_only(values)


def column_groups(columns: list[NDArray[Any]], width: int) -> Iterator[tuple[int, tuple[NDArray[Any], ...]]]:
    """Columns in groups of a width (0: all), each with the place of its first; some may come once more."""
    width = width or len(columns)
    for start in range(0, len(columns), width):
        at = max(0, min(start, len(columns) - width))
        some = columns[at : at + width]
        yield at, tuple(map(read_only, some + some[:1] * (width - len(some))))


def first_infinity(values: Any) -> tuple[int, int] | None:
    """Row and column of the first ±inf, reading clean data once: its sum of squares is finite.

    Of few cells, each is looked at: with gaps that is quicker than to sum the others.
    """
    if sparse.issparse(values):
        found = first_infinity(values.data[:, np.newaxis])
        return None if found is None else place_of_entry(values, found[0])
    if values.dtype.kind != "f" or not values.size or (values.size > CELLS_AT_ONCE and has_squares(values)):
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


def are_counts(values: NDArray[Any]) -> bool:
    """Whether no number is missing, negative or infinite: one read, in runs that stay in the cache."""
    cells = values.ravel(order="K") if values.flags.forc else values
    runs = (cells[run] for run in row_runs(len(cells), cells.size // max(len(cells), 1)))
    return all(run.min() >= 0 and run.max() < np.inf for run in runs)


def is_complete(values: NDArray[Any]) -> bool:
    """Whether no cell is NaN: one read, without a mask."""
    if values.dtype.kind != "f" or not values.flags.forc:
        return not bool(np.isnan(values).any())
    return not values.size or not np.isnan(values.ravel(order="K").min())
