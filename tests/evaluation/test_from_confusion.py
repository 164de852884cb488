"""An evaluation of a confusion matrix is that of the rows which the matrix counts."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from suffice import Evaluation

Y = np.array(list("aabbcccc"))
PREDICTED = np.array(list("abbbaaba"))


def assert_same(found, expected):
    assert found.labels == expected.labels
    np.testing.assert_array_equal(found.confusion, expected.confusion)
    assert found.flat() == pytest.approx(expected.flat(), rel=1e-12, nan_ok=True)
    assert found.baseline.flat() == pytest.approx(expected.baseline.flat(), rel=1e-12, nan_ok=True)


@given(arrays.arrays(np.int64, st.integers(1, 5).map(lambda k: (k, k)), elements=st.integers(0, 6)))
def test_a_matrix_is_the_rows_that_it_counts(counts):
    if not counts.any():
        counts[0, 0] = 1
    labels = [f"class {k}" for k in range(len(counts))]
    found = Evaluation.from_confusion(counts, labels)
    truth, predicted = (
        np.repeat(np.array(labels)[at], counts.ravel()) for at in np.indices(counts.shape).reshape(2, -1)
    )
    assert_same(found, Evaluation.of(truth, predictions=predicted, classes=labels))
    np.testing.assert_array_equal(found.confusion, counts)
    assert np.isnan(found.log_loss)
    assert np.isnan(found.roc_auc)


def test_a_crosstab_needs_no_labels_although_a_class_was_never_predicted():
    table = pd.crosstab(Y, PREDICTED)
    assert table.shape == (3, 2)
    assert_same(Evaluation.from_confusion(table), Evaluation.of(Y, predictions=PREDICTED))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_columns_of_a_frame_are_its_labels(frame):
    columns = {"no": [3, 1], "yes": [0, 2]}
    table = frame(columns) if frame is not pd.DataFrame else frame(columns, index=["no", "yes"])
    assert_same(
        Evaluation.from_confusion(table), Evaluation.from_confusion([[3, 0], [1, 2]], labels=["no", "yes"])
    )


def test_whole_numbers_may_be_floats_and_labels_default_to_numbers():
    found = Evaluation.from_confusion(np.array([[3.0, 0.0], [1.0, 2.0]]))
    assert found.labels == (0, 1)
    assert found.confusion.tolist() == [[3, 0], [1, 2]]


def test_it_prints_plots_and_resamples_as_any_evaluation_does():
    found = Evaluation.from_confusion([[50, 2], [5, 43]], ["ham", "spam"], bootstrap=20)
    assert "Evaluation of 100 rows, 2 classes" in repr(found)
    assert "undefined" in repr(found)
    assert "spam" in found._repr_html_()
    assert found.intervals["accuracy", None][0] < 0.93 < found.intervals["accuracy", None][1]
    display = found.plot()
    assert display.reliability is None
    assert display.confusion.labels == ["ham", "spam"]
    assert found.to_dict()["log_loss"] is None


@pytest.mark.parametrize(
    "matrix, labels, message",
    [
        ([[1, 2]], None, r"has shape \(1, 2\)"),
        ([1, 2], None, r"has shape \(2,\)"),
        ([[1, -2], [3, 4]], None, "has -2 where the truth is 0 and the prediction 1"),
        ([[0.5, 0.5], [1, 0]], ["a", "b"], "has 0.5 where the truth is 'a' and the prediction 'a'"),
        ([[1, np.nan], [1, 1]], None, "has nan"),
        ([[1, np.inf], [1, 1]], None, "has inf"),
        ([[1, 1], [1, 1]], ["a"], "has 2 rows and columns, but labels has 1"),
        ([[1, 1], [1, 1]], ["a", "a"], "'a' more than once"),
        ([["x", "y"], ["z", "w"]], None, "holds other values"),
        ([[0, 0], [0, 0]], None, "counts none"),
        (pd.crosstab(Y, PREDICTED), ["a", "b", "c"], "leave labels out"),
    ],
)
def test_what_is_no_confusion_matrix_is_refused(matrix, labels, message):
    with pytest.raises(ValueError, match=message):
        Evaluation.from_confusion(matrix, labels)
