"""Fewer rows than columns: covariances without full rank are found, and kept, without their eigenvalues."""

import numpy as np
import pytest

from suffice.factors.gaussian import moments, regular


@pytest.fixture
def few_rows(monkeypatch):
    """The covariance of 20 rows of 60 columns, where eigenvalues are not to be had."""

    def refuse(*_, **__):
        raise AssertionError("eigenvalues take many times longer.")

    monkeypatch.setattr(regular.linalg, "eigvalsh", refuse)
    monkeypatch.setattr(moments.np.linalg, "eigh", refuse)
    X = np.random.default_rng(0).normal(size=(20, 60))
    return X.T @ X / 20


def test_it_has_no_full_rank(few_rows):
    assert not regular.has_full_rank(few_rows)
    assert regular.has_full_rank(few_rows + 0.1 * np.eye(60))


def test_it_is_its_own_nearest_covariance(few_rows):
    assert moments.nearest_covariance(few_rows) is few_rows


def test_negative_eigenvalues_are_taken_away_and_the_diagonal_stays():
    matrix = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    mended = moments.nearest_covariance(matrix)
    assert np.linalg.eigvalsh(mended)[0] > -1e-12
    np.testing.assert_allclose(np.diag(mended), np.diag(matrix))


@pytest.mark.parametrize("is_mended", [False, True])
def test_columns_that_do_not_vary_leave_the_others_as_they_are(is_mended):
    matrix = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]) if is_mended else np.eye(3)
    wider = np.zeros((5, 5))
    wider[np.ix_([0, 2, 3], [0, 2, 3])] = matrix
    expected = np.zeros((5, 5))
    expected[np.ix_([0, 2, 3], [0, 2, 3])] = moments.nearest_covariance(matrix)
    np.testing.assert_array_equal(moments.nearest_covariance(wider), expected)
    np.testing.assert_array_equal(moments.nearest_covariance(np.zeros((2, 2))), np.zeros((2, 2)))
