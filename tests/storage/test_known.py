"""Families and functions of one's own, and what a file cannot hold."""

import io
from collections import UserList

import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier
from suffice.families import Normal, Words

from .conftest import loaded, saved


class Halves(Normal):
    """A family of one's own."""


def halves_of(document):
    return [document[: len(document) // 2], document[len(document) // 2 :]]


def test_a_family_of_ones_own_is_passed_to_load():
    packed = saved(BayesClassifier(Halves(alpha=2.0)).fit([[1.0], [2.0], [3.0]], [0, 0, 1]))
    with pytest.raises(suffice.SufficeFileError, match=r"'Halves'.*known=\[Halves\]"):
        loaded(packed)
    assert type(loaded(packed, known=[Halves]).schema_[0].family) is Halves


def test_a_family_that_takes_the_name_of_another_is_not_saved():
    mine = type("Poisson", (Halves,), {})
    model = BayesClassifier(mine()).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    with pytest.raises(ValueError, match="rename it"):
        saved(model)
    with pytest.raises(ValueError, match="rename it"):
        loaded(b"", known=[mine])


def test_a_tokenizer_is_passed_to_load():
    model = TextClassifier(tokenizer=halves_of).fit(["abab", "cdcd"], [0, 1])
    packed = saved(model)
    with pytest.raises(suffice.SufficeFileError, match=r"'halves_of'.*known=\[halves_of\]"):
        loaded(packed)
    twin = loaded(packed, known=[halves_of])
    assert twin.tokenizer is halves_of
    assert twin.predict_proba(["ab", "cd"]).tobytes() == model.predict_proba(["ab", "cd"]).tobytes()


def test_a_tokenizer_without_a_name_is_not_saved():
    model = TextClassifier(tokenizer=lambda text: text.split()).fit(["a b", "c d"], [0, 1])
    with pytest.raises(ValueError, match=r"holds no code.*def, save"):
        saved(model)


def test_what_is_neither_family_nor_function_is_not_known():
    with pytest.raises(TypeError, match="known="):
        loaded(b"", known=["Halves"])


def test_a_class_of_ones_own_is_not_saved():
    mine = type("Mine", (BayesClassifier,), {})
    with pytest.raises(TypeError, match="not a class of suffice"):
        saved(mine().fit([[1.0], [2.0]], [0, 1]))


def test_a_model_that_is_not_fitted_is_not_saved():
    for model in (BayesClassifier(), GaussianDiscriminant(), suffice.LogisticRegression()):
        with pytest.raises(NotFittedError):
            saved(model)


def test_settings_that_a_file_cannot_hold_are_refused_by_name():
    model = BayesClassifier(priors=UserList([0.5, 0.5])).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(TypeError, match=r"priors.*UserList"):
        saved(model)
    frame = pd.DataFrame({pd.Timestamp("2024-01-01"): [1.0, 2.0]})
    with pytest.raises(TypeError, match=r"names.*Timestamp"):
        saved(BayesClassifier().fit(frame, [0, 1]))


def test_statistics_of_words_take_the_tokenizer_along():
    X = pd.DataFrame({"note": ["abab", "cdcd"]})
    statistics = suffice.summarize(X, [0, 1], families={"note": Words(tokenizer=halves_of)})
    assert suffice.Statistics.load(io.BytesIO(saved(statistics)), known=[halves_of]) == statistics
