import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice import BayesClassifier, CostSensitive, TextClassifier, thresholds_from_costs

GERMAN = {("bad", "good"): 5, ("good", "bad"): 1}


@parametrize_with_checks([CostSensitive(BayesClassifier()), CostSensitive(LogisticRegression())])
def test_it_is_a_scikit_learn_classifier(estimator, check):
    check(estimator)


class Posteriors(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose rows are its posteriors."""

    def __init__(self, classes):
        self.classes = classes
        self.classes_ = np.asarray(classes)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X)


shares = arrays(np.float64, (6, 3), elements=st.floats(0.01, 1.0)).map(lambda p: p / p.sum(1, keepdims=True))
matrices = arrays(np.float64, (3, 3), elements=st.floats(-5.0, 20.0))


@settings(max_examples=200, deadline=None)
@given(shares, matrices, st.floats(-5.0, 20.0))
def test_no_decision_is_expected_to_cost_less(p, costs, refusal):
    model = CostSensitive(Posteriors([0, 1, 2]), costs)
    chosen = model.predict(p)
    rows = np.arange(len(p))
    expected = p @ costs
    np.testing.assert_allclose(model.expected_cost(p), expected[rows, chosen], rtol=1e-12, atol=1e-12)
    assert (expected[rows, chosen] <= expected.min(axis=1) + 1e-12).all()
    assert (expected[rows, chosen] <= expected[rows, p.argmax(axis=1)] + 1e-12).all()
    refusing = CostSensitive(Posteriors([0, 1, 2]), costs, reject_cost=refusal, reject_label=-1)
    cost = refusing.expected_cost(p)
    assert (cost <= np.minimum(model.expected_cost(p), refusal)).all()
    assert np.array_equal(refusing.predict(p) == -1, model.expected_cost(p) > refusal)


@settings(max_examples=200, deadline=None)
@given(arrays(np.float64, (20, 4), elements=st.floats(0.0, 1.0)))
def test_equal_costs_decide_as_the_posteriors_do_ties_and_roundings_included(p):
    for costs in (None, 1.0 - np.eye(4), 4.0 - 4.0 * np.eye(4), 7.0 - np.eye(4)):
        model = CostSensitive(Posteriors([0, 1, 2, 3]), costs)
        assert np.array_equal(model.predict(p), p.argmax(axis=1))


@pytest.mark.parametrize(
    "inner", [BayesClassifier(), suffice.GaussianDiscriminant(), LogisticRegression(max_iter=1000)]
)
def test_equal_costs_are_the_models_own_predict(inner):
    X, y = load_iris(return_X_y=True)
    model = inner.fit(X, y)
    assert np.array_equal(CostSensitive(model, 1 - np.eye(3)).predict(X), model.predict(X))


def test_a_table_of_costs_is_read_by_its_labels():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = BayesClassifier().fit(X[:, :1], names)
    costs = pd.DataFrame(np.arange(9.0).reshape(3, 3), ["c", "a", "b"], ["b", "c", "a"])
    by_label = {(t, p): costs.loc[t, p] for t in "abc" for p in "abc"}
    np.testing.assert_array_equal(CostSensitive(model, costs).costs_, CostSensitive(model, by_label).costs_)
    with pytest.raises(ValueError, match=r"both must be the classes \['a', 'b', 'c'\]"):
        _ = CostSensitive(model, costs.rename(index={"c": "d"})).costs_


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_a_table_without_names_of_rows_must_be_in_the_order_of_the_classes(frame):
    model = Posteriors(["bad", "good"])
    ordered = CostSensitive(model, frame({"bad": [0.0, 1.0], "good": [5.0, 0.0]}))
    assert ordered.costs_.tolist() == [[0.0, 5.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match=r"has the columns \['good', 'bad'\].*dict of pairs"):
        _ = CostSensitive(model, frame({"good": [5.0, 0.0], "bad": [0.0, 1.0]})).costs_


def test_a_dict_of_pairs_is_the_matrix_of_truth_and_prediction():
    model = CostSensitive(Posteriors(["bad", "good"]), GERMAN)
    assert model.costs_.tolist() == [[0.0, 5.0], [1.0, 0.0]]
    assert model.predict([[0.16, 0.84], [0.17, 0.83]]).tolist() == ["good", "bad"]
    np.testing.assert_allclose(model.expected_cost([[0.16, 0.84], [0.17, 0.83]]), [0.8, 0.83])


def test_decisions_follow_the_thresholds():
    for costs in ([[0, 1], [5, 0]], [[-1, 3], [2, 0]]):
        low, high = thresholds_from_costs(costs)
        assert low == high
        p = np.array([low - 1e-9, high + 1e-9])
        model = CostSensitive(Posteriors([0, 1]), costs)
        assert model.predict(np.column_stack([1 - p, p])).tolist() == [0, 1]
    assert thresholds_from_costs([[0, 1], [5, 0]])[0] == pytest.approx(1 / 6)


def test_between_the_thresholds_a_row_is_refused():
    costs, refusal = [[0, 1], [5, 0]], 0.5
    low, high = thresholds_from_costs(costs, refusal)
    assert (low, high) == pytest.approx((0.1, 0.5))
    p = np.array([low - 1e-9, low + 1e-9, high - 1e-9, high + 1e-9])
    model = CostSensitive(Posteriors([0, 1]), costs, reject_cost=refusal, reject_label=-1)
    assert model.predict(np.column_stack([1 - p, p])).tolist() == [0, -1, -1, 1]


def test_a_refusal_too_dear_is_never_chosen():
    assert thresholds_from_costs([[0, 1], [1, 0]], 0.5) == (0.5, 0.5)
    assert thresholds_from_costs([[0, 1], [5, 0]], 100) == thresholds_from_costs([[0, 1], [5, 0]])
    assert thresholds_from_costs([[0, 1], [5, 0]], -1) == (0.0, 1.0)


def test_the_mean_cost_is_what_the_decisions_did_cost():
    p = np.array([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]])
    model = CostSensitive(Posteriors(["bad", "good"]), GERMAN, reject_cost=0.45)
    assert model.predict(p).tolist() == ["bad", "reject", "reject"]
    assert model.mean_cost(p, ["good", "good", "bad"]) == pytest.approx((1 + 0.45 + 0.45) / 3)
    assert model.mean_cost(p, ["good", "bad", "bad"], [2, 0, 1]) == pytest.approx((2 + 0.45) / 3)
    with pytest.raises(ValueError, match="labels without costs"):
        model.mean_cost(p, ["good", "ugly", "bad"])
    for y in (["good"], ["good", "bad"]):
        with pytest.raises(ValueError, match=f"X has 3 rows, but y has {len(y)} label"):
            model.mean_cost(p, y)


def test_a_long_label_of_refusal_is_not_cut():
    model = CostSensitive(Posteriors(["a", "b"]), reject_cost=0.1, reject_label="ask a person")
    assert model.predict([[0.5, 0.5], [1.0, 0.0]]).tolist() == ["ask a person", "a"]


@pytest.mark.parametrize(
    "settings_, message",
    [
        ({"costs": np.eye(3)}, "2 × 2"),
        ({"costs": [[0, np.inf], [1, 0]]}, "finite"),
        ({"costs": {("a", "b"): 1}}, r"no entry for \('b', 'a'\)"),
        ({"costs": {("a", "c"): 1, ("b", "a"): 1}}, r"got \('a', 'c'\): there is no class 'c'"),
        ({"costs": {(np.str_("a"), np.str_("c")): 1}}, r"got \('a', 'c'\): there is no class 'c'"),
        ({"costs": {"a": 1}}, "pairs"),
        ({"costs": "balanced"}, "costs must hold numbers, got 'balanced'"),
        ({"costs": [[0, 1], [1]]}, "costs must hold numbers"),
        ({"costs": np.eye(2) * 1j}, "costs must hold numbers"),
        ({"costs": {("a", "b"): "dear", ("b", "a"): 1}}, r"costs\[\('a', 'b'\)\] must hold numbers"),
        ({"costs": {("a", "b"): np.nan, ("b", "a"): 1}}, r"got nan for \('a', 'b'\)"),
        ({"costs": [[0, np.inf], [1, 0]]}, r"got inf for \('a', 'b'\)"),
        ({"reject_cost": np.nan}, "reject_cost"),
        ({"reject_cost": "much"}, "reject_cost"),
        ({"reject_cost": 1, "reject_label": -1}, "type of the classes"),
        ({"reject_cost": 1, "reject_label": "a"}, "is also a class"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings_, message):
    with pytest.raises(ValueError, match=message):
        CostSensitive(Posteriors(["a", "b"]), **settings_).predict([[0.5, 0.5]])


@pytest.mark.parametrize(
    "costs, cell",
    [
        ([[0, 0], [1, 0]], r"costs\[0, 1\] is 0 and costs\[0, 0\] is 0"),
        ([[0, 1], [1, 2]], r"costs\[1, 0\] is 1 and costs\[1, 1\] is 2"),
        ([[0, -1], [1, 0]], r"costs\[0, 1\] is -1"),
        ([[0, 0], [0, 0]], "must cost more"),
    ],
)
def test_thresholds_need_errors_that_cost(costs, cell):
    with pytest.raises(ValueError, match=cell) as refusal:
        thresholds_from_costs(costs)
    assert "must cost more" in str(refusal.value)


def test_thresholds_of_a_table_that_names_its_classes():
    costs = pd.DataFrame([[0, 1], [5, 0]], ["good", "bad"], ["good", "bad"])
    assert thresholds_from_costs(costs) == thresholds_from_costs([[0, 1], [5, 0]])
    turned = costs.loc[["bad", "good"]]
    assert thresholds_from_costs(turned) == thresholds_from_costs([[0, 1], [5, 0]])


def test_no_refusal_is_named_by_what_equals_nothing():
    model = CostSensitive(Posteriors([0, 1]), reject_cost=0.1, reject_label=np.nan)
    with pytest.raises(ValueError, match="must not be nan"):
        model.predict([[0.5, 0.5]])


def test_thresholds_refuse_what_does_not_order_the_classes_or_is_no_cost():
    with pytest.raises(TypeError, match="2 × 2 matrix"):
        thresholds_from_costs(GERMAN)
    with pytest.raises(ValueError, match="2 × 2"):
        thresholds_from_costs(np.eye(3))
    for reject_cost in (np.nan, np.inf, "much"):
        with pytest.raises(ValueError, match="reject_cost must be"):
            thresholds_from_costs([[0, 1], [5, 0]], reject_cost)


@settings(max_examples=300, deadline=None)
@given(*(st.integers(-6, 6) for _ in range(2)), *(st.integers(1, 6) for _ in range(2)), st.integers(-6, 12))
def test_thresholds_decide_as_the_expected_costs_do(right_0, right_1, more_0, more_1, refusal):
    costs = np.array([[right_0, right_0 + more_0], [right_1 + more_1, right_1]], dtype=float)
    assume(not any(a == b == refusal for a, b in costs.T))  # ties everywhere are decided by rounding
    p = np.linspace(0.0, 1.0, 401)[:-1] + 1e-5  # beside the other ties
    model = CostSensitive(Posteriors([0, 1]), costs, reject_cost=float(refusal), reject_label=-1)
    decided = model.predict(np.column_stack([1 - p, p]))
    changes = decided[np.flatnonzero(np.diff(decided, prepend=2))].tolist()
    if changes in ([-1, 0, 1], [0, 1, -1], [-1, 0], [1, -1]):
        with pytest.raises(ValueError, match="two thresholds cannot express"):
            thresholds_from_costs(costs, refusal)
    else:
        low, high = thresholds_from_costs(costs, refusal)
        assert np.array_equal(decided, np.where(p <= low, 0, np.where(p < high, -1, 1)))


class Plain:
    """A classifier that knows nothing of scikit-learn."""

    classes_ = ("bad", "good")

    def predict_proba(self, X):
        return np.column_stack([np.asarray(X)[:, 0], 1.0 - np.asarray(X)[:, 0]])


class PlainToFit:
    """The same, which learns its classes."""

    predict_proba = Plain.predict_proba

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def test_any_object_with_posteriors_and_classes_will_do():
    model = CostSensitive(Plain(), GERMAN)
    assert model.predict([[0.16], [0.17]]).tolist() == ["good", "bad"]
    assert sklearn.base.is_classifier(model)
    assert "CostSensitive" in repr(model)
    assert model.mean_cost([[0.16]], ["bad"]) == 5.0
    assert clone(model).predict([[0.17]]).tolist() == ["bad"]
    under = suffice.WithPriors(Plain(), {"bad": 0.9, "good": 0.1}, training_priors=[0.5, 0.5])
    assert under.predict([[0.3]]).tolist() == ["bad"]


def test_an_object_that_can_be_fitted_is_fitted_in_a_copy():
    inner = PlainToFit()
    with pytest.raises(NotFittedError, match="nor is its model"):
        CostSensitive(inner, GERMAN).predict([[0.5]])
    fitted = CostSensitive(inner, GERMAN).fit([[0.1], [0.9]], ["good", "bad"])
    assert fitted.predict([[0.17]]).tolist() == ["bad"]
    assert not vars(inner)


def test_a_model_without_posteriors_is_refused_with_the_cure():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(AttributeError, match=r"suffice\.Calibrated"):
        CostSensitive(LinearSVC()).fit(X, y).predict(X)


def test_an_unfitted_model_must_be_fitted_first():
    with pytest.raises(NotFittedError, match="nor is its model"):
        CostSensitive(BayesClassifier()).predict([[1.0]])


def test_fitting_leaves_the_model_that_was_passed_alone():
    X, y = load_iris(return_X_y=True)
    inner = BayesClassifier().fit(X, y)
    wrapped = CostSensitive(inner).fit(X[:100], y[:100])
    assert inner.classes_.tolist() == [0, 1, 2]
    assert wrapped.classes_.tolist() == [0, 1]
    assert not hasattr(clone(wrapped), "model_")


def test_weights_reach_the_model_with_and_without_routing():
    X, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    direct = BayesClassifier().fit(X, y, w).predict_proba(X)
    plain = CostSensitive(BayesClassifier()).fit(X, y, sample_weight=w)
    assert np.array_equal(plain.predict_proba(X), direct)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = BayesClassifier().set_fit_request(sample_weight=True)
        routed = CostSensitive(inner).fit(X, y, sample_weight=w)
        assert np.array_equal(routed.predict_proba(X), direct)


def test_it_stands_in_searches_and_pickles():
    X, y = load_iris(return_X_y=True)
    forest = CostSensitive(RandomForestClassifier(5, random_state=0), 3 - 3 * np.eye(3))
    assert cross_val_score(forest, X, y, cv=3).min() > 0.85
    search = GridSearchCV(forest, {"model__max_depth": [1, 3]}, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301
    assert np.array_equal(again.predict(X), search.predict(X))


def test_documents_are_decided_too():
    model = TextClassifier().fit(["good film", "bad film", "good fun"], ["+", "-", "+"])
    wary = CostSensitive(model, {("-", "+"): 9, ("+", "-"): 1})
    assert wary.predict(["film"]).tolist() == ["-"]
    assert model.predict(["film"]).tolist() == ["+"]


@pytest.mark.parametrize(
    "settings", [{"costs": [[0, 1], [5, 0]]}, {"costs": {("a", "d"): 1.0}}, {"reject_cost": "dear"}]
)
def test_costs_that_do_not_fit_the_classes_are_refused_when_fitting(settings):
    with pytest.raises(ValueError, match="cost"):
        suffice.CostSensitive(suffice.BayesClassifier(), **settings).fit(
            [[0.0], [1.0], [2.0]], ["a", "b", "c"]
        )
