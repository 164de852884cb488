"""Markup is found alike by both ways, and in time that grows with the text alone."""

import time

import numpy as np
import pytest

from suffice.text import Analysis, Vocabulary, read_documents
from suffice.text.markup import markup, unescaped

WORDS = [
    ("one<br/>two <B CLASS=x>three</b>", "one two three"),
    ("a comment <!-- is > not --> text", "comment text"),
    ("one <!--> two <!---> three <!----> four", "one two three four"),
    ("a comment <!-- to the end -- > of all", "comment"),
    ("one <script>if (aa < bb) { write('<b>cc') }</script> two", "one two"),
    ('one <STYLE media="a>b">pp { color: red }</Style\n> two', "one two"),
    ("one <script src='xx'>to the end </scripts> of all", "one"),
    ("<scripts>one</scripts> <script-x>two</script-x>", "one two"),
    ("one </script> two", "one two"),
    ('<a title="aa > bb" href=\'cc>dd\' ee = "ff\n>">one</a> two', "one two"),
    ("<a href=it's>one</a> don't <a b='>two", "one don two"),
    ('<a href="cc>one</a>', "one"),
    ("one <b and all that follows <i", "one and all that follows"),
    ('one <b title="<i>" aa', "one title aa"),
    ("<!DOCTYPE html><?xml version='1.0'?></ one>two", "two"),
    ("11 < 22 > 11, <3 <> << you", "11 22 11 you"),
    ("<" * 5 + "i>one<", "one"),
    ("<ſcript>one</script>", "ſcript one"),
]


@pytest.mark.parametrize("text, expected", WORDS)
def test_words_are_those_outside_of_markup(count_documents, text, expected):
    vocabulary = Vocabulary()
    counts = count_documents(read_documents([text]), Analysis(strip_html=True), vocabulary, grow=True)
    words = np.repeat(vocabulary.words_of(counts.terms), counts.counts).tolist()
    assert sorted(words) == sorted(expected.split())


@pytest.mark.parametrize(
    "hostile",
    [
        "<a ",
        "<!--",
        "<!",
        "</",
        "<?",
        "<script>",
        "<script",
        "</script",
        "<a b=",
        '<a b="',
        "<a b='\"",
        "= '",
        "-",
    ],
)
@pytest.mark.parametrize("before", ["", "<!--", "<script>", "<a b='", "<script "])
def test_hostile_documents_take_time_by_their_length(count_documents, before, hostile):
    documents = read_documents([before + hostile * (200_000 // len(hostile))])
    start = time.process_time()
    count_documents(documents, Analysis(strip_html=True), Vocabulary(), grow=True)
    assert time.process_time() - start < 5  # the square of the length takes minutes


def test_markup_does_not_cross_documents(count_documents):
    vocabulary = Vocabulary()
    texts = ["one <!-- two", "three --> four", "<script>", "five </script>", "<b ", "six>"]
    count_documents(read_documents(texts), Analysis(strip_html=True), vocabulary, grow=True)
    assert vocabulary.terms() == ["one", "three", "four", "five", "six"]


def test_places_of_markup():
    assert list(markup("a<b>c<!--d-->e<f")) == [(1, 4), (5, 13)]


def test_entities_of_any_length_are_resolved():
    assert unescaped("&#65;&lt;&#x110000;") == "A<\N{REPLACEMENT CHARACTER}"
    assert unescaped(f"a&#{'9' * 10_000};b") == "a\N{REPLACEMENT CHARACTER}b"
