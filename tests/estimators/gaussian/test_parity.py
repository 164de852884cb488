"""GaussianDiscriminant is scikit-learn's discriminant analysis where that accepts the data."""

import numpy as np
import pytest
from sklearn import covariance, datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

from suffice import GaussianDiscriminant

CLOSE = {"rtol": 1e-8, "atol": 1e-8}
SETS = {"iris": datasets.load_iris, "wine": datasets.load_wine}


def made(n_classes, seed=0, n=90, d=5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    mix = rng.normal(size=(d, d))
    return rng.normal(size=(n, d)) @ mix + rng.normal(size=(n_classes, d))[y] + 3.0, y


@pytest.fixture(params=[*SETS, "two classes", "four classes"])
def rows(request):
    if request.param in SETS:
        return SETS[request.param](return_X_y=True)
    return made(2 if request.param.startswith("two") else 4)


def priors_for(y):
    raw = np.arange(1.0, len(np.unique(y)) + 1)
    return raw / raw.sum()


def same_posteriors(ours, theirs, X):
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), **CLOSE)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


def centred(X, y, ddof=0):
    """Rows about their class mean in units of the pooled deviation, and that deviation."""
    residual = X - np.stack([X[y == k].mean(axis=0) for k in np.unique(y)])[np.searchsorted(np.unique(y), y)]
    scale = np.sqrt((residual**2).sum(axis=0) / (len(y) - ddof * len(np.unique(y))))
    return residual / scale, scale


@pytest.mark.parametrize("solver", ["lsqr", "eigen", "svd"])
def test_shared_is_linear_discriminant_analysis(rows, solver):
    X, y = rows
    ours = GaussianDiscriminant("shared").fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    if solver != "svd" or len(np.unique(y)) == 2:  # that solver measures its coefficients from the grand mean
        np.testing.assert_allclose(ours.coef_, theirs.coef_, **CLOSE)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, **CLOSE)
    same_posteriors(ours, theirs, X)


def test_shared_with_priors_only_moves_the_posteriors(rows):
    # scikit-learn pools the covariances by the priors it is given: maximum likelihood at those of the rows.
    X, y = rows
    priors = priors_for(y)
    ours = GaussianDiscriminant("shared", priors=priors).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    moved = theirs.predict_proba(X) * priors / theirs.priors_
    np.testing.assert_allclose(ours.predict_proba(X), moved / moved.sum(axis=1, keepdims=True), **CLOSE)
    np.testing.assert_allclose(ours.priors_, priors)


def test_linear_scores_differ_from_the_joint_scores_by_a_constant_of_the_row(rows):
    X, y = rows
    model = GaussianDiscriminant("shared").fit(X, y)
    linear = X @ model.coef_.T + model.intercept_
    if len(model.classes_) == 2:
        np.testing.assert_allclose(linear[:, 0], model.decision_function(X), **CLOSE)
    else:
        joint = model.predict_joint_log_proba(X)
        np.testing.assert_allclose(linear - linear[:, :1], joint - joint[:, :1], **CLOSE)


@pytest.mark.parametrize("with_priors", [False, True])
def test_full_is_quadratic_discriminant_analysis(rows, with_priors):
    X, y = rows
    priors = priors_for(y) if with_priors else None
    ours = GaussianDiscriminant("full", priors=priors).fit(X, y)
    theirs = QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True).fit(X, y)
    own = [np.cov(X[y == k], rowvar=False, ddof=0) for k in np.unique(y)]
    np.testing.assert_allclose(ours.covariances_, own, **CLOSE)
    np.testing.assert_allclose(ours.means_, theirs.means_, **CLOSE)
    np.testing.assert_allclose(theirs.covariance_, own, **CLOSE)
    same_posteriors(ours, theirs, X)


def test_ddof_gives_the_unbiased_covariances(rows):
    X, y = rows
    labels = np.unique(y)
    own = np.stack([np.cov(X[y == k], rowvar=False) for k in labels])
    np.testing.assert_allclose(GaussianDiscriminant("full", ddof=1).fit(X, y).covariances_, own, **CLOSE)
    pooled = np.tensordot(np.bincount(y) - 1, own, 1) / (len(y) - len(labels))
    shared = GaussianDiscriminant("shared", ddof=1).fit(X, y)
    np.testing.assert_allclose(shared.covariances_, [pooled] * len(labels), **CLOSE)


@pytest.mark.parametrize("with_priors", [False, True])
def test_diagonal_is_naive_bayes(rows, with_priors):
    X, y = rows
    priors = priors_for(y) if with_priors else None
    ours = GaussianDiscriminant("diagonal", priors=priors).fit(X, y)
    theirs = GaussianNB(var_smoothing=0, priors=priors).fit(X, y)
    np.testing.assert_allclose(np.diagonal(ours.covariances_, axis1=1, axis2=2), theirs.var_, **CLOSE)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), **CLOSE)
    same_posteriors(ours, theirs, X)


def test_the_other_rungs_average_what_they_share(rows):
    X, y = rows
    labels = np.unique(y)
    own = np.stack([X[y == k].var(axis=0) for k in labels])
    share = np.bincount(y) / len(y)
    d = X.shape[1]
    expected = {
        "shared_diagonal": [np.diag(share @ own)] * len(labels),
        "isotropic": [v * np.eye(d) for v in own.mean(axis=1)],
        "shared_isotropic": [(share @ own).mean() * np.eye(d)] * len(labels),
    }
    for name, covariances in expected.items():
        np.testing.assert_allclose(GaussianDiscriminant(name).fit(X, y).covariances_, covariances, **CLOSE)


def test_groups_pool_their_own_classes():
    X, y = made(4)
    own = np.stack([np.cov(X[y == k], rowvar=False, ddof=0) for k in range(4)])
    model = GaussianDiscriminant([[0, 2], [3], [1]]).fit(X, y)
    share = np.bincount(y)[[0, 2]] / np.bincount(y)[[0, 2]].sum()
    both = share[0] * own[0] + share[1] * own[2]
    np.testing.assert_allclose(model.covariances_, [both, own[1], both, own[3]], **CLOSE)


def test_groups_of_one_are_full_and_one_group_is_shared(rows):
    X, y = rows
    labels = np.unique(y).tolist()
    for groups, name in (([[k] for k in labels], "full"), ([labels], "shared")):
        one, other = GaussianDiscriminant(groups).fit(X, y), GaussianDiscriminant(name).fit(X, y)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), **CLOSE)
        assert one.n_parameters_ == other.n_parameters_


@pytest.mark.parametrize(
    "covariance", ["full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic"]
)
@pytest.mark.parametrize("shrinkage", [None, 0.3, "ledoit_wolf", "oas", (0.3, 0.2)])
def test_weights_are_repeats(covariance, shrinkage):
    X, y = datasets.load_iris(return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    one = GaussianDiscriminant(covariance, shrinkage=shrinkage).fit(X, y, weights.astype(float))
    other = GaussianDiscriminant(covariance, shrinkage=shrinkage)
    other.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), **CLOSE)


def shrunk(name, standard):
    if name == "oas":
        return covariance.oas(standard, assume_centered=True)[0]
    if name == "ledoit_wolf":
        return covariance.ledoit_wolf(standard, assume_centered=True)[0]
    plain = standard.T @ standard / len(standard)
    return (1 - name) * plain + name * np.eye(len(plain))


@pytest.mark.parametrize("shrinkage", ["oas", "ledoit_wolf", 0.0, 0.4, 1.0])
def test_shrinkage_is_that_of_scikit_learn_in_standardised_coordinates(rows, shrinkage):
    X, y = rows
    standard, scale = centred(X, y)
    expected = shrunk(shrinkage, standard) * np.outer(scale, scale)
    ours = GaussianDiscriminant("shared", shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(ours.covariances_[0], expected, **CLOSE)


@pytest.mark.parametrize("shrinkage", ["oas", "ledoit_wolf", 0.4])
def test_shrinkage_of_each_class_is_in_its_own_standardised_coordinates(rows, shrinkage):
    X, y = rows
    ours = GaussianDiscriminant("full", shrinkage=shrinkage).fit(X, y)
    for k, label in enumerate(np.unique(y)):
        mine = y == label
        standard, scale = centred(X[mine], y[mine])
        expected = shrunk(shrinkage, standard) * np.outer(scale, scale)
        np.testing.assert_allclose(ours.covariances_[k], expected, **CLOSE)


def test_the_corners_of_friedman(rows):
    X, y = rows
    for pair, name in (((0, 0), "full"), ((1, 0), "shared")):
        one = GaussianDiscriminant("full", shrinkage=pair).fit(X, y)
        other = GaussianDiscriminant(name).fit(X, y)
        np.testing.assert_allclose(one.covariances_, other.covariances_, **CLOSE)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), **CLOSE)
    standard, scale = centred(X, y)
    both = GaussianDiscriminant("full", shrinkage=(1, 1)).fit(X, y)
    level = np.trace(standard.T @ standard / len(y)) / X.shape[1]
    np.testing.assert_allclose(both.covariances_[0], level * np.diag(scale**2), **CLOSE)


def test_between_the_corners_of_friedman(rows):
    X, y = rows
    toward_shared, toward_identity = 0.3, 0.6
    standard, scale = centred(X, y)
    ours = GaussianDiscriminant("full", shrinkage=(toward_shared, toward_identity)).fit(X, y)
    everyone = standard.T @ standard
    for k, label in enumerate(np.unique(y)):
        mine = standard[y == label]
        mixed = (1 - toward_shared) * mine.T @ mine + toward_shared * everyone
        mixed /= (1 - toward_shared) * len(mine) + toward_shared * len(y)
        level = np.trace(mixed) / len(mixed)
        expected = (1 - toward_identity) * mixed + toward_identity * level * np.eye(len(mixed))
        np.testing.assert_allclose(ours.covariances_[k], expected * np.outer(scale, scale), **CLOSE)
