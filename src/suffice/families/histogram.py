"""Histogram."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.shares import OneOfSeveral

MOST_BINS = 1024


@dataclass(frozen=True, repr=False)
class Histogram(OneOfSeveral):
    """p(x) = p_b / 2ᵉ in bin b: a Categorical over bins of equal width on a dyadic grid.

    Bin edges are multiples of 2ᵉ, so the bins of two data sets merge exactly. The width is chosen when
    solving: the smallest power of two that spans the data with at most `bins` bins.

    Parameters
    ----------
    bins : int, default=32
        The largest number of bins; the number used is between half of it and all of it.
    alpha : float, default=1.0
        Pseudo-observations of each bin.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a value outside all bins means at predict: a missing cell, a rare event, or an error.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Histogram
    >>> model = BayesClassifier(families=Histogram(bins=4))
    >>> model.fit([[0.5], [1.5], [2.5], [3.5]], ["a", "a", "b", "b"]).predict([[1.2]])
    array(['a'], dtype=object)
    """

    bins: int = 32

    discrete: ClassVar[bool] = False
    factor: ClassVar[str] = "histogram"
    solve_settings: ClassVar[frozenset[str]] = OneOfSeveral.solve_settings | {"bins"}
    support_name: ClassVar[str] = "numbers within the range seen in training"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.bins, Integral) or not 2 <= self.bins <= MOST_BINS:
            raise ValueError(
                f"Histogram: bins must be a whole number from 2 to {MOST_BINS}, got {self.bins!r}."
            )

    @property
    def has_steps(self) -> bool:
        return True

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.isfinite(x)
