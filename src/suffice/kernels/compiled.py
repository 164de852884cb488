"""The kernels that read every cell, compiled by numba: one pass over a block of rows, no temporaries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.elementary import Array
from suffice.jit import kernel, reassociating

Matrix = NDArray[np.floating[Any]]


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
def first_values(values: Matrix, classes: NDArray[np.intp], wanted: NDArray[np.bool_], found: Array) -> None:
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


@kernel
def power_sums(
    values: Matrix, classes: NDArray[np.intp], weights: Array, origin: Array, sums: Array, largest: Array
) -> None:
    """Add Σw·(x − c), Σw·(x − c)² and Σw of observed cells to `sums`, (3, classes, columns).

    `largest` rises to the largest |x − c| of each class and column: infinite where a value is.
    """
    for i in range(values.shape[0]):
        k, w = classes[i], weights[i]
        for j in range(values.shape[1]):
            away = np.float64(values[i, j]) - origin[k, j]
            seen = 0.0 if np.isnan(away) else 1.0
            away = 0.0 if np.isnan(away) else away
            sums[0, k, j] += w * away
            sums[1, k, j] += w * away * away
            sums[2, k, j] += w * seen
            largest[k, j] = max(largest[k, j], abs(away))


@reassociating
def quadratic_scores(
    values: Matrix, natural: Array, constant: Array, origin: Array, scale: Array, limit: Array, out: Array
) -> None:
    """Add λᵀ(z, z²) + constant over the observed columns to `out`, (rows, classes), with z = (x − c)·scale.

    Values are taken to lie within ±limit: beyond it the squares would leave the floats.
    """
    row = np.empty(values.shape[1])
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            row[j] = max(min(np.float64(values[i, j]), limit[j]), -limit[j])
        for k in range(out.shape[1]):
            score = 0.0
            for j in range(values.shape[1]):
                z = (row[j] - origin[k, j]) * scale[j]
                cell = constant[k, j] + z * (natural[0, k, j] + z * natural[1, k, j])
                score += 0.0 if np.isnan(cell) else cell
            out[i, k] += score


@kernel
def softmax(scores: Array) -> None:
    """Posteriors in place of joint scores."""
    for i in range(scores.shape[0]):
        highest = scores[i, 0]
        for k in range(1, scores.shape[1]):
            highest = max(highest, scores[i, k])
        total = 0.0
        for k in range(scores.shape[1]):
            scores[i, k] = np.exp(scores[i, k] - highest)
            total += scores[i, k]
        for k in range(scores.shape[1]):
            scores[i, k] /= total
