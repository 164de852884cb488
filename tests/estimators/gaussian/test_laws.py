"""Any batches, order, merging, weighting and forgetting give the same Gaussians, with gaps and without."""

import functools
import operator

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import GaussianDiscriminant, summarize
from suffice.factors.gaussian.em import maximize
from suffice.factors.gaussian.moments import closed_moments, standardised
from suffice.factors.gaussian.tying import Tying
from suffice.families import MultivariateNormal

RUNGS = [
    "full",
    "shared",
    "diagonal",
    "shared_diagonal",
    "isotropic",
    "shared_isotropic",
    [["a", "c"], ["b"]],
]
N, D = 90, 4
NAMES = [f"column {j}" for j in range(D)]


def make_rows():
    """Dyadic rationals, so that sums of products are exact."""
    rng = np.random.default_rng(5)
    y = np.array(["a", "b", "c"])[rng.permutation(np.arange(N) % 3)]
    mix = rng.normal(size=(D, D)) + 2 * np.eye(D)
    shift = np.searchsorted(["a", "b", "c"], y)[:, np.newaxis] * np.array([1.0, -1.0, 0.5, 0.0])
    return np.round(8 * (rng.normal(size=(N, D)) @ mix + shift)) / 8, y


WHOLE_ROWS, Y = make_rows()
GAPPY_ROWS = WHOLE_ROWS.copy()
GAPPY_ROWS[np.ix_(np.random.default_rng(6).choice(N, 12, replace=False), [0, 2])] = np.nan
GAPPY_ROWS[np.random.default_rng(7).choice(N, 12, replace=False), 1] = np.nan
GAPPY_ROWS[3] = np.nan

with_rungs = pytest.mark.parametrize("covariance", RUNGS, ids=str)
with_gaps = pytest.mark.parametrize(
    "X, missing",
    [(WHOLE_ROWS, "em"), (GAPPY_ROWS, "em"), (GAPPY_ROWS, "pairwise"), (WHOLE_ROWS, "pairwise")],
    ids=["whole", "gaps", "gaps by pairs", "whole by pairs"],
)


def model(covariance, missing="em", **settings):
    return GaussianDiscriminant(covariance, missing=missing, **settings)


@functools.cache
def fitted(kind, covariance, missing, rows=None):
    X = {"whole": WHOLE_ROWS, "gappy": GAPPY_ROWS}[kind]
    at = np.arange(N) if rows is None else np.array(rows)
    return model([list(g) for g in covariance] if isinstance(covariance, tuple) else covariance, missing).fit(
        X[at], Y[at]
    )


def whole_fit(X, covariance, missing):
    kind = "whole" if X is WHOLE_ROWS else "gappy"
    return fitted(kind, covariance if isinstance(covariance, str) else tuple(map(tuple, covariance)), missing)


def agree(one, other, X):
    assert one.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-8)
    np.testing.assert_allclose(one.means_, other.means_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=1e-9)
    assert one.n_parameters_ == other.n_parameters_


@with_rungs
@with_gaps
@pytest.mark.parametrize("seed", [0, 1])
def test_any_batches_equal_one_fit(covariance, X, missing, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(N)
    cuts = np.sort(rng.choice(np.arange(1, N), 5, replace=False))
    parts = model(covariance, missing)
    for rows in np.split(order, cuts):
        parts.partial_fit(X[rows], Y[rows])
    agree(parts, whole_fit(X, covariance, missing), X)


@pytest.mark.parametrize("covariance", ["full", "shared"])
@with_gaps
def test_one_row_at_a_time_equals_one_fit(covariance, X, missing):
    parts = model(covariance, missing)
    for i in range(N):
        parts.partial_fit(X[i : i + 1], Y[i : i + 1])
    agree(parts, whole_fit(X, covariance, missing), X)


@with_rungs
@with_gaps
def test_parts_merged_or_added_equal_one_fit(covariance, X, missing):
    # Each part holds every class, so that a part can be solved for its groups too.
    parts = [model(covariance, missing).fit(X[i::3], Y[i::3]) for i in range(3)]
    agree(functools.reduce(operator.add, parts), whole_fit(X, covariance, missing), X)
    merged = parts[2].merge(parts[0]).merge(parts[1].statistics_)
    agree(merged, whole_fit(X, covariance, missing), X)


@with_gaps
def test_parts_with_one_class_each_merge(X, missing):
    parts = [model("full", missing).fit(X[k == Y], Y[k == Y]) for k in ("c", "a", "b")]
    agree(functools.reduce(operator.add, parts), whole_fit(X, "full", missing), X)


@with_rungs
@with_gaps
def test_forgetting_equals_refitting(covariance, X, missing):
    go = np.arange(N) % 3 == 1
    forgetful = model(covariance, missing).fit(X, Y).forget(X[go], Y[go])
    agree(forgetful, model(covariance, missing).fit(X[~go], Y[~go]), X)
    agree(forgetful.partial_fit(X[go], Y[go]), whole_fit(X, covariance, missing), X)


@with_gaps
def test_a_class_forgotten_whole_leaves(X, missing):
    go = Y == "b"
    forgetful = model("full", missing).fit(X, Y).forget(X[go], Y[go])
    assert forgetful.classes_.tolist() == ["a", "c"]
    agree(forgetful, model("full", missing).fit(X[~go], Y[~go]), X)


@with_rungs
@with_gaps
def test_weights_are_repeats(covariance, X, missing):
    weights = np.random.default_rng(1).integers(0, 4, N)
    weighted = model(covariance, missing).fit(X, Y, weights.astype(float))
    repeated = model(covariance, missing).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    agree(weighted, repeated, X)


@pytest.mark.parametrize("shrinkage", [0.2, "oas", (0.4, 0.1), "ledoit_wolf"])
@pytest.mark.parametrize("covariance", ["full", "shared"])
def test_shrinkage_keeps_the_laws(covariance, shrinkage):
    X = WHOLE_ROWS if shrinkage == "ledoit_wolf" else GAPPY_ROWS
    whole = model(covariance, shrinkage=shrinkage).fit(X, Y)
    parts = [model(covariance, shrinkage=shrinkage).fit(X[i::3], Y[i::3]) for i in range(3)]
    agree(functools.reduce(operator.add, parts), whole, X)
    go = np.arange(N) % 4 == 1
    kept = model(covariance, shrinkage=shrinkage).fit(X[~go], Y[~go])
    agree(whole.forget(X[go], Y[go]), kept, X)


@with_rungs
def test_one_pass_serves_every_rung(covariance):
    statistics = model("shared").fit(GAPPY_ROWS, Y).statistics_
    agree(model(covariance).fit_statistics(statistics), whole_fit(GAPPY_ROWS, covariance, "em"), GAPPY_ROWS)


@pytest.mark.parametrize("settings", [{"ddof": 1}, {"shrinkage": 0.2}, {"shrinkage": "oas"}], ids=str)
def test_one_pass_serves_other_settings_of_solving(settings):
    statistics = model("full").fit(WHOLE_ROWS, Y).statistics_
    served = model("full", **settings).fit_statistics(statistics)
    agree(served, model("full", **settings).fit(WHOLE_ROWS, Y), WHOLE_ROWS)


@with_rungs
@with_gaps
def test_float32_is_read_as_it_is(covariance, X, missing):
    narrow = model(covariance, missing).fit(X.astype(np.float32), Y)
    np.testing.assert_allclose(
        narrow.predict_proba(X.astype(np.float32)),
        whole_fit(X, covariance, missing).predict_proba(X),
        rtol=0,
        atol=1e-10,
    )


@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("covariance", ["full", "shared"])
@with_gaps
def test_any_container_gives_the_same_model(container, covariance, X, missing):
    frame = pd.DataFrame(X, columns=NAMES)
    if container == "polars":
        frame = pl.DataFrame(X, schema=NAMES).fill_nan(None)
    elif container == "pyarrow":
        frame = pa.Table.from_pandas(frame)
    other = model(covariance, missing).fit(frame, Y)
    same = whole_fit(X, covariance, missing)
    assert np.array_equal(other.predict_proba(frame), same.predict_proba(X))
    assert np.array_equal(other.covariances_, same.covariances_)
    rows, _ = other.sample(3, random_state=0)
    assert type(rows) is type(frame)


@with_rungs
def test_without_gaps_em_is_the_closed_form(covariance):
    statistics = model(covariance).fit(WHOLE_ROWS, Y).statistics_
    data = standardised(statistics.totals[0])
    family = MultivariateNormal(covariance)
    tying = Tying(family.covariance, statistics.classes, 0.0)
    by_em = maximize(data, tying)
    closed = closed_moments(data, tying)
    np.testing.assert_allclose(by_em.mean, closed.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_em.scatter / N, closed.scatter / N, rtol=0, atol=1e-12)


@with_rungs
def test_without_gaps_pairs_are_the_closed_form(covariance):
    one, other = (whole_fit(WHOLE_ROWS, covariance, missing) for missing in ("em", "pairwise"))
    np.testing.assert_allclose(one.covariances_, other.covariances_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-12, atol=1e-12)


def direct_log_likelihood(mean, covariance):
    """Log p of every observed part of every row, by its class."""
    value = 0.0
    for row, label in zip(GAPPY_ROWS, Y, strict=True):
        k = "abc".index(label)
        seen = ~np.isnan(row)
        if seen.any():
            marginal = covariance[k][np.ix_(seen, seen)]
            z = row[seen] - mean[k, seen]
            value -= 0.5 * (z @ np.linalg.solve(marginal, z) + np.linalg.slogdet(2 * np.pi * marginal)[1])
    return value


@with_rungs
def test_em_is_maximum_likelihood(covariance):
    fit = whole_fit(GAPPY_ROWS, covariance, "em")
    mean, spread = fit.means_, fit.covariances_
    best = direct_log_likelihood(mean, spread)
    prior = sum(np.sum(k == Y) * np.log(p) for k, p in zip("abc", fit.priors_, strict=True))
    np.testing.assert_allclose(fit.log_likelihood_, best + prior, rtol=1e-10)
    rng = np.random.default_rng(0)
    for _ in range(10):
        assert direct_log_likelihood(mean + 1e-3 * rng.normal(size=mean.shape), spread) < best
        assert direct_log_likelihood(mean, spread * np.exp(1e-3 * rng.choice([-1, 1]))) < best
    if covariance == "full":
        for _ in range(10):
            bump = 1e-3 * rng.normal(size=spread.shape)
            assert direct_log_likelihood(mean, spread + bump + np.swapaxes(bump, 1, 2)) < best


FAMILIES_AND_ROWS = [
    pytest.param(MultivariateNormal(), WHOLE_ROWS, id="whole"),
    pytest.param(MultivariateNormal(), GAPPY_ROWS, id="gaps"),
    pytest.param(MultivariateNormal(shrinkage="ledoit_wolf"), WHOLE_ROWS, id="fourth moments"),
    pytest.param(MultivariateNormal(missing="pairwise"), WHOLE_ROWS, id="whole pairs"),
    pytest.param(MultivariateNormal(missing="pairwise"), GAPPY_ROWS, id="pairs"),
]


@pytest.mark.parametrize("family, X", FAMILIES_AND_ROWS)
def test_statistics_are_a_group(family, X):
    def part(rows):
        return summarize(X[rows], Y[rows], families=family)

    a, b, c = part(slice(None, 25)), part(slice(25, 50)), part(slice(50, None))
    for left, right in (
        (a + b + c, part(slice(None))),
        ((a + b) + c, a + (b + c)),
        (a + b, b + a),
        ((a + b) - b, a),
        ((a - b) + b, a),
        (a - (b + c), (a - b) - c),
        (-(a - b), b - a),
        (a + a.zero(), a),
        (a - a, a.zero()),
        (2.0 * (a - c), 2.0 * a - 2.0 * c),
        (part(slice(None)), part(np.arange(N)[::-1])),
    ):
        assert left == right
    assert a != b
    assert a + b != a + c


@pytest.mark.parametrize("family, X", FAMILIES_AND_ROWS)
def test_statistics_of_weighted_rows_are_those_of_repeats(family, X):
    weights = np.random.default_rng(2).integers(1, 4, N)
    weighted = summarize(X, Y, families=family, sample_weight=weights.astype(float))
    repeated = summarize(np.repeat(X, weights, axis=0), np.repeat(Y, weights), families=family)
    if family.shrinkage and np.isnan(X).any():
        return  # fourth moments need whole rows
    settings = {"missing": family.missing, "shrinkage": family.shrinkage}
    a, b = (GaussianDiscriminant(**settings).fit_statistics(one) for one in (weighted, repeated))
    np.testing.assert_allclose(a.covariances_, b.covariances_, rtol=1e-9, atol=1e-9)


def test_an_empty_batch_changes_nothing():
    whole = whole_fit(GAPPY_ROWS, "full", "em")
    again = model("full").fit(GAPPY_ROWS, Y).partial_fit(GAPPY_ROWS[:0], Y[:0])
    assert again.statistics_ == whole.statistics_


def test_rows_never_fitted_cannot_be_forgotten():
    small = model("full").fit(WHOLE_ROWS[:20], Y[:20])
    before = small.predict_proba(WHOLE_ROWS)
    with pytest.raises(ValueError, match="cannot forget rows that were never fitted"):
        small.forget(WHOLE_ROWS, Y)
    assert np.array_equal(small.predict_proba(WHOLE_ROWS), before)


def test_patterns_that_differ_in_a_constant_column_are_one():
    rows = np.array([[np.nan, -0.375], [0.0, -0.875], [np.nan, 0.0], [np.nan, -1.0], [0.0, 0.625]])
    labels = np.array([0, 0, 0, 1, 1])
    fitted = GaussianDiscriminant("full").fit(rows, labels)
    np.testing.assert_allclose(fitted.means_[:, 1], [-1.25 / 3, -0.1875], rtol=1e-12)
    np.testing.assert_allclose(fitted.covariances_[0, 1, 1], np.var(rows[:3, 1]), rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "isotropic"])
def test_a_class_forgotten_but_for_one_row_is_as_degenerate_as_one_fitted_so(covariance):
    kept = np.r_[0, 10:20]
    labels = np.repeat([0, 1], 10)
    for seed in range(20):
        rows = np.random.default_rng(seed).normal(size=(20, 3)) + 5
        left = GaussianDiscriminant(covariance).fit(rows, labels).forget(rows[1:10], labels[1:10])
        fresh = GaussianDiscriminant(covariance).fit(rows[kept], labels[kept])
        np.testing.assert_allclose(
            left.predict_proba(rows + 0.01), fresh.predict_proba(rows + 0.01), atol=1e-6
        )
        assert left.regularized_ == fresh.regularized_


def test_rows_never_fitted_are_not_forgotten():
    fitted = GaussianDiscriminant("shared").fit(WHOLE_ROWS, Y)
    before = fitted.predict_proba(WHOLE_ROWS)
    with pytest.raises(ValueError, match="negative variance"):
        fitted.forget(-9 * WHOLE_ROWS[:9], Y[:9])
    np.testing.assert_array_equal(fitted.predict_proba(WHOLE_ROWS), before)


def test_em_that_loses_rank_stops_early_and_says_so():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 20))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    labels = np.repeat([0, 1, 2], [12, 10, 8])
    fitted = GaussianDiscriminant("shared").fit(rows, labels)
    assert np.isfinite(fitted.predict_log_proba(rows)).all()
    assert {entry.label for entry in fitted.regularized_} == {0, 1, 2}
    turned = GaussianDiscriminant("shared").fit(rows[::-1], labels[::-1])
    np.testing.assert_allclose(turned.predict_proba(rows), fitted.predict_proba(rows), atol=1e-9)


def test_what_ledoit_and_wolf_cannot_do_is_said_when_fitting():
    with pytest.raises(ValueError, match="has missing values, but shrinkage='ledoit_wolf'"):
        GaussianDiscriminant(shrinkage="ledoit_wolf").fit(GAPPY_ROWS, Y)
    with pytest.raises(ValueError, match="pairs of columns"):
        GaussianDiscriminant(shrinkage="ledoit_wolf", missing="pairwise").fit(WHOLE_ROWS, Y)


def test_groups_that_miss_a_label_are_refused_when_fitting():
    with pytest.raises(ValueError, match="name every class once"):
        GaussianDiscriminant([[0], [1]]).fit(WHOLE_ROWS, np.arange(N) % 3)


@pytest.mark.parametrize("settings", [{}, {"missing": "pairwise"}, {"shrinkage": "ledoit_wolf"}])
def test_copies_share_sums_that_nothing_can_change(settings):
    model = GaussianDiscriminant(**settings).fit(WHOLE_ROWS, Y)
    before = model.statistics_
    copied = [cell.scatter for cell in before.totals[0].cells.values()]
    held = [cell.scatter for cell in model._learnt.accumulator.totals[0].cells.values()]
    assert all(np.shares_memory(one, other) for one, other in zip(copied, held, strict=True))
    values = [scatter.copy() for scatter in copied]
    model.partial_fit(WHOLE_ROWS * 1000.0, Y).forget(WHOLE_ROWS[:5], Y[:5]).predict(WHOLE_ROWS)
    assert all(np.array_equal(one, other) for one, other in zip(values, copied, strict=True))
    with pytest.raises(ValueError, match="read-only"):
        copied[0][0, 0] = 1.0
