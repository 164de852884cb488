"""The functions u(x) of one class, summed and scored in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Exponents
from suffice.families.elementary import FunctionName, evaluate


def column_sums(
    functions: tuple[FunctionName, ...],
    values: Array,
    weights: Array | None,
    origin: Array,
    exponent: Exponents,
    observed: NDArray[np.bool_] | None,
) -> Array:
    """Σ w·u(x) about the origin over the rows of one class: (m, d). Cells not observed add nothing."""
    totals = np.empty((len(functions), values.shape[1]))
    for row, u in enumerate(_evaluated(functions, values, origin, exponent)):
        if observed is not None:
            u[~observed] = 0.0
        totals[row] = u.sum(axis=0) if weights is None else weights @ u
    return totals


def column_scores(
    functions: tuple[FunctionName, ...],
    values: Array,
    natural: Array,
    constant: Array,
    origin: Array,
    exponent: Exponents,
) -> Array:
    """λᵀu(x) + constant of one class, cell by cell: (n, d); NaN where the cell is missing."""
    scores = np.broadcast_to(constant, values.shape).copy()
    for row, u in enumerate(_evaluated(functions, values, origin, exponent)):
        np.multiply(u, natural[row], out=u)
        scores += u
    return scores


def _evaluated(
    functions: tuple[FunctionName, ...], values: Array, origin: Array, exponent: Exponents
) -> Iterator[Array]:
    """Each function of the values in turn, in a new array; x² from x."""
    if functions in (("x", "x2"), ("log", "log2")):
        first = evaluate(functions[0], values, origin, exponent)
        square = np.square(first)
        yield first
        yield square
    else:
        for name in functions:
            yield evaluate(name, values, origin, exponent)
