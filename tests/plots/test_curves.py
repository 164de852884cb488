"""Precision against recall, and ROC curves, are scikit-learn's."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from suffice.plots import PrecisionRecallDisplay, RocCurveDisplay


@pytest.fixture
def answers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    p = rng.dirichlet(np.ones(3), 80) + 0.7 * np.eye(3)[y]
    return y, p / p.sum(axis=1, keepdims=True), rng.random(80)


def test_each_class_against_the_rest_has_scikit_learns_curve(answers):
    y, p, weight = answers
    display = PrecisionRecallDisplay.from_predictions(y, p, sample_weight=weight)
    assert [curve.label for curve in display.curves] == [0, 1, 2]
    for k, curve in enumerate(display.curves):
        precision, recall, threshold = precision_recall_curve(y == k, p[:, k], sample_weight=weight)
        np.testing.assert_array_equal(curve.y, precision)
        np.testing.assert_array_equal(curve.x, recall)
        np.testing.assert_array_equal(curve.threshold, [*threshold, np.inf])
        assert curve.area == average_precision_score(y == k, p[:, k], sample_weight=weight)
        assert curve.share == pytest.approx(weight[y == k].sum() / weight.sum())
    display = RocCurveDisplay.from_predictions(y, p)
    for k, curve in enumerate(display.curves):
        false, true, threshold = roc_curve(y == k, p[:, k])
        np.testing.assert_array_equal([curve.x, curve.y, curve.threshold], [false, true, threshold])
        assert curve.area == roc_auc_score(y == k, p[:, k])


@pytest.mark.parametrize("display", [PrecisionRecallDisplay, RocCurveDisplay])
def test_of_two_classes_the_second_is_drawn_unless_one_is_named(display, answers):
    y, p, _ = answers
    named = np.where(y > 0, "spam", "ham")
    second = display.from_predictions(named, 1 - p[:, 0])
    assert [curve.label for curve in second.curves] == ["spam"]
    first = display.from_predictions(named, np.column_stack([p[:, 0], 1 - p[:, 0]]), positive="ham")
    assert [curve.label for curve in first.curves] == ["ham"]
    assert first.curves[0].area != second.curves[0].area or display is RocCurveDisplay


def test_the_lines_drawn_are_the_curves(answers):
    y, p, _ = answers
    display = RocCurveDisplay.from_predictions(y, p)
    drawn = display.ax_.get_lines()[1:]
    assert len(drawn) == 3
    for line, curve in zip(drawn, display.curves, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), curve.x)
        np.testing.assert_array_equal(line.get_ydata(), curve.y)
    assert [handle.get_label() for handle in display.handles()] == [
        f"{curve.label} (area {curve.area:.3f})" for curve in display.curves
    ]
    frame = PrecisionRecallDisplay.from_predictions(y, p).to_frame()
    assert frame.column_names == ["class", "recall", "precision", "threshold"]
    assert frame.num_rows > 80


def test_classes_without_rows_have_no_curve(answers):
    _, p, _ = answers
    y = np.repeat([0, 1], 40)
    display = RocCurveDisplay.from_predictions(y, p, labels=[0, 1, 2])
    assert [curve.label for curve in display.curves] == [0, 1]
    with pytest.raises(ValueError, match="needs rows of the class and rows of others"):
        RocCurveDisplay.from_predictions(y, p, labels=[0, 1, 2], positive=2)
    with pytest.raises(ValueError, match="shape"):
        RocCurveDisplay.from_predictions(y, p[:, :2][:5])


def test_curves_are_drawn_on_any_axes_without_a_legend(answers):
    y, p, _ = answers
    figure, (left, right) = plt.subplots(1, 2)
    PrecisionRecallDisplay.from_predictions(y, p, legend=False, ax=left)
    RocCurveDisplay.from_predictions(y, p, legend=False, ax=right)
    assert left.get_legend() is right.get_legend() is None
    assert figure.axes == [left, right]
