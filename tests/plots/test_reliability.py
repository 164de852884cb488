import numpy as np
import pytest
from scipy import stats
from sklearn.calibration import calibration_curve

from suffice.plots import ReliabilityDisplay

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_two_classes_are_binned_as_scikit_learn_does(strategy):
    p = RNG.random(500)
    y = RNG.random(500) < p
    (curve,) = ReliabilityDisplay.from_predictions(y, p, bins=7, strategy=strategy).curves
    observed, predicted = calibration_curve(y, p, n_bins=7, strategy=strategy)
    np.testing.assert_allclose(curve.predicted, predicted)
    np.testing.assert_allclose(curve.observed, observed)
    assert curve.label is True


def test_each_of_many_classes_has_a_curve_against_the_rest():
    p = RNG.dirichlet([1, 1, 1], size=600)
    y = np.array(["a", "b", "c"])[[RNG.choice(3, p=row) for row in p]]
    display = ReliabilityDisplay.from_predictions(y, p)
    assert [curve.label for curve in display.curves] == ["a", "b", "c"]
    for k, curve in enumerate(display.curves):
        alone = ReliabilityDisplay.from_predictions(y == "abc"[k], p[:, k]).curves[0]
        np.testing.assert_array_equal(curve.observed, alone.observed)
        assert curve.rows.sum() == 600


def test_the_limits_are_wilsons():
    y = np.array([0] * 7 + [1] * 3)
    (curve,) = ReliabilityDisplay.from_predictions(y, np.full(10, 0.35)).curves
    expected = stats.binomtest(3, 10).proportion_ci(method="wilson")
    np.testing.assert_allclose([limit[0] for limit in curve.interval], expected)


def test_the_picture_draws_the_numbers(penguins):
    model, X, species = penguins
    display = ReliabilityDisplay.from_estimator(model, X, species)
    lines = [line for line in display.ax_.get_lines() if not line.get_label().startswith("_")]
    assert [line.get_label() for line in lines] == model.classes_.tolist()
    for line, curve in zip(lines, display.curves, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.predicted, curve.observed]))
    assert display.to_frame().num_rows == sum(len(curve.rows) for curve in display.curves)


def test_a_class_without_rows_is_drawn_at_zero():
    display = ReliabilityDisplay.from_predictions(["a", "b"], [[0.5, 0.3, 0.2]] * 2, labels=["a", "b", "c"])
    assert display.curves[2].observed.tolist() == [0.0]


@pytest.mark.parametrize(
    "y, p, settings, match",
    [
        ([0, 1], [[0.5, 0.3, 0.2]] * 2, {}, "2 labels of 2 classes"),
        ([0, 1], [0.5, 1.5], {}, "between 0 and 1"),
        ([0, 1], [0.5, np.nan], {}, "between 0 and 1"),
        ([0, 2], [0.5, 0.5], {"labels": [0, 1]}, "holds 2"),
        ([0, 1], [0.5, 0.5], {"bins": 0}, "bins"),
        ([0, 1], [0.5, 0.5], {"strategy": "equal"}, "strategy"),
        ([0, 1], [0.5, 0.5], {"sample_weight": [1.0]}, "sample_weight has shape"),
        ([0, 1], [0.5, 0.5], {"sample_weight": [1.0, -1.0]}, "sample_weight is -1.0 at row 1"),
    ],
)
def test_senseless_predictions_are_refused(y, p, settings, match):
    with pytest.raises(ValueError, match=match):
        ReliabilityDisplay.from_predictions(y, p, **settings)
