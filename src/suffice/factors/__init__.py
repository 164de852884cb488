"""Kinds of factors: how the statistics of a family are summed, solved and scored."""

from __future__ import annotations

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
from suffice.factors.hurdle.left_out import leave_out_hurdle
from suffice.factors.hurdle.scores import predictive_hurdle, solve_hurdle
from suffice.factors.hurdle.totals import HurdleTotals
from suffice.factors.kinds import KINDS, predictive, solve, solve_from_search, with_presence
from suffice.factors.levels.histogram import HistogramTotals, solve_histogram
from suffice.factors.levels.left_out import leave_out_levels
from suffice.factors.levels.scores import solve_levels
from suffice.factors.levels.steps import StepTotals, solve_steps
from suffice.factors.levels.totals import LevelTotals
from suffice.factors.words.solve import solve_texts
from suffice.factors.words.totals import WordTotals

KINDS.update(
    {
        "columns": Kind(
            ColumnTotals, solve_columns, predictive=predictive_columns, leave_out=leave_out_columns
        ),
        "levels": Kind(LevelTotals, solve_levels, leave_out=leave_out_levels),
        "histogram": Kind(HistogramTotals, solve_histogram),
        "steps": Kind(StepTotals, solve_steps),
        "counts": Kind(CountTotals, solve_counts, leave_out=leave_out_counts),
        "scatter": Kind(
            GaussianTotals, solve_gaussian, solve_gaussian, predictive_gaussian, leave_out_gaussian
        ),
        "words": Kind(WordTotals, solve_texts),
        "hurdle": Kind(HurdleTotals, solve_hurdle, predictive=predictive_hurdle, leave_out=leave_out_hurdle),
    }
)

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
