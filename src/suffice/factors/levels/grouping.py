"""Levels joined into groups: the shortest description of the classes given the groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.levels.joining import MOST_CELLS, about_equal, description_length


@dataclass(frozen=True)
class Groups:
    """The group of each level; levels without rows are the last group."""

    codes: Codes
    n_groups: int

    def sums(self, weight: Array) -> Array:
        """The weights (classes, groups) of all levels of each group."""
        sums = np.zeros((self.n_groups, len(weight)))
        np.add.at(sums, self.codes, weight.T)
        return sums.T

    def shares(self, weight: Array, alpha: float) -> Array:
        """The share of each level in its group, over all classes."""
        of_level = weight.sum(axis=0) + alpha
        of_group = np.bincount(self.codes, of_level, self.n_groups)[self.codes]
        alike = 1.0 / np.bincount(self.codes, minlength=self.n_groups)[self.codes]
        return np.asarray(np.divide(of_level, of_group, out=alike, where=of_group > 0))


def grouped(weight: Array) -> Groups:
    """The groups of levels whose weights (classes, levels) describe the classes in the fewest nats.

    The description is Boullé's (2005): the number of groups, which level is in which of them, and the classes
    of the rows of each, log V + log B(V, I) + Σᵢ log C(nᵢ+K−1, K−1) + Σᵢ log nᵢ!/Πₖnᵢₖ!, where B(V, I) counts
    the ways to put V levels into at most I groups. Groups are joined in pairs, the pair first that shortens
    it most, down to one. Levels of equal counts begin together, and so do neighbours in the order of their
    shares if there are too many.
    """
    held = weight.any(axis=0)
    codes = np.full(weight.shape[1], -1)
    if held.any():
        alike, begun = np.unique(weight[:, held].T, axis=0, return_inverse=True)
        begun = _run_of_alike(alike)[begun.reshape(-1)]
        cells = np.zeros((int(begun.max()) + 1, len(weight)))
        np.add.at(cells, begun, weight[:, held].T)
        codes[held] = _joined_in_pairs(cells, int(held.sum()))[begun]
    # Groups are numbered in the order of their first levels.
    found, first, place = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(np.where(found < 0, len(codes), first)))
    return Groups(rank[place.reshape(-1)].astype(np.intp), len(found))


def _run_of_alike(counts: Array) -> Codes:
    """For counts (levels, classes), which run of neighbours in the order of shares each level is in."""
    share = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 0.5 * counts.shape[1])
    above = share / share.mean(axis=0)
    highest = np.argmax(above, axis=1)
    order = np.lexsort((np.where(highest > 0, 1.0, -1.0) * above.max(axis=1), highest))
    begins = about_equal(counts[order].T, np.array([len(counts)])).astype(np.intp)
    if counts.shape[1] <= MOST_CELLS:  # levels of different classes do not begin together
        begins |= np.diff(highest[order], prepend=-1) > 0
    runs = np.empty(len(counts), dtype=np.intp)
    runs[order] = np.cumsum(begins) - 1
    return runs


def _joined_in_pairs(cells: Array, n_levels: int) -> Codes:
    """The group of each of some cells (cells, classes) of levels in the shortest description."""
    n = len(cells)
    cells, length = cells.copy(), description_length(cells.T)
    gain = np.full((n, n), np.inf)  # of each pair of groups, the first of which has the lower number
    for i in range(n - 1):
        gain[i, i + 1 :] = description_length((cells[i] + cells[i + 1 :]).T) - length[i] - length[i + 1 :]
    choices = _log_ways(n_levels, n)
    group = np.arange(n)
    best, shortest = group.copy(), length.sum() + choices[n - 1]
    for left in range(n - 1, 0, -1):
        one, other = np.unravel_index(int(np.argmin(gain)), gain.shape)
        cells[one] += cells[other]
        length[one], length[other] = description_length(cells[one]), 0.0
        group[group == other] = one
        gain[other], gain[:, other] = np.inf, np.inf
        pairs = description_length((cells[one] + cells).T) - length[one] - length
        known = np.isfinite(gain)
        gain[one] = np.where(known[one], pairs, np.inf)
        gain[:, one] = np.where(known[:, one], pairs, np.inf)
        total = length[np.unique(group)].sum() + choices[left - 1]
        if total <= shortest:
            best, shortest = group.copy(), total
    return best


@lru_cache(maxsize=32)
def _log_ways(n_levels: int, most: int) -> Array:
    """Log B(V, I), the number of ways to put V levels into at most I groups, for I = 1, 2, … most."""
    log_size = np.log(np.arange(1, most + 1))
    ways = np.full(most, -np.inf)  # Stirling's numbers S(v, i), level by level
    ways[0] = 0.0
    for _ in range(n_levels - 1):
        ways = np.logaddexp(ways + log_size, np.concatenate([[-np.inf], ways[:-1]]))
    return np.asarray(np.logaddexp.accumulate(ways))
