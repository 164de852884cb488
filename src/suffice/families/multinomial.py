"""Multinomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array
from suffice.families.elementary import FunctionName
from suffice.families.shares import Shares


@dataclass(frozen=True, repr=False)
class Multinomial(Shares):
    """p(x) = n!/Πx_j! · Πθ_jˣʲ over d columns: u = x, λ_j = log θ_j, A = n·log Σ e^λ, n = Σx_j.

    The columns on the leading axis are one block of counts: a row is n draws from one categorical
    distribution, so λ, E[u] and A are per draw.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-counts of each column: (N_j + α)/(N + αd).
    unseen : {"ignore", "error"}, default="ignore"
        What a negative count means at predict: the whole block is missing, or an error.
    in_order : bool, default=False
        Whether p is that of the n draws in their order, Πθ_jˣʲ. Posteriors are the same, and sums are made
        in less time.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Multinomial
    >>> model = BayesClassifier(families=Multinomial())
    >>> model.fit([[3, 1], [2, 0], [0, 2], [1, 4]], ["a", "a", "b", "b"]).predict([[1, 0]])
    array(['a'], dtype=object)
    """

    in_order: bool = False

    functions: ClassVar[tuple[FunctionName, ...]] = ("x",)
    has_base_measure: ClassVar[bool] = True
    joint: ClassVar[bool] = True
    factor: ClassVar[str] = "counts"
    support_name: ClassVar[str] = "numbers ≥ 0"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unseen == "smooth":
            raise ValueError("Multinomial: unseen must be 'ignore' or 'error'; all its columns are known.")

    def support(self, x: Array) -> NDArray[np.bool_]:
        return (x >= 0) & np.isfinite(x)

    def log_base_measure(self, x: Array) -> Array:
        # Log n!/Πx_j!, the number of orders, columns on the leading axis.
        if self.in_order:
            return np.zeros(x.shape[1:])
        return np.asarray(special.gammaln(x.sum(axis=0) + 1.0) - special.gammaln(x + 1.0).sum(axis=0))

    def sample(self, natural: Array, origin: Array, rng: np.random.Generator) -> Array:
        # One draw: a single count of 1 on the leading axis.
        probability = np.moveaxis(self.mean_from_natural(natural, origin), 0, -1)
        return np.moveaxis(rng.multinomial(1, probability), -1, 0).astype(np.float64)

    def log_density(self, x: Array, natural: Array, origin: Array | float | None = None) -> Array:
        # Log p of whole rows of counts, columns on the leading axis.
        x = np.asarray(x, dtype=np.float64)
        log_p = natural - self.log_normalizer(natural, np.zeros(()))
        return np.asarray(self.log_base_measure(x) + special.xlogy(x, np.exp(log_p)).sum(axis=0))
