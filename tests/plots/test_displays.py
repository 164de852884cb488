"""scikit-learn's contract: what makes a display of a model or of predictions draws it, once."""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pytest

import suffice
from suffice import plots

NUMBERS, HALVES = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
WAYS = {
    "ConfusionDisplay.from_estimator": lambda model, X, y: (model, X, y),
    "ConfusionDisplay.from_predictions": lambda model, X, y: (y, model.predict(X)),
    "DensityDisplay.from_estimator": lambda model, X, _: (model, X),
    "EvaluationDisplay.from_estimator": lambda model, X, y: (model, X, y),
    "EvaluationDisplay.from_predictions": lambda model, X, y: (y, model.predict(X), model.predict_proba(X)),
    "EvidenceDisplay.from_estimator": lambda model, _, __: (model,),
    "ExplanationDisplay.from_estimator": lambda model, X, _: (model, X),
    "LearningCurveDisplay.from_estimator": lambda *_: (
        suffice.GaussianDiscriminant(),
        NUMBERS * 9,
        HALVES * 9,
    ),
    "LinkDisplay.from_estimator": lambda *_: (suffice.LogisticRegression().fit(NUMBERS, HALVES), NUMBERS),
    "LinkDisplay.from_links": lambda *_: (),
    "LinkDisplay.from_predictions": lambda *_: ([-1.0, 2.0], [0.3, 0.9]),
    "PosteriorDisplay.from_estimator": lambda model, X, y: (model, X, y),
    "PrecisionRecallDisplay.from_estimator": lambda model, X, y: (model, X, y),
    "PrecisionRecallDisplay.from_predictions": lambda model, X, y: (y, model.predict_proba(X)),
    "ReliabilityDisplay.from_estimator": lambda model, X, y: (model, X, y),
    "ReliabilityDisplay.from_predictions": lambda model, X, y: (y, model.predict_proba(X)),
    "RocCurveDisplay.from_estimator": lambda model, X, y: (model, X, y),
    "RocCurveDisplay.from_predictions": lambda model, X, y: (y, model.predict_proba(X)),
    "SurfaceDisplay.from_estimator": lambda model, X, _: (model, X),
    "ShapeDisplay.from_estimator": lambda _, X, y: (
        suffice.EvidenceClassifier(pieces=["columns"], pairs=0).fit(X, y),
        X,
        y,
    ),
}
SMALL = {
    "DensityDisplay": {"columns": ["island"]},
    "LearningCurveDisplay": {"sizes": [4, 8], "repeats": 2},
    "ShapeDisplay": {"columns": ["island"]},
    "PosteriorDisplay": {"columns": ("island", "bill_length_mm"), "resolution": 9},
    "SurfaceDisplay": {"columns": ("bill_depth_mm", "bill_length_mm"), "resolution": 9},
}
SOLID = {"SurfaceDisplay": {"projection": "3d"}}
"""Displays in three dimensions need axes of their own kind."""


@pytest.fixture(params=WAYS)
def kind(request):
    """The name of a display and of a way to make it."""
    return request.param.split(".")


@pytest.fixture
def make(kind, penguins):
    """Make the display with some options."""
    name, way = kind
    arguments = WAYS[f"{name}.{way}"](*penguins)
    return lambda **options: getattr(getattr(plots, name), way)(*arguments, **SMALL.get(name, {}), **options)


def test_every_way_to_make_a_display_is_known_here():
    ways = {f"{name}.{way}" for name in plots.__all__ for way in dir(getattr(plots, name))}
    assert {one for one in ways if ".from_" in one} == set(WAYS)


def test_a_display_is_drawn_at_once_in_one_new_figure(make):
    display = make()
    assert plt.get_fignums() == [display.figure_.number]
    axes = np.ravel(np.array(display.ax_, dtype=object)).tolist()
    assert axes == display.figure_.axes
    assert all(ax.has_data() for ax in axes)


def test_a_display_is_drawn_on_the_axes_passed(make, kind):
    figure, ax = plt.subplots(subplot_kw=SOLID.get(kind[0]))
    display = make(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert ax.has_data()
    assert plt.get_fignums() == [figure.number]


def test_every_option_of_plot_is_taken_and_passed_on(make, kind, monkeypatch):
    display, way = getattr(plots, kind[0]), kind[1]
    drawing, making = inspect.signature(display.plot), inspect.signature(getattr(display, way))
    options = {name: object() for name in drawing.parameters if name != "self"}
    for name in options:
        assert making.parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert making.parameters[name].default == drawing.parameters[name].default
    drawn = []

    def plot(self, *args, **given):
        drawn.append(drawing.bind(self, *args, **given).arguments)
        return self

    monkeypatch.setattr(display, "plot", plot)
    made = make(**options)
    assert drawn == [{"self": made, **options}]
