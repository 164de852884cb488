"""The kernels of Gaussian columns and blocks in NumPy: the readable reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.cells import class_blocks

Matrix = NDArray[np.floating[Any]]


def sum_of_squares(values: Matrix) -> float:
    """Σx² over the observed cells: infinite where a value is, or where squares leave the floats."""
    flat = values.astype(np.float64, copy=False).ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.dot(flat, flat)
        return float(np.nansum(np.square(flat)) if np.isnan(total) else total)


def first_values(values: Matrix, classes: Codes, wanted: NDArray[np.bool_], found: Array) -> None:
    """Write the first value observed in each class and column that is `wanted`, and want it no more."""
    for k, rows in class_blocks(classes, len(wanted)):
        own = values[rows]
        first = own[0]
        if np.isnan(first).any():
            first = own[np.argmax(~np.isnan(own), axis=0), np.arange(own.shape[1])]
        fresh = wanted[k] & ~np.isnan(first)
        found[k, fresh] = first[fresh]
        wanted[k, fresh] = False


def complete_sums(values: Matrix, classes: Codes, origin: Array, sums: Array, counts: Array) -> bool:
    """Add Σ(x − c) and Σ(x − c)² to `sums`, (2 or more, classes, columns), and the rows to `counts`.

    Returns False if a cell is missing or infinite, or if squares vanish: the sums are then worthless.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for k, rows in class_blocks(classes, len(origin)):
            away = values[rows] - origin[k]
            counts[k] += len(away)
            sums[0, k] += away.sum(axis=0)
            sums[1, k] += np.square(away).sum(axis=0)
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
    for k, rows in class_blocks(classes, len(origin)):
        own = values[rows]
        w = weights[rows] if len(weights) else np.ones(len(own))
        whole[2, k] += len(own)
        with np.errstate(over="ignore", invalid="ignore"):  # the sums tell
            away = own - origin[k]
            seen = ~np.isnan(away)
            if seen.all():
                whole[0, k] += len(own)
                whole[1, k] += w.sum()
            else:
                away = np.where(seen, away, 0.0)
                sums[2, k] += seen.sum(axis=0)
                if len(weights):
                    sums[3, k] += w @ seen
            sums[0, k] += w @ away
            sums[1, k] += w @ np.square(away)


def grouped(values: Matrix, classes: Codes, origin: Array, starts: Codes, rows: Array, order: Codes) -> None:
    """Write x − c into the first columns of `rows`, class by class, and where each class starts.

    `order` tells which row of `values` each of `rows` is.
    """
    order[:] = np.argsort(classes, kind="stable")
    starts[:] = np.searchsorted(classes[order], np.arange(len(starts)))
    with np.errstate(over="ignore", invalid="ignore"):  # the products tell
        rows[:, : values.shape[1]] = values[order] - origin[classes[order]]


def quadratic_scores(
    values: Matrix, limit: Array, centre: Array, scale: Array, shift: Array, constant: Array, out: Array
) -> bool:
    """Add Σ_j constant − ((x − centre)·scale − shift)² over the observed columns to `out`, (rows, classes).

    Values are taken to lie within ±limit: beyond it the squares would overflow. Returns False if a
    value is infinite.
    """
    if np.isinf(values).any():
        return False
    values = np.clip(values, -limit, limit)
    gaps = np.isnan(values).any()
    for k in range(len(centre)):
        cells = values - centre[k]
        cells *= scale[k]
        cells -= shift[k]
        np.square(cells, out=cells)
        np.subtract(constant[k], cells, out=cells)
        if gaps:
            cells[np.isnan(cells)] = 0.0
        out[:, k] += cells.sum(axis=1)
    return True


def linear_scores(
    values: Matrix, limit: Array, base: Array, slopes: Array, constant: Array, out: Array
) -> int:
    """Add slopes·(x − base) + constant to `out`, (rows, classes).

    Returns the number of rows scored: all, or some of those before the first cell that is missing or beyond
    ±limit of its column.
    """
    if not (np.abs(values) <= limit).all():
        return 0
    out += (values - base) @ slopes.T + constant
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
    if not (np.abs(values) <= limit).all():
        return 0
    for k in range(len(centre)):
        whitened = ((values - centre[k]) * scale - shift[k]) @ inverse[k].T
        out[:, k] += constant[k] - 0.5 * np.einsum("ij,ij->i", whitened, whitened)
    return len(values)


def softmax(scores: Array) -> None:
    """Posteriors in place of joint scores."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
