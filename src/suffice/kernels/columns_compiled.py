"""Columns that lie apart in memory, compiled by numba; `columns` is the readable twin.

Eight columns come as arguments of their own, since a loop over a tuple of arrays would not be unrolled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.kernels.jit import kernel, reassociating

Cells = NDArray[Any]
WIDTH = 8
"""The number of columns that are summed or written at once, as many as fit in registers."""


@reassociating
def column_sums(columns: tuple[Cells, ...], classes: Codes, origin: Array, sums: Array) -> None:
    """Add Σ(x − c) and Σ(x − c)² of each class to the first and second half of sums[class].

    A sum is not finite where a cell is missing or infinite.
    """
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
