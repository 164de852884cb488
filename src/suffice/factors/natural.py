"""The natural form of a distribution: log p(x | C_k) = λ_kᵀu(x) + ln g(λ_k) + log h(x), g = exp(−A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array


@dataclass(frozen=True)
class NaturalForm:
    """λ and ln g of every class, and u(x), of columns of a factor that have one distribution together."""

    columns: tuple[int, ...]
    """By their position in the factor."""
    statistics: tuple[str, ...]
    """What u(x) is made of, in words."""
    natural: Array
    """λ, (classes, m)."""
    log_g: Array
    """ln g(λ), (classes,)."""
    shared: NDArray[np.bool_]
    """The components of λ that are the same in all classes, because these share a dispersion."""
    u: Callable[[Any], Any]
    """u(x) of a batch of the factor's columns, (n, m), NaN where a cell is missing."""
    origin: Array
    """What is taken from the columns before u(x): 0, unless u(x) is about a class."""
    powers: tuple[tuple[int, ...], ...] | None = None
    """The columns of which each component is the product, if all are products of one or two numbers."""


def not_linear(label: str, family: str, why: str, cure: str) -> ValueError:
    """Why a score is not λ_kᵀu(x) + ln g(λ_k) with the same u(x) in every class."""
    return ValueError(f"{label}: the scores of {family} are not linear in a statistic u(x): {why}; {cure}.")


def averaged(label: str, family: str) -> ValueError:
    """That posterior predictives have no λ."""
    why = "posterior='predictive' averages over the parameters"
    return not_linear(label, family, why, "use posterior='plug-in'")


def ruled_out(label: str, what: str) -> ValueError:
    """That some λ is infinite."""
    return ValueError(
        f"{label}: {what}, so its natural parameter λ is infinite; smooth it with an alpha > 0."
    )
