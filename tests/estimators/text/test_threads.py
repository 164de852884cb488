"""One model, several threads."""

import pickle
from threading import Event, Thread

import numpy as np

from suffice import TextClassifier


def test_learning_and_asking_at_once_loses_no_word():
    model = TextClassifier().fit(["start here"], ["a"])
    texts, labels = [f"word{i} again" for i in range(200)], ["ab"[i % 2] for i in range(200)]
    done, seen = Event(), []

    def ask():
        while not done.is_set():
            seen.append(model.predict_proba(["start again word7"]))

    asking = Thread(target=ask)
    asking.start()
    for text, label in zip(texts, labels, strict=True):
        model.partial_fit([text], [label])
    done.set()
    asking.join()
    whole = TextClassifier().fit(["start here", *texts], ["a", *labels])
    assert model.statistics_ == whole.statistics_
    np.testing.assert_array_equal(model.predict_proba(["word7"]), whole.predict_proba(["word7"]))
    assert all(np.isfinite(p).all() for p in seen)


def test_two_threads_may_learn_at_once():
    model = TextClassifier().fit(["start"], ["a"])

    def learn(name):
        for i in range(100):
            model.partial_fit([f"{name}{i} both"], [name])

    learning = [Thread(target=learn, args=(name,)) for name in ("a", "b")]
    for thread in learning:
        thread.start()
    for thread in learning:
        thread.join()
    assert len(model.vocabulary_) == 202
    assert model.statistics_.n_rows == 201


def test_a_model_that_was_asked_is_pickled_and_learns_on():
    model = TextClassifier().fit(["good film", "bad"], ["+", "-"])
    model.predict(["good"])
    twin = pickle.loads(pickle.dumps(model))  # noqa: S301
    twin.partial_fit(["new words"], ["-"])
    model.partial_fit(["new words"], ["-"])
    assert twin.statistics_ == model.statistics_
    np.testing.assert_array_equal(twin.predict_proba(["new"]), model.predict_proba(["new"]))
