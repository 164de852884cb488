"""The classifier keeps scikit-learn's contract."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from suffice import EvidenceClassifier

from .conftest import FAMILIES, agrees, saved

SPLITS = "the check passes splits of the rows as cv, which is a number of folds here; test_weights.py has it"


@parametrize_with_checks(
    [EvidenceClassifier(), EvidenceClassifier(pieces=["columns"], priors="uniform")],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": SPLITS,
        "check_sample_weight_equivalence_on_sparse_data": SPLITS,
    },
)
def test_scikit_learn_finds_nothing_wrong(estimator, check):
    check(estimator)


def test_it_is_a_classifier_that_takes_gaps():
    tags = sklearn.utils.get_tags(EvidenceClassifier())
    assert is_classifier(EvidenceClassifier())
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse


def test_the_constructor_only_stores():
    pieces, penalty = ["nonsense"], "heavy"
    model = EvidenceClassifier(pieces=pieces, penalty=penalty)
    assert model.pieces is pieces
    assert model.penalty is penalty


def test_a_clone_has_the_settings_and_nothing_learnt(of_penguins, penguins):
    model = EvidenceClassifier(pieces=of_penguins.pieces_, cv=3, nonnegative=True).fit(*penguins)
    copied = clone(model)
    assert copied.get_params()["cv"] == 3
    assert copied.pieces.difference(of_penguins.pieces_) is None
    with pytest.raises(NotFittedError):
        copied.predict(penguins[0])
    assert saved(copied.fit(*penguins)) == saved(model)


def test_settings_changed_after_fitting_act_at_the_next_fit(penguins):
    X, y = penguins
    model = EvidenceClassifier(pieces=["columns"]).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(priors="uniform", pieces=["columns", "steps"])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert not model.pieces_.steps
    assert model.fit(X, y).pieces_.steps
    np.testing.assert_allclose(model.priors_, 1 / 3)


def test_it_works_in_a_pipeline(penguins):
    X, y = penguins[0][["bill_length_mm", "bill_depth_mm"]], penguins[1]
    piped = make_pipeline(StandardScaler(), EvidenceClassifier()).fit(X, y)
    assert piped.score(X, y) > 0.9


def test_cross_validation_takes_a_mixed_frame(table):
    X, y = table
    model = EvidenceClassifier(FAMILIES, pieces=["columns", "joint"])
    assert cross_val_score(model, X, y, cv=3, error_score="raise").mean() > 0.6
    posteriors = cross_val_predict(model, X, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)


def test_a_search_chooses_the_pieces(penguins):
    X, y = penguins
    grid = {"pieces": [["columns"], ["columns", "joint"]], "penalty": [None, 6.0]}
    search = GridSearchCV(EvidenceClassifier(), grid, cv=2, scoring="neg_log_loss", error_score="raise")
    search.fit(X.drop(columns="year"), y)
    assert -0.3 < search.best_score_ == search.cv_results_["mean_test_score"].max()


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "explain", "merge", "adapt_priors", "to_sql"]
)
def test_an_unfitted_model_says_so(method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(EvidenceClassifier(), method)([[1.0]])


@pytest.mark.parametrize(
    "name", ["classes_", "priors_", "weights_", "bias_", "pieces_", "schema_", "generative_", "prior_shift_"]
)
def test_an_unfitted_model_has_no_fitted_attributes(name):
    assert not hasattr(EvidenceClassifier(), name)


def test_a_fit_is_deterministic_and_forgets_the_one_before(table, of_table, penguins):
    model = EvidenceClassifier(FAMILIES).fit(*table)
    assert saved(model) == saved(of_table)
    assert saved(model.fit(*table)) == saved(of_table)
    other = EvidenceClassifier().fit(penguins[0][["bill_length_mm"]], penguins[1])
    assert saved(other.fit(*penguins)) == saved(EvidenceClassifier().fit(*penguins))


def test_rows_are_not_changed_by_fitting_and_predicting(table):
    X, y = table
    before = X.copy(deep=True)
    EvidenceClassifier(FAMILIES, pieces=["columns", "steps"]).fit(X, y).predict_proba(X)
    assert X.equals(before)


@pytest.mark.parametrize("y", [[2, -1] * 20, [True, False] * 20, [1.0, 0.0] * 20, ["b", "a"] * 20], ids=str)
def test_labels_come_back_as_they_were(y):
    X = np.array([[5.0], [1.0]] * 20) + np.arange(40)[:, np.newaxis] / 80
    model = EvidenceClassifier().fit(X, y)
    assert model.predict(X[:2]).tolist() == y[:2]
    assert model.classes_.tolist() == sorted(set(y))


def test_the_log_odds_of_two_classes_are_the_decision_function(penguins):
    X, y = penguins
    model = EvidenceClassifier(pieces=["columns"]).fit(X, y == "Adelie")
    odds = np.diff(model.predict_log_proba(X), axis=1)[:, 0]
    np.testing.assert_allclose(model.decision_function(X), odds, atol=1e-9)
    assert (model.predict(X) == (odds > 0)).all()


def test_rows_of_weight_0_are_no_rows(penguins):
    X, y = penguins
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    there = weights > 0
    model = EvidenceClassifier().fit(X, y, weights)
    agrees(model, EvidenceClassifier().fit(X[there], y[there]), X)
