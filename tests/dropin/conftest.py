"""Pairs of estimators of one name, theirs and ours, and how closely they must agree."""

import inspect

import numpy as np
import pytest
from sklearn import datasets, discriminant_analysis, linear_model, naive_bayes

from suffice import dropin

THEIRS = {
    name: getattr(home, name)
    for home in (naive_bayes, discriminant_analysis, linear_model)
    for name in dropin.__all__
    if hasattr(home, name)
}
SETS = {"iris": datasets.load_iris, "wine": datasets.load_wine, "breast_cancer": datasets.load_breast_cancer}


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: a mark in scikit-learn's tests, of no effect here")


def close(ours, theirs, what, tolerance=1e-8):
    """Arrays, or lists of them, agree relative to their entries and to a thousandth of the largest."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            close(one, other, what, tolerance)
        return
    theirs = np.asarray(theirs)
    size = np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0) if theirs.dtype.kind == "f" else 0.0
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=1e-3 * tolerance * size, err_msg=what)


class Pair:
    """The two estimators of one name, with the same settings."""

    def __init__(self, name, **settings):
        self.ours = getattr(dropin, name)(**settings)
        self.theirs = THEIRS[name](**settings)

    def fit(self, X, y, **options):
        self.ours.fit(X, y, **options)
        self.theirs.fit(X, y, **options)
        return self

    def agree(self, X, *, attributes=(), methods=(), tolerance=1e-8):
        for name in attributes:
            close(getattr(self.ours, name), getattr(self.theirs, name), name, tolerance)
        for name in methods:
            close(getattr(self.ours, name)(X), getattr(self.theirs, name)(X), name, tolerance)
        ranked = np.sort(self.theirs.predict_proba(X), axis=1)
        clear = ranked[:, -1] - ranked[:, -2] > 1e-12  # equal posteriors are decided by rounding
        assert np.array_equal(self.ours.predict(X)[clear], self.theirs.predict(X)[clear])
        assert np.array_equal(self.ours.classes_, self.theirs.classes_)


@pytest.fixture(scope="session")
def pair():
    """Make a pair by name and settings."""
    return Pair


@pytest.fixture(scope="session")
def theirs():
    """scikit-learn's estimators, by name."""
    return THEIRS


@pytest.fixture(scope="session")
def parameters():
    """The name, kind and default of each argument of a constructor, in order."""

    def read(estimator):
        arguments = inspect.signature(estimator.__init__).parameters.values()
        return [(a.name, a.kind, a.default) for a in arguments]

    return read


@pytest.fixture(scope="session", params=SETS)
def measured(request):
    """Rows of measurements and their labels."""
    return SETS[request.param](return_X_y=True)


@pytest.fixture
def iris():
    """Rows of irises and their labels."""
    return datasets.load_iris(return_X_y=True)
