"""Terms are placed where they stand in the text."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.text import Analysis, Documents, Vocabulary, count, place_terms, read_documents

ANALYSES = [
    Analysis(),
    Analysis(ngram_range=(1, 3), stop_words=("of", "the")),
    Analysis(analyzer="char", ngram_range=(1, 3)),
    Analysis(analyzer="char_wb", ngram_range=(2, 4)),
    Analysis(strip_html=True, ngram_range=(1, 2)),
    Analysis(analyzer="char", strip_html=True, lowercase=False),
    Analysis(tokenizer=str.split, ngram_range=(1, 2)),
]
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(
        st.sampled_from(
            ["the", "İI", "ΟΔΟΣ", "<b>", "</b", "&eacute;", "&amp", "&#65;", ">", "Ab", "  ", "x"]
        ),
        max_size=12,
    ).map("".join),
)


def counted(text, analysis):
    vocabulary = Vocabulary()
    counts = count(read_documents([text]), analysis, vocabulary, grow=True)
    words = vocabulary.words_of(counts.terms)
    return Counter(dict(zip(words, counts.counts.tolist(), strict=True)))


@settings(deadline=None, max_examples=100)
@given(text=TEXTS, analysis=st.sampled_from(ANALYSES))
def test_the_terms_are_those_that_are_counted(text, analysis):
    assert Counter(term for term, _ in place_terms(text, analysis)) == counted(text, analysis)


@settings(deadline=None, max_examples=100)
@given(text=TEXTS, analysis=st.sampled_from(ANALYSES[:4]))
def test_what_stands_at_the_places_of_a_term_is_the_term(text, analysis):
    for term, spans in place_terms(text, analysis):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        found = "".join(text[start:end] for start, end in dict.fromkeys(spans)).lower()
        assert "".join(found.split()) == "".join(term.split()) or "İ" in text or "Σ" in text


@pytest.mark.parametrize(
    "text, expected",
    [
        ("<b film>film", [("film", "film")]),
        ("caf&eacute; au", [("café", "caf&eacute;"), ("au", "au")]),
        ("a &lt;film&gt;", [("film", "film")]),
    ],
)
def test_tags_are_passed_over_and_entities_are_whole(text, expected):
    placed = place_terms(text, Analysis(strip_html=True))
    assert [(term, "".join(text[slice(*span)] for span in spans)) for term, spans in placed] == expected


def test_words_a_tokenizer_makes_up_have_no_place():
    placed = list(place_terms("one two", Analysis(tokenizer=lambda _: ["two", "made up", "one"])))
    assert placed == [("two", [(4, 7)]), ("made up", []), ("one", [])]


def test_documents_remember_where_they_stood():
    documents = read_documents(["aa", "bb", "cc", "dd", "ee"])
    assert isinstance(documents, Documents)
    assert documents.part(2, 5).number(1) == 3
    assert documents.part(1, 5).part(1, 4).number(2) == 4
    assert documents.part(1, 5).take(np.array([0, 3])).part(1, 2).number(0) == 4
