"""Missing documents, empty ones, words never seen, and no smoothing at all."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB

from suffice import TextClassifier

TEXTS = ["good film fun", "bad film film", "good day", "awful bad plot bad", "film"]
LABELS = ["+", "-", "+", "-", "+"]
PRIOR = [[0.6, 0.4]]


def close(one, other, atol=1e-12):
    np.testing.assert_allclose(one, other, rtol=0, atol=atol)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_a_missing_document_has_the_prior(event, missing, alpha):
    model = TextClassifier(event, alpha=alpha).fit(TEXTS, LABELS)
    close(model.predict_proba([missing]), PRIOR)
    close(model.predict_joint_log_proba([missing]), np.log(PRIOR))


@pytest.mark.parametrize("settings", [{}, {"tf": "log", "length": "l2", "idf": True}, {"unseen": "smooth"}])
def test_a_document_without_words_has_the_prior_under_counts(settings):
    close(TextClassifier(**settings).fit(TEXTS, LABELS).predict_proba(["", " . "]), PRIOR * 2)


def test_a_document_without_words_lacks_every_word_under_presence():
    vectorizer = CountVectorizer()
    theirs = BernoulliNB().fit(vectorizer.fit_transform([*TEXTS, ""]), [*LABELS, "-"])
    ours = TextClassifier("bernoulli").fit([*TEXTS, ""], [*LABELS, "-"])
    close(ours.predict_proba(["", "new"]), theirs.predict_proba(vectorizer.transform(["", "new"])))


def test_a_missing_document_counts_for_the_class_and_not_for_its_words():
    with_gap = TextClassifier("bernoulli").fit([*TEXTS, None], [*LABELS, "-"])
    without = TextClassifier("bernoulli", priors=[0.5, 0.5]).fit(TEXTS, LABELS)
    close(with_gap.predict_proba(["film", ""]), without.predict_proba(["film", ""]))


def test_words_never_seen_are_ignored():
    model = TextClassifier().fit(TEXTS, LABELS)
    close(model.predict_proba(["good zebra zebra"]), model.predict_proba(["good"]))


def test_words_never_seen_may_share_one_probability():
    model = TextClassifier(unseen="smooth", alpha=0.5).fit(TEXTS, LABELS)
    words, size = {"+": 6, "-": 7}, 7
    for label, n in words.items():
        expected = np.log(0.5 / (n + 0.5 * (size + 1)))
        close(model.log_prob("zebra", label), expected)
        close(model.log_prob("zebra yak zebra", label), 3 * expected)
        listed = sum(p for _, p in model.top_words(label, size))
        close(listed + np.exp(expected), 1.0)  # every word that is known, and one place for all others


@pytest.mark.parametrize(
    "settings, worth", [({"tf": "log"}, np.log(4)), ({"tf": "binary"}, 1.0), ({}, 3.0)], ids=str
)
def test_words_never_seen_are_worth_what_one_word_would_be(settings, worth):
    model = TextClassifier(unseen="smooth", **settings).fit(TEXTS, LABELS)
    close(model.log_prob("zebra yak zebra", "+"), worth * model.log_prob("zebra", "+") / _once(settings))
    close(
        model.log_prob("good zebra yak zebra", "+"),
        model.log_prob("good", "+") + model.log_prob("zebra yak zebra", "+"),
    )


def _once(settings):
    return np.log(2) if settings.get("tf") == "log" else 1.0


def test_words_never_seen_are_part_of_the_length_that_they_share():
    model = TextClassifier(unseen="smooth", length="l2").fit(TEXTS, LABELS)
    good, new = model.log_prob("good", "+"), model.log_prob("zebra", "+")
    close(model.log_prob("good good good zebra yak zebra zebra", "+"), (3 * good + 4 * new) / 5)
    close(model.log_prob("zebra zebra", "+"), new)
    close(model.predict_proba([""]), PRIOR)


def test_words_that_were_cut_are_named_as_such():
    model = TextClassifier(unseen="error", min_count=2).fit(TEXTS, LABELS)
    cut = "removed by min_count or max_vocabulary"
    with pytest.raises(ValueError, match=f"document 1 contains 1 word {cut};"):
        model.predict(["good", "good awful"])
    with pytest.raises(ValueError, match=f"document 0 contains 2 words {cut}, or never seen in training;"):
        model.predict(["awful zebra"])


def test_positions_count_from_the_first_document_also_in_later_parts(monkeypatch):
    monkeypatch.setattr("suffice.factors.words.totals.BYTES_AT_ONCE", 8)
    model = TextClassifier(unseen="error", tokenizer=_whole_words).fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="document 4 contains 1 word never seen"):
        model.predict(["good", "film", "good", "day", "zebra", "good"])
    for deed in (model.predict, lambda texts: model.partial_fit(texts, ["+"] * 6)):
        with pytest.raises(TypeError, match="document 3: the tokenizer returned None"):
            deed(["good", "film", "day", "nothing", "good", "good"])
    with pytest.raises(TypeError, match="document 3: the tokenizer returned None"):
        model.partial_fit(["good", "film", "day", "nothing"], ["+"] * 4, sample_weight=[0, 1, 0, 1])


def _whole_words(text):
    return None if text == "nothing" else text.split()


def test_words_never_seen_may_be_refused_with_the_position_of_the_document():
    model = TextClassifier(unseen="error").fit(TEXTS, LABELS)
    close(model.predict_proba(TEXTS), TextClassifier().fit(TEXTS, LABELS).predict_proba(TEXTS))
    with pytest.raises(ValueError, match="document 2 contains 3 words never seen"):
        model.predict(["good", "film", "good zebra yak zebra"])


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
@pytest.mark.parametrize("seed", range(4))
def test_no_smoothing_is_the_limit_of_little_smoothing(event, seed):
    rng = np.random.default_rng(seed)
    words = ["aa", "bb", "cc", "dd"]
    # "always" is in every document of class x, and in some of class y.
    texts = ["always " + " ".join(rng.choice(words[:3], 2)) for _ in range(5)]
    texts += [" ".join(rng.choice([*words[1:], "always"], 3)) for _ in range(5)]
    labels = ["x"] * 5 + ["y"] * 5
    asked = [*texts, "", "always", "aa dd", "dd dd aa aa bb", "new", None, "aa bb cc dd always"]
    none, little = (TextClassifier(event, alpha=alpha).fit(texts, labels) for alpha in (0.0, 1e-13))
    assert np.isfinite(none.predict_proba(asked)).all()
    close(none.predict_proba(asked), little.predict_proba(asked), atol=1e-6)
    assert not np.isnan(none.predict_joint_log_proba(asked)).any()
    assert not np.isnan(none.log_likelihood_)


def test_without_smoothing_a_word_in_every_document_must_be_there():
    model = TextClassifier("bernoulli", alpha=0).fit(["film good", "film", "good"], ["x", "x", "y"])
    assert model.predict_joint_log_proba(["good"])[0, 0] == -np.inf
    assert np.isfinite(model.predict_proba(["", "film good", "new"])).all()


def test_without_smoothing_a_word_of_no_weight_says_nothing():
    model = TextClassifier(alpha=0, idf=True).fit(["film aa", "film bb"], ["x", "y"])
    assert model.predict_proba(["film", "film aa", "bb"]).tolist() == [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    assert np.isfinite(model.log_likelihood_)


@pytest.mark.parametrize("settings", [{"event": "complement"}, {"weight_norm": True}])
def test_weights_that_need_smoothing_say_so(settings):
    with pytest.raises(ValueError, match="alpha > 0"):
        TextClassifier(alpha=0, **settings).fit(TEXTS, LABELS)


@pytest.mark.parametrize("texts", [["", ""], ["same", "same"], [None, None]])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"event": "bernoulli"},
        {"event": "complement"},
        {"weight_norm": True},
        {"event": "complement", "weight_norm": True},
        {"idf": True},
        {"alpha": 0.0},
        {"event": "bernoulli", "alpha": 0.0},
        {"min_count": 9},
    ],
    ids=str,
)
def test_documents_that_say_nothing_leave_the_classes_equal(texts, settings):
    model = TextClassifier(**settings).fit(texts, ["x", "y"])
    close(model.predict_proba(["", "same", "new", None]), np.full((4, 2), 0.5))


@pytest.mark.parametrize("seed", range(5))
def test_little_smoothing_survives_weights_that_do_not_sum_exactly(seed):
    weights = np.random.default_rng(seed).random(9)
    model = TextClassifier("bernoulli", alpha=1e-17)
    for i in range(9):
        model.partial_fit(["zz aa" if i % 2 else "zz"], ["x"], sample_weight=weights[i : i + 1])
    model.partial_fit(["bb"], ["y"])
    assert np.isfinite(model.predict_joint_log_proba(["", "zz", "aa", "bb"])).all()


def test_ten_thousand_empty_documents_are_fitted_and_predicted():
    model = TextClassifier("bernoulli").fit([""] * 10_000 + ["word"], ["x", "y"] * 5_000 + ["y"])
    assert model.predict_proba([""] * 10_000).shape == (10_000, 2)


LONE = ["good\ud800film", "bad \udfff film", "good fun", "\ud83d\ude00 bad"]
READ = ["good\ufffdfilm", "bad \ufffd film", "good fun", "\ufffd\ufffd bad"]
ANALYSES = [
    {},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char_wb", "ngram_range": (2, 3)},
    {"strip_html": True},
    {"tokenizer": str.split},
    {"tokenizer": lambda text: [word.replace("\ufffd", "\ud800") for word in text.split()]},
]


@pytest.mark.parametrize("settings", ANALYSES)
@pytest.mark.parametrize("times", [1, 3000], ids=["few", "many"])
def test_a_lone_surrogate_is_read_as_the_replacement_character(settings, times):
    y = ["+", "-", "+", "-"] * times
    odd = TextClassifier(**settings).fit(LONE * times, y)
    plain = TextClassifier(**settings).fit(READ * times, y)
    assert odd.vocabulary_ == plain.vocabulary_
    assert not any("\ud800" <= letter <= "\udfff" for word in odd.vocabulary_ for letter in word)
    assert np.array_equal(odd.predict_proba(LONE), plain.predict_proba(READ))


def test_a_lone_surrogate_separates_words():
    model = TextClassifier().fit(LONE, ["+", "-", "+", "-"])
    assert list(model.vocabulary_) == ["bad", "film", "fun", "good"]
    assert model.partial_fit(["\ud800new"], ["+"]).predict(["new\udc00"]) == ["+"]


def test_words_beside_a_lone_surrogate_are_shaded_where_they_are():
    model = TextClassifier().fit(LONE, ["+", "-", "+", "-"])
    odd, plain = model.explain("a\ud800good film"), model.explain("a.good film")
    assert odd.html(0).replace("\ufffd", ".") == plain.html(0)
    assert odd.html(0).encode()
