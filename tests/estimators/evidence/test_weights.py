"""A row of weight k counts as k rows, in any order: in the sums, the pieces, the folds and the weights."""

import functools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from suffice import BayesClassifier, EvidenceClassifier
from suffice.model.columns.schema import Schema
from suffice.model.dealt import deal_by_content
from suffice.tables.row_keys import row_keys
from suffice.tables.table import read_table

from .conftest import FAMILIES, agrees, mixed

LAW = settings(max_examples=3, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
N = 80
X, Y = mixed(N, seed=5)


@functools.cache
def families():
    return BayesClassifier(FAMILIES).fit(X, Y).schema_


def fitted(rows, weights=None):
    return EvidenceClassifier(families()).fit(X.iloc[rows], Y[rows], weights)


@LAW
@given(st.lists(st.integers(0, 3), min_size=N, max_size=N).filter(lambda k: sum(k) > 60), st.randoms())
def test_a_row_of_weight_k_is_k_rows_wherever_they_are(times, random):
    copies = np.repeat(np.arange(N), times)
    random.shuffle(copies)
    weighted, repeated = fitted(np.arange(N), np.array(times, dtype=float)), fitted(copies)
    agrees(weighted, repeated, X, atol=1e-8)
    np.testing.assert_allclose(weighted.weights_.weights, repeated.weights_.weights, atol=1e-6)
    np.testing.assert_allclose(weighted.statistics_.weight, repeated.statistics_.weight)
    assert weighted.statistics_.n_rows == np.count_nonzero(times)


@LAW
@given(st.permutations(range(N)).map(np.array))
def test_the_order_of_rows_does_not_matter(order):
    agrees(fitted(order), fitted(np.arange(N)), X, atol=1e-8)


@pytest.mark.parametrize("weights", [None, [0.5, 1.0, 2.0], [1.0, 2.0]], ids=str)
def test_a_shuffle_changes_no_digit(weights):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 1500)
    table = {
        "x": rng.normal(size=1500) + y,
        "level": np.array([f"l{v}" for v in rng.integers(0, 64, 1500)]),  # more than have corrections
        "g": rng.poisson(2.0 + y),
    }
    w = None if weights is None else rng.choice(weights, 1500)
    order = rng.permutation(1500)
    shuffled = {name: cells[order] for name, cells in table.items()}
    found = EvidenceClassifier().fit(shuffled, y[order], None if w is None else w[order])
    expected = EvidenceClassifier().fit(table, y, w)
    np.testing.assert_array_equal(found.predict_proba(table), expected.predict_proba(table))


@pytest.mark.parametrize("times", [2, 3])
def test_rows_of_weight_k_are_enough_for_pairs_where_k_copies_are(times):
    rng = np.random.default_rng(1)
    y, z = np.arange(300) % 3, rng.normal(size=300)
    table = pd.DataFrame({"z": z, "u": np.exp(z + y)})
    weighted = EvidenceClassifier().fit(table, y, np.full(300, float(times)))
    copies = np.repeat(np.arange(300), times)
    repeated = EvidenceClassifier().fit(table.iloc[copies], y[copies])
    assert weighted.pieces_.pairs == repeated.pieces_.pairs
    agrees(weighted, repeated, table, atol=1e-8)


def test_halves_of_rows_are_rows():
    twice = np.repeat(np.arange(N), 2)
    agrees(fitted(twice, np.full(2 * N, 0.5)), fitted(np.arange(N)), X, atol=1e-8)


def test_weights_learnt_anew_take_weighted_rows():
    weights = 1.0 + np.arange(N) % 3
    model = fitted(np.arange(N), weights)
    again = EvidenceClassifier(pieces=model.pieces_).fit(X, Y, weights).reweigh(X, Y, weights)
    agrees(again, model, X, atol=1e-6)
    assert again.statistics_ == model.statistics_


def test_sparse_rows_are_dealt_by_content():
    rng = np.random.default_rng(0)
    cells, y, times = rng.poisson(0.5, (60, 8)), rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    weighted = EvidenceClassifier().fit(sparse.csr_array(cells), y, times.astype(float))
    order = rng.permutation(np.repeat(np.arange(60), times))
    repeated = EvidenceClassifier().fit(sparse.csc_array(cells[order]), y[order])
    agrees(weighted, repeated, sparse.csr_array(cells), atol=1e-8)


# --- how rows are dealt ---------------------------------------------------------------------------


def by_chance(keys):
    """Keys of rows that are equal by chance, if they are equal."""
    return SimpleNamespace(keys=keys.astype(np.uint64), are_copies=False)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(1, 40)), min_size=1, max_size=12))
def test_units_of_weight_are_dealt_as_rows(rows):
    codes, keys, times = (np.array(one) for one in zip(*rows, strict=True))
    dealt = deal_by_content(codes, times.astype(float), by_chance(keys), 3)
    np.testing.assert_allclose(np.bincount(dealt.rows, dealt.weights), times)
    copies = np.repeat(np.arange(len(rows)), times)
    one_by_one = deal_by_content(codes[copies], None, by_chance(keys[copies]), 3)
    same = [np.zeros((3, 7, 3)) for _ in range(2)]
    np.add.at(same[0], (codes[dealt.rows], keys[dealt.rows], dealt.fold), dealt.weights)
    np.add.at(same[1], (codes[copies], keys[copies], one_by_one.fold), 1.0)
    np.testing.assert_allclose(same[0], same[1], atol=1e-9)


def test_folds_have_equal_shares_of_each_class():
    rng = np.random.default_rng(0)
    codes, keys = rng.integers(0, 3, 600), rng.integers(0, 2**60, 600).astype(np.uint64)
    for weights in (None, np.ones(600), rng.gamma(2.0, size=600)):
        dealt = deal_by_content(codes, weights, by_chance(keys), 5)
        weight = np.ones(600) if weights is None else dealt.weights
        shares = np.zeros((3, 5))
        np.add.at(shares, (codes[dealt.rows], dealt.fold), weight)
        assert np.ptp(shares, axis=1).max() < 2.0 + 1e-9


def test_equal_rows_come_to_folds_by_chance():
    keys = np.arange(4, dtype=np.uint64).repeat(500)
    dealt = deal_by_content(np.zeros(2000, dtype=np.intp), None, by_chance(keys), 5)
    times = np.bincount(5 * (np.arange(2000) // 500) + dealt.fold).reshape(4, 5)
    assert times.sum(axis=0).tolist() == [400] * 5
    # As drawn without replacement: a variance of 400 · ¼ · ¾ · (1600 / 1999).
    assert 20.0 < times.var() < 180.0


def test_rows_that_weigh_next_to_nothing_are_dealt_too():
    weights = np.array([1.0, 1e-12] * 15)
    dealt = deal_by_content(np.arange(30) % 3, weights, by_chance(np.zeros(30)), 5)
    np.testing.assert_allclose(np.bincount(dealt.rows, dealt.weights), weights)


@pytest.mark.parametrize("large", [1e3, 1e6])
def test_a_constant_column_says_nothing_whatever_the_weights(large):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = rng.choice([1.0, large], 40)
        model = EvidenceClassifier(pieces=["columns"])
        model.fit({"x": np.ones(40)}, np.arange(40) % 2, sample_weight=weights)
        share = np.bincount(np.arange(40) % 2, weights) / weights.sum()
        np.testing.assert_allclose(model.predict_proba({"x": np.ones(1)})[0], share, atol=0.02)


def test_large_weights_make_few_parts():
    codes, keys = np.zeros(1000, dtype=np.intp), np.arange(1000, dtype=np.uint64)
    assert len(deal_by_content(codes, np.full(1000, 1e6), by_chance(keys), 5).rows) <= 25_000
    assert len(deal_by_content(codes, np.full(1000, 20.0), by_chance(keys), 5).rows) <= 21_000


@pytest.mark.parametrize("kind", ["numbers", "levels", "text"])
def test_the_keys_of_rows_tell_their_cells_apart_and_nothing_else(kind):
    cells = {
        "numbers": [1.0, -0.0, None, 1.0, 0.0, 2.0],
        "levels": ["1.0", "b", None, "1.0", "b", "c"],
        "text": ["good film", "", None, "good film", "", "bad film"],
    }[kind]
    more = [7.0, 7.0, 7.0, 7.0, 7.0, 8.0]
    table = read_table({"a": cells, "b": more})
    keys = row_keys(table, [0, 1], [0] if kind == "text" else [])
    assert keys.tolist() == keys[[3, 4, 2, 0, 1, 5]].tolist()
    assert len(set(keys.tolist())) == 4
    turned = row_keys(read_table({"b": more, "a": cells}), [0, 1], [1] if kind == "text" else [])
    assert set(turned.tolist()).isdisjoint(keys.tolist())
    wider = read_table({"a": cells, "b": more, "same": ["x"] * 6})
    assert row_keys(wider, [0, 1, 2], [0] if kind == "text" else []).tolist() == keys.tolist()


def test_keys_do_not_depend_on_how_many_columns_are_mixed_at_once(monkeypatch):
    table = read_table(X)
    keys = row_keys(table, range(table.n_columns))
    for at_once in (1, 2 * N):
        monkeypatch.setattr("suffice.tables.row_keys.CELLS_AT_ONCE", at_once)
        assert row_keys(table, range(table.n_columns)).tolist() == keys.tolist()


def sparse_counts(seed=0):
    """Counts, of which most are 0: a column of zeros, one of fours, and one without any zero."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, (60, 8)) * (rng.random((60, 8)) < 0.4).astype(np.float64)
    counts[:, 2], counts[:, 3], counts[:, 5] = 0.0, 4.0, rng.integers(1, 4, 60)
    return counts, rng.integers(0, 2, 60)


@pytest.mark.parametrize("columns", [range(8), [5, 0, 3], []])
def test_rows_have_the_same_keys_in_sparse_arrays(columns):
    counts, _ = sparse_counts()
    held = sparse.csr_array(counts)
    held.data[::7] = 0.0  # zeros that are written down
    keys = row_keys(read_table(held), columns)
    assert keys.tolist() == row_keys(read_table(held.toarray()), columns).tolist()


def test_sparse_rows_are_weighed_as_dense_ones():
    counts, classes = sparse_counts()
    counts[:, 0] += classes
    both = [
        EvidenceClassifier("poisson", pieces=["columns"]).fit(rows, classes).predict_proba(counts)
        for rows in (counts, sparse.csr_array(counts))
    ]
    np.testing.assert_allclose(*both, rtol=1e-9)


def test_the_keys_that_rows_are_ordered_by_deal_them_too(monkeypatch):
    families()
    hashed, keys = [], Schema.keys
    monkeypatch.setattr(Schema, "keys", lambda schema, table: hashed.append(table) or keys(schema, table))
    fitted(np.arange(N))
    assert len(hashed) == 1
