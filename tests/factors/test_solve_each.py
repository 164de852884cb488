"""Several sums are solved at once as the columns of one factor, and folds are scored side by side."""

import numpy as np
import pytest

from suffice.factors import KINDS, solve, solve_each
from suffice.families import Gamma, Hurdle, Multinomial, MultivariateNormal, Normal, Poisson, Steps
from suffice.model import column_losses
from suffice.model.column_losses import ColumnLosses

FAMILIES = [Normal(), Normal("shared"), Gamma(), Poisson(), Steps(), Hurdle(Gamma(), at=1.0)]


def rows_of(family, n, d=3):
    """Positive whole numbers with gaps where the family may have them."""
    rng = np.random.default_rng(5)
    numbers = 1.0 + rng.poisson(4.0, (n, d))
    if not family.joint:
        numbers[rng.random(numbers.shape) < 0.2] = np.nan
    return numbers, rng.integers(0, 3, n)


def sums_of(family, numbers, codes):
    totals = KINDS[family.factor].totals.empty(family, numbers.shape[1]).take_classes(np.full(3, -1))
    labels = [str(j) for j in range(numbers.shape[1])]
    totals.prepare(numbers, labels, codes, None, 3)(totals)
    return totals


@pytest.mark.parametrize("family", [*FAMILIES, MultivariateNormal(), Multinomial()], ids=str)
@pytest.mark.parametrize("removed", [False, True], ids=["added", "removed"])
def test_sums_solved_together_score_rows_as_each_does_by_itself(family, removed):
    numbers, codes = rows_of(family, 120)
    labels, classes = ["0", "1", "2"], np.arange(3)
    parts = [sums_of(family, numbers[i::3], codes[i::3]) for i in range(3)]
    if removed:
        parts[1].add(sums_of(family, numbers[1:30:3], codes[1:30:3]), -1)
    for part, together in zip(parts, solve_each(parts, labels, classes), strict=True):
        alone = solve(part, labels, classes)
        answers = [one.contributions(numbers, labels, base=True) for one in (together, alone)]
        np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_folds_are_scored_side_by_side_as_one_after_the_other(family, weighted, monkeypatch):
    numbers, codes = rows_of(family, 97)
    weights = np.random.default_rng(6).uniform(0.5, 2.0, 97) if weighted else None
    together = ColumnLosses(codes, 3, weights).of(family, numbers)
    monkeypatch.setattr(column_losses, "CELLS_AT_ONCE", 1)
    for one, other in zip(ColumnLosses(codes, 3, weights).of(family, numbers), together, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
