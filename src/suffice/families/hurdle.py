"""Hurdle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.families.base import Family
from suffice.families.bernoulli import Bernoulli


def _is_finite(number: Real) -> bool:
    """Whether a number of any type and size is a finite float."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False


@dataclass(frozen=True, repr=False)
class Hurdle(Family):
    """p(x) = ρ at one value, and (1 − ρ)·f(x) elsewhere: a value that repeats, and a family for the rest.

    For amounts that are often 0, such as rainfall or spending, and for numbers that stand for "unknown", such
    as −1 or 999. A Bernoulli variable says whether a cell holds the value; all other cells belong to the
    family of the rest. A hurdle inside a hurdle has two such values.

    Parameters
    ----------
    rest : Family
        The family f of all other values: any family of one column of numbers. One of counts must not be able
        to produce `at`, which then is a number that stands for something else.
    at : float, default=0
        The value that repeats.
    alpha : float, default=1.0
        Pseudo-observations of each outcome, for ρ = (n₁ + α)/(n + 2α). The rest is smoothed by its own alpha.
    unseen : {"ignore"}, default="ignore"
        Set it on the family of the rest: only that one can meet a value outside its support.

    Attributes
    ----------
    outcome, repeated
        The family of whether a cell holds the value, a Bernoulli; the values that repeat, those of a hurdle
        inside included.

    Examples
    --------
    >>> from suffice import BayesClassifier
    >>> from suffice.families import Hurdle, LogNormal
    >>> X, y = [[0], [0], [2], [0], [40], [90]], ["dry", "dry", "dry", "wet", "wet", "wet"]
    >>> model = BayesClassifier(families=Hurdle(LogNormal())).fit(X, y)
    >>> model.parameters_[0]["share of 0"]
    array([0.6, 0.4])
    """

    rest: Family
    at: float = 0

    factor: ClassVar[str] = "hurdle"

    def __post_init__(self) -> None:
        super().__post_init__()
        at, rest = self.at, self.rest
        if not (isinstance(at, Real) and not isinstance(at, bool) and _is_finite(at)):
            raise ValueError(f"Hurdle: at must be a finite number, got {at!r}.")
        object.__setattr__(self, "at", at.item() if isinstance(at, np.generic) else at)
        if not isinstance(rest, Family):
            raise TypeError(f"Hurdle: the rest must be a family such as LogNormal(), got {rest!r}.")
        if rest.joint or rest.factor in {"levels", "words"}:
            raise ValueError(
                f"Hurdle: {rest.name} is not a family of one column of numbers; choose another for the rest, "
                "such as LogNormal() or Gamma()."
            )
        if rest.discrete and rest.support(np.array([float(self.at)])).all():
            raise ValueError(
                f"Hurdle: {rest.name} has a probability of its own for {self.at}, so the hurdle would count "
                "it twice; choose a density for the rest, Categorical() for the column, "
                f"or a value that {rest.name} cannot produce."
            )
        if self.unseen != "ignore":
            raise ValueError(
                f"Hurdle: only the rest can meet a value outside its support; write "
                f"Hurdle({rest.name}(unseen={self.unseen!r}))."
            )

    def __repr__(self) -> str:
        return super().__repr__().replace("rest=", "", 1)

    @property
    def outcome(self) -> Bernoulli:
        """The family of whether a cell holds the value."""
        return Bernoulli(alpha=self.alpha)

    @property
    def repeated(self) -> tuple[float, ...]:
        """The values that repeat: `at`, and those of a hurdle inside."""
        return (self.at, *(self.rest.repeated if isinstance(self.rest, Hurdle) else ()))

    @property
    def discrete(self) -> bool:
        return self.rest.discrete

    @property
    def has_steps(self) -> bool:
        return True

    @property
    def takes_every_number(self) -> bool:
        return self.rest.takes_every_number

    @property
    def summed(self) -> tuple[str, tuple[tuple[str, Any], ...]]:
        return self.name, (("at", self.at), ("rest", self.rest.summed))

    def support(self, x: Array) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (x == self.at) | self.rest.support(x)
        return found
