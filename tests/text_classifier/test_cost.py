"""Many classes stay sparse, one document costs what it is, and a vocabulary can be cut."""

import tracemalloc

import numpy as np
import pytest

from suffice import TextClassifier
from suffice.factors import word_counts


def words(ids):
    return " ".join(f"w{i}" for i in ids)


@pytest.fixture(scope="module")
def many_classes():
    """2,000 classes and 20,000 words, of which a class knows twenty."""
    rng = np.random.default_rng(0)
    texts = [words(rng.integers(0, 20_000, 20)) for _ in range(2_000)]
    return TextClassifier().fit(texts, np.arange(2_000)), texts


def peak(work):
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_two_thousand_classes_stay_sparse(many_classes):
    model, texts = many_classes
    dense = 8 * 2_000 * len(model.vocabulary_)
    assert model.statistics_.nbytes < dense / 100
    assert peak(lambda: TextClassifier().fit(texts, np.arange(2_000)).predict(texts[:5])) < dense / 10
    assert model.predict(texts[:50]).tolist() == list(range(50))


def test_many_classes_are_described_in_one_pass(many_classes):
    model, texts = many_classes
    joint = model.predict_joint_log_proba(texts)
    np.testing.assert_allclose(model.log_likelihood_, np.trace(joint))
    terms, gains = model.explain(texts[7]).words(0)
    assert gains.shape == (len(terms), 2_000)


def test_one_more_document_does_not_touch_the_model(many_classes):
    _, texts = many_classes
    model = TextClassifier().fit(texts, np.arange(2_000))
    model.partial_fit(["w1 w2"], [0])
    size = model.statistics_.nbytes
    model.partial_fit(["w1 w2"], [0])  # the statistics above share the vocabulary: it is copied once
    assert peak(lambda: model.partial_fit(["w1 w3"], [5])) < size / 5


def test_waiting_documents_are_not_counted_again_with_each_new_one(monkeypatch):
    lengths = 0
    plain = word_counts.Entries.__len__

    def counted(entries):
        nonlocal lengths
        lengths += 1
        return plain(entries)

    monkeypatch.setattr(word_counts.Entries, "__len__", counted)
    model = TextClassifier().fit(["one two"], ["a"])
    for _ in range(100):
        model.partial_fit(["one two three"], ["a"])
    assert lengths < 1_000


def test_waiting_documents_are_summed_when_many_wait(monkeypatch):
    monkeypatch.setattr(word_counts, "PENDING", 10)
    model = TextClassifier().fit(["one two"], ["a"])
    for i in range(40):
        model.partial_fit(["one two three"], ["ab"[i % 2]])
    assert len(model._learnt.accumulator.totals[0].columns[0]._entries) < 10
    whole = TextClassifier().fit(["one two"] + ["one two three"] * 40, ["a", *["a", "b"] * 20])
    assert model.statistics_ == whole.statistics_


def test_the_most_common_words_stay_and_ties_go_by_code_point():
    texts = ["zz bb", "zz aa bb", "cc aa éé", "cc dd 東京"]
    fitted = TextClassifier().fit(texts, ["x", "x", "y", "y"]).statistics_
    assert list(TextClassifier(max_vocabulary=1).fit_statistics(fitted).vocabulary_) == ["aa"]
    assert list(TextClassifier(max_vocabulary=3).fit_statistics(fitted).vocabulary_) == ["aa", "bb", "cc"]
    assert list(TextClassifier(max_vocabulary=4).fit_statistics(fitted).vocabulary_) == [
        "aa",
        "bb",
        "cc",
        "zz",
    ]
    assert list(TextClassifier(max_vocabulary=6).fit_statistics(fitted).vocabulary_)[-2:] == ["zz", "éé"]
    assert len(TextClassifier(max_vocabulary=99).fit_statistics(fitted).vocabulary_) == 7


def test_words_are_counted_by_documents_not_by_repeats():
    texts = ["rare rare rare rare", "common", "common"]
    assert list(TextClassifier(max_vocabulary=1).fit(texts, ["x", "x", "y"]).vocabulary_) == ["common"]
    assert list(TextClassifier(min_count=2).fit(texts, ["x", "x", "y"]).vocabulary_) == ["common"]


def test_a_cut_vocabulary_comes_back_with_more_documents():
    model = TextClassifier(min_count=2).fit(["late early", "early"], ["x", "y"])
    assert list(model.vocabulary_) == ["early"]
    assert list(model.partial_fit(["late"], ["y"]).vocabulary_) == ["early", "late"]
    assert list(model.forget(["early"], ["y"]).vocabulary_) == ["late"]


def test_a_document_of_a_million_words_is_one_document():
    text = "again and " * 500_000
    model = TextClassifier().fit([text, "other"], ["x", "y"])
    assert model.top_words("x", 2)[0][0] == "again"
    assert np.isfinite(model.predict_proba([text])).all()
