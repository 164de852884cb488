"""The error of a regression, its gradient and Hessian at any coefficients, and the hyperplanes it has."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from statsmodels.discrete.discrete_model import Logit, MNLogit, Probit

from suffice import LogisticRegression, ProbitRegression
from suffice.links import logit, probit_inverse

MODELS = {
    "logistic": (LogisticRegression, 2),
    "softmax": (LogisticRegression, 3),
    "probit": (ProbitRegression, 2),
}


@pytest.fixture(params=MODELS)
def case(request, drawn):
    make, k = MODELS[request.param]
    X, y = drawn(80, 3, k, seed=3)
    return make, X, y


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_finite_differences_of_the_log_likelihood(case, intercept, is_sparse):
    make, X, y = case
    weights = np.linspace(0.5, 2.0, len(y))
    model = make(fit_intercept=intercept).fit(X, y)
    rows = sparse.csr_array(X) if is_sparse else X
    shape = model.gradient(rows, y).shape
    assert shape == (len(model.coef_), 3 + intercept)
    at = np.random.default_rng(1).normal(size=shape) / np.append(np.abs(X).max(axis=0), 1.0)[: shape[1]]

    def error(W):
        scores = np.column_stack([X, np.ones(len(X))])[:, : shape[1]] @ W.T
        codes = np.asarray(y)
        if shape[0] > 1:
            log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
            return -weights @ log_p[np.arange(len(y)), codes]
        signed = np.where(codes == 1, scores[:, 0], -scores[:, 0])
        if make is ProbitRegression:
            return -weights @ norm.logcdf(signed)
        return weights @ np.log1p(np.exp(-signed))

    steps = [step.reshape(shape) for step in 1e-6 * np.eye(at.size)]
    slope = [(error(at + step) - error(at - step)) / 2e-6 for step in steps]
    gradient = model.gradient(rows, y, at, weights)
    np.testing.assert_allclose(gradient.ravel(), slope, rtol=1e-5, atol=1e-5)
    ends = [[model.gradient(rows, y, at + sign * step, weights) for sign in (1, -1)] for step in steps]
    bend = [(up - down).ravel() / 2e-6 for up, down in ends]
    np.testing.assert_allclose(model.hessian(rows, y, at, weights), bend, rtol=1e-4, atol=1e-4)


def test_the_fit_is_where_gradient_and_penalty_cancel(case):
    make, X, y = case
    model = make(C=0.7, tol=1e-9).fit(X, y)
    pull = np.column_stack([model.coef_ / 0.7, np.zeros(len(model.coef_))])
    np.testing.assert_allclose(model.gradient(X, y) + pull, 0.0, atol=1e-6)


def test_newton_steps_by_hand_find_the_fit(case):
    make, X, y = case
    model = make(C=np.inf).fit(X, y)
    W = np.zeros_like(model.gradient(X, y))
    for _ in range(12):
        step = np.linalg.lstsq(model.hessian(X, y, W), model.gradient(X, y, W).ravel(), rcond=1e-10)[0]
        W = W - step.reshape(W.shape)
    found = np.column_stack([model.coef_, model.intercept_])
    np.testing.assert_allclose(W - W.mean(axis=0) * (len(W) > 1), found, rtol=1e-4, atol=1e-4)


def test_the_softmax_hessian_is_singular_along_scores_that_move_together(drawn):
    X, y = drawn(60, 2, 3, seed=5)
    hessian = LogisticRegression().fit(X, y).hessian(X, y)
    together = np.tile(np.eye(3), 3)
    np.testing.assert_allclose(together @ hessian, 0.0, atol=1e-9)


def test_statsmodels_has_the_same_score_and_hessian(drawn):
    X, y = drawn(70, 3, 2, seed=8)
    Z = np.column_stack([X, np.ones(len(X))])
    at = np.array([0.01, -0.02, 0.03, 0.1])
    for ours, theirs in ((LogisticRegression, Logit), (ProbitRegression, Probit)):
        model = ours().fit(X, y)
        np.testing.assert_allclose(model.gradient(X, y, [at])[0], -theirs(y, Z).score(at), rtol=1e-8)
        np.testing.assert_allclose(model.hessian(X, y, [at]), -theirs(y, Z).hessian(at), rtol=1e-6)
    X, y = drawn(70, 2, 3, seed=8)
    Z = np.column_stack([X, np.ones(len(X))])
    free = np.random.default_rng(0).normal(size=(2, 3)) / [10, 10, 1]
    model = LogisticRegression().fit(X, y)
    at = np.vstack([np.zeros(3), free])  # their first class has the score 0
    score = MNLogit(y, Z).score(free.T.ravel(order="F"))
    np.testing.assert_allclose(model.gradient(X, y, at)[1:].ravel(), -score, rtol=1e-7)


def test_each_class_against_the_rest_has_its_own_derivatives(drawn):
    X, y = drawn(90, 2, 3, seed=2)
    model = ProbitRegression().fit(X, y)
    alone = ProbitRegression().fit(X, y == 1)
    at = np.array([[0.1, 0.2, 0.3], [0.0, -0.1, 0.1], [0.2, 0.0, 0.0]]) / 10
    np.testing.assert_allclose(model.gradient(X, y, at)[1], alone.gradient(X, y == 1, at[[1]])[0])
    hessian = model.hessian(X, y, at)
    np.testing.assert_allclose(hessian[3:6, 3:6], alone.hessian(X, y == 1, at[[1]]))
    assert not hessian[:3, 3:].any()


def test_log_likelihood_of_rows(case):
    make, X, y = case
    model = make().fit(X, y)
    assert model.log_likelihood(X, y) == pytest.approx(model.log_likelihood_)
    twice = model.log_likelihood(np.vstack([X, X[:9]]), np.append(y, y[:9]))
    assert model.log_likelihood(X, y, np.repeat([2.0, 1.0], [9, len(y) - 9])) == pytest.approx(twice)
    assert model.log_likelihood(X[:0], y[:0]) == 0.0
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(t=y)
    named = make().fit(frame, "t")
    assert named.log_likelihood(frame, "t") == pytest.approx(model.log_likelihood_)
    np.testing.assert_allclose(named.gradient(frame, "t"), model.gradient(X, y), rtol=1e-4, atol=1e-4)


def test_the_boundary_is_the_difference_of_scores(drawn):
    X, y = drawn(80, 3, 2)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.boundary(1, 0)(X), model.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(model.boundary(0, 1)(X), -model.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(model.boundary(1, 0).w, model.coef_[0])
    np.testing.assert_allclose(model.boundary(1, 0).w0, model.intercept_[0])
    np.testing.assert_allclose(model.boundary(1, 0, 0.9).w0, model.intercept_[0] - logit(0.9))
    probit = ProbitRegression().fit(X, y)
    np.testing.assert_allclose(probit.boundary(1, 0, 0.9).w0, probit.intercept_[0] - probit_inverse(0.9))
    X, y = drawn(80, 3, 3)
    three = LogisticRegression().fit(X, y)
    log_p = three.predict_log_proba(X)
    np.testing.assert_allclose(three.boundary(2, 0)(X), log_p[:, 2] - log_p[:, 0], atol=1e-10)
    one_of_three = ProbitRegression().fit(X, y)
    surface = one_of_three.boundary(2, 0)
    np.testing.assert_allclose(surface(X), one_of_three.decision_function(X) @ [-1, 0, 1], atol=1e-10)
    with pytest.raises(ValueError, match=r"use threshold=0\.5"):
        one_of_three.boundary(2, 0, 0.7)
    assert surface.kind == "linear"


def test_the_surface_of_a_threshold_has_that_posterior(drawn):
    X, y = drawn(80, 2, 2)
    for make in (LogisticRegression, ProbitRegression):
        model = make().fit(X, y)
        surface = model.boundary(1, 0, 0.8)
        on_it = -surface.w0 * surface.w / (surface.w @ surface.w)
        np.testing.assert_allclose(model.predict_proba([on_it])[0, 1], 0.8)


def test_gradients_at_scikit_learns_optimum_cancel_its_penalty(drawn):
    X, y = drawn(80, 3, 2)
    theirs = ScikitLogistic(C=2.0, tol=1e-10, max_iter=10_000).fit(X, y)
    at = np.column_stack([theirs.coef_, theirs.intercept_])
    gradient = LogisticRegression().fit(X, y).gradient(X, y, at)
    np.testing.assert_allclose(gradient + np.column_stack([theirs.coef_ / 2.0, [0.0]]), 0.0, atol=1e-3)


@pytest.mark.parametrize("coefficients", [[0.0, 0.0], [[0.0, 0.0, np.nan]], np.zeros((2, 3))])
def test_coefficients_of_another_shape_are_refused(drawn, coefficients):
    X, y = drawn(40, 2, 2)
    with pytest.raises(ValueError, match=r"finite numbers of shape \(1, 3\), the intercept last"):
        LogisticRegression().fit(X, y).gradient(X, y, coefficients)


def test_labels_must_be_known_and_as_many_as_rows(drawn):
    X, y = drawn(40, 2, 2)
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="40 rows, and y has 3 labels"):
        model.log_likelihood(X, y[:3])
    with pytest.raises((ValueError, KeyError), match="7"):
        model.gradient(X[:1], [7])
