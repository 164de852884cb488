"""Multinomial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import special

from suffice.arrays import Array
from suffice.families.shares import Draws


@dataclass(frozen=True, repr=False)
class Multinomial(Draws):
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

    in_order: bool = field(default=False, kw_only=True)

    has_base_measure: ClassVar[bool] = True
    joint: ClassVar[bool] = True
    factor: ClassVar[str] = "counts"
    support_name: ClassVar[str] = "numbers ≥ 0"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unseen == "smooth":
            raise ValueError("Multinomial: unseen must be 'ignore' or 'error'; all its columns are known.")
        if not isinstance(self.in_order, bool):
            raise TypeError(f"Multinomial: in_order must be True or False, got {self.in_order!r}.")

    def log_base_measure(self, x: Array) -> Array:
        # Log n!/Πx_j!, the number of orders, columns on the leading axis.
        if self.in_order:
            return super().log_base_measure(x)
        return np.asarray(special.gammaln(x.sum(axis=0) + 1.0) - special.gammaln(x + 1.0).sum(axis=0))
