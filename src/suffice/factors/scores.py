"""Joint scores a_k(x) = log p(x | C_k) + log p(C_k), from which posteriors are computed.

With alpha = 0 a score may be infinite: a level never seen in the class, a value that differs from the only
value of its class. Such a cell adds to `order`, the power of alpha with which the density vanishes as
alpha → 0⁺, and leaves a finite part. The posterior is the limit: lowest order first, then the finite parts.
Nothing is NaN.

Where the columns of a model tell the same thing several times, posteriors weigh their evidence: in place of
a_k they compare log p(C_k) + w · log p(x | C_k).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice.arrays import Array, Codes

IMPOSSIBLE = 1.0
"""The order of a cell whose probability vanishes."""
CERTAIN = -(2.0**-20)
"""The order of a cell at a point of infinite density: it decides between equally possible classes."""


@dataclass
class Scores:
    """Finite parts (n, k), −inf for a class of prior 0, and, where some cell needs them, orders (n, k)."""

    finite: Array
    order: Array | None = None
    log_priors: Array | float = 0.0
    """What the finite parts hold beside the evidence."""
    evidence_weight: float = 1.0
    compared: bool = False
    """Whether only differences of classes are asked for, so that what all share may be left out."""
    unseen: list[Any] = field(default_factory=list)
    """What is known of cells that hold levels never seen in training."""

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
        """Scores whose softmax is the posterior: −inf for all classes but those of the lowest order."""
        finite = self._weighed()
        if self.order is None:
            return finite
        order = np.where(np.isneginf(finite), np.inf, self.order)
        return np.where(order == order.min(axis=1, keepdims=True), finite, -np.inf)

    def best(self) -> Codes:
        """The first class of the highest score of each row."""
        scores = self.comparable()
        if scores.shape[1] == 2:  # comparing two columns takes a tenth of searching every row
            return np.asarray(scores[:, 1] > scores[:, 0]).astype(np.intp)
        return np.asarray(scores.argmax(axis=1))

    def weighed_joint(self) -> Array:
        """The scores that posteriors compare, ±inf where the order says so."""
        return Scores(self._weighed(), self.order).joint()

    def _weighed(self) -> Array:
        """Finite parts whose evidence counts by its weight."""
        if self.evidence_weight == 1.0:
            return self.finite
        prior = np.where(np.isneginf(self.log_priors), 0.0, self.log_priors)  # −inf stays in the finite part
        return np.asarray(prior + self.evidence_weight * (self.finite - prior))


def unseen_log_shares(weight: Array, alpha: float, n_levels: int, n_unseen: int = 1) -> tuple[Array, Array]:
    """Log α/(N + α(L + U)), the share of each of U unseen values, and the log share left for the rest."""
    n_all = n_levels + n_unseen
    total = weight + alpha * n_all
    unseen = np.divide(alpha, total, out=np.full_like(total, 1.0 / n_all), where=total > 0)
    with np.errstate(divide="ignore"):
        return np.log(unseen), np.log1p(-np.minimum(n_unseen * unseen, 1.0))


def zeros_by_class(*shape: int) -> Array:
    """Zeros with classes on the last axis, those of one class side by side in memory.

    What is done for each class, or over the few classes of a cell, then takes long runs of numbers.
    """
    return np.zeros((shape[-1], *shape[:-1])).transpose(*range(1, len(shape)), 0)


def bounded(evidence: Array, most: float | Array) -> Array:
    """Evidence for each class on the last axis, below the highest, and at most so many nats below it."""
    highest = evidence.max(axis=-1, keepdims=True)
    is_finite = np.isfinite(highest)
    if is_finite.all():
        below = evidence - highest
        return np.asarray(np.maximum(below, -most, out=below))
    below = evidence - np.where(is_finite, highest, 0.0)
    return np.clip(np.where(np.isnan(below), 0.0, below), -most, 0.0)
