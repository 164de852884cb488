"""Folds are summed, solved and scored side by side, as the columns of one factor."""

import numpy as np
import pytest

from suffice.families import Gamma, Hurdle, Normal, Poisson, Steps
from suffice.model import column_losses
from suffice.model.column_losses import ColumnLosses

FAMILIES = [Normal(), Normal("shared"), Gamma(), Poisson(), Steps(), Hurdle(Gamma(), at=1.0)]


def rows_of(n, d=3):
    """Positive whole numbers with gaps."""
    rng = np.random.default_rng(5)
    numbers = 1.0 + rng.poisson(4.0, (n, d))
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    return numbers, rng.integers(0, 3, n)


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_folds_are_scored_side_by_side_as_one_after_the_other(family, weighted, monkeypatch):
    numbers, codes = rows_of(97)
    weights = np.random.default_rng(6).uniform(0.5, 2.0, 97) if weighted else None
    together = ColumnLosses(codes, 3, weights).of(family, numbers)
    monkeypatch.setattr(column_losses, "CELLS_AT_ONCE", 1)
    for one, other in zip(ColumnLosses(codes, 3, weights).of(family, numbers), together, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
