"""Sums of number columns: reading a batch changes nothing, and adding it sums about the origins held."""

import numpy as np
import pytest
from scipy import sparse

from suffice.factors.columns.totals import ColumnTotals
from suffice.families import Bernoulli, Gamma, Normal, Poisson

CLASSES = np.array([0, 0, 1, 1])
VALUES = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]])


def summed(family):
    totals = ColumnTotals.empty(family, 2).take_classes(np.full(2, -1))
    values = VALUES + 1.0 if isinstance(family, Gamma) else VALUES
    totals.prepare(values, ["a", "b"], CLASSES, None, 2)(totals)
    return totals, values


def held(totals):
    return {name: (array.shape, array.tobytes()) for name, array in totals.arrays().items()}


@pytest.mark.parametrize("family", [Normal(), Poisson(), Bernoulli(), Gamma()], ids=repr)
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 4.0])], ids=["unweighted", "weighted"])
def test_preparing_a_batch_changes_nothing(family, weights):
    totals, values = summed(family)
    before = held(totals)
    with_gap = values.copy()
    with_gap[0, 1] = np.nan
    totals.prepare(with_gap, ["a", "b"], CLASSES, weights, 3)
    assert held(totals) == before


@pytest.mark.parametrize("family", [Normal(), Poisson(), Bernoulli(), Gamma()], ids=repr)
def test_a_refused_batch_changes_nothing(family):
    totals, values = summed(family)
    before = held(totals)
    values = values.copy()
    values[2, 1] = np.inf
    with pytest.raises(ValueError, match=r"^b .*inf.* row 2"):
        totals.prepare(values, ["a", "b"], CLASSES, None, 2)
    assert held(totals) == before


def test_a_value_outside_the_support_is_named_with_its_row_and_the_cure():
    totals, _ = summed(Poisson())
    values = VALUES.copy()
    values[3, 1] = 0.5
    with pytest.raises(ValueError, match=r"^b: the value 0\.5 \(row 3\) is outside the support of Poisson"):
        totals.prepare(values, ["a", "b"], CLASSES, None, 2)


def test_sparse_rows_have_the_sums_of_dense_rows():
    dense, _ = summed(Normal())
    totals = ColumnTotals.empty(Normal(), 2).take_classes(np.full(2, -1))
    totals.prepare(sparse.csr_array(VALUES), ["a", "b"], CLASSES, None, 2)(totals)
    assert totals.matches(dense, 0.0)
