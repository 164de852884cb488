"""Any batches, order, merging, weighting and forgetting of a mixed table give the same model."""

import functools
import itertools
import operator

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import BayesClassifier, summarize
from suffice.families import Bernoulli, Categorical, Gamma, Normal, Poisson

FAMILIES = {
    "length": Normal(),
    "shared": Normal("shared"),
    "waiting": Gamma(),
    "children": Poisson(),
    "town": Categorical(),
    "smoker": Bernoulli(),
    "seen": Normal(),
}
LAW = settings(max_examples=20, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
N = 30


def make_table():
    rng = np.random.default_rng(9)
    y = rng.choice(["a", "b", "c"], N)
    shift = np.searchsorted(["a", "b", "c"], y)
    X = pd.DataFrame(
        {
            "length": rng.integers(-20, 20, N) / 8 + shift,
            "shared": rng.integers(-20, 20, N) / 8 - shift,
            "waiting": rng.gamma(2.0 + shift),
            "children": pd.array(rng.poisson(1 + shift), dtype="Int64"),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], N),
            "smoker": pd.array(rng.random(N) < 0.3 + 0.2 * shift, dtype="boolean"),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, N), unit="s"),
        }
    )
    return X.mask(rng.random(X.shape) < 0.15), y


X, Y = make_table()


def model():
    return BayesClassifier(families=FAMILIES)


def fit(rows, weights=None):
    return model().fit(X.iloc[rows], Y[rows], weights)


WHOLE = model().fit(X, Y)


def agrees(one, other):
    assert one.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(one.log_likelihood_, other.log_likelihood_, rtol=1e-9)
    assert one.n_parameters_ == other.n_parameters_


orders = st.permutations(range(N)).map(np.array)
cuts = st.lists(st.integers(0, N), max_size=6).map(lambda places: [0, *sorted(places), N])


def batches(order, places):
    return [order[a:b] for a, b in itertools.pairwise(places)]


@LAW
@given(orders, cuts)
def test_any_batches_in_any_order_equal_one_fit(order, places):
    parts = model()
    for rows in batches(order, places):
        if len(rows) or hasattr(parts, "statistics_"):
            parts.partial_fit(X.iloc[rows], Y[rows])
    agrees(parts, WHOLE)
    assert parts.statistics_.isclose(WHOLE.statistics_, rtol=1e-11)


@LAW
@given(orders)
def test_rows_in_any_order_have_the_same_inferred_families_and_weight(order):
    in_order, shuffled = BayesClassifier().fit(X, Y), BayesClassifier().fit(X.iloc[order], Y[order])
    assert [c.family for c in shuffled.schema_.columns] == [c.family for c in in_order.schema_.columns]
    agrees(shuffled, in_order)


@LAW
@given(orders, cuts)
def test_any_parts_merged_or_added_equal_one_fit(order, places):
    parts = [fit(rows) for rows in batches(order, places) if len(rows)]
    added = functools.reduce(operator.add, parts)
    agrees(added, WHOLE)
    merged = parts[-1]
    for part in parts[:-1]:
        merged.merge(part)
    agrees(merged, WHOLE)


@LAW
@given(orders, cuts)
def test_statistics_of_any_parts_sum_to_the_whole(order, places):
    parts = [summarize(X.iloc[rows], Y[rows], families=FAMILIES) for rows in batches(order, places)]
    total = sum(parts)
    assert total.isclose(WHOLE.statistics_, rtol=1e-11)
    agrees(BayesClassifier().fit_statistics(total), WHOLE)


@LAW
@given(orders, st.integers(1, N - 1))
def test_forgetting_rows_equals_never_having_seen_them(order, kept):
    stay, go = order[:kept], order[kept:]
    forgetful = model().fit(X, Y).forget(X.iloc[go], Y[go])
    agrees(forgetful, fit(stay))
    agrees(forgetful.partial_fit(X.iloc[go], Y[go]), WHOLE)


@LAW
@given(st.lists(st.integers(0, 3), min_size=N, max_size=N).filter(any))
def test_weights_are_repeats_and_weight_zero_is_no_row(weights):
    weights = np.array(weights)
    weighted = fit(np.arange(N), weights.astype(float))
    agrees(weighted, fit(np.repeat(np.arange(N), weights)))
    present = np.flatnonzero(weights)
    agrees(weighted, fit(present, weights[present].astype(float)))


@LAW
@given(st.floats(1e-3, 1e3))
def test_scaling_statistics_is_weighting_rows(factor):
    agrees(
        BayesClassifier().fit_statistics(WHOLE.statistics_ * factor), fit(np.arange(N), np.full(N, factor))
    )


@LAW
@given(orders, st.integers(0, N), st.integers(0, N))
def test_statistics_are_a_group(order, one, two):
    a, b, c = (summarize(X.iloc[r], Y[r], families=FAMILIES) for r in np.split(order, sorted((one, two))))
    for left, right in (
        ((a + b) + c, a + (b + c)),
        (a + b, b + a),
        ((a - b) + b, a),
        (a - (b + c), (a - b) - c),
        (-(a - b), b - a),
        (a + a.zero(), a),
        (2.0 * (a - c), 2.0 * a - 2.0 * c),
        ((a + b) - b, a),
    ):
        assert left.isclose(right, rtol=1e-10)


def test_fitting_twice_is_fitting_once():
    twice = model().fit(X, Y).fit(X, Y)
    assert twice.statistics_ == WHOLE.statistics_
    assert np.array_equal(twice.predict_proba(X), WHOLE.predict_proba(X))


def test_one_row_at_a_time_equals_one_fit():
    parts = model()
    for i in range(N):
        parts.partial_fit(X.iloc[[i]], Y[i : i + 1])
    agrees(parts, WHOLE)


def test_an_empty_batch_changes_nothing():
    parts = model().fit(X, Y)
    parts.partial_fit(X[:0], Y[:0])
    assert parts.statistics_ == WHOLE.statistics_


def test_empty_statistics_are_the_identity():
    nothing = summarize(X[:0], Y[:0], families=FAMILIES)
    assert nothing.n_rows == 0
    assert nothing + WHOLE.statistics_ == WHOLE.statistics_
    assert WHOLE.statistics_ + nothing == WHOLE.statistics_


def test_statistics_know_another_origin_as_equal():
    moved = WHOLE.statistics_.rebased({"length": 1.5, "shared": -2.0})
    assert moved == WHOLE.statistics_
    agrees(BayesClassifier().fit_statistics(moved), WHOLE)


def test_statistics_that_differ_are_not_equal():
    other = fit(np.arange(N - 1)).statistics_
    assert other != WHOLE.statistics_
    assert WHOLE.statistics_ != 3
    changed = X.copy()
    changed.loc[0, "length"] = 7.0
    assert model().fit(changed, Y).statistics_ != WHOLE.statistics_


def test_statistics_say_what_they_hold():
    text = repr(WHOLE.statistics_)
    assert "30 rows" in text
    assert "3 classes" in text
    assert "7 columns" in text
    assert "class 'a'" in text
