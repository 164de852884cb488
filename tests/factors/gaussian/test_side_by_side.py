"""Sums of the same columns are solved side by side, as folds are, and score rows as each does by itself."""

from dataclasses import replace

import numpy as np
import pytest

from suffice.factors.gaussian import solve
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.scores import Scores
from suffice.families import MultivariateNormal

LABELS = ["a", "b", "c", "d"]
CLASSES = np.arange(3)
FAMILIES = [MultivariateNormal(covariance, shrinkage="bayes") for covariance in ("shared", "full")]


def rows_of(n=200):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) * [1.0, 50.0, 1e-3, 1.0] + y[:, np.newaxis]
    return X, y


def with_gaps(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)


def constant_in_a_fold(X):
    return np.column_stack([X[:, :3], np.where(np.arange(len(X)) % 4 == 1, X[:, 3], 7.0)])


def collinear(X):
    return np.column_stack([X[:, :3], X[:, 0] + 1e-9 * X[:, 3]])


def folds_of(X, y, missing, n_folds=4):
    """The sums of all rows but those of each fold, and the families that solve them."""
    families = [replace(family, missing=missing) for family in FAMILIES]
    sums = []
    for fold in range(n_folds):
        some = np.arange(len(y)) % n_folds != fold
        totals = GaussianTotals.empty(families[0], 4).take_classes(np.full(3, -1))
        totals.prepare(X[some], LABELS, y[some], None, 3)(totals)
        sums.append(totals)
    return sums, families


def scores_of(solved, X):
    scores = Scores(np.zeros((len(X), 3)))
    solved.add_scores(X, LABELS, scores, base=True)
    return scores.joint()


@pytest.mark.parametrize("missing", ["em", "pairwise"])
@pytest.mark.parametrize("changed", [np.asarray, with_gaps, constant_in_a_fold, collinear])
def test_sums_solved_side_by_side_score_as_each_does_by_itself(changed, missing):
    X, y = rows_of()
    X = changed(X)
    sums, families = folds_of(X, y, missing)
    together = solve.solve_gaussians(sums, LABELS, CLASSES, families)
    for totals, several in zip(sums, together, strict=True):
        (alone,) = solve.solve_gaussians([totals], LABELS, CLASSES, families)
        for one, other in zip(several, alone, strict=True):
            np.testing.assert_allclose(scores_of(one, X), scores_of(other, X), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize(
    "changed, missing, at_once",
    [
        (np.asarray, "em", True),
        (with_gaps, "pairwise", True),
        (with_gaps, "em", False),
        (constant_in_a_fold, "em", False),
    ],
)
def test_only_sums_that_are_alike_are_solved_at_once(changed, missing, at_once, monkeypatch):
    X, y = rows_of()
    sums, families = folds_of(changed(X), y, missing)
    calls = []
    by_itself = solve._of_each_family
    monkeypatch.setattr(solve, "_of_each_family", lambda *given: calls.append(1) or by_itself(*given))
    solve.solve_gaussians(sums, LABELS, CLASSES, families)
    assert len(calls) == (0 if at_once else len(sums))
    monkeypatch.setattr(solve, "NUMBERS_AT_ONCE", 0)
    solve.solve_gaussians(sums, LABELS, CLASSES, families)
    assert len(calls) == len(sums) * (1 if at_once else 2)
