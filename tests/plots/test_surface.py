"""The posterior as a surface, and colours that the user chooses."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import suffice
from suffice.links import logistic
from suffice.plots import PosteriorDisplay, SurfaceDisplay


@pytest.fixture(scope="module")
def two():
    rng = np.random.default_rng(0)
    y = np.repeat(["C1", "C2"], 60)
    X = rng.normal(size=(120, 2)) + np.where(y == "C1", 1.0, -1.0)[:, np.newaxis]
    return suffice.GaussianDiscriminant().fit(X, y), X, y


def test_the_slope_is_a_sigmoid_of_a_linear_function(two):
    model, X, _ = two
    display = SurfaceDisplay.from_estimator(model, X, label="C1", resolution=12)
    boundary = model.boundary("C1", "C2")
    across, up = np.meshgrid(display.x.values, display.y.values)
    rows = np.column_stack([across.ravel(), up.ravel()])
    np.testing.assert_allclose(display.posterior[:, :, 0].ravel(), logistic(boundary(rows)), atol=1e-12)
    frame = display.to_frame()
    np.testing.assert_allclose(frame["p(C1)"], logistic(boundary(rows)), atol=1e-12)
    assert display.ax_.get_zlabel() == "p(C1 | x)"


def test_a_surface_of_the_last_class_is_drawn_where_none_is_named(two):
    model, X, _ = two
    display = SurfaceDisplay.from_estimator(model, X, resolution=9)
    assert display.label == "C2"
    (surface,) = display.ax_.collections
    assert surface.get_facecolor().shape == (64, 4)


def test_what_is_no_surface_says_why(two):
    model, X, _ = two
    with pytest.raises(ValueError, match="projection='3d'"):
        SurfaceDisplay.from_estimator(model, X, resolution=9, ax=plt.subplots()[1])
    counts = suffice.BayesClassifier(families="poisson").fit(np.arange(40).reshape(20, 2) % 5, [0, 1] * 10)
    with pytest.raises(ValueError, match="vary continuously"):
        SurfaceDisplay.from_estimator(counts, np.arange(40).reshape(20, 2) % 5)
    with pytest.raises(ValueError, match="C9"):
        SurfaceDisplay.from_estimator(model, X, label="C9")


def three():
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], 40)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 40, axis=0)
    return suffice.GaussianDiscriminant("full").fit(X, y), X, y


@pytest.mark.parametrize("colours", [["red", "lime", "blue"], {"c": "blue", "a": "#ff0000", "b": (0, 1, 0)}])
def test_red_green_and_blue_are_the_posteriors(colours):
    model, X, y = three()
    display = PosteriorDisplay.from_estimator(model, X, y, resolution=20, colours=colours)
    mesh = display.ax_.collections[0]
    painted = mesh.get_array().reshape(display.posterior.shape)
    np.testing.assert_allclose(painted, display.posterior, atol=1e-12)
    assert [handle.get_color() for handle in display.handles()] == ["#ff0000", "#00ff00", "#0000ff"]
    plain = display.plot()
    assert plain.handles()[0].get_color() != "#ff0000"


@pytest.mark.parametrize(
    "colours, why",
    [
        (["red"], "one colour for each of the 3"),
        ("rgb", "one colour"),
        ({"a": "red"} | {1: "b", 2: "c"}, "'b'"),
    ],
)
def test_missing_colours_are_named(colours, why):
    model, X, _ = three()
    with pytest.raises(ValueError, match=why):
        PosteriorDisplay.from_estimator(model, X, resolution=9, colours=colours)
