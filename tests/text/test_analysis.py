"""The settings check themselves, compare and hash."""

import pytest

from suffice.text import Analysis


def test_equal_settings_are_equal_and_hash_alike():
    mine = Analysis(ngram_range=[1, 2], stop_words=["the", "a", "the"])
    theirs = Analysis(ngram_range=(1, 2), stop_words=("a", "the"))
    assert mine == theirs
    assert hash(mine) == hash(theirs)
    assert mine.stop_words == ("a", "the")
    assert mine != Analysis()


def test_english_stop_words_are_those_of_scikit_learn():
    assert {"the", "of"} < Analysis(stop_words="english").stop_set
    assert len(Analysis(stop_words="english").stop_set) == 318
    assert Analysis().stop_set == frozenset()


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"analyzer": "words"}, ValueError, "one of 'word', 'char_wb', 'char', not 'words'"),
        ({"ngram_range": (0, 1)}, ValueError, "1 ≤ a ≤ b"),
        ({"ngram_range": (2, 1)}, ValueError, "1 ≤ a ≤ b"),
        ({"ngram_range": 2}, TypeError, "two integers"),
        ({"ngram_range": (1, 2, 3)}, TypeError, "two integers"),
        ({"ngram_range": (1.0, 2)}, TypeError, "two integers"),
        ({"lowercase": 1}, TypeError, "lowercase must be True or False"),
        ({"strip_html": "yes"}, TypeError, "strip_html must be True or False"),
        ({"stop_words": "french"}, ValueError, "'english', a collection of words or None, not 'french'"),
        ({"stop_words": 3}, TypeError, "a collection of words"),
        ({"stop_words": ["a", 3]}, TypeError, "must be strings, but 3 is of type int"),
        ({"tokenizer": "split"}, TypeError, "callable"),
        ({"analyzer": "char", "stop_words": "english"}, ValueError, "stop_words needs analyzer='word'"),
        ({"analyzer": "char_wb", "tokenizer": str.split}, ValueError, "tokenizer needs analyzer='word'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        Analysis(**settings)
