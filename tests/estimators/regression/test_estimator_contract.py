"""Both regressions keep scikit-learn's contract."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice.estimators.regression import LogisticRegression, ProbitRegression

BOTH = pytest.mark.parametrize("Regression", [LogisticRegression, ProbitRegression])


@parametrize_with_checks([LogisticRegression(), LogisticRegression(C=100.0), ProbitRegression()])
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@BOTH
def test_an_unfitted_model_says_so_and_has_no_fitted_attributes(Regression):
    with pytest.raises(NotFittedError, match="not fitted"):
        Regression().predict([[1.0]])
    for name in ("classes_", "coef_", "converged_", "standard_errors_", "log_likelihood_"):
        assert not hasattr(Regression(), name)


@BOTH
@pytest.mark.parametrize(
    "settings, match",
    [
        ({"C": 0.0}, "C must be"),
        ({"C": "1"}, "C must be"),
        ({"C": np.nan}, "C must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"tol": np.inf}, "tol must be"),
        ({"fit_intercept": "no"}, "fit_intercept must be"),
        ({"class_weight": "balancd"}, "class_weight must be"),
        ({"class_weight": {1: -1.0}}, "class_weight is -1.0 for class 1"),
        ({"class_weight": {1: 0.0}}, "class_weight is 0.0 for class 1.*drop its rows"),
        ({"class_weight": {0: np.nan}}, "class_weight is nan for class 0"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"standard_errors": "yes"}, "standard_errors must be"),
    ],
)
def test_a_senseless_setting_is_refused(Regression, settings, match):
    with pytest.raises(ValueError, match=match):
        Regression(**settings).fit([[0.0], [1.0], [0.5]], [0, 1, 1])


@BOTH
def test_a_failed_fit_leaves_the_model_as_it_was(Regression):
    X, y = load_iris(return_X_y=True)
    model = Regression().fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="one class"):
        model.fit(X[:50, :2], y[:50])
    assert np.array_equal(model.coef_, before)
    assert model.n_features_in_ == 4


@BOTH
def test_it_survives_copying_cloning_and_grid_search(Regression):
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(Regression(), {"C": [0.1, 10.0]}, cv=3, error_score="raise").fit(X, y)
    best = search.best_estimator_
    assert search.best_score_ > 0.9
    assert np.array_equal(copy.deepcopy(best).predict_proba(X), best.predict_proba(X))
    assert clone(best).get_params() == best.get_params()


@BOTH
def test_a_mistyped_keyword_is_named(Regression):
    with pytest.raises(TypeError, match=r"'maxiter'"):
        Regression(maxiter=5)


@BOTH
@pytest.mark.parametrize(
    "name, arguments", [("fit", {"X": [[1.0]]}), ("summary", {"wrong": 1}), ("fit_from", {}), ("save", {})]
)
def test_a_wrong_call_is_refused_by_the_name_of_the_method(Regression, name, arguments):
    with pytest.raises(TypeError, match=rf"\.{name}\(\)"):
        getattr(Regression(), name)(**arguments)
