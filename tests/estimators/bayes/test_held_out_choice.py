"""Families of numbers are chosen by how well they tell the classes apart on rows held out."""

import re

import numpy as np
import pandas as pd
import pytest

from suffice import BayesClassifier
from suffice.factors.levels import joining
from suffice.factors.levels.fine_cells import SortedColumn
from suffice.families import (
    Beta,
    Categorical,
    Gamma,
    Geometric,
    Hurdle,
    LogNormal,
    NegativeBinomial,
    Normal,
    Steps,
)
from suffice.model.inference import column_losses
from suffice.tables import columns

N = 1000
Y = np.random.default_rng(0).integers(0, 2, N)


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def column_of(values, y=Y):
    return BayesClassifier().fit(pd.DataFrame({"x": values}), y).schema_["x"]


def log_loss(values, y, families):
    rows = pd.DataFrame({"x": values})
    half = len(y) // 2
    model = BayesClassifier(families).fit(rows[:half], y[:half])
    return -model.predict_log_proba(rows[half:])[np.arange(len(y) - half), y[half:]].mean()


def amounts(rng, y):
    """Mostly zeros, and a heavy tail."""
    return np.where(rng.random(len(y)) < 0.9 - 0.2 * y, 0.0, rng.lognormal(8 + y, 1.0, size=len(y)))


def test_amounts_with_many_zeros_are_not_normal(rng):
    assert column_of(amounts(rng, Y)).family == Hurdle(LogNormal())


def test_whole_amounts_with_a_heavy_tail_are_log_normal(rng):
    assert column_of(np.ceil(rng.lognormal(6 + Y, 1.0)).astype(int)).family == LogNormal()


def test_one_zero_does_not_make_skewed_numbers_normal(rng):
    values = rng.lognormal(1.5 * Y, 1.5)
    values[0] = 0.0
    assert column_of(values).family == Steps()


def test_floats_of_few_values_may_be_categories(rng):
    values = np.where(rng.random(N) < 0.7, np.array([0.25, 0.75])[Y], rng.choice([0.0, 0.5, 1.0], N))
    assert column_of(values).family == Categorical()


def test_shares_are_beta(rng):
    assert column_of(rng.beta(0.5 + Y, 0.5, N)).family == Beta()


def test_waiting_times_are_geometric(rng):
    assert column_of(rng.geometric(0.05 + 0.2 * Y) - 1).family == Geometric()


def test_counts_that_vary_more_than_poisson_are_negative_binomial(rng):
    family = column_of(rng.negative_binomial(4, 4 / (4 + 5.0 + 15.0 * Y))).family
    assert isinstance(family, NegativeBinomial)
    assert family.r == 4.0


def test_equal_variances_are_shared_and_others_are_not(rng):
    assert column_of(rng.normal(Y, 1.0)).family == Normal("shared")
    assert column_of(rng.normal(0.0, 1.0 + 2.0 * Y)).family == Normal()


def test_what_separates_decides_not_what_describes(rng):
    # The classes differ in a narrow band only: Normal describes both about as well.
    values = rng.normal(size=N)
    values[Y == 1] = np.where(
        rng.random((Y == 1).sum()) < 0.5, 0.3 + 0.02 * rng.random((Y == 1).sum()), values[Y == 1]
    )
    assert column_of(values).family == Steps()


@pytest.mark.parametrize("seed", range(5))
def test_numbers_that_tell_nothing_are_not_steps(seed):
    rng = np.random.default_rng(seed)
    assert isinstance(column_of(rng.normal(5.0, 1.0, N)).family, (Normal, LogNormal, Gamma))


def test_the_reason_gives_the_nats_that_the_column_is_worth(rng):
    values = rng.normal(3.0 * Y, 1.0)
    column = column_of(values)
    nats = float(re.fullmatch(r"numbers: (\d\.\d{3}) nats a row", column.reason)[1])
    share = Y.mean()
    without = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    model = BayesClassifier({"x": column.family}).fit(pd.DataFrame({"x": values}), Y)
    fitted = -model.predict_log_proba(pd.DataFrame({"x": values}))[np.arange(N), Y].mean()
    assert nats == pytest.approx(without - fitted, abs=0.01)


def test_a_column_that_tells_nothing_is_worth_nothing(rng):
    assert re.search(r": -?0\.00\d nats a row$", column_of(rng.normal(size=N)).reason)


def test_families_are_compared_from_a_hundred_rows_and_the_reason_says_so(rng):
    values = rng.lognormal(2.0 * Y, 1.0)
    few, enough = (column_of(values[:n], Y[:n]) for n in (99, 100))
    assert few.family == Normal()
    assert few.reason == "numbers; families are compared from 100 rows"
    assert enough.family == LogNormal()
    assert enough.reason.endswith("nats a row")


@pytest.mark.parametrize(
    "make",
    [
        amounts,
        lambda rng, y: np.clip(rng.normal(40 + 8 * y, 15), 17, 90).astype(int),
        lambda rng, y: rng.integers(0, 60 + 10 * y),
        lambda rng, y: rng.poisson(3.0 + y),
        lambda rng, y: np.round(rng.lognormal(3 + y, 1.0), 1),
    ],
    ids=["amounts", "ages", "wide whole numbers", "counts", "rounded"],
)
def test_more_rows_never_make_the_chosen_family_worse(make):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 16_000)
    values = make(rng, y).astype(np.float64)
    test = slice(8000, None)
    losses = []
    for n in (300, 1000, 3000, 8000):
        model = BayesClassifier().fit(pd.DataFrame({"x": values[:n]}), y[:n])
        rows = pd.DataFrame({"x": values[test]})
        losses.append(-model.predict_log_proba(rows)[np.arange(8000), y[test]].mean())
    assert np.diff(losses).max() < 0.01


def test_noise_of_few_values_seems_worth_no_more_than_it_is():
    nats = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        noise = pd.DataFrame({"x": rng.choice(list("abcdefghij"), 200)})
        nats.append(BayesClassifier().fit(noise, rng.integers(0, 2, 200)).feature_importances_[0])
    assert np.mean(nats) < -2.0 * np.std(nats) / np.sqrt(len(nats))


def test_the_choice_is_as_good_as_normal_on_rows_held_out(rng):
    y = rng.integers(0, 2, 4000)
    values = amounts(rng, y)
    with pytest.warns(UserWarning, match="Column 'x' is most to blame"):
        normal = log_loss(values, y, Normal())
    assert log_loss(values, y, "infer") < normal - 0.1


def test_rows_in_any_container_have_the_same_families(rng):
    table = {"a": rng.normal(Y), "b": rng.poisson(3 + Y), "c": np.round(rng.gamma(1.0 + Y), 2)}
    frame = BayesClassifier().fit(pd.DataFrame(table), Y).schema_
    assert list(BayesClassifier().fit(table, Y).schema_) == list(frame)


def test_families_of_the_same_sums_are_summed_once_for_all_columns(rng, monkeypatch):
    calls = []
    whole = column_losses.ColumnLosses.of

    def counted(self, families, numbers):
        calls.append((families, numbers.shape[1]))
        return whole(self, families, numbers)

    monkeypatch.setattr(column_losses.ColumnLosses, "of", counted)
    BayesClassifier().fit(
        pd.DataFrame(rng.normal(size=(200, 40)), columns=[f"c{j}" for j in range(40)]), Y[:200]
    )
    assert calls == [([Normal("shared"), Normal()], 40), ([Steps()], 40)]


def test_a_column_is_sorted_and_encoded_once_for_all_folds(rng, monkeypatch):
    sorted_once, encoded = SortedColumn.of, columns.ArrayColumn.levels
    calls = {"sorted": 0, "encoded": 0}

    def counted(name, function):
        def call(*arguments):
            calls[name] += 1
            return function(*arguments)

        return call

    monkeypatch.setattr(SortedColumn, "of", counted("sorted", sorted_once))
    monkeypatch.setattr(columns.ArrayColumn, "levels", counted("encoded", encoded))
    numbers = {f"c{j}": rng.normal(size=N) for j in range(4)} | {"few": rng.choice([0.5, 1.5, 2.5], N)}
    model = BayesClassifier().fit(pd.DataFrame(numbers), Y)
    assert Steps() not in [column.family for column in model.schema_]
    assert calls["sorted"] == 4
    assert calls["encoded"] == 2  # to choose a family; to weigh the evidence and to sum


def test_the_cells_of_all_columns_and_folds_are_joined_at_the_same_time(rng, monkeypatch):
    calls = []
    whole = joining.description_length

    def counted(counts):
        calls.append(counts.shape)
        return whole(counts)

    monkeypatch.setattr(joining, "description_length", counted)
    BayesClassifier().fit(pd.DataFrame(rng.normal(size=(N, 30))).add_prefix("c"), Y)
    once = joining.MOST_CELLS + 1  # cells, pairs, and the pairs of each cell that grows
    assert len(calls) == once


def test_no_more_than_twenty_thousand_rows_are_compared(monkeypatch):
    sizes = []
    whole = column_losses.ColumnLosses.of

    def sized(self, families, numbers):
        sizes.append(len(numbers))
        return whole(self, families, numbers)

    monkeypatch.setattr(column_losses.ColumnLosses, "of", sized)
    y = np.arange(50_001) % 2
    BayesClassifier().fit(pd.DataFrame({"x": np.random.default_rng(0).normal(y)}), y)
    assert set(sizes) == {20_000}


def test_a_value_that_was_not_compared_is_in_the_support():
    y = np.arange(50_001) % 2
    values = np.random.default_rng(0).lognormal(y)
    values[1] = 0.0  # a row that is not among those compared
    model = BayesClassifier().fit(pd.DataFrame({"x": values}), y)
    assert model.schema_["x"].family not in (LogNormal(), Gamma())


def test_weights_count_in_the_choice(rng):
    # Rows of hardly any weight, which alone are far out, do not decide.
    values = rng.normal(Y, 1.0)
    outliers = np.append(values, rng.normal(0.0, 1e6, 50))
    y = np.append(Y, rng.integers(0, 2, 50))
    frame, weights = pd.DataFrame({"x": outliers}), np.append(np.ones(N), np.full(50, 1e-12))
    column = BayesClassifier().fit(frame, y, sample_weight=weights).schema_["x"]
    assert float(column.reason.split(": ")[1].split()[0]) > 0.05
