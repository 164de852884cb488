"""Copies of a row are held out together: a row that is known from its copies would say that all is well."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss

from suffice import BayesClassifier, EvidenceClassifier
from suffice.model.dealt import deal_by_content
from suffice.tables.row_keys import RowKeys
from suffice.tables.table import read_table


def are_copies(X):
    table = read_table(X)
    return RowKeys.of(table, range(table.n_columns)).are_copies


def numbers(n=200, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def test_equal_rows_of_numbers_are_copies():
    assert are_copies(numbers())
    assert are_copies(np.repeat(numbers(), 3, axis=0))
    assert are_copies(numbers(d=1))


def test_equal_rows_of_few_levels_are_chance():
    rng = np.random.default_rng(0)
    assert not are_copies(
        pd.DataFrame({"a": rng.choice([*"abcdefghij"], 500), "b": rng.choice([*"xy"], 500)})
    )
    assert not are_copies(pd.DataFrame({"age": rng.integers(18, 80, 500)}))
    assert not are_copies(rng.integers(0, 2, (500, 10)))
    assert not are_copies(np.ones((100, 2)))


def test_many_levels_are_told_apart_as_numbers_are():
    levels = np.random.default_rng(0).choice([*"abcde"], (300, 30))
    assert are_copies(pd.DataFrame(levels, columns=[f"c{j}" for j in range(30)]))


def test_numbers_that_are_mostly_zero_are_often_equal():
    cells = np.random.default_rng(0).normal(size=(400, 2))
    cells[np.random.default_rng(1).random(cells.shape) < 0.9] = 0.0
    assert not are_copies(cells)
    assert not are_copies(sparse.csr_array(cells))


def test_equal_rows_of_columns_that_hang_together_are_chance():
    """The product of nine small chances would say that no two rows can be equal."""
    size = np.random.default_rng(0).gamma(1.0, 2.0, (500, 1))
    grades = np.clip(np.round(size + np.random.default_rng(1).normal(size=(500, 9))), 1, 10)
    assert len(np.unique(grades, axis=0)) < 480
    assert not are_copies(grades)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_counts_of_many_words_are_copies_and_those_of_few_are_not(container):
    rng = np.random.default_rng(0)
    assert are_copies(container(np.repeat(rng.poisson(0.5, (100, 60)), 2, axis=0).astype(float)))
    assert not are_copies(container(rng.poisson(0.1, (100, 8)).astype(float)))


def amounts(n, zeros, seed=0):
    """A column of amounts, of which so many are zero."""
    rng = np.random.default_rng(seed)
    return np.where(np.arange(n) < zeros, 0.0, rng.lognormal(size=n))[:, np.newaxis]


def dealt_to_five(X, y, weights=None):
    table = read_table(X)
    return deal_by_content(y, weights, RowKeys.of(table, range(table.n_columns)), 5)


@pytest.mark.parametrize("zeros", [20, 100, 400])
def test_a_value_that_repeats_beyond_all_others_is_dealt_to_all_folds(zeros):
    X, y = amounts(500, zeros), np.zeros(500, dtype=np.intp)
    dealt = dealt_to_five(X, y)
    assert dealt.weights is None
    assert np.bincount(dealt.fold[:zeros], minlength=5).min() > 0
    assert np.ptp(np.bincount(dealt.fold)) <= 1


@pytest.mark.parametrize("times", [2, 3])
def test_weights_and_copies_are_dealt_alike_where_a_value_repeats(times):
    X, y = amounts(300, 60), np.arange(300) % 2
    each = np.full(300, times)
    each[-30:] += 1
    copies = np.repeat(np.arange(300), each)
    weighted, copied = dealt_to_five(X, y, each.astype(float)), dealt_to_five(X[copies], y[copies])
    found, expected = np.zeros((300, 5)), np.zeros((300, 5))
    np.add.at(found, (weighted.rows, weighted.fold), weighted.weights)
    of_parts = 1.0 if copied.weights is None else copied.weights
    np.add.at(expected, (copies[copied.rows], copied.fold), of_parts)
    np.testing.assert_allclose(found[60:], expected[60:])
    zeros = np.arange(300) < 60
    for code in (0, 1):
        some = zeros & (y == code)
        np.testing.assert_allclose(found[some].sum(axis=0), expected[some].sum(axis=0))
    assert (np.count_nonzero(found[60:], axis=1) == 1).all()


@pytest.mark.parametrize("values", [[1e308, -1e308], [1e-320, 2e-320], [0.0, 5e-324], [np.nan, 1.0]])
def test_extreme_numbers_are_told_apart(values):
    cells = np.concatenate([np.resize(values, 40), np.arange(40.0)])[:, np.newaxis]
    assert isinstance(are_copies(cells), bool)


def test_copies_come_to_one_fold_and_folds_have_as_many_different_rows():
    X, y = numbers(), np.arange(200) % 2
    copies = np.random.default_rng(0).integers(0, 200, 1000)
    table = read_table(X[copies])
    dealt = deal_by_content(y[copies], None, RowKeys.of(table, range(3)), 5)
    folds = np.zeros((200, 5))
    folds[copies, dealt.fold] = 1.0
    assert (folds.sum(axis=1) <= 1.0).all()
    assert np.ptp(folds.sum(axis=0)) <= 1.0


@pytest.mark.parametrize("estimator", [BayesClassifier, EvidenceClassifier])
@pytest.mark.parametrize("weight", [2.0, 10.0, 1e5])
def test_weights_of_all_rows_do_not_make_a_model_surer_than_it_may_be(estimator, weight):
    """With its copies in other folds, a row seems to be foreseen; the loss of new rows would be above 0.7."""
    rng = np.random.default_rng(1)
    y, new_y = rng.integers(0, 2, 300), rng.integers(0, 2, 3000)
    X, new = (rng.normal(size=(len(t), 5)) + 0.5 * t[:, np.newaxis] for t in (y, new_y))
    model = estimator().fit(X, y, sample_weight=np.full(300, weight))
    once = estimator().fit(X, y)
    assert log_loss(new_y, model.predict_proba(new)) < log_loss(new_y, once.predict_proba(new)) + 0.02


def test_the_loss_of_held_out_rows_is_that_of_new_rows_where_rows_are_repeated():
    rng = np.random.default_rng(2)
    y, new_y = rng.integers(0, 2, 400), rng.integers(0, 2, 3000)
    X, new = (rng.normal(size=(len(t), 4)) + 0.7 * t[:, np.newaxis] for t in (y, new_y))
    model = EvidenceClassifier().fit(np.tile(X, (3, 1)), np.tile(y, 3))
    assert model.weights_.levels[-1].loss == pytest.approx(
        log_loss(new_y, model.predict_proba(new)), abs=0.06
    )


@pytest.mark.parametrize("weight", [200.0, 1e4])
@pytest.mark.parametrize("uneven", [False, True])
def test_copies_of_rows_show_no_more_than_the_rows(weight, uneven):
    """As so many independent rows, they would outweigh every penalty: the loss of new rows would be 0.4."""
    rng = np.random.default_rng(0)
    X, y = load_breast_cancer(return_X_y=True)
    rows = rng.permutation(len(y))
    some, new = rows[:284], rows[284:]
    weights = weight * (rng.uniform(0.5, 1.5, 284) if uneven else np.ones(284))
    model = EvidenceClassifier().fit(X[some], y[some], weights)
    loss = log_loss(y[new], model.predict_proba(X[new]))
    assert loss < log_loss(y[new], EvidenceClassifier().fit(X[some], y[some]).predict_proba(X[new])) + 0.02
    assert loss < model.weights_.loss + 0.02


def test_the_part_of_a_weight_that_is_independent():
    X, codes = numbers(), np.arange(200) % 2
    table = read_table(X)
    keys = RowKeys.of(table, range(table.n_columns))
    assert deal_by_content(codes, None, keys, 5).independent == 1.0
    assert deal_by_content(codes, np.full(200, 0.5), keys, 5).independent == 1.0
    assert deal_by_content(codes, np.full(200, 8.0), keys, 5).independent == pytest.approx(1 / 8)
    uneven = np.where(np.arange(200) < 100, 1.0, 3.0)  # as 160 rows of equal weight, of 400 in all
    assert deal_by_content(codes, uneven, keys, 5).independent == pytest.approx(160 / 400)
    levels = pd.DataFrame({"a": np.array([*"abcd"])[np.arange(200) % 4]})
    keys = RowKeys.of(read_table(levels), range(1))
    assert deal_by_content(codes, np.full(200, 8.0), keys, 5).independent == 1.0
