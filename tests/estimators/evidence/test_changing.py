"""The sums of all pieces add and subtract; the weights stay until they are learnt anew."""

import copy
import functools
import io
import itertools
import operator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import suffice
from suffice import BayesClassifier, EvidenceClassifier
from suffice.estimators.evidence import fitting, sample
from suffice.estimators.evidence import rows as weighed_rows

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


def test_given_pieces_are_those_of_the_same_columns(penguins, of_penguins):
    X, y = penguins
    model = EvidenceClassifier(pieces=of_penguins.pieces_)
    others = {
        "bill_depth_mm": X.drop(columns="bill_depth_mm"),
        "depth": X.rename(columns={"bill_depth_mm": "depth"}),
        "in another order": X[X.columns[::-1]],
        r"\d columns, but X has 2": X.to_numpy()[:, :2],
    }
    for words, odd in others.items():
        with pytest.raises(ValueError, match=rf"leave pieces= out, .* those of a model of .*{words}"):
            model.fit(odd, y)


def test_given_pieces_decide_the_families(penguins, of_penguins):
    pieces = of_penguins.pieces_
    other = EvidenceClassifier({"year": "normal"}).fit(*penguins).schema_
    for families in ({"year": "normal"}, "normal", other):
        with pytest.raises(ValueError, match=r"families= and pieces= both .* leave families= out"):
            EvidenceClassifier(families, pieces=pieces).fit(*penguins)
    again = EvidenceClassifier(of_penguins.schema_, pieces=pieces).fit(*penguins)
    agrees(again, of_penguins, penguins[0])


@pytest.mark.parametrize("estimator", [EvidenceClassifier, BayesClassifier])
@pytest.mark.parametrize("families", ["infer", "normal"])
def test_what_fixes_the_columns_fixes_which_texts_are_missing_cells(estimator, families):
    y = np.arange(90) % 2
    X = {"length": np.where(np.arange(90) % 7, np.arange(90.0).astype(str), "??")}
    model = estimator(families, missing_marks=["??"]).fit(X, y)
    weighs = estimator is EvidenceClassifier
    fixed = {"pieces": model.pieces_} if weighs else {"families": model.schema_}
    agrees(estimator(**fixed).fit(X, y), model, X)
    agrees(estimator(**fixed, missing_marks=["??"]).fit(X, y), model, X)
    words = rf"missing_marks= and {next(iter(fixed))}= both .* differ: \['none'\] and \['\?\?'\]; leave"
    with pytest.raises(ValueError, match=words):
        estimator(**fixed, missing_marks=["none"]).fit(X, y)


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


# --- models that were fitted apart ----------------------------------------------------------------


@functools.cache
def fewer():
    """Some rows, and fewer pieces."""
    return EvidenceClassifier(whole().schema_, pieces=["columns", "steps", "cells"]).fit(X[:40], Y[:40])


def apart(penguins, rows):
    """A model of some penguins that has chosen its own pieces."""
    X, y = penguins
    return EvidenceClassifier(BayesClassifier().fit(X, y).schema_).fit(X.iloc[rows], y[rows])


def test_models_fitted_apart_merge_in_any_order_and_are_forgotten_again(penguins):
    X, y = penguins
    small, large = (apart(penguins, rows) for rows in (np.arange(0, 344, 3), np.arange(1, 344, 2)))
    assert small.pieces_.difference(large.pieces_) is not None
    both = small + large
    agrees(large + small, both, X, atol=1e-12)
    plain = small.generative_ + large.generative_
    assert both.statistics_.isclose(plain.statistics_)
    np.testing.assert_array_equal(both.weights_.weights, large.weights_.weights)
    rows = np.arange(0, 344, 3)
    agrees(both, EvidenceClassifier(pieces=large.pieces_).fit(X.iloc[rows], y[rows]) + large, X)
    assert suffice.evaluate(both, X, y).log_loss < 0.1
    agrees(copy.copy(both).forget(small), large, X)
    loaded = suffice.load(io.BytesIO(saved(both)))
    np.testing.assert_array_equal(loaded.predict_proba(X), both.predict_proba(X))
    agrees(loaded.forget(small), large, X)


def test_a_model_merged_with_other_pieces_says_what_it_cannot_do():
    model = copy.copy(whole()).merge(fewer())
    before = saved(model)
    with pytest.raises(ValueError, match=r"cannot forget rows.*forget the models that were merged"):
        model.forget(X[:40], Y[:40])
    with pytest.raises(ValueError, match="seen=False"):
        model.reweigh(X, Y)
    assert saved(model) == before
    assert model.reweigh(X, Y, seen=False).partial_fit(X, Y).statistics_.n_rows == 2 * N + 40
    fresh = model.fit(X, Y).forget(X[:40], Y[:40])
    assert fresh.statistics_.n_rows == N - 40


def test_rows_of_a_merged_model_are_missing_in_pieces_that_it_lacks():
    merged = copy.copy(whole()).merge(fewer())
    after, before = (
        [one.presence().sum() for one in model._learnt.sums.statistics()[1].totals]
        for model in (merged, whole())
    )
    assert after[0] > before[0]  # steps
    assert after[1:] == pytest.approx(before[1:])  # presence and the joint Gaussian


def test_classes_of_one_model_only_are_told_apart_in_both(penguins):
    X, y = penguins
    first, second = (apart(penguins, np.flatnonzero(y != gone)) for gone in ("Gentoo", "Adelie"))
    both = first + second
    assert both.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert suffice.evaluate(both, X, y).log_loss < 0.1


def test_statistics_and_pure_models_are_merged(penguins, of_penguins):
    X, y = penguins
    for other in (of_penguins.generative_, of_penguins.statistics_):
        model = copy.copy(of_penguins).merge(other)
        assert model.statistics_.n_rows == 688
        assert suffice.evaluate(model, X, y).log_loss < 0.05
        agrees(model.forget(other), of_penguins, X)
    only = np.flatnonzero(y != "Gentoo")
    model = apart(penguins, only)
    with pytest.raises(ValueError, match="class 'Gentoo' is in one of them only"):
        model.merge(of_penguins.statistics_)


def test_a_column_of_another_family_counts_in_the_rows_of_one_model(penguins):
    X, y = penguins
    bill = {"bill_length_mm": "normal"}
    small = EvidenceClassifier(bill | {"body_mass_g": "gamma"}).fit(X[::2], y[::2])
    large = EvidenceClassifier(bill | {"body_mass_g": "normal"}).fit(X, y)
    for one, other in ((small, large), (large, small)):
        with pytest.warns(UserWarning, match=r"body_mass_g.*only the rows of one model count"):
            both = one + other
        assert both.schema_["body_mass_g"].family == large.schema_["body_mass_g"].family
        assert suffice.evaluate(both, X, y).log_loss < 0.05
    at = [str(name) for name in both.schema_.names].index("body_mass_g")
    seen = {j: p for f, t in zip(both.schema_.factors, both.statistics_.totals, strict=True)
            for j, p in zip(f.columns.tolist(), t.presence().sum(axis=0), strict=True)}  # fmt: skip
    assert seen[at] == 342
    assert seen[0] > 500


# --- what is refused, and changes nothing ---------------------------------------------------------


def test_a_model_with_other_pieces_that_was_not_merged_is_not_forgotten():
    model = copy.copy(whole())
    before = saved(model)
    with pytest.raises(ValueError, match=r"presence.*differ.*pieces=first\.pieces_"):
        model.forget(fewer())
    assert saved(model) == before


def test_models_of_other_columns_are_not_merged():
    other = EvidenceClassifier().fit(X[["length"]], Y)
    for deed in ("merge", "forget"):
        with pytest.raises(ValueError, match="columns differ"):
            getattr(copy.copy(whole()), deed)(other)


@pytest.mark.parametrize("deed", ["merge", "forget"])
def test_something_else_is_not_merged(deed, of_penguins):
    with pytest.raises(TypeError, match=f"{deed} takes a fitted model or Statistics, got dict"):
        getattr(copy.copy(of_penguins), deed)({})


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
    for module in (fitting, sample, weighed_rows):
        monkeypatch.setattr(module, "MOST_ROWS", 1000)
    monkeypatch.setattr(weighed_rows, "ROWS_AT_ONCE", 700)
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


def test_rows_that_were_never_fitted_are_weighed_as_such(penguins):
    X, y = penguins
    half = len(y) // 2
    first, second = np.arange(half) * 2, np.arange(half) * 2 + 1
    model = EvidenceClassifier().fit(X.iloc[first], y[first])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"rows that were never fitted .*; pass seen=False for rows held"):
        model.reweigh(X.iloc[second], y[second])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.reweigh(X.iloc[second], y[second], seen=False).statistics_.n_rows == half


@pytest.mark.parametrize("n, said", [(3, "got 3 rows of 1 class"), (60, "got 60 rows of 1 class")])
def test_reweighing_by_too_few_rows_or_classes_is_refused_and_changes_nothing(penguins, of_penguins, n, said):
    X, y = penguins
    model = copy.copy(of_penguins)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=rf"at least 10 rows of two or more classes.*{said}"):
        model.reweigh(X[:n], y[:n])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.weights_.levels


def test_nats_of_what_was_not_weighed_are_empty():
    rng = np.random.default_rng(0)
    weighed = EvidenceClassifier().fit(rng.normal(size=(9, 2)), np.arange(9) % 2).weights_
    assert "nan" not in repr(weighed)
    assert [piece.group for piece in weighed.pieces] == ["columns", "columns"]
    assert np.isnan(weighed.nats).all()
