"""The kernels of Gaussian columns and blocks in NumPy: the readable reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.cells import by_class, class_blocks, class_members, class_sums, row_runs

Matrix = NDArray[np.floating[Any]]
SHORT_PRODUCT = 1 << 13
"""Cells of a product that BLAS takes in one thread."""
UNCENTRED = 2.0**10
"""Where the terms of slopes·base add up to no more, a score taken apart keeps its first 12 decimals."""


def sum_of_squares(values: Matrix) -> float:
    """Σx² over the observed cells: infinite where a value is, or where squares leave the floats."""
    flat = values.astype(np.float64, copy=False).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        total = _square_length(flat)
        return float(np.nansum(np.square(flat)) if np.isnan(total) else total)


def _square_length(flat: Matrix) -> float:
    """Σx², by short products: long ones would start threads of their own, which keep others waiting."""
    whole = len(flat) - len(flat) % SHORT_PRODUCT
    rows, rest = flat[:whole].reshape(-1, SHORT_PRODUCT), flat[whole:]
    return float(np.vecdot(rows, rows).sum() + np.dot(rest, rest))


def first_values(values: Matrix, classes: Codes, wanted: NDArray[np.bool_], found: Array) -> None:
    """Write the first value observed in each class and column that is `wanted`, and want it no more."""
    for run in row_runs(*values.shape):
        if not wanted.any():
            return
        first = np.full(len(wanted), -1)
        first[classes[run][::-1]] = np.arange(run.stop - 1, run.start - 1, -1)
        rows = values[first]
        if wanted.all() and first.min() >= 0 and not np.isnan(rows).any():
            found[:], wanted[:] = rows, False
            return
        fresh = wanted & ~np.isnan(rows) & (first >= 0)[:, np.newaxis]
        found[fresh] = rows[fresh]
        wanted[fresh] = False
        if not (wanted & (first >= 0)[:, np.newaxis]).any():
            continue
        candidates = run.start + np.flatnonzero(np.any(wanted, axis=1)[classes[run]])
        for k, members in class_blocks(classes[candidates], len(wanted)):
            own = values[candidates[members]]
            first_seen = own[np.argmax(~np.isnan(own), axis=0), np.arange(own.shape[1])]
            fresh_here = wanted[k] & ~np.isnan(first_seen)
            found[k, fresh_here] = first_seen[fresh_here]
            wanted[k, fresh_here] = False


def complete_sums(values: Matrix, classes: Codes, origin: Array, sums: Array, counts: Array) -> bool:
    """Add Σ(x − c) and Σ(x − c)² to `sums`, (2 or more, classes, columns), and the rows to `counts`.

    Returns False if a cell is missing or infinite, or if squares vanish: the sums are then worthless.
    """
    counts += np.bincount(classes, minlength=len(origin))
    with np.errstate(over="ignore", invalid="ignore"):
        for run in row_runs(*values.shape):
            summed = class_sums(classes[run], *origin.shape)
            away = values[run] - origin[classes[run]]
            sums[0] += summed(away)
            sums[1] += summed(np.square(away, out=away))
    first, second = sums[0], sums[1]
    return bool(np.isfinite(second).all() and not ((second == 0.0) & (first != 0.0)).any())


def power_sums(
    values: Matrix, classes: Codes, weights: Array, origin: Array, sums: Array, whole: Array
) -> None:
    """Add Σw·(x − c) and Σw·(x − c)² of observed cells to `sums`, (4, classes, columns).

    The number of observed cells and their weight go to sums[2] and sums[3], or, for rows that have every
    cell, to whole[0] and whole[1]; the number of rows goes to whole[2]: (3, classes). No `weights` are
    weights of 1, which are not added up.
    """
    n_classes = len(origin)
    for run in row_runs(*values.shape):
        own, w = classes[run], weights[run] if len(weights) else np.ones(len(classes[run]))
        with np.errstate(over="ignore", invalid="ignore"):  # the sums tell
            away = values[run] - origin[own]
            seen = ~np.isnan(away)
            every = seen.all(axis=1)
            whole[0] += np.bincount(own[every], minlength=n_classes)
            whole[1] += np.bincount(own[every], w[every], n_classes)
            whole[2] += np.bincount(own, minlength=n_classes)
            if not every.all():
                some = ~every
                away[~seen] = 0.0
                sums[2] += class_members(own[some], n_classes) @ seen[some]
                if len(weights):
                    sums[3] += class_members(own[some], n_classes, w[some]) @ seen[some]
            members = class_members(own, n_classes, w)
            sums[0] += members @ away
            sums[1] += members @ np.square(away, out=away)


def grouped(values: Matrix, classes: Codes, origin: Array, starts: Codes, rows: Array, order: Codes) -> None:
    """Write x − c into the first columns of `rows`, class by class, and where each class starts.

    `order` tells which row of `values` each of `rows` is.
    """
    order[:] = by_class(classes, len(origin))
    starts[:] = np.searchsorted(classes[order], np.arange(len(starts)))
    with np.errstate(over="ignore", invalid="ignore"):  # the products tell
        np.subtract(values[order], origin[classes[order]], out=rows[:, : values.shape[1]])


def quadratic_scores(
    values: Matrix, limit: Array, centre: Array, scale: Array, shift: Array, constant: Array, out: Array
) -> bool:
    """Add Σ_j constant − ((x − centre)·scale − shift)² over the observed columns to `out`, (rows, classes).

    Values are taken to lie within ±limit: beyond it the squares would overflow. Returns False if a
    value is infinite.
    """
    complete = bool(np.isfinite(values).all())
    if not complete and np.isinf(values).any():
        return False
    everything = constant.sum(axis=1)
    # Column by column in memory, so that loops run over rows, which are many.
    limit, centre, scale, shift = (array[..., np.newaxis] for array in (limit, centre, scale, shift))
    for run in row_runs(*values.shape):
        tile = np.array(values[run].T, dtype=np.float64, order="C")
        np.maximum(tile, -limit, out=tile)
        np.minimum(tile, limit, out=tile)
        gaps = None if complete else np.isnan(tile)
        constants = everything if gaps is None else ~gaps.T @ constant.T
        for some in row_runs(len(centre), tile.size):  # few rows in all classes at once
            cells = tile - centre[some]
            cells *= scale[some]
            cells -= shift[some]
            np.square(cells, out=cells)
            if gaps is not None:
                cells[:, gaps] = 0.0
            out[run, some] += constants[..., some] - cells.sum(axis=1).T
    return True


def bounded_squares(
    values: Matrix,
    limit: Array,
    centre: Array,
    scale: Array,
    shift: Array,
    constant: Array,
    weight: Array,
    most: float,
    out: Array,
) -> bool:
    """Add Σ_j weight·max(s − the highest s of the cell, −most), with s as in `quadratic_scores`."""
    if np.isinf(values).any():
        return False
    for run in row_runs(values.shape[0], values.shape[1] * len(centre)):
        tile = np.clip(np.asarray(values[run], dtype=np.float64), -limit, limit)
        cells = constant - np.square((tile[:, np.newaxis] - centre) * scale - shift)
        below = np.maximum(cells - cells.max(axis=1, keepdims=True), -most)
        out[run] += np.where(np.isnan(below), 0.0, below) @ weight
    return True


def _are_within(values: Matrix, limit: Array) -> bool:
    """Whether no cell is missing or beyond ±limit of its column."""
    least, flat = limit.min(initial=np.inf), values.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.sqrt(_square_length(flat))  # no cell is larger, up to rounding: one read
    if length <= 0.999 * least:
        return True
    if -least <= values.min(initial=0.0) and values.max(initial=0.0) <= least:  # takes no memory
        return True
    return bool((np.abs(values) <= limit).all())


def linear_scores(
    values: Matrix, limit: Array, base: Array, slopes: Array, constant: Array, out: Array
) -> int:
    """Add slopes·(x − base) + constant to `out`, (rows, classes).

    Returns the number of rows scored: all, or some of those before the first cell that is missing or beyond
    ±limit of its column.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        centred = not (np.abs(slopes) @ np.abs(base)).max(initial=0.0) <= UNCENTRED
    at_zero = constant if centred else constant - slopes @ base
    for run in row_runs(*values.shape):
        if not _are_within(values[run], limit):
            return int(run.start)
        out[run] += (values[run] - base if centred else values[run]) @ slopes.T + at_zero
    return len(values)


def whitened_scores(
    values: Matrix,
    limit: Array,
    centre: Array,
    scale: Array,
    shift: Array,
    inverse: Array,
    constant: Array,
    out: Array,
) -> int:
    """Add constant − ½|L⁻¹z|² to `out`, (rows, classes), with z = (x − centre)·scale − shift.

    Returns the number of rows scored: all, or some of those before the first cell that is missing or beyond
    ±limit of its column. `inverse` is the lower triangular L⁻¹ of each class.
    """
    for run in row_runs(*values.shape):
        if not _are_within(values[run], limit):
            return int(run.start)
        for k in range(len(centre)):
            whitened = ((values[run] - centre[k]) * scale - shift[k]) @ inverse[k].T
            out[run, k] += constant[k] - 0.5 * np.einsum("ij,ij->i", whitened, whitened)
    return len(values)


def softmax(scores: Array) -> None:
    """Posteriors in place of joint scores."""
    for run in row_runs(*scores.shape):
        tile = scores[run].T.copy()  # class by class in memory, so that loops run over rows
        tile -= tile.max(axis=0)
        np.exp(tile, out=tile)
        tile /= tile.sum(axis=0)
        scores[run] = tile.T
