"""What cannot be read is refused with its position, and the model stays as it was."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from suffice import TextClassifier

TEXTS, LABELS = ["good film", "bad film", "good"], ["+", "-", "+"]

REFUSED = {
    "a single string": ("good film", TypeError, "single string"),
    "bytes": (b"good film", TypeError, r"single bytes object.*pass \[document.decode\(\)\]"),
    "bytes that are not UTF-8": (["ok", b"\xff\xfe"], ValueError, "document 1: not valid UTF-8 at byte 0"),
    "a number": (["ok", 3], TypeError, "document 1 is of type int"),
    "an object": (
        ["ok", object()],
        TypeError,
        "document 1 is of type object, not a string.*convert it with str",
    ),
    "a date": (["ok", date(2026, 1, 1)], TypeError, "document 1 is of type date, not a string"),
    "a long list": (["ok", list(range(10_000))], TypeError, "document 1 is of type list.{1,200}$"),
    "a NumPy time": (
        ["ok", np.datetime64("NaT", "ns")],
        TypeError,
        "document 1 is of type datetime64.*pass None",
    ),
    "not a time": (pd.NaT, TypeError, r"not a NaTType; pass \[None\] for one document"),
    "not a number": (float("nan"), TypeError, r"not a float; pass \[None\] for one document"),
    "a list": (["ok", ["nested"]], TypeError, "document 1 is of type list"),
    "an array of numbers": (np.arange(3), TypeError, "document 0 is of type int"),
    "a polars column of numbers": (pl.Series([1, 2]), TypeError, "documents must be strings"),
    "two dimensions": (np.array([["ok"], ["ok"]]), ValueError, "one-dimensional"),
    "a frame of two columns": (pd.DataFrame({"a": ["ok"], "b": ["ok"]}), ValueError, "in a single column"),
    "a generator": ((text for text in TEXTS), TypeError, r"pass list\(documents\)"),
    "a dict": ({"a": "ok"}, TypeError, "not a dict"),
    "None": (None, TypeError, r"not a NoneType; pass \[None\] for one document"),
    "one number": (3, TypeError, r"not a int; pass \[text\] for one document"),
}


@pytest.fixture
def model():
    return TextClassifier().fit(TEXTS, LABELS)


@pytest.mark.parametrize("name", REFUSED)
def test_documents_that_cannot_be_read_are_refused(name, model):
    X, error, message = REFUSED[name]
    before, p = model.statistics_, model.predict_proba(TEXTS)
    for deed in (
        lambda: model.predict(X),
        lambda: model.fit(X, ["+"] * 3),
        lambda: model.partial_fit(X, ["+"] * 3),
        lambda: model.forget(X, ["+"] * 3),
    ):
        with pytest.raises(error, match=message):
            deed()
    assert model.statistics_ == before
    assert np.array_equal(model.predict_proba(TEXTS), p)


@pytest.mark.parametrize("labels", [["+"], ["+"] * 4])
def test_labels_must_be_as_many_as_documents(model, labels):
    with pytest.raises(ValueError, match=f"3 rows, but y has {len(labels)} label"):
        model.fit(TEXTS, labels)


def test_there_must_be_documents_and_labels():
    with pytest.raises(ValueError, match="no documents"):
        TextClassifier().fit([], [])
    with pytest.raises(ValueError, match="requires y"):
        TextClassifier().fit(TEXTS, None)
    with pytest.raises(NotFittedError):
        TextClassifier().predict(TEXTS)
    with pytest.raises(NotFittedError):
        TextClassifier().top_words("+")


def test_no_documents_have_no_predictions(model):
    assert model.predict([]).shape == (0,)
    assert model.predict_proba([]).shape == (0, 2)


class Stumbling:
    """Splits at spaces, and fails at the word it is told."""

    def __init__(self, word):
        self.word = word

    def __call__(self, text):
        if self.word in text:
            raise LookupError(text)
        return text.split()


def test_a_failing_tokenizer_leaves_the_model_as_it_was():
    model = TextClassifier(tokenizer=Stumbling("stone")).fit(TEXTS, LABELS)
    before, p, words = model.statistics_, model.predict_proba(TEXTS), model.vocabulary_
    for deed in (model.fit, model.partial_fit, model.forget):
        with pytest.raises(LookupError, match="stone"):
            deed(["new words first", "a stone"], ["+", "!"])
    assert model.statistics_ == before
    assert model.vocabulary_ == words
    assert np.array_equal(model.predict_proba(TEXTS), p)
    model.partial_fit(["later"], ["+"])
    later = TextClassifier(tokenizer=model.tokenizer).fit([*TEXTS, "later"], [*LABELS, "+"])
    assert model.statistics_ == later.statistics_
    assert model.vocabulary_ == later.vocabulary_


@pytest.mark.parametrize(
    "given, error, message",
    [
        (None, TypeError, "document 1: the tokenizer returned None of type NoneType"),
        (3, TypeError, "document 1: the tokenizer returned 3 of type int"),
        ("abc", TypeError, "document 1: the tokenizer returned 'abc' of type str"),
        (["ok", 3], TypeError, "document 1: the tokenizer returned 3 of type int among its words"),
    ],
    ids=repr,
)
def test_what_a_tokenizer_returns_is_checked(given, error, message):
    model = TextClassifier(tokenizer=lambda text: text.split() if text == "fine" else given)
    with pytest.raises(error, match=message):
        model.fit(["fine", "not"], ["x", "y"])


@pytest.mark.parametrize(
    "document, message",
    [
        (None, r"NoneType; pass \[None\]"),
        (pd.NaT, r"NaTType; pass \[None\]"),
        (b"good", r"bytes object.*pass \[document.decode\(\)\]"),
        (3, r"int; pass \[text\]"),
        (["good", 3], "document 1 is of type int.*convert it with str"),
    ],
)
def test_one_document_that_is_no_string_is_refused_with_the_cure(document, message):
    model = TextClassifier().fit(TEXTS, LABELS)
    for ask in (model.explain, model.perplexity, lambda document: model.log_prob(document, "+")):
        with pytest.raises(TypeError, match=message):
            ask(document)


@pytest.mark.parametrize("nothing", [None, float("nan"), pd.NaT, pd.NA], ids=repr)
def test_what_stands_for_nothing_in_a_list_is_a_missing_document(nothing):
    model = TextClassifier().fit([*TEXTS, nothing], [*LABELS, "-"])
    np.testing.assert_allclose(model.predict_proba([nothing]), [model.priors_])
    assert model.log_prob(["good", nothing], "+")[1] == 0.0


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"event": "gaussian"}, ValueError, "event must be one of"),
        ({"tf": "idf"}, ValueError, "tf must be one of"),
        ({"length": "l1"}, ValueError, "length must be one of"),
        ({"alpha": -1}, ValueError, "alpha"),
        ({"idf": "yes"}, TypeError, "idf must be True or False"),
        ({"min_count": 0}, ValueError, "min_count must be a whole number"),
        ({"min_count": 0.5}, ValueError, "min_count must be a whole number"),
        ({"max_vocabulary": 0}, ValueError, "max_vocabulary must be a whole number"),
        ({"event": "bernoulli", "idf": True}, ValueError, "event='bernoulli' does not use"),
        ({"unseen": "skip"}, ValueError, "unseen"),
        ({"analyzer": "words"}, ValueError, "analyzer must be one of"),
        ({"ngram_range": (2, 1)}, ValueError, "ngram_range"),
        ({"stop_words": "german"}, ValueError, "stop_words"),
        ({"stop_words": [1, "a"]}, TypeError, "stop_words must be strings"),
        ({"tokenizer": "split"}, TypeError, "tokenizer must be callable"),
    ],
    ids=str,
)
def test_settings_are_checked_when_fitting(settings, error, message):
    model = TextClassifier(**settings)
    with pytest.raises(error, match=message):
        model.fit(TEXTS, LABELS)


def test_priors_are_refused_where_they_would_be_ignored():
    model = TextClassifier("complement", priors={"+": 0.9, "-": 0.1}).fit(["good", "bad"], ["+", "-"])
    with pytest.raises(ValueError, match="ignores priors"):
        model.predict(["good"])
