"""shrinkage="bayes": the mean of each covariance given the rows, which is never singular."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import suffice
from suffice import GaussianDiscriminant
from suffice.factors.gaussian import shrinkage
from suffice.factors.gaussian.moments import Moments
from suffice.factors.gaussian.tying import Tying
from suffice.families import MultivariateNormal

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], [20, 12, 8])
X = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 3)) * [1.0, 50.0, 1e-3] + 2.0 * Y[:, np.newaxis]


def oas(correlation, n):
    """Chen et al. (2010), eq. 23, for correlations."""
    d = len(correlation)
    square = np.sum(correlation**2) / d**2
    return min(1.0, (square + 1.0) / ((n + 1.0) * (square - 1.0 / d))) if square > 1.0 / d else 1.0


def posterior_means(X, y, weight):
    """The covariance of all classes, and that of each, as they are written."""
    n, d = weight.sum(), X.shape[1]
    scatters, sizes = [], []
    for label in np.unique(y):
        own, w = X[y == label], weight[y == label]
        away = own - np.average(own, axis=0, weights=w)
        scatters.append((w[:, np.newaxis] * away).T @ away)
        sizes.append(w.sum())
    everyone = X - np.average(X, axis=0, weights=weight)
    total = np.average(everyone**2, axis=0, weights=weight)
    shared = (sum(scatters) + np.diag(total)) / (n + 1.0)
    deviation = np.sqrt(np.diag(shared))
    share = oas(shared / np.outer(deviation, deviation), n)
    shared = (1.0 - share) * shared + share * np.diag(np.diag(shared))
    own = [(s + (d + 2.0) * shared) / (m + d + 2.0) for s, m in zip(scatters, sizes, strict=True)]
    return shared, np.array(own)


@pytest.mark.parametrize("weighted", [False, True])
def test_covariances_are_the_means_given_the_rows(weighted):
    weight = RNG.integers(1, 4, 40) / 2 if weighted else np.ones(40)
    shared, own = posterior_means(X, Y, weight)
    for covariance, expected in (("shared", np.stack([shared] * 3)), ("full", own)):
        model = GaussianDiscriminant(covariance, shrinkage="bayes").fit(X, Y, weight)
        scale = np.sqrt(np.diag(shared))
        found = np.broadcast_to(model.covariances_, expected.shape)
        np.testing.assert_allclose(
            found / np.outer(scale, scale), expected / np.outer(scale, scale), atol=1e-9
        )


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal", "isotropic"])
@given(st.integers(0, 10**6), st.integers(0, 6), st.floats(0.0, 1e4))
@settings(max_examples=30)
def test_covariances_exceed_the_least_variances_in_all_directions(covariance, seed, rank, rows):
    rng = np.random.default_rng(seed)
    tying = Tying(covariance, np.arange(3), 0.0)
    roots = rng.normal(size=(3, 5, rank)) * 10.0 ** rng.integers(-3, 3, (5, 1))
    scatter = tying.pooled(rows * roots @ roots.swapaxes(1, 2))
    total = rng.random(5) + np.diagonal(scatter.sum(axis=0)) / (rows + 1.0)
    moments = Moments(np.zeros((3, 5)), scatter, rows * rng.dirichlet(np.ones(3)), total, None)
    least = shrinkage.least_variances(moments, tying)
    for matrix, variances in zip(shrinkage.posterior_means(moments, tying), least, strict=True):
        in_units = matrix / np.sqrt(np.outer(variances, variances))
        assert np.linalg.eigvalsh(in_units - np.eye(5)).min() >= -1e-12 * np.linalg.norm(in_units)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_columns_constant_within_classes_are_not_singular(covariance):
    rows = np.column_stack([X, 3.0 * Y, np.where(Y == 0, 7.0, X[:, 0]), X[:, 0]])
    model = GaussianDiscriminant(covariance, shrinkage="bayes").fit(rows, Y)
    assert not model.regularized_
    for matrix in np.atleast_3d(model.covariances_).reshape(-1, 6, 6):
        scale = np.sqrt(np.diag(matrix))
        assert np.linalg.eigvalsh(matrix / np.outer(scale, scale)).min() > 1e-6
    assert np.isfinite(model.predict_log_proba(rows)).all()


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_fewer_rows_than_columns_and_a_class_of_one_row_give_posteriors(covariance):
    rows, y = RNG.normal(size=(12, 30)), np.array([0] * 6 + [1] * 5 + [2])
    model = GaussianDiscriminant(covariance, shrinkage="bayes").fit(rows, y)
    posteriors = model.predict_proba(rows)
    assert np.isfinite(posteriors).all()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_sums_add_and_subtract(covariance):
    whole = GaussianDiscriminant(covariance, shrinkage="bayes").fit(X, Y)
    parts = GaussianDiscriminant(covariance, shrinkage="bayes").fit(X[::2], Y[::2])
    parts.partial_fit(X[1::2], Y[1::2])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    parts.forget(X[::2], Y[::2])
    alone = GaussianDiscriminant(covariance, shrinkage="bayes").fit(X[1::2], Y[1::2])
    np.testing.assert_allclose(parts.predict_proba(X), alone.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_rows_left_out_are_answered_by_refits(covariance):
    model = GaussianDiscriminant(covariance, shrinkage="bayes")
    found = suffice.cross_val_predict_proba(model, X, Y, cv=LeaveOneOut())
    expected = cross_val_predict(model, X, Y, cv=LeaveOneOut(), method="predict_proba")
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_it_is_named_where_a_shrinkage_is_not_known():
    assert MultivariateNormal(shrinkage="bayes").shrinkage == "bayes"
    with pytest.raises(ValueError, match="'bayes'"):
        GaussianDiscriminant(shrinkage="bayesian").fit(X, Y)
