"""Every fitted attribute and posterior of the discriminants is scikit-learn's, for each of its solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import discriminant_analysis

from suffice import dropin

SCORES = ("predict_proba", "predict_log_proba", "decision_function")
LINEAR = ("coef_", "intercept_", "means_", "priors_")


def priors_of(y):
    shares = np.arange(1.0, len(np.unique(y)) + 1)
    return shares / shares.sum()


def linear(pair, X, y, **options):
    both = pair("LinearDiscriminantAnalysis", **options).fit(X, y)
    both.agree(X, attributes=LINEAR, methods=SCORES)
    return both


@pytest.mark.parametrize("given_priors", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"solver": "svd"},
        {"solver": "lsqr"},
        {"solver": "lsqr", "shrinkage": 0.3},
        {"solver": "lsqr", "shrinkage": "auto"},
        {"solver": "eigen"},
        {"solver": "eigen", "shrinkage": 0.1},
        {"solver": "eigen", "shrinkage": "auto"},
    ],
    ids=str,
)
def test_linear_scores_agree(pair, measured, options, given_priors):
    X, y = measured
    both = linear(pair, X, y, **options, priors=priors_of(y) if given_priors else None)
    n_directions = min(len(np.unique(y)) - 1, X.shape[1])
    if options["solver"] != "lsqr":
        both.agree(X, attributes=("explained_variance_ratio_",))
        ours, theirs = both.ours.scalings_[:, :n_directions], both.theirs.scalings_[:, :n_directions]
        signs = np.sign(np.sum(ours * theirs, axis=0))
        np.testing.assert_allclose(ours * signs, theirs, rtol=1e-6, atol=1e-8 * np.abs(theirs).max())
        np.testing.assert_allclose(
            both.ours.transform(X) * signs, both.theirs.transform(X), rtol=1e-6, atol=1e-6
        )
    if options["solver"] == "svd":
        both.agree(X, attributes=("xbar_",))
    else:
        both.agree(X, attributes=("covariance_",))


@pytest.mark.parametrize("given_priors", [False, True])
def test_a_stored_covariance_agrees(pair, measured, given_priors):
    X, y = measured
    priors = priors_of(y) if given_priors else None
    both = pair("LinearDiscriminantAnalysis", store_covariance=True, priors=priors).fit(X, y)
    both.agree(X, attributes=("covariance_",))


@pytest.mark.parametrize("columns", ["repeated", "constant", "constant within classes"])
def test_directions_without_variance_are_left_out_as_theirs_are(pair, iris, columns):
    X, y = iris
    extra = {"repeated": X[:, 0], "constant": np.ones(len(y)), "constant within classes": y.astype(float)}
    linear(pair, np.column_stack([X, extra[columns]]), y)


def test_more_columns_than_rows_agree(pair):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 8)
    linear(pair, rng.normal(y[:, np.newaxis], 1.0, (24, 40)), y)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from(["svd", "lsqr", "eigen"]))
@settings(max_examples=60, deadline=None)
def test_linear_posteriors_agree_on_random_rows(seed, n_classes, solver):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, 40)])
    X = rng.normal(y[:, np.newaxis], 1.0, (len(y), 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=3) * 10
    ours = dropin.LinearDiscriminantAnalysis(solver).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


def test_fewer_components_are_the_first_ones(pair, iris):
    X, y = iris
    both = pair("LinearDiscriminantAnalysis", n_components=1).fit(X, y)
    assert both.ours.transform(X).shape == (150, 1)
    np.testing.assert_allclose(np.abs(both.ours.transform(X)), np.abs(both.theirs.transform(X)), rtol=1e-8)
    assert both.ours.get_feature_names_out().tolist() == both.theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize("given_priors", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"reg_param": 0.0},
        {"reg_param": 0.1},
        {"solver": "eigen", "shrinkage": 0.2},
        {"solver": "eigen", "shrinkage": "auto"},
    ],
    ids=str,
)
def test_quadratic_scores_agree(pair, measured, options, given_priors):
    X, y = measured
    if X.shape[1] == 30:
        X = (X - X.mean(axis=0)) / X.std(axis=0)  # as measured, some classes have no full rank
    priors = priors_of(y) if given_priors else None
    options = options | {"priors": priors, "store_covariance": True, "tol": 1e-8}
    both = pair("QuadraticDiscriminantAnalysis", **options).fit(X, y)
    both.agree(X, attributes=("means_", "priors_", "scalings_", "covariance_"), methods=SCORES)
    for ours, theirs in zip(both.ours.rotations_, both.theirs.rotations_, strict=True):
        np.testing.assert_allclose(np.abs(np.sum(ours * theirs, axis=0)), 1.0, atol=1e-6)


def test_a_constant_column_is_regularised_as_theirs_is(pair, iris):
    X, y = iris
    X = np.column_stack([X, np.ones(len(y))])
    both = pair("QuadraticDiscriminantAnalysis", reg_param=0.2).fit(X, y)
    X[:, -1] += 0.5
    both.agree(X, attributes=("means_", "scalings_"), methods=SCORES)


def test_weights_count_rows_as_often():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(y[:, np.newaxis], 1.0, (60, 3))
    weights = rng.integers(1, 4, 60)
    for name in ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
        ours = getattr(dropin, name)().fit(X, y, sample_weight=weights)
        theirs = getattr(discriminant_analysis, name)().fit(np.repeat(X, weights, 0), np.repeat(y, weights))
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_a_row_scores_the_same_beside_rows_with_gaps(solver):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    y = np.arange(300) % 3
    model = dropin.LinearDiscriminantAnalysis(solver=solver).fit(X + y[:, np.newaxis], y)
    holed = X.copy()
    holed[::7, 1] = np.nan
    whole = ~np.isnan(holed).any(axis=1)
    together = model.decision_function(holed)
    np.testing.assert_allclose(together[whole], model.decision_function(X)[whole], rtol=1e-12, atol=1e-12)
    alone = np.vstack([model.decision_function(row[np.newaxis]) for row in holed])
    np.testing.assert_allclose(together, alone, rtol=1e-10, atol=1e-12)


def test_fewer_rows_than_columns_take_no_eigenvalues_of_all_columns(pair, monkeypatch):
    monkeypatch.setattr("suffice.dropin.linear_scores.linalg.eigh", None)
    X, y = np.random.default_rng(0).normal(size=(24, 60)), np.arange(24) % 3
    X[:, 7] = 1.0
    both = linear(pair, X, y)
    ours, theirs = both.ours.transform(X), both.theirs.transform(X)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-8, atol=1e-10)
