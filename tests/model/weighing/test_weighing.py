"""Weights of evidence are those of a softmax regression on the evidence, whoever solves it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize

from suffice.links import log_softmax, softmax
from suffice.model.weighing.corrections import CorrectionDesign, CorrectionSearch
from suffice.model.weighing.known_rows import KnownRows
from suffice.model.weighing.piece_weights import (
    BIAS_PENALTY,
    PieceWeights,
    WeightSearch,
    _PenalisedLoss,
    alike,
    evidence_hessian,
    learn_weights,
    mean_residuals,
)

LAW = settings(max_examples=15, deadline=None, database=None)


def drawn(seed=0, n=200, f=4, k=3, *, weighted=False, with_offset=False):
    """Evidence of which pieces repeat each other, classes that follow it, weights and an offset."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 1, k))
    evidence = common + 0.5 * rng.normal(size=(n, f, k))
    evidence -= evidence.mean(axis=2, keepdims=True)
    offset = 0.5 * rng.normal(size=(n, k)) if with_offset else None
    scores = common[:, 0] + (0.0 if offset is None else offset) + np.log(np.arange(1, k + 1))
    codes = np.array([rng.choice(k, p=p) for p in softmax(scores)])
    weight = rng.integers(1, 4, n) / 2 if weighted else np.ones(n)
    covariance = 2.0 * alike([np.arange(f)], f, 0.6)
    return evidence, KnownRows(codes, weight, k), covariance, offset


def materialised(evidence):
    """(n, k, f + k): the inputs of each class, its bias included."""
    n, f, k = evidence.shape
    design = np.zeros((n, k, f + k))
    design[:, :, :f] = np.swapaxes(evidence, 1, 2)
    design[:, :, f:] = np.eye(k)
    return design


def objective_of(evidence, rows, covariance, offset):
    """The penalised loss and its gradient as they are written, on the whole design."""
    design, (_, f, k) = materialised(evidence), evidence.shape
    penalty = np.zeros((f + k, f + k))
    penalty[:f, :f], penalty[f:, f:] = np.linalg.inv(covariance), BIAS_PENALTY * np.eye(k)
    centre = np.zeros(f + k)
    if offset is None:
        centre[f:] = rows.log_shares
    truth = np.eye(k)[rows.codes]

    def objective(point):
        scores = np.einsum("nkp,p->nk", design, point) + (0.0 if offset is None else offset)
        log_p = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        away = point - centre
        value = -np.sum(rows.weight[:, np.newaxis] * truth * log_p) + 0.5 * away @ penalty @ away
        slope = np.einsum("nkp,nk,n->p", design, np.exp(log_p) - truth, rows.weight) + penalty @ away
        return value, slope

    return objective


def point_of(found):
    return np.concatenate([found.weights, found.bias])


def by_class(evidence):
    """(n, f, k) as (k, n, f)."""
    return np.ascontiguousarray(evidence.transpose(2, 0, 1))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_weights_are_those_of_a_generic_solver(weighted, with_offset, k):
    evidence, rows, covariance, offset = drawn(k, k=k, weighted=weighted, with_offset=with_offset)
    objective = objective_of(evidence, rows, covariance, offset)
    start = np.zeros(evidence.shape[1] + k)
    best = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    assert np.abs(objective(best.x)[1]).max() < 1e-6
    found = learn_weights(by_class(evidence), rows, covariance, offset)
    np.testing.assert_allclose(point_of(found), best.x, rtol=0, atol=1e-6)


@LAW
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5))
def test_the_slope_of_the_loss_in_the_scores_is_that_of_finite_differences(seed, n, k):
    rng = np.random.default_rng(seed)
    rows = KnownRows(rng.integers(0, k, n), rng.integers(1, 5, n) / 2, k)
    scores = rng.normal(size=(n, k))

    def loss(flat):
        return float(rows.weight @ rows.losses(flat.reshape(n, k)))

    expected = approx_fprime(scores.ravel(), loss, 1e-7)
    np.testing.assert_allclose(rows.residuals(log_softmax(scores)).ravel(), expected, atol=2e-6)


@LAW
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 4))
def test_the_hessian_is_that_of_finite_differences(seed, f, k):
    evidence, rows, covariance, offset = drawn(seed, 12, f, k, weighted=True, with_offset=True)
    objective = objective_of(evidence, rows, covariance, offset)
    point = np.random.default_rng(seed).normal(size=f + k)
    step = 1e-5
    differences = np.array(
        [objective(point + step * one)[1] - objective(point - step * one)[1] for one in np.eye(f + k)]
    )
    penalty = np.zeros((f + k, f + k))
    penalty[:f, :f], penalty[f:, f:] = np.linalg.inv(covariance), BIAS_PENALTY * np.eye(k)
    posteriors = softmax(np.einsum("nkp,p->nk", materialised(evidence), point) + offset)
    found = evidence_hessian(by_class(evidence), posteriors.T, rows.weight) + penalty
    np.testing.assert_allclose(found, differences / (2 * step), atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_a_hessian_summed_in_blocks_is_that_of_all_rows_at_once(monkeypatch, k):
    evidence, rows, _, _ = drawn(3, 50, 3, k, weighted=True)
    posteriors = softmax(evidence.sum(axis=1)).T
    whole = evidence_hessian(by_class(evidence), posteriors, rows.weight)
    monkeypatch.setattr("suffice.model.weighing.piece_weights.ROWS_AT_ONCE", 7)
    parts = evidence_hessian(by_class(evidence), posteriors, rows.weight)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_searches_before_do_not_change_what_is_found(k):
    evidence, rows, covariance, _ = drawn(4, k=k, weighted=True)
    others = np.where(np.arange(len(rows.codes)) % 5 == 0, 0.0, rows.weight)
    search = WeightSearch(by_class(evidence), rows)
    first = search.learn(0.01 * covariance, others)
    found = search.learn(covariance, start=first)
    np.testing.assert_allclose(
        point_of(found), point_of(learn_weights(by_class(evidence), rows, covariance)), atol=1e-6
    )
    np.testing.assert_allclose(point_of(search.learn(0.01 * covariance, others)), point_of(first), atol=1e-6)


@pytest.mark.parametrize("f", [4, 700])
def test_rows_of_weight_0_are_no_rows(f):
    evidence, rows, _, offset = drawn(5, f=f, with_offset=True)
    some = np.flatnonzero(np.arange(len(rows.codes)) % 3)
    only = np.isin(np.arange(len(rows.codes)), some).astype(float)
    covariance = alike([np.arange(f)], f, 0.6)
    found = WeightSearch(by_class(evidence), rows, offset).learn(covariance, only)
    alone = learn_weights(by_class(evidence[some]), rows.take(some), covariance, offset[some])
    np.testing.assert_allclose(point_of(found), point_of(alone), atol=1e-6)


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_weights_that_may_not_be_negative_fulfil_the_kkt_conditions(seed, with_offset):
    evidence, rows, _, offset = drawn(seed, weighted=True, with_offset=with_offset)
    evidence[:, 1] = -evidence[:, [0, 2, 3]].mean(axis=1)  # says the contrary of all others
    covariance = 2.0 * np.eye(4)
    assert learn_weights(by_class(evidence), rows, covariance, offset).weights[1] < 0
    found = learn_weights(by_class(evidence), rows, covariance, offset, nonnegative=True)
    assert found.weights.min() == found.weights[1] == 0
    kept = np.flatnonzero(found.weights > 0)
    slope = objective_of(evidence, rows, covariance, offset)(point_of(found))[1]
    assert (np.delete(slope[:4], kept) > 0).all()
    alone = learn_weights(by_class(evidence[:, kept]), rows, 2.0 * np.eye(len(kept)), offset)
    np.testing.assert_allclose(found.weights[kept], alone.weights, atol=1e-6)
    np.testing.assert_allclose(found.bias, alone.bias, atol=1e-6)


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_more_pieces_than_rows_have_the_weights_of_a_generic_solver(k, with_offset):
    evidence, rows, covariance, offset = drawn(k, 12, 60, k, weighted=True, with_offset=with_offset)
    evidence[:, 7] = evidence[:, 8]
    objective = objective_of(evidence, rows, covariance, offset)
    best = minimize(objective, np.zeros(60 + k), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert np.abs(objective(best.x)[1]).max() < 1e-6
    found = learn_weights(by_class(evidence), rows, covariance, offset)
    np.testing.assert_allclose(point_of(found), best.x, rtol=0, atol=1e-6)


def test_the_start_does_not_matter():
    evidence, rows, covariance, offset = drawn(5, weighted=True)
    plain = learn_weights(by_class(evidence), rows, covariance, offset)
    far = PieceWeights(np.array([3.0, -2.0, 0.0, 1.0]), np.array([2.0, 0.0, -2.0]))
    found = learn_weights(by_class(evidence), rows, covariance, offset, far)
    np.testing.assert_allclose(point_of(found), point_of(plain), atol=1e-6)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_a_row_of_weight_k_counts_as_k_rows(nonnegative):
    evidence, rows, covariance, _ = drawn(6)
    times = np.random.default_rng(6).integers(0, 4, len(rows.codes))
    weighted = KnownRows(rows.codes, times.astype(float), 3)
    repeated = rows.take(np.repeat(np.arange(len(times)), times))
    one = learn_weights(by_class(evidence), weighted, covariance, nonnegative=nonnegative)
    many = learn_weights(
        by_class(np.repeat(evidence, times, axis=0)), repeated, covariance, nonnegative=nonnegative
    )
    np.testing.assert_allclose(point_of(one), point_of(many), atol=1e-6 if nonnegative else 1e-9)


def test_pieces_that_say_the_same_share_one_weight():
    evidence, rows, _, _ = drawn(7, f=1)
    covariance = alike([np.arange(3)], 3, 0.6)
    found = learn_weights(by_class(np.repeat(evidence, 3, axis=1)), rows, covariance)
    np.testing.assert_allclose(found.weights, found.weights[0], atol=1e-9)


@pytest.mark.parametrize("with_offset", [False, True])
def test_a_piece_that_says_the_same_of_all_classes_changes_nothing(with_offset):
    evidence, rows, covariance, offset = drawn(with_offset=with_offset)
    evidence[:, 2] = 0.25
    spoken = [0, 1, 3]
    found = learn_weights(by_class(evidence), rows, covariance, offset)
    without = learn_weights(by_class(evidence[:, spoken]), rows, covariance[np.ix_(spoken, spoken)], offset)
    np.testing.assert_array_equal(found.weights[spoken], without.weights)
    np.testing.assert_array_equal(found.bias, without.bias)
    _, slope = objective_of(evidence, rows, covariance, offset)(point_of(found))
    np.testing.assert_allclose(slope, 0.0, atol=1e-5)


def test_evidence_that_says_nothing_leaves_the_class_shares():
    _, rows, covariance, _ = drawn(8)
    found = learn_weights(np.zeros((3, 200, 4)), rows, covariance)
    np.testing.assert_allclose(found.weights, 0.0, atol=1e-12)
    shares = np.bincount(rows.codes) / 200
    np.testing.assert_allclose(softmax(found.bias), shares, atol=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 700.0])
def test_evidence_of_any_size_gives_finite_weights(scale):
    evidence, rows, covariance, _ = drawn(9)
    found = learn_weights(by_class(scale * evidence), rows, covariance)
    assert np.isfinite(point_of(found)).all()
    assert rows.mean_loss(found.scores(by_class(scale * evidence))) < rows.mean_loss(
        np.broadcast_to(rows.log_shares, (200, 3))
    )


def test_weights_alike_have_the_covariance_of_a_common_part_and_an_own_one():
    rng = np.random.default_rng(0)
    common, other, own = rng.normal(size=10**6), rng.normal(size=10**6), rng.normal(size=(3, 10**6))
    own *= 0.5
    weights = np.array([0.8 * common + own[0], 0.8 * (common + other) + own[1], 0.8 * other + own[2]])
    found = alike([np.array([0, 1]), np.array([1, 2])], 3, apart=0.5, together=0.8)
    np.testing.assert_allclose(found, np.cov(weights), atol=0.02)


def test_what_is_shared_out_adds_up_to_the_loss_that_is_saved():
    evidence, rows, covariance, _ = drawn(10, weighted=True)
    found = learn_weights(by_class(evidence), rows, covariance)
    scores = found.scores(by_class(evidence))
    residuals = mean_residuals(scores, rows)
    parts = [
        *np.einsum("nfk,nk,f->f", evidence, residuals, found.weights),
        np.sum(residuals * (found.bias - rows.log_shares)),
    ]
    before = rows.weight @ rows.losses(np.broadcast_to(rows.log_shares, scores.shape))
    saved = before - rows.weight @ rows.losses(scores)
    assert saved > 1.0
    assert sum(parts) == pytest.approx(saved, rel=1e-5)
    np.testing.assert_allclose(residuals.sum(axis=1), 0.0, atol=1e-12)


# --- corrections ----------------------------------------------------------------------------------


def cells_of(seed=0, n=300, k=3):
    """Intervals and levels with gaps; the classes depend on both."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, 5, n), rng.integers(0, 3, n)]).astype(float)
    scores = np.zeros((n, k))
    scores[:, 0] += 0.6 * codes[:, 0] - 1.0
    scores[:, 1] += np.where(codes[:, 1] == 2, 1.5, 0.0)
    truth = np.array([rng.choice(k, p=p) for p in softmax(scores)])
    codes[rng.random(codes.shape) < 0.1] = np.nan
    offset = 0.3 * rng.normal(size=(n, k))
    return codes, KnownRows(truth, rng.integers(1, 4, n) / 2, k), offset


def corrections_of(design, rows, offset, ridge, start=None):
    """Corrections of all rows, and what they are made of."""
    return CorrectionSearch(design, rows, softmax(offset).T).learn(offset, ridge, start=start)


def naive_correction_loss(jumps_and_levels, codes, rows, offset, ridge):
    """Jumps from one of five intervals to the next, and one number for each of three levels."""
    k = rows.n_classes
    parts = jumps_and_levels.reshape(7, k)
    of_intervals = np.vstack([np.zeros((1, k)), np.cumsum(parts[:4], axis=0)])
    tables = [np.vstack([of_intervals, np.zeros((1, k))]), np.vstack([parts[4:], np.zeros((1, k))])]
    scores = offset.copy()
    for table, column in zip(tables, codes.T, strict=True):
        scores += table[np.where(np.isnan(column), len(table) - 1, column).astype(int)]
    return float(rows.weight @ rows.losses(scores)) + 0.5 * ridge * np.sum(parts**2), tables


@pytest.mark.parametrize("ridge", [1.0, 8.0, 128.0])
def test_corrections_lose_as_little_as_those_of_a_generic_solver(ridge):
    codes, rows, offset = cells_of()
    best = minimize(
        lambda point: naive_correction_loss(point, codes, rows, offset, ridge)[0],
        np.zeros(21),
        method="BFGS",
        options={"gtol": 1e-4},
    )
    design = CorrectionDesign.of(codes, [5, 3], [True, False])
    table, parts = corrections_of(design, rows, offset, ridge)
    loss, tables = naive_correction_loss(parts, codes, rows, offset, ridge)
    assert loss <= best.fun + 1e-6 * rows.weight.sum()
    np.testing.assert_allclose(table, np.vstack([tables[0][:5], tables[1][:3]]), atol=1e-12)
    expected = naive_correction_loss(best.x, codes, rows, offset, ridge)[1]
    np.testing.assert_allclose(table, np.vstack([expected[0][:5], expected[1][:3]]), atol=2e-3)


def test_corrections_from_another_start_are_the_same():
    codes, rows, offset = cells_of(1)
    design = CorrectionDesign.of(codes, [5, 3], [True, False])
    _, strong = corrections_of(design, rows, offset, 128.0)
    plain, _ = corrections_of(design, rows, offset, 8.0)
    warm, _ = corrections_of(design, rows, offset, 8.0, strong)
    np.testing.assert_allclose(warm, plain, atol=2e-3)


def test_a_missing_cell_is_not_corrected():
    codes, rows, offset = cells_of(2)
    design = CorrectionDesign.of(codes, [5, 3], [True, False])
    cells = design.cells.toarray()
    np.testing.assert_array_equal(cells.sum(axis=1), (~np.isnan(codes)).sum(axis=1))
    table, _ = corrections_of(design, rows, offset, 8.0)
    nothing = np.isnan(codes).all(axis=1)
    assert nothing.any()
    np.testing.assert_array_equal((design.cells @ table)[nothing], 0.0)


def test_corrections_know_no_rows_of_weight_0():
    codes, rows, offset = cells_of(3)
    some = np.arange(0, 300, 2)
    only = np.where(np.arange(300) % 2 == 0, rows.weight, 0.0)
    search = CorrectionSearch(CorrectionDesign.of(codes, [5, 3], [True, False]), rows, softmax(offset).T)
    one, _ = search.learn(offset, 8.0, only)
    alone = CorrectionDesign.of(codes[some], [5, 3], [True, False])
    two, _ = corrections_of(alone, rows.take(some), offset[some], 8.0)
    np.testing.assert_allclose(one, two, atol=1e-5)


def test_the_curvature_of_corrections_is_that_of_the_whole_design():
    codes, rows, _ = cells_of(4)
    design = CorrectionDesign.of(codes, [5, 3], [True, False])
    whole = (design.cells @ design.jumps).toarray()
    expected = whole.T @ (rows.weight[:, np.newaxis] * whole)
    np.testing.assert_allclose(design.curvature(rows.weight), expected, atol=1e-9)


# --- several searches at once ---------------------------------------------------------------------


@pytest.mark.parametrize("f", [4, 700])
@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("scales", [None, (0.5, 1.0, 1.5)], ids=["same evidence", "own evidence"])
def test_searches_without_each_fold_are_made_at_once_as_alone(f, nonnegative, scales):
    evidence, rows, _, offset = drawn(6, f=f, weighted=True, with_offset=True)
    covariance = alike([np.arange(f)], f, 0.6)
    evidence[:, 1] = 0.0  # a piece that says nothing
    inputs = by_class(evidence)
    own = None if scales is None else np.stack([scale * inputs for scale in scales])
    search = WeightSearch(inputs, rows, offset, own, nonnegative=nonnegative)
    start = search.learn(covariance)
    weights = [np.where(np.arange(200) % 3 == fold, 0.0, rows.weight) for fold in range(3)]
    each = search.learn_each(covariance, weights, [start] * 3)
    (last,) = search.learn_each(covariance, weights[2:], [start], first=2)
    np.testing.assert_allclose(point_of(last), point_of(each[2]), atol=1e-5)
    for one, weight, found in zip([inputs] * 3 if own is None else own, weights, each, strict=True):
        alone = WeightSearch(one, rows, offset, nonnegative=nonnegative).learn(covariance, weight, start)
        np.testing.assert_allclose(point_of(found), point_of(alone), atol=1e-5)


def test_a_curvature_known_where_scores_are_sure_serves_where_they_are_not(monkeypatch):
    k, n, f = 5, 300, 4
    rows = KnownRows(np.arange(n) % k, np.ones(n), k)
    is_own = np.arange(k)[:, np.newaxis] == rows.codes
    inputs = np.random.default_rng(0).normal(size=(k, n, f)) + 5.0 * is_own[:, :, np.newaxis]
    loose = 100.0 * alike([np.arange(f)], f, 0.6)
    search = WeightSearch(inputs, rows)
    sure, points, at = search.learn(loose), [], _PenalisedLoss.at
    monkeypatch.setattr(_PenalisedLoss, "at", lambda loss, point: points.append(point) or at(loss, point))
    (found,) = search.learn_each(1e-4 * loose, [rows.weight], [sure])
    assert len(points) < 20
    alone = learn_weights(inputs, rows, 1e-4 * loose)
    np.testing.assert_allclose(point_of(found), point_of(alone), atol=1e-5)


@pytest.mark.parametrize("k", [2, 3])
def test_corrections_beside_several_offsets_are_learnt_at_once_as_alone(k):
    codes, rows, offset = cells_of(5, k=k)
    search = CorrectionSearch(CorrectionDesign.of(codes, [5, 3], [True, False]), rows, softmax(offset).T)
    weights = [np.where(np.arange(300) % 3 == fold, 0.0, rows.weight) for fold in range(3)]
    offsets = [offset, 0.5 * offset, -offset]
    each = search.learn_each(offsets, 8.0, weights)
    for beside, weight, (table, _) in zip(offsets, weights, each, strict=True):
        np.testing.assert_allclose(table, search.learn(beside, 8.0, weight)[0], atol=1e-5)
