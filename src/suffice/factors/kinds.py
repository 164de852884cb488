"""The registry of the kinds of factors, for a kind that is built on another one.

The kinds do not import each other: `factors/__init__.py` enters them here, and a factor inside another factor
finds its kind by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.base import Kind, SolvedFactor, Totals
from suffice.factors.presence import WithPresence
from suffice.storage import Fields

KINDS: dict[str, Kind] = {}
"""Every kind of factor by name; `Family.factor` names the kind of a family."""


def solve(totals: Totals, labels: list[str], classes: NDArray[Any]) -> SolvedFactor:
    """The parameters of one factor, by the kind of its family."""
    return KINDS[totals.family.factor].solve(totals, labels, classes)


def solve_from_search(
    totals: Totals, labels: list[str], classes: NDArray[Any], saved_search: Fields
) -> SolvedFactor | None:
    """The parameters from a saved search; None if the kind is solved without one."""
    solve_saved = KINDS[totals.family.factor].solve_from_search
    if solve_saved is not None:
        return solve_saved(totals, labels, classes, saved_search)
    if len(saved_search):
        raise saved_search.error("", "holds the result of a search, but this family is solved without one.")
    return None


def predictive(factor: SolvedFactor, labels: list[str], classes: NDArray[Any]) -> SolvedFactor:
    """The factor that scores by its posterior predictive; itself where the family has none of its own."""
    make = KINDS[factor.family.factor].predictive
    return factor if make is None else make(factor, labels, classes)


def with_presence(
    factor: SolvedFactor, present: Array, weight: Array, scored: NDArray[np.bool_]
) -> SolvedFactor:
    """The factor that also scores whether the cells of some columns are there; itself if none are scored.

    `present` is the weight of the cells that are there (classes, columns), `weight` that of all rows.
    """
    if not scored.any():
        return factor
    return WithPresence(factor, KINDS[factor.family.factor].totals.gaps, present, weight, scored)
