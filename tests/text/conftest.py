"""Texts, and three ways to count them."""

import itertools
import os
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from suffice.kernels import threads
from suffice.text import Vocabulary, reference
from suffice.text.analysis import Analysis
from suffice.text.compiled import driver
from suffice.text.documents import read_documents

FOLDER = os.environ.get("SUFFICE_DATA")

HARD = (
    "Ab aB_c 12 1 _ __ a\0b \0 x İstanbul ΣΊΣΥΦΟΣ ΟΔΟΣ Σ σς e\u0301té Straße ŉ ǅ Ⱥⱥ ﬁn K Å ٣٤ ०१ "
    "中文字 語 한국어 𝔘𝔫𝔦 𐐀𐐨 😀😀 👩\u200d👩\u200d👧 \u00a0\u2003\u2028\u0085\x1c\x1f  \t\r\n\u3000 "
    "don't co-operate <br /> a&amp;b \ufeff \U0010ffff"
)


@pytest.fixture(scope="session")
def hard():
    """Characters on which a tokeniser may stumble."""
    return HARD


@pytest.fixture(scope="session")
def documents_strategy():
    """Documents with characters of every plane, and whole words that repeat."""
    anything = st.characters(codec="utf-8")
    stumbling = st.sampled_from(sorted(set(HARD)))
    words = st.sampled_from(HARD.split(" "))
    text = st.lists(st.one_of(anything, stumbling, words, st.just(" ")), max_size=30).map("".join)
    return st.lists(text, max_size=6)


@pytest.fixture(params=["python", "compiled"])
def count_documents(request):
    """Counting as it is done for short texts, and for long ones."""
    return {"python": reference, "compiled": driver}[request.param].count_documents


@pytest.fixture(scope="session")
def rows_of():
    """The rows of counts, each as its terms and their counts in order."""

    def rows(counts, vocabulary):
        names = vocabulary.terms()
        pairs = [(names[i], n) for i, n in zip(counts.terms.tolist(), counts.counts.tolist(), strict=True)]
        starts = counts.starts.tolist()
        return [pairs[start:end] for start, end in itertools.pairwise(starts)]

    return rows


@pytest.fixture(scope="session")
def check_against_scikit_learn(rows_of):
    """Whether a way of counting finds the terms of CountVectorizer, in their order, and as often."""

    def check(count_documents, texts, **settings):
        vocabulary = Vocabulary()
        counts = count_documents(read_documents(texts), Analysis(**settings), vocabulary, grow=True)
        analyze = CountVectorizer(**settings).build_analyzer()
        expected = [Counter(analyze(text)) for text in texts]
        assert vocabulary.terms() == list(dict.fromkeys(itertools.chain.from_iterable(expected)))
        assert rows_of(counts, vocabulary) == [list(row.items()) for row in expected]
        assert not counts.unknown.any()

    return check


@pytest.fixture(scope="session")
def public_texts():
    """The texts of a public data set, by name of its file."""

    def read(name):
        if FOLDER is None:
            pytest.skip("SUFFICE_DATA does not name the folder of public data sets")
        return pd.read_csv(Path(FOLDER) / name)["text"].tolist()

    return read


@pytest.fixture(autouse=True)
def _default_threads_afterwards():
    yield
    threads.set_threads(None)
