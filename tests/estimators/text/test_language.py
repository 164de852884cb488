"""What a person expects of a language model: its words, its texts, its probabilities, its reasons."""

import numpy as np
import pandas as pd
import pytest

from suffice import TextClassifier

TEXTS = ["good film fun", "bad film film", "good day", "awful bad plot bad", "film"]
LABELS = ["+", "-", "+", "-", "+"]
CHOICES = [
    {},
    {"event": "bernoulli"},
    {"event": "complement"},
    {"event": "complement", "weight_norm": True, "idf": True},
    {"tf": "log", "length": "l2", "idf": True},
    {"unseen": "smooth"},
    {"ngram_range": (1, 2), "alpha": 0.1},
    {"analyzer": "char_wb", "ngram_range": (2, 3)},
    {"alpha": 0.0},
    {"event": "bernoulli", "alpha": 0.0},
]
with_choices = pytest.mark.parametrize("choices", CHOICES, ids=str)


@pytest.fixture(scope="module")
def model():
    return TextClassifier().fit(TEXTS, LABELS)


def test_top_words_by_probability_are_the_smoothed_shares(model):
    counts = {"film": 2, "good": 2, "day": 1, "fun": 1, "awful": 0, "bad": 0, "plot": 0}
    expected = [(word, (n + 1) / (6 + 7)) for word, n in counts.items()]
    words, probabilities = zip(*model.top_words("+", 10), strict=True)
    assert words == tuple(counts)
    np.testing.assert_allclose(probabilities, [p for _, p in expected])
    assert model.top_words("+", 3) == model.top_words("+", 10)[:3]
    assert model.top_words("+", 0) == []


def test_top_words_by_evidence_are_log_odds_against_the_other_classes_together():
    model = TextClassifier(alpha=0.5).fit([*TEXTS, "good plot"], [*LABELS, "?"])
    here = {"film": 2, "good": 2, "day": 1, "fun": 1}
    there = {"bad": 3, "film": 2, "awful": 1, "plot": 2, "good": 1}
    for word, value in model.top_words("+", 10, by="evidence"):
        mine = (here.get(word, 0) + 0.5) / (6 + 3.5)
        theirs = (there.get(word, 0) + 0.5) / (9 + 3.5)
        np.testing.assert_allclose(value, np.log(mine / theirs))
    values = [value for _, value in model.top_words("+", 10, by="evidence")]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_evidence_without_smoothing_is_that_of_vanishing_smoothing(event):
    texts, labels = [*TEXTS, "good plot", "fun fun"], [*LABELS, "-", "+"]
    bare = TextClassifier(event, alpha=0.0).fit(texts, labels)
    nearly = TextClassifier(event, alpha=1e-300).fit(texts, labels)
    for label in ("+", "-"):
        limit, near = (model.top_words(label, 10, by="evidence") for model in (bare, nearly))
        assert [word for word, _ in limit] == [word for word, _ in near]
        values = np.array([value for _, value in near])
        expected = np.where(np.abs(values) > 600, np.copysign(np.inf, values), values)
        np.testing.assert_allclose([value for _, value in limit], expected)
    assert bare.top_words("-", 1, by="evidence")[0][1] == np.inf


def test_evidence_without_smoothing_of_a_class_without_words_is_against_equal_shares():
    model = TextClassifier(alpha=0.0).fit(["aa aa bb", ""], ["x", "y"])
    expected = [("bb", np.log(1 / 2) - np.log(1 / 3)), ("aa", np.log(1 / 2) - np.log(2 / 3))]
    for (word, value), (name, nats) in zip(model.top_words("y", by="evidence"), expected, strict=True):
        assert word == name
        np.testing.assert_allclose(value, nats)


def test_top_words_by_presence_are_shares_of_documents():
    model = TextClassifier("bernoulli").fit(TEXTS, LABELS)
    assert model.top_words("-", 1) == [("bad", (2 + 1) / (2 + 2))]


def test_ties_among_top_words_are_in_the_order_of_code_points():
    model = TextClassifier().fit(["zz éé aa ZZ 東京"], ["x"])
    assert [word for word, _ in model.top_words("x", 2)] == ["zz", "aa"]
    assert [word for word, _ in model.top_words("x", 9)] == ["zz", "aa", "éé", "東京"]


@pytest.mark.parametrize("n", [-1, 2.5, "3"])
def test_a_number_of_words_is_whole(model, n):
    for ask in (model.top_words, model.generate):
        with pytest.raises(ValueError, match="whole number"):
            ask("+", n)
    with pytest.raises(ValueError, match="whole number"):
        model.sample(n)


def test_a_label_that_is_not_there_is_named(model):
    for ask in (model.top_words, model.generate, lambda label: model.log_prob("film", label)):
        with pytest.raises(ValueError, match="no class 'z'"):
            ask("z")
    with pytest.raises(ValueError, match="evidence"):
        model.top_words("+", by="weight")


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_generated_texts_are_seeded_and_of_known_words(event):
    model = TextClassifier(event, alpha=0.1).fit(TEXTS, LABELS)
    text = model.generate("-", 50, random_state=3)
    assert text == model.generate("-", 50, random_state=3)
    assert text != model.generate("-", 50, random_state=4)
    assert len(text.split()) == 50
    assert set(text.split()) <= set(model.vocabulary_)
    texts, labels = model.sample(20, random_state=0)
    assert (texts, labels.tolist()) == (model.sample(20, random_state=0)[0], labels.tolist())
    assert set(" ".join(texts).split()) <= set(model.vocabulary_)
    assert set(labels) == {"+", "-"}


def test_generated_words_have_the_frequencies_of_the_class(model):
    drawn = model.generate("-", 20_000, random_state=0).split()
    for word, p in model.top_words("-", 7):
        assert abs(drawn.count(word) / 20_000 - p) < 5 * np.sqrt(p / 20_000)


def test_log_prob_sums_the_logs_of_the_words(model):
    expected = np.log(3 / 13) + 2 * np.log(1 / 13)
    np.testing.assert_allclose(model.log_prob("film bad bad", "+"), expected)
    assert isinstance(model.log_prob("film", "+"), float)
    many = model.log_prob(["film bad bad", None, ""], "+")
    np.testing.assert_allclose(many, [expected, 0.0, 0.0])


def test_log_prob_and_perplexity_do_not_ask_for_the_prior(model):
    ruled_out = TextClassifier(priors={"+": 0.0, "-": 1.0}).fit(TEXTS, LABELS)
    assert ruled_out.log_prob("film", "+") == model.log_prob("film", "+")
    np.testing.assert_allclose(ruled_out.perplexity(TEXTS), model.perplexity(TEXTS))


def test_perplexity_is_the_inverse_geometric_mean_of_the_words(model):
    np.testing.assert_allclose(model.perplexity("film bad")[0], ((3 / 13) * (1 / 13)) ** -0.5)
    both = sum(model.log_prob(TEXTS, "-")) / 13
    np.testing.assert_allclose(model.perplexity(TEXTS)[1], np.exp(-both))


def test_perplexity_of_a_uniform_language_is_its_size():
    model = TextClassifier().fit(["aa bb cc dd"], ["x"])
    np.testing.assert_allclose(model.perplexity(["aa cc", "dd"]), [4.0])


@with_choices
def test_the_words_the_rest_and_the_prior_add_up_to_the_joint_score(choices, gappy):
    model = TextClassifier(**choices).fit(gappy.texts, gappy.labels)
    why = model.explain(gappy.asked)
    assert len(why) == len(gappy.asked)
    np.testing.assert_allclose(why.posterior, model.predict_proba(gappy.asked))
    joint = model.predict_joint_log_proba(gappy.asked)
    for i in range(len(why)):
        words, gains = why.words(i)
        assert set(words) <= set(model.vocabulary_)
        total = why.prior + gains.sum(axis=0) + why.rest(i)
        np.testing.assert_allclose(total, joint[i], rtol=0, atol=1e-10)
        assert not np.isnan(why.rest(i)).any()
        assert "nan" not in why.describe(i)


def test_evidence_is_the_log_odds_of_each_word_strongest_first(model):
    why = model.explain("bad film bad plot")
    evidence = dict(why.evidence(0, "-", "+"))
    for word, n in {"bad": 2, "film": 1, "plot": 1}.items():
        np.testing.assert_allclose(
            evidence[word], n * (model.log_prob(word, "-") - model.log_prob(word, "+"))
        )
    sizes = [abs(value) for _, value in why.evidence(0)]
    assert sizes == sorted(sizes, reverse=True)


def test_an_explanation_prints_its_words_and_its_sum(model):
    shown = str(model.explain("bad film bad plot"))
    assert "document 0: '-' with probability" in shown
    assert shown.splitlines()[-1].split()[:2] == ["log", "odds"]
    assert [line.split()[0] for line in shown.splitlines()[3:-1]] == ["bad", "plot", "film", "(prior)"]
    assert "0 documents" in str(model.explain([]))


def test_a_long_document_prints_its_strongest_words_and_the_sum_of_the_others():
    text = " ".join(f"word{i}" for i in range(100))
    shown = TextClassifier().fit([text, "other"], ["x", "y"]).explain(text).describe(0)
    assert "(80 other words)" in shown
    assert len(shown.splitlines()) == 25


def test_positions_and_classes_that_are_not_there_are_named(model):
    why = model.explain(["bad film"])
    with pytest.raises(IndexError, match="no document 1"):
        why.describe(1)
    with pytest.raises(IndexError, match="no document -1"):
        why.html(-1)
    with pytest.raises(ValueError, match="no class 'z'"):
        why.describe(0, "z")


HOSTILE = "<script>alert('film')</script> & \"bad\" <img src=x onerror=alert(1)> &lt;b&gt; film"


@pytest.mark.parametrize(
    "choices", [{}, {"strip_html": True}, {"tokenizer": str.split}, {"ngram_range": (1, 2)}]
)
def test_hostile_documents_and_labels_are_escaped_in_html(choices):
    labels = ["<b onclick='x'>", '"><script>']
    model = TextClassifier(**choices).fit([HOSTILE, "bad film"], labels)
    page = model.explain(HOSTILE)._repr_html_()
    bare = page
    for tag in ("div", "p", "b", "span"):
        for known in (f"<{tag}>", f"</{tag}>"):
            bare = bare.replace(known, "")
    parts = [part.split(">")[0] for part in bare.split("<")[1:]]
    assert all(part.startswith(("div style=", "p style=", "span style=")) for part in parts)
    assert "&lt;script&gt;" in page
    assert "onclick=&#x27;x&#x27;" in page or "&quot;&gt;" in page


def test_words_in_html_are_shaded_by_what_they_say(model):
    page = model.explain("Bad film, unheard").html(0, "-", "+")
    bad, film = model.explain("bad film").evidence(0, "-", "+")
    assert f'title="{bad[1]:+.3f} nats">Bad</span>' in page
    assert f'title="{film[1]:+.3f} nats">film</span>' in page
    assert page.endswith(", unheard</p></div>")
    assert "rgba(0, 114, 178, 0.85)" in page  # blue, the strongest word for the class


def shaded(page):
    """The shaded pieces of a page."""
    return [part.split("</span>")[0].partition(">")[2] for part in page.split("<span ")[1:]]


def test_characters_are_shaded_by_the_terms_they_are_in():
    model = TextClassifier(analyzer="char_wb", ngram_range=(2, 2)).fit(["abc", "xyz"], ["+", "-"])
    why = model.explain("ab")
    assert shaded(why.html(0, "+", "-")) == ["a", "b"]
    # " a", "ab" and "b " have half of what each says on either side; "b " was never seen.
    says = dict(why.evidence(0, "+", "-"))
    assert f'title="{says[" a"] + says["ab"] / 2:+.3f} nats">a<' in why.html(0, "+", "-")
    assert f'title="{says["ab"] / 2:+.3f} nats">b<' in why.html(0, "+", "-")


def test_the_words_of_a_tokenizer_are_shaded():
    model = TextClassifier(tokenizer=lambda text: text.split("-")).fit(["good-x", "bad-y"], ["+", "-"])
    assert shaded(model.explain("Good-y-z").html()) == ["Good", "y"]


def test_tags_are_not_shaded_where_they_are_no_text():
    model = TextClassifier(strip_html=True).fit(["good caf&eacute;", "bad"], ["+", "-"])
    page = model.explain("<b class='good'>good</b> caf&eacute;").html()
    assert shaded(page) == ["good", "caf&amp;eacute;"]


def test_a_class_without_words_has_all_words_alike_or_none():
    texts, labels = ["", "aa bb"], ["x", "y"]
    alike = TextClassifier(alpha=0.0).fit(texts, labels)
    assert alike.top_words("x") == [("aa", 0.5), ("bb", 0.5)]
    assert set(alike.generate("x", 20, random_state=0).split()) == {"aa", "bb"}
    never = TextClassifier("bernoulli", alpha=0.0).fit(texts, labels)
    assert never.top_words("x") == [("aa", 0.0), ("bb", 0.0)]
    assert never.generate("x", 20, random_state=0) == ""
    assert TextClassifier().fit([""], ["x"]).generate("x", 5) == ""


def test_documents_without_words_hold_the_classes_together():
    evidence = TextClassifier().fit(["", "a"], ["+", "-"]).evidence()
    assert not evidence.kl.any()
    assert not evidence.bhattacharyya.any()


def test_documents_of_no_length_hold_classes_together_that_no_word_has_in_common():
    evidence = TextClassifier(alpha=0.0).fit(["", "aa", "bb"], ["x", "y", "z"]).evidence()
    assert not evidence.kl[0, 0].any()
    assert evidence.kl[0, 1, 2] == np.inf
    assert not np.isnan(evidence.bhattacharyya).any()


def test_what_an_occurrence_says_does_not_depend_on_how_counts_are_weighed():
    for choices in ({"tf": "log"}, {"length": "l2"}, {"tf": "binary"}):
        model = TextClassifier(**choices).fit(TEXTS, LABELS)
        why = model.explain("good good film")
        value = dict(why.evidence(0, "+", "-"))["good"] / 2
        assert why.html(0, "+", "-").count(f'title="{value:+.3f} nats">good<') == 2


def test_control_characters_are_printed_as_escapes():
    model = TextClassifier(tokenizer=str.split).fit(["\x1b[31mred ok\u202e", "bad"], ["+", "-"])
    shown = str(model.explain("\x1b[31mred ok\u202e"))
    assert "\\x1b[31mred" in shown
    assert "ok\\u202e" in shown
    assert all(c.isprintable() or c == "\n" for c in shown)


def test_control_characters_are_escapes_in_html():
    text = "\x00good\x1b[31m film\x85\n\tand\x7f more"
    page = TextClassifier().fit(TEXTS, ["\x07+", "-", "\x07+", "-", "\x07+"]).explain(text).html()
    assert all(c.isprintable() or c in "\n\t" for c in page)
    assert "\\x00" in page
    assert "\\x1b[31m" in page
    assert shaded(page) == ["good", "film"]


def test_a_very_long_word_is_shortened_where_it_is_printed():
    word = "loooong" * 1000
    why = TextClassifier().fit([word, "bad"], ["+", "-"]).explain(word)
    assert max(map(len, why.describe(0).splitlines())) < 80
    assert "loooonglooo" in why.describe(0)
    assert "…" in why.describe(0)
    assert why.words(0)[0] == [word]


def test_a_very_long_document_is_shaded_at_its_beginning(model):
    text = "good film " * 20_000
    why = model.explain(text)
    page = why.html(0, "+", "-")
    assert "The first 100,000 of 200,000 characters are shown" in page
    assert shaded(page) == ["good", "film"] * 10_000
    value = dict(why.evidence(0, "+", "-"))["good"] / 20_000
    assert f'title="{value:+.3f} nats">good<' in page
    assert shaded(why.html(0, characters=None)) == ["good", "film"] * 20_000
    assert "characters are shown" not in why.html(0, characters=None)


@pytest.mark.parametrize(
    "text, characters, words",
    [
        ("good filmfilm bad", 9, ["good"]),
        ("good film bad", 9, ["good", "film"]),
        ("goodgoodgood", 5, []),
        ("good <b title='film film'>film</b>", 15, ["good"]),
        ("good <!-- film film film film", 15, ["good"]),
        ("good", 0, []),
    ],
)
def test_a_document_is_cut_between_words_and_markup(text, characters, words):
    model = TextClassifier(strip_html=True).fit(TEXTS, LABELS)
    page = model.explain(text).html(0, characters=characters)
    assert shaded(page) == words
    assert f"The first {characters} of {len(text)} characters" in page


def test_classes_that_are_both_ruled_out_are_compared_in_the_limit_or_not_at_all():
    model = TextClassifier(alpha=0).fit(["aa bb", "cc dd", "ee ff"], ["x", "y", "z"])
    shown = model.explain("aa cc").describe(0, "x", "y")
    assert "log odds    +0.000" in shown
    assert "rules both out; these are the odds in the limit" in shown
    shown = model.explain("ee").describe(0, "x", "y")
    assert "nan" not in shown
    assert "rules both out, but another class less so" in shown
    assert "rules both out" not in model.explain("ee").describe(0, "x", "x")


def test_perplexity_without_a_word_is_nan_and_of_the_impossible_infinite(model):
    for documents in ([], [""], ["zebra"], [None]):
        assert np.isnan(model.perplexity(documents)).all()
    np.testing.assert_allclose(TextClassifier(alpha=0).fit(TEXTS, LABELS).perplexity("good"), [3.0, np.inf])


DENSITIES = {
    "score_samples": lambda model: model.score_samples(TEXTS),
    "sample": lambda model: model.sample(2),
    "generate": lambda model: model.generate("+"),
    "log_prob": lambda model: model.log_prob("film", "+"),
    "perplexity": lambda model: model.perplexity("film"),
    "log_likelihood_": lambda model: model.log_likelihood_,
}


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("choices", [{"event": "complement"}, {"weight_norm": True}], ids=str)
def test_scores_that_are_no_density_say_so(name, choices):
    model = TextClassifier(**choices).fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match=f"{name} needs a density"):
        DENSITIES[name](model)
    assert model.top_words("+", 1)


def test_the_log_likelihood_is_that_of_the_fitted_documents(corpus):
    for event in ("multinomial", "bernoulli"):
        model = TextClassifier(event).fit(corpus.texts, corpus.labels)
        joint = model.predict_joint_log_proba(corpus.texts)
        own = joint[np.arange(60), np.searchsorted(model.classes_, corpus.labels)]
        np.testing.assert_allclose(model.log_likelihood_, own.sum())
        np.testing.assert_allclose(np.exp(model.score_samples(corpus.texts)), np.exp(joint).sum(axis=1))


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_frames_of_a_label_add_up_document_by_document(event):
    model = TextClassifier(event).fit(pd.Series(TEXTS), LABELS)
    asked = pd.Series(["good film", "", "an unknown bad bad word"])
    explained = model.explain(asked)
    log_p = model.predict_log_proba(asked)
    odds = explained.to_frame("+", "-")
    assert list(odds.columns) == ["document", "word", "nats"]
    np.testing.assert_allclose(odds.groupby("document")["nats"].sum(), log_p[:, 0] - log_p[:, 1], atol=1e-10)
    against_prior = explained.to_frame("-")
    np.testing.assert_allclose(against_prior.groupby("document")["nats"].sum(), log_p[:, 1], atol=1e-10)
    alone = model.explain(["good"]).to_frame("+").to_pydict()
    moved = dict(zip(alone["word"], alone["nats"], strict=True))
    if event == "multinomial":
        assert moved["good"] == pytest.approx(
            model.predict_log_proba(["good"])[0, 0] - np.log(model.priors_[0])
        )
        assert moved["(overlap)"] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="needs a label"):
        explained.to_frame(against="+")
    with pytest.raises(ValueError, match="no class 'z'"):
        explained.to_frame("z")


def test_a_frame_of_explanations_names_documents_by_the_index_of_pandas():
    model = TextClassifier().fit(["good film", "bad film"], ["+", "-"])
    documents = pd.Series(["a good film", "bad"], index=["mail 7", "mail 9"])
    for label in (None, "+"):
        named = model.explain(documents).to_frame(label)["document"]
        assert list(dict.fromkeys(named)) == ["mail 7", "mail 9"]
        framed = model.explain(documents.to_frame("text")).to_frame(label)["document"]
        assert framed.tolist() == named.tolist()
    assert set(model.explain(documents.tolist()).to_frame().to_pydict()["document"]) == {0, 1}
