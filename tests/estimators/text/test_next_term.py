"""The next term of a text, and how much a term tells."""

import numpy as np
import pytest

from suffice import TextClassifier

DOCUMENTS = ["good film good", "bad film", "good fun", "dull plot bad", "fun fun film"]
LABELS = ["+", "-", "+", "-", "+"]


@pytest.fixture
def model():
    return TextClassifier().fit(DOCUMENTS, LABELS)


def test_the_next_term_given_the_class_has_the_shares_of_the_class(model):
    found = dict(model.next_term(label="+", n=None))
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert sum(found.values()) == pytest.approx(1.0)
    assert found["good"] == pytest.approx((3 + 1) / (8 + 6))
    assert found["plot"] == pytest.approx(1 / (8 + 6))
    assert model.next_term(label="+", n=2) == model.top_words("+", 2)


def test_a_text_tells_the_class_and_the_class_the_next_term(model):
    text = "a good film"
    mixed = dict(model.next_term(text, n=None))
    p = model.predict_proba([text])[0]
    for term in model.vocabulary_:
        by_class = [dict(model.next_term(label=label, n=None))[term] for label in model.classes_]
        assert mixed[term] == pytest.approx(p @ by_class)
    without = dict(model.next_term(n=None))
    assert mixed["fun"] > without["fun"]
    assert dict(model.next_term("dull", label="+", n=None)) == dict(model.next_term(label="+", n=None))


def test_a_sentence_is_its_terms_one_after_the_other(model):
    """The chain rule: log p(d) = Σ log p(t_i | t_1 … t_i−1), with the class summed out."""
    terms = ["good", "film", "dull", "fun"]
    chain = -sum(model.information(term, text=" ".join(terms[:i])) for i, term in enumerate(terms))
    given = [model.log_prob(" ".join(terms), label) for label in model.classes_]
    assert chain == pytest.approx(np.log(model.priors_ @ np.exp(given)))


def test_information_is_minus_log_p(model):
    p = dict(model.next_term(label="-", n=None))
    terms = list(model.vocabulary_)
    nats = model.information(terms, label="-")
    np.testing.assert_allclose(nats, [-np.log(p[term]) for term in terms])
    assert model.information("bad", label="-") == pytest.approx(nats[terms.index("bad")])
    assert isinstance(model.information("bad"), float)
    assert model.information("plot", label="+") > model.information("good", label="+")


def test_terms_outside_the_vocabulary(model):
    assert np.isnan(model.information("zebra"))
    smooth = TextClassifier(unseen="smooth").fit(DOCUMENTS, LABELS)
    assert smooth.information("zebra", label="+") == pytest.approx(-np.log(1 / (8 + 7)))
    assert sum(p for _, p in smooth.next_term(n=None)) < 1.0
    plain = TextClassifier(alpha=0).fit(DOCUMENTS, LABELS)
    assert np.isinf(plain.information("dull", label="+"))


def test_characters_and_pairs_of_words_are_terms_too():
    model = TextClassifier(analyzer="char").fit(["aab", "bbb"], ["x", "y"])
    assert dict(model.next_term(label="x"))["a"] == pytest.approx(3 / 5)
    pairs = TextClassifier(ngram_range=(2, 2)).fit(DOCUMENTS, LABELS)
    assert "good film" in dict(pairs.next_term(n=None))


def test_what_has_no_next_term_says_why(model):
    with pytest.raises(ValueError, match="only says which are present"):
        TextClassifier("bernoulli").fit(DOCUMENTS, LABELS).next_term()
    with pytest.raises(ValueError, match="needs a density"):
        TextClassifier("complement").fit(DOCUMENTS, LABELS).information("good")
    with pytest.raises(TypeError, match="text must be a string, got a list"):
        model.next_term(["good"])
    with pytest.raises(ValueError, match="n must be a whole number"):
        model.next_term(n=-1)
