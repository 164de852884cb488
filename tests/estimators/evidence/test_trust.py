"""How much of what was learnt counts."""

import math

import numpy as np
import pytest

from suffice.estimators.evidence.trust import trust
from suffice.links import logistic
from suffice.model.weighing.known_rows import KnownRows

MARGIN = 60.0
NONE = np.zeros(2)


def two_classes(n, *, wrong=0):
    """Rows of two classes, and scores that tell all of them but some, by the same margin."""
    codes = np.arange(n) % 2
    towards = np.where(np.arange(n) < wrong, 1 - codes, codes)
    return KnownRows(codes, np.ones(n), 2), MARGIN * np.eye(2)[towards]


def posterior_of_an_error(rows, added):
    return logistic(-MARGIN * trust(rows, added, NONE))


@pytest.mark.parametrize("n", [40, 200, 5000])
def test_rows_without_an_error_leave_half_of_one_as_far_as_errors_are_possible(n):
    chance = math.prod((i - 0.5) / i for i in range(1, n + 1))  # of n right rows, by Krichevsky and Trofimov
    error = 0.5 * chance / (1.0 + chance)
    assert posterior_of_an_error(*two_classes(n)) == pytest.approx(error / (n + 2.0 * error), rel=1e-6)


@pytest.mark.parametrize("wrong", [2, 10])
def test_one_more_row_is_half_an_error_once_errors_are_seen(wrong):
    found = posterior_of_an_error(*two_classes(200, wrong=wrong))
    assert found == pytest.approx((wrong + 0.5) / 201.0, rel=1e-6)


@pytest.mark.parametrize("wrong", [0, 4])
def test_a_row_of_weight_three_counts_as_three(wrong):
    rows, added = two_classes(60, wrong=wrong)
    heavy = KnownRows(rows.codes, np.full(60, 3.0), 2)
    copies = KnownRows(np.repeat(rows.codes, 3), np.ones(180), 2)
    found = trust(heavy, added, NONE)
    assert found == pytest.approx(trust(copies, np.repeat(added, 3, axis=0), NONE), rel=1e-9)
    assert found > trust(rows, added, NONE)


def test_what_gains_nothing_does_not_count():
    rows, added = two_classes(60, wrong=30)
    assert trust(rows, added, NONE) == 0.0


def test_rows_that_could_not_be_held_out_are_told_as_often_as_they_come():
    rows = KnownRows(np.zeros(100, dtype=np.intp), np.ones(100), 2)
    added = MARGIN * np.eye(2)[np.zeros(100, dtype=np.intp)]
    counts = np.array([100.5, 10.5])
    share = trust(rows, added, np.array([0.0, 10.0]))
    posterior = logistic(np.log(counts[1] / counts[0]) - MARGIN * share)
    drawn = 0.5 / (1.0 - np.sum((counts / 111.0) ** 2))
    expected = (10.0 + drawn * counts[1] / 111.0) / (110.0 + drawn)
    assert posterior == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n_rare", [100, 20, 4])
def test_about_half_an_error_is_expected_beyond_those_seen_however_rare_a_class_is(n_rare):
    codes = (np.arange(200) < n_rare).astype(np.intp)
    told = codes.copy()
    told[0] = 0  # one is told as the other class
    rows, added = KnownRows(codes, np.ones(200), 2), MARGIN * np.eye(2)[told]
    share = trust(rows, added, NONE)
    counts = np.bincount(codes) + 0.5
    log_odds = np.log(counts[1] / counts[0]) + MARGIN * share * np.array([-1.0, 1.0])
    chance_of_error = np.array([logistic(log_odds[0]), logistic(-log_odds[1])])
    shares, told_as = counts / counts.sum(), np.bincount(told) / 200.0
    drawn = 0.5 / (1.0 - np.sum(shares**2))
    errors = drawn * np.sum(told_as * shares[::-1])
    assert errors == pytest.approx(0.5, abs=0.1)
    assert (200.0 + drawn) * chance_of_error[told].mean() == pytest.approx(1.0 + errors, rel=1e-6)
