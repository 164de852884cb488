"""Periods of pandas are moments; dates in Polars' Object columns come back as dates."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import suffice
from suffice.tables.table import read_table

from .cells import decoded, one

FREQUENCIES = ["Y", "Q", "M", "2M", "W", "D", "h", "min", "s"]
CLASSES = ["a", "b"] * 30


def periods(freq):
    return pd.Series(pd.period_range("2020-03-01", periods=60, freq=freq))


@pytest.mark.parametrize("freq", FREQUENCIES)
def test_a_period_is_the_moment_at_which_it_starts(freq):
    cells = periods(freq)
    cells[3] = pd.NaT
    for column in (cells, cells.astype(object)):
        table = one(column)
        assert table.kind(0) == "moment"
        assert_array_equal(table.numbers([0]), one(cells.dt.to_timestamp()).numbers([0]))
        assert decoded(table) == [None if cell is pd.NaT else str(cell) for cell in cells]


@pytest.mark.parametrize("freq", FREQUENCIES)
@pytest.mark.parametrize("family", ["normal", "categorical"])
def test_periods_are_sampled_as_periods(freq, family):
    frame = pd.DataFrame({"when": periods(freq), "x": np.arange(60.0)})
    model = suffice.BayesClassifier({"when": family}).fit(frame, CLASSES)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    for one_model in (model, suffice.load(file)):
        sampled, _ = one_model.sample(50, random_state=0, missing=True)
        assert sampled["when"].dtype == frame["when"].dtype
        if family == "categorical":
            assert set(sampled["when"]) <= set(frame["when"])
        assert np.isfinite(one_model.predict_proba(sampled)).all()


def test_periods_are_not_left_out_but_read_like_datetimes():
    frame = pd.DataFrame({"when": periods("D")})
    model = suffice.BayesClassifier().fit(frame, CLASSES)
    assert model.schema_["when"].reason == "a moment, in seconds; families are compared from 100 rows"
    moments = suffice.BayesClassifier().fit(frame.assign(when=frame["when"].dt.to_timestamp()), CLASSES)
    assert model.statistics_ == moments.statistics_


def test_periods_in_objects_come_back_as_datetimes():
    cells = np.array([*periods("M"), None], dtype=object)[:, np.newaxis]
    model = suffice.BayesClassifier().fit(cells, [*CLASSES, "a"])
    assert model.schema_[0].reason == "a moment, in seconds; families are compared from 100 rows"
    assert {type(cell) for cell in model.sample(9, random_state=0)[0].ravel()} == {dt.datetime}


def test_periods_of_different_lengths_are_levels():
    cells = np.array([pd.Period("2020", "Y"), pd.Period("2020-01", "M")], dtype=object)[:, np.newaxis]
    assert read_table(cells).kind(0) == "level"
    assert decoded(read_table(cells)) == ["2020", "2020-01"]


@pytest.mark.parametrize(
    "cells, cls",
    [
        ([dt.date(2024, 1, day % 28 + 1) for day in range(60)], dt.date),
        ([dt.datetime(2024, 1, 1, day % 24) for day in range(60)], dt.datetime),  # noqa: DTZ001
        ([dt.timedelta(hours=hour) for hour in range(60)], dt.timedelta),
        ([dt.time(hour % 24) for hour in range(60)], dt.time),
        ([2**70 + i % 3 for i in range(60)], int),
        (["a", "b", "c"] * 20, str),
    ],
)
def test_objects_of_polars_come_back_as_they_were(cells, cls):
    frame = pl.DataFrame({"c": pl.Series(cells, dtype=pl.Object)})
    sampled, _ = suffice.BayesClassifier().fit(frame, CLASSES).sample(20, random_state=0)
    assert sampled.schema == {"c": pl.Object}
    assert set(map(type, sampled["c"].to_list())) == {cls}
