"""A fitted model depends on nothing outside: its settings are those that it was fitted with."""

import copy
import io
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import suffice
from suffice import BayesClassifier, CostSensitive, GaussianDiscriminant, TextClassifier, WithPriors, dropin
from suffice.families import Gamma, Normal, Words

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 20)
NUMBERS = np.abs(RNG.normal(1.0 + Y[:, np.newaxis], 1.0, (60, 3))) + 0.1
COUNTS = RNG.poisson(1.0 + Y[:, np.newaxis], (60, 3))
TEXTS = [("good film " * (1 + k) + "bad fun " * (2 - k)).strip() for k in Y]


def array():
    return np.array([0.2, 0.3, 0.5])


def reverse(values):
    values[:] = values[::-1]


def swap_labels(priors):
    priors[0], priors[2] = priors[2], priors[0]


def give(key, value):
    def change(settings):
        settings[key] = value

    return change


CASES = {
    "array": (BayesClassifier, NUMBERS, "priors", array, reverse),
    "list": (BayesClassifier, NUMBERS, "priors", lambda: [0.2, 0.3, 0.5], list.reverse),
    "dict": (BayesClassifier, NUMBERS, "priors", lambda: {0: 0.2, 1: 0.3, 2: 0.5}, swap_labels),
    "Series": (BayesClassifier, NUMBERS, "priors", lambda: pd.Series([0.2, 0.3, 0.5]), swap_labels),
    "families": (BayesClassifier, NUMBERS, "families", lambda: {0: Gamma()}, give(0, Normal())),
    "discriminant": (GaussianDiscriminant, NUMBERS, "priors", array, reverse),
    "groups": (
        GaussianDiscriminant,
        NUMBERS,
        "covariance",
        lambda: [[0, 1], [2]],
        lambda groups: groups[0].append(groups[1].pop()),
    ),
    "text": (TextClassifier, TEXTS, "priors", array, reverse),
    "stop words": (TextClassifier, TEXTS, "stop_words", lambda: ["film"], lambda words: words.append("fun")),
    "set of stop words": (TextClassifier, TEXTS, "stop_words", lambda: {"film"}, lambda s: s.add("fun")),
    "class_weight": (suffice.LogisticRegression, NUMBERS, "class_weight", lambda: {0: 2.0}, give(0, 9.0)),
    "probit": (suffice.ProbitRegression, NUMBERS, "class_weight", lambda: {0: 2.0}, give(0, 9.0)),
    "logistic drop-in": (dropin.LogisticRegression, NUMBERS, "class_weight", lambda: {0: 2.0}, give(0, 9.0)),
    "GaussianNB": (dropin.GaussianNB, NUMBERS, "priors", array, reverse),
    "MultinomialNB": (dropin.MultinomialNB, COUNTS, "class_prior", array, reverse),
    "alpha": (dropin.MultinomialNB, COUNTS, "alpha", lambda: np.array([1.0, 2.0, 3.0]), reverse),
    "ComplementNB": (dropin.ComplementNB, COUNTS, "alpha", lambda: [1.0, 2.0, 3.0], list.reverse),
    "BernoulliNB": (dropin.BernoulliNB, COUNTS, "class_prior", lambda: [0.2, 0.3, 0.5], list.reverse),
    "CategoricalNB": (dropin.CategoricalNB, COUNTS, "class_prior", array, reverse),
    "categories": (dropin.CategoricalNB, COUNTS, "min_categories", lambda: [20, 30, 40], list.reverse),
    "LDA": (dropin.LinearDiscriminantAnalysis, NUMBERS, "priors", array, reverse),
    "QDA": (dropin.QuadraticDiscriminantAnalysis, NUMBERS, "priors", array, reverse),
}


def unsolved(name):
    """A model fitted with settings that have been changed since, and one with settings that have not."""
    estimator, X, setting, make, change = CASES[name]
    given = make()
    fitted = [estimator(**{setting: value}).fit(X, Y) for value in (given, make())]
    change(given)
    assert getattr(fitted[0], setting) is given
    assert fitted[0].get_params()[setting] is given
    return *fitted, X


def saved(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def assert_equal_models(one, other, X):
    assert np.array_equal(one.predict_proba(X), other.predict_proba(X))
    assert saved(one) == saved(other)


@pytest.mark.parametrize("name", CASES)
def test_settings_changed_after_fit_change_neither_predictions_nor_files(name):
    changed, kept, X = unsolved(name)
    assert_equal_models(changed, kept, X)


@pytest.mark.parametrize("name", CASES)
def test_copies_and_pickles_keep_the_settings_of_the_fit(name):
    changed, kept, X = unsolved(name)
    unpickled = pickle.loads(pickle.dumps(changed))  # noqa: S301, it is our own
    for again in (copy.copy(changed), copy.deepcopy(changed), unpickled):
        assert_equal_models(again, kept, X)


ADDING = [name for name, (estimator, *_) in CASES.items() if hasattr(estimator, "merge")]


@pytest.mark.parametrize("name", ADDING)
def test_rows_are_added_under_the_settings_of_the_fit(name):
    changed, kept, X = unsolved(name)
    assert_equal_models(changed.partial_fit(X, Y), kept.partial_fit(X, Y), X)


@pytest.mark.parametrize("name", ADDING)
def test_models_are_merged_and_rows_forgotten_under_the_settings_of_the_fit(name):
    changed, kept, X = unsolved(name)
    more = copy.copy(kept)
    assert_equal_models(changed.merge(more), kept.merge(more), X)
    assert_equal_models(changed.forget(more), kept.forget(more), X)


@pytest.mark.parametrize("name", ADDING)
def test_a_change_after_partial_fit_changes_nothing_either(name):
    estimator, X, setting, make, change = CASES[name]
    given = make()
    changed, kept = (
        estimator(**{setting: value}).partial_fit(X[::2], Y[::2]).partial_fit(X[1::2], Y[1::2])
        for value in (given, make())
    )
    change(given)
    assert_equal_models(changed, kept, X)


@pytest.mark.parametrize("name", ADDING)
def test_priors_given_to_with_priors_are_copied(name):
    estimator, X, *_ = CASES[name]
    given = array()
    models = [estimator().fit(X, Y).with_priors(priors) for priors in (given, array())]
    reverse(given)
    assert_equal_models(*models, X)
    assert_equal_models(*(model.partial_fit(X, Y) for model in models), X)


def test_a_setting_that_is_replaced_acts_when_rows_are_added_and_not_before():
    model = BayesClassifier(Normal()).fit(NUMBERS[:50], Y[:50])
    model.set_params(priors="uniform")
    assert model.priors_[2] == pytest.approx(0.2)
    assert model.partial_fit(NUMBERS[50:], Y[50:]).priors_[2] == pytest.approx(1 / 3)


def test_a_loaded_model_keeps_the_settings_of_its_file():
    model = BayesClassifier(Normal(), priors=array()).fit(NUMBERS, Y)
    before = saved(model)
    loaded = suffice.load(io.BytesIO(before))
    reverse(loaded.priors)
    assert saved(loaded) == before
    assert np.array_equal(loaded.predict_proba(NUMBERS), model.predict_proba(NUMBERS))


def test_costs_changed_after_fit_change_no_decision():
    costs = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    model = CostSensitive(LogisticRegression(), costs).fit(NUMBERS, Y)
    before = model.predict(NUMBERS)
    costs[:] = costs.T * 50.0
    assert model.costs is costs
    assert np.array_equal(model.predict(NUMBERS), before)
    assert model.costs_[0, 2] == 9.0


def test_priors_changed_after_fit_change_no_posterior():
    new, old = array(), {0: 0.3, 1: 0.3, 2: 0.4}
    model = WithPriors(LogisticRegression(), new, training_priors=old).fit(NUMBERS, Y)
    before = model.predict_proba(NUMBERS)
    reverse(new)
    swap_labels(old)
    assert np.array_equal(model.predict_proba(NUMBERS), before)


def test_families_hold_no_list_of_their_caller():
    words = ["film"]
    family = Words(stop_words=words)
    words.append("fun")
    assert family.stop_words == ("film",)


@pytest.mark.parametrize("name", CASES)
def test_a_clone_has_the_settings_as_they_are_now(name):
    changed, _, _ = unsolved(name)
    cloned, given = (getattr(model, CASES[name][2]) for model in (clone(changed), changed))
    if isinstance(given, set):
        assert cloned == given  # sets that are equal may print in another order
    else:
        assert repr(cloned) == repr(given)


@pytest.mark.parametrize(
    "model, X",
    [
        (BayesClassifier(), NUMBERS),
        (GaussianDiscriminant("full"), NUMBERS),
        (TextClassifier(), TEXTS),
        (suffice.LogisticRegression(), NUMBERS),
        (dropin.GaussianNB(), NUMBERS),
        (dropin.MultinomialNB(), COUNTS),
        (dropin.LinearDiscriminantAnalysis(), NUMBERS),
        (dropin.QuadraticDiscriminantAnalysis(), NUMBERS),
    ],
    ids=lambda value: repr(value) if hasattr(value, "fit") else "",
)
def test_what_a_fitted_model_hands_out_cannot_change_it(model, X):
    model = clone(model).fit(X, Y)
    expected = model.predict_proba(X)
    for one in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
        with pytest.raises(ValueError, match="read-only"):
            one.classes_[:] = 7
        priors = one.priors_
        if priors.flags.writeable:  # a copy
            priors[:] = priors[::-1] + 1.0
        assert set(one.predict(X)) == {0, 1, 2}
        np.testing.assert_array_equal(one.predict_proba(X), expected)


def test_explanations_hand_out_no_classes_that_can_be_changed():
    model = BayesClassifier().fit(NUMBERS, Y)
    for held in (model.explain(NUMBERS), model.evidence(), model.statistics_):
        with pytest.raises(ValueError, match="read-only"):
            held.classes[:] = 7
    assert model.classes_.tolist() == [0, 1, 2]
