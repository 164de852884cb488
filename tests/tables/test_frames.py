"""Columns of frames read alike, whatever library and type holds them."""

import datetime as dt
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from suffice.tables.parts import rows_of_arrow
from suffice.tables.recognized import is_frame
from suffice.tables.table import read_table

from .cells import decoded, one


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3, None], dtype="Int64"),
        pd.Series([3, None], dtype="UInt8"),
        pd.Series([3, None], dtype="Float32"),
        pd.Series([3, None], dtype="int32[pyarrow]"),
        pl.Series([3, None], dtype=pl.UInt16),
        pl.Series([3, None], dtype=pl.Int128),
        pl.Series([Decimal(3), None]),
        pa.array([3, None], pa.int8()),
        pa.array([3, None], pa.float16()),
        pa.array([Decimal(3), None], pa.decimal256(40, 2)),
        pa.chunked_array([[3], [None]]),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_a_nullable_number_column_reads_as_numbers_with_nan(column):
    table = one(column)
    assert table.kind(0) == "number"
    assert_array_equal(table.numbers([0]), [[3], [np.nan]])
    assert decoded(table) == [3, None]


def test_null_and_nan_of_a_float_column_are_both_missing():
    for column in (pl.Series([1.0, None, np.nan]), pa.array([1.0, None, np.nan])):
        assert_array_equal(one(column).numbers([0])[:, 0], [1, np.nan, np.nan])
        assert decoded(one(column)) == [1, None, None]


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_float32_stay_float32_unless_joined_by_float64(container):
    table = read_table(container({"a": np.ones(2, np.float32), "b": np.ones(2, np.float32), "c": np.ones(2)}))
    assert table.numbers([0, 1]).dtype == np.float32
    assert table.numbers([0, 2]).dtype == np.float64


def test_a_pandas_frame_of_one_block_is_not_copied():
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])
    table = read_table(frame)
    assert np.shares_memory(table.numbers(slice(None)), frame.to_numpy())
    assert table.array is None


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None, "b", "a"]),
        pd.Series(["a", None, "b", "a"], dtype=object),
        pd.Series(["a", None, "b", "a"], dtype="string[python]"),
        pd.Series(["a", None, "b", "a"], dtype=pd.ArrowDtype(pa.large_string())),
        pd.Series(["a", None, "b", "a"], dtype=pd.CategoricalDtype(["z", "b", "a"])),
        pd.Series(["a", None, "b", "a"], dtype=pd.CategoricalDtype(["z", "b", "a"], ordered=True)),
        pl.Series(["a", None, "b", "a"]),
        pl.Series(["a", None, "b", "a"], dtype=pl.Categorical),
        pl.Series(["a", None, "b", "a"], dtype=pl.Enum(["z", "b", "a"])),
        pl.Series([b"a", None, b"b", b"a"]),
        pa.array(["a", None, "b", "a"]),
        pa.array(["a", None, "b", "a"], pa.large_string()),
        pa.array(["a", None, "b", "a"], pa.string_view()),
        pa.array(["a", None, "b", "a"]).dictionary_encode(),
        pa.chunked_array(
            [pa.array(["a", None]).dictionary_encode(), pa.array(["b", "a"]).dictionary_encode()]
        ),
        pa.chunked_array([pa.array(["a", None]), pa.array(["b"]), pa.array(["a"])]),
        pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 0], pa.uint8()), pa.array(["a", "b", None, "z"])),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_text_reads_as_the_levels_that_occur(column):
    table = one(column)
    assert table.kind(0) == "level"
    assert decoded(table) == ["a", None, "b", "a"]
    assert table.levels(0).values == ["a", "b"]


def test_numeric_categories_and_intervals_are_plain_values():
    assert decoded(one(pd.Series([2, None, 1], dtype="category"))) == [2, None, 1]
    assert decoded(one(pa.array([2.0, None, 1.5]).dictionary_encode())) == [2, None, 1.5]
    assert decoded(one(pd.cut(pd.Series([1, 9]), [0, 5, 10]))) == ["(0, 5]", "(5, 10]"]
    assert decoded(one(pd.Series(pd.period_range("2020-01", periods=2, freq="M")))) == ["2020-01", "2020-02"]


def test_integers_beyond_the_floats_stay_distinct_levels():
    cells = [2**60, None, 2**60 + 1]
    for column in (pd.Series(cells, dtype="Int64"), pl.Series(cells), pa.array(cells)):
        assert decoded(one(column)) == cells
        assert one(column).numbers([0]).shape == (3, 1)


NOON = dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([NOON, None]).dt.tz_convert("Europe/Berlin"),
        pd.Series([NOON, None]).dt.tz_localize(None).astype("datetime64[ns]"),
        pd.Series([NOON, None], dtype="timestamp[s, tz=Asia/Tokyo][pyarrow]"),
        pl.Series([NOON, None]).dt.convert_time_zone("America/Lima"),
        pl.Series([NOON.replace(tzinfo=None), None], dtype=pl.Datetime("ms")),
        pa.array([NOON, None], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([NOON, None], pa.timestamp("s")),
    ],
    ids=str,
)
def test_moments_are_seconds_since_1970_utc(column):
    table = one(column)
    assert table.kind(0) == "moment"
    assert_array_equal(table.numbers([0]), [[NOON.timestamp()], [np.nan]])


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([dt.date(1500, 1, 1), None]),
        pd.Series([dt.date(1500, 1, 1), None], dtype="date32[pyarrow]"),
        pl.Series([dt.date(1500, 1, 1), None]),
        pa.array([dt.date(1500, 1, 1), None]),
        pa.array([dt.date(1500, 1, 1), None], pa.date64()),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_dates_are_moments_even_long_ago(column):
    table = one(column)
    assert table.kind(0) == "moment"
    assert_array_equal(table.numbers([0]), [[-14831769600], [np.nan]])
    assert decoded(table) == [-14831769600, None]


@pytest.mark.parametrize(
    "arrow", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], ids=str
)
def test_clocks_of_every_unit_are_seconds_since_midnight(arrow):
    table = one(pa.array([dt.time(1, 2, 3), None], arrow))
    assert table.kind(0) == "clock"
    assert_array_equal(table.numbers([0]), [[3723], [np.nan]])


def test_a_sparse_pandas_column_reads_as_numbers():
    table = one(pd.Series([0.0, 1.0, np.nan], dtype="Sparse[float]"))
    assert table.kind(0) == "number"
    assert_array_equal(table.numbers([0])[:, 0], [0, 1, np.nan])


def test_columns_of_a_multi_index_are_named_by_tuples():
    names = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    table = read_table(pd.DataFrame([[1, "x", None], [2, "y", 0.5]], columns=names))
    assert table.names == (("a", 1), ("a", 2), ("b", 1))
    assert table.label(1) == "column ('a', 2)"
    assert decoded(table, 1) == ["x", "y"]
    assert_array_equal(table.numbers([0, 2]), [[1, np.nan], [2, 0.5]])


def test_record_batches_and_narwhals_frames_read_like_their_tables():
    batch = pa.record_batch({"a": [1, None], "b": ["x", "y"]})
    wrapped = nw.from_native(pl.DataFrame({"a": [1, None], "b": ["x", "y"]}))
    for frame in (batch, wrapped):
        assert is_frame(frame)
        table = read_table(frame)
        assert_array_equal(table.numbers([0]), [[1], [np.nan]])
        assert decoded(table, 1) == ["x", "y"]


@pytest.mark.parametrize("other", [None, "text", [[1]], np.ones((2, 2)), pd.Series([1]), pl.Series([1]), {}])
def test_other_things_are_not_frames(other):
    assert not is_frame(other)


def test_frames_without_columns_have_none():
    for frame in (pd.DataFrame(index=range(3)), pl.DataFrame(), pa.table({})):
        assert read_table(frame).n_columns == 0


@pytest.mark.parametrize("rows", [[], [0, 9, 9, 10, 56, 99], [57], [7, 3]])
def test_rows_of_an_arrow_table_in_chunks_are_those_of_the_joined_table(rows):
    text = pa.chunked_array(
        [pa.array(["x", "y"] * 25).dictionary_encode(), pa.array(["z", "y"] * 25).dictionary_encode()]
    )
    table = pa.table({"number": np.arange(100.0), "text": text})
    chunks = pa.concat_tables([table.slice(0, 10), table.slice(10, 0), table.slice(10, 47), table.slice(57)])
    taken = rows_of_arrow(chunks, np.array(rows, dtype=np.intp))
    assert taken.to_pydict() == table.take(rows or pa.array([], pa.int64())).to_pydict()


@pytest.mark.parametrize("rows", [[-1, 3], [3, 100]])
def test_a_row_that_an_arrow_table_lacks_is_refused(rows):
    table = pa.table({"number": np.arange(100.0)})
    with pytest.raises(IndexError, match="out of bounds"):
        rows_of_arrow(pa.concat_tables([table.slice(0, 10), table.slice(10)]), np.array(rows))
