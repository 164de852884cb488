"""Steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.shares import OneOfSeveral


@dataclass(frozen=True, repr=False)
class Steps(OneOfSeveral):
    """p(x) = p_s / width in step s: a density in steps, where the classes differ.

    The data are counted in fine cells, class by class. Solving joins neighbouring cells until the classes
    given the steps have the shortest description (the MODL criterion), so a column that says nothing about
    the class has one step. The first and the last step are open: a value beyond the data is read as the
    nearest one.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-observations of the whole column, in its proportions: (n_s + α·q_s)/(n + α), where q_s is the
        share of all rows in step s. So a cell never says more than log(1 + n/α) against a class of n rows.
    unseen : {"ignore", "smooth", "error"}, default="ignore"
        Without effect: every number is in a step.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Steps
    >>> X, y = [[i] for i in range(40)], ["low"] * 20 + ["high"] * 20
    >>> model = BayesClassifier(families=Steps()).fit(X, y)
    >>> model.parameters_[0]["edges"]
    array([ 0. , 19.5, 39. ])
    """

    discrete: ClassVar[bool] = False
    factor: ClassVar[str] = "steps"
    support_name: ClassVar[str] = "finite numbers"

    @property
    def has_steps(self) -> bool:
        return True

    def support(self, x: Array) -> NDArray[np.bool_]:
        return np.isfinite(x)

    def smooth(self, mean: Array, weight: Array, pooled: Array) -> Array:
        # As a density, not as levels: a small class is like the others, not uniform.
        return Family.smooth(self, mean, weight, pooled)
