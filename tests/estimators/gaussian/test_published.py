"""Published figures, and public data that other implementations refuse."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from suffice import GaussianDiscriminant

FOLDER = os.environ.get("SUFFICE_DATA")
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(FOLDER is None, reason="SUFFICE_DATA does not name the folder of public data sets"),
]


def table(name, file="data", **options):
    return pd.read_csv(Path(FOLDER) / name / f"{file}.csv.gz", **options)


def rows_and_labels(frame, target=None):
    """The last column is the label, unless another is named."""
    target = frame.columns[-1] if target is None else target
    return frame.drop(columns=target).to_numpy(dtype=np.float64), frame[target].to_numpy()


def halves(name):
    X, y = rows_and_labels(table(name))
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.array_split(order, 2)
    return X[train], y[train], X[test], y[test]


@pytest.mark.parametrize("covariance, error", [("shared", 0.556), ("full", 0.528)])
def test_the_errors_published_for_vowel(covariance, error):
    train, y = rows_and_labels(table("vowel", "train"), "y")
    test, truth = rows_and_labels(table("vowel", "test"), "y")
    assert (len(train), len(test)) == (528, 462)
    model = GaussianDiscriminant(covariance).fit(train, y)
    assert 1 - model.score(test, truth) == pytest.approx(error, abs=1e-3)


def test_ring_needs_its_own_covariances():
    X, y, test, truth = halves("ring")
    assert GaussianDiscriminant("full").fit(X, y).score(test, truth) >= 0.97
    assert GaussianDiscriminant("shared").fit(X, y).score(test, truth) == pytest.approx(0.76, abs=0.02)


def test_twonorm_is_linear():
    X, y, test, truth = halves("twonorm")
    assert GaussianDiscriminant("shared").fit(X, y).score(test, truth) >= 0.97


@pytest.mark.parametrize(
    "name, accuracy",
    [("pendigits", 0.95), ("texture", 0.98)],
)
def test_they_fit_as_they_are(name, accuracy):
    X, y = rows_and_labels(table(name))
    model = GaussianDiscriminant("full").fit(X, y)
    log_posteriors = model.predict_log_proba(X)
    assert np.isfinite(log_posteriors).all()
    assert np.isfinite(model.log_likelihood_)
    assert np.mean(model.classes_[log_posteriors.argmax(axis=1)] == y) > accuracy


def test_covtype_fits_and_its_rare_indicators_call_for_a_shared_covariance():
    X, y = rows_and_labels(table("covtype", nrows=50_000))
    full = GaussianDiscriminant("full").fit(X, y)
    assert np.isfinite(full.predict_log_proba(X)).all()
    assert np.isfinite(full.log_likelihood_)
    singular = [entry for entry in full.regularized_ if "singular" in entry.reason]
    assert {entry.label for entry in singular} == set(full.classes_)
    assert GaussianDiscriminant("shared").fit(X, y).score(X, y) > 0.67
    assert GaussianDiscriminant("full", shrinkage=(0.1, 0.0)).fit(X, y).score(X, y) > 0.6


def test_more_genes_than_patients():
    X, y = rows_and_labels(table("khan2001"), "class")
    assert X.shape[1] > 20 * X.shape[0]
    model = GaussianDiscriminant("shared", shrinkage="oas").fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all()
    assert model.score(X, y) == 1.0
