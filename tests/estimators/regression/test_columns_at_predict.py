"""Columns at predict must be those of the fit, and the error names the ones that are not."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice.estimators.regression import LogisticRegression, ProbitRegression

BOTH = pytest.mark.parametrize("Regression", [LogisticRegression, ProbitRegression])
CONTAINER = pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
COLUMNS = {"age": [30.0, 40.0, 50.0, 60.0], "height": [1.5, 1.9, 1.6, 1.8]}


@BOTH
@CONTAINER
@pytest.mark.parametrize(
    "names, match",
    [
        (["height", "age"], "same order(.|\\n)*height is in the place of age"),
        (["age"], "now missing:\\n- height"),
        (["age", "weight"], "unseen at fit time:\\n- weight(.|\\n)*now missing:\\n- height"),
    ],
)
def test_other_columns_are_named(Regression, container, names, match):
    model = Regression().fit(container(COLUMNS), ["a", "b", "a", "b"])
    with pytest.raises(ValueError, match=match):
        model.predict(container({name: COLUMNS.get(name, COLUMNS["age"]) for name in names}))


@BOTH
@CONTAINER
def test_any_container_may_be_predicted(Regression, container):
    model = Regression().fit(pd.DataFrame(COLUMNS), ["a", "b", "a", "b"])
    expected = model.predict_proba(pd.DataFrame(COLUMNS))
    assert np.array_equal(model.predict_proba(container(COLUMNS)), expected)


def test_names_that_are_numbers_are_checked_too():
    model = LogisticRegression().fit(pd.DataFrame({0: [1.0, 2.0], 1: [2.0, 1.0]}), [0, 1])
    with pytest.raises(ValueError, match="1 is in the place of 0"):
        model.predict(pd.DataFrame({1: [2.0, 1.0], 0: [1.0, 2.0]}))


@BOTH
def test_a_missing_cell_is_refused_with_its_column_and_a_cure(Regression):
    model = Regression().fit(pd.DataFrame(COLUMNS), ["a", "b", "a", "b"])
    with pytest.raises(ValueError, match=r"column 'height' has missing cells.*SimpleImputer"):
        model.predict(pd.DataFrame(COLUMNS).assign(height=[1.0, None, 1.0, 1.0]))


@BOTH
def test_no_rows_have_no_predictions(Regression):
    model = Regression().fit(pd.DataFrame(COLUMNS), ["a", "b", "a", "b"])
    assert model.predict_proba(pd.DataFrame(COLUMNS)[:0]).shape == (0, 2)
