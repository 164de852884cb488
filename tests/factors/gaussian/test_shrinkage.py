"""Ledoit and Wolf's shrinkage is one function of a matrix, its distance to a target, and fourth powers."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage

from suffice.factors.gaussian.shrinkage import ledoit_wolf_share


@pytest.mark.parametrize("n, d", [(8, 5), (60, 4), (500, 3)])
def test_toward_a_multiple_of_the_identity_it_is_that_of_scikit_learn(n, d):
    X = np.random.default_rng(n).normal(size=(n, d)) @ np.diag(np.arange(1.0, d + 1))
    X -= X.mean(axis=0)
    matrix = X.T @ X / n
    target = np.trace(matrix) / d * np.eye(d)
    fourth = float(np.sum(np.sum(X**2, axis=1) ** 2))
    share = ledoit_wolf_share(
        float(np.vdot(matrix, matrix)), float(np.sum((matrix - target) ** 2)), fourth, n
    )
    assert share == pytest.approx(ledoit_wolf_shrinkage(X, assume_centered=True), rel=1e-10)


def test_a_matrix_that_is_its_target_is_not_shrunk():
    assert ledoit_wolf_share(3.0, 0.0, 100.0, 10) == 0.0
