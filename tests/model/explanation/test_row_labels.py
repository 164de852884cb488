"""The rows of an explanation are named as those of a pandas frame are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffice

CELLS = {"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 7.0, 6.0, 8.0]}
LABELS = ["x", "x", "y", "y"]
INDICES = {
    "text": pd.Index(["p", "q", "r", "s"], name="key"),
    "numbers": pd.Index([17, 4, 3, 99]),
    "dates": pd.date_range("2024-01-01", periods=4, tz="UTC"),
    "nested": pd.MultiIndex.from_product([["u", "v"], [1, 2]]),
    "default": pd.RangeIndex(4),
}


@pytest.mark.parametrize("estimator", [suffice.BayesClassifier(), suffice.LogisticRegression()])
@pytest.mark.parametrize("name", INDICES)
def test_an_explanation_keeps_the_index_of_a_pandas_frame(name, estimator):
    frame = pd.DataFrame(CELLS, index=INDICES[name])
    explanation = estimator.fit(frame, LABELS).explain(frame)
    labels = list(INDICES[name].to_flat_index())
    assert list(explanation.to_frame()["row"]) == [label for label in labels for _ in range(3)]
    lines = 4 if estimator.__class__ is suffice.BayesClassifier else 3
    against = {} if lines == 4 else {"against": "y"}
    shown = explanation.to_frame("x", **against)
    assert list(shown["row"]) == [label for label in labels for _ in range(lines)]
    assert explanation.describe(2).startswith(f"row {labels[2]}: ")


@pytest.mark.parametrize("container", [pl.DataFrame, pa.table, dict])
def test_other_rows_are_numbered(container):
    model = suffice.BayesClassifier().fit(container(CELLS), LABELS)
    frame = model.explain(container(CELLS)).to_frame()
    assert list(frame["row"].to_numpy()) == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_the_index_is_kept_by_a_model_of_another_container():
    model = suffice.LogisticRegression().fit(np.array(list(CELLS.values())).T, LABELS)
    with pytest.warns(UserWarning, match="feature names"):
        explanation = model.explain(pd.DataFrame(CELLS, index=INDICES["nested"]))
    assert explanation.to_frame()["row"].to_pylist()[::3] == ["('u', 1)", "('u', 2)", "('v', 1)", "('v', 2)"]
