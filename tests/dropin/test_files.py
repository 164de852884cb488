"""Drop-ins are saved and loaded like every model, under a name of their own."""

import io

import numpy as np
import pytest

import suffice
from suffice import dropin

rng = np.random.default_rng(0)
Y = np.array(["a", "b", "c"])[rng.integers(3, size=90)]
NUMBERS = rng.normal(size=(90, 4)) + (Y == "b")[:, np.newaxis]
COUNTS = rng.poisson(2.0 + 3.0 * (Y == "b")[:, np.newaxis], size=(90, 4))
ROWS = {"BernoulliNB": NUMBERS, "MultinomialNB": COUNTS, "ComplementNB": COUNTS, "CategoricalNB": COUNTS}


def reloaded(model):
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    return suffice.load(file)


@pytest.mark.parametrize("name", dropin.__all__)
def test_a_loaded_drop_in_is_the_same_estimator(name):
    X = ROWS.get(name, NUMBERS)
    model = getattr(dropin, name)().fit(X, Y)
    again = reloaded(model)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", [name for name in dropin.__all__ if name != "LogisticRegression"])
def test_a_loaded_drop_in_knows_its_declared_classes_and_learns_on(name):
    X = ROWS.get(name, NUMBERS)
    model = getattr(dropin, name)().partial_fit(X, Y, classes=["a", "b", "c"])
    again = reloaded(model)
    with pytest.raises(ValueError, match="initial classes"):
        again.partial_fit(X[:2], ["a", "d"])
    both = [one.partial_fit(X[:30], Y[:30]).predict_proba(X) for one in (model, again)]
    np.testing.assert_array_equal(*both)
