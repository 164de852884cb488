"""Where the joint Gaussian cuts numbers off: columns without gaps are looked at together."""

import numpy as np
import pandas as pd
import pytest

from suffice import EvidenceClassifier
from suffice.estimators.evidence import described
from suffice.factors.derived import Within

Y = np.arange(200) % 2


def bounds(table, weights=None):
    """Where each column of a table is cut off."""
    joint = EvidenceClassifier().fit(table, Y, sample_weight=weights).pieces_.joint
    return {one.column: (one.low, one.high) for one in joint if isinstance(one, Within)}


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
def test_numbers_are_cut_off_at_eight_standard_deviations(weighted):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, len(Y)) if weighted else None
    table = pd.DataFrame(rng.normal(3.0, 2.0, (len(Y), 3))).add_prefix("c")
    table.loc[rng.random(len(Y)) < 0.2, "c1"] = np.nan
    for j, (low, high) in bounds(table, weights).items():
        there = table.iloc[:, j].notna()
        numbers = table.iloc[:, j][there]
        own = None if weights is None else weights[there]
        mean = np.average(numbers, weights=own)
        far = 8.0 * np.average((numbers - mean) ** 2, weights=own) ** 0.5
        np.testing.assert_allclose([low, high], [mean - far, mean + far], rtol=1e-12)
    assert list(bounds(table, weights)) == [0, 1, 2]


def test_it_does_not_matter_how_many_columns_are_looked_at_together(monkeypatch):
    table = pd.DataFrame(np.random.default_rng(1).normal(size=(len(Y), 5))).add_prefix("c")
    together = bounds(table)
    monkeypatch.setattr(described, "CELLS_AT_ONCE", 2 * len(Y))
    assert bounds(table) == together


def test_a_number_that_does_not_vary_is_in_no_joint_gaussian():
    table = pd.DataFrame({"varies": np.random.default_rng(2).normal(size=len(Y)), "same": 2.5})
    gaps = table.assign(gaps=np.where(Y == 1, 7.5, np.nan), varies=np.nan, none=1.5)
    assert list(bounds(table)) == [0]
    assert bounds(gaps) == {}
