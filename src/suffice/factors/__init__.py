"""Kinds of factors: how the statistics of a family are summed, solved and scored."""

from __future__ import annotations

from suffice.factors.base import Block, Regularized, Solved, Totals
from suffice.factors.columns.totals import ColumnTotals
from suffice.factors.counts.totals import CountTotals
from suffice.factors.gaussian.totals import ScatterTotals
from suffice.factors.levels.histogram import HistogramTotals
from suffice.factors.levels.totals import LevelTotals
from suffice.factors.words.totals import WordTotals

KINDS: dict[str, type[Totals]] = {
    "columns": ColumnTotals,
    "levels": LevelTotals,
    "histogram": HistogramTotals,
    "counts": CountTotals,
    "scatter": ScatterTotals,
    "words": WordTotals,
}
"""A family names its kind in `Family.factor`."""

__all__ = ["KINDS", "Block", "Regularized", "Solved", "Totals"]
