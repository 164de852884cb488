"""Columns that lie apart in memory, compiled by numba; `columns` is the readable twin.

Eight columns come as arguments of their own, since a loop over a tuple of arrays would not be unrolled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts
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


@kernel
def count_rows(classes: Codes, counts: Array | Counts) -> None:
    """Add the number of rows of each class to `counts`."""
    apart = np.zeros((4, len(counts)), np.int64)  # so that a row does not wait for the one before it
    for i in range(len(classes)):
        apart[i & 3, np.uint64(classes[i])] += 1
    counts += apart.sum(axis=0)


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
    start = 0
    for run in range(len(own)):
        k, stop = own[run], ends[run]
        middle, first, second = origin[k], sums[k], sums[k, WIDTH:]
        o0, o1, o2, o3, o4, o5, o6, o7 = _eight(middle)
        p0, p1, p2, p3, p4, p5, p6, p7 = _eight(first)
        q0, q1, q2, q3, q4, q5, q6, q7 = _eight(second)
        for at in range(start, stop):
            i = rows[at]
            s, t, u, v = (
                np.float64(a[i]) - o0,
                np.float64(b[i]) - o1,
                np.float64(c[i]) - o2,
                np.float64(d[i]) - o3,
            )
            w, x, y, z = (
                np.float64(e[i]) - o4,
                np.float64(f[i]) - o5,
                np.float64(g[i]) - o6,
                np.float64(h[i]) - o7,
            )
            p0, p1, p2, p3, p4, p5, p6, p7 = p0 + s, p1 + t, p2 + u, p3 + v, p4 + w, p5 + x, p6 + y, p7 + z
            q0, q1, q2, q3 = q0 + s * s, q1 + t * t, q2 + u * u, q3 + v * v
            q4, q5, q6, q7 = q4 + w * w, q5 + x * x, q6 + y * y, q7 + z * z
        first[0], first[1], first[2], first[3] = p0, p1, p2, p3
        first[4], first[5], first[6], first[7] = p4, p5, p6, p7
        second[0], second[1], second[2], second[3] = q0, q1, q2, q3
        second[4], second[5], second[6], second[7] = q4, q5, q6, q7
        start = stop


@inlined
def _eight(numbers: Array) -> tuple[float, ...]:
    """The first eight, each by itself."""
    return (
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5],
        numbers[6],
        numbers[7],
    )


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
