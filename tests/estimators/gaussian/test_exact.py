"""Posteriors are those of exact arithmetic, at any offset, distance and scale."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from suffice import GaussianDiscriminant


def exact_posteriors(X, y, queries, covariance):
    """Posteriors of the stored floats: rational moments, then 60 digits."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    d = len(rows[0])
    labels = sorted(set(y.tolist()))
    members = {k: [row for row, label in zip(rows, y.tolist(), strict=True) if label == k] for k in labels}
    mean = {k: [sum(c) / len(m) for c in zip(*m, strict=True)] for k, m in members.items()}
    spread = {}
    for k, m in members.items():
        away = [[v - c for v, c in zip(row, mean[k], strict=True)] for row in m]
        spread[k] = [[sum(r[i] * r[j] for r in away) for j in range(d)] for i in range(d)]
    if covariance.startswith("shared"):
        total = [[sum(spread[k][i][j] for k in labels) / len(rows) for j in range(d)] for i in range(d)]
        spread = dict.fromkeys(labels, total)
    else:
        spread = {k: [[v / len(members[k]) for v in row] for row in spread[k]] for k in labels}
    if covariance.endswith("diagonal"):
        spread = {
            k: [[v if i == j else Fraction(0) for j, v in enumerate(row)] for i, row in enumerate(s)]
            for k, s in spread.items()
        }

    def real(value):
        return mpmath.mpf(value.numerator) / value.denominator

    result = []
    with mpmath.mp.workdps(60):
        matrices = {k: mpmath.matrix([[real(v) for v in row] for row in s]) for k, s in spread.items()}
        inverse = {k: s**-1 for k, s in matrices.items()}
        constant = {
            k: mpmath.log(mpmath.mpf(len(members[k])) / len(rows)) - mpmath.log(mpmath.det(matrices[k])) / 2
            for k in labels
        }
        for query in queries:
            scores = []
            for k in labels:
                z = mpmath.matrix([real(Fraction(float(v)) - c) for v, c in zip(query, mean[k], strict=True)])
                scores.append(constant[k] - (z.T * inverse[k] * z)[0] / 2)
            top = max(scores)
            weights = [mpmath.exp(s - top) for s in scores]
            result.append([float(w / sum(weights)) for w in weights])
    return np.array(result)


def close_classes(seed=0, n=40, d=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) + 2 * np.eye(d)) + y[:, np.newaxis]
    return X, y


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "shared_diagonal"])
@pytest.mark.parametrize(
    "offset, scale",
    [
        (1e9, [1.0, 1.0, 1.0]),
        (-1e9, [1.0, 1.0, 1.0]),
        (1e9, [1e-9, 1.0, 1e9]),
        (0.0, [1e-9, 1.0, 1e9]),
        (1.0, [1e-9, 1e9, 1e-9]),
    ],
    ids=str,
)
def test_posteriors_are_those_of_exact_arithmetic(covariance, offset, scale):
    X, y = close_classes()
    X = (X + offset) * scale
    queries = X[::4]
    expected = exact_posteriors(X, y, queries, covariance)
    model = GaussianDiscriminant(covariance).fit(X, y)
    assert model.regularized_ == []
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-6)
    parts = GaussianDiscriminant(covariance)
    for i in range(0, len(y), 5):
        parts.partial_fit(X[i : i + 5], y[i : i + 5])
    np.testing.assert_allclose(parts.predict_proba(queries), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_forgetting_at_an_offset_loses_nothing(covariance):
    X, y = close_classes(n=80)
    X = (X + 1e9) * [1e-9, 1.0, 1e9]
    model = GaussianDiscriminant(covariance).fit(X, y).forget(X[:40], y[:40])
    expected = exact_posteriors(X[40:], y[40:], X[::7], covariance)
    np.testing.assert_allclose(model.predict_proba(X[::7]), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_correlations_close_to_one(covariance):
    X, y = close_classes()
    X[:, 2] = X[:, 0] + 1e-4 * X[:, 2]
    model = GaussianDiscriminant(covariance).fit(X, y)
    assert model.regularized_ == []
    expected = exact_posteriors(X, y, X[::4], covariance)
    np.testing.assert_allclose(model.predict_proba(X[::4]), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_classes_far_apart(covariance):
    X, y = close_classes()
    X = X + 1e8 * y[:, np.newaxis]
    queries = np.vstack([X[::4], X[:2].mean(axis=0)])
    model = GaussianDiscriminant(covariance).fit(X, y)
    expected = exact_posteriors(X, y, queries, covariance)
    np.testing.assert_allclose(model.predict_proba(queries), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [1e150, 1e-150])
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_scales_whose_squares_have_no_float(covariance, size):
    X, y = close_classes()
    plain = GaussianDiscriminant(covariance).fit(X, y).predict_proba(X)
    scaled = GaussianDiscriminant(covariance).fit(X * size, y)
    np.testing.assert_allclose(scaled.predict_proba(X * size), plain, rtol=0, atol=1e-9)


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("noise", [1.0, 0.1, 0.01])
def test_an_offset_costs_correlated_columns_nothing(covariance, noise):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    common = rng.normal(size=200)
    X = np.column_stack([common + noise * y, common + noise * rng.normal(size=200)])
    X = np.round(X * 2**20) / 2**20
    far = X + 2.0**30
    assert np.array_equal(far - 2.0**30, X)
    plain = GaussianDiscriminant(covariance).fit(X, y).predict_proba(X)
    moved = GaussianDiscriminant(covariance).fit(far, y).predict_proba(far)
    np.testing.assert_allclose(moved, plain, rtol=0, atol=1e-6)
