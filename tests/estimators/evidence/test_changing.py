"""The sums of all pieces add and subtract; the weights stay until they are learnt anew."""

import copy
import functools
import itertools
import operator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import suffice
from suffice import EvidenceClassifier
from suffice.estimators.evidence import fitting

from .conftest import FAMILIES, agrees, mixed, saved

LAW = settings(max_examples=4, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
N = 60
X, Y = mixed(N, seed=3)
PLACES = st.lists(st.integers(0, N), max_size=4).map(lambda places: [0, *sorted(places), N])
ORDERS = st.permutations(range(N)).map(np.array)


@functools.cache
def whole():
    """All rows."""
    return EvidenceClassifier(FAMILIES).fit(X, Y)


def summed(rows, weights=None):
    """Some rows with the pieces and weights of all."""
    everyone = copy.copy(whole()).forget(X, Y)
    return everyone.partial_fit(X.iloc[rows], Y[rows], sample_weight=weights)


def parts_of(order, places):
    return [order[a:b] for a, b in itertools.pairwise(places) if b > a]


@LAW
@given(ORDERS, PLACES)
def test_any_batches_in_any_order_equal_one_fit(order, places):
    first, *others = parts_of(order, places)
    model = summed(first)
    for rows in others:
        model.partial_fit(X.iloc[rows], Y[rows])
    agrees(model, whole(), X)
    assert model.statistics_.isclose(whole().statistics_, rtol=1e-11)


@LAW
@given(ORDERS, PLACES)
def test_any_parts_merged_or_added_equal_one_fit(order, places):
    parts = [summed(rows) for rows in parts_of(order, places)]
    agrees(functools.reduce(operator.add, parts), whole(), X)
    merged = parts[-1]
    for part in parts[:-1]:
        merged.merge(part)
    agrees(merged, whole(), X)


@LAW
@given(ORDERS, st.integers(1, N - 1))
def test_forgetting_rows_equals_never_having_seen_them(order, kept):
    stay, go = order[:kept], order[kept:]
    forgetful = copy.copy(whole()).forget(X.iloc[go], Y[go])
    agrees(forgetful, summed(stay), X)
    agrees(forgetful.partial_fit(X.iloc[go], Y[go]), whole(), X)
    agrees(copy.copy(whole()).forget(summed(go)), summed(stay), X)


@LAW
@given(st.lists(st.integers(0, 3), min_size=N, max_size=N).filter(any))
def test_a_row_of_weight_k_counts_as_k_rows(times):
    times = np.array(times)
    weighted = summed(np.arange(N), times.astype(float))
    agrees(weighted, summed(np.repeat(np.arange(N), times)), X)


def test_the_weights_stay_while_the_sums_change():
    model = copy.copy(whole())
    before = model.weights_.to_frame()
    model.partial_fit(X.iloc[:50], Y[:50])
    assert model.weights_.to_frame().equals(before)
    np.testing.assert_array_equal(model.bias_, whole().bias_)
    assert model.statistics_ != whole().statistics_


def test_a_fit_with_given_pieces_is_the_fit_that_chose_them(penguins, of_penguins):
    again = EvidenceClassifier(pieces=of_penguins.pieces_).fit(*penguins)
    assert again.pieces_ is of_penguins.pieces_
    agrees(again, of_penguins, penguins[0])


def test_models_with_given_pieces_merge_to_the_sums_of_all_rows(penguins, of_penguins):
    X, y = penguins
    first, second = (
        EvidenceClassifier(pieces=of_penguins.pieces_).fit(X.iloc[rows], y[rows])
        for rows in (np.arange(0, 344, 2), np.arange(1, 344, 2))
    )
    both = first + second
    assert both.statistics_.isclose(of_penguins.statistics_, rtol=1e-11)
    agrees(both.reweigh(X, y), of_penguins, X, atol=1e-6)
    np.testing.assert_array_equal((first + second).bias_ - first.bias_, 0.0)


def test_weights_learnt_anew_from_the_same_rows_are_those_of_a_fit():
    again = copy.copy(whole()).reweigh(X, Y)
    assert [one.name for one in again.weights_.levels] == [one.name for one in whole().weights_.levels]
    np.testing.assert_allclose(again.weights_.weights, whole().weights_.weights, atol=1e-6)
    np.testing.assert_allclose(again.bias_, whole().bias_, atol=1e-6)
    agrees(again, whole(), X, atol=1e-6)
    assert again.statistics_ == whole().statistics_


def test_weights_learnt_from_other_rows_leave_the_sums_alone():
    other, y = mixed(seed=4)
    model = copy.copy(whole()).reweigh(other, y, seen=False)
    assert model.statistics_ == whole().statistics_
    assert np.abs(model.bias_ - whole().bias_).max() > 1e-6
    assert np.isfinite(model.predict_proba(other)).all()


def test_weights_of_rows_that_the_sums_do_not_hold_are_not_subtracted():
    other, y = mixed(seed=4)
    model = copy.copy(whole())
    before = saved(model)
    with pytest.raises(ValueError, match="rows"):
        model.reweigh(other, np.where(y == "ash", "elm", y))
    assert saved(model) == before


def test_a_new_class_may_appear_and_a_class_may_go():
    model = copy.copy(whole()).partial_fit(X.iloc[:10], np.repeat("elm", 10))
    assert model.classes_.tolist() == ["ash", "birch", "cedar", "elm"]
    np.testing.assert_array_equal(model.bias_[:3], whole().bias_)
    assert model.bias_[3] == 0.0
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    agrees(model.forget(X.iloc[:10], np.repeat("elm", 10)), whole(), X)
    gone = Y == "ash"
    model.forget(X[gone], Y[gone])
    assert model.classes_.tolist() == ["birch", "cedar"]
    np.testing.assert_array_equal(model.bias_, whole().bias_[1:])


def test_the_first_batch_is_a_fit(table, of_table):
    model = EvidenceClassifier(FAMILIES).partial_fit(*table)
    assert saved(model) == saved(of_table)


def test_a_sum_changes_neither_of_its_terms():
    one, two = summed(np.arange(60)), summed(np.arange(60, N))
    before = saved(one), saved(two)
    both = one + two
    assert (saved(one), saved(two)) == before
    agrees(both, whole(), X)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_learns_on_its_own(duplicate):
    before = saved(whole())
    duplicate(whole()).partial_fit(X, Y)
    assert saved(whole()) == before


# --- what is refused, and changes nothing ---------------------------------------------------------


def test_models_with_other_pieces_are_not_merged():
    fewer = EvidenceClassifier(FAMILIES, pieces=["columns", "steps"]).fit(X, Y)
    model = copy.copy(whole())
    before = saved(model)
    for deed in (model.merge, model.forget):
        with pytest.raises(ValueError, match=r"other pieces.*pieces=first\.pieces_"):
            deed(fewer)
    assert saved(model) == before


def test_models_of_other_columns_are_not_merged():
    other = EvidenceClassifier().fit(X[["length"]], Y)
    with pytest.raises(ValueError, match="other pieces"):
        copy.copy(whole()).merge(other)


def test_the_difference_between_pieces_is_named():
    fewer = EvidenceClassifier(FAMILIES, pieces=["columns", "steps", "cells"]).fit(X, Y)
    with pytest.raises(ValueError, match=r"presence.*differ"):
        copy.copy(whole()).merge(fewer)


@pytest.mark.parametrize("deed", ["merge", "forget"])
def test_something_else_is_not_merged(deed, of_penguins):
    with pytest.raises(TypeError, match=f"{deed} takes a fitted EvidenceClassifier, got BayesClassifier"):
        getattr(copy.copy(of_penguins), deed)(of_penguins.generative_)


def test_an_unfitted_model_is_not_merged(of_penguins):
    with pytest.raises(NotFittedError, match="not fitted"):
        copy.copy(of_penguins).merge(EvidenceClassifier())


BAD_ROWS = {
    "infinity": (lambda: X.assign(length=np.inf), Y, ValueError, "length"),
    "too few labels": (lambda: X, Y[:-1], ValueError, "rows"),
    "a missing label": (lambda: X, np.array([None, *Y[1:]], dtype=object), ValueError, "missing|None|label"),
    "a missing column": (lambda: X.drop(columns="town"), Y, ValueError, "town"),
}


BAD_DEEDS = [
    (name, deed)
    for name in BAD_ROWS
    for deed in ("fit", "partial_fit", "forget", "reweigh")
    if (name, deed) != ("a missing column", "fit")
]


@pytest.mark.parametrize("name, deed", BAD_DEEDS)
def test_a_refused_batch_leaves_the_model_as_it_was(name, deed):
    make, y, error, message = BAD_ROWS[name]
    model = copy.copy(whole())
    before = saved(model)
    with pytest.raises(error, match=message):
        getattr(model, deed)(make(), y)
    assert saved(model) == before


def test_rows_that_were_never_fitted_are_not_forgotten():
    model = copy.copy(whole())
    before = saved(model)
    with pytest.raises(ValueError, match="cannot forget rows that were never fitted"):
        model.forget(X.iloc[:5], np.repeat("elm", 5))
    with pytest.raises(ValueError, match="cannot forget rows that were never fitted"):
        model.forget(X, Y, sample_weight=np.full(N, 2.0))
    assert saved(model) == before


# --- many rows ------------------------------------------------------------------------------------


def test_weights_learnt_from_a_sample_go_with_the_sums_of_all_rows(monkeypatch):
    monkeypatch.setattr(fitting, "MOST_ROWS", 1000)
    monkeypatch.setattr(fitting, "ROWS_AT_ONCE", 700)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 3000)
    rows = np.column_stack([rng.normal(y, 1.0), rng.normal(-y, 2.0)])
    model = EvidenceClassifier().fit(rows, y)
    assert model.statistics_.support.tolist() == np.bincount(y).tolist()
    plain = suffice.BayesClassifier(model.schema_).fit(rows, y)
    assert model.statistics_.isclose(plain.statistics_, rtol=1e-11)
    again = EvidenceClassifier(pieces=model.pieces_).fit(rows, y)
    agrees(again, model, rows)
    agrees(copy.copy(model).reweigh(rows, y), model, rows, atol=1e-6)


def test_weights_learnt_anew_choose_no_more_pairs():
    rng = np.random.default_rng(0)
    table = {"a": rng.integers(0, 2, 400), "b": rng.integers(0, 2, 400)}
    model = EvidenceClassifier().fit(table, rng.integers(0, 2, 400))
    assert not model.pieces_.pairs
    model.reweigh(table, table["a"] ^ table["b"])
    assert not model.pieces_.pairs
    assert len(model.weights_.nats) == len(model.weights_.to_frame())
    assert np.isfinite(model.predict_proba(table)).all()
