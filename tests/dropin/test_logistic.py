"""Coefficients and posteriors of logistic regression are those of scikit-learn's optimum."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model

from suffice import dropin

ATTRIBUTES, METHODS = ("coef_", "intercept_"), ("predict_proba", "decision_function")
EXACT = {"tol": 1e-12, "max_iter": 10_000, "solver": "newton-cg"}


@pytest.mark.parametrize(
    "options",
    [{}, {"C": 0.05}, {"class_weight": "balanced"}, {"fit_intercept": False}, {"class_weight": {0: 3.0}}],
    ids=str,
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_optimum_agrees(pair, measured, options, container):
    X, y = measured
    X = container((X - X.mean(axis=0)) / X.std(axis=0))
    both = pair("LogisticRegression", **options, **EXACT)
    both.fit(X, y, sample_weight=np.random.default_rng(0).uniform(0.5, 2.0, len(y)))
    both.agree(X, attributes=ATTRIBUTES, methods=METHODS, tolerance=1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky", "sag", "saga"])
def test_every_solver_finds_the_same_optimum(iris, solver):
    X, y = iris
    model = dropin.LogisticRegression(solver=solver).fit(X, y)
    exact = linear_model.LogisticRegression(**EXACT).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6, atol=1e-9)


def test_liblinear_without_an_intercept_agrees(pair, iris):
    X, y = iris
    both = pair("LogisticRegression", solver="liblinear", fit_intercept=False, tol=1e-10).fit(
        X[:100], y[:100]
    )
    both.agree(X[:100], attributes=ATTRIBUTES, methods=METHODS, tolerance=1e-5)


def test_no_penalty_agrees(pair):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(0.5 * y[:, np.newaxis], 1.0, (300, 4))
    both = pair("LogisticRegression", C=np.inf, **EXACT).fit(X, y)
    both.agree(X, methods=("predict_proba",), tolerance=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"penalty": "l2"}, {"penalty": None}, {"l1_ratio": None}, {"n_jobs": 2}],
    ids=str,
)
def test_what_is_deprecated_there_is_deprecated_here(theirs, options):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(0.5 * y[:, np.newaxis], 1.0, (200, 2))
    for estimator in (dropin.LogisticRegression, theirs["LogisticRegression"]):
        with pytest.warns(FutureWarning, match="deprecated|no effect"):
            estimator(**options).fit(X, y)


@pytest.mark.parametrize("options", [{"l1_ratio": 1.0}, {"l1_ratio": 0.5}, {"dual": True}], ids=str)
def test_what_a_solver_lacks_is_refused_as_there(theirs, iris, options):
    for estimator in (dropin.LogisticRegression, theirs["LogisticRegression"]):
        with pytest.raises(ValueError, match="supports only"):
            estimator(**options).fit(*iris)


@pytest.mark.parametrize(
    "options",
    [{"solver": "saga", "l1_ratio": 1.0}, {"solver": "saga", "l1_ratio": 0.5}, {"solver": "liblinear"}],
)
def test_what_is_not_here_names_the_class_that_has_it(iris, options):
    X, y = iris
    with pytest.raises(NotImplementedError, match=r"sklearn\.linear_model\.LogisticRegression"):
        dropin.LogisticRegression(**options).fit(X[:100], y[:100])


def test_names_of_columns_come_and_go(iris):
    pandas = pytest.importorskip("pandas")
    X, y = iris
    model = dropin.LogisticRegression().fit(pandas.DataFrame(X, columns=list("abcd")), y)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert not hasattr(model.fit(X, y), "feature_names_in_")
