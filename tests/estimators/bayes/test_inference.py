"""Families are inferred from dtype and values, with a reason."""

import datetime as dt
from copy import copy

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import BayesClassifier
from suffice.families import Bernoulli, Categorical, Gamma, LogNormal, Normal, Poisson, Words

RNG = np.random.default_rng(7)
N = 400
Y = RNG.integers(0, 2, N)


def column_of(values, y=None, name="x"):
    frame = pd.DataFrame({name: values})
    y = Y[: len(frame)] if y is None else y
    return BayesClassifier().fit(frame, y).schema_[name]


CASES = {
    "strings": (RNG.choice(["red", "green", "blue"], N), Categorical),
    "strings as objects": (RNG.choice(["red", "green"], N).astype(object), Categorical),
    "categoricals": (pd.Categorical(RNG.choice(["red", "green"], N)), Categorical),
    "categorical numbers": (pd.Categorical(RNG.integers(0, 5, N)), Categorical),
    "ordered categoricals": (pd.Categorical(RNG.choice(["lo", "hi"], N), ordered=True), Categorical),
    "one category": (np.full(N, "red"), Categorical),
    "booleans": (RNG.random(N) < 0.5, Bernoulli),
    "nullable booleans": (pd.array([True, None, False, True] * 100, dtype="boolean"), Bernoulli),
    "zeros and ones": (RNG.integers(0, 2, N), Bernoulli),
    "zeros and ones with gaps": (np.where(RNG.random(N) < 0.1, np.nan, RNG.integers(0, 2, N)), Bernoulli),
    "only zeros": (np.zeros(N, dtype=int), Bernoulli),
    "Poisson counts": (RNG.poisson(3.0 + 4.0 * Y), Poisson),
    "large Poisson counts": (RNG.poisson(40.0 + 30.0 * Y), Poisson),
    "codes": (np.where(RNG.random(N) < 0.7, np.array([1, 3])[Y], RNG.choice([2, 7, 9], N)), Categorical),
    "negative codes": (np.where(RNG.random(N) < 0.7, np.array([-1, 7])[Y], 3), Categorical),
    "ages": (np.clip(RNG.normal(40 + 8 * Y, 15), 0, 99).astype(int), Normal),
    "years": (RNG.normal(1990, 14, N).astype(int), Normal),
    "negative integers": (RNG.normal(0, 50, N).astype(int), Normal),
    "numbers": (RNG.normal(0, 1, N), Normal),
    "positive numbers without skew": (RNG.normal(100, 3, N), Normal),
    "log-normal": (np.exp(RNG.normal(Y, 1.0)), LogNormal),
    "gamma": (RNG.gamma(0.8 + 0.2 * Y, 3.0), Gamma),
    "skewed but with a negative": (np.append(np.exp(RNG.normal(size=N - 1)), -1.0), Normal),
    "skewed but with a zero": (np.append(np.exp(RNG.normal(size=N - 1)), 0.0), Normal),
    "moments": (pd.date_range("2024-01-01", periods=N, freq="h"), Normal),
    "moments with a zone": (pd.date_range("2024-01-01", periods=N, freq="h", tz="Europe/Rome"), Normal),
    "dates": ([dt.date(2024, 1, 1) + dt.timedelta(days=int(v)) for v in RNG.integers(0, 99, N)], Normal),
    "times": ([dt.time(int(v)) for v in RNG.integers(0, 24, N)], Normal),
    "durations": (pd.to_timedelta(RNG.integers(0, 9999, N), unit="s"), Normal),
    "a constant number": (np.full(N, 3.5), Normal),
}


@pytest.mark.parametrize("case", CASES)
def test_a_column_gets_the_family_of_its_kind(case):
    values, family = CASES[case]
    column = column_of(values)
    assert type(column.family) is family, column
    assert column.reason


@pytest.mark.parametrize("value", [3, 3.5, -2, "red", 1e9])
def test_a_constant_column_changes_nothing(value):
    x = RNG.normal(size=60) + 2 * Y[:60]
    frame = pd.DataFrame({"x": x, "same": [value] * 60})
    model = BayesClassifier().fit(frame, Y[:60])
    alone = BayesClassifier().fit(frame[["x"]], Y[:60])
    np.testing.assert_allclose(model.predict_proba(frame), alone.predict_proba(frame[["x"]]), atol=1e-12)


@pytest.mark.parametrize("value", [3.5, -2.25, 1e9, 7, "red", True, 0])
def test_a_constant_column_has_no_parameters(value):
    x = RNG.normal(size=60) + 2 * Y[:60]
    frame = pd.DataFrame({"x": x, "same": [value] * 60})
    model = BayesClassifier().fit(frame, Y[:60])
    assert model.n_parameters_ == BayesClassifier().fit(frame[["x"]], Y[:60]).n_parameters_


IDENTIFIERS = {
    "numbers in a row": lambda n: np.arange(n) + 1000,
    "shuffled numbers": lambda n: np.random.default_rng(0).permutation(n),
    "text": lambda n: np.array([f"customer-{i}" for i in range(n)]),
    "uuids": lambda n: np.array([f"{i * 2654435761 % 2**32:08x}" for i in range(n)]),
}


@pytest.mark.parametrize("case", IDENTIFIERS)
def test_an_identifier_is_left_out_from_fifty_rows_on(case):
    for n, left_out in ((49, False), (50, True), (300, True)):
        column = column_of(IDENTIFIERS[case](n))
        assert (column.family is None) == left_out, column
        assert ("identifier" in column.reason) == left_out
        assert not column.undecided


def test_sparse_numbers_called_an_id_are_an_identifier():
    values = np.unique(np.random.default_rng(0).integers(0, 10**9, 200))
    assert column_of(values, name="customer_id").family is None
    assert column_of(values, name="income").family is not None


def test_distinct_measurements_are_no_identifier():
    assert type(column_of(RNG.normal(size=200)).family) is Normal
    assert type(column_of(pd.date_range("2024-01-01", periods=200, freq="h")).family) is Normal


def test_an_identifier_with_gaps_is_still_one():
    values = [None if i % 5 == 0 else f"c{i}" for i in range(100)]
    assert column_of(values).family is None


def test_free_text_is_words_and_said_so():
    words = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog"]
    texts = [" ".join(RNG.choice(words, 9)) for _ in range(80)]
    column = column_of(texts)
    assert column.family == Words()
    assert "text" in column.reason


def test_a_few_short_texts_are_categories():
    assert column_of(["New York", "San Francisco"] * 30).family == Categorical()


def test_a_column_left_out_does_not_change_the_model(table, labels):
    wider = table.assign(key=[f"k{i}" for i in range(len(table))])
    model = BayesClassifier().fit(wider, labels)
    narrow = BayesClassifier().fit(table, labels)
    assert model.schema_["key"].family is None
    assert np.array_equal(model.predict_proba(wider), narrow.predict_proba(table))
    assert model.n_parameters_ == narrow.n_parameters_


def test_plain_arrays_are_normal_whatever_they_hold():
    for X in (RNG.poisson(3, (60, 2)), RNG.normal(size=(60, 2)), np.arange(120).reshape(60, 2)):
        assert [c.family for c in BayesClassifier().fit(X, Y[:60]).schema_] == [Normal(), Normal()]


def test_plain_arrays_of_booleans_are_bernoulli():
    schema = BayesClassifier().fit(RNG.random((60, 2)) < 0.5, Y[:60]).schema_
    assert [c.family for c in schema] == [Bernoulli(), Bernoulli()]


NOTHING = {
    "object": lambda n: pd.DataFrame({"x": np.arange(n) / 7, "late": [None] * n}),
    "float": lambda n: pd.DataFrame({"x": np.arange(n) / 7, "late": [np.nan] * n}),
    "Int64": lambda n: pd.DataFrame({"x": np.arange(n) / 7, "late": pd.array([None] * n, dtype="Int64")}),
    "string": lambda n: pd.DataFrame({"x": np.arange(n) / 7, "late": pd.array([None] * n, dtype="string")}),
    "polars null": lambda n: pl.DataFrame({"x": np.arange(n) / 7, "late": [None] * n}),
    "arrow null": lambda n: pa.table({"x": np.arange(n) / 7, "late": pa.nulls(n)}),
}


@pytest.mark.parametrize("case", NOTHING)
def test_an_all_missing_column_waits_for_its_first_value(case):
    empty = NOTHING[case](20)
    y = Y[:20]
    model = BayesClassifier().fit(empty, y)
    column = model.schema_["late"]
    assert column.undecided
    assert column.family is None
    assert model.predict_proba(empty).shape == (20, 2)
    later = pd.DataFrame({"x": np.arange(20) / 5, "late": ["yes", "no"] * 10})
    model.partial_fit(later, y)
    assert model.schema_["late"].family == Categorical()
    assert not model.schema_["late"].undecided


def test_a_column_decided_late_equals_one_decided_at_once():
    X = pd.DataFrame({"x": RNG.normal(size=80), "late": [None] * 40 + ["yes", "no", "yes", "yes"] * 10})
    y = Y[:80]
    whole = BayesClassifier(families={"x": Normal(), "late": Categorical()}).fit(X, y)
    parts = BayesClassifier(evidence_weight=1.0).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    assert parts.schema_["late"].family == Categorical()
    assert parts.statistics_.isclose(whole.statistics_, rtol=1e-12)
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-12)


def test_numbers_that_come_late_join_the_columns_of_their_family():
    X = pd.DataFrame({"a": RNG.normal(size=80), "late": np.append(np.full(40, np.nan), RNG.normal(size=40))})
    y = Y[:80]
    model = BayesClassifier(evidence_weight=1.0)
    whole = copy(model).fit(X, y)
    parts = copy(model).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    assert np.isclose(parts.log_likelihood_, whole.log_likelihood_, rtol=1e-10)


def test_an_undecided_column_fits_any_family_when_merging():
    X = pd.DataFrame({"x": RNG.normal(size=80), "late": [None] * 40 + ["yes", "no", "yes", "yes"] * 10})
    y = Y[:80]
    model = BayesClassifier(evidence_weight=1.0)
    first, second = copy(model).fit(X[:40], y[:40]), copy(model).fit(X[40:], y[40:])
    whole = copy(model).fit(X, y)
    for merged in (first + second, second + first):
        assert merged.schema_["late"].family == Categorical()
        np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), atol=1e-10)


def test_cells_of_an_undecided_column_are_ignored_at_predict():
    X = pd.DataFrame({"x": RNG.normal(size=30), "late": [None] * 30})
    model = BayesClassifier().fit(X, Y[:30])
    later = X.assign(late="surprise")
    assert np.array_equal(model.predict_proba(later), model.predict_proba(X))


def test_the_schema_prints_a_table_with_every_column_family_and_reason(table, labels):
    schema = BayesClassifier().fit(table, labels).schema_
    text = repr(schema)
    for column in schema:
        assert str(column.name) in text
        assert repr(column.family) in text
        assert column.reason in text
    assert "<table" in schema._repr_html_()


def test_only_the_first_rows_decide_the_schema():
    first = pd.DataFrame({"x": [0, 1, 0, 1]})
    model = BayesClassifier().partial_fit(first, [0, 1, 0, 1])
    assert model.schema_["x"].family == Bernoulli()
    with pytest.raises(ValueError, match=r"'x'.*7"):
        model.partial_fit(pd.DataFrame({"x": [7]}), [0])


def test_long_whole_numbers_that_hardly_repeat_are_an_identifier():
    rng = np.random.default_rng(0)
    ids = 2**60 + rng.integers(0, 10**12, 400)
    column = BayesClassifier().fit(pd.DataFrame({"x": ids}), np.arange(400) % 2).schema_["x"]
    assert column.family is None
    assert "identifier" in column.reason
    distances = ids.astype(float) * 1e6
    assert BayesClassifier().fit(pd.DataFrame({"x": distances}), np.arange(400) % 2).schema_["x"].family
