"""Normal(alpha=0) is scikit-learn's GaussianNB(var_smoothing=0)."""

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from suffice import BayesClassifier
from suffice.families import Normal

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def both(X, y, weights=None, priors=None):
    ours = BayesClassifier(families=Normal(alpha=0), priors=priors).fit(X, y, weights)
    theirs = GaussianNB(var_smoothing=0, priors=priors).fit(X, y, weights)
    return ours, theirs


def same(ours, theirs, X):
    parameters = ours.parameters_.values()
    np.testing.assert_allclose(np.stack([p["mean"] for p in parameters], axis=1), theirs.theta_, **CLOSE)
    np.testing.assert_allclose(
        np.stack([p["variance"] for p in parameters], axis=1), theirs.var_, rtol=1e-9, atol=1e-10
    )
    np.testing.assert_allclose(ours.priors_, theirs.class_prior_, **CLOSE)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **CLOSE)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
    )
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def test_parameters_and_posteriors_agree(measured):
    X, y, _ = measured
    same(*both(X, y), X)


def test_they_agree_with_weights(measured):
    X, y, weights = measured
    same(*both(X, y, weights), X)


def test_they_agree_with_priors(measured):
    X, y, _ = measured
    n_classes = len(np.unique(y))
    priors = np.arange(1.0, n_classes + 1)
    same(*both(X, y, None, priors / priors.sum()), X)


def test_they_agree_on_random_rows():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 7, 500)
    X = rng.normal(y[:, np.newaxis], 1 + rng.random(12), (500, 12))
    same(*both(X, y, rng.uniform(0.1, 5, 500)), X)


def test_they_agree_in_batches(measured):
    X, y, weights = measured
    order = np.random.default_rng(1).permutation(len(y))
    X, y, weights = X[order], y[order], weights[order] + 0.5
    ours, theirs = BayesClassifier(families=Normal(alpha=0)), GaussianNB(var_smoothing=0)
    for start in range(0, len(y), 50):
        at = slice(start, start + 50)
        ours.partial_fit(X[at], y[at], sample_weight=weights[at])
        theirs.partial_fit(X[at], y[at], classes=np.unique(y), sample_weight=weights[at])
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-10)


def test_smoothing_adds_alpha_rows_at_the_total_variance(measured):
    X, y, _ = measured
    alpha = 2.5
    model = BayesClassifier(families=Normal(alpha=alpha)).fit(X, y)
    n = np.bincount(y)[:, np.newaxis]
    within = np.stack([X[y == k].var(axis=0) for k in np.unique(y)])
    expected = (n * within + alpha * X.var(axis=0)) / (n + alpha)
    variance = np.stack([p["variance"] for p in model.parameters_.values()], axis=1)
    np.testing.assert_allclose(variance, expected, rtol=1e-10)


def test_a_shared_variance_is_the_average_of_the_class_variances(measured):
    X, y, weights = measured
    weights = weights + 0.25
    model = BayesClassifier(families=Normal("shared", alpha=0)).fit(X, y, weights)
    residual = X.copy()
    for k in np.unique(y):
        residual[y == k] -= np.average(X[y == k], axis=0, weights=weights[y == k])
    expected = np.average(residual**2, axis=0, weights=weights)
    for j, parameters in model.parameters_.items():
        np.testing.assert_allclose(parameters["variance"], expected[j], rtol=1e-10)


def test_unbiased_variances_divide_by_n_less_one(measured):
    X, y, _ = measured
    own = BayesClassifier(families=Normal(alpha=0, ddof=1)).fit(X, y)
    shared = BayesClassifier(families=Normal("shared", alpha=0, ddof=1)).fit(X, y)
    labels = np.unique(y)
    n_classes = len(labels)
    within = np.stack([X[y == k].var(axis=0, ddof=1) for k in labels])
    pooled = sum(((X[y == k] - X[y == k].mean(axis=0)) ** 2).sum(axis=0) for k in labels)
    for j in range(X.shape[1]):
        np.testing.assert_allclose(own.parameters_[j]["variance"], within[:, j], rtol=1e-10)
        np.testing.assert_allclose(
            shared.parameters_[j]["variance"], pooled[j] / (len(y) - n_classes), rtol=1e-10
        )


def test_a_shared_variance_of_one_column_is_linear_discriminant_analysis():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(2.0 * y, 1.0)[:, np.newaxis]
    ours = BayesClassifier(families=Normal("shared", alpha=0)).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **CLOSE)


@pytest.mark.parametrize("dispersion", ["free", "shared"])
def test_the_log_likelihood_is_that_of_scipy(measured, dispersion):
    X, y, weights = measured
    model = BayesClassifier(families=Normal(dispersion)).fit(X, y, weights)
    mean = np.stack([p["mean"] for p in model.parameters_.values()], axis=1)
    deviation = np.sqrt(np.stack([p["variance"] for p in model.parameters_.values()], axis=1))
    log_p = stats.norm.logpdf(X, mean[y], deviation[y]).sum(axis=1) + np.log(model.priors_[y])
    np.testing.assert_allclose(model.log_likelihood_, weights @ log_p, rtol=1e-10)


def test_offsets_do_not_matter():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.round(rng.normal(y[:, np.newaxis], 1.0, (400, 2)) * 1024) / 1024
    plain, _ = both(X, y)
    far = X + 1e9
    assert np.array_equal(far - 1e9, X)
    moved = BayesClassifier(families=Normal(alpha=0)).fit(far, y)
    np.testing.assert_allclose(moved.predict_proba(far), plain.predict_proba(X), atol=1e-9)
