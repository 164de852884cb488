"""Posteriors, scores, explanations and samples agree with each other."""

import numpy as np
import pandas as pd
import pytest
from scipy import special

from suffice import BayesClassifier
from suffice.families import Normal


@pytest.fixture
def model(table, labels):
    return BayesClassifier().fit(table, labels)


def test_posteriors_are_the_softmax_of_joint_scores(model, table):
    joint = model.predict_joint_log_proba(table)
    np.testing.assert_allclose(model.predict_proba(table), special.softmax(joint, axis=1), atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(table), special.log_softmax(joint, axis=1), atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0, atol=1e-14)
    assert np.array_equal(model.predict(table), model.classes_[joint.argmax(axis=1)])


def test_score_samples_is_the_log_of_the_sum_of_joint_scores(model, table):
    joint = model.predict_joint_log_proba(table)
    np.testing.assert_allclose(model.score_samples(table), special.logsumexp(joint, axis=1), rtol=1e-13)


def test_the_decision_function_is_the_log_odds_for_two_classes(iris):
    X, y = iris
    model = BayesClassifier().fit(X[:100], y[:100])
    odds = model.decision_function(X)
    assert odds.shape == (150,)
    joint = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(odds, joint[:, 1] - joint[:, 0], rtol=1e-10)
    assert np.array_equal(model.predict(X), (odds > 0).astype(int))


def test_the_decision_function_has_a_column_for_each_of_more_classes(model, table):
    assert model.decision_function(table).shape == (120, 3)
    assert np.array_equal(model.classes_[model.decision_function(table).argmax(axis=1)], model.predict(table))


def test_contributions_and_the_prior_add_up_to_the_joint_score(model, table):
    explained = model.explain(table)
    assert explained.contributions.shape == (120, 10, 3)
    np.testing.assert_allclose(
        explained.prior + explained.contributions.sum(axis=1), explained.total, rtol=1e-12, atol=1e-10
    )
    np.testing.assert_allclose(explained.total, model.predict_joint_log_proba(table), rtol=1e-14)
    np.testing.assert_allclose(explained.prior, np.log(model.priors_))


def test_a_missing_cell_contributes_nothing(model, table):
    contributions = model.explain(table).contributions
    missing = table.isna().to_numpy()
    assert missing.any()
    assert (contributions[missing] == 0).all()


def test_evidence_adds_up_to_the_log_odds(model, table):
    explained = model.explain(table)
    evidence = explained.evidence("birch", against="ash")
    odds = explained.total[:, 1] - explained.total[:, 0]
    prior = explained.prior[1] - explained.prior[0]
    np.testing.assert_allclose(evidence.sum(axis=1) + prior, odds, atol=1e-9)
    with pytest.raises(ValueError, match="'oak'"):
        explained.evidence("oak", against="ash")


def test_an_explanation_is_a_frame_of_the_same_library(model, frame):
    explained = model.explain(frame)
    made = explained.to_frame()
    assert type(made) is type(frame)
    assert made.shape == (120 * (10 + 1), 5)  # columns and the prior
    assert "ash" in repr(explained)
    assert "town" in explained.describe(3)


def test_a_missing_cell_equals_a_model_without_the_column(table, labels):
    model = BayesClassifier().fit(table, labels)
    for name in table.columns:
        narrow = table.drop(columns=name)
        without = BayesClassifier(families={c.name: c.family for c in model.schema_ if c.name != name})
        gone = table.copy()
        gone[name] = None
        np.testing.assert_allclose(
            model.predict_proba(gone), without.fit(narrow, labels).predict_proba(narrow), atol=1e-12
        )


def test_an_all_missing_row_gets_the_prior(model, table):
    nothing = pd.DataFrame({name: [None, None] for name in table.columns})
    np.testing.assert_allclose(model.predict_proba(nothing), np.tile(model.priors_, (2, 1)), rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(nothing), 0.0, atol=1e-14)


def test_the_log_likelihood_is_that_of_the_fitted_rows(table, labels):
    for weights in (None, np.random.default_rng(0).uniform(0.5, 2, 120)):
        model = BayesClassifier().fit(table, labels, weights)
        joint = model.predict_joint_log_proba(table)
        own = joint[np.arange(120), np.searchsorted(model.classes_, labels)]
        expected = own.sum() if weights is None else own @ weights
        np.testing.assert_allclose(model.log_likelihood_, expected, rtol=1e-11)
        size = 120 if weights is None else weights.sum()
        p = model.n_parameters_
        np.testing.assert_allclose(model.aic_, 2 * p - 2 * expected, rtol=1e-10)
        np.testing.assert_allclose(model.bic_, p * np.log(size) - 2 * expected, rtol=1e-10)


def test_priors_are_empirical_uniform_or_given(iris):
    X, y = iris
    y = np.where(y == 2, 1, y)
    fit = {
        "empirical": BayesClassifier(),
        "uniform": BayesClassifier(priors="uniform"),
        "array": BayesClassifier(priors=[0.9, 0.1]),
        "dict": BayesClassifier(priors={1: 0.1, 0: 0.9}),
    }
    priors = {name: model.fit(X, y).priors_.tolist() for name, model in fit.items()}
    assert priors == {
        "empirical": [1 / 3, 2 / 3],
        "uniform": [0.5, 0.5],
        "array": [0.9, 0.1],
        "dict": [0.9, 0.1],
    }
    assert fit["empirical"].n_parameters_ == fit["uniform"].n_parameters_ + 1
    assert fit["array"].n_parameters_ == fit["uniform"].n_parameters_


@pytest.mark.parametrize(
    "priors", ["uniform", "empirical", [0.2, 0.3, 0.5], {"ash": 0.7, "birch": 0.2, "cedar": 0.1}], ids=str
)
def test_other_priors_shift_the_log_odds_by_a_constant(model, table, priors):
    other = model.with_priors(priors)
    assert other is not model
    shift = other.predict_joint_log_proba(table) - model.predict_joint_log_proba(table)
    np.testing.assert_allclose(shift, np.tile(shift[0], (120, 1)), atol=1e-9)
    np.testing.assert_allclose(shift[0], np.log(other.priors_ / model.priors_), atol=1e-9)
    assert other.parameters_["length"]["mean"].tolist() == model.parameters_["length"]["mean"].tolist()


def test_priors_in_a_series_are_read_by_its_labels(model):
    named = pd.Series({"cedar": 0.1, "ash": 0.7, "birch": 0.2})
    assert model.with_priors(named).priors_.tolist() == [0.7, 0.2, 0.1]
    assert model.with_priors(pd.Series([0.7, 0.2, 0.1])).priors_.tolist() == [0.7, 0.2, 0.1]
    with pytest.raises(ValueError, match=r"missing \['ash'\], unknown \['oak'\]"):
        model.with_priors(named.rename({"ash": "oak"}))
    numbers = BayesClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    assert numbers.with_priors({2: 0.5, 1: 0.3, 0: 0.2}).priors_.tolist() == [0.2, 0.3, 0.5]
    assert numbers.with_priors({0: 0.2, 1: 0.3, 2: 0.5}).priors_.tolist() == [0.2, 0.3, 0.5]


def test_with_priors_leaves_the_model_alone(model, table, labels):
    before = model.predict_proba(table)
    other = model.with_priors("uniform")
    other.partial_fit(table[:5], labels[:5])
    assert np.array_equal(model.predict_proba(table), before)
    assert model.priors is None


def test_a_prior_of_zero_rules_a_class_out(model, table):
    ruled = model.with_priors({"ash": 0.0, "birch": 0.5, "cedar": 0.5})
    proba = ruled.predict_proba(table)
    assert (proba[:, 0] == 0).all()
    assert not np.isnan(proba).any()
    assert not np.isnan(ruled.score_samples(table)).any()
    assert np.isfinite(model.with_priors([1.0, 0.0, 0.0]).predict_proba(table)).all()


def test_samples_have_the_moments_of_the_model():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = np.column_stack([rng.normal(3 * y, 1 + y), rng.normal(100, 5, 500)])
    model = BayesClassifier(families=Normal()).fit(X, y)
    drawn, labels = model.sample(40_000, random_state=1)
    np.testing.assert_allclose(np.mean(labels), model.priors_[1], atol=0.012)
    for j in range(2):
        mean, variance = model.parameters_[j]["mean"], model.parameters_[j]["variance"]
        for k in range(2):
            cells = drawn[labels == k, j]
            assert abs(cells.mean() - mean[k]) < 5 * np.sqrt(variance[k] / len(cells))
            np.testing.assert_allclose(cells.var(), variance[k], rtol=0.05)


def test_refitting_samples_of_a_mixed_table_gives_back_the_model(model):
    X, y = model.sample(20_000, random_state=3)
    again = BayesClassifier(families=model.schema_).fit(X, y)
    np.testing.assert_allclose(again.priors_, model.priors_, atol=0.02)
    for name, parameters in model.parameters_.items():
        if name == "hour":
            continue  # a time of day ends at midnight, and a Normal does not
        for key in set(parameters) - {"levels"}:
            np.testing.assert_allclose(again.parameters_[name][key], parameters[key], rtol=0.15, atol=0.03)


def test_samples_are_reproducible(model):
    one, two = model.sample(10, random_state=4), model.sample(10, random_state=4)
    assert one[0].equals(two[0])
    assert one[1].tolist() == two[1].tolist()
    assert not one[0].equals(model.sample(10, random_state=5)[0])
    state = np.random.RandomState(0)
    assert not model.sample(10, random_state=state)[0].equals(model.sample(10, random_state=state)[0])


def test_a_column_left_out_is_missing_in_samples(table, labels):
    model = BayesClassifier(families={"town": None}).fit(table, labels)
    X, _ = model.sample(5, random_state=0)
    assert X["town"].isna().all()
    assert list(X.columns) == list(table.columns)


def test_no_samples_are_no_rows(model):
    X, y = model.sample(0, random_state=0)
    assert X.shape == (0, 10)
    assert y.shape == (0,)
