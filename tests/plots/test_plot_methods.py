"""What can be drawn draws itself; the pictures themselves are tested beside their displays."""

import importlib.util

import numpy as np
import pytest

import suffice

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("suffice.plots") is None, reason="suffice.plots is not there yet"
)


@pytest.fixture(autouse=True)
def no_window():
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return suffice.BayesClassifier().fit(*suffice.load_penguins())


def test_an_evaluation_draws_its_confusion_matrix(model):
    X, y = suffice.load_penguins()
    display = suffice.evaluate(model, X, y).plot()
    assert np.array_equal(display.confusion, suffice.evaluate(model, X, y).confusion)


def test_an_explanation_and_the_evidence_draw_themselves_where_told(model):
    import matplotlib.pyplot as plt

    X, _ = suffice.load_penguins()
    for drawn in (model.explain(X.slice(0, 1)), model.evidence()):
        _, ax = plt.subplots()
        assert drawn.plot(ax=ax).ax_ is ax
