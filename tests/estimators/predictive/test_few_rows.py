"""Predictive scores of few rows of many columns, whose covariance is otherwise kept as rows."""

import numpy as np
import pytest

import suffice
from suffice import GaussianDiscriminant


@pytest.mark.parametrize("covariance", ["shared", "full"])
def test_few_rows_have_the_predictive_scores_of_the_matrices(covariance, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 260)), np.repeat(["a", "b"], 12)
    settings = {"shrinkage": 0.5, "posterior": "predictive"}
    whole = GaussianDiscriminant(covariance, **settings).fit(X, y)
    parts = GaussianDiscriminant(covariance, **settings)
    for rows in (slice(0, 24, 2), slice(1, 24, 2)):
        parts.partial_fit(X[rows], y[rows])
    new = rng.normal(size=(5, 260))
    new[0, :7] = np.nan
    np.testing.assert_allclose(
        whole.predict_joint_log_proba(new), parts.predict_joint_log_proba(new), rtol=1e-8
    )
    whole.save(tmp_path / "few.suffice")
    again = suffice.load(tmp_path / "few.suffice")
    np.testing.assert_array_equal(again.predict_joint_log_proba(new), whole.predict_joint_log_proba(new))
