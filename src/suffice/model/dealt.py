"""Rows dealt to folds, so that each fold has its share of every class.

Rows may be dealt by what is in them instead of where they are: then it does not matter in which order they
come, nor whether a row is there k times or has the weight k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes

SEED = 0
"""Of the order in which rows are dealt: the same rows have the same folds."""
MOST_UNITS = 20_000
"""Units of weight that are dealt; of a larger weight, a unit is more than one row."""
ROUNDING = 1e-9
"""The share of a unit that does not matter."""


def spread_rows(n_rows: int, most: int) -> Codes:
    """The positions of at most so many rows: one at random from each of as many parts of equal length.

    Every n-th row would show only a part of what repeats, such as classes that take turns.
    """
    if n_rows <= most:
        return np.arange(n_rows)
    ends = np.arange(1, most + 1) * n_rows // most
    return np.random.default_rng(SEED).integers(np.append(0, ends[:-1]), ends)


def dealt_folds(codes: Codes, n_folds: int) -> list[tuple[Codes, Codes]]:
    """The rows of all other folds, and the rows of each fold; those of a class are dealt in turn."""
    fold = np.empty(len(codes), dtype=np.intp)
    fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % n_folds
    return splits_of(fold, n_folds)


def splits_of(fold: Codes, n_folds: int) -> list[tuple[Codes, Codes]]:
    """The rows of all other folds, and the rows of each fold."""
    return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(n_folds)]


@dataclass(frozen=True)
class DealtRows:
    """Rows dealt to folds, and independently of these to other folds. A row may lie in several of them."""

    rows: Codes
    """The position of each row, or part of a row; in order."""
    weights: Array | None
    """The weight of each part; None if all rows count once, and none is in parts."""
    fold: Codes
    other_fold: Codes


def deal_by_content(
    codes: Codes, weights: Array | None, keys: NDArray[np.uint64], n_folds: int, n_others: int
) -> DealtRows:
    """Deal rows, or units of weight, in the order of their classes and keys.

    Rows of a weight lie side by side on a line, in this order. The line is cut into units, of one row each,
    that are dealt in turn; a row of weight k takes as much of the line as k rows.
    """
    n, period = len(codes), n_folds * n_others
    order = np.lexsort((keys, codes))
    if weights is None:
        unit_of = np.empty(n, dtype=np.intp)
        unit_of[order] = np.arange(n)
        return DealtRows(np.arange(n), None, unit_of % n_folds, unit_of // n_folds % n_others)
    ends = np.cumsum(weights[order])
    ends /= max(1.0, ends[-1] / MOST_UNITS) if n else 1.0
    ends = np.where(np.abs(ends - np.rint(ends)) < ROUNDING * np.maximum(ends, 1.0), np.rint(ends), ends)
    within = np.diff(_dealt_before(np.concatenate([[0.0], ends]), period), axis=0)
    lost = np.flatnonzero(~within.any(axis=1))  # beside so many others
    within[lost, np.floor(ends[lost]).astype(np.intp) % period] = 1.0
    within[within < ROUNDING * within.max(axis=1, keepdims=True)] = 0.0
    parts = np.empty_like(within)
    parts[order] = within * (weights[order] / within.sum(axis=1))[:, np.newaxis]
    rows, place = np.nonzero(parts)
    return DealtRows(rows, parts[rows, place], place % n_folds, place // n_folds % n_others)


def _dealt_before(line: Array, period: int) -> Array:
    """How much of the line before some points is dealt to each of so many places in turn."""
    rounds = np.floor(line / period)
    left = line - rounds * period
    return np.asarray(rounds[:, np.newaxis] + np.clip(left[:, np.newaxis] - np.arange(period), 0.0, 1.0))
