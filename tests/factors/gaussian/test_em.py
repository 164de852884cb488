"""EM over the gaps: the maximum that plain steps lead to, in few of them, whatever the order of the rows."""

import numpy as np
import pytest

from suffice import GaussianDiscriminant
from suffice.factors.gaussian import em


def gappy(seed, n, d, gaps):
    """Correlated rows: one gap in each, or (a number) so many cells missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ (rng.normal(size=(d, d)) + np.eye(d))
    if gaps == "each":
        X[np.arange(n), rng.integers(d, size=n)] = np.nan
    else:
        X[rng.random(X.shape) < gaps] = np.nan
    return X


@pytest.fixture
def steps(monkeypatch):
    """A list that grows with every step."""
    made, step = [], em.Group.step

    def counted(group, start):
        made.append(step(group, start))
        return made[-1]

    monkeypatch.setattr(em.Group, "step", counted)
    return made


def plain_em(X, tolerance=1e-13, most=4000):
    """Textbook EM of one Gaussian, from the moments of each column alone."""
    mean, covariance = np.nanmean(X, axis=0), np.diag(np.nanvar(X, axis=0))
    patterns = np.unique(np.isnan(X), axis=0)
    members = [(np.isnan(X) == gaps).all(axis=1) for gaps in patterns]
    for _ in range(most):
        filled, left_over = X.copy(), np.zeros_like(covariance)
        for gaps, rows in zip(patterns, members, strict=True):
            slope = np.linalg.solve(covariance[np.ix_(~gaps, ~gaps)], covariance[np.ix_(~gaps, gaps)])
            filled[np.ix_(rows, gaps)] = mean[gaps] + (X[np.ix_(rows, ~gaps)] - mean[~gaps]) @ slope
            left = covariance[np.ix_(gaps, gaps)] - covariance[np.ix_(gaps, ~gaps)] @ slope
            left_over[np.ix_(gaps, gaps)] += rows.sum() * left
        before, mean = covariance, filled.mean(axis=0)
        covariance = (left_over + (filled - mean).T @ (filled - mean)) / len(X)
        if np.abs(covariance - before).max() < tolerance:
            return mean, covariance
    raise AssertionError("plain EM has not settled")


@pytest.mark.parametrize("seed, n, d, gaps", [(0, 30, 2, 0.3), (1, 40, 3, 0.2), (3, 80, 3, "each")])
def test_the_answer_is_that_of_plain_steps(steps, seed, n, d, gaps):
    X = gappy(seed, n, d, gaps)
    X = X[~np.isnan(X).all(axis=1)]
    mean, covariance = plain_em(X)
    model = GaussianDiscriminant("full").fit(X, np.zeros(len(X), dtype=int))
    assert model.regularized_ == []
    np.testing.assert_allclose(model.means_[0], mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.covariances_[0], covariance, rtol=0, atol=1e-8 * covariance.max())
    assert len(steps) < 200


@pytest.mark.parametrize("seed, n, d, most", [(7, 8, 3, 400), (3, 10, 4, 200)])
def test_a_covariance_that_thins_without_end_is_found_out_in_few_steps(steps, seed, n, d, most):
    X, y = gappy(seed, n, d, "each"), np.zeros(n, dtype=int)
    model = GaussianDiscriminant("full").fit(X, y)
    assert np.isfinite(model.log_likelihood_)
    assert ["singular" in entry.reason for entry in model.regularized_] == [True]
    assert len(steps) < most
    turned = GaussianDiscriminant("full").fit(X[::-1], y)
    np.testing.assert_allclose(turned.covariances_, model.covariances_, rtol=1e-6)


def test_a_covariance_singular_from_the_start_is_the_same_in_any_batches():
    gap = np.nan
    X = np.array([[-10.0, gap], [-10.0, gap], [-9.875, -10.0], [gap, gap], [-10.0, gap], [gap, -9.875]])
    y = np.array(["a", "a", "b", "a", "b", "b"])
    whole, parts = GaussianDiscriminant("full").fit(X, y), GaussianDiscriminant("full")
    for i in range(len(X)):
        parts.partial_fit(X[[i]], y[[i]])
    assert [entry.label for entry in whole.regularized_ if "singular" in entry.reason] == ["a", "b"]
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-9)


def test_a_thin_covariance_that_ends_is_none_that_loses_rank():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 2] = X[:, 0] + 1e-3 * X[:, 2]
    X[np.arange(0, 60, 3), 1] = np.nan
    X[np.arange(1, 60, 6), 2] = np.nan
    model = GaussianDiscriminant("full").fit(X, np.zeros(60, dtype=int))
    assert model.regularized_ == []
    np.testing.assert_allclose(model.covariances_[0], plain_em(X)[1], rtol=0, atol=1e-7)


@pytest.mark.parametrize("covariance", ["full", "shared", "isotropic"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_what_is_climbed_never_falls_from_look_to_look(monkeypatch, covariance, ddof):
    kept, settled = [], em.has_settled

    def noted(step, extrapolation):
        kept.append(step.log_likelihood)
        return settled(step, extrapolation)

    monkeypatch.setattr(em, "has_settled", noted)
    X = gappy(5, 60, 4, 0.4)
    GaussianDiscriminant(covariance, ddof=ddof).fit(X, np.zeros(60, dtype=int)).predict(X)
    kept = [value for value in kept if np.isfinite(value)]
    assert len(kept) > 1
    assert np.diff(kept).min() > -1e-9


def test_a_column_constant_in_a_class_does_not_hold_up_the_climb(steps):
    X = gappy(1, 40, 3, 0.2)
    alone = GaussianDiscriminant("full").fit(X, np.zeros(40, dtype=int))
    assert alone.regularized_ == []
    made = len(steps)
    y = np.repeat([0, 1], 40)
    both = np.column_stack([np.vstack([X, X]), np.where(y == 0, 3.0, np.arange(80.0))])
    model = GaussianDiscriminant("full").fit(both, y)
    np.testing.assert_allclose(model.means_[0, :3], alone.means_[0], rtol=1e-7)
    assert model.means_[0, 3] == 3.0
    assert len(steps) < 6 * made


def test_a_step_factors_the_covariance_once_for_all_classes_that_lack_the_same_columns(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 4)) + y[:, np.newaxis]
    X[::3, 1] = np.nan
    calls = {"root": 0, "step": 0}
    root_of, step = em.root_of, em.Group.step

    def counted_root(covariance):
        calls["root"] += 1
        return root_of(covariance)

    def counted_step(self, start):
        before = calls["root"]
        taken = step(self, start)
        calls["step"] = max(calls["step"], calls["root"] - before)
        return taken

    monkeypatch.setattr(em, "root_of", counted_root)
    monkeypatch.setattr(em.Group, "step", counted_step)
    model = GaussianDiscriminant("shared").fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert calls["step"] == 2  # one for each pattern of gaps: pseudo-observations are complete rows
