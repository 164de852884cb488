"""Whole numbers near and beyond 2⁵³: floats have few digits for them."""

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier


@pytest.mark.parametrize("start", [2**40, 2**52, 2**53 - 1000, 2**53])
def test_large_whole_numbers_are_not_counts_whose_likelihood_is_rounding(start):
    frame, y = pd.DataFrame({"a": np.arange(40) + start}), np.repeat([0, 1], 20)
    model = BayesClassifier().fit(frame, y)
    assert model.schema_["a"].family.name == "Normal"
    assert model.predict_proba(frame)[0, 0] > 0.99


def test_the_reason_says_that_digits_are_lost():
    frame, y = pd.DataFrame({"a": 2 * np.arange(40) + 2**60}), np.repeat([0, 1], 20)
    assert "lose digits beyond 2⁵³" in str(BayesClassifier().fit(frame, y).schema_)


def test_small_counts_may_still_be_poisson():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    frame = pd.DataFrame({"a": rng.poisson(np.where(y == 0, 60.0, 90.0))})
    assert BayesClassifier().fit(frame, y).schema_["a"].family.name == "Poisson"


def test_the_priors_of_a_model_cannot_be_written_to():
    given = np.array([0.5, 0.5])
    model = BayesClassifier("normal", priors=given).fit([[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="read-only"):
        model.priors_[:] = [0.9, 0.1]
    given[:] = [0.9, 0.1]  # the caller's own array may
    assert model.priors_.tolist() == [0.5, 0.5]
