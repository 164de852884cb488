"""Any batches, order, merging, weighting and forgetting give the same languages."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import TextClassifier

CHOICES = [
    {},
    {"event": "bernoulli"},
    {"event": "complement"},
    {"event": "complement", "tf": "log", "length": "l2", "idf": True, "weight_norm": True},
    {"tf": "log"},
    {"tf": "binary", "ngram_range": (1, 2)},
    {"length": "l2", "idf": True},
    {"min_count": 2, "unseen": "smooth"},
    {"max_vocabulary": 6},
    {"alpha": 0.0},
    {"event": "bernoulli", "alpha": 0.0},
]
with_choices = pytest.mark.parametrize("choices", CHOICES, ids=str)


def agree(one, other, asked):
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.vocabulary_ == other.vocabulary_
    np.testing.assert_allclose(one.predict_proba(asked), other.predict_proba(asked), rtol=0, atol=1e-10)
    assert one.statistics_.isclose(other.statistics_)


@with_choices
@pytest.mark.parametrize("seed", [0, 1])
def test_any_batches_in_any_order_equal_one_fit(gappy, choices, seed):
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.choice(np.arange(1, 60), 6, replace=False))
    parts = TextClassifier(**choices)
    for rows in np.split(rng.permutation(60), cuts):
        parts.partial_fit(*gappy.part(rows))
    agree(parts, TextClassifier(**choices).fit(gappy.texts, gappy.labels), gappy.asked)


@with_choices
def test_one_document_at_a_time_with_questions_between_equals_one_fit(gappy, choices):
    parts = TextClassifier(**choices)
    for i in range(60):
        parts.partial_fit(*gappy.part(np.array([i])))
        if i % 7 == 0:
            parts.predict_proba(gappy.asked)
    agree(parts, TextClassifier(**choices).fit(gappy.texts, gappy.labels), gappy.asked)


@with_choices
def test_parts_merged_or_added_equal_one_fit(gappy, choices):
    whole = TextClassifier(**choices).fit(gappy.texts, gappy.labels)
    parts = [TextClassifier(**choices).fit(*gappy.part(np.arange(i, 60, 3))) for i in range(3)]
    agree(functools.reduce(operator.add, parts), whole, gappy.asked)
    agree(parts[2].merge(parts[0]).merge(parts[1].statistics_), whole, gappy.asked)


@with_choices
def test_classes_with_different_vocabularies_merge(gappy, choices):
    parts = [TextClassifier(**choices).fit(*gappy.part(np.flatnonzero(gappy.labels == k))) for k in "cab"]
    whole = TextClassifier(**choices).fit(gappy.texts, gappy.labels)
    agree(functools.reduce(operator.add, parts), whole, gappy.asked)


@with_choices
def test_forgetting_equals_refitting(gappy, choices):
    go, stay = np.arange(1, 60, 3), np.setdiff1d(np.arange(60), np.arange(1, 60, 3))
    forgetful = TextClassifier(**choices).fit(gappy.texts, gappy.labels).forget(*gappy.part(go))
    agree(forgetful, TextClassifier(**choices).fit(*gappy.part(stay)), gappy.asked)
    again = forgetful.partial_fit(*gappy.part(go))
    agree(again, TextClassifier(**choices).fit(gappy.texts, gappy.labels), gappy.asked)


@with_choices
def test_weights_are_repeats(gappy, choices):
    weights = np.random.default_rng(1).integers(0, 4, 60)
    weighted = TextClassifier(**choices).fit(gappy.texts, gappy.labels, weights.astype(float))
    repeated = TextClassifier(**choices).fit(*gappy.part(np.repeat(np.arange(60), weights)))
    assert weighted.vocabulary_ == repeated.vocabulary_
    np.testing.assert_allclose(
        weighted.predict_proba(gappy.asked), repeated.predict_proba(gappy.asked), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("choices", [{"min_count": 2}, {"max_vocabulary": 3}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_weights_that_do_not_sum_exactly_cut_the_same_words_in_any_order(choices, seed):
    # "aa" to "dd" all weigh 2.1, whose sums round differently in every order.
    rows = [(word, weight) for word in ("dd", "aa", "cc", "bb") for weight in (0.7, 0.1, 0.6, 0.2, 0.5)]
    rows += [("rare", 0.3), ("rare", 1.6)]
    model = TextClassifier(**choices)
    for i in np.random.default_rng(seed).permutation(len(rows)):
        word, weight = rows[i]
        model.partial_fit([word], ["x"], sample_weight=[weight])
    kept = ["aa", "bb", "cc", "dd"] if "min_count" in choices else ["aa", "bb", "cc"]
    assert list(model.vocabulary_) == kept


def test_a_document_of_weight_zero_was_never_there(gappy):
    weights = np.ones(60)
    weights[::4] = 0.0
    weighted = TextClassifier().fit(gappy.texts, gappy.labels, weights)
    agree(weighted, TextClassifier().fit(*gappy.part(np.flatnonzero(weights))), gappy.asked)


@pytest.mark.parametrize(
    "other",
    [
        {"tf": "log"},
        {"tf": "binary"},
        {"length": "l2"},
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb"},
        {"lowercase": False},
        {"stop_words": "english"},
        {"strip_html": True},
        {"tokenizer": str.split},
    ],
    ids=str,
)
def test_statistics_of_documents_read_in_different_ways_do_not_add(corpus, other):
    one = TextClassifier().fit(corpus.texts, corpus.labels)
    two = TextClassifier(**other).fit(corpus.texts, corpus.labels)
    name = next(iter(other))
    with pytest.raises(ValueError, match=f"cannot be added.*{name}"):
        one.statistics_ + two.statistics_
    with pytest.raises(ValueError, match=f"cannot be added.*{name}"):
        one.merge(two)
    with pytest.raises(ValueError, match="needs other sums"):
        TextClassifier().fit_statistics(two.statistics_)


@pytest.mark.parametrize(
    "later",
    [
        {"alpha": 0.01},
        {"alpha": 0.0},
        {"event": "bernoulli"},
        {"event": "complement", "weight_norm": True},
        {"idf": True},
        {"min_count": 3},
        {"max_vocabulary": 5},
        {"unseen": "smooth"},
        {"priors": "uniform"},
    ],
    ids=str,
)
def test_settings_of_solving_can_be_chosen_after_the_documents_are_gone(corpus, later):
    summed = TextClassifier().fit(corpus.texts, corpus.labels).statistics_
    agree(
        TextClassifier(**later).fit_statistics(summed),
        TextClassifier(**later).fit(corpus.texts, corpus.labels),
        corpus.asked,
    )


def test_words_that_are_gone_leave_the_vocabulary():
    model = TextClassifier().fit(["red green", "green blue"], ["a", "b"])
    assert list(model.vocabulary_) == ["blue", "green", "red"]
    model.forget(["red green"], ["a"])
    assert list(model.vocabulary_) == ["blue", "green"]
    assert model.classes_.tolist() == ["b"]
    assert model.statistics_.nbytes == TextClassifier().fit(["green blue"], ["b"]).statistics_.nbytes


def test_statistics_taken_earlier_do_not_grow_with_the_model():
    model = TextClassifier().fit(["red green"], ["a"])
    before = model.statistics_
    model.partial_fit(["blue"], ["a"])
    assert before == TextClassifier().fit(["red green"], ["a"]).statistics_
    assert list(TextClassifier().fit_statistics(before).vocabulary_) == ["green", "red"]


def test_a_sum_of_models_leaves_both_as_they_were(corpus):
    one = TextClassifier().fit(*corpus.part(np.arange(30)))
    two = TextClassifier().fit(*corpus.part(np.arange(30, 60)))
    before = one.statistics_, two.statistics_
    (one + two).partial_fit(["something new"], ["z"])
    assert (one.statistics_, two.statistics_) == before


def test_forgetting_what_was_never_fitted_is_refused_and_changes_nothing(corpus):
    model = TextClassifier().fit(corpus.texts, corpus.labels)
    before = model.statistics_
    with pytest.raises(ValueError, match="the word 'unheard' a negative number of times"):
        model.forget(["unheard"], ["a"])
    with pytest.raises(ValueError, match="cannot forget"):
        model.forget(corpus.texts + corpus.texts, np.tile(corpus.labels, 2))
    assert model.statistics_ == before


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_missing_document_cannot_be_forgotten_as_an_empty_one(event):
    model = TextClassifier(event).fit([None, "aa bb", "cc"], ["x", "x", "y"])
    with pytest.raises(ValueError, match="more documents than there are"):
        model.forget([""], ["x"])
    with pytest.raises(ValueError, match="documents"):
        TextClassifier(event).fit(["", "cc"], ["x", "y"]).forget([None], ["x"])


DOCUMENT = st.one_of(st.none(), st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), max_size=4).map(" ".join))
ROWS = st.lists(st.tuples(DOCUMENT, st.sampled_from("xyz")), min_size=1, max_size=8)


def summed(rows, **choices):
    return TextClassifier(**choices).fit(*zip(*rows, strict=True)).statistics_


@settings(deadline=None, max_examples=60)
@given(a=ROWS, b=ROWS, c=ROWS)
def test_statistics_are_an_additive_group(a, b, c):
    one, two, three = summed(a), summed(b), summed(c)
    assert one + two == summed(a + b) == two + one
    assert (one + two) + three == one + (two + three)
    assert (one + two) - two == one
    assert one - one == one.zero()
    assert -(one - two) == two - one
    assert (one - two) + (two - three) == one - three
    assert sum([one, two, three]) == summed(a + b + c)


@settings(deadline=None, max_examples=40)
@given(a=ROWS, b=ROWS, factor=st.sampled_from([0.5, 2.0, 0.25, 8.0]))
def test_scaling_is_linear_and_weighs_every_document(a, b, factor):
    one, two = summed(a), summed(b)
    assert (one + two) * factor == one * factor + two * factor
    assert (one * factor) * (1.0 / factor) == one
    weighted = TextClassifier().fit(*zip(*a, strict=True), np.full(len(a), factor)).statistics_
    assert one * factor == weighted


@settings(deadline=None, max_examples=40)
@given(
    rows=ROWS,
    cut=st.integers(0, 8),
    event=st.sampled_from(["multinomial", "bernoulli", "complement"]),
    length=st.sampled_from([None, "l2"]),
)
def test_any_cut_gives_the_posteriors_of_one_fit(rows, cut, event, length):
    asked = ["aa", "aa bb bb zz", "", None]
    whole = TextClassifier(event, length=length).fit(*zip(*rows, strict=True))
    parts = TextClassifier(event, length=length)
    for part in (rows[cut:], rows[:cut]):
        if part:
            parts.partial_fit(*zip(*part, strict=True))
    agree(parts, whole, asked)
    assert np.isfinite(whole.predict_proba(asked)).all()


EXACT_CHOICES = [
    {"event": event, **choices}
    for event in ("multinomial", "bernoulli", "complement")
    for choices in (
        {},
        {"alpha": 0.3, "min_count": 2},
        {"max_vocabulary": 5, "ngram_range": (1, 2)},
        {"tf": "binary", "unseen": "smooth"},
        *([{"alpha": 0.0}] if event != "complement" else []),
        *([{"idf": True}, {"weight_norm": True}] if event != "bernoulli" else []),
        *([{"idf": True, "weight_norm": True, "tf": "binary"}] if event != "bernoulli" else []),
    )
]
LONGER = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "ee", "ff", "gg"]), max_size=9).map(" ".join),
        st.sampled_from("xyz"),
    ),
    min_size=2,
    max_size=12,
)


def answers(model):
    """All that a model says, to the last bit."""
    asked = ["aa", "bb aa cc cc zz", "gg dd ff ee", "", None]
    said = [model.predict_joint_log_proba(asked)]
    words = [model.top_words(label, 4, by) for label in model.classes_ for by in ("probability", "evidence")]
    if model.event != "complement" and not model.weight_norm:
        evidence = model.evidence()
        said += [model.log_likelihood_, model.perplexity(asked), evidence.kl, evidence.bhattacharyya]
        words += [model.generate(model.classes_[0], 5, 0), *model.sample(3, 0)[0]]
    return [np.asarray(one).tobytes() for one in said], words, model.vocabulary_


@pytest.mark.parametrize("choices", EXACT_CHOICES, ids=str)
@settings(deadline=None, max_examples=4)
@given(rows=LONGER, cut=st.integers(1, 11), chance=st.randoms(use_true_random=False))
def test_any_batches_order_and_merge_give_the_same_model_to_the_last_bit(choices, rows, cut, chance):
    one = TextClassifier(**choices).fit(*zip(*rows, strict=True))
    mixed = chance.sample(rows, len(rows))
    batches = [part for part in (mixed[:cut], mixed[cut:]) if part]
    in_turn = TextClassifier(**choices)
    for part in batches:
        in_turn.partial_fit(*zip(*part, strict=True))
    parts = [TextClassifier(**choices).fit(*zip(*part, strict=True)) for part in batches]
    merged = functools.reduce(operator.add, parts)
    forgetful = TextClassifier(**choices).fit(*zip(*(mixed + rows), strict=True))
    forgetful.forget(*zip(*mixed, strict=True))
    for other in (in_turn, merged, forgetful):
        assert answers(other) == answers(one)
