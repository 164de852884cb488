"""Columns whose cells are of another type than those in training."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffice import BayesClassifier
from suffice.families import Bernoulli, Categorical

Y = np.array(["a", "b"] * 30)
NUMBERS = np.where(Y == "a", [1, 2, 2] * 20, [7, 7, 1] * 20)
FLAGS = np.where(Y == "a", [True, True, False] * 20, [False, True, False] * 20)


def fitted(cells, family=None):
    return BayesClassifier({"x": family or Categorical()}).fit({"x": cells}, Y)


def posteriors(model, cells):
    return model.predict_proba({"x": np.array(cells, dtype=object)})


@pytest.mark.parametrize("cells", [["1", "2", "7"], ["1.0", "2.00", " 7 "], [1.0, 2.0, 7.0], ["1", 2, 7.0]])
def test_text_that_reads_like_a_number_is_that_level(cells):
    model = fitted(NUMBERS)
    np.testing.assert_array_equal(posteriors(model, cells), posteriors(model, [1, 2, 7]))


@pytest.mark.parametrize("cells", [[1, 2, 7], [1.0, 2.0, 7.0]])
@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, dict])
def test_a_number_is_the_level_whose_text_reads_like_it(cells, container):
    model = fitted(NUMBERS.astype(str))
    assert model.parameters_["x"]["levels"] == ["1", "2", "7"]
    found = model.predict_proba(container({"x": cells}))
    np.testing.assert_array_equal(found, posteriors(model, ["1", "2", "7"]))


@pytest.mark.parametrize("words", [("true", "false"), ("yes", "no"), ("True", "False"), (" YES", "No")])
def test_flags_and_words_for_them_are_one_level(words):
    yes, no = words
    model = fitted(np.where(FLAGS, yes, no))
    np.testing.assert_array_equal(posteriors(model, [True, False]), posteriors(model, [yes, no]))
    model = fitted(FLAGS)
    np.testing.assert_array_equal(posteriors(model, [yes, no]), posteriors(model, [True, False]))
    model = fitted(FLAGS, Bernoulli())
    np.testing.assert_array_equal(posteriors(model, [yes, no, "?"]), posteriors(model, [True, False, None]))


def test_levels_that_read_alike_twice_are_not_matched():
    model = fitted(np.where(NUMBERS == 7, "1.0", NUMBERS.astype(str)))
    with pytest.warns(UserWarning, match="column 'x': 1 of 1 cells were never seen in training, such as 1 "):
        np.testing.assert_array_equal(posteriors(model, [1]), posteriors(model, [None]))


def test_levels_of_the_same_type_are_compared_letter_for_letter():
    model = fitted(NUMBERS.astype(str))
    np.testing.assert_array_equal(posteriors(model, ["1.0"]), posteriors(model, [None]))
    model = fitted(np.where(FLAGS, "yes", "no"))
    np.testing.assert_array_equal(posteriors(model, ["Yes"]), posteriors(model, [None]))


def test_numbers_that_arrive_as_text_are_numbers():
    model = BayesClassifier().fit({"x": np.linspace(0.1, 3.7, 60)}, Y)
    np.testing.assert_array_equal(posteriors(model, ["1.5", "?", "2"]), posteriors(model, [1.5, None, 2.0]))
    with pytest.raises(ValueError, match="column 'x' must hold numbers, but holds the text 'two'"):
        posteriors(model, ["1.5", "two"])


def test_a_batch_of_text_adds_to_numbers():
    numbers = np.arange(60) / 8.0
    whole = BayesClassifier().fit({"x": numbers}, Y)
    batches = BayesClassifier().partial_fit({"x": numbers[:30]}, Y[:30])
    batches.partial_fit({"x": numbers[30:].astype(str)}, Y[30:])
    assert batches.statistics_.isclose(whole.statistics_)


def test_most_cells_of_another_type_are_reported_once():
    model = fitted(np.where(Y == "a", "red", "green"))
    said = (
        r"column 'x': 3 of 4 cells were never seen in training, such as 5 \(a number\); training had levels "
        r"such as 'green' \(text\)\. Check that the column holds what it held in training\."
    )
    with pytest.warns(UserWarning, match=said) as caught:
        posteriors(model, [5, 6, 7, "red", None])
    assert len(caught) == 1


def test_one_warning_counts_a_long_table():
    model = fitted(np.where(Y == "a", "red", "green"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(pd.DataFrame({"x": np.where(np.arange(200_000) % 4 > 0, "Red", "red")}))
    assert [str(one.message).partition(",000 cells")[0] for one in caught] == ["column 'x': 150,000 of 200"]


@pytest.mark.parametrize("cells", [["blue"], ["blue"] * 9, ["blue", "red"] * 20, ["blue"] + ["red"] * 3])
def test_a_few_new_levels_of_the_same_type_are_not_reported(cells):
    model = fitted(np.where(Y == "a", "red", "green"))
    assert np.isfinite(posteriors(model, cells)).all()


def test_an_unseen_level_that_reads_like_none_is_still_an_error_where_that_was_chosen():
    model = fitted(NUMBERS, Categorical(unseen="error"))
    np.testing.assert_array_equal(posteriors(model, ["1"]), posteriors(model, [1]))
    with pytest.raises(ValueError, match="the level '3'"):
        posteriors(model, ["3"])


def test_explanations_and_novelty_match_levels_too():
    model = fitted(NUMBERS)
    text, numbers = ({"x": np.array(cells, dtype=object)} for cells in (["1", "7"], [1, 7]))
    np.testing.assert_array_equal(model.explain(text).contributions, model.explain(numbers).contributions)
    np.testing.assert_array_equal(model.novelty(text), model.novelty(numbers))


def test_more_new_levels_than_expected_are_no_surprise_if_they_may_be_chance():
    times = [1] * 24 + [2] * 18  # 24 of 60 cells are expected to be new
    training = [f"level {i}" for i, n in enumerate(times) for _ in range(n)]
    model, known = fitted(training), training[:12]
    assert np.isfinite(posteriors(model, [*known, *(f"new {i}" for i in range(18))])).all()
    with pytest.warns(UserWarning, match="column 'x': 40 of 52 cells were never seen in training"):
        posteriors(model, [*known, *(f"new {i}" for i in range(40))])


def test_new_levels_are_no_surprise_where_most_were_seen_once():
    names = [f"user {i}" for i in range(60)]
    model = fitted(names)
    assert np.isfinite(posteriors(model, [f"guest {i}" for i in range(60)])).all()
    with pytest.warns(
        UserWarning, match=r"such as 0 \(a number\); training had levels such as 'user 0' \(text"
    ):
        posteriors(model, list(range(60)))
