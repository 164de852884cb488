"""Categorical."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from suffice.families.base import Family
from suffice.families.shares import OneOfSeveral

SHOWN_LEVELS = 5


@dataclass(frozen=True, repr=False)
class Categorical(OneOfSeveral):
    """p(x = l) = p_l: u = the indicator of each of the L levels, λ_l = log p_l, A = log Σ e^λ.

    The levels are those seen in the data, in any class, and those that the type of the column declares
    (pandas and Arrow categories, Polars Enum); new data may add levels.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations of each level: (n_l + α)/(n + αL), Laplace's +1/+L by default.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        What a level never seen in training means: a missing cell, an (L+1)-th level of count 0, or an error.
    levels : int or list, optional
        The values that the feature has, at least, or how many. Those without rows count as levels too, in L,
        and have the probability α/(n + αL). If only their number is known, any value never seen is one of
        them, as long as some are left; samples hold only levels that have a name.
    joined : bool, default=False
        Whether levels in which the classes have alike shares are joined when solving: p_l = p_g·q_l, with the
        group's share p_g = (n_g + α)/(n + αG) of the class, and a share q_l of the level in its group that is
        that of all classes. The groups are those of the shortest description of the classes (the MODL
        criterion), so a level with few rows joins others.

    Attributes
    ----------
    listed : tuple
        The values that are levels even without rows.
    fewest : int
        The number of levels, at least.

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

    levels: int | tuple[Any, ...] | None = field(default=None, kw_only=True)
    joined: bool = field(default=False, kw_only=True)

    solve_settings: ClassVar[frozenset[str]] = Family.solve_settings | {"levels", "joined"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.joined, bool):
            raise TypeError(f"Categorical: joined must be True or False, got {self.joined!r}.")
        if self.levels is None:
            return
        if isinstance(self.levels, Integral) and not isinstance(self.levels, bool) and self.levels > 0:
            object.__setattr__(self, "levels", int(self.levels))
        elif isinstance(self.levels, Iterable) and not isinstance(self.levels, (str, bytes, dict)):
            values = [value.item() if isinstance(value, np.generic) else value for value in self.levels]
            if not all(isinstance(value, (str, bool, int, float)) and value == value for value in values):  # noqa: PLR0124, NaN
                raise TypeError(f"Categorical: levels must be texts, numbers or booleans, got {values!r}.")
            object.__setattr__(self, "levels", tuple(dict.fromkeys(values)))
        else:
            raise TypeError(f"Categorical: levels must be a whole number ≥ 1 or a list, got {self.levels!r}.")

    @property
    def listed(self) -> tuple[Any, ...]:
        """The values that are levels even without rows."""
        return self.levels if isinstance(self.levels, tuple) else ()

    @property
    def fewest(self) -> int:
        """The number of levels, at least."""
        return self.levels if isinstance(self.levels, int) else len(self.listed)

    def __repr__(self) -> str:
        whole, n = super().__repr__(), len(self.listed)
        if n <= SHOWN_LEVELS:
            return whole
        few = ", ".join(map(repr, self.listed[:SHOWN_LEVELS]))
        return whole.replace(repr(self.levels), f"({few}, … {n} in all)")
