"""The same optimum as scikit-learn, the same inference as statsmodels."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression as Theirs

from suffice.estimators.regression import LogisticRegression, ProbitRegression

api = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")


def exact(X, y, **settings):
    """scikit-learn's optimum, which its lbfgs misses by more than 1e-6 where columns differ in scale."""
    return Theirs(solver="newton-cholesky", tol=1e-10, max_iter=1000, **settings).fit(X, y)


def assert_same(ours, theirs):
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-6)
    # Softmax leaves a constant in the intercepts free; ours sum to 0.
    free = theirs.intercept_.mean() if len(theirs.intercept_) > 1 else 0.0
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_ - free, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_published_tables(load):
    X, y = load(return_X_y=True)
    assert_same(LogisticRegression().fit(X, y), exact(X, y))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("settings", [{}, {"C": 0.01}, {"C": 100.0}, {"fit_intercept": False}], ids=str)
def test_drawn_tables(drawn, k, settings):
    X, y = drawn(600, 4, k)
    assert_same(LogisticRegression(**settings).fit(X, y), exact(X, y, **settings))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 1: 0.5}])
def test_class_weights(drawn, k, class_weight):
    X, y = drawn(500, 3, k)
    ours = LogisticRegression(class_weight=class_weight).fit(X, y)
    assert_same(ours, exact(X, y, class_weight=class_weight))


def test_lbfgs_where_it_converges():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(800, 5))
    y = (X @ rng.normal(size=(5, 3)) + rng.gumbel(size=(800, 3))).argmax(axis=1)
    theirs = Theirs(solver="lbfgs", tol=1e-10, max_iter=10_000).fit(X, y)
    assert_same(LogisticRegression().fit(X, y), theirs)


@pytest.mark.parametrize(
    "ours, theirs", [(LogisticRegression, "Logit"), (ProbitRegression, "Probit")], ids=["logit", "probit"]
)
@pytest.mark.parametrize("intercept", [True, False])
def test_statsmodels_with_two_classes(drawn, ours, theirs, intercept):
    X, y = drawn(400, 3, 2)
    Z = np.column_stack([X, np.ones(400)]) if intercept else X
    reference = getattr(api, theirs)(y, Z).fit(disp=0, method="newton", tol=1e-12)
    model = ours(C=np.inf, fit_intercept=intercept).fit(X, y)
    summary = model.summary()
    np.testing.assert_allclose(summary.estimate, reference.params, rtol=1e-6)
    np.testing.assert_allclose(summary.standard_error, reference.bse, rtol=1e-6)
    np.testing.assert_allclose(summary.z, reference.tvalues, rtol=1e-6)
    np.testing.assert_allclose(summary.p, reference.pvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(np.column_stack([summary.low, summary.high]), reference.conf_int(), atol=1e-6)
    assert model.log_likelihood_ == pytest.approx(reference.llf, rel=1e-10)
    assert model.aic_ == pytest.approx(reference.aic, rel=1e-10)
    assert model.bic_ == pytest.approx(reference.bic, rel=1e-10)
    shown = dict(summary.heading)
    assert float(shown["without columns"]) == pytest.approx(reference.llnull, abs=1e-4)
    assert float(shown["McFadden's R²"]) == pytest.approx(reference.prsquared, abs=1e-4)


@pytest.mark.parametrize("k", [3, 5])
def test_statsmodels_with_more_classes(drawn, k):
    X, y = drawn(900, 3, k)
    reference = api.MNLogit(y, np.column_stack([X, np.ones(900)])).fit(disp=0, method="newton", tol=1e-12)
    model = LogisticRegression(C=np.inf).fit(X, y)
    summary = model.summary()
    np.testing.assert_allclose(summary.estimate.reshape(k - 1, 4).T, reference.params, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(summary.standard_error.reshape(k - 1, 4).T, reference.bse, rtol=1e-6)
    assert model.log_likelihood_ == pytest.approx(reference.llf, rel=1e-10)
    assert model.aic_ == pytest.approx(reference.aic, rel=1e-10)
    assert model.bic_ == pytest.approx(reference.bic, rel=1e-10)


def test_the_reference_class_may_be_chosen(drawn):
    X, y = drawn(900, 3, 3)
    other = (y + 1) % 3  # class 2 becomes the first, which is statsmodels' reference
    reference = api.MNLogit(other, np.column_stack([X, np.ones(900)])).fit(disp=0, method="newton", tol=1e-12)
    summary = LogisticRegression(C=np.inf).fit(X, y).summary(reference=2)
    assert summary.equation[0] == "0 against 2"
    np.testing.assert_allclose(summary.estimate.reshape(2, 4).T, reference.params, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(summary.standard_error.reshape(2, 4).T, reference.bse, rtol=1e-6)
