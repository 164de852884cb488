"""A calibrated classifier in a file: the file of its model, and the map."""

import numpy as np
import pytest

from suffice import BayesClassifier, Calibrated, SufficeFileError

from .conftest import MODELS, calibrated, loaded, saved
from .parts import changed, with_tensor


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("method", ["temperature", "vector", "isotonic"])
def test_a_loaded_classifier_predicts_the_same_bits(name, method):
    model, X = calibrated(name, method, priors="uniform")
    packed = saved(model)
    twin = loaded(packed)
    assert type(twin.model_) is type(model.model_)
    assert twin.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert twin.priors_.tolist() == model.priors_.tolist()
    assert saved(twin) == packed


@pytest.fixture
def small():
    X = [[1.0], [2.0], [2.5], [3.0], [4.0], [4.2]]
    return {
        method: saved(Calibrated(BayesClassifier(), method, cv=2).fit(X, ["a", "a", "b", "a", "b", "b"]))
        for method in ("vector", "isotonic")
    }


def test_maps_that_are_none_are_refused(small):
    for name, array in {
        "calibration.bias": np.zeros(3),
        "shares": np.array([0.5, 0.6]),
    }.items():
        with pytest.raises(SufficeFileError, match=name.replace(".", r"\.")):
            loaded(with_tensor(small["vector"], name, array))
    for name, array in {
        "calibration.steps.0.posteriors": np.array([0.9, 0.1]),
        "calibration.steps.0.frequencies": np.array([0.5, 1.5]),
    }.items():
        length = len(loaded(small["isotonic"])._calibration.posteriors[0])
        with pytest.raises(SufficeFileError, match="steps"):
            loaded(with_tensor(small["isotonic"], name, np.resize(array, length)))


@pytest.mark.parametrize("slope", [0.0, -1.0, 1, {"$float": "nan"}, {"$float": "inf"}, "1"])
def test_slopes_that_are_not_positive_are_refused(small, slope):
    with pytest.raises(SufficeFileError, match="slope"):
        loaded(changed(small["vector"], lambda content: content["calibration"].update(slope=slope)))


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "platt"},
        {"cv": [1]},
        {"method": ["vector"]},
        {"other": 1},
        {"priors": 3},
        {"priors": "odd"},
    ],
)
def test_settings_that_no_classifier_has_are_refused(small, settings):
    with pytest.raises(SufficeFileError, match=r"settings|valid Calibrated"):
        loaded(changed(small["vector"], lambda content: content["settings"].update(settings)))


@pytest.mark.parametrize("name", ["Statistics", "Calibrated", "CostSensitive"])
def test_what_is_calibrated_must_be_a_model(small, name):
    with pytest.raises(SufficeFileError, match=r"model\.class|does not know"):
        loaded(changed(small["vector"], lambda content: content["model"].update({"class": name})))


def test_sums_of_the_model_that_have_no_parameters_are_refused(small):
    with pytest.raises(SufficeFileError, match="valid model: column 0: the values are too large"):
        loaded(with_tensor(small["vector"], "model.statistics.totals.0.total", np.full((2, 2, 1), 1e308)))
