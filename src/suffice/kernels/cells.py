"""The kernels in NumPy: the readable reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from suffice.arrays import Array, Codes

CELLS_IN_CACHE = 1 << 16
"""Cells of a run of rows whose temporaries stay close to the processor."""
FEW_CELLS = 1 << 12
"""Cells that are summed before a sparse matrix is made."""


def row_runs(n_rows: int, n_columns: int, n_cells: int = CELLS_IN_CACHE, fewest: int = 1) -> list[slice]:
    """The rows in runs of about `n_cells`, of at least `fewest` rows."""
    step = max(fewest, n_cells // max(n_columns, 1))
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def entry_runs(starts: NDArray[Any], n_entries: int) -> list[slice]:
    """Sparse rows in runs of about `n_entries`."""
    inner = np.searchsorted(starts, np.arange(n_entries, starts[-1], n_entries)).tolist()
    return [slice(*edges) for edges in pairwise(sorted({0, *inner, len(starts) - 1}))]


def as_rows(starts: NDArray[Any], columns: NDArray[Any], x: NDArray[Any], n_columns: int) -> csr_array:
    """Sparse rows of these arrays as they are; scipy copies them where they are a small part of others."""
    return _filled(csr_array((len(starts) - 1, n_columns), dtype=x.dtype), starts, columns, x)


def as_columns(starts: NDArray[Any], columns: NDArray[Any], x: NDArray[Any], n_columns: int) -> csc_array:
    """The transpose of sparse rows."""
    return _filled(csc_array((n_columns, len(starts) - 1), dtype=x.dtype), starts, columns, x)


def _filled(empty: Any, starts: NDArray[Any], at: NDArray[Any], x: NDArray[Any]) -> Any:
    empty.data, empty.indices, empty.indptr = x, at, starts
    return empty


def place_of_entry(block: Any, entry: int) -> tuple[int, int]:
    """Row and column of a stored entry of a csr or csc array."""
    along, across = int(np.searchsorted(block.indptr, entry, side="right")) - 1, int(block.indices[entry])
    return (along, across) if block.format == "csr" else (across, along)


def by_class(classes: Codes, n_classes: int) -> Codes:
    """The rows class by class, in their order; short integers are sorted without comparisons."""
    return np.argsort(classes.astype(np.uint16) if n_classes <= 1 << 16 else classes, kind="stable")


def class_members(classes: Codes, n_classes: int, weights: Array | None = None) -> csc_array:
    """The weight of each row in its class, (classes, rows): times some cells, it sums them by class."""
    n_rows = len(classes)
    w = np.ones(n_rows) if weights is None else weights
    return csc_array((w, classes, np.arange(n_rows + 1)), shape=(n_classes, n_rows))


def class_sums(classes: Codes, n_classes: int, n_columns: int) -> Callable[[Array], Array]:
    """What adds up cells (rows, columns) by class, row after row, to (classes, columns)."""
    if len(classes) * n_columns > FEW_CELLS:
        members = class_members(classes, n_classes)
        return lambda cells: np.asarray(members @ cells)
    shape = (n_classes, n_columns)
    places = (classes[:, np.newaxis] * np.intp(n_columns) + np.arange(n_columns)).ravel()
    return lambda cells: np.asarray(np.bincount(places, cells.ravel(), shape[0] * shape[1]), float).reshape(
        shape
    )


def class_blocks(classes: Codes, n_classes: int) -> Iterator[tuple[int, Codes | slice]]:
    """Each class that occurs, with its rows in their order."""
    if len(classes) == 0:
        return
    if n_classes == 1:
        yield 0, slice(None)
        return
    order = by_class(classes, n_classes)
    present, starts = np.unique(classes[order], return_index=True)
    yield from zip(present.tolist(), np.split(order, starts[1:]), strict=True)


def row_patterns(seen: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.bool_], Codes]]:
    """Each pattern of observed columns that occurs, with its rows in their order."""
    if seen.all():
        if len(seen):
            yield np.ones(seen.shape[1], dtype=np.bool_), np.arange(len(seen))
        return
    order, starts = pattern_runs(seen)
    for rows in np.split(order, starts[1:]):
        yield seen[rows[0]], rows


def pattern_runs(seen: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """Rows with the same pattern of observed columns side by side, in their order; where patterns begin."""
    packed = np.packbits(seen, axis=1)
    padded = np.zeros((len(seen), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(">u8").astype(np.uint64)  # 64 columns are compared at once
    order = np.lexsort(words.T[::-1]) if words.size else np.arange(len(seen))
    ordered = words[order]
    is_new = np.ones(len(seen), dtype=np.bool_)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=is_new[1:])
    return order, np.flatnonzero(is_new)


def level_counts(codes: Codes, classes: Codes, weights: Array | None, out: NDArray[Any]) -> None:
    """Add each row's weight to out[class, level]; a code of −1 adds nothing."""
    seen = codes >= 0
    if not seen.all():
        codes, classes = codes[seen], classes[seen]
        weights = None if weights is None else weights[seen]
    n_classes, n_levels = out.shape
    if len(codes) < out.size:
        np.add.at(out, (classes, codes), 1 if weights is None else weights)
    else:
        cells = classes * n_levels + codes
        counts = np.bincount(cells, weights, minlength=out.size).reshape(n_classes, n_levels)
        np.add(out, counts, out=out, casting="unsafe")
