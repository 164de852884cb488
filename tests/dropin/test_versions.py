"""The drop-ins follow the installed scikit-learn in precision, and in what its solver "svd" divides by."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse

from suffice import dropin

CASES = [
    ("GaussianNB", {}),
    ("MultinomialNB", {}),
    ("ComplementNB", {}),
    ("BernoulliNB", {}),
    ("CategoricalNB", {}),
    ("LinearDiscriminantAnalysis", {"solver": "svd", "store_covariance": True}),
    ("LinearDiscriminantAnalysis", {"solver": "lsqr"}),
    ("LinearDiscriminantAnalysis", {"solver": "eigen"}),
    ("QuadraticDiscriminantAnalysis", {"solver": "svd", "store_covariance": True}),
    ("QuadraticDiscriminantAnalysis", {"solver": "eigen", "store_covariance": True}),
    ("LogisticRegression", {}),
]


def learned(model):
    """The type of each fitted attribute; of the first one if there is a list for each class."""
    names = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    values = {name: getattr(model, name) for name in names}
    firsts = {name: value[0] if isinstance(value, list) else value for name, value in values.items()}
    return {name: value.dtype for name, value in firsts.items() if hasattr(value, "dtype")}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name, options", CASES, ids=str)
def test_attributes_have_the_precision_of_theirs(pair, name, options, n_classes, dtype):
    y = np.arange(90) % n_classes
    X = np.random.default_rng(0).poisson(3.0 + y[:, np.newaxis], (90, 3)).astype(dtype)
    both = pair(name, **options).fit(X, y)
    expected = learned(both.theirs)
    found = {name: getattr(both.ours, name) for name in expected}
    found = {name: value[0] if isinstance(value, list) else value for name, value in found.items()}
    assert {name: value.dtype for name, value in found.items()} == expected


def test_the_first_rows_decide_the_precision_in_any_container():
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    y = np.arange(60) % 2
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = dropin.GaussianNB().fit(frame, y)
    assert model.theta_.dtype == np.float32
    assert model.partial_fit(frame.astype(np.float64), y).theta_.dtype == np.float32
    assert dropin.GaussianNB().fit(frame.assign(b=np.arange(60)), y).theta_.dtype == np.float64
    assert dropin.LogisticRegression().fit(sparse.csr_array(X), y).coef_.dtype == np.float32


def test_float32_is_only_how_parameters_are_shown():
    X = (np.random.default_rng(0).normal(size=(60, 2)) + 1e3).astype(np.float32)
    y = np.arange(60) % 2
    for name in ("GaussianNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
        single, double = (getattr(dropin, name)().fit(rows, y) for rows in (X, X.astype(np.float64)))
        assert np.array_equal(single.predict_proba(X), double.predict_proba(X))
        assert np.array_equal(
            single.adapt_priors(X).priors_, double.adapt_priors(X).priors_.astype(single.priors_.dtype)
        )


DIVISORS = {"1.9.0": 1, "1.9.1": 0, "1.10.0": 0, "1.10.dev0": 0}
"""How many degrees of freedom a mean takes in solver="svd", by version."""


@pytest.mark.parametrize("version, ddof", DIVISORS.items())
def test_quadratic_covariances_are_divided_as_by_the_installed_version(iris, monkeypatch, version, ddof):
    monkeypatch.setattr(sklearn, "__version__", version)
    X, y = iris
    model = dropin.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    for k, covariance in enumerate(model.covariance_):
        np.testing.assert_allclose(covariance, np.cov(X[y == k].T, ddof=ddof), rtol=1e-9)
    other = dropin.QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(other.covariance_[0], np.cov(X[y == 0].T, ddof=0), rtol=1e-9)


@pytest.mark.parametrize("version, ddof", DIVISORS.items())
def test_linear_coefficients_are_divided_as_by_the_installed_version(iris, monkeypatch, version, ddof):
    monkeypatch.setattr(sklearn, "__version__", version)
    X, y = iris
    centred = X - np.stack([X[y == k].mean(axis=0) for k in range(3)])[y]
    within = centred.T @ centred / (len(y) - 3 * ddof)
    model = dropin.LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    slopes = np.linalg.solve(within, model.means_.T).T
    np.testing.assert_allclose(model.coef_ - model.coef_[0], slopes - slopes[0], rtol=1e-7)
    scaled = model.scalings_.T @ within @ model.scalings_
    np.testing.assert_allclose(scaled, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(model.covariance_, centred.T @ centred / len(y), rtol=1e-9)
    holed = X.copy()
    holed[:, 1] = np.nan
    kept = [0, 2, 3]
    smaller = dropin.LinearDiscriminantAnalysis().fit(X[:, kept], y)
    np.testing.assert_allclose(model.predict_proba(holed), smaller.predict_proba(X[:, kept]), atol=1e-9)


def test_an_older_version_needs_more_weight_than_means(iris, monkeypatch):
    monkeypatch.setattr(sklearn, "__version__", "1.9.0")
    X, y = iris
    for name in ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
        with pytest.raises(ValueError, match="leave no degrees of freedom"):
            getattr(dropin, name)().fit(X, y, sample_weight=np.full(len(y), 0.01))
