"""Copies, searches and stored models, as for every scikit-learn estimator."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from suffice import TextClassifier

SETTINGS = {
    "event": "complement",
    "alpha": 0.3,
    "ngram_range": [1, 2],
    "stop_words": {"the", "of"},
    "tf": "log",
    "length": "l2",
    "idf": True,
    "weight_norm": True,
    "min_count": 2,
    "max_vocabulary": 40,
    "priors": "uniform",
}


def test_parameters_are_stored_as_given_and_cloned(corpus):
    model = TextClassifier(**SETTINGS)
    assert model.get_params().items() >= SETTINGS.items()
    fitted = model.fit(corpus.texts, corpus.labels)
    assert fitted.get_params()["stop_words"] is SETTINGS["stop_words"]
    twin = clone(fitted)
    assert twin.get_params() == model.get_params()
    twin.fit(corpus.texts, corpus.labels)
    assert np.array_equal(twin.predict_proba(corpus.asked), model.predict_proba(corpus.asked))


@pytest.mark.parametrize(
    "settings", [{}, {"event": "bernoulli"}, SETTINGS], ids=["plain", "presence", "many"]
)
def test_a_stored_model_predicts_and_goes_on_learning(corpus, settings):
    model = TextClassifier(**settings).fit(corpus.texts, corpus.labels)
    stored = pickle.loads(pickle.dumps(model))  # noqa: S301  our own bytes
    assert np.array_equal(stored.predict_proba(corpus.asked), model.predict_proba(corpus.asked))
    for one in (stored, model):
        one.partial_fit(["brand new words", None], ["new", "a"])
    assert stored.statistics_ == model.statistics_
    assert np.array_equal(stored.predict_proba(corpus.asked), model.predict_proba(corpus.asked))


def test_settings_are_searched_on_lists_of_strings(corpus):
    grid = {"alpha": [0.1, 1.0], "event": ["multinomial", "bernoulli", "complement"]}
    search = GridSearchCV(TextClassifier(), grid, cv=3, error_score="raise").fit(corpus.texts, corpus.labels)
    assert search.best_score_ > 1 / 3
    assert search.predict(corpus.asked).shape == (len(corpus.asked),)


def test_a_pipeline_ends_in_it(corpus):
    scores = cross_val_score(make_pipeline(TextClassifier()), corpus.texts, corpus.labels, cv=3)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("labels", [[3, 1, 3], [True, False, True], ["é", "a", "é"]], ids=str)
def test_labels_of_any_type_come_back(labels):
    model = TextClassifier().fit(["good film", "bad film", "good"], labels)
    assert model.predict(["good", "bad"]).tolist() == labels[:2]
    assert model.top_words(labels[0], 1)[0][0] == "good"
    assert model.explain("good").evidence(0, labels[0], labels[1])[0][0] == "good"


def test_other_priors_need_no_refit(corpus):
    model = TextClassifier().fit(corpus.texts, corpus.labels)
    again = TextClassifier(priors="uniform").fit(corpus.texts, corpus.labels)
    changed = model.with_priors("uniform")
    np.testing.assert_allclose(changed.predict_proba(corpus.asked), again.predict_proba(corpus.asked))


def test_what_was_learnt_is_counted():
    model = TextClassifier().fit(["good film fun", "bad film film"], ["+", "-"])
    assert model.n_parameters_ == 2 * 3 + 1
    assert TextClassifier("bernoulli").fit(["good film fun", "bad"], ["+", "-"]).n_parameters_ == 2 * 4 + 1
    assert np.isfinite([model.aic_, model.bic_]).all()
    parameters = next(iter(model.parameters_.values()))
    assert parameters["words"].tolist() == [3, 2]
    assert parameters["mean_length"].tolist() == [3.0, 3.0]
