"""Gradient and Hessian are those of the value."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, sparse

from suffice.estimators.regression.likelihoods import (
    LogisticLikelihood,
    ProbitLikelihood,
    SoftmaxLikelihood,
)
from suffice.estimators.regression.objective import Objective

CASES = {
    "logistic": (LogisticLikelihood(), 2, np.ones((1, 1))),
    "probit": (ProbitLikelihood(), 2, np.ones((1, 1))),
    "softmax": (SoftmaxLikelihood(), 4, linalg.helmert(4).T),
}


@pytest.fixture(params=CASES)
def case(request, drawn, design_of):
    likelihood, k, basis = CASES[request.param]
    X, y = drawn(70, 3, k)
    return design_of(X / 10, y, np.linspace(0.5, 2.0, 70)), likelihood, basis


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_finite_differences(case, intercept, is_sparse):
    design, likelihood, basis = case
    if is_sparse:
        parts = [replace(part, X=sparse.csr_array(part.X)) for part in design.parts]
        design = replace(design, parts=parts, is_sparse=True)
    objective = Objective(design, likelihood, 0.3, intercept, basis)
    at = np.random.default_rng(1).normal(size=objective.shape)
    sums = objective.hessian_at(at)
    directions = [step.reshape(at.shape) for step in 1e-5 * np.eye(at.size)]
    ends = [(objective.gradient_at(at + step), objective.gradient_at(at - step)) for step in directions]
    slope = [(up.value - down.value) / 2e-5 for up, down in ends]
    bend = [(up.gradient - down.gradient).ravel() / 2e-5 for up, down in ends]
    np.testing.assert_allclose(sums.gradient.ravel(), slope, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(sums.hessian, bend, rtol=1e-5, atol=1e-5)


def test_gradient_and_hessian_passes_agree(case):
    objective = Objective(*case[:2], 0.3, intercept=True, basis=case[2])
    at = np.random.default_rng(1).normal(size=objective.shape)
    one, two = objective.gradient_at(at), objective.hessian_at(at)
    assert one.value == two.value
    assert np.array_equal(one.gradient, two.gradient)


def test_the_two_factors_are_the_hessian_where_all_rows_have_the_same_probabilities(case):
    design, likelihood, basis = case
    objective = Objective(design, likelihood, 0.0, intercept=True, basis=basis)
    between, within = objective.factors_at(objective.start(), diagonal=False)
    hessian = objective.hessian_at(objective.start()).hessian
    if not isinstance(likelihood, ProbitLikelihood):
        np.testing.assert_allclose(np.kron(between, within), hessian, rtol=1e-10, atol=1e-10)
    diagonal = objective.factors_at(objective.start(), diagonal=True)[1]
    np.testing.assert_allclose(diagonal, within.diagonal(), rtol=1e-12)


@pytest.mark.parametrize("likelihood", [LogisticLikelihood(), ProbitLikelihood()])
def test_scores_far_out_stay_finite(likelihood):
    far = np.array([[-800.0, 800.0, -1e8, 1e8, 0.0]])
    for code in (0, 1):
        local = likelihood.local(far, np.full(5, code))
        for values in (local.loss, local.slope, local.curvature):
            assert np.isfinite(values).all()
        assert (local.curvature >= 0).all()
    softmax = SoftmaxLikelihood().local(np.vstack([far, -far, 0 * far]), np.array([0, 1, 2, 0, 1]))
    assert np.isfinite(softmax.loss).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("form", ["C", "F", "float32", "shifted"])
def test_a_compiled_pass_is_the_pass(drawn, design_of, monkeypatch, intercept, weighted, form):
    pytest.importorskip("numba", reason="numba has no wheels for this machine")
    X, y = drawn(700, 5, 2)
    X = X.astype(np.float32) if form == "float32" else np.asarray(X, order="F" if form == "F" else "C")
    design = design_of(X, y, np.linspace(0.5, 2.0, 700) if weighted else None)
    if form == "shifted":
        design = replace(design, shift=np.arange(5.0), unit=np.full(5, 4.0))
    objective = Objective(design, LogisticLikelihood(), 0.3, intercept, np.ones((1, 1)))
    at = np.random.default_rng(1).normal(size=objective.shape)
    at[0, 0] = 300.0  # some rows far out
    monkeypatch.setenv("SUFFICE_DISABLE_JIT", "1")
    plain = objective.hessian_at(at)
    monkeypatch.setenv("SUFFICE_DISABLE_JIT", "0")
    monkeypatch.setattr("suffice.estimators.regression.objective.WORTH_COMPILING", 0)
    assert objective._kernel() is not None
    fast = objective.hessian_at(at)
    assert fast.n_wrong == plain.n_wrong
    assert fast.value == pytest.approx(plain.value, rel=1e-13)
    np.testing.assert_allclose(fast.gradient, plain.gradient, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(fast.hessian, plain.hessian, rtol=1e-11, atol=1e-11)
    alone = objective.gradient_at(at)
    assert alone.value == fast.value
    assert np.array_equal(alone.gradient, fast.gradient)
