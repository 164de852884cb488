import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from suffice import BayesClassifier, CostSensitive, GaussianDiscriminant, TextClassifier
from suffice.estimators.regression import LogisticRegression
from suffice.evaluation.growing_samples import measure_split, split_order
from suffice.evaluation.learning_curves import LearningCurves, compare
from suffice.model.summarize import LabelledRows

MODELS = {"GDA": GaussianDiscriminant(), "logistic": LogisticRegression()}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def curves(iris):
    return compare(MODELS, *iris, sizes=[6, 20, 100], repeats=4)


def test_the_error_falls_with_more_rows(curves):
    mean = curves.error.mean(axis=2)
    assert curves.error.shape == curves.log_loss.shape == (2, 3, 4)
    assert (mean[:, -1] < mean[:, 0]).all()
    assert (mean[:, -1] < 0.08).all()


def test_it_prints_as_a_table(curves):
    lines = repr(curves).splitlines()
    assert lines[1].split() == ["rows", "GDA", "logistic"]
    assert len(lines) == 5


def test_the_same_seed_gives_the_same_curves(curves, iris):
    assert np.array_equal(compare(MODELS, *iris, sizes=[6, 20, 100], repeats=4).error, curves.error)
    other = compare(MODELS, *iris, sizes=[6, 20, 100], repeats=4, random_state=1)
    assert not np.array_equal(other.error, curves.error)


def test_every_container_gives_the_same_curves(curves, iris):
    X, y = iris
    names = ["a", "b", "c", "d"]
    for frame, kind in (
        (pd.DataFrame(X, columns=names), pd.DataFrame),
        (pl.DataFrame(X, schema=names), pl.DataFrame),
        (pa.table(dict(zip(names, X.T, strict=True))), pa.Table),
        (X.tolist(), pa.Table),
    ):
        found = compare(MODELS, frame, y, sizes=[6, 20, 100], repeats=4)
        np.testing.assert_allclose(found.error, curves.error)
        assert isinstance(found.to_frame(), kind)
    assert found.to_frame().num_rows == 6


COMPARED = {
    "full": GaussianDiscriminant("full"),
    "shared": GaussianDiscriminant("shared"),
    "Bayes": BayesClassifier(),
    "uniform": BayesClassifier(priors="uniform"),
    "theirs": GaussianNB(),
    "costs": CostSensitive(BayesClassifier(), reject_cost=0.1, reject_label=-1),
}


def test_curves_are_those_of_refits(iris):
    X, y = iris
    sizes, n_test = [10, 30, 31, 80], 40
    found = np.empty((2, len(COMPARED), len(sizes), 3))
    for r in range(3):
        rng = np.random.default_rng(r)
        state = rng.bit_generator.state
        found[..., r] = measure_split(list(COMPARED.values()), X, y, np.array(sizes), n_test, rng)
        rng.bit_generator.state = state
        order = split_order(y, n_test, rng)
        test = order[-n_test:]
        for m, model in enumerate(COMPARED.values()):
            for s, size in enumerate(sizes):
                fitted = clone(model).fit(X[order[:size]], y[order[:size]])
                error = np.mean(fitted.predict(X[test]) != y[test])
                loss = log_loss(y[test], fitted.predict_proba(X[test]))
                np.testing.assert_allclose(found[:, m, s, r], [error, loss], rtol=1e-9, atol=1e-9)


def test_models_of_one_class_read_the_training_rows_once(iris, monkeypatch):
    summed = []
    add = LabelledRows.add_to
    monkeypatch.setattr(
        LabelledRows, "add_to", lambda self, total: summed.append(len(self.codes)) or add(self, total)
    )
    compare([GaussianDiscriminant(c) for c in ("full", "shared")], *iris, sizes=[10, 50, 100], repeats=2)
    assert sum(summed) == 2 * 100


def test_documents_are_compared_from_a_list_an_array_or_a_series():
    documents, y = ["good film", "bad film", "good good plot", "bad plot"] * 10, [1, 0, 1, 0] * 10
    models = {"once": TextClassifier(), "pairs": TextClassifier(ngram_range=(1, 2))}
    found = [
        compare(models, X, y, sizes=[4, 20], repeats=2)
        for X in (
            documents,
            np.array(documents, dtype=object),
            np.array(documents),
            pd.Series(documents, index=range(100, 140)),
            pl.Series(documents),
            pa.chunked_array([documents]),
        )
    ]
    assert found[0].error.shape == (2, 2, 2)
    assert (found[0].error[:, -1] == 0.0).all()
    for one in found[1:]:
        np.testing.assert_array_equal(one.log_loss, found[0].log_loss)


def test_where_two_curves_cross():
    error = np.array([[[0.3], [0.2], [0.2], [0.2]], [[0.4], [0.1], [0.25], [0.1]]])
    curves = LearningCurves(("a", "b"), np.array([10, 20, 40, 80]), error, error, None)
    assert curves.crossing("a", "b") == 80
    assert curves.crossing("b", "a") is None
    better = LearningCurves(("a", "b"), np.array([10, 20]), error[:, [1, 3]], error[:, [1, 3]], None)
    assert better.crossing("a", "b") is None  # b is ahead from the start
    with pytest.raises(ValueError, match="no model 'c'"):
        curves.crossing("a", "c")
    with pytest.raises(ValueError, match="measure"):
        curves.crossing("a", "b", "accuracy")


def test_the_difference_of_two_models_is_taken_split_by_split(curves):
    mean, about = curves.difference("GDA", "logistic", "log_loss")
    gap = curves.log_loss[0] - curves.log_loss[1]
    np.testing.assert_allclose(mean, gap.mean(axis=1))
    np.testing.assert_allclose(about, gap.std(axis=1, ddof=1) / 2)


def test_the_plot_shows_the_numbers(curves):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    display = curves.plot(Figure().add_subplot(), measure="log_loss")
    ax = display.ax_
    assert display.to_frame().equals(curves.to_frame())
    assert [line.get_label() for line in ax.get_lines()] == ["GDA", "logistic"]
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), curves.sizes)
    np.testing.assert_allclose(ax.get_lines()[1].get_ydata(), curves.log_loss[1].mean(axis=1))


def test_classifiers_without_names_are_named_by_their_class(iris):
    found = compare(
        [LogisticRegression(), LogisticRegression(C=9.0), GaussianDiscriminant()], *iris, repeats=1
    )
    assert found.models == ("LogisticRegression 1", "LogisticRegression 2", "GaussianDiscriminant")
    assert found.sizes[0] == 6
    assert found.sizes[-1] == 105


@pytest.mark.parametrize(
    "settings, match",
    [
        ({"sizes": [2, 50]}, "between 3"),
        ({"sizes": [50, 140]}, "105"),
        ({"sizes": 50}, "list of integers"),
        ({"sizes": [0.5]}, "list of integers"),
        ({"test_size": 1.0}, "test_size"),
        ({"test_size": "0.3"}, "test_size"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": 2.5}, "repeats"),
        ({"random_state": "a"}, "random_state"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_senseless_settings_are_refused(iris, settings, match):
    with pytest.raises(ValueError, match=match):
        compare(MODELS, *iris, **settings)


def test_no_models_and_too_few_labels_are_refused(iris):
    with pytest.raises(ValueError, match="no models"):
        compare([], *iris)
    with pytest.raises(ValueError, match="149"):
        compare(MODELS, iris[0], iris[1][1:])


@pytest.mark.parametrize(
    "models, match",
    [
        (LogisticRegression(), r"list of classifiers; for one, pass \[LogisticRegression"),
        ([LogisticRegression], "is a class; pass an instance"),
        ({"svm": LinearSVC()}, "'svm' has no predict_proba.*suffice.Calibrated\\(LinearSVC"),
    ],
)
def test_what_is_no_probabilistic_classifier_is_refused_with_a_cure(iris, models, match):
    with pytest.raises(TypeError, match=match):
        compare(models, *iris)


def test_models_may_come_from_a_generator(iris):
    curves = compare((model for model in MODELS.values()), *iris, sizes=[20], repeats=1)
    assert curves.models == ("GaussianDiscriminant", "LogisticRegression")
