"""Digits survive the way through text."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.estimators.regression import ProbitRegression
from suffice.families import Beta, Gamma, Normal
from suffice.links import log_probit


def test_probit_keeps_its_digits_over_the_whole_line(database):
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    model = ProbitRegression().fit(pd.DataFrame({"x": x}), x + rng.normal(size=300) > 0)
    slope, intercept = model.coef_[0, 0], model.intercept_[0]
    scores = np.concatenate([np.linspace(-60, 60, 601), [-1.4142135623, 1.4142135623, 1e-9, -1e-9]])
    rows = pd.DataFrame({"x": (scores - intercept) / slope})
    database.create("rows", rows)
    got = np.array(database.scores(model, "rows", output="scores"), dtype=float)
    a = model.decision_function(rows)
    np.testing.assert_allclose(got, np.column_stack([log_probit(-a), log_probit(a)]), rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("unit", [1e-290, 1e-150, 1.0, 1e150, 1e290])
def test_units_of_any_size_give_the_same_posteriors(unit, database):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 90)
    rows = pd.DataFrame({"x": rng.normal(y, 1.0) * unit})
    model = suffice.BayesClassifier(families=Normal()).fit(rows, y)
    database.create("rows", rows)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1e-320, 1e-200, 1e-100, 1.0, 1e200])
def test_no_value_makes_a_database_underflow_or_overflow(value, database):
    rows = pd.DataFrame({"x": [-1.0, 1.0, -3.0, 3.0]})
    model = suffice.BayesClassifier(families=Normal()).fit(rows, [0, 0, 1, 1])
    tried = pd.DataFrame({"x": [value, -value]})
    database.create("rows", tried)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(tried), atol=1e-9)


@pytest.mark.parametrize(
    "family, centre, spread",
    [(Normal(), 1.7e9, 1e-3), (Gamma(), 1e6, 1.0), (Beta(), 1e-5, 1e-7), (Beta(), 1 - 1e-7, 1e-9)],
)
def test_values_far_from_zero_keep_their_digits(family, centre, spread, database):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 200)
    rows = pd.DataFrame({"x": centre + spread * (rng.normal(size=200) + y)})
    model = suffice.BayesClassifier(families=family).fit(rows, y)
    database.create("rows", rows)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(rows), atol=1e-9)


def test_classes_hundreds_of_nats_apart_have_posteriors_of_zero_and_one(database):
    rows = pd.DataFrame({"x": [0.0, 0.001, 100.0, 100.001, -1e5]})
    model = suffice.BayesClassifier(families=Normal(alpha=1e-9)).fit(rows.iloc[:4], [0, 0, 1, 1])
    database.create("rows", rows)
    posterior = np.array(database.scores(model, "rows"), dtype=float)
    np.testing.assert_allclose(posterior, model.predict_proba(rows), atol=1e-9)
    assert posterior.min() == 0.0
