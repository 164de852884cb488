import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

from suffice.estimators.regression import LogisticRegression, ProbitRegression


@pytest.fixture
def frame():
    X, y = load_iris(return_X_y=True)
    return pd.DataFrame(X[50:], columns=["sl", "sw", "pl", "pw"]), np.array(["versicolor", "virginica"])[
        y[50:] - 1
    ]


def test_it_prints_the_columns_a_statistician_expects(frame):
    printed = repr(LogisticRegression(C=np.inf).fit(*frame).summary())
    for part in (
        "virginica against versicolor",
        "std err",
        "P>|z|",
        "2.5%",
        "97.5%",
        "(intercept)",
        "AIC",
        "sl",
    ):
        assert part in printed
    assert max(map(len, printed.splitlines())) <= 100


def test_it_becomes_a_frame_of_the_library_it_was_fitted_with(frame):
    X, y = frame
    summary = LogisticRegression().fit(X, y).summary(level=0.9)
    table = summary.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["term"].tolist() == ["sl", "sw", "pl", "pw", "(intercept)"]
    assert "5%" in repr(summary)
    assert isinstance(LogisticRegression().fit(pl.DataFrame(X), y).summary().to_frame(), pl.DataFrame)


def test_a_penalised_table_says_so(frame):
    assert "penalised" in repr(LogisticRegression().fit(*frame).summary())


def test_an_unknown_reference_or_level_is_refused(frame):
    model = LogisticRegression().fit(*frame)
    with pytest.raises(ValueError, match="no class 'setosa'"):
        model.summary(reference="setosa")
    with pytest.raises(ValueError, match="level"):
        model.summary(level=95)


@pytest.mark.parametrize("Regression", [LogisticRegression, ProbitRegression])
def test_the_second_of_two_classes_as_the_reference_turns_the_signs(frame, Regression):
    model = Regression().fit(*frame)
    turned, plain = model.summary(reference="virginica"), model.summary(reference="versicolor")
    assert "versicolor against virginica" in repr(turned)
    np.testing.assert_array_equal(turned.estimate, -plain.estimate)
    np.testing.assert_allclose(turned.standard_error, plain.standard_error)


def test_one_against_the_rest_has_no_reference():
    model = ProbitRegression().fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="fitted against all others"):
        model.summary(reference=1)


def test_the_number_of_rows_is_printed_in_full(frame):
    X, y = frame
    printed = repr(LogisticRegression().fit(X, y, sample_weight=np.full(len(y), 12345.67)).summary())
    assert "1234567\n" in printed
