"""Folds are summed, solved and scored side by side, as the columns of one factor."""

from types import SimpleNamespace

import numpy as np
import pytest

from suffice.arrays import read_only
from suffice.factors.blocks import MISSING, FoldedRows
from suffice.families import Categorical, Gamma, Hurdle, Normal, Poisson, Steps
from suffice.model.inference import column_losses
from suffice.model.inference.column_losses import ColumnLosses

FAMILIES = [Normal(), Normal("shared"), Gamma(), Poisson(), Steps(), Hurdle(Gamma(), at=1.0)]


def rows_of(n, d=3):
    """Positive whole numbers with gaps."""
    rng = np.random.default_rng(5)
    numbers = 1.0 + rng.poisson(4.0, (n, d))
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    return numbers, rng.integers(0, 3, n)


def in_order(codes):
    """Keys of rows that are dealt as they come."""
    return SimpleNamespace(keys=np.arange(len(codes), dtype=np.uint64), are_copies=False)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_folds_are_scored_side_by_side_as_one_after_the_other(family, weighted, monkeypatch):
    numbers, codes = rows_of(97)
    weights = np.random.default_rng(6).uniform(0.5, 2.0, 97) if weighted else None
    (together,) = ColumnLosses(codes, in_order(codes), 3, weights).of([family], numbers)
    monkeypatch.setattr(column_losses, "CELLS_AT_ONCE", 1)
    (apart,) = ColumnLosses(codes, in_order(codes), 3, weights).of([family], numbers)
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("family", [*FAMILIES, Categorical()], ids=str)
def test_losses_are_the_same_to_the_bit_for_few_rows_at_once(family, monkeypatch):
    numbers, codes = rows_of(97)
    rows = ColumnLosses(codes, in_order(codes), 3, None)
    (whole,) = rows.of([family], numbers)
    monkeypatch.setattr(column_losses, "SCORES_AT_ONCE", 100)
    (in_parts,) = rows.of([family], numbers)
    for one, other in zip(whole, in_parts, strict=True):
        np.testing.assert_array_equal(other, one)


def test_rows_that_are_read_only_are_folded_once_and_as_others_are():
    rows = np.arange(60)[:, np.newaxis].repeat(3, axis=1)
    rows[np.arange(60), np.arange(60) % 3] = MISSING
    kept, others = read_only(rows), read_only(rows[:30])
    found = FoldedRows.of(kept)
    assert FoldedRows.of(kept) is found
    assert len(FoldedRows.of(others).places) == 30
    for one, other in zip(FoldedRows.of(kept), FoldedRows.of(rows), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("at", [None, 1.0])
def test_families_of_the_same_sums_are_scored_as_each_alone(at):
    numbers, codes = rows_of(97)
    families = [one if at is None else Hurdle(one, at=at) for one in (Normal("shared"), Normal())]
    rows = ColumnLosses(codes, in_order(codes), 3, None)
    for family, losses in zip(families, rows.of(families, numbers), strict=True):
        for one, other in zip(rows.of([family], numbers)[0], losses, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("family", [Normal(), Gamma(), Hurdle(Normal(), at=7.0)], ids=str)
def test_a_class_that_is_constant_without_a_fold_is_constant(family, monkeypatch):
    """Whatever the value in the fold: about it, sums of the others would leave rounding of a variance."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 2
    numbers = np.where(codes, 0.1, rng.uniform(1.0, 2.0, 60))[:, np.newaxis]
    numbers[1] = 1e-3 + 1.7 / 3.0
    (together,) = ColumnLosses(codes, in_order(codes), 2, None).of([family], numbers)
    monkeypatch.setattr(column_losses, "CELLS_AT_ONCE", 1)
    (apart,) = ColumnLosses(codes, in_order(codes), 2, None).of([family], numbers)
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
