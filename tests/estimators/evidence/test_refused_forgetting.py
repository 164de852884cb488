"""Rows that the sums cannot hold are not forgotten, and the message names the columns, or the weights."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier, EvidenceClassifier
from suffice.families import Categorical


def test_forgetting_values_that_were_never_fitted_names_the_column(penguins):
    X, y = penguins
    model = EvidenceClassifier().fit(X[:300], y[:300])
    said = r"never fitted: column 'bill_length_mm' would have a row count or weight in some step"
    with pytest.raises(ValueError, match=said):
        model.forget(X[300:301], y[300:301])


def test_forgetting_values_that_were_never_fitted_together_names_both_columns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.choice(["x", "y"], 400), "b": rng.choice(["u", "v"], 400)})
    labels = (table["a"] == "x") ^ (table["b"] == "u")
    model = EvidenceClassifier(families=Categorical(), pieces=["pairs"]).fit(table, labels)
    assert model.pieces_.pairs
    with pytest.raises(
        ValueError, match=r"never fitted: columns 'a' and 'b' would have a negative row count"
    ):
        model.forget(table[:1], ~labels[:1])


@pytest.mark.parametrize("estimator", [EvidenceClassifier, BayesClassifier])
def test_forgetting_rows_with_other_weights_says_that_weights_differ(estimator):
    rows, labels = np.random.default_rng(0).normal(size=(90, 2)), np.repeat(["A", "B"], 45)
    said = r"never fitted with these weights \(pass those of the fit\): class 'A' would have 0 rows"
    with pytest.raises(ValueError, match=said):
        estimator().fit(rows, labels).forget(rows, labels, np.full(90, 0.5))
    with pytest.raises(ValueError, match=said):
        estimator().fit(rows, labels, np.full(90, 0.5)).forget(rows, labels)
