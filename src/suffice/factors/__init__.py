"""Kinds of factors: how the statistics of a family are summed, solved and scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.base import Block, Kind, Regularized, SolvedFactor, Totals
from suffice.factors.columns.left_out import leave_out_columns
from suffice.factors.columns.predictive import predictive_columns
from suffice.factors.columns.solve import solve_columns
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.counts.left_out import leave_out_counts
from suffice.factors.counts.scores import solve_counts
from suffice.factors.counts.totals import CountTotals
from suffice.factors.gaussian.left_out import leave_out_gaussian
from suffice.factors.gaussian.predictive import predictive_gaussian
from suffice.factors.gaussian.solve import solve_gaussian
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.levels.histogram import HistogramTotals, solve_histogram
from suffice.factors.levels.left_out import leave_out_levels
from suffice.factors.levels.scores import solve_levels
from suffice.factors.levels.steps import StepTotals, solve_steps
from suffice.factors.levels.totals import LevelTotals
from suffice.factors.presence import WithPresence
from suffice.factors.words.solve import solve_texts
from suffice.factors.words.totals import WordTotals
from suffice.storage import Fields

KINDS = {
    "columns": Kind(ColumnTotals, solve_columns, predictive=predictive_columns, leave_out=leave_out_columns),
    "levels": Kind(LevelTotals, solve_levels, leave_out=leave_out_levels),
    "histogram": Kind(HistogramTotals, solve_histogram),
    "steps": Kind(StepTotals, solve_steps),
    "counts": Kind(CountTotals, solve_counts, leave_out=leave_out_counts),
    "scatter": Kind(GaussianTotals, solve_gaussian, solve_gaussian, predictive_gaussian, leave_out_gaussian),
    "words": Kind(WordTotals, solve_texts),
}
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


def with_presence(
    factor: SolvedFactor, present: Array, weight: Array, scored: NDArray[np.bool_]
) -> SolvedFactor:
    """The factor that also scores whether the cells of some columns are there; itself if none are scored.

    `present` is the weight of the cells that are there (classes, columns), `weight` that of all rows.
    """
    if not scored.any():
        return factor
    return WithPresence(factor, KINDS[factor.family.factor].totals.gaps, present, weight, scored)


def predictive(factor: SolvedFactor, labels: list[str], classes: NDArray[Any]) -> SolvedFactor:
    """The factor that scores by its posterior predictive; itself where the family has none of its own."""
    make = KINDS[factor.family.factor].predictive
    return factor if make is None else make(factor, labels, classes)


__all__ = [
    "KINDS",
    "Block",
    "Kind",
    "Regularized",
    "SolvedFactor",
    "Totals",
    "WithPresence",
    "predictive",
    "solve",
    "solve_from_search",
    "with_presence",
]
