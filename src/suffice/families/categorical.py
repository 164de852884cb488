"""Categorical."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import NO_UNIT
from suffice.families.shares import Shares


@dataclass(frozen=True, repr=False)
class Categorical(Shares):
    """p(x = l) = p_l: u = the indicator of each of the L levels, λ_l = log p_l, A = log Σ e^λ.

    The levels are those seen in the data, in any class; new data may add levels.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations of each level: (n_l + α)/(n + αL), Laplace's +1/+L by default.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a level never seen in training means: a missing cell, an (L+1)-th level of count 0, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Categorical
    >>> model = BayesClassifier(families=Categorical())
    >>> model.fit([["red"], ["red"], ["red"], ["blue"]], ["a", "a", "b", "b"]).predict([["blue"]])
    array(['b'], dtype=object)
    """

    factor: ClassVar[str] = "levels"
    support_name: ClassVar[str] = "the levels seen in the data"

    def statistics(
        self, x: Array, origin: Array | float | None = None, exponent: NDArray[np.int32] = NO_UNIT
    ) -> Array:
        # The indicators of the levels 0, 1, … max(x), levels on the leading axis.
        codes = np.asarray(x)
        levels = np.arange(int(codes.max(initial=-1)) + 1).reshape((-1,) + (1,) * codes.ndim)
        return np.asarray((codes[np.newaxis] == levels).astype(np.float64))

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # A level number for each entry.
        cumulative = np.cumsum(self.mean_from_natural(natural, origin), axis=0)
        draws = rng.random(np.shape(natural)[1:]) * cumulative[-1]
        return np.asarray(np.sum(draws >= cumulative[:-1], axis=0).astype(np.float64))

    def log_density(self, x: Array, natural: Array, origin: Array | float | None = None) -> Array:
        # Log p of level numbers x (−inf for a number that is not a level).
        codes = np.asarray(x)
        inside = (codes >= 0) & (codes < natural.shape[0]) & (codes == np.floor(codes))
        rows = np.where(inside, codes, 0).astype(np.intp)
        log_p = natural - self.log_normalizer(natural, np.zeros(()))
        shape = np.broadcast_shapes(rows.shape, log_p.shape[1:])
        padding = (1,) * (len(shape) + 1 - log_p.ndim)
        table = log_p.reshape(log_p.shape[0], *padding, *log_p.shape[1:])
        chosen = np.take_along_axis(
            np.broadcast_to(table, (log_p.shape[0], *shape)), np.broadcast_to(rows, shape)[np.newaxis], axis=0
        )
        return np.where(inside, chosen[0], -np.inf)
