"""The log likelihood of any rows with their classes."""

import numpy as np
import pytest

import suffice
from suffice.families import Normal, Poisson


def test_of_the_training_rows_it_is_that_of_the_model():
    X, y = suffice.load_penguins()
    for model in (suffice.BayesClassifier(), suffice.BayesClassifier(missing="evidence")):
        model.fit(X, y)
        assert model.log_likelihood(X, y) == pytest.approx(model.log_likelihood_, rel=1e-9)
    numbers = X.select(["bill_length_mm", "body_mass_g"])  # gaps included
    for covariance in ("shared", "full", "shared_isotropic"):
        model = suffice.GaussianDiscriminant(covariance).fit(numbers, y)
        assert model.log_likelihood(numbers, y) == pytest.approx(model.log_likelihood_)
    documents, labels = ["good film", "bad film", "good fun"], ["+", "-", "+"]
    text = suffice.TextClassifier().fit(documents, labels)
    assert text.log_likelihood(documents, labels) == pytest.approx(text.log_likelihood_)


def test_weights_count_rows_and_other_rows_have_their_own():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    X = rng.poisson(1 + 3 * y[:, np.newaxis], (50, 2))
    model = suffice.BayesClassifier(families=Poisson()).fit(X[:40], y[:40])
    weights = np.r_[2.0, 1.0, np.zeros(8)]
    three = [*X[[40, 40]], X[41]]
    found = model.log_likelihood(X[40:], y[40:], sample_weight=weights)
    assert found == pytest.approx(model.log_likelihood(three, y[[40, 40, 41]]))
    joint = model.predict_joint_log_proba(X[40:])
    assert model.log_likelihood(X[40:], y[40:]) == pytest.approx(sum(joint[np.arange(10), y[40:]]))


def test_maximum_likelihood_is_a_maximum():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    X = rng.normal(y[:, np.newaxis], 1.0, (60, 1))
    best = suffice.BayesClassifier(families=Normal(alpha=0)).fit(X, y)
    for other in (Normal(alpha=1), Normal("shared", alpha=0), Normal(alpha=0, ddof=1)):
        worse = suffice.BayesClassifier(families=other).fit(X, y)
        assert worse.log_likelihood(X, y) < best.log_likelihood(X, y)
    assert best.with_priors("uniform").log_likelihood(X, y) <= best.log_likelihood(X, y)


def test_impossible_rows_and_bad_labels():
    model = suffice.BayesClassifier(families=Poisson(alpha=0)).fit([[0], [0], [3], [4]], [0, 0, 1, 1])
    assert model.log_likelihood([[2]], [0]) == -np.inf
    with pytest.raises(ValueError, match="1 rows, and y has 2 labels"):
        model.log_likelihood([[2]], [0, 1])
    with pytest.raises(ValueError, match="needs a density"):
        suffice.TextClassifier("complement").fit(["a b", "c"], [0, 1]).log_likelihood(["a b"], [0])
