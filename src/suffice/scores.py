"""Joint scores a_k(x) = log p(x | C_k) + log p(C_k), and what is read off them.

With alpha = 0 a score may be infinite: a level never seen in the class, a value off a class that was
constant. Each such cell counts in `order`, the power of alpha with which the density vanishes as
alpha → 0⁺, and leaves a finite part; the posterior is the limit: lowest order first, then the finite
parts. Nothing is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.families.elementary import Array
from suffice.kernels.choice import gaussian_for, row_parts

IMPOSSIBLE = 1.0
"""The order of a cell whose probability vanishes."""
CERTAIN = -(2.0**-20)
"""The order of a cell on a point of infinite density: it decides among classes equally possible."""


@dataclass
class Scores:
    """Finite parts (n, k), −inf for a class of prior 0, and, where some cell needs them, orders (n, k)."""

    finite: Array
    order: Array | None = None

    def add_order(self, rows: slice, k: int, order: Array) -> None:
        """Add to the orders of some rows in class k."""
        if self.order is None:
            self.order = np.zeros_like(self.finite)
        self.order[rows, k] += order

    def add_orders(self, rows: slice, orders: Array) -> None:
        """Add to the orders of some rows in all classes."""
        if self.order is None:
            self.order = np.zeros_like(self.finite)
        self.order[rows] += orders

    def joint(self) -> Array:
        """a_k(x), ±inf where the order says so."""
        if self.order is None:
            return self.finite
        joint = np.where(self.order > 0, -np.inf, self.finite)
        return np.where((self.order < 0) & ~np.isneginf(self.finite), np.inf, joint)

    def comparable(self) -> Array:
        """Scores whose softmax is the posterior: of the possible classes, only those of the lowest order."""
        if self.order is None:
            return self.finite
        order = np.where(np.isneginf(self.finite), np.inf, self.order)
        return np.where(order == order.min(axis=1, keepdims=True), self.finite, -np.inf)


def log_softmax_in_place(scores: Array) -> Array:
    """Log posteriors, written over the scores; every row has at least one finite score."""
    for rows in row_parts(*scores.shape):
        part = scores[rows]
        part -= part.max(axis=1, keepdims=True)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))
    return scores


def log_softmax(scores: Array) -> Array:
    """Log posteriors."""
    return log_softmax_in_place(scores.copy())


def softmax_in_place(scores: Array) -> Array:
    """Posteriors, written over the scores."""
    gaussian_for(scores.size).softmax(scores)
    return scores


def softmax(scores: Array) -> Array:
    """Posteriors."""
    return softmax_in_place(scores.copy())


def log_odds_of_two(scores: Array) -> Array:
    """The log odds of the second of two classes (1-D), and scores of more classes as they are."""
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def difference(one: Array, other: Array) -> Array:
    """One less the other; two that are both impossible, or both certain, say nothing about two classes."""
    with np.errstate(invalid="ignore"):
        gap = np.subtract(one, other)
    return np.where(np.isnan(gap), 0.0, gap)


def log_sum(scores: Array) -> Array:
    """log Σ_k exp a_k(x) = log p(x), also for infinite scores."""
    highest = scores.max(axis=1)
    finite = np.isfinite(highest)
    shifted = scores - np.where(finite, highest, 0.0)[:, np.newaxis]
    with np.errstate(over="ignore", divide="ignore"):
        total = np.log(np.exp(shifted).sum(axis=1)) + np.where(finite, highest, 0.0)
    return np.asarray(np.where(finite, total, highest))
