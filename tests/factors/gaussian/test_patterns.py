"""Rows with gaps are scored by the marginals of their observed columns, many patterns at once."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import Covariance, multivariate_normal

from suffice import GaussianDiscriminant
from suffice.factors import solve
from suffice.factors.gaussian import patterns
from suffice.factors.gaussian.parameters import Gaussians
from suffice.factors.gaussian.scores import scores_at_once
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.scores import Scores
from suffice.families import MultivariateNormal
from suffice.kernels.cells import row_patterns
from suffice.links import log_softmax


def rows_of(n=300, d=4, apart=1.0):
    """Rows of three classes with gaps; in some, all cells are missing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + apart * y[:, np.newaxis]
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, y


@pytest.mark.parametrize("covariance", ["shared", "full"])
@pytest.mark.parametrize("apart", [1.0, 1e4], ids=["near", "far apart"])
@pytest.mark.parametrize("few, at_once", [(1 << 12, 1 << 20), (0, 1 << 20), (0, 20)])
def test_rows_with_gaps_are_scored_by_marginals(covariance, apart, few, at_once, monkeypatch):
    monkeypatch.setattr(patterns, "FEW_ROWS", few)
    monkeypatch.setattr(patterns, "NUMBERS_AT_ONCE", at_once)
    X, y = rows_of(apart=apart)
    model = GaussianDiscriminant(covariance, missing="pairwise").fit(X, y)
    means, covariances = model.means_, model.covariances_
    expected = np.zeros((len(X), 3))
    for i, row in enumerate(X):
        seen = np.flatnonzero(~np.isnan(row))
        for k in range(3) if len(seen) else ():
            part = covariances[k][np.ix_(seen, seen)]
            expected[i, k] = multivariate_normal.logpdf(row[seen], means[k][seen], part)
    found = model.predict_joint_log_proba(X) - np.log(model.priors_)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    log_p = expected + np.log(model.priors_)
    np.testing.assert_allclose(model.predict_log_proba(X), log_softmax(log_p), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("covariance", ["shared", "full", "groups"])
@pytest.mark.parametrize("alike", [1.0, 1e-3, 1e-6], ids=["apart", "alike", "nearly one"])
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.0, 1.0))
@example(4499, 9, 0.0)  # classes that share Σ are far apart along columns that are nearly alike
@settings(max_examples=15)
def test_rows_that_miss_few_or_most_columns_are_scored_by_marginals(covariance, alike, seed, d, often):
    rng = np.random.default_rng(seed)
    group = np.array({"shared": [0, 0, 0], "full": [0, 1, 2], "groups": [0, 1, 0]}[covariance])
    one = Gaussians(list("abcdefghi")[:d], np.arange(d), d)
    one.group, one.scale = group, 10.0 ** rng.integers(-3, 4, d)
    one.centre, one.shift = rng.normal(size=(3, d)) * one.scale, rng.normal(size=(3, d))
    roots = rng.normal(size=(group.max() + 1, d, 2 * d))
    roots[:, -1] = roots[:, 0] + alike * roots[:, -1]  # the last column nearly tells the first
    one.standard = roots @ roots.swapaxes(1, 2) / (2 * d)
    rows = rng.normal(size=(8, 2 * d)) @ roots[0].T * one.scale / np.sqrt(2 * d) + one.mean[0]
    rows[rng.random(rows.shape) < often] = np.nan
    expected = np.zeros((8, 3))
    for i, row in enumerate(rows):
        seen = np.flatnonzero(~np.isnan(row))
        for k, standard in enumerate(one.standard[group]) if len(seen) else ():
            part = Covariance.from_cholesky(np.linalg.cholesky(standard[np.ix_(seen, seen)]))
            z = (row - one.centre[k]) / one.scale - one.shift[k]
            log_p = multivariate_normal(np.zeros(len(seen)), part).logpdf(z[seen])
            expected[i, k] = log_p - np.log(one.scale[seen]).sum()
    (found,) = patterns.log_densities([one], [rows], whole=True)
    rtol = 1e-9 / alike
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
    (found,) = patterns.log_densities([one], [rows], whole=False)
    between = [each - each[:, :1] for each in (found, expected)]
    np.testing.assert_allclose(*between, rtol=rtol, atol=rtol * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("d", [1, 8, 63, 64, 65, 130])
def test_each_pattern_has_its_rows_in_their_order(d):
    rng = np.random.default_rng(d)
    kinds = rng.random((7, d)) < 0.5
    kinds[1] = kinds[0]
    kinds[1, -1] ^= True  # they differ in the last column alone
    of_row = rng.integers(0, 7, 90)
    found = {seen.tobytes(): rows.tolist() for seen, rows in row_patterns(kinds[of_row])}
    expected = {}
    for row, kind in enumerate(of_row):
        expected.setdefault(kinds[kind].tobytes(), []).append(row)
    assert found == expected


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_blocks_scored_at_once_have_the_scores_of_each(covariance):
    X, y = rows_of()
    labels, several = list("abcd"), []
    for first in range(3):
        totals = GaussianTotals.empty(MultivariateNormal(covariance, missing="pairwise"), 4)
        totals = totals.take_classes(np.full(3, -1))
        totals.prepare(X[first::2], labels, y[first::2], None, 3)(totals)
        several.append(solve(totals, labels, np.arange(3)))
    blocks = [X[:200], X[200:], X[50:60]]
    found = scores_at_once(several, blocks)
    for factor, block, one in zip(several, blocks, found, strict=True):
        alone = Scores(np.zeros((len(block), 3)))
        factor.add_scores(block, labels, alone, base=False)
        np.testing.assert_allclose(one, alone.finite, rtol=1e-10, atol=1e-10)
