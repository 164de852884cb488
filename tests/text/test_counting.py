"""The same ids and counts, however the documents are cut."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from suffice.kernels import threads
from suffice.text import (
    Analysis,
    Documents,
    Vocabulary,
    count,
    counting,
    read_documents,
    reference,
)
from suffice.text.compiled import driver

ANALYSES = [Analysis(), Analysis(ngram_range=(1, 2)), Analysis("char_wb", (2, 4)), Analysis("char", (1, 2))]
ARRAYS = ("starts", "terms", "counts", "unknown")


def assert_equal(found, expected):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert getattr(found, name).dtype == getattr(expected, name).dtype


@pytest.fixture(scope="module")
def texts():
    """Documents of random words, common and rare, of very different lengths."""
    random = np.random.default_rng(0)
    words = [f"w{chr(97 + i % 26)}{'é' * (i % 3)}{i}" for i in range(20_000)]
    return [" ".join(words[i] for i in (random.zipf(1.3, n) % 20_000)) for n in random.integers(0, 300, 2000)]


@pytest.mark.parametrize("analysis", ANALYSES)
def test_both_ways_of_counting_agree(analysis, documents_strategy):
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(documents_strategy, documents_strategy)
    def check(known, new):
        found = []
        for way in (driver, reference):
            vocabulary = Vocabulary()
            first = way.count_documents(read_documents(known), analysis, vocabulary, grow=True)
            second = way.count_documents(read_documents(new), analysis, vocabulary, grow=False)
            found.append((first, second, vocabulary.terms()))
        assert_equal(found[0][0], found[1][0])
        assert_equal(found[0][1], found[1][1])
        assert found[0][2] == found[1][2]

    check()


@pytest.mark.parametrize("analysis", ANALYSES)
def test_the_number_of_threads_changes_nothing(texts, analysis, monkeypatch):
    monkeypatch.setattr(counting, "PART_BYTES", 1000)
    documents = read_documents(texts[:300])
    expected_vocabulary = Vocabulary()
    expected = reference.count_documents(documents, analysis, expected_vocabulary, grow=True)
    for n in (1, 2, 7):
        threads.set_threads(n)
        vocabulary = Vocabulary()
        assert_equal(count(documents, analysis, vocabulary, grow=True), expected)
        assert vocabulary.terms() == expected_vocabulary.terms()
        assert_equal(count(documents, analysis, vocabulary, grow=False), expected)


def test_the_batches_change_nothing(texts):
    whole = Vocabulary()
    expected = count(read_documents(texts), Analysis(), whole, grow=True)
    batched = Vocabulary()
    cuts = [0, 1, 2, 2, 500, 501, 1999, 2000]
    parts = [
        count(read_documents(texts[first:last]), Analysis(), batched, grow=True)
        for first, last in pairwise(cuts)
    ]
    assert batched.terms() == whole.terms()
    np.testing.assert_array_equal(np.concatenate([part.terms for part in parts]), expected.terms)
    np.testing.assert_array_equal(np.concatenate([part.counts for part in parts]), expected.counts)


def test_known_and_unknown_tokens_add_up(texts):
    documents = read_documents(texts)
    vocabulary = Vocabulary()
    count(documents.part(0, 100), Analysis(), vocabulary, grow=True)
    n_known = len(vocabulary)
    found = count(documents, Analysis(), vocabulary, grow=False)
    tokens = np.add.reduceat(np.append(found.counts, 0), found.starts[:-1]) * (np.diff(found.starts) > 0)
    np.testing.assert_array_equal(tokens + found.unknown, [len(text.split()) for text in texts])
    assert found.unknown[:100].sum() == 0 < found.unknown.sum()
    assert len(vocabulary) == n_known


def test_the_kernels_ask_for_room_as_often_as_they_need_it(texts, monkeypatch):
    monkeypatch.setattr(driver, "BYTES_PER_ENTRY", 10**9)
    documents = read_documents(texts)
    small, large = Vocabulary(0), Vocabulary(1 << 16)
    assert_equal(
        driver.count_documents(documents, Analysis(), small, grow=True),
        driver.count_documents(documents, Analysis(), large, grow=True),
    )
    assert small.terms() == large.terms()


def test_documents_in_the_middle_of_a_buffer_are_counted_alone(count_documents):
    whole = read_documents(["aa ΣΑΣ &amp;", "bb <i>cc", "ΟΔΟΣ dd &lt;", "ee"])
    vocabulary = Vocabulary()
    counts = count_documents(whole.part(1, 3), Analysis(strip_html=True), vocabulary, grow=True)
    assert vocabulary.terms() == ["bb", "cc", "οδος", "dd"]
    assert counts.starts.tolist() == [0, 2, 4]


def test_a_million_empty_documents_are_quick():
    documents = Documents(np.empty(0, np.uint8), np.zeros(1_000_001, np.int64))
    counts = count(documents, Analysis(), Vocabulary(), grow=True)
    assert len(counts) == 1_000_000
    assert len(counts.terms) == 0


@pytest.mark.parametrize("text", ["ab" * 2_000_000, "ab cd ΟΔΟΣ " * 300_000])
def test_one_long_document_is_counted(text):
    vocabulary = Vocabulary()
    counts = count(read_documents([text, text]), Analysis(), vocabulary, grow=True)
    assert vocabulary.terms() == list(dict.fromkeys(text.lower().split()))
    assert counts.counts.sum() == 2 * len(text.split())


def test_a_missing_document_has_no_terms():
    counts = count(read_documents(["ab cd", None, "ab"]), Analysis(), Vocabulary(), grow=True)
    assert counts.starts.tolist() == [0, 2, 2, 3]


def test_a_tokenizer_gets_the_prepared_text_and_gives_the_words():
    vocabulary = Vocabulary()
    analysis = Analysis(tokenizer=str.split, ngram_range=(1, 2), stop_words=["b"], strip_html=True)
    count(read_documents(["A b<br/>C &amp; d"]), analysis, vocabulary, grow=True)
    assert vocabulary.terms() == ["a", "c", "&", "d", "a c", "c &", "& d"]


def test_a_tokenizer_that_returns_no_strings_leaves_the_vocabulary_alone():
    vocabulary = Vocabulary()
    analysis = Analysis(tokenizer=lambda text: text.split() if text == "fine" else [3])
    with pytest.raises(TypeError, match=r"document 1: the tokenizer returned 3 of type int"):
        count(read_documents(["fine", "not fine"]), analysis, vocabulary, grow=True)
    assert len(vocabulary) == 0


def test_short_texts_are_counted_without_numba():
    program = (
        "import sys; from suffice.text import *; v = Vocabulary();"
        "count(read_documents(['some words'] * 100), Analysis(ngram_range=(1, 2)), v, grow=True);"
        "assert v.terms() == ['some', 'words', 'some words'] and 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)  # noqa: S603 — our own program


def test_numba_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("SUFFICE_DISABLE_JIT", "0")
    assert counting.is_compiled(1 << 30, Vocabulary())
    monkeypatch.setenv("SUFFICE_DISABLE_JIT", "1")
    assert not counting.is_compiled(1 << 30, Vocabulary())
