"""The classifier keeps scikit-learn's contract."""

import copy

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import BayesClassifier
from suffice.families import Categorical, Normal
from suffice.lazy import scikit_learn


@parametrize_with_checks(
    [
        BayesClassifier(),
        BayesClassifier(priors="uniform"),
        BayesClassifier(families=Normal("shared")),
        BayesClassifier(families=Normal(alpha=0)),
    ],
    expected_failed_checks=lambda model: (
        {"check_class_weight_classifiers": "priors that are given are not weighted"} if model.priors else {}
    ),
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_it_is_a_classifier_that_takes_gaps():
    tags = sklearn.utils.get_tags(BayesClassifier())
    assert is_classifier(BayesClassifier())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse


def test_a_clone_has_the_settings_and_nothing_learnt(iris):
    model = BayesClassifier(families={0: "gamma"}, priors="uniform").fit(*iris)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        copied.predict(iris[0])


def test_the_constructor_only_stores():
    families, priors = {"age": "nonsense"}, [3.0, "x"]
    model = BayesClassifier(families=families, priors=priors)
    assert model.families is families
    assert model.priors is priors


def test_a_deep_copy_learns_on_its_own(iris):
    X, y = iris
    model = BayesClassifier().fit(X[:100], y[:100])
    before = model.predict_proba(X)
    copied = copy.deepcopy(model).partial_fit(X[100:], y[100:])
    assert np.array_equal(model.predict_proba(X), before)
    assert copied.classes_.tolist() == [0, 1, 2]


def test_a_shallow_copy_learns_on_its_own(iris):
    X, y = iris
    model = BayesClassifier().fit(X[:100], y[:100])
    before = model.statistics_
    copy.copy(model).partial_fit(X[100:], y[100:])
    assert model.statistics_ == before


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "score_samples", "explain", "forget", "merge"]
)
def test_an_unfitted_model_says_so(method):
    arguments = ([[1.0]], [0]) if method == "forget" else ([[1.0]],)
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(BayesClassifier(), method)(*arguments)


@pytest.mark.parametrize("name", ["classes_", "priors_", "statistics_", "schema_", "log_likelihood_", "bic_"])
def test_an_unfitted_model_has_no_fitted_attributes(name):
    assert not hasattr(BayesClassifier(), name)


def test_it_works_in_a_pipeline(iris):
    X, y = iris
    scaled = make_pipeline(StandardScaler(), BayesClassifier(families=Normal(alpha=0))).fit(X, y)
    plain = BayesClassifier(families=Normal(alpha=0)).fit(X, y)
    np.testing.assert_allclose(scaled.predict_proba(X), plain.predict_proba(X), atol=1e-10)


def test_a_frame_passes_through_a_pipeline_that_outputs_frames(table, labels):
    scaler = ColumnTransformer(
        [("numbers", StandardScaler(), make_column_selector(dtype_include="float"))],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    model = Pipeline([("scale", scaler), ("classify", BayesClassifier())]).fit(table, labels)
    assert set(model[-1].feature_names_in_) == set(table.columns)
    assert model.score(table, labels) > 0.8


def test_grid_search_chooses_families_priors_and_smoothing(iris):
    X, y = iris
    grid = {"families": [Normal(), Normal("shared"), Normal(alpha=0)], "priors": [None, "uniform"]}
    search = GridSearchCV(BayesClassifier(), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["families"] in grid["families"]


def test_cross_validation_takes_a_mixed_frame(table, labels):
    assert cross_val_score(BayesClassifier(), table, labels, cv=4, error_score="raise").mean() > 0.7
    proba = cross_val_predict(BayesClassifier(), table, labels, cv=4, method="predict_proba")
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_sample_weight_is_routed(iris):
    X, y = iris
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        step = BayesClassifier().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, step).fit(X, y, sample_weight=weights)
        scored = step.set_score_request(sample_weight=True)
        scores = cross_val_score(scored, X, y, params={"sample_weight": weights}, error_score="raise")
    plain = make_pipeline(StandardScaler(), BayesClassifier())
    plain.fit(X, y, bayesclassifier__sample_weight=weights)
    assert np.array_equal(routed.predict_proba(X), plain.predict_proba(X))
    assert np.isfinite(scores).all()


def test_partial_fit_and_forget_can_request_weights_too():
    with sklearn.config_context(enable_metadata_routing=True):
        model = BayesClassifier().set_partial_fit_request(sample_weight=True, classes=False)
        assert model.get_metadata_routing().partial_fit.requests["sample_weight"] is True


def test_score_is_accuracy(iris):
    X, y = iris
    model = BayesClassifier().fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X) == y)


def test_the_representation_shows_the_settings():
    assert repr(BayesClassifier(priors="uniform")) == "BayesClassifier(priors='uniform')"


def test_feature_names_are_kept_and_dropped_again(iris):
    X, y = iris
    model = BayesClassifier().fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert model.n_features_in_ == 4
    model.fit(X[:, :2], y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


@pytest.mark.parametrize(
    "y", [["b", "a", "b", "a"], [2, -1, 2, -1], [True, False, True, False], [1.0, 0.0, 1.0, 0.0]], ids=str
)
def test_labels_come_back_as_they_were(y):
    model = BayesClassifier().fit([[1.0], [5.0], [1.5], [5.5]], y)
    assert model.predict([[1.2], [5.2]]).tolist() == y[:2]
    assert model.classes_.tolist() == sorted(set(y))


def test_labels_of_a_pandas_categorical_are_its_values():
    y = pd.Series(["b", "a", "b", "a"], dtype="category")
    model = BayesClassifier().fit(pd.DataFrame({"x": [1.0, 5.0, 1.5, 5.5]}), y)
    assert model.classes_.tolist() == ["a", "b"]


def test_fitting_again_forgets_the_first_fit(iris, table, labels):
    model = BayesClassifier().fit(table, labels)
    model.fit(*iris)
    fresh = BayesClassifier().fit(*iris)
    assert model.statistics_ == fresh.statistics_
    assert model.classes_.tolist() == [0, 1, 2]


def test_rows_are_not_changed_by_fitting_and_predicting(table, labels):
    before = table.copy(deep=True)
    BayesClassifier().fit(table, labels).predict_proba(table)
    pd.testing.assert_frame_equal(table, before)


def test_settings_changed_after_fitting_act_at_the_next_fit(iris):
    X, y = iris
    model = BayesClassifier().fit(X, y)
    model.set_params(families=Categorical())
    assert model.schema_[0].family == Normal()


def test_small_arrays_are_read_without_the_checks_that_find_nothing_in_them(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    expected = BayesClassifier().fit(X.tolist(), y).predict_proba(X.tolist())

    def validate_data(*_, **__):
        raise AssertionError("not needed")

    monkeypatch.setitem(vars(scikit_learn), "validate_data", validate_data)
    model = BayesClassifier().fit(X, y)
    assert model.n_features_in_ == 3
    assert np.array_equal(model.predict_proba(X), expected)
    with pytest.raises(AssertionError, match="not needed"):  # scikit-learn words what is wrong
        model.predict(X[:, :2])


def test_settings_are_read_off_each_constructor_once():
    class Other(BayesClassifier):
        def __init__(self, priors=None):
            super().__init__(priors=priors)

    assert BayesClassifier._get_param_names() is BayesClassifier._get_param_names()
    assert Other._get_param_names() == ["priors"]
