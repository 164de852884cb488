import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

import suffice
from suffice import BayesClassifier, Evaluation, TextClassifier, evaluate
from suffice.evaluation.metrics import bootstrap_metrics


class Fixed:
    """A classifier whose rows are its answers: a label, then its posteriors if it has any."""

    def __init__(self, classes):
        self.classes_ = np.asarray(classes)

    def predict(self, X):
        return np.asarray(X)[:, 0]


class FixedProbabilities(Fixed):
    def predict(self, X):
        return self.classes_[np.argmax(X, axis=1)]

    def predict_proba(self, X):
        return np.asarray(X)


def answers(truth, predicted, classes):
    return evaluate(Fixed(classes), np.asarray(predicted)[:, np.newaxis], np.asarray(truth))


@pytest.fixture(params=["two classes", "three classes"])
def fitted(request):
    X, y = (load_breast_cancer if request.param == "two classes" else load_iris)(return_X_y=True)
    rng = np.random.default_rng(0)
    X = X + rng.normal(0.0, 2.0 * X.std(axis=0), X.shape)
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    return BayesClassifier(suffice.families.Normal()).fit(X[train], y[train]), X[test], y[test]


@pytest.mark.parametrize("weighted", [False, True])
def test_every_figure_is_that_of_scikit_learn(fitted, weighted):
    model, X, y = fitted
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float) if weighted else None
    report = evaluate(model, X, y, sample_weight=w)
    p, label = model.predict_proba(X), model.predict(X)
    two = len(model.classes_) == 2
    assert report.accuracy == metrics.accuracy_score(y, label, sample_weight=w)
    assert np.array_equal(report.confusion, metrics.confusion_matrix(y, label, sample_weight=w))
    for average in (None, "macro", "micro", "weighted"):
        mine = report if average is None else getattr(report, average)
        theirs = metrics.precision_recall_fscore_support(y, label, average=average, sample_weight=w)
        for name, value in zip(("precision", "recall", "f1"), theirs[:3], strict=True):
            np.testing.assert_allclose(getattr(mine, name), value, rtol=1e-14)
    assert report.log_loss == metrics.log_loss(y, p, sample_weight=w)
    assert report.brier == pytest.approx(
        metrics.brier_score_loss(y, p[:, 1] if two else p, sample_weight=w), rel=1e-14
    )
    area = (
        metrics.roc_auc_score(y, p[:, 1], sample_weight=w)
        if two
        else metrics.roc_auc_score(y, p, multi_class="ovr", sample_weight=w)
    )
    assert report.roc_auc == pytest.approx(area, rel=1e-14)


def test_a_row_of_weight_k_counts_as_k_rows(fitted):
    model, X, y = fitted
    w = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = evaluate(model, X, y, sample_weight=w.astype(float)).flat()
    repeated = evaluate(model, np.repeat(X, w, axis=0), np.repeat(y, w)).flat()
    for key, value in repeated.items():
        assert weighted[key] == pytest.approx(value, rel=1e-12, nan_ok=True), key


def test_the_matrix_of_the_notes_turned_so_that_the_truth_is_in_rows():
    truth = ["yes"] * 60 + ["no"] * 40
    predicted = ["yes"] * 40 + ["no"] * 20 + ["yes"] * 10 + ["no"] * 30
    report = answers(truth, predicted, ["yes", "no"])
    assert report.confusion.tolist() == [[40, 20], [10, 30]]
    assert report.precision[0] == pytest.approx(0.8)
    assert report.recall[0] == pytest.approx(2 / 3)
    assert report.f1[0] == pytest.approx(8 / 11)
    assert report.false_positives.tolist() == [10, 20]
    assert report.false_negatives.tolist() == [20, 10]


def test_the_99_percent_trap_is_seen_beside_the_baseline():
    truth = ["no"] * 990 + ["yes"] * 10
    report = answers(truth, ["no"] * 1000, ["no", "yes"])
    assert report.accuracy == report.baseline.accuracy == 0.99
    assert np.isnan(report.precision[1])
    assert np.isnan(report.macro.precision)
    assert report.recall.tolist() == [1.0, 0.0]
    lines = repr(report).splitlines()
    assert next(line for line in lines if line.startswith("'yes'")).split()[1] == "undefined"
    assert next(line for line in lines if line.startswith("accuracy")).split()[1:] == ["0.990", "0.990"]


def test_one_class_in_y_leaves_the_curve_undefined_and_nothing_warns():
    report = evaluate(FixedProbabilities([0, 1]), np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    assert np.isnan(report.roc_auc)
    assert np.isnan(report.recall[1])
    assert report.log_loss == pytest.approx(-np.log([0.9, 0.4]).mean())


def test_without_posteriors_their_figures_are_undefined(fitted):
    _, X, y = fitted
    report = evaluate(LinearSVC().fit(X, y), X, y)
    for name in ("log_loss", "brier", "ece", "roc_auc"):
        assert np.isnan(getattr(report, name)), name
        assert np.isnan(getattr(report.baseline, name)), name
    assert report.accuracy > 0.5


def test_the_calibration_error_is_the_mean_gap_between_confidence_and_accuracy():
    p = np.array([[0.8, 0.2]] * 10 + [[0.35, 0.65]] * 10)
    truth = np.array([0] * 6 + [1] * 4 + [1] * 9 + [0])
    report = evaluate(FixedProbabilities([0, 1]), p, truth)
    assert report.ece == pytest.approx(0.5 * abs(0.8 - 0.6) + 0.5 * abs(0.65 - 0.9))


def test_certain_and_right_is_calibrated():
    report = evaluate(FixedProbabilities(["a", "b"]), np.eye(2)[[0, 1, 0]], np.array(["a", "b", "a"]))
    assert (report.ece, report.brier, report.accuracy, report.roc_auc) == (0.0, 0.0, 1.0, 1.0)


def test_labels_that_the_model_does_not_know_count_as_errors():
    report = answers(["a", "b", "new", "a"], ["a", "b", "b", "a"], ["a", "b"])
    assert report.labels == ("a", "b", "new")
    assert report.accuracy == 0.75
    assert report.recall[2] == 0.0
    assert "does not know 'new'" in repr(report)


def test_refusals_stand_beside_the_classes():
    report = answers(["a", "b", "a", "b"], ["a", "refused", "a", "b"], ["a", "b"])
    assert report.confusion.tolist() == [[2, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert len(report.precision) == 2
    assert report.micro.precision == 1.0
    assert report.micro.recall == 0.75
    assert "1 row was answered 'refused'" in repr(report)


def test_a_class_without_rows_and_without_predictions_takes_no_part_in_averages():
    report = answers(["a", "b", "b"], ["a", "b", "a"], ["a", "b", "c"])
    assert report.macro.recall == pytest.approx(np.mean([1.0, 0.5]))
    assert np.isnan(report.recall[2])


def test_an_average_with_an_undefined_part_is_undefined():
    # A class that is predicted and has no rows: its recall is 0/0, its precision and F1 are 0.
    report = answers(["a", "b", "b"], ["a", "c", "b"], ["a", "b", "c"])
    assert np.isnan(report.macro.recall)
    assert report.macro.precision == pytest.approx(2 / 3)
    assert report.weighted.recall == pytest.approx((1.0 + 2 * 0.5) / 3)
    # A class of the model that y does not hold has no ROC curve, as in scikit-learn.
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.7, 0.2, 0.1]])
    report = evaluate(FixedProbabilities(["a", "b", "c"]), p, ["a", "b", "b"])
    assert report.roc_auc_by_class[:2].tolist() == [0.5, 0.5]
    assert np.isnan(report.roc_auc)
    with pytest.warns(UndefinedMetricWarning):
        theirs = metrics.roc_auc_score(["a", "b", "b"], p, multi_class="ovr", labels=["a", "b", "c"])
    assert np.isnan(theirs)


@pytest.mark.parametrize(
    "y, message",
    [
        ([], "no rows"),
        (["a", "b"], "1 row, but y has 2 labels"),
        ([3], "one type"),
        ([None], "missing label"),
    ],
)
def test_bad_labels_are_refused(y, message):
    X = np.zeros((0 if not y else 1, 1), dtype=object)
    X[:] = "a"
    with pytest.raises(ValueError, match=message):
        evaluate(Fixed(["a", "b"]), X, np.array(y, dtype=object) if y == [None] else np.array(y))


@pytest.mark.parametrize(
    "setting",
    [
        {"bootstrap": 0},
        {"bootstrap": 1.5},
        {"bootstrap": 10, "level": 1.0},
        {"level": 95},
        {"level": "high"},
    ],
)
def test_bad_settings_are_refused(fitted, setting):
    with pytest.raises(ValueError, match=next(reversed(setting))):
        evaluate(*fitted, **setting)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_y_may_be_a_column_of_the_frame_by_name_or_itself(fitted, make):
    _, X, y = fitted
    frame = make({f"x{j}": column for j, column in enumerate(X.T)} | {"kind": y})
    rows = frame.drop(columns="kind") if make is pd.DataFrame else frame.drop("kind")
    model = BayesClassifier().fit(rows, y)
    by_name, by_column = evaluate(model, frame, "kind"), evaluate(model, rows, frame["kind"])
    assert by_name.flat() == pytest.approx(by_column.flat(), nan_ok=True)
    assert isinstance(by_name.to_frame(), make)


def test_a_name_that_is_no_column_is_refused(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="DataFrame"):
        evaluate(model, X, "kind")
    with pytest.raises(ValueError, match="no column 'kind'"):
        evaluate(model, pd.DataFrame(X), "kind")


def test_documents_are_evaluated_too():
    documents, y = ["good film", "bad film", "good fun"], ["+", "-", "+"]
    assert evaluate(TextClassifier().fit(documents, y), documents, y).accuracy == 1.0


def test_bootstrap_intervals_hold_the_figure_and_narrow_with_the_rows(fitted):
    model, X, y = fitted
    few = evaluate(model, X, y, bootstrap=100)
    many = evaluate(model, np.repeat(X, 16, axis=0), np.repeat(y, 16), bootstrap=100)
    assert set(few.intervals) == set(few.flat())
    for name in ("accuracy", "log_loss", "brier", "roc_auc"):
        low, high = few.intervals[name, None]
        assert low <= getattr(few, name) <= high
        closer = many.intervals[name, None]
        assert (closer[1] - closer[0]) == pytest.approx((high - low) / 4, rel=0.5)


def test_bootstrap_intervals_of_the_accuracy_are_those_of_the_binomial():
    truth = np.array([1] * 400)
    predicted = np.array([1] * 300 + [0] * 100)
    low, high = evaluate(Fixed([0, 1]), predicted[:, np.newaxis], truth, bootstrap=2000).intervals[
        "accuracy", None
    ]
    half = 1.96 * np.sqrt(0.75 * 0.25 / 400)
    assert (low, high) == pytest.approx((0.75 - half, 0.75 + half), abs=0.006)


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others(fitted):
    one, same, other = (evaluate(*fitted, bootstrap=20, random_state=seed) for seed in (3, 3, 4))
    assert repr(one) == repr(same)
    assert repr(one) != repr(other)


def test_to_dict_is_json_and_says_none_where_undefined():
    report = answers(["no"] * 9 + ["yes"], ["no"] * 10, ["no", "yes"])
    read = json.loads(json.dumps(report.to_dict()))
    assert read["classes"]["yes"]["precision"] is None
    assert read["baseline"]["answer"] == "no"
    assert read["accuracy"] == 0.9
    assert read["confusion"] == [[9, 0], [1, 0]]


def test_to_frame_has_every_figure_with_its_baseline(fitted):
    model, X, y = fitted
    report = evaluate(model, pd.DataFrame(X), y, bootstrap=10)
    frame = report.to_frame()
    assert list(frame.columns) == ["figure", "of", "value", "baseline", "low", "high"]
    assert len(frame) == len(report.flat())
    accuracy = frame[frame["figure"] == "accuracy"].iloc[0]
    assert (accuracy["value"], accuracy["baseline"]) == (report.accuracy, report.baseline.accuracy)


def test_html_escapes_the_labels():
    report = answers(["<b>", "x"], ["<b>", "<b>"], ["<b>", "x"])
    assert "<b>'" not in report._repr_html_()
    assert "&lt;b&gt;" in report._repr_html_()
    assert "undefined" in report._repr_html_()


@pytest.mark.parametrize("what", ["model", suffice.BayesClassifier, LinearRegression()])
def test_what_is_no_fitted_classifier_is_named(what):
    with pytest.raises(TypeError, match="takes a fitted classifier"):
        suffice.evaluate(what, [[0.0]], ["a"])


def test_a_bootstrap_of_true_is_refused():
    model = suffice.BayesClassifier().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="bootstrap must be"):
        suffice.evaluate(model, [[0.0]], ["a"], bootstrap=True)


def test_one_class_is_evaluated_without_a_warning():
    model = suffice.BayesClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert suffice.evaluate(model, [[0.0], [2.0]], ["a", "a"]).confusion.tolist() == [[2]]


def test_the_brier_score_counts_labels_that_the_model_does_not_know():
    X, y = load_iris(return_X_y=True)
    model = BayesClassifier().fit(X[:100], y[:100])
    padded = np.hstack([model.predict_proba(X), np.zeros((150, 1))])
    expected = metrics.brier_score_loss(y, padded, labels=[0, 1, 2])
    np.testing.assert_allclose(evaluate(model, X, y).brier, expected, rtol=1e-12)


def test_posteriors_of_single_precision_are_judged_as_such():
    p = np.array([[1 / 3, 2 / 3], [1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    y = np.array(["b", "b", "b"])
    report = evaluate(FixedProbabilities(["a", "b"]), p, y, bootstrap=5)
    assert report.log_loss == metrics.log_loss(y, p, labels=["a", "b"])
    drawn = bootstrap_metrics(report.answers, 1, AllOnce())
    assert drawn["log_loss", None][0] == pytest.approx(report.log_loss, rel=1e-6)


class AllOnce:
    """A generator that draws each row once."""

    def integers(self, n, size):
        return np.broadcast_to(np.arange(n), size)


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_are_judged_in_runs(fitted, monkeypatch, weighted):
    model, X, y = fitted
    w = np.random.default_rng(0).random(len(y)) if weighted else None
    whole = evaluate(model, X, y, sample_weight=w).flat()
    monkeypatch.setattr("suffice.evaluation.metrics.ROWS_AT_ONCE", 7)
    monkeypatch.setattr("suffice.evaluation.answers.LABELS_AT_ONCE", 5)
    in_runs = evaluate(model, X, y, sample_weight=w).flat()
    assert in_runs.keys() == whole.keys()
    np.testing.assert_allclose(list(in_runs.values()), list(whole.values()), rtol=1e-13)


def test_many_rows_need_little_more_memory_than_their_posteriors(peak_memory):
    n = 200_000
    p = np.full((n, 2), 0.5)
    y = np.array(["alder", "birch"])[np.arange(n) % 2]
    model = FixedProbabilities(["alder", "birch"])
    assert peak_memory(lambda: evaluate(model, p, y)) < 8 * p.nbytes


def test_posteriors_of_other_classes_than_the_models_are_refused():
    model = FixedProbabilities(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"shape \(2, 2\), but 2 rows and 3 classes need \(2, 3\)"):
        evaluate(model, [[0.5, 0.5], [0.1, 0.9]], ["a", "b"])


def test_labels_are_needed():
    with pytest.raises(ValueError, match="y is None"):
        evaluate(FixedProbabilities(["a", "b"]), [[0.5, 0.5]], None)


def test_results_compare_by_identity(fitted):
    model, X, y = fitted
    for result in (
        lambda: evaluate(model, X, y),
        lambda: model.explain(X),
        model.evidence,
        lambda: model.adapt_priors(X).prior_shift_,
    ):
        one, other = result(), result()
        assert one in [other, one]
        assert len({one, other}) == 2


@pytest.mark.parametrize("weighted", [False, True])
def test_an_evaluation_of_posteriors_is_that_of_the_model_that_gave_them(fitted, weighted):
    model, X, y = fitted
    w = np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if weighted else None
    of_model = evaluate(model, X, y, sample_weight=w, bootstrap=10)
    given = Evaluation.of(y, model.predict_proba(X), classes=model.classes_, sample_weight=w, bootstrap=10)
    assert repr(given) == repr(of_model)
    assert given.flat() == of_model.flat()


def test_an_evaluation_of_predictions_alone_needs_no_classes():
    report = Evaluation.of(["a", "b", "c"], predictions=["a", "b", "b"])
    assert report.labels == ("a", "b", "c")
    assert report.confusion.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert np.isnan(report.log_loss)


def test_predictions_may_differ_from_the_most_probable_class():
    p = [[0.9, 0.1], [0.6, 0.4]]
    assert Evaluation.of(["a", "b"], p).accuracy == 0.5
    careful = Evaluation.of(["a", "b"], p, predictions=["a", "b"])
    assert careful.accuracy == 1.0
    assert careful.log_loss == Evaluation.of(["a", "b"], p).log_loss


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "pass posteriors, predictions or both"),
        ({"predictions": ["a"]}, "2 labels, but the predicted labels have shape"),
        ({"posteriors": [[0.5, 0.5]]}, r"shape \(1, 2\), but 2 rows and 2 classes need \(2, 2\)"),
        ({"posteriors": [[1.0], [1.0]]}, "one column for each class"),
    ],
)
def test_an_evaluation_of_answers_that_do_not_fit_the_labels_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Evaluation.of(["a", "b"], **given)


def test_labels_of_two_types_are_refused():
    with pytest.raises(ValueError, match="different types"):
        Evaluation.of(["a", "b"], predictions=[1, 2])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"])
def test_posteriors_of_a_frame_belong_to_the_classes_of_its_names(frame):
    posteriors = {"b": [0.9, 0.2], "a": [0.1, 0.8]}
    swapped = {"a": posteriors["a"], "b": posteriors["b"]}
    for columns in (posteriors, swapped):
        found = Evaluation.of(["b", "a"], frame(columns))
        assert found.accuracy == 1.0
        assert found.log_loss == pytest.approx(-np.log([0.9, 0.8]).mean())
    assert Evaluation.of(["b", "a"], frame(posteriors), classes=["a", "b"]).accuracy == 1.0


def test_a_frame_of_posteriors_may_name_classes_without_rows():
    found = Evaluation.of(["b", "b"], pd.DataFrame({"c": [0.1, 0.1], "b": [0.8, 0.8], "a": [0.1, 0.1]}))
    assert found.accuracy == 1.0


def test_columns_that_are_only_numbered_are_taken_in_order():
    posteriors = pd.DataFrame([[0.9, 0.1], [0.2, 0.8]])
    assert Evaluation.of([1, 2], posteriors).accuracy == 1.0
    assert Evaluation.of(["x", "y"], posteriors).accuracy == 1.0


def test_a_frame_of_posteriors_without_a_class_is_refused():
    with pytest.raises(
        ValueError, match=r"has no column 'b'; it must have one column for each class: \['a', 'b'\]"
    ):
        Evaluation.of(["a", "b"], pd.DataFrame({"a": [0.5, 0.5], "z": [0.5, 0.5]}))
