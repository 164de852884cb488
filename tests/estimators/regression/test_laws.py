"""What does not change the fit: threads, batches, containers, units, weights in place of repeats."""

from dataclasses import replace
from itertools import repeat

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import linalg, sparse

from suffice.estimators.regression import LogisticRegression, ProbitRegression, search
from suffice.estimators.regression.design import Block, Design, Extent
from suffice.estimators.regression.likelihoods import LogisticLikelihood, SoftmaxLikelihood
from suffice.estimators.regression.objective import Objective
from suffice.estimators.regression.rows import read_training
from suffice.kernels import threads

BOTH = pytest.mark.parametrize("Regression", [LogisticRegression, ProbitRegression])
CLASSES = pytest.mark.parametrize("k", [2, 3])


@BOTH
@CLASSES
def test_weights_are_repeats(drawn, Regression, k):
    X, y = drawn(150, 3, k)
    times = np.random.default_rng(1).integers(0, 4, size=150)
    for settings in ({}, {"C": np.inf}, {"class_weight": "balanced"}):
        weighted = Regression(**settings).fit(X, y, sample_weight=times)
        repeated = Regression(**settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(weighted.standard_errors_, repeated.standard_errors_, rtol=1e-6)


def test_weights_are_repeats_in_the_figures_too(drawn):
    X, y = drawn(150, 3, 2)
    weighted = LogisticRegression().fit(X, y, sample_weight=np.full(150, 3.0))
    repeated = LogisticRegression().fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-12)
    assert weighted.bic_ == pytest.approx(repeated.bic_, rel=1e-12)


@BOTH
@CLASSES
def test_every_container_gives_the_same_fit(drawn, Regression, k):
    X, y = drawn(200, 3, k)
    names = ["a", "b", "c"]
    fits = [
        Regression().fit(container, y)
        for container in (
            X,
            np.asfortranarray(X),
            X.tolist(),
            X.astype(object),
            pd.DataFrame(X, columns=names),
            pl.DataFrame(X, schema=names),
            pa.table(dict(zip(names, X.T, strict=True))),
            sparse.csr_array(X),
            sparse.csc_matrix(X),
        )
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.coef_, fits[0].coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fit.intercept_, fits[0].intercept_, rtol=1e-9, atol=1e-12)
    for fit in fits[4:7]:
        assert fit.feature_names_in_.tolist() == names


@CLASSES
def test_the_number_of_threads_changes_no_bit(drawn, k):
    X, y = drawn(40_000, 8, k)
    fits = []
    try:
        for n in (1, 3):
            threads.set_threads(n)
            fits.append(LogisticRegression().fit(X, y))
    finally:
        threads.set_threads(None)
    assert np.array_equal(fits[0].coef_, fits[1].coef_)
    assert np.array_equal(fits[0].n_iter_, fits[1].n_iter_)


class ReadAnew:
    """Parts that are made anew on every pass, as a file is read."""

    def __init__(self, X, y, weights, cuts):
        self.X, self.y, self.weights, self.cuts = X, y, weights, cuts
        self.n_passes = 0

    def __iter__(self):
        self.n_passes += 1
        weights = repeat(None) if self.weights is None else np.split(self.weights, self.cuts)
        pieces = zip(np.split(self.X, self.cuts), np.split(self.y, self.cuts), weights, strict=False)
        return (Block(X.copy(), y, w) for X, y, w in pieces)


@CLASSES
@pytest.mark.parametrize("weighted", [False, True])
def test_any_split_into_batches_gives_the_same_iterations(drawn, k, weighted):
    X, y = drawn(30_000, 8, k)
    weights = np.random.default_rng(0).random(30_000) + 0.5 if weighted else None
    whole = solved([Block(X, y, weights)], k)
    for cuts in ([1, 2, 7000], [5000, 5000, 20_001], range(0, 30_000, 4999)):
        parts = ReadAnew(X, y, weights, list(cuts))
        split = solved(parts, k)
        assert parts.n_passes > split.n_iterations > 1
        assert split.n_iterations == whole.n_iterations
        assert np.array_equal(split.parameters, whole.parameters)


@BOTH
@CLASSES
def test_a_model_learns_from_parts_that_are_read_anew_as_from_an_array(drawn, Regression, k):
    X, y = drawn(3000, 4, k)
    model = Regression()
    rows = read_training(model, X + 2.0**20, y, None, None)
    whole = model._learn(rows)
    parts = model._learn(replace(rows, parts=ReadAnew(X + 2.0**20, y, None, [1, 1234, 2999])))
    assert parts.log_likelihood == whole.log_likelihood
    for one, other in zip(parts.solved, whole.solved, strict=True):
        assert np.array_equal(one.equations.coefficients, other.equations.coefficients)
        assert np.array_equal(one.equations.standard_errors(0), other.equations.standard_errors(0))


def test_sparse_batches_give_the_same_iterations():
    X = sparse.random_array((5000, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = np.arange(5000) % 2
    whole = solved([Block(X, y, None)], 2)
    split = solved([Block(X[:17], y[:17], None), Block(X[17:], y[17:], None)], 2)
    assert np.array_equal(split.parameters, whole.parameters)


def solved(parts, k):
    design = Design.of(parts, Extent.of(parts), centred=True)
    likelihood, basis = (
        (LogisticLikelihood(), np.ones((1, 1))) if k == 2 else (SoftmaxLikelihood(), linalg.helmert(k).T)
    )
    return search.minimise(Objective(design, likelihood, 1.0, intercept=True, basis=basis), 1e-5, 100)


@pytest.mark.parametrize("n", [700, 30_000])
def test_quasi_newton_a_sample_and_newton_find_the_same_optimum(drawn, design_of, monkeypatch, n):
    design, basis = design_of(*drawn(n, 5, 3)), linalg.helmert(3).T
    objective = Objective(design, SoftmaxLikelihood(), 1.0, intercept=True, basis=basis)
    exact = search.newton(objective, objective.start(), 1e-8, 50)
    monkeypatch.setattr(search, "NEWTON", 0.0)
    found = search.minimise(objective, 1e-6, 500)
    assert found.converged
    assert found.curvature is None
    np.testing.assert_allclose(found.parameters, exact.parameters, atol=1e-6)
    polished = search.minimise(objective, 1e-6, 500, hessian=True)
    np.testing.assert_allclose(polished.parameters, exact.parameters, atol=1e-9)
    assert polished.curvature is not None


def test_a_sample_that_has_no_optimum_is_not_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    y = (X[:, 0] > 0).astype(int)
    y[np.argmax(X[:, 0])] = 0  # the one row that makes the classes overlap
    model = LogisticRegression(C=np.inf, max_iter=2000).fit(X, y)
    assert model.converged_
    assert np.isfinite(model.coef_).all()


def test_many_sparse_columns_are_solved_without_a_dense_matrix():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 5000), density=0.01, rng=rng, format="csr")
    y = np.asarray(X[:, :20].sum(axis=1) > 0.1).astype(int)
    model = LogisticRegression().fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.9
    with pytest.raises(AttributeError, match="standard_errors=True"):
        _ = model.standard_errors_


@pytest.mark.parametrize("k", [2, 3])
def test_units_and_offsets_do_not_matter_without_a_penalty(drawn, k):
    X, y = drawn(400, 3, k)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    scale = np.array([1e-180, 1e150, 1e5])
    scaled = LogisticRegression(C=np.inf).fit(X * scale, y)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(scaled.standard_errors_ * scale, plain.standard_errors_, rtol=1e-6)
    np.testing.assert_allclose(scaled.predict_proba(X * scale), plain.predict_proba(X), rtol=1e-7)
    moved = np.round(X * 1024) / 1024 + 2.0**40  # exact
    back = LogisticRegression(C=np.inf).fit(moved, y)
    near = LogisticRegression(C=np.inf).fit(moved - 2.0**40, y)
    np.testing.assert_allclose(back.coef_, near.coef_, rtol=1e-7)
    np.testing.assert_allclose(back.predict_proba(moved), near.predict_proba(moved - 2.0**40), rtol=1e-7)


def test_long_sparse_rows_are_solved_without_the_products_of_their_entries(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 300), density=0.15, rng=rng, format="csr")
    y = (X @ rng.normal(size=300) + rng.logistic(size=3000) > 0).astype(int)
    dense = LogisticRegression(standard_errors=False).fit(X.toarray(), y)

    def refuse(*_arguments, **_settings):
        raise AssertionError("a Hessian was computed")

    monkeypatch.setattr("suffice.estimators.regression.objective.gram", refuse)
    rows = LogisticRegression(standard_errors=False).fit(X, y)
    np.testing.assert_allclose(rows.predict_proba(X), dense.predict_proba(X), atol=1e-6)
