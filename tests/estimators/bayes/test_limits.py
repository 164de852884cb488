"""alpha = 0 is the limit of small alpha: fewest impossible cells first, and nothing is ever NaN."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier
from suffice.families import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Gamma,
    Histogram,
    Multinomial,
    Normal,
    Poisson,
    Steps,
)

METHODS = (
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "decision_function",
    "score_samples",
)


def never_nan(model, X):
    for method in METHODS:
        assert not np.isnan(getattr(model, method)(X)).any(), method
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert not np.isnan(model.explain(X).contributions).any()


FLAGS = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0], [0, 1, 1.0]])
FLAG_LABELS = np.array(["a", "a", "a", "b", "b", "b"])


@pytest.mark.parametrize("family", [Bernoulli(alpha=0), Categorical(alpha=0), Normal(alpha=0)], ids=str)
def test_the_class_with_fewest_impossible_cells_wins(family):
    model = BayesClassifier(families=family).fit(FLAGS, FLAG_LABELS)
    # The first two columns are always 1 in a; the first is always 0 in b.
    rows = np.array([[0, 0, 0.0], [1, 1, 1], [0, 1, 1]])
    never_nan(model, rows)
    assert model.predict(rows).tolist() == ["b", "a", "b"]
    np.testing.assert_allclose(model.predict_proba(rows).max(axis=1), 1.0)


@pytest.mark.parametrize("family", [Bernoulli(alpha=0), Categorical(alpha=0), Normal(alpha=0)], ids=str)
def test_a_class_ruled_out_by_its_prior_stays_so_where_no_other_is_possible(family):
    model = BayesClassifier(families=family).fit(FLAGS, FLAG_LABELS).with_priors({"a": 0.0, "b": 1.0})
    rows = np.array([[1, 1, 1.0], [1, 1, 0], [0, 0, 0]])
    never_nan(model, rows)
    assert model.predict_proba(rows).tolist() == [[0.0, 1.0]] * 3


@pytest.mark.parametrize("make", [Bernoulli, Categorical], ids=["Bernoulli", "Categorical"])
def test_zero_alpha_is_the_limit_for_flags_and_categories(make):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (50, 3)).astype(float)
    exact = BayesClassifier(families=make(alpha=0)).fit(FLAGS, FLAG_LABELS)
    near = BayesClassifier(families=make(alpha=1e-9)).fit(FLAGS, FLAG_LABELS)
    np.testing.assert_allclose(exact.predict_proba(rows), near.predict_proba(rows), atol=1e-6)


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 7.0)], ids=["plain", "weighted"])
def test_zero_alpha_is_the_limit_for_poisson_counts(weights):
    X = np.array([[0, 4], [0, 3], [0, 5], [2, 0], [3, 0], [1, 0.0]])
    y = np.array([0, 0, 0, 1, 1, 1])
    rows = np.array([[1, 1], [0, 0], [1, 0], [0, 1], [2, 1], [1, 2.0]])
    exact = BayesClassifier(families=Poisson(alpha=0)).fit(X, y, weights)
    near = BayesClassifier(families=Poisson(alpha=1e-9)).fit(X, y, weights)
    np.testing.assert_allclose(exact.predict_proba(rows), near.predict_proba(rows), atol=1e-6)


def test_zero_alpha_is_the_limit_for_multinomial_counts():
    X = np.array([[0, 4, 2], [0, 3, 1], [2, 0, 1], [3, 0, 2.0]])
    y = np.array([0, 0, 1, 1])
    rows = np.array([[1, 1, 1], [0, 0, 1], [1, 0, 5], [2, 1, 1], [1, 2, 0.0]])
    exact = BayesClassifier(families=Multinomial(alpha=0)).fit(X, y)
    near = BayesClassifier(families=Multinomial(alpha=1e-9)).fit(X, y)
    np.testing.assert_allclose(exact.predict_proba(rows), near.predict_proba(rows), atol=1e-6)


def test_zero_alpha_is_the_limit_on_the_constants_of_normal_classes():
    X = np.array([[0.0], [0.0], [10.0], [10.0]])
    y = np.array([0, 0, 1, 1])
    rows = np.array([[0.0], [10.0]])
    exact = BayesClassifier(families=Normal(alpha=0)).fit(X, y)
    near = BayesClassifier(families=Normal(alpha=1e-9)).fit(X, y)
    np.testing.assert_allclose(exact.predict_proba(rows), near.predict_proba(rows), atol=1e-6)


@pytest.mark.parametrize("family", [Normal(), Normal(alpha=0), Normal("shared", alpha=0)], ids=str)
def test_a_column_constant_within_each_class_separates_them(family):
    X = np.array([[1.0, 0.3], [1.0, 0.1], [1.0, 0.7], [2.0, 0.2], [2.0, 0.5], [2.0, 0.4]])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = BayesClassifier(families=family).fit(X, y)
    never_nan(model, X)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize(
    "family",
    [
        Normal(alpha=0),
        Normal("shared", alpha=0),
        Bernoulli(alpha=0),
        Categorical(alpha=0),
        Poisson(alpha=0),
        Multinomial(alpha=0),
        Histogram(alpha=0),
        Steps(alpha=0),
        Categorical(alpha=0, unseen="smooth"),
        Bernoulli(alpha=0, unseen="smooth"),
        Poisson(alpha=0, unseen="smooth"),
    ],
    ids=str,
)
def test_the_best_guess_agrees_with_the_posterior_and_the_decision_function(family):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (12, 3)).astype(float)
    y = np.arange(12) % 3
    X[y == 0, 0] = 1.0
    X[y == 1, 1] = 0.0
    rows = np.array([[a, b, c] for a in (0, 1, 2) for b in (0, 1) for c in (0, 1, 2)], dtype=float)
    model = BayesClassifier(families=family).fit(X, y)
    never_nan(model, rows)
    assert np.array_equal(model.predict(rows), model.predict_proba(rows).argmax(axis=1))
    assert np.array_equal(model.predict(rows), model.decision_function(rows).argmax(axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), model.predict_proba(rows), atol=1e-14)


@pytest.mark.parametrize("family", [Normal(alpha=0), Normal(ddof=1, alpha=0), Bernoulli(alpha=0)], ids=str)
def test_classes_of_one_row_are_welcome(family):
    X = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    model = BayesClassifier(families=family).fit(X, ["a", "b", "c"])
    never_nan(model, np.vstack([X, [[0.0, 0.0]]]))
    assert model.predict(X).tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("family", [Gamma(alpha=0), Beta(alpha=0), Gamma("shared", alpha=0)], ids=str)
def test_a_solve_without_maximum_likelihood_is_regularized_and_recorded(family):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"free": rng.uniform(0.1, 0.9, 40), "stuck": rng.uniform(0.1, 0.9, 40)})
    y = np.repeat(["a", "b"], 20)
    X.loc[y == "b", "stuck"] = 0.25
    model = BayesClassifier(families=family).fit(X, y)
    never_nan(model, X)
    if family == Gamma("shared", alpha=0):
        assert model.regularized_ == []  # the shared shape is free
        return
    assert len(model.regularized_) == 1
    entry = model.regularized_[0]
    assert "'stuck'" in entry.column
    assert entry.label == "b"
    assert family.name in entry.reason
    assert (model.predict(X.assign(free=np.nan))[y == "b"] == "b").all()


def test_nothing_is_regularized_where_smoothing_is_on():
    X = np.column_stack([np.repeat([0.25, 0.5], 10), np.linspace(0.1, 0.9, 20)])
    y = np.repeat(["a", "b"], 10)
    for family in (Gamma(), Beta(), Normal()):
        model = BayesClassifier(families=family).fit(X, y)
        assert model.regularized_ == []
        never_nan(model, X)


@pytest.mark.parametrize(
    "family", [Gamma(alpha=0), Beta(alpha=0), Normal(alpha=0), Poisson(alpha=0)], ids=str
)
def test_a_column_constant_everywhere_contributes_nothing(family):
    value = 3.0 if family.name != "Beta" else 0.3
    X = np.full((6, 1), value)
    model = BayesClassifier(families=family).fit(X, [0, 1, 1, 0, 1, 1])
    never_nan(model, X)
    np.testing.assert_allclose(model.predict_proba(X), np.tile(model.priors_, (6, 1)))


def test_a_class_without_any_observed_cell_is_scored_by_the_whole_column():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    y = ["a", "a", "b", "b"]
    for family in (
        Normal(),
        Normal(alpha=0),
        Gamma(),
        Gamma(alpha=0),
        Poisson(alpha=0),
        Categorical(alpha=0),
    ):
        never_nan(BayesClassifier(families=family).fit(X, y), np.array([[1.0], [2.0], [np.nan]]))


@pytest.mark.parametrize("rows", range(2, 40))
def test_a_binomial_column_that_is_always_at_its_maximum_contributes_nothing(rows):
    y = np.arange(rows) % 2 + (np.arange(rows) % 7 == 0)
    model = BayesClassifier(families=Binomial(6)).fit(np.full((rows, 1), 6.0), y)
    np.testing.assert_allclose(
        model.predict_proba([[6.0], [2.0]]), [model.priors_, model.priors_], rtol=1e-14
    )
