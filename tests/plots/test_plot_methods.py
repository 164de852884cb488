"""What can be drawn draws itself; the pictures themselves are tested beside their displays."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.svm import LinearSVC

import suffice
from suffice.plots import EvaluationDisplay, LearningCurveDisplay, LinkDisplay, ReliabilityDisplay


def test_an_evaluation_draws_its_confusion_matrix_and_its_reliability(penguins):
    model, X, y = penguins
    evaluation = suffice.evaluate(model, X, y)
    display = evaluation.plot()
    assert np.array_equal(display.confusion.confusion, evaluation.confusion)
    expected = ReliabilityDisplay.from_estimator(model, X, y)
    for drawn, curve in zip(display.reliability.curves, expected.curves, strict=True):
        assert drawn.label == curve.label
        assert np.array_equal(drawn.observed, curve.observed)
        assert np.array_equal(drawn.predicted, curve.predicted)
    confusion, reliability = display.ax_
    assert confusion.get_ylabel() == "true"
    assert reliability.get_ylabel() == "share observed"
    assert display.to_frame().num_rows == evaluation.to_frame().num_rows


def test_a_weight_counts_as_so_many_rows_in_a_drawn_evaluation(penguins):
    model, X, y = penguins
    weight = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weight)
    weighted = suffice.evaluate(model, X, y, sample_weight=weight).plot()
    repeated = suffice.evaluate(model, X.take(rows), np.asarray(y)[rows]).plot()
    assert np.array_equal(weighted.confusion.confusion, repeated.confusion.confusion)
    for one, other in zip(weighted.reliability.curves, repeated.reliability.curves, strict=True):
        assert np.array_equal(one.rows, other.rows)
        assert np.allclose(one.observed, other.observed, rtol=1e-13)
        assert np.allclose(one.predicted, other.predicted, rtol=1e-13)
        assert np.allclose(one.interval, other.interval, rtol=1e-13)


def test_an_evaluation_without_probabilities_draws_its_confusion_matrix_alone():
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) > 4
    evaluation = suffice.evaluate(LinearSVC().fit(X, y), X, y)
    display = evaluation.plot()
    assert display.reliability is None
    assert display.ax_.get_ylabel() == "true"
    with pytest.raises(ValueError, match="one panel to draw, but 2 axes"):
        evaluation.plot(plt.subplots(1, 2)[1])


def test_an_evaluation_of_labels_that_the_model_does_not_know_and_of_refusals_is_drawn():
    X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array(["a", "a", "b", "b"])
    costs = suffice.CostSensitive(suffice.BayesClassifier(), reject_cost=0.0, reject_label="?").fit(X, y)
    display = suffice.evaluate(costs, X, ["a", "a", "b", "c"]).plot()
    assert list(display.confusion.labels) == ["a", "b", "c", "?"]
    assert [curve.label for curve in display.reliability.curves] == ["a", "b", "c"]


def test_one_axes_is_for_the_confusion_matrix_and_three_are_too_many(penguins):
    model, X, y = penguins
    evaluation = suffice.evaluate(model, X, y)
    _, ax = plt.subplots()
    assert evaluation.plot(ax).ax_ is ax
    assert ax.get_ylabel() == "true"
    with pytest.raises(ValueError, match="two panels to draw, but 3 axes"):
        evaluation.plot(plt.subplots(1, 3)[1])


def test_an_explanation_and_the_evidence_draw_themselves_where_told(penguins):
    model, X, _ = penguins
    for drawn in (model.explain(X.slice(0, 1)), model.evidence()):
        _, ax = plt.subplots()
        assert drawn.plot(ax=ax).ax_ is ax


def test_an_explanation_draws_the_row_and_the_classes_that_are_asked_for(penguins):
    model, X, _ = penguins
    ax = model.explain(X).plot(row=3, label="Gentoo", against="Adelie", most=3).ax_
    assert ax.get_xlabel() == "nats for Gentoo against Adelie"
    assert len(ax.get_yticks()) == 5  # the prior, two columns, the others, the log odds
    with pytest.raises(TypeError, match="rwo"):
        model.explain(X).plot(rwo=3)


def test_the_explanation_of_a_text_draws_its_words():
    model = suffice.TextClassifier().fit(["good film", "bad film", "good plot", "bad end"], [1, 0, 1, 0])
    explanation = model.explain(["good good film", "bad"])
    names = [label.get_text() for label in explanation.plot(row=0).ax_.get_yticklabels()]
    assert names[1:3] == ["good", "film"]
    assert next(label.get_text() for label in explanation.plot().ax_.get_yticklabels()) in ("bad", "good")


def test_evidence_is_drawn_by_column_or_by_pairs_of_classes(penguins):
    model, _, _ = penguins
    evidence = model.evidence()
    display = evidence.plot()
    assert display.ax_.get_xlabel() == "weight of evidence (nats)"
    bars = sorted((bar.get_width() for bar in display.ax_.containers[0]), reverse=True)
    assert np.allclose(bars, np.sort(evidence.weight)[::-1])
    pairs = evidence.plot(pairs=True, measure="bhattacharyya").ax_
    assert len(pairs.containers) == 6
    assert pairs.containers[0].get_label() == "Adelie against Chinstrap"


def test_learning_curves_draw_themselves():
    X, y = np.arange(120.0).reshape(60, 2) % 7, np.arange(60) % 3
    curves = suffice.compare([suffice.GaussianDiscriminant()], X, y, sizes=[6, 12], repeats=2)
    ax = curves.plot(measure="log_loss").ax_
    assert np.allclose(ax.lines[0].get_ydata(), curves.log_loss.mean(axis=2)[0])


def test_many_classes_are_drawn_large_with_the_reliability_of_the_most_probable():
    rng = np.random.default_rng(0)
    y = np.arange(520) % 26
    X = rng.normal(size=(520, 3)) + y[:, np.newaxis] % (3, 5, 7)
    evaluation = suffice.evaluate(suffice.GaussianDiscriminant().fit(X, y), X, y)
    display = evaluation.plot()
    (curve,) = display.reliability.curves
    assert curve.label == "most probable class"
    assert curve.rows @ curve.observed == pytest.approx(evaluation.accuracy * 520)
    display.figure_.draw_without_rendering()
    for labels in (display.ax_[0].get_xticklabels(), display.ax_[0].get_yticklabels()):
        boxes = [label.get_window_extent() for label in labels]
        assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))


def test_learning_curves_are_drawn_of_an_estimator_or_of_several():
    X, y = np.arange(120.0).reshape(60, 2) % 7, np.arange(60) % 3
    options = {"sizes": [6, 12], "repeats": 2}
    one = LearningCurveDisplay.from_estimator(suffice.GaussianDiscriminant(), X, y, **options)
    expected = suffice.compare([suffice.GaussianDiscriminant()], X, y, **options)
    assert np.array_equal(one.curves.error, expected.error)
    assert one.ax_.get_legend().get_texts()[0].get_text() == "GaussianDiscriminant"
    models = {"a": suffice.GaussianDiscriminant(), "b": suffice.BayesClassifier()}
    two = LearningCurveDisplay.from_estimator(models, X, y, **options, measure="log_loss")
    assert two.to_frame().num_rows == 4
    assert two.ax_.get_ylabel() == "log-loss on unseen rows"


def test_an_evaluation_is_drawn_of_an_estimator_or_of_predictions(penguins):
    model, X, y = penguins
    expected = suffice.evaluate(model, X, y).plot()
    made = (
        EvaluationDisplay.from_estimator(model, X, y),
        EvaluationDisplay.from_predictions(y, model.predict(X), model.predict_proba(X)),
    )
    for display in made:
        assert np.array_equal(display.confusion.confusion, expected.confusion.confusion)
        assert np.array_equal(display.reliability.curves[2].observed, expected.reliability.curves[2].observed)
        assert display.to_frame()["value"].to_pylist() == expected.to_frame()["value"].to_pylist()
    alone = EvaluationDisplay.from_predictions(y, model.predict(X))
    assert alone.reliability is None
    assert alone.ax_.get_ylabel() == "true"


@pytest.mark.parametrize("make", [suffice.LogisticRegression, suffice.ProbitRegression])
def test_the_rows_of_a_regression_lie_on_its_link(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80) > 0
    display = LinkDisplay.from_estimator(make().fit(X, y), X, names=("logistic", "probit"))
    a, p = display.rows
    curve = display.y[0 if make is suffice.LogisticRegression else 1]
    np.testing.assert_allclose(np.interp(a, display.a, curve), p, atol=1e-3)
    assert display.to_frame().column_names == ["a", "logistic", "probit"]
    assert display.ax_.get_legend().get_texts()[-1].get_text() == "rows"
    with pytest.raises(ValueError, match="two classes"):
        LinkDisplay.from_estimator(make().fit(X, np.arange(80) % 3), X)
    with pytest.raises(ValueError, match="equally long"):
        LinkDisplay.from_predictions([1.0, 2.0], [0.5])
