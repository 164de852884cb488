"""Columns that lie apart in memory, compiled by numba; `columns` is the readable twin.

Eight columns come as arguments of their own, since a loop over a tuple of arrays would not be unrolled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.jit import contracting, inlined, kernel, reassociating

Cells = NDArray[Any]
Places = NDArray[np.uint32]
ClassRuns = tuple[Places, Places, Places]
"""Rows, those of a class in a run together; the class of each run; and where it ends."""
WIDTH = 8
"""The number of columns that are summed or written at once, as many as fit in registers."""
FEW_CLASSES = 16
"""Classes up to which rows are brought in runs, so that their sums stay in registers."""
TOGETHER = 64
"""Rows among which those of a class come together: few, so that memory is read almost in its order."""


def rows_to_sum(classes: Codes, n_classes: int) -> Codes | ClassRuns:
    """The rows as `column_sums` reads them."""
    return _class_runs(classes, n_classes) if n_classes <= FEW_CLASSES else classes


@kernel
def _class_runs(classes: Codes, n_classes: int) -> ClassRuns:
    """The rows in runs of a class; those of each class keep their order."""
    n_rows, n_runs = len(classes), 0
    rows, own, ends = np.empty((3, n_rows), np.uint32)
    place = np.empty(n_classes, np.uint32)
    for start in range(0, n_rows, TOGETHER):
        stop = min(start + TOGETHER, n_rows)
        place[:] = 0
        for i in range(start, stop):
            place[classes[i]] += np.uint32(1)
        end = start
        for k in range(n_classes):
            begin, end = end, end + place[k]
            place[k] = begin
            if begin < end:
                own[n_runs], ends[n_runs] = k, end
                n_runs += 1
        for i in range(start, stop):
            k = classes[i]
            rows[place[k]] = i
            place[k] += np.uint32(1)
    return rows, own[:n_runs], ends[:n_runs]


def column_sums(columns: tuple[Cells, ...], rows: Codes | ClassRuns, origin: Array, sums: Array) -> None:
    """Add Σ(x − c) and Σ(x − c)² of each class to the first and second half of sums[class].

    The rows are `rows_to_sum`. A sum is not finite where a cell is missing or infinite. Both ways add the
    rows of a class in their order, and give the same bits.
    """
    if isinstance(rows, tuple):
        _sums_of_runs(columns, *rows, origin, sums)
    else:
        _sums_of_rows(columns, rows, origin, sums)


@contracting
def _sums_of_runs(
    columns: tuple[Cells, ...], rows: Places, own: Places, ends: Places, origin: Array, sums: Array
) -> None:
    """Add the rows of a run after each other, with its sums in registers."""
    a, b, c, d, e, f, g, h = columns
    _add_four(a, b, c, d, rows, own, ends, origin, sums, 0)
    _add_four(e, f, g, h, rows, own, ends, origin, sums, 4)


@inlined
def _add_four(
    a: Cells,
    b: Cells,
    c: Cells,
    d: Cells,
    rows: Places,
    own: Places,
    ends: Places,
    origin: Array,
    sums: Array,
    first: int,
) -> None:
    """Add four columns to the sums from the first on."""
    start = 0
    for run in range(len(own)):
        k, stop = own[run], ends[run]
        middle, x, xx = origin[k, first:], sums[k, first:], sums[k, first + WIDTH :]
        o, u, v, w = middle[0], middle[1], middle[2], middle[3]
        a1, b1, c1, d1 = x[0], x[1], x[2], x[3]
        a2, b2, c2, d2 = xx[0], xx[1], xx[2], xx[3]
        for at in range(start, stop):
            i = rows[at]
            p, q, r, s = (
                np.float64(a[i]) - o,
                np.float64(b[i]) - u,
                np.float64(c[i]) - v,
                np.float64(d[i]) - w,
            )
            a1, b1, c1, d1 = a1 + p, b1 + q, c1 + r, d1 + s
            a2, b2, c2, d2 = a2 + p * p, b2 + q * q, c2 + r * r, d2 + s * s
        x[0], x[1], x[2], x[3] = a1, b1, c1, d1
        xx[0], xx[1], xx[2], xx[3] = a2, b2, c2, d2
        start = stop


@reassociating
def _sums_of_rows(columns: tuple[Cells, ...], classes: Codes, origin: Array, sums: Array) -> None:
    """Add row after row."""
    a, b, c, d, e, f, g, h = columns
    for i in range(len(classes)):
        k = np.intp(classes[i])
        own, middle = sums[k], origin[k]
        p, q = np.float64(a[i]) - middle[0], np.float64(b[i]) - middle[1]
        r, s = np.float64(c[i]) - middle[2], np.float64(d[i]) - middle[3]
        t, u = np.float64(e[i]) - middle[4], np.float64(f[i]) - middle[5]
        v, w = np.float64(g[i]) - middle[6], np.float64(h[i]) - middle[7]
        own[0] += p
        own[1] += q
        own[2] += r
        own[3] += s
        own[4] += t
        own[5] += u
        own[6] += v
        own[7] += w
        own[8] += p * p
        own[9] += q * q
        own[10] += r * r
        own[11] += s * s
        own[12] += t * t
        own[13] += u * u
        own[14] += v * v
        own[15] += w * w


@kernel
def bring_together(columns: tuple[Cells, ...], first: int, out: Cells) -> None:
    """Write columns into those of `out`, (rows, columns), from the first on."""
    a, b, c, d, e, f, g, h = columns
    for i in range(len(out)):
        row = out[i, first : first + 8]
        row[0], row[1], row[2], row[3] = a[i], b[i], c[i], d[i]
        row[4], row[5], row[6], row[7] = e[i], f[i], g[i], h[i]
