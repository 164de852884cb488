"""Bernoulli, Categorical and Multinomial are scikit-learn's naive Bayes of the same name."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, MultinomialNB

from suffice import BayesClassifier
from suffice.families import Bernoulli, Categorical, Multinomial, Poisson

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
TOO_SURE = pytest.mark.filterwarnings("ignore:on 500 of its rows")  # as scikit-learn's own posteriors are
ALPHAS = pytest.mark.parametrize("alpha", [1.0, 0.3])
CONTAINERS = pytest.mark.parametrize(
    "container",
    [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array],
    ids=["dense", "csr_matrix", "csr_array", "csc_matrix", "csc_array"],
)


def same_posteriors(ours, theirs, X, theirs_X=None):
    theirs_X = X if theirs_X is None else theirs_X
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(theirs_X), **CLOSE)
    np.testing.assert_allclose(
        ours.predict_log_proba(X), theirs.predict_log_proba(theirs_X), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(ours.priors_, np.exp(theirs.class_log_prior_), **CLOSE)
    assert np.array_equal(ours.predict(X), theirs.predict(theirs_X))


def stacked(model):
    return np.stack([p["probability"] for p in model.parameters_.values()], axis=1)


@TOO_SURE
@ALPHAS
@CONTAINERS
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_multinomial_naive_bayes(digits, alpha, container, weighted):
    X, y, weights = digits
    weights = weights if weighted else None
    rows = container(X)
    ours = BayesClassifier(families=Multinomial(alpha=alpha)).fit(rows, y, weights)
    theirs = MultinomialNB(alpha=alpha).fit(X, y, weights)
    np.testing.assert_allclose(stacked(ours), np.exp(theirs.feature_log_prob_), **CLOSE)
    same_posteriors(ours, theirs, rows, X)


@ALPHAS
@CONTAINERS
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_bernoulli_naive_bayes(digits, alpha, container, weighted):
    X, y, weights = digits
    X = (X > 7).astype(np.float64)
    weights = weights if weighted else None
    rows = container(X)
    ours = BayesClassifier(families=Bernoulli(alpha=alpha)).fit(rows, y, weights)
    theirs = BernoulliNB(alpha=alpha, binarize=None).fit(X, y, weights)
    np.testing.assert_allclose(stacked(ours), np.exp(theirs.feature_log_prob_), **CLOSE)
    same_posteriors(ours, theirs, rows, X)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(rows), theirs.predict_joint_log_proba(X), rtol=1e-10
    )


@ALPHAS
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_categorical_naive_bayes(digits, alpha, weighted):
    X, y, weights = digits
    X = (X[:, 20:40] // 4).astype(int)
    weights = weights if weighted else None
    ours = BayesClassifier(families=Categorical(alpha=alpha)).fit(X, y, weights)
    theirs = CategoricalNB(alpha=alpha).fit(X, y, weights)
    for j, parameters in ours.parameters_.items():
        assert parameters["levels"] == list(range(theirs.n_categories_[j]))
        np.testing.assert_allclose(parameters["probability"], np.exp(theirs.feature_log_prob_[j]), **CLOSE)
    same_posteriors(ours, theirs, X)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-10)


@pytest.mark.parametrize(
    "family, theirs", [(Bernoulli(), BernoulliNB()), (Multinomial(), MultinomialNB())], ids=str
)
def test_given_and_uniform_priors_agree(digits, family, theirs):
    X, y, _ = digits
    X = (X > 7).astype(np.float64)
    priors = np.arange(1, 11) / 55
    same_posteriors(
        BayesClassifier(families=family, priors=priors).fit(X, y),
        theirs.set_params(class_prior=priors).fit(X, y),
        X,
    )
    uniform = theirs.set_params(class_prior=None, fit_prior=False).fit(X, y)
    same_posteriors(BayesClassifier(families=family, priors="uniform").fit(X, y), uniform, X)


@pytest.mark.parametrize(
    "family, theirs", [(Bernoulli(), BernoulliNB()), (Multinomial(), MultinomialNB())], ids=str
)
def test_batches_agree(digits, family, theirs):
    X, y, weights = digits
    X = (X > 7).astype(np.float64)
    ours = BayesClassifier(families=family)
    for start in range(0, len(y), 400):
        at = slice(start, start + 400)
        ours.partial_fit(sparse.csr_array(X[at]), y[at], sample_weight=weights[at])
        theirs.partial_fit(X[at], y[at], classes=np.arange(10), sample_weight=weights[at])
    same_posteriors(ours, theirs, X)


def test_random_counts_agree():
    rng = np.random.default_rng(5)
    y = rng.choice(["x", "y", "z"], 300)
    X = rng.poisson(0.4, (300, 50)).astype(float)
    weights = rng.uniform(0.1, 2, 300)
    ours = BayesClassifier(families=Multinomial(alpha=0.3)).fit(sparse.csr_array(X), y, weights)
    same_posteriors(ours, MultinomialNB(alpha=0.3).fit(X, y, weights), sparse.csr_array(X), X)


@TOO_SURE
def test_the_multinomial_log_likelihood_is_that_of_scipy(digits):
    X, y, weights = digits
    model = BayesClassifier(families=Multinomial()).fit(X, y, weights)
    theta = stacked(model)
    log_p = np.array(
        [
            stats.multinomial.logpmf(row, row.sum(), theta[k] / theta[k].sum())
            for row, k in zip(X, y, strict=True)
        ]
    )
    np.testing.assert_allclose(
        model.log_likelihood_, weights @ (log_p + np.log(model.priors_[y])), rtol=1e-10
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_poisson_counts_are_those_of_scipy(digits, weighted):
    X, y, weights = digits
    weights = weights if weighted else np.ones(len(y))
    model = BayesClassifier(families=Poisson()).fit(X, y, weights)
    total = np.stack([np.bincount(y, weights * column) for column in X.T], axis=1)
    n = np.bincount(y, weights)[:, np.newaxis]
    mean = (total + np.average(X, axis=0, weights=weights)) / (n + 1)
    active = X.any(axis=0)
    for j in np.flatnonzero(active):
        np.testing.assert_allclose(model.parameters_[int(j)]["mean"], mean[:, j], rtol=1e-10)
    log_p = stats.poisson.logpmf(X[:, np.newaxis, active], mean[:, active]).sum(axis=2) + np.log(
        model.priors_
    )
    np.testing.assert_allclose(model.predict_joint_log_proba(X), log_p, rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihood_, weights @ log_p[np.arange(len(y)), y], rtol=1e-10)
