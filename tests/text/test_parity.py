"""The terms and counts of scikit-learn's CountVectorizer, on any text."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from suffice.text import Analysis, Vocabulary, count, read_documents
from suffice.text.characters import ASCII, NEEDS_CONTEXT, UNICODE, WORD, code_point_table

SETTINGS = {
    "words": {},
    "words as they are": {"lowercase": False},
    "words and pairs": {"ngram_range": (1, 2)},
    "pairs and triples": {"ngram_range": (2, 3)},
    "no stop words": {"stop_words": "english", "ngram_range": (1, 2)},
    "other stop words": {"stop_words": ["ab", "οδος", "don", "中文字"], "ngram_range": (1, 3)},
    "characters in words": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "many characters in words": {"analyzer": "char_wb", "ngram_range": (1, 7), "lowercase": False},
    "characters": {"analyzer": "char", "ngram_range": (1, 3)},
    "three characters": {"analyzer": "char", "ngram_range": (3, 3), "lowercase": False},
}
anyway = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("setting", SETTINGS)
def test_hard_characters_are_counted_alike(setting, count_documents, check_against_scikit_learn, hard):
    texts = [hard, "", *hard.split(" "), hard.upper(), hard * 20, "".join(reversed(hard))]
    check_against_scikit_learn(count_documents, texts, **SETTINGS[setting])


@pytest.mark.parametrize("setting", SETTINGS)
def test_any_text_is_counted_alike(setting, count_documents, check_against_scikit_learn, documents_strategy):
    @anyway
    @given(documents_strategy)
    def check(texts):
        check_against_scikit_learn(count_documents, texts, **SETTINGS[setting])

    check()


def test_every_code_point_is_counted_alike(count_documents, check_against_scikit_learn):
    points = [chr(point) for point in range(UNICODE) if not 0xD800 <= point < 0xE000]
    texts = [
        "".join(f"x{one}y{one}" for one in points[start : start + 5000])
        for start in range(0, len(points), 5000)
    ]
    check_against_scikit_learn(count_documents, texts)


def test_only_known_characters_need_their_neighbours_to_be_lowered():
    odd = [
        character
        for character in map(chr, range(UNICODE))
        if len(character.lower()) != 1
        or f"a{character}".lower()[1:] != character.lower()
        or character.lower().lower() != character.lower()
    ]
    assert "".join(odd) == NEEDS_CONTEXT


def test_the_table_of_ascii_begins_the_table_of_unicode():
    np.testing.assert_array_equal(
        code_point_table(lowercase=True, size=ASCII), code_point_table(lowercase=True, size=UNICODE)[:ASCII]
    )
    assert not code_point_table(lowercase=False, size=UNICODE)[0xD800:0xE000].any()
    assert (code_point_table(lowercase=True, size=UNICODE) & WORD > 0).sum() > 100_000


MARKS = st.one_of(
    st.text("<>/ab&;lt!?=\"'- \n", max_size=60),
    st.lists(
        st.sampled_from(
            [
                *("<!--", "-->", "--", "<!", "<?", "</", "<", ">", "/>", "<a ", "</b>", "<br>", "İ", "词语"),
                *(
                    "<script>",
                    "<SCRIPT ",
                    "</script>",
                    "</Script",
                    "<style/",
                    "</style ",
                    "<styles>",
                    "ſtyle",
                ),
                *('="', "='", "= ", '"', "'", "one ", "two ", "&lt;", "&#66;", "&#x", "\x0b", "\n"),
            ]
        ),
        max_size=25,
    ).map("".join),
)


@anyway
@given(st.text(st.characters(codec="utf-8")), MARKS)
def test_html_is_stripped_alike_by_both_ways(rows_of, text, marks):
    from suffice.text import reference
    from suffice.text.compiled import driver

    documents = read_documents([marks, text + marks, "", marks + text, "<a", ">b", marks])
    for analyzer in ("word", "char", "char_wb"):
        analysis = Analysis(analyzer, (1, 2), strip_html=True)
        found = []
        for way in (driver, reference):
            vocabulary = Vocabulary()
            found.append(rows_of(way.count_documents(documents, analysis, vocabulary, grow=True), vocabulary))
        assert found[0] == found[1]


def test_tags_become_spaces_and_entities_characters(count_documents):
    texts = [
        "one<br />two &amp; AT&amp;T <b class='x>three</b>&Eacute;t&eacute; 1 < 2 > 1, I <3 you",
        "&lt;br&gt;",
    ]
    vocabulary = Vocabulary()
    count_documents(read_documents(texts), Analysis(strip_html=True), vocabulary, grow=True)
    assert vocabulary.terms() == ["one", "two", "at", "three", "été", "you", "br"]


@pytest.mark.data
@pytest.mark.parametrize("setting", ["words", "words and pairs", "no stop words", "characters in words"])
@pytest.mark.parametrize(
    "name, step", [("sms_spam/data.csv.gz", 4), ("newsgroups20/test.csv.gz", 40), ("imdb/test.csv.gz", 80)]
)
def test_public_texts_give_the_matrix_of_scikit_learn(public_texts, name, step, setting):
    texts = public_texts(name)
    known, new = texts[::step], texts[1 :: 2 * step]
    theirs = CountVectorizer(**SETTINGS[setting])
    expected = theirs.fit_transform(known)
    vocabulary = Vocabulary()
    analysis = Analysis(**SETTINGS[setting])
    counts = count(read_documents(known), analysis, vocabulary, grow=True)
    order = vocabulary.sorted_order()
    assert vocabulary.take(order).terms() == theirs.get_feature_names_out().tolist()
    column = np.argsort(order)
    for found, wanted in (
        (counts, expected),
        (count(read_documents(new), analysis, vocabulary, grow=False), theirs.transform(new)),
    ):
        matrix = sparse.csr_array((found.counts, column[found.terms], found.starts), shape=wanted.shape)
        assert (matrix != wanted).nnz == 0
    analyze = theirs.build_analyzer()
    assert found.unknown.tolist() == [
        sum(term not in theirs.vocabulary_ for term in analyze(text)) for text in new
    ]
