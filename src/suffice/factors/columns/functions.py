"""The functions u(x) of one class, summed and scored in NumPy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Exponents
from suffice.families.elementary import ElementaryFunction, Function, evaluate

MOST = 2.0**800
"""Where the score of one's own function is cut off, so that none overflows."""


def column_sums(
    functions: tuple[Function, ...],
    values: Array,
    weights: Array | None,
    origin: Array,
    exponent: Exponents,
    observed: NDArray[np.bool_] | None,
) -> Array:
    """Σ w·u(x) about the origin over the rows of one class: (m, d). Cells not observed add nothing."""
    totals = np.empty((len(functions), values.shape[1]))
    for row, u in enumerate(column_terms(functions, values, origin, exponent)):
        if observed is not None:
            u[~observed] = 0.0
        totals[row] = u.sum(axis=0) if weights is None else weights @ u
    return totals


def column_scores(
    functions: tuple[Function, ...],
    values: Array,
    natural: Array,
    constant: Array,
    origin: Array,
    exponent: Exponents,
) -> Array:
    """λᵀu(x) + constant of one class, cell by cell: (n, d); NaN where the cell is missing."""
    scores = constant
    for row, u in enumerate(column_terms(functions, values, origin, exponent)):
        np.multiply(u, natural[row], out=u)
        scores = np.add(scores, u, out=u)
    return scores


def column_terms(
    functions: tuple[Function, ...], values: Array, origin: Array, exponent: Exponents
) -> Iterator[Array]:
    """Each function of the values in turn, in a new array; x² from x."""
    if functions in (("x", "x2"), ("log", "log2")):
        first = evaluate(functions[0], values, origin, exponent)
        square = np.square(first)
        yield first
        yield square
    else:
        for function in functions:
            u = evaluate(function, values, origin, exponent)
            yield u if isinstance(function, str) else bounded(function, u, values)


def bounded(function: ElementaryFunction, u: Array, values: Array) -> Array:
    """The values of one's own function, cut off at ±`MOST`; NaN only where the cell is missing."""
    undefined = np.isnan(u) & ~np.isnan(values)
    if undefined.any():
        raise ValueError(
            f"the function {function.name!r} is not a number at x = {values[undefined][0]}; the support of "
            "its family must exclude such values."
        )
    return np.clip(u, -MOST, MOST)
