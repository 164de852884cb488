"""The drop-ins keep scikit-learn's contract: constructors, checks, clones, searches, errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import dropin

MODELS = [getattr(dropin, name)() for name in dropin.__all__]
NAIVE = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")
GENERATIVE = [name for name in dropin.__all__ if name != "LogisticRegression"]
TOO_FEW = "scikit-learn's has no weights and skips the check; its rows have no covariance of full rank"


def expected_failures(estimator):
    if type(estimator).__name__ == "QuadraticDiscriminantAnalysis":
        return {
            "check_sample_weights_shape": TOO_FEW,
            "check_sample_weights_not_overwritten": TOO_FEW,
            "check_sample_weight_equivalence_on_dense_data": TOO_FEW,
        }
    return {}


@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", dropin.__all__)
def test_constructors_have_the_same_arguments(theirs, parameters, name):
    assert parameters(getattr(dropin, name)) == parameters(theirs[name])


@pytest.mark.parametrize("name", dropin.__all__)
def test_public_methods_and_fitted_attributes_of_theirs_are_here(theirs, iris, name):
    X, y = iris[0] * 1.01, iris[1]
    here, there = (
        getattr(dropin, name)().fit(X, y),
        theirs[name](**({"max_iter": 5000} if name == "LogisticRegression" else {})).fit(X, y),
    )
    absent = {"densify", "sparsify", "set_callbacks"} if name == "LogisticRegression" else set()
    wanted = {attribute for attribute in dir(there) if not attribute.startswith("_")} - absent
    assert not {
        attribute for attribute in wanted if hasattr(there, attribute) and not hasattr(here, attribute)
    }


@pytest.mark.parametrize("name", NAIVE)
def test_naive_bayes_has_no_decision_function_so_wrappers_choose_the_same(theirs, iris, name):
    X, y = np.floor(iris[0]), iris[1]
    assert not hasattr(getattr(dropin, name)(), "decision_function")
    ours = CalibratedClassifierCV(getattr(dropin, name)(), cv=3).fit(X, y)
    other = CalibratedClassifierCV(theirs[name](), cv=3).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("name", dropin.__all__)
def test_a_clone_has_the_settings_and_nothing_learnt(iris, name):
    model = getattr(dropin, name)().fit(*iris)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "classes_")
    with pytest.raises(NotFittedError):
        fresh.predict(iris[0])


@pytest.mark.parametrize(
    "name, grid",
    [
        ("GaussianNB", {"var_smoothing": [1e-9, 1e-1]}),
        ("MultinomialNB", {"alpha": [0.1, 1.0]}),
        ("ComplementNB", {"norm": [False, True]}),
        ("BernoulliNB", {"binarize": [0.0, 2.0]}),
        ("CategoricalNB", {"min_categories": [9, 12]}),
        ("LinearDiscriminantAnalysis", {"solver": ["svd", "lsqr"]}),
        ("QuadraticDiscriminantAnalysis", {"reg_param": [0.0, 0.5]}),
        ("LogisticRegression", {"C": [0.1, 1.0]}),
    ],
)
def test_searches_choose_the_same(theirs, iris, name, grid):
    X, y = np.floor(iris[0] * 2) / 2, iris[1]
    X = X + np.random.default_rng(0).uniform(0, 0.1, X.shape)
    ours = GridSearchCV(getattr(dropin, name)(), grid, cv=3, error_score="raise").fit(X, y)
    start = theirs[name](max_iter=10_000) if name == "LogisticRegression" else theirs[name]()
    other = GridSearchCV(start, grid, cv=3, error_score="raise").fit(X, y)
    assert ours.best_params_ == other.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])


def test_pipelines_and_frames_work(iris):
    X, y = pd.DataFrame(iris[0], columns=list("abcd")), iris[1]
    pipeline = make_pipeline(StandardScaler(), dropin.LinearDiscriminantAnalysis(n_components=2))
    pipeline.set_output(transform="pandas")
    projected = pipeline.fit_transform(X, y)
    assert projected.columns.tolist() == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert cross_val_score(dropin.GaussianNB(), X, y, error_score="raise").mean() > 0.9
    assert dropin.GaussianNB().fit(X, y).feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize("name", dropin.__all__)
def test_settings_changed_after_fitting_act_at_the_next_fit(iris, name):
    X, y = np.floor(iris[0]), iris[1]
    change = {
        "GaussianNB": {"var_smoothing": 0.5},
        "LinearDiscriminantAnalysis": {"priors": [0.1, 0.1, 0.8]},
        "QuadraticDiscriminantAnalysis": {"reg_param": 0.5},
        "LogisticRegression": {"C": 0.01},
    }.get(name, {"alpha": 20.0})
    X = X + np.random.default_rng(0).uniform(0, 0.5, X.shape)
    X = np.maximum(X - 2.0, 0.0) if name == "BernoulliNB" else X
    model = getattr(dropin, name)().fit(X, y)
    before = clone(model).fit(X, y).predict_proba(X)
    model.set_params(**change)
    assert np.array_equal(model.predict_proba(X), before)
    assert not np.allclose(model.fit(X, y).predict_proba(X), before)


BAD = {
    "one-dimensional rows": lambda X, y: (X[:, 0], y),
    "more rows than labels": lambda X, y: (X, y[:-1]),
    "no labels": lambda X, _: (X, None),
    "no rows": lambda X, y: (X[:0], y[:0]),
    "an infinity": lambda X, y: (np.where(X.max() == X, np.inf, X), y),
    "labels that are measurements": lambda X, y: (X, y + 0.5),
    "a label that is missing": lambda X, y: (X, np.where(np.arange(len(y)) == 3, np.nan, y)),
    "text": lambda X, y: (np.full(X.shape, "a"), y),
    "complex numbers": lambda X, y: (X + 1j, y),
    "labels of more than 64 bits": lambda X, y: (X, y.astype(object) + 10**20),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", dropin.__all__)
def test_bad_rows_and_labels_are_the_same_errors(theirs, iris, name, case):
    X, y = BAD[case](np.floor(iris[0]), iris[1])
    with pytest.raises(Exception) as expected:  # noqa: PT011  whatever scikit-learn raises
        theirs[name]().fit(X, y)
    with pytest.raises(type(expected.value)):
        getattr(dropin, name)().fit(X, y)


SETTINGS = [
    ("GaussianNB", {"priors": [0.5, 0.5]}),
    ("GaussianNB", {"priors": [0.5, 0.5, 0.5]}),
    ("GaussianNB", {"priors": [1.5, -1.0, 0.5]}),
    ("GaussianNB", {"var_smoothing": -1.0}),
    ("GaussianNB", {"var_smoothing": "much"}),
    ("MultinomialNB", {"alpha": -1.0}),
    ("MultinomialNB", {"alpha": [1.0, 2.0]}),
    ("MultinomialNB", {"alpha": [1.0, 2.0, -1.0, 1.0]}),
    ("ComplementNB", {"norm": "yes"}),
    ("BernoulliNB", {"class_prior": [0.5, 0.5]}),
    ("BernoulliNB", {"binarize": -1.0}),
    ("CategoricalNB", {"min_categories": 0}),
    ("CategoricalNB", {"min_categories": [5, 5]}),
    ("CategoricalNB", {"min_categories": [5.5, 5.5, 5.5, 5.5]}),
    ("CategoricalNB", {"alpha": [1.0, 1.0, 1.0, 1.0]}),
    ("LinearDiscriminantAnalysis", {"priors": [0.5, 0.5]}),
    ("LinearDiscriminantAnalysis", {"priors": [1.5, -1.0, 0.5]}),
    ("LinearDiscriminantAnalysis", {"shrinkage": 0.5}),
    ("LinearDiscriminantAnalysis", {"solver": "qr"}),
    ("LinearDiscriminantAnalysis", {"n_components": 3}),
    ("LinearDiscriminantAnalysis", {"solver": "lsqr", "shrinkage": 1.5}),
    ("LinearDiscriminantAnalysis", {"covariance_estimator": StandardScaler()}),
    ("QuadraticDiscriminantAnalysis", {"shrinkage": 0.5}),
    ("QuadraticDiscriminantAnalysis", {"reg_param": 2.0}),
    ("QuadraticDiscriminantAnalysis", {"covariance_estimator": StandardScaler()}),
    ("LogisticRegression", {"C": 0.0}),
    ("LogisticRegression", {"solver": "newton"}),
    ("LogisticRegression", {"max_iter": -1}),
    ("LogisticRegression", {"class_weight": "equal"}),
    ("LogisticRegression", {"solver": "liblinear"}),
]


@pytest.mark.parametrize("name, options", SETTINGS, ids=str)
def test_bad_settings_are_the_same_errors(theirs, iris, name, options):
    X, y = np.floor(iris[0]), iris[1]
    with pytest.raises(Exception) as expected:  # noqa: PT011  whatever scikit-learn raises
        theirs[name](**options).fit(X, y)
    with pytest.raises(
        type(expected.value).__mro__[1] if "Invalid" in repr(expected.type) else expected.type
    ):
        getattr(dropin, name)(**options).fit(X, y)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "CategoricalNB"])
def test_negative_counts_are_refused_in_the_same_words(theirs, iris, name):
    X, y = np.floor(iris[0]), iris[1]
    X[3, 2] = -1.0
    for estimator in (getattr(dropin, name), theirs[name]):
        with pytest.raises(ValueError, match="Negative values in data passed to"):
            estimator().fit(X, y)


@pytest.mark.parametrize("name", dropin.__all__)
def test_a_wrong_call_is_refused_by_the_name_of_the_method(name):
    with pytest.raises(TypeError, match=r"\.fit\(\) missing .*'y'"):
        getattr(dropin, name)().fit([[1.0]])


def test_only_negative_counts_are_called_negative():
    X = pd.DataFrame({"is outside Multinomial": [1.0, np.inf]})
    with pytest.raises(ValueError, match=r"^column 'is outside Multinomial' contains the infinite value"):
        dropin.MultinomialNB().fit(X, [0, 1])


@pytest.mark.parametrize(
    "name", ["GaussianNB", "CategoricalNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]
)
def test_sparse_rows_are_the_same_error_where_theirs_are(theirs, iris, name):
    for estimator in (getattr(dropin, name), theirs[name]):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            estimator().fit(sparse.csr_array(np.floor(iris[0])), iris[1])


def test_a_category_beyond_the_last_is_an_index_error(theirs):
    for estimator in (dropin.CategoricalNB, theirs["CategoricalNB"]):
        model = estimator().fit([[0, 1], [1, 2]], [0, 1])
        with pytest.raises(IndexError):
            model.predict([[0, 7]])


@pytest.mark.parametrize("name", ["QuadraticDiscriminantAnalysis", "LogisticRegression"])
def test_one_class_is_the_same_error(theirs, iris, name):
    for estimator in (getattr(dropin, name), theirs[name]):
        with pytest.raises(ValueError, match="class"):
            estimator().fit(iris[0], np.zeros(150, dtype=int))


def test_singular_covariances_are_the_same_error(theirs, iris):
    X = np.column_stack([iris[0], iris[0][:, 0]])
    for estimator in (dropin.QuadraticDiscriminantAnalysis, theirs["QuadraticDiscriminantAnalysis"]):
        with pytest.raises(np.linalg.LinAlgError, match="not full rank"):
            estimator().fit(X, iris[1])


def test_one_row_of_a_class_is_the_same_error(theirs, iris):
    X, y = iris[0][:51], iris[1][:51]
    for estimator in (dropin.QuadraticDiscriminantAnalysis, theirs["QuadraticDiscriminantAnalysis"]):
        with pytest.raises(ValueError, match="only 1 sample"):
            estimator().fit(X, y)


def test_priors_that_do_not_sum_to_one_are_renormalised_with_a_warning(theirs, iris):
    for estimator in (dropin.LinearDiscriminantAnalysis, theirs["LinearDiscriminantAnalysis"]):
        with pytest.warns(UserWarning, match="Renormalizing"):
            assert estimator(priors=[1.0, 1.0, 2.0]).fit(*iris).priors_.tolist() == [0.25, 0.25, 0.5]


def test_a_tiny_alpha_is_raised_with_a_warning(theirs, iris):
    X, y = np.floor(iris[0]), iris[1]
    scores = []
    for estimator in (dropin.MultinomialNB, theirs["MultinomialNB"]):
        with pytest.warns(UserWarning, match="alpha too small"):
            scores.append(estimator(alpha=0.0, force_alpha=False).fit(X, y).predict_log_proba(X))
    np.testing.assert_allclose(*scores, rtol=1e-8)


@pytest.mark.parametrize("name", NAIVE)
def test_labels_beyond_the_declared_classes_are_refused(iris, name):
    X, y = np.minimum(np.floor(iris[0]), 1.0), iris[1]
    model = getattr(dropin, name)().partial_fit(X[:100], y[:100], classes=[0, 1])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="do not exist in the initial classes"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    assert np.array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("container", [list, np.asarray, pd.Series, lambda y: np.asarray(y, dtype=object)])
@pytest.mark.parametrize("name", dropin.__all__)
def test_text_labels_keep_their_type(theirs, iris, name, container):
    X, y = np.floor(iris[0]) + np.random.default_rng(0).uniform(0, 0.5, iris[0].shape), iris[1]
    labels = container([["setosa", "versicolor", "virginica"][k] for k in y])
    settings = {"max_iter": 5000} if name == "LogisticRegression" else {}
    ours, other = getattr(dropin, name)(**settings).fit(X, labels), theirs[name](**settings).fit(X, labels)
    assert ours.classes_.dtype == other.classes_.dtype
    assert ours.predict(X).dtype == other.predict(X).dtype
    assert np.array_equal(ours.predict(X), other.predict(X))


def test_longer_names_of_classes_may_come_later():
    model = dropin.GaussianNB().partial_fit([[0.0], [1.0]], pd.Series(["a", "b"], dtype=object))
    model.partial_fit([[9.0], [9.5]], pd.Series(["others", "others"], dtype=object))
    assert model.predict([[9.2]]).tolist() == ["others"]


@pytest.mark.parametrize(
    "name, solver",
    [
        ("LinearDiscriminantAnalysis", "svd"),
        ("LinearDiscriminantAnalysis", "lsqr"),
        ("LinearDiscriminantAnalysis", "eigen"),
        ("QuadraticDiscriminantAnalysis", "svd"),
        ("QuadraticDiscriminantAnalysis", "eigen"),
    ],
)
def test_a_variance_that_overflows_is_refused_by_the_name_of_the_column(iris, name, solver):
    X = pd.DataFrame(iris[0], columns=list("abcd"))
    model = getattr(dropin, name)(solver=solver)
    with pytest.raises(ValueError, match=r"column 'c' has a variance of more than 1.8e308"):
        model.fit(X.assign(c=X["c"] * 1e200), iris[1])
    large = model.fit(X * 1e150, iris[1]).predict_proba(X * 1e150)
    np.testing.assert_allclose(large, model.fit(X * 1e3, iris[1]).predict_proba(X * 1e3), atol=1e-8)
