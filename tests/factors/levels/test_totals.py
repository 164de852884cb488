"""Counts of levels and bins: reading a batch changes nothing, and new levels come only when it is added."""

import numpy as np
import pytest

from suffice.factors.levels.histogram import HistogramTotals
from suffice.factors.levels.steps import StepTotals
from suffice.factors.levels.totals import LevelTotals
from suffice.families import Categorical, Histogram, Steps
from suffice.tables.columns import LevelCells, Levels

CLASSES = np.array([0, 1, 1])


def words(*values):
    known = list(dict.fromkeys(values))
    codes = np.array([known.index(value) for value in values])
    return LevelCells(None, [lambda: Levels(codes, known)])


def numbers(*values):
    matrix = np.array(values, dtype=np.float64)[:, np.newaxis]
    return LevelCells(matrix, [lambda: Levels(np.arange(len(values)), list(values))])


def column(*values):
    return np.array(values)[:, np.newaxis]


def held(totals):
    counts = [getattr(one, "counts", one) for one in totals.columns]
    levels = [getattr(one, "levels", None) for one in counts]
    return repr(levels), {name: array.tobytes() for name, array in totals.arrays().items()}


KINDS = {
    "text": (LevelTotals, Categorical(), words("red", "red", "blue"), words("green", "red", "blue")),
    "numbers": (LevelTotals, Categorical(), numbers(1.0, 2.0, 2.0), numbers(7.0, 1.0, 2.0)),
    "steps": (StepTotals, Steps(), column(0.5, 1.5, 2.5), column(1e6, 0.5, 0.5)),
    "bins": (HistogramTotals, Histogram(), column(0.5, 1.5, 2.5), column(1e6, 0.5, 0.5)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_preparing_a_batch_changes_nothing_until_it_is_added(kind):
    cls, family, first, second = KINDS[kind]
    totals = cls.empty(family, 1).take_classes(np.full(2, -1))
    totals.prepare(first, ["a"], CLASSES, None, 2)(totals)
    before = held(totals)
    add_to = totals.prepare(second, ["a"], CLASSES, None, 2)
    assert held(totals) == before
    add_to(totals)
    assert held(totals) != before


@pytest.mark.parametrize(
    "cls, family, good, bad",
    [
        (LevelTotals, Categorical(), numbers(1.0, 2.0, 2.0), numbers(3.0, np.inf, 1.0)),
        (HistogramTotals, Histogram(), column(0.5, 1.5, 2.5), column(0.5, np.inf, 9.5)),
        (StepTotals, Steps(), column(0.5, 1.5, 2.5), column(0.5, np.inf, 9.5)),
    ],
    ids=["levels", "bins", "steps"],
)
def test_a_refused_batch_changes_nothing(cls, family, good, bad):
    totals = cls.empty(family, 1).take_classes(np.full(2, -1))
    totals.prepare(good, ["a"], CLASSES, None, 2)(totals)
    before = held(totals)
    with pytest.raises(ValueError, match=r"^a .*inf"):
        totals.prepare(bad, ["a"], CLASSES, None, 2)
    assert held(totals) == before
