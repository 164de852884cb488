"""Many classes stay sparse, one document costs what it is, and a vocabulary can be cut."""

import os
import subprocess
import sys

import numpy as np
import pytest

from suffice import TextClassifier
from suffice.factors import sparse_sums as entries
from suffice.factors.words import word_counts
from suffice.text import Vocabulary


def words(ids):
    return " ".join(f"w{i}" for i in ids)


@pytest.fixture(scope="module")
def many_classes():
    """2,000 classes and 20,000 words, of which a class knows twenty."""
    rng = np.random.default_rng(0)
    texts = [words(rng.integers(0, 20_000, 20)) for _ in range(2_000)]
    return TextClassifier().fit(texts, np.arange(2_000)), texts


def test_two_thousand_classes_stay_sparse(many_classes, peak_memory):
    model, texts = many_classes
    dense = 8 * 2_000 * len(model.vocabulary_)
    assert model.statistics_.nbytes < dense / 100
    assert peak_memory(lambda: TextClassifier().fit(texts, np.arange(2_000)).predict(texts[:5])) < dense / 10
    assert model.predict(texts[:50]).tolist() == list(range(50))


def test_many_classes_are_described_in_one_pass(many_classes):
    model, texts = many_classes
    joint = model.predict_joint_log_proba(texts)
    np.testing.assert_allclose(model.log_likelihood_, np.trace(joint))
    terms, gains = model.explain(texts[7]).words(0)
    assert gains.shape == (len(terms), 2_000)


def test_one_more_document_does_not_touch_the_model(many_classes, peak_memory):
    _, texts = many_classes
    model = TextClassifier().fit(texts, np.arange(2_000))
    model.partial_fit(["w1 w2"], [0])
    size = model.statistics_.nbytes
    model.partial_fit(["w1 w2"], [0])  # the statistics above share the vocabulary: it is copied once
    assert peak_memory(lambda: model.partial_fit(["w1 w3"], [5])) < size / 5


def test_forgetting_and_learning_in_turns_copies_no_vocabulary(monkeypatch):
    copied, plain = [], Vocabulary.copy
    monkeypatch.setattr(Vocabulary, "copy", lambda self: copied.append(len(self)) or plain(self))
    monkeypatch.setattr(word_counts, "FEW", 1)
    model = TextClassifier().fit(["one two three", "two four", "five"] * 3, ["a", "b", "b"] * 3)
    before = model.statistics_
    model.partial_fit(["two"], ["a"]).forget(["two"], ["a"])  # after new classes it is copied once
    copied.clear()
    for _ in range(3):
        model.forget(["two four"], ["b"]).partial_fit(["one two"], ["a"])
        model.forget(["one two"], ["a"]).partial_fit(["two four"], ["b"])
    assert max(copied) < len(model.vocabulary_)
    assert model.statistics_ == before


def test_a_few_documents_are_forgotten_without_sorting_the_model(monkeypatch):
    texts, labels = ["one two three", "two four", "five two", "six"] * 10, ["a", "b", "b", "c"] * 10
    model = TextClassifier().fit([*texts, "seven two"], [*labels, "b"])
    model.predict(texts)
    expected = TextClassifier().fit(texts, labels).statistics_
    sorted_entries, plain = [], word_counts.summed

    def summed(parts):
        sorted_entries.extend(map(len, parts))
        return plain(parts)

    monkeypatch.setattr(word_counts, "summed", summed)
    monkeypatch.setattr(word_counts, "FEW", 1)
    model.forget(["seven two"], ["b"])
    assert max(sorted_entries, default=0) <= 2
    assert model.statistics_ == expected
    assert "seven" not in model.vocabulary_
    with pytest.raises(ValueError, match="the word 'one' a negative number of times"):
        model.forget(["one"], ["b"])


def test_waiting_documents_are_not_counted_again_with_each_new_one(monkeypatch):
    lengths = 0
    plain = word_counts.SparseSums.__len__

    def counted(entries):
        nonlocal lengths
        lengths += 1
        return plain(entries)

    monkeypatch.setattr(word_counts.SparseSums, "__len__", counted)
    model = TextClassifier().fit(["one two"], ["a"])
    for _ in range(100):
        model.partial_fit(["one two three"], ["a"])
    assert lengths < 1_000


def test_waiting_documents_are_summed_when_many_wait(monkeypatch):
    monkeypatch.setattr(entries, "PENDING", 10)
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


MILLION_WORDS = """
import sys
from pathlib import Path
import numpy as np
from suffice import TextClassifier

def status(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024

ids = np.concatenate([np.arange(10**6), np.random.default_rng(0).integers(0, 10**6, int(sys.argv[1]))])
np.random.default_rng(1).shuffle(ids)
texts = [" ".join(map("word{}".format, ids[i : i + 200].tolist())) for i in range(0, len(ids), 200)]
labels = np.arange(len(texts)) % 20
TextClassifier().fit(texts[:1500], labels[:1500]).predict(texts[:1500])  # what is loaded and compiled once
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
model = TextClassifier().fit(texts, labels)
model.predict_proba(texts)
print(status("VmHWM") - before)
assert len(model.vocabulary_) == 10**6
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("more", [10**6, pytest.param(34 * 10**5, marks=pytest.mark.slow)])
def test_a_million_words_of_twenty_classes_fit_and_predict_in_less_than_400_megabytes(more):
    # What malloc keeps of what was freed depends on the order in which threads run, and is not measured.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": str(1 << 17), "MALLOC_TRIM_THRESHOLD_": "0"}
    command = [sys.executable, "-c", MILLION_WORDS, str(more)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603
    assert float(run.stdout) < 300


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"])
def test_many_classes_are_scored_in_the_space_of_the_answer(many_classes, ask, peak_memory):
    model, texts = many_classes
    texts = texts * 5  # 10,000 documents: their scores take 160 MB
    getattr(model, ask)(texts[:5])
    answer = 0 if ask == "predict" else 8 * len(texts) * 2_000
    assert peak_memory(lambda: getattr(model, ask)(texts)) < answer + (64 << 20)


def test_a_copy_of_the_statistics_does_not_make_the_next_document_dear(many_classes, peak_memory):
    _, texts = many_classes
    peaks = []
    for _ in range(3):
        model = TextClassifier().fit(texts, np.arange(2_000))
        model.partial_fit(["first after fit"], [0])
        before = model.statistics_
        model.predict(["w1"])
        peaks.append(peak_memory(lambda model=model: model.partial_fit(["brand new"], [5]), runs=1))
    assert min(peaks) < before.nbytes / 10
    assert "brand" not in TextClassifier().fit_statistics(before).vocabulary_
    grown = TextClassifier().fit_statistics(before).partial_fit(["other brand"], [7])
    assert "other" in grown.vocabulary_
    assert "other" not in model.vocabulary_
    assert (
        grown.statistics_
        == TextClassifier().fit([*texts, "first after fit", "other brand"], [*range(2_000), 0, 7]).statistics_
    )
