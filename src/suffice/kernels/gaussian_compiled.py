"""The kernels of Gaussian columns and blocks, compiled by numba; `gaussian_reference` is the readable twin.

Squares are scored in tiles: `TILE` rows at a time, column by column in memory, so that every inner loop runs
over rows, whatever the number of columns and classes, and adds up in a fixed order. Linear scores are
products of rows as they lie in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.jit import contracting, inlined, kernel, reassociating
from suffice.kernels.tiles_compiled import (
    TILE,
    fill_tile,
    has_infinity,
    is_beyond,
    is_spoilt,
)

Matrix = NDArray[np.floating[Any]]

LOG2_E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
ROUNDING = 6755399441055744.0
"""1.5·2⁵²: adding it rounds to a whole number, which is then in the low bits."""
VANISHING = -708.0
"""Below this, eˣ is not a normal float, and negligible beside the largest posterior."""


@reassociating
def sum_of_squares(values: Matrix) -> float:
    """Σx² over the observed cells: infinite where a value is, or where squares leave the floats."""
    total = 0.0
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            x = np.float64(values[i, j])
            total += 0.0 if np.isnan(x) else x * x
    return total


@kernel
def first_values(values: Matrix, classes: Codes, wanted: NDArray[np.bool_], found: Array) -> None:
    """Write the first value observed in each class and column that is `wanted`, and want it no more."""
    left = wanted.sum()
    i = 0
    while left > 0 and i < values.shape[0]:
        k = classes[i]
        for j in range(values.shape[1]):
            if wanted[k, j] and not np.isnan(values[i, j]):
                found[k, j] = values[i, j]
                wanted[k, j] = False
                left -= 1
        i += 1


@inlined
def _is_sound(sums: Array) -> bool:
    """Whether all sums are finite, and no sum of squares is 0 beside a sum that is not."""
    for k in range(sums.shape[1]):
        for j in range(sums.shape[2]):
            if not np.isfinite(sums[1, k, j]) or (sums[1, k, j] == 0.0 and sums[0, k, j] != 0.0):
                return False
    return True


@reassociating
def complete_sums(values: Matrix, classes: Codes, origin: Array, sums: Array, counts: Array) -> bool:
    """Add Σ(x − c) and Σ(x − c)² to `sums`, (2 or more, classes, columns), and the rows to `counts`.

    Returns False if a cell is missing or infinite, or if squares vanish: the sums are then worthless.
    """
    n_classes, d = origin.shape
    own = np.empty((n_classes, 3 * d))  # side by side: each row would look whether three arrays overlap
    own[:, :d], own[:, d : 2 * d], own[:, 2 * d :] = origin, sums[0], sums[1]
    for start, stop in ((0, TILE), (TILE, len(values))):
        rows, those = values[start:stop], classes[start:stop]
        for i in range(len(rows)):
            row, k = rows[i], np.uint64(those[i])
            counts[k] += 1.0
            mine = own[k]
            for j in range(d):
                away = np.float64(row[j]) - mine[j]
                mine[d + j] += away
                mine[2 * d + j] += away * away
        sums[0], sums[1] = own[:, d : 2 * d], own[:, 2 * d :]
        if not _is_sound(sums):  # where gaps are common, little is read in vain
            return False
    return True


@reassociating
def power_sums(
    values: Matrix, classes: Codes, weights: Array, origin: Array, sums: Array, whole: Array
) -> None:
    """Add Σw·(x − c) and Σw·(x − c)² of observed cells to `sums`, (4, classes, columns).

    The number of observed cells and their weight go to sums[2] and sums[3], or, for rows that have every
    cell, to whole[0] and whole[1]; the number of rows goes to whole[2]: (3, classes). No `weights` are
    weights of 1, which are not added up.
    """
    for i in range(values.shape[0]):
        k = classes[i]
        w = weights[i] if len(weights) else 1.0
        whole[2, k] += 1.0
        gaps = 0.0
        for j in range(values.shape[1]):
            gaps += 1.0 if np.isnan(values[i, j]) else 0.0
        if gaps == 0.0:
            whole[0, k] += 1.0
            whole[1, k] += w
            for j in range(values.shape[1]):
                away = np.float64(values[i, j]) - origin[k, j]
                sums[0, k, j] += w * away
                sums[1, k, j] += w * away * away
            continue
        for j in range(values.shape[1]):
            away = np.float64(values[i, j]) - origin[k, j]
            sums[2, k, j] += 0.0 if np.isnan(away) else 1.0
            away = 0.0 if np.isnan(away) else away
            sums[0, k, j] += w * away
            sums[1, k, j] += w * away * away
        if len(weights):
            for j in range(values.shape[1]):
                sums[3, k, j] += 0.0 if np.isnan(values[i, j]) else w


@reassociating
def grouped(values: Matrix, classes: Codes, origin: Array, starts: Codes, rows: Array, order: Codes) -> None:
    """Write x − c into the first columns of `rows`, class by class, and where each class starts.

    `order` tells which row of `values` each of `rows` is.
    """
    starts[:] = 0
    for i in range(len(classes)):
        starts[classes[i] + 1] += 1
    for k in range(len(starts) - 1):
        starts[k + 1] += starts[k]
    place = starts.copy()
    for i in range(values.shape[0]):
        k = classes[i]
        at = place[k]
        place[k] = at + 1
        order[at] = i
        out = rows[at]
        for j in range(values.shape[1]):
            out[j] = np.float64(values[i, j]) - origin[k, j]


@inlined
def _squares(tile: Array, k: int, centre: Array, scale: Array, shift: Array, scores: Array) -> None:
    """Take ((x − centre)·scale − shift)² from the scores of class k."""
    for j in range(tile.shape[0]):
        middle, factor, rest = centre[k, j], scale[k, j], shift[k, j]
        for i in range(TILE):
            z = (tile[j, i] - middle) * factor - rest
            scores[i] -= z * z


@inlined
def _observed_squares(
    tile: Array, k: int, centre: Array, scale: Array, shift: Array, constant: Array, scores: Array
) -> None:
    """Add constant − ((x − centre)·scale − shift)² of the observed cells to the scores of class k."""
    for j in range(tile.shape[0]):
        middle, factor, rest, own = centre[k, j], scale[k, j], shift[k, j], constant[k, j]
        for i in range(TILE):
            z = (tile[j, i] - middle) * factor - rest
            cell = own - z * z
            scores[i] += 0.0 if np.isnan(cell) else cell


@contracting
def quadratic_scores(
    values: Matrix, limit: Array, centre: Array, scale: Array, shift: Array, constant: Array, out: Array
) -> bool:
    """Add Σ_j constant − ((x − centre)·scale − shift)² over the observed columns to `out`, (rows, classes).

    Values are taken to lie within ±limit: beyond it the squares would overflow. Returns False if a
    value is infinite.
    """
    n_classes, d = centre.shape
    tile, scores = np.empty((d, TILE)), np.empty(TILE)
    for start in range(0, values.shape[0], TILE):
        n = fill_tile(values[start : start + TILE], tile)
        gaps = is_spoilt(tile)
        if gaps and has_infinity(tile):
            return False
        for j in range(d):
            for i in range(TILE):
                tile[j, i] = max(min(tile[j, i], limit[j]), -limit[j])
        for k in range(n_classes):
            everything = 0.0
            for j in range(d):
                everything += 0.0 if gaps else constant[k, j]
            for i in range(TILE):
                scores[i] = everything
            if gaps:
                _observed_squares(tile, k, centre, scale, shift, constant, scores)
            else:
                _squares(tile, k, centre, scale, shift, scores)
            for i in range(n):
                out[start + i, k] += scores[i]
    return True


@inlined
def _cells_of_column(
    x: Array, j: int, top: float, centre: Array, scale: Array, shift: Array, constant: Array, cells: Array
) -> None:
    """Write constant − ((x − centre)·scale − shift)² of one column for all classes."""
    for k in range(cells.shape[0]):
        middle, factor, rest, peak = centre[k, j], scale[k, j], shift[k, j], constant[k, j]
        for i in range(TILE):
            z = (max(min(x[i], top), -top) - middle) * factor - rest
            cells[k, i] = peak - z * z


@inlined
def _add_bounded(x: Array, cells: Array, highest: Array, own: float, most: float, scores: Array) -> None:
    """Add the cells below the highest of their row, no lower than −most, times a weight; 0 if missing."""
    for i in range(TILE):
        highest[i] = cells[0, i]
    for k in range(1, cells.shape[0]):
        for i in range(TILE):
            highest[i] = max(highest[i], cells[k, i])
    for k in range(cells.shape[0]):
        for i in range(TILE):
            below = own * max(cells[k, i] - highest[i], -most)
            scores[k, i] += 0.0 if np.isnan(x[i]) else below


@contracting
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
    n_classes, d = centre.shape
    tile, highest = np.empty((d, TILE)), np.empty(TILE)
    cells, scores = np.empty((n_classes, TILE)), np.empty((n_classes, TILE))
    for start in range(0, values.shape[0], TILE):
        n = fill_tile(values[start : start + TILE], tile)
        if is_spoilt(tile) and has_infinity(tile):
            return False
        scores[:] = 0.0
        for j in range(d):
            _cells_of_column(tile[j], j, limit[j], centre, scale, shift, constant, cells)
            _add_bounded(tile[j], cells, highest, weight[j], most, scores)
        for k in range(n_classes):
            for i in range(n):
                out[start + i, k] += scores[k, i]
    return True


@inlined
def _products(
    values: Matrix, i: int, m: int, base: Array, slopes: Array, k: int, constant: Array, out: Array
) -> None:
    """Add slopes·(x − base) + constant of rows i and m to the scores of class k and the three after it.

    Cells and slopes are read once for eight sums, which stay in registers. Beyond the last class, that one
    is written again, as the same number.
    """
    last = len(slopes) - 1
    k1, k2, k3 = min(k + 1, last), min(k + 2, last), min(k + 3, last)
    p0, p1, p2, p3 = out[i, k], out[i, k1], out[i, k2], out[i, k3]
    q0, q1, q2, q3 = out[m, k], out[m, k1], out[m, k2], out[m, k3]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    for j in range(values.shape[1]):
        x, y = np.float64(values[i, j]) - base[j], np.float64(values[m, j]) - base[j]
        u, v, w, z = slopes[k, j], slopes[k1, j], slopes[k2, j], slopes[k3, j]
        a0, a1, a2, a3 = a0 + x * u, a1 + x * v, a2 + x * w, a3 + x * z
        b0, b1, b2, b3 = b0 + y * u, b1 + y * v, b2 + y * w, b3 + y * z
    c0, c1, c2, c3 = constant[k], constant[k1], constant[k2], constant[k3]
    out[i, k], out[i, k1], out[i, k2], out[i, k3] = (
        p0 + (a0 + c0),
        p1 + (a1 + c1),
        p2 + (a2 + c2),
        p3 + (a3 + c3),
    )
    out[m, k], out[m, k1], out[m, k2], out[m, k3] = (
        q0 + (b0 + c0),
        q1 + (b1 + c1),
        q2 + (b2 + c2),
        q3 + (b3 + c3),
    )


@reassociating
def linear_scores(
    values: Matrix, limit: Array, base: Array, slopes: Array, constant: Array, out: Array
) -> int:
    """Add slopes·(x − base) + constant to `out`, (rows, classes).

    Returns the number of rows scored: all, or some of those before the first cell that is missing or beyond
    ±limit of its column.
    """
    n_rows = len(values)
    for i in range(0, n_rows, 2):
        m = min(i + 1, n_rows - 1)
        outside = 0
        for j in range(values.shape[1]):
            one, other = abs(values[i, j]) <= limit[j], abs(values[m, j]) <= limit[j]
            outside |= int(not one) | int(not other)
        if outside:
            return i
        for k in range(0, len(slopes), 4):
            _products(values, i, m, base, slopes, k, constant, out)
    return n_rows


@inlined
def _norms(away: Array, inverse: Array, two: Array, norms: Array) -> None:
    """|L⁻¹z|² of every row: two rows of L⁻¹ by four columns at a time, so that sums stay in registers."""
    for i in range(TILE):
        norms[i] = 0.0
    for p in range(inverse.shape[0] // 2):
        a, b = inverse[2 * p], inverse[2 * p + 1]
        for i in range(TILE):
            two[0, i] = two[1, i] = 0.0
        for q in range(p // 2 + 1):
            w, x, y, z = away[4 * q], away[4 * q + 1], away[4 * q + 2], away[4 * q + 3]
            a0, a1, a2, a3 = a[4 * q], a[4 * q + 1], a[4 * q + 2], a[4 * q + 3]
            b0, b1, b2, b3 = b[4 * q], b[4 * q + 1], b[4 * q + 2], b[4 * q + 3]
            for i in range(TILE):
                two[0, i] += a0 * w[i] + a1 * x[i] + a2 * y[i] + a3 * z[i]
                two[1, i] += b0 * w[i] + b1 * x[i] + b2 * y[i] + b3 * z[i]
        for i in range(TILE):
            norms[i] += two[0, i] * two[0, i] + two[1, i] * two[1, i]


@inlined
def _copy(matrix: Array, larger: Array) -> None:
    """The matrix, in the upper left of a larger one."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            larger[i, j] = matrix[i, j]


@contracting
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
    n_classes, d = centre.shape
    fours = 4 * ((d + 3) // 4)
    padded = np.zeros((n_classes, fours, fours))
    for k in range(n_classes):
        _copy(inverse[k], padded[k])
    tile, away = np.empty((d, TILE)), np.zeros((fours, TILE))
    two, norms = np.empty((2, TILE)), np.empty(TILE)
    for start in range(0, values.shape[0], TILE):
        n = fill_tile(values[start : start + TILE], tile)
        if is_beyond(tile, limit):
            return start
        for k in range(n_classes):
            for j in range(d):
                middle, factor, rest = centre[k, j], scale[j], shift[k, j]
                for i in range(TILE):
                    away[j, i] = (tile[j, i] - middle) * factor - rest
            _norms(away, padded[k], two, norms)
            for i in range(n):
                out[start + i, k] += constant[k] - 0.5 * norms[i]
    return len(values)


@inlined
def _exponentials(
    tile: Array, bits: NDArray[np.int64], k: int, turns: Array, turn_bits: NDArray[np.int64]
) -> None:
    """eˣ in place of x ≤ 0, 0 where that is not a normal float: eˣ = 2ⁿ·eʳ with n whole and |r| ≤ ½·log 2.

    Taylor's polynomial of degree 13 has all digits of eʳ, and n is added to its exponent.
    """
    for i in range(TILE):
        x = tile[k, i]
        turn = x * LOG2_E + ROUNDING if x > VANISHING else ROUNDING
        turns[i] = turn
        n = turn - ROUNDING
        r = (x - n * LN2_HIGH) - n * LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        tile[k, i] = p * r + 1.0 if x > VANISHING else 0.0
    for i in range(TILE):
        bits[k, i] += turn_bits[i] << 52


@contracting
def softmax(scores: Array) -> None:
    """Posteriors in place of joint scores."""
    n_classes = scores.shape[1]
    tile, turns = np.empty((n_classes, TILE)), np.empty(TILE)
    bits, turn_bits = tile.view(np.int64), turns.view(np.int64)
    highest, total = np.empty(TILE), np.empty(TILE)
    for start in range(0, scores.shape[0], TILE):
        block = scores[start : start + TILE]
        n = fill_tile(block, tile)
        for i in range(TILE):
            highest[i], total[i] = tile[0, i], 0.0
        for k in range(1, n_classes):
            for i in range(TILE):
                highest[i] = max(highest[i], tile[k, i])
        for k in range(n_classes):
            for i in range(TILE):
                tile[k, i] -= highest[i]
            _exponentials(tile, bits, k, turns, turn_bits)
            for i in range(TILE):
                total[i] += tile[k, i]
        for i in range(n):
            share = 1.0 / total[i]
            for k in range(n_classes):
                block[i, k] = tile[k, i] * share
