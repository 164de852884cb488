"""A model that lacks a value says why, by an error that `hasattr`, `dir` and the HTML of notebooks expect."""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import suffice
from suffice import dropin

RNG = np.random.default_rng(0)
Y = np.array(["a", "b", "c"] * 15)
COUNTS = RNG.integers(0, 5, (45, 3)).astype(float)
TEXTS = ["good film", "bad film", "no fun"] * 15
COSTS = np.ones((3, 3)) - np.eye(3)
NEEDED = {
    "CostSensitive": (suffice.EvidenceClassifier(), COSTS),
    "Calibrated": (suffice.BayesClassifier(),),
    "NoveltyDetector": (suffice.BayesClassifier(),),
    "OnePassSelector": (suffice.BayesClassifier(),),
    "OnePassSearchCV": (suffice.BayesClassifier(), {"priors": [None, "uniform"]}),
    "WithPriors": (suffice.EvidenceClassifier(), "uniform"),
}
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)(*NEEDED.get(name, ()))
    for module in (suffice, dropin)
    for name in module.__all__
    if inspect.isclass(getattr(module, name)) and issubclass(getattr(module, name), BaseEstimator)
}
SPECIAL = {
    "histograms": suffice.BayesClassifier("histogram"),
    "complement": suffice.TextClassifier("complement"),
    "evidence of documents": suffice.EvidenceClassifier(),
}
MODELS = PUBLIC | SPECIAL


def reason_of_absence(model, attribute):
    """Why an attribute is not there; any other error fails the test."""
    try:
        getattr(model, attribute)
    except AttributeError as error:
        return str(error)
    return "it is there"


@pytest.mark.parametrize("name", MODELS)
def test_what_a_model_lacks_is_an_attribute_that_is_not_there(name):
    model = MODELS[name]
    reads_text = isinstance(model, suffice.TextClassifier) or "documents" in name
    for fitted in (False, True):
        if fitted:
            model.fit(TEXTS if reads_text else COUNTS, Y)
        assert all(reason_of_absence(model, attribute) for attribute in object.__dir__(model))
        assert "predict" in dir(model)
        assert inspect.getmembers(model)
        assert type(model).__name__ in model._repr_html_()


@pytest.mark.parametrize("name", ["aic_", "bic_"])
def test_weighed_evidence_says_why_it_has_no_criteria(name):
    model = suffice.EvidenceClassifier().fit(COUNTS, Y)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=r"no aic_ or bic_: .* compare log_likelihood\(X, y\)"):
        getattr(model, name)
    assert np.isfinite(getattr(model.generative_, name))
