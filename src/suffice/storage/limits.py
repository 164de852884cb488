"""Bounds on what a file may hold, so that reading takes time and memory in proportion to its length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from suffice.storage.format import SufficeFileError

SHARED = 100
"""How many comparisons a value may take on average before it is found in a set."""
FEW = 10_000
"""So many values may be compared with each other anyway."""


def as_set(values: Iterable[Any]) -> frozenset[Any]:
    """The set of values from a file, unless so many share a hash that making it takes quadratic time.

    The hashes of numbers and tuples are the same in every process, so that a file can be made of values whose
    hashes are all equal; once it is refused, any dict of the values is made in linear time.
    """
    known = list(values)
    try:
        hashes = np.array([hash(value) for value in known], dtype=np.int64)
    except TypeError as error:
        raise SufficeFileError("a key is not a plain value.") from error
    counts = np.unique_counts(hashes).counts.astype(np.float64)
    if counts @ counts > SHARED * max(len(known), FEW):
        raise SufficeFileError("too many values have the same hash, as those of no model have.")
    return frozenset(known)
