"""A Gaussian that forgets rows is the one fitted without them, also where classes are singular."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice import GaussianDiscriminant, summarize
from suffice.dropin import LinearDiscriminantAnalysis

RUNGS = [
    "full",
    "shared",
    "diagonal",
    "shared_diagonal",
    "isotropic",
    "shared_isotropic",
    [[0, 2], [1]],
]
SHRINKAGES = [None, 0.0, 0.3, "oas", (0.3, 0.2), (0.0, 0.2), (0.5, 0.0), (1.0, 0.1)]


def constant_columns(X, y):
    X[y == 0, ::3] = 1.5


def constant_in_every_class(X, y):
    X[:, 0] = np.array([0.1, 0.7, -1.3])[y]


def constant_everywhere(X, _):
    X[:, 0] = 0.1


def collinear_in_a_class(X, y):
    X[y == 0, -1] = X[y == 0, 0] + X[y == 0, 1]


def collinear_everywhere(X, _):
    X[:, -1] = X[:, 0] - 2.0 * X[:, 1]


def regular(X, y):
    """Left as it is."""


KINDS = [
    constant_columns,
    constant_in_every_class,
    constant_everywhere,
    collinear_in_a_class,
    collinear_everywhere,
    regular,
]


def after_the_rest(model, X, y, more, labels):
    return model.fit(X, y).partial_fit(more, labels).forget(more, labels)


def before_the_rest(model, X, y, more, labels):
    return model.partial_fit(more, labels).partial_fit(X, y).forget(more, labels)


def in_batches(model, X, y, more, labels):
    model.fit(np.vstack([more, X]), np.r_[labels, y])
    for start in range(0, len(more), 7):
        model.forget(more[start : start + 7], labels[start : start + 7])
    return model


def as_statistics(model, X, y, more, labels):
    family = model._chosen_families()
    kept, gone = (summarize(rows, of, families=family) for rows, of in ((X, y), (more, labels)))
    return model.fit_statistics((gone + kept) - gone)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.tuples(*[st.integers(2, 14)] * 3),
    d=st.integers(3, 9),
    gone=st.integers(1, 60),
    offset=st.sampled_from([0.0, 1.0, 20.0, 300.0]),
    kind=st.sampled_from(KINDS),
    covariance=st.sampled_from(RUNGS),
    shrinkage=st.sampled_from(SHRINKAGES),
    way=st.sampled_from([after_the_rest, before_the_rest, in_batches, as_statistics]),
)
@example(4, (12, 2, 13), 9, 8, 300.0, constant_columns, "full", None, after_the_rest)  # barely varies
def test_a_model_that_forgot_rows_is_the_one_fitted_without_them(
    seed, rows, d, gone, offset, kind, covariance, shrinkage, way
):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], rows)
    X = rng.normal(size=(len(y), d)) + y[:, np.newaxis]
    kind(X, y)
    more, labels = rng.normal(size=(gone, d)) + offset, rng.integers(0, 3, gone)
    model = GaussianDiscriminant(covariance, shrinkage=shrinkage)
    asked = np.vstack([X, rng.normal(size=(20, d))])
    expected = model.fit(X, y).predict_proba(asked)
    forgetful = way(GaussianDiscriminant(covariance, shrinkage=shrinkage), X, y, more, labels)
    np.testing.assert_allclose(forgetful.predict_proba(asked), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_ledoit_and_wolf_forget_too(kind, covariance):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [9, 12, 15])
    X = rng.normal(size=(36, 9))
    kind(X, y)
    more, labels = rng.normal(size=(50, 9)) + 5.0, rng.integers(0, 3, 50)
    expected = GaussianDiscriminant(covariance, shrinkage="ledoit_wolf").fit(X, y)
    forgetful = GaussianDiscriminant(covariance, shrinkage="ledoit_wolf").fit(X, y)
    forgetful.partial_fit(more, labels).forget(more, labels)
    np.testing.assert_allclose(forgetful.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_a_class_with_constant_columns_is_regularised_as_in_a_fit(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [9, 25])
    X = rng.normal(size=(34, 9))
    X[np.ix_(y == 0, [0, 4, 8])] = 1.5
    more, labels = rng.normal(size=(50, 9)) + 3.0, rng.integers(0, 2, 50)
    expected = GaussianDiscriminant("full").fit(X, y)
    forgetful = GaussianDiscriminant("full").fit(X, y).partial_fit(more, labels).forget(more, labels)
    np.testing.assert_allclose(forgetful.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-11)
    np.testing.assert_allclose(forgetful.covariances_, expected.covariances_, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("rows_left", [1, 4])
@pytest.mark.parametrize("covariance", RUNGS[:6])
def test_a_column_left_constant_by_forgetting_is_left_out(covariance, rows_left):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], rows_left)
    X = rng.normal(size=(len(y), 3))
    X[:, 1] = 0.1
    more, labels = rng.normal(size=(60, 3)) * 100.0, rng.integers(0, 3, 60)
    model = GaussianDiscriminant(covariance).fit(more, labels).partial_fit(X, y).forget(more, labels)
    assert model._gaussian().active.tolist() == [0, 2]


@pytest.mark.parametrize("offset", [1.0, 1e3, 1e5])
def test_a_column_that_only_tells_classes_apart_still_does_after_forgetting(offset):
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 10)
    X = np.column_stack([1e-2 * y, rng.normal(size=20)])
    more, labels = rng.normal(size=(40, 2)) + offset, rng.integers(0, 2, 40)
    model = GaussianDiscriminant().fit(X, y).partial_fit(more, labels).forget(more, labels)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("settings", [{}, {"solver": "lsqr", "shrinkage": 0.3}, {"solver": "eigen"}], ids=str)
def test_scikit_learns_discriminant_forgets_too(settings):
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], [9, 12, 15])
    X = rng.normal(size=(36, 5)) + y[:, np.newaxis]
    X[y == 0, 2] = 0.5
    more, labels = rng.normal(size=(50, 5)) + 30.0, rng.integers(0, 3, 50)
    asked = X.copy()
    asked[::2, 1] = np.nan  # scored by the Gaussians themselves
    expected = LinearDiscriminantAnalysis(**settings).fit(X, y)
    forgetful = LinearDiscriminantAnalysis(**settings).fit(X, y).partial_fit(more, labels)
    forgetful.forget(more, labels)
    np.testing.assert_allclose(
        forgetful.predict_proba(asked), expected.predict_proba(asked), rtol=0, atol=1e-8
    )
