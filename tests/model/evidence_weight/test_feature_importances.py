"""What each column by itself added to rows held out when families were inferred."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectFromModel

import suffice
from suffice import BayesClassifier
from suffice.families import Normal
from suffice.model.dealt import deal_by_content, splits_of
from suffice.tables.table import read_table


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=3000)
    flips = rng.random(3000) < 0.5
    level = np.array(["x", "y", "z"])[np.where(flips, y, rng.integers(3, size=3000))]
    X = pd.DataFrame({"good": rng.normal(y), "noise": rng.normal(size=3000), "level": level, "gap": np.nan})
    return X, y


def test_they_are_the_nats_that_columns_add_to_other_rows(frame):
    X, y = frame
    model = BayesClassifier().fit(X, y)
    assert model.feature_importances_ == pytest.approx(model.importances(X, y), abs=0.02)
    assert model.feature_importances_[0] > 0.1 < model.feature_importances_[2]
    assert abs(model.feature_importances_[1]) < 0.01
    assert model.feature_importances_[3] == 0.0


def test_they_are_those_of_five_folds(frame):
    X, y = frame
    model = BayesClassifier().fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    splits = splits_of(deal_by_content(codes, None, model.schema_.keys(read_table(X)), 5).fold, 5)
    expected = BayesClassifier(model.schema_).importances(X, y, cv=splits)
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=0, atol=1e-9)


def test_a_file_and_more_rows_keep_them(frame):
    X, y = frame
    model = BayesClassifier().fit(X, y)
    before = model.feature_importances_
    file = io.BytesIO()
    model.save(file)
    assert np.array_equal(suffice.load(io.BytesIO(file.getvalue())).feature_importances_, before)
    assert np.array_equal(model.partial_fit(X[:100], y[:100]).feature_importances_, before)


def test_scikit_learn_selects_columns_by_them(frame):
    X, y = frame
    selector = SelectFromModel(BayesClassifier(), threshold=0.05).fit(X, y)
    assert selector.get_support().tolist() == [True, False, True, False]


def test_a_model_that_asked_no_held_out_rows_has_none(frame):
    X, y = frame
    for model in (BayesClassifier(Normal()).fit(X[["good"]], y), BayesClassifier().fit(X[:20], y[:20])):
        assert not hasattr(model, "feature_importances_")
        with pytest.raises(AttributeError, match=r"importances\(X, y\) measures them"):
            _ = model.feature_importances_
