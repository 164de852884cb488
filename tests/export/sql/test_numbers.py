"""Digits survive the way through text."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice.estimators.regression import ProbitRegression
from suffice.families import Beta, ElementaryFunction, Family, Gamma, Normal
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


OWN_FUNCTIONS = {
    "distance": lambda x: np.abs(x - 3.0),
    "x to the 1.7": lambda x: np.abs(x) ** 1.7,
    "x to the 5": lambda x: x**5 / 1e3,
    "x to the −3": lambda x: np.abs(x) ** -3.0,
    "root": lambda x: np.sqrt(np.abs(x)),
    "exponential": np.exp,
    "hinge": lambda x: np.where(x < 2.0, 2.0 - x, 0.0),
    "log": lambda x: -np.log1p(np.square(x)) / np.log(2.0),
    "reciprocal": lambda x: 1.0 / (1.0 + np.floor(np.abs(x))),
    "wave": lambda x: np.where((x > 1.0) & (x <= 2.0), 1.0 / x, -np.sin(x)),
    "comparison": lambda x: x > 1.0,
    "choice of comparisons": lambda x: np.where(x > 1.0, x <= 2.0, ~((x < -1.0) | (x == 0.0))),
}


@dataclass(frozen=True, repr=False)
class Tilted(Family):
    """λ = E[u], so that a score is λ·u(x): any function will do."""

    which: str = "distance"

    @property
    def functions(self):
        return (ElementaryFunction(f"own {self.which}", OWN_FUNCTIONS[self.which]),)

    def log_normalizer(self, natural, origin):
        return 0.0 * natural[0]

    def natural_from_mean(self, mean, origin):
        return mean


@pytest.mark.parametrize("which", OWN_FUNCTIONS)
def test_a_function_of_ones_own_has_all_its_digits(which, database):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    rows = pd.DataFrame({"x": rng.normal(1.0 + y, 1.0)})
    model = suffice.BayesClassifier(families=Tilted(which)).fit(rows, y)
    strange = [1e-320, 1e-200, -1e-150, -700.0, 800.0, 1e30, 1e100, -1e120, 1e300, -1e300, np.nan]
    tried = pd.concat([rows, pd.DataFrame({"x": strange})], ignore_index=True)
    database.create("rows", tried)
    np.testing.assert_allclose(database.scores(model, "rows"), model.predict_proba(tried), atol=1e-9)
