"""Very wide, very many classes, very little: each works, in sane time."""

import time

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier
from suffice.families import Bernoulli, Categorical, Gamma, Histogram, Hurdle, Normal, Poisson, Steps


def works(model, X, n_classes):
    proba = model.predict_proba(X)
    assert proba.shape == (len(X), n_classes)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_twenty_thousand_columns_of_fifty_rows():
    rng = np.random.default_rng(0)
    y = np.arange(50) % 2
    X = rng.normal(size=(50, 20_000)) + y[:, np.newaxis]
    start = time.process_time()
    model = BayesClassifier().fit(X, y)
    works(model, X, 2)
    assert (model.predict(X) == y).all()
    assert time.process_time() - start < 5.0
    assert len(repr(model.schema_)) < 10_000


def test_choosing_one_family_for_twenty_thousand_columns_costs_no_more_than_inferring():
    X = np.random.default_rng(0).normal(size=(50, 20_000))
    y = np.arange(50) % 2
    start = time.process_time()
    BayesClassifier().fit(X, y)
    inferred = time.process_time() - start
    start = time.process_time()
    BayesClassifier(families=Normal()).fit(X, y)
    assert time.process_time() - start < 5 * inferred + 0.2


def test_a_frame_of_twenty_thousand_columns():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 20_000))).add_prefix("c")
    start = time.process_time()
    works(BayesClassifier().fit(X, np.arange(50) % 2), X, 2)
    assert time.process_time() - start < 8.0


def test_five_rows_of_each_of_five_thousand_classes():
    y = np.repeat(np.arange(5000), 5)
    X = np.random.default_rng(0).normal(size=(25_000, 4)) + y[:, np.newaxis]
    start = time.process_time()
    model = BayesClassifier().fit(X, y)
    works(model, X[:200], 5000)
    assert len(model.classes_) == 5000
    assert time.process_time() - start < 8.0


def test_five_thousand_classes_of_a_mixed_frame():
    rng = np.random.default_rng(0)
    y = np.char.add("class ", np.repeat(np.arange(5000), 5).astype(str))
    X = pd.DataFrame(
        {"x": rng.normal(size=25_000), "n": rng.poisson(3, 25_000), "t": rng.choice(list("abc"), 25_000)}
    )
    start = time.process_time()
    works(BayesClassifier().fit(X, y), X[:200], 5000)
    assert time.process_time() - start < 8.0


FAMILIES = [Normal(), Normal("shared"), Normal(alpha=0), Normal(ddof=1), Gamma(), Gamma(alpha=0), Poisson()]
FAMILIES += [Poisson(alpha=0), Categorical(), Bernoulli(), Bernoulli(alpha=0), Histogram(), Steps()]
FAMILIES += [Hurdle(Normal()), Hurdle(Gamma(alpha=0), alpha=0)]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_one_class(family):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) + (1.0 if family.name == "Gamma" else 0.0)
    model = BayesClassifier(families=family).fit(X, ["only"] * 3)
    works(model, X, 1)
    assert model.predict(X).tolist() == ["only"] * 3
    assert model.decision_function(X).shape in ((3,), (3, 1))
    assert model.n_parameters_ > 0 or family.name == "Steps"  # one class needs one step


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@pytest.mark.parametrize("value", [1.0, 0.0, np.nan])
def test_one_row(family, value):
    if family.name == "Gamma" and value == 0:
        value = 3.0
    X = np.array([[value, 1.0]])
    model = BayesClassifier(families=family).fit(X, ["only"])
    works(model, np.array([[value, 1.0], [1.0, np.nan], [2.0, 2.0]]), 1)
    assert not np.isnan(model.score_samples(X)).any()
    assert len(model.sample(3, random_state=0)[1]) == 3


def test_one_row_of_a_mixed_frame(table, labels):
    model = BayesClassifier().fit(table[:1], labels[:1])
    works(model, table, 1)


def test_one_cell_missing_is_nothing_learnt_but_the_class():
    model = BayesClassifier().fit([[np.nan]], ["a"])
    assert model.predict([[3.0]]).tolist() == ["a"]


def test_one_row_in_each_class(table, labels):
    first = [int(np.argmax(labels == label)) for label in ("ash", "birch", "cedar")]
    model = BayesClassifier().fit(table.iloc[first], labels[first])
    works(model, table, 3)


def test_tiny_and_huge_numbers_stand_in_one_table():
    X = np.array([[1e200, 1e-200, 5.0], [2e200, 2e-200, 5.0], [7e200, 8e-200, 5.0], [8e200, 7e-200, 5.0]])
    y = np.array([0, 0, 1, 1])
    scaled = X * np.array([2.0**-664, 2.0**664, 1.0])
    model = BayesClassifier().fit(X, y)
    plain = BayesClassifier().fit(scaled, y)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(scaled), atol=1e-12)


def test_a_number_far_from_everything_is_no_nan():
    model = BayesClassifier().fit([[1.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    for value in (1e10, 1e160, 1e300, -1.7e308):
        proba = model.predict_proba([[value]])
        assert np.isfinite(proba).all(), value
        np.testing.assert_allclose(proba.sum(), 1.0)
        assert not np.isnan(model.score_samples([[value]])).any()
