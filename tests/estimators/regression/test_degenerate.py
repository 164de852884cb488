"""Tables on which maximum likelihood fails, and what is said then."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from suffice.estimators.regression import LogisticRegression, ProbitRegression

BOTH = pytest.mark.parametrize("Regression", [LogisticRegression, ProbitRegression])
LINE = np.linspace(-2.0, 2.0, 40)[:, np.newaxis]
SIDES = (LINE[:, 0] > 0).astype(int)


@BOTH
def test_complete_separation_without_a_penalty_is_named_and_stops(Regression):
    with pytest.warns(ConvergenceWarning, match="classes are separated.*no maximum.*finite C"):
        model = Regression(C=np.inf).fit(LINE, SIDES)
    assert not model.converged_
    assert model.n_iter_[0] < 10
    assert np.isfinite(model.coef_).all()
    assert model.score(LINE, SIDES) == 1.0
    assert "no maximum" in repr(model.summary())


@BOTH
def test_quasi_complete_separation_without_a_penalty_is_named(Regression):
    X = np.column_stack([LINE[:, 0] > 0, np.sin(np.arange(40.0))])
    y = SIDES.copy()
    y[-3:] = 0  # one side is pure, the other is not
    with pytest.warns(ConvergenceWarning, match="quasi-complete"):
        model = Regression(C=np.inf).fit(X, y)
    assert not model.converged_
    assert np.isfinite(model.coef_).all()


def test_three_separated_classes_are_named():
    X = np.arange(9.0)[:, np.newaxis] // 3 * 10 + np.arange(9.0)[:, np.newaxis] % 3
    with pytest.warns(ConvergenceWarning, match="classes are separated"):
        model = LogisticRegression(C=np.inf).fit(np.column_stack([X, X**2]), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert np.isfinite(model.coef_).all()


@BOTH
@pytest.mark.parametrize("C", [1.0, 1e6])
def test_a_penalty_gives_separated_classes_an_optimum(Regression, C):
    model = Regression(C=C).fit(LINE, SIDES)
    assert model.converged_
    assert model.message_ == "The optimum was found."


@BOTH
def test_collinear_columns_share_a_coefficient_and_have_no_standard_error_of_their_own(drawn, Regression):
    X, y = drawn(300, 2, 2)
    plain = Regression(C=np.inf).fit(X, y)
    model = Regression(C=np.inf).fit(np.column_stack([X, X[:, 0]]), y)
    assert model.converged_
    np.testing.assert_allclose(model.predict_proba(np.column_stack([X, X[:, 0]])), plain.predict_proba(X))
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-12)
    assert model.n_parameters_ == plain.n_parameters_ == 3
    assert np.isnan(model.standard_errors_[0, [0, 2]]).all()
    assert model.standard_errors_[0, 1] == pytest.approx(plain.standard_errors_[0, 1], rel=1e-6)
    assert "not determined" in repr(model.summary())


@BOTH
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_constant_column_gets_no_coefficient(drawn, Regression, C):
    X, y = drawn(300, 2, 2)
    model = Regression(C=C).fit(np.column_stack([X, np.full(300, 7.0)]), y)
    assert model.coef_[0, 2] == pytest.approx(0.0, abs=1e-8)
    np.testing.assert_allclose(model.coef_[:, :2], Regression(C=C).fit(X, y).coef_, rtol=1e-7)


@BOTH
def test_only_constant_columns_leave_the_frequencies(Regression):
    model = Regression().fit(np.zeros((10, 2)), [0] * 7 + [1] * 3)
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 2))), [[0.7, 0.3]], rtol=1e-8)


@BOTH
def test_more_columns_than_rows(Regression):
    X = np.random.default_rng(0).normal(size=(20, 60))
    y = np.arange(20) % 2
    assert Regression().fit(X, y).converged_
    with pytest.warns(ConvergenceWarning, match="separated"):
        assert np.isfinite(Regression(C=np.inf).fit(X, y).coef_).all()


def test_too_few_iterations_are_reported_with_the_distance_left(drawn):
    X, y = drawn(300, 3, 2)
    with pytest.warns(ConvergenceWarning, match="2 iterations.*standard errors from the optimum.*max_iter"):
        model = LogisticRegression(max_iter=2).fit(X, y)
    assert not model.converged_


@BOTH
def test_one_class_is_refused(Regression):
    with pytest.raises(ValueError, match=r"at least 2 classes.*only one class: 'a'"):
        Regression().fit([[1.0], [2.0]], ["a", "a"])


@BOTH
@pytest.mark.parametrize(
    "X, match",
    [
        (
            pd.DataFrame({"age": [1.0, np.nan, 3.0]}),
            "column 'age' has missing.*SimpleImputer.*EvidenceClassifier, BayesClassifier or Gauss",
        ),
        (np.array([[1.0, 2.0], [1.0, np.nan], [0.0, 1.0]]), "column 1 has missing"),
        (sparse.csr_array([[0.0, 2.0], [1.0, np.nan], [0.0, 1.0]]), "column 1 has missing"),
        (np.ma.masked_equal([[1.0, 2.0], [1.0, 7.0], [0.0, 1.0]], 7.0), "column 1 has missing"),
        (pl.DataFrame({"town": ["Ulm", "Bonn", "Ulm"]}), "column 'town' holds text or categories"),
        (pd.DataFrame({"town": ["Ulm", "Bonn", "Ulm"]}), "column 'town' holds text.*OneHotEncoder"),
        (pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 3)}), "column 'day' holds values of the kind"),
        (np.array([[1.0], [np.inf], [0.0]]), "column 0 contains the infinite value"),
    ],
)
def test_what_is_not_a_number_is_refused_with_the_name_and_a_cure(Regression, X, match):
    with pytest.raises(ValueError, match=match):
        Regression().fit(X, [0, 1, 1])


@BOTH
def test_booleans_and_whole_numbers_are_numbers(Regression):
    frame = pd.DataFrame({"flag": [True, False, True, False], "count": [1, 5, 2, 2]})
    X = frame.to_numpy(dtype=float)
    model = Regression().fit(frame, [0, 1, 1, 0])
    np.testing.assert_allclose(model.coef_, Regression().fit(X, [0, 1, 1, 0]).coef_)


@BOTH
def test_posteriors_far_away_are_finite_and_sum_to_one(Regression):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 1, 2, 2]
    model = Regression(C=100.0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = model.predict_log_proba([[-1e6], [1e6], [2.5]])
    assert np.isfinite(far).all()
    np.testing.assert_allclose(model.predict_proba([[-1e6], [1e6], [2.5]]).sum(axis=1), 1.0)


@BOTH
@pytest.mark.parametrize("n, d", [(2_000, 30), (50_000, 5)])
def test_quasi_complete_separation_by_many_columns_together_is_named(Regression, n, d):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d))
    y = X[:, 1] + rng.logistic(size=n) > 0
    X[:, 0] = (rng.random(n) < 0.05) & y
    with pytest.warns(ConvergenceWarning, match="quasi-complete"):
        model = Regression(C=np.inf).fit(X @ rng.normal(size=(d, d)), y)
    assert np.isfinite(model.coef_).all()


def test_the_class_that_is_separated_from_the_rest_is_named():
    X = np.linspace(-3.0, 3.0, 60)[:, np.newaxis]
    y = np.where(X[:, 0] > 1.5, "c", np.where(np.arange(60) % 2, "a", "b"))
    with pytest.warns(ConvergenceWarning, match="^c against the rest: The classes are separated:"):
        ProbitRegression(C=np.inf).fit(X, y)


@BOTH
@pytest.mark.parametrize("weight", [1e-200, 1e-12, 1e-6])
def test_rows_that_weigh_next_to_nothing_have_the_optimum_of_all_others(drawn, Regression, weight):
    X, y = drawn(300, 3, 2)
    plain = Regression(C=np.inf).fit(X, y)
    light = Regression(C=np.inf).fit(X, y, sample_weight=np.full(300, weight))
    assert light.converged_
    np.testing.assert_allclose(light.coef_, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(light.standard_errors_ * np.sqrt(weight), plain.standard_errors_, rtol=1e-4)


@BOTH
def test_a_search_that_rounding_holds_up_stops_and_says_so(drawn, Regression):
    X, y = drawn(300, 3, 2)
    with pytest.warns(ConvergenceWarning, match="rounding errors hide any further progress"):
        model = Regression(tol=1e-20).fit(X, y)
    assert not model.converged_
    assert model.n_iter_[0] < 50
    np.testing.assert_allclose(model.coef_, Regression().fit(X, y).coef_, rtol=1e-9)


def test_one_iteration_is_one_iteration(drawn):
    with pytest.warns(ConvergenceWarning, match="after 1 iteration,"):
        LogisticRegression(max_iter=1).fit(*drawn(300, 3, 2))


@BOTH
def test_no_more_iterations_are_counted_than_allowed(drawn, Regression):
    X, y = drawn(20_000, 4, 3)
    with pytest.warns(ConvergenceWarning, match="after 2 iterations"):
        model = Regression(max_iter=2).fit(X, y)
    assert model.n_iter_.max() == 2


@BOTH
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 4e307])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_columns_of_extreme_size_are_as_good_as_others(Regression, size, container):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, size=(300, 2))
    y = X.sum(axis=1) + rng.logistic(size=300) > 0
    plain = Regression(C=np.inf).fit(X, y)
    model = Regression(C=np.inf).fit(container(X * [size, 1.0]), y)
    np.testing.assert_allclose(model.coef_ * [size, 1.0], plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(container(X * [size, 1.0])), plain.predict_proba(X))


@BOTH
def test_the_standard_error_of_a_column_in_tiny_units_is_that_of_the_penalty(drawn, Regression):
    X, y = drawn(300, 2, 2)
    assert Regression().fit(X * [1e-300, 1.0], y).standard_errors_[0, 0] == pytest.approx(1.0)


@BOTH
@pytest.mark.parametrize("weights", [[1.0, 2.0], np.array([1.0, 2.0]), "balance"])
def test_class_weights_without_labels_are_refused(Regression, weights):
    with pytest.raises(ValueError, match="class_weight must be None, 'balanced' or a dict by label"):
        Regression(class_weight=weights).fit(LINE, SIDES)
