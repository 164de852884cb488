"""A batch that one column refuses changes no column: not one sum, not one word."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier, TextClassifier, summarize
from suffice.families import Categorical, Histogram, Multinomial, MultivariateNormal, Normal, Words

TABLE = pd.DataFrame(
    {
        "note": ["one two", "two three", "four five six", "one six"],
        "other": ["alpha", "beta alpha", "gamma", None],
        "size": [1.0, 2.0, 4.0, 3.0],
        "price": [5.0, np.nan, 7.0, 6.5],
        "height": [0.5, 0.25, 2.0, 1.0],
        "width": [3.0, 2.5, 2.0, 4.0],
        "reds": [0.0, 2.0, 1.0, 0.0],
        "blues": [1.0, 1.0, 0.0, 3.0],
        "colour": ["red", "blue", "red", None],
    }
)
LABELS = np.array(["a", "a", "b", "b"])
FAMILIES = {
    "note": Words(),
    "other": Words(event="bernoulli"),
    "size": Normal(),
    "price": Histogram(),
    ("height", "width"): MultivariateNormal(),
    ("reds", "blues"): Multinomial(),
    "colour": Categorical(),
}
MORE = pd.DataFrame(
    {
        "note": ["seven eight", "one nine ten"],
        "other": ["delta", "alpha epsilon"],
        "size": [2.5, 9.0],
        "price": [100.0, 5.5],
        "height": [8.0, 0.75],
        "width": [np.nan, 2.0],
        "reds": [4.0, 5.0],
        "blues": [0.0, 6.0],
        "colour": ["green", "red"],
    }
)


def saved(model):
    file = BytesIO()
    model.save(file)
    return file.getvalue()


def refused_by_a_tokenizer(text):
    if "refuse" in text:
        raise ValueError("this document cannot be read")
    return text.split()


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "new"]], ids=["known classes", "a new class"])
@pytest.mark.parametrize("words_come", ["first", "last"])
@pytest.mark.parametrize("column", ["size", "price", "height", "width", "reds"])
def test_a_batch_that_one_column_refuses_changes_no_other(column, words_come, labels):
    names = list(TABLE) if words_come == "first" else list(TABLE)[::-1]
    families = dict(FAMILIES.items() if words_come == "first" else reversed(FAMILIES.items()))
    model = BayesClassifier(families).fit(TABLE[names], LABELS)
    before = saved(model)
    bad = MORE[names].copy()
    bad.loc[1, column] = -1.0 if column == "reds" else np.inf
    with pytest.raises(ValueError, match=column):
        model.partial_fit(bad, labels)
    assert saved(model) == before
    untouched = BayesClassifier(families).fit(TABLE[names], LABELS)
    assert saved(model.partial_fit(MORE[names], labels)) == saved(untouched.partial_fit(MORE[names], labels))


def test_a_batch_of_labels_that_do_not_go_with_the_others_adds_no_word():
    model = TextClassifier().fit(TABLE["note"], LABELS)
    before = saved(model)
    with pytest.raises(ValueError, match="mix text and numbers"):
        model.partial_fit(MORE["note"], [1, 2])
    assert saved(model) == before


def test_a_document_that_its_tokenizer_refuses_leaves_the_words_of_those_before_it_out():
    families = {"note": Words(), "other": Words(tokenizer=refused_by_a_tokenizer)}
    model = BayesClassifier(families).fit(TABLE[["note", "other"]], LABELS)
    before = model.statistics_
    with pytest.raises(ValueError, match="cannot be read"):
        model.partial_fit(MORE[["note", "other"]].assign(other=["new words", "refuse this"]), ["a", "b"])
    words = [column.vocabulary.terms() for totals in before.totals for column in totals.columns]
    after = [column.vocabulary.terms() for totals in model.statistics_.totals for column in totals.columns]
    assert after == words
    assert model.statistics_ == before


@pytest.mark.parametrize("deed", ["forget", "merge"])
def test_what_cannot_be_forgotten_or_merged_changes_nothing(deed):
    model = BayesClassifier(FAMILIES).fit(TABLE, LABELS)
    before = saved(model)
    if deed == "forget":
        refused = summarize(MORE, ["a", "b"], families=model.schema_)
    else:
        refused = -summarize(MORE, ["a", "b"], families=model.schema_)
    with pytest.raises(ValueError, match="cannot"):
        getattr(model, deed)(refused)
    assert saved(model) == before
    with pytest.raises(ValueError, match="infinite value"):
        model.forget(TABLE.assign(note="eleven twelve", size=np.inf), LABELS)
    assert saved(model) == before


def test_new_words_keep_the_order_in_which_they_come_whatever_was_refused_before():
    model = BayesClassifier(FAMILIES).fit(TABLE, LABELS)
    with pytest.raises(ValueError, match="infinite value"):
        model.partial_fit(MORE.iloc[::-1].assign(size=np.inf), ["b", "a"])
    model.partial_fit(MORE, ["a", "b"])
    words = next(t for t in model.statistics_.totals if t.family == FAMILIES["note"]).columns[0]
    assert " ".join(words.vocabulary.terms()) == "one two three four five six seven eight nine ten"
