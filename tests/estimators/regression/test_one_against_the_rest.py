"""Probit regression of more than two classes: one problem each, and one likelihood of the labels."""

import numpy as np
import pytest

from suffice.estimators.regression import ProbitRegression


@pytest.fixture
def rows(drawn):
    X, y = drawn(400, 3, 4)
    return X, y, np.random.default_rng(2).integers(1, 4, size=400)


def test_the_log_likelihood_is_that_of_the_labels_given_the_posteriors(rows):
    X, y, weights = rows
    model = ProbitRegression().fit(X, y, sample_weight=weights)
    log_p = model.predict_log_proba(X)[np.arange(400), y]
    assert model.log_likelihood_ == pytest.approx(weights @ log_p, rel=1e-12)
    assert model.n_parameters_ == 4 * 4


def test_each_class_is_a_problem_of_its_own(rows):
    X, y, weights = rows
    model = ProbitRegression().fit(X, y, sample_weight=weights)
    for k in range(4):
        alone = ProbitRegression().fit(X, y == k, sample_weight=weights)
        assert np.array_equal(model.coef_[k], alone.coef_[0])
        assert np.array_equal(model.standard_errors_[k], alone.standard_errors_[0])


def test_there_are_no_information_criteria_and_it_says_why(rows):
    model = ProbitRegression().fit(*rows)
    for name in ("aic_", "bic_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"against the rest.*does not maximise.*LogisticRegression"):
            getattr(model, name)


def test_the_summary_has_a_part_for_each_class(rows):
    summary = ProbitRegression().fit(*rows).summary()
    assert summary.equation[0] == "0 against the rest"
    assert len(summary.term) == 4 * 4
    shown = dict(summary.heading)
    assert "log likelihood" in shown
    assert "AIC" not in shown


def test_posteriors_are_numbers_where_every_score_is_below_all_numbers_of_a_log():
    X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [0.2, 0.2], [0.3, -0.1], [0.0, 0.0]])
    model = ProbitRegression(fit_intercept=False).fit(X, ["a", "b", "c", "a", "b", "c"])
    with np.errstate(over="ignore"):
        far = model.predict_proba(
            np.array([[1e300, 1e300], [-1e300, 1e300], [1e300, -1e300], [-1e300, -1e300]])
        )
    np.testing.assert_allclose(far.sum(axis=1), 1.0)
