"""What the drop-ins can do beyond scikit-learn's: gaps, weights, batches, merging and forgetting."""

import numpy as np
import pytest
from sklearn import naive_bayes

from suffice import dropin

GENERATIVE = [name for name in dropin.__all__ if name != "LogisticRegression"]


@pytest.fixture
def rows(iris):
    """Rows that every model can fit, mixed."""
    X, y = iris
    order = np.random.default_rng(0).permutation(len(y))
    return np.floor(X[order] * 4) / 4, y[order]


@pytest.mark.parametrize("name", GENERATIVE)
def test_batches_merging_and_forgetting_equal_one_fit(rows, name):
    X, y = rows
    whole = getattr(dropin, name)().fit(X, y)
    batches = getattr(dropin, name)()
    for part in np.array_split(np.arange(len(y)), 5):
        batches.partial_fit(X[part], y[part])
    one, other = (getattr(dropin, name)().fit(X[at], y[at]) for at in (slice(70), slice(70, None)))
    twice = getattr(dropin, name)().fit(np.vstack([X, X[:40]]), np.concatenate([y, y[:40]]))
    for model in (batches, one.merge(other), twice.forget(X[:40], y[:40])):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", GENERATIVE)
def test_gaps_are_welcome_and_a_row_of_gaps_gets_the_prior(rows, name):
    X, y = rows
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = getattr(dropin, name)().fit(holes, y)
    posterior = model.predict_proba(np.vstack([holes, np.full((1, 4), np.nan)]))
    assert np.isfinite(posterior).all()
    prior = np.full(3, 1 / 3) if name == "ComplementNB" else np.bincount(y) / len(y)
    np.testing.assert_allclose(posterior[-1], prior, atol=1e-10)


def test_a_missing_cell_is_the_model_without_the_column(rows):
    X, y = rows
    hidden = X.copy()
    hidden[:, 2] = np.nan
    ours = dropin.GaussianNB(var_smoothing=0.0).fit(X, y).predict_proba(hidden)
    theirs = naive_bayes.GaussianNB(var_smoothing=0.0).fit(X[:, [0, 1, 3]], y).predict_proba(X[:, [0, 1, 3]])
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)


def test_the_floor_never_enters_the_sums(rows):
    X, y = rows
    X = np.column_stack([X, np.ones(len(y))])
    model = dropin.GaussianNB()
    for i in range(len(y)):
        model.partial_fit(X[[i]], y[[i]], classes=[0, 1, 2])
    whole = naive_bayes.GaussianNB().fit(X, y)
    np.testing.assert_allclose(model.var_, whole.var_, rtol=1e-9)
    np.testing.assert_allclose(model.epsilon_, whole.epsilon_, rtol=1e-9)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_alpha_zero_is_the_limit_and_never_nan(name):
    X = np.array([[3, 0, 1], [2, 0, 0], [0, 2, 1], [0, 1, 0]])
    y = ["a", "a", "b", "b"]
    limit = getattr(dropin, name)(alpha=0.0).fit(X, y)
    near = getattr(dropin, name)(alpha=1e-12).fit(X, y)
    queries = np.array([[1, 0, 1], [0, 1, 1], [3, 0, 0], [0, 0, 0], [2, 2, 0]])[
        : 4 if name == "CategoricalNB" else 5
    ]
    np.testing.assert_allclose(limit.predict_proba(queries), near.predict_proba(queries), atol=1e-9)


@pytest.mark.parametrize("name", GENERATIVE)
def test_other_priors_need_no_refit(rows, name):
    X, y = rows
    model = getattr(dropin, name)().fit(X, y)
    moved = model.with_priors({0: 0.2, 1: 0.3, 2: 0.5})
    setting = "priors" if hasattr(model, "priors") else "class_prior"
    given = getattr(dropin, name)(**{setting: [0.2, 0.3, 0.5]}).fit(X, y)
    np.testing.assert_allclose(moved.predict_proba(X), given.predict_proba(X), rtol=1e-12)
    assert getattr(model, setting) is None


@pytest.mark.parametrize("name", [name for name in GENERATIVE if name != "ComplementNB"])
def test_rows_are_sampled_and_likelihoods_come_from_the_sums(rows, name):
    X, y = rows
    model = getattr(dropin, name)().fit((X > 2.0).astype(float) if name == "BernoulliNB" else X, y)
    drawn, labels = model.sample(50, random_state=0)
    assert drawn.shape == (50, 4)
    assert set(labels) <= {0, 1, 2}
    assert np.isfinite(model.log_likelihood_)
    assert np.isfinite(model.bic_)


def test_the_likelihood_of_floored_variances_is_that_of_the_rows(iris):
    X, y = iris
    model = dropin.GaussianNB(var_smoothing=0.1).fit(X, y)
    joint = model.predict_joint_log_proba(X)[np.arange(len(y)), y]
    np.testing.assert_allclose(model.log_likelihood_, joint.sum(), rtol=1e-10)


def test_boundaries_of_the_linear_discriminant_are_equations(iris):
    X, y = iris
    model = dropin.LinearDiscriminantAnalysis().fit(X[:100], y[:100])
    boundary = model.boundary(1, 0)
    assert boundary.kind == "linear"
    np.testing.assert_allclose(boundary.w, model.coef_[0], rtol=1e-8)


@pytest.mark.parametrize("name", GENERATIVE)
def test_a_failed_batch_leaves_the_model_as_it_was(rows, name):
    X, y = rows
    model = getattr(dropin, name)().fit(X, y)
    before = model.predict_proba(X)
    bad = X.copy()
    bad[5, 1] = np.inf
    with pytest.raises(ValueError, match=r"column 1|infinite"):
        model.partial_fit(bad, y)
    assert np.array_equal(model.predict_proba(X), before)
