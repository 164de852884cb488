"""A pass of logistic regression, compiled: a row is read once for its score, its slope and its curvature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.kernels.jit import reassociating


@reassociating
def logistic_sums(
    X: Array,
    codes: NDArray[Any],
    weights: Array,
    coefficients: Array,
    offset: float,
    gradient: Array,
    half: Array,
) -> tuple[float, int]:
    """Add Σ w·(y − t)·(x, 1) to `gradient`, (d + 1,); give Σ w·(−log p(t)) and the rows with p(t) ≤ ½.

    `weights` without elements are all 1. `half` is filled with √(w·y·(1 − y))·(x, 1), whose product with
    itself is the Hessian; without rows it is left alone, and with d columns there is no 1.
    """
    n, d = X.shape
    value, n_wrong = 0.0, 0
    for i in range(n):
        score = offset
        for j in range(d):
            score += coefficients[j] * X[i, j]
        margin = score if codes[i] else -score
        decay = np.exp(-abs(margin))
        weight = weights[i] if len(weights) else 1.0
        value += weight * (np.log1p(decay) + max(-margin, 0.0))
        share = decay / (1.0 + decay)  # the smaller of y and 1 − y
        wrong = share if margin > 0.0 else 1.0 - share
        n_wrong += margin <= 0.0
        slope = -weight * wrong if codes[i] else weight * wrong
        for j in range(d):
            gradient[j] += slope * X[i, j]
        gradient[d] += slope
        if len(half):
            root = np.sqrt(weight * share * (1.0 - share))
            for j in range(d):
                half[i, j] = root * X[i, j]
            half[i, d:] = root
    return value, n_wrong
