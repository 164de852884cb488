"""Sums of counts by class and term, compiled by numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.jit import kernel
from suffice.text.documents import Offsets
from suffice.text.hash_table import Ids


@kernel
def add_by_class(
    starts: Offsets,
    terms: Ids,
    x: NDArray[Any],
    documents: NDArray[np.int64],
    classes: NDArray[np.int64],
    weights: NDArray[np.float64],
    total: NDArray[np.float64],
    present: NDArray[np.float64],
    support: NDArray[np.int64],
) -> None:
    """Add what each of some documents has of each term to the sums (classes, terms) of its class."""
    for i in range(len(documents)):
        d = documents[i]
        k, w = classes[d], weights[d]
        for j in range(starts[d], starts[d + 1]):
            t = terms[j]
            total[k, t] += w * x[j]
            present[k, t] += w
            support[k, t] += 1
