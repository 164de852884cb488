"""Folds of few rows are summed, solved and scored at once, and say the same as one after the other."""

import numpy as np
import pandas as pd
import pytest

from suffice import EvidenceClassifier
from suffice.estimators.evidence import fitting, sample, sample_evidence


def a_table(n, n_classes=3):
    """Numbers with gaps, counts with many zeros, levels and flags."""
    rng = np.random.default_rng(11)
    y = rng.integers(0, n_classes, n)
    frame = pd.DataFrame(
        {
            "number": rng.normal(y, 1.0),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.gamma(2.0 + y)),
            "zeros": np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(0.3 * y)),
            "count": rng.poisson(3.0 + y),
            "level": rng.choice(["a", "b", "c"], n),
            "flag": rng.random(n) < 0.3 + 0.1 * y,
        }
    )
    return frame, y


def posteriors(X, y, weights=None):
    return EvidenceClassifier().fit(X, y, weights).predict_proba(X)


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("alone", [0, 1], ids=["all-classes", "a-class-in-one-fold"])
def test_folds_scored_at_once_say_what_each_says_by_itself(weighted, alone, monkeypatch):
    X, y = a_table(240)
    y[:alone] = 9  # behind the scores of its own fold there is no row of this class
    weights = np.random.default_rng(12).uniform(0.5, 2.0, len(y)) if weighted else None
    together = posteriors(X, y, weights)
    monkeypatch.setattr(sample_evidence, "SIDE_BY_SIDE", 0)
    np.testing.assert_allclose(posteriors(X, y, weights), together, rtol=0, atol=1e-12)


def test_sums_before_the_rows_are_part_of_what_folds_are_scored_by(monkeypatch):
    X, y = a_table(600)
    monkeypatch.setattr(fitting, "MOST_ROWS", 300)
    for name in ("MOST_ROWS", "FEWEST_TAKEN"):
        monkeypatch.setattr(sample, name, 300)
    together = posteriors(X, y)
    monkeypatch.setattr(sample_evidence, "SIDE_BY_SIDE", 0)
    np.testing.assert_allclose(posteriors(X, y), together, rtol=0, atol=1e-12)


def test_rows_that_the_sums_do_not_hold_cannot_be_subtracted():
    X, y = a_table(120)
    model = EvidenceClassifier().fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="never fitted"):
        model.reweigh(X, y)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_rows_without_some_class_of_the_sums_can_be_weighed(gone):
    X, y = a_table(300)
    model = EvidenceClassifier().fit(X, y)
    model.reweigh(X[y != gone], y[y != gone])
    posteriors = model.predict_proba(X)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)
