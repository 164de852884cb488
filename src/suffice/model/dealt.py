"""Rows dealt to folds, so that each fold has its share of every class."""

from __future__ import annotations

import numpy as np

from suffice.arrays import Codes

SEED = 0
"""Of the order in which rows are dealt: the same rows have the same folds."""


def dealt_folds(codes: Codes, n_folds: int, *, shuffled: bool = False) -> list[tuple[Codes, Codes]]:
    """The rows of all other folds, and the rows of each fold; those of a class are dealt in turn."""
    order = np.argsort(codes, kind="stable")
    if shuffled:
        order = np.lexsort((np.random.default_rng(SEED).random(len(codes)), codes))
    fold = np.empty(len(codes), dtype=np.intp)
    fold[order] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(n_folds)]
