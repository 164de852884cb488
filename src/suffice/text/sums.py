"""Sums of counts by class and term."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.choose import read_only
from suffice.text.counts import Counts
from suffice.text.kernels import is_compiled

BYTES_PER_ENTRY = 8


def class_sums(
    counts: Counts,
    x: NDArray[Any],
    documents: NDArray[np.intp],
    classes: NDArray[np.intp],
    weights: NDArray[np.float64] | None,
    shape: tuple[int, int],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Σ w·x, Σ w and the number of documents, for each class and each term that these documents have.

    `classes` and `weights` are those of all documents.
    """
    if is_compiled(BYTES_PER_ENTRY * len(x)):
        from suffice.text.compiled.sums import add_by_class

        sums = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
        by_document = np.ones(len(counts)) if weights is None else weights
        starts, terms = read_only(counts.starts), read_only(counts.terms)
        chosen, codes = (read_only(array.astype(np.int64)) for array in (documents, classes))
        add_by_class(starts, terms, read_only(x), chosen, codes, read_only(by_document), *sums)
        return sums
    lengths = np.diff(counts.starts)[documents]
    before = np.cumsum(lengths) - lengths
    held = np.repeat(counts.starts[documents] - before, lengths) + np.arange(lengths.sum())
    cells = np.repeat(classes[documents], lengths) * shape[1] + counts.terms[held]
    w = np.ones(len(held)) if weights is None else np.repeat(weights[documents], lengths)
    n_cells = shape[0] * shape[1]
    total, present = (np.bincount(cells, values, n_cells).astype(np.float64) for values in (x[held] * w, w))
    support = np.bincount(cells, minlength=n_cells).astype(np.int64)
    return total.reshape(shape), present.reshape(shape), support.reshape(shape)
