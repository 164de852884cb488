import copy
import datetime as dt
import gc
import pickle
import weakref
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal
from polars.testing import assert_frame_equal as assert_polars_equal
from scipy import sparse

from suffice.tables.table import read_table


def columns_of(X):
    """The columns as a model would give them: levels as objects with None, all else as floats with NaN."""
    table = read_table(X)
    columns = []
    for column in range(table.n_columns):
        if table.kind(column) == "level":
            levels = table.levels(column)
            columns.append(np.array([*levels.values, None], dtype=object)[levels.codes])
        else:
            columns.append(table.numbers([column])[:, 0])
    return columns


def levels_of(X):
    """The same, with every column as objects of level values."""
    table = read_table(X)
    columns = map(table.levels, range(table.n_columns))
    return [np.array([*levels.values, None], dtype=object)[levels.codes] for levels in columns]


def round_trip(X, columns=columns_of):
    return read_table(X).container.build(columns(X))


def assert_same(given, expected):
    assert type(given) is type(expected)
    if isinstance(expected, pd.DataFrame):
        assert_frame_equal(given, expected)
    elif isinstance(expected, pl.DataFrame):
        assert_polars_equal(given, expected, categorical_as_str=True)
        assert given.schema == expected.schema
    elif isinstance(expected, pa.Table):
        assert given.schema == expected.schema
        assert given.to_pylist() == expected.to_pylist()
    else:
        assert given.dtype == expected.dtype
        assert_array_equal(given, expected)


@pytest.mark.parametrize("columns", [columns_of, levels_of])
def test_rows_come_back_as_they_were_in_every_container(everywhere, columns):
    assert_same(round_trip(everywhere, columns), everywhere)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda container: pickle.loads(pickle.dumps(container))])  # noqa: S301
def test_a_container_survives_copies_and_pickles(everywhere, copied):
    container = copied(read_table(everywhere).container)
    assert_same(container.build(columns_of(everywhere)), everywhere)


def test_a_container_builds_no_rows(everywhere):
    table = read_table(everywhere)
    empty = table.container.build([np.empty(0)] * 9)
    assert (read_table(empty).n_rows, read_table(empty).names) == (0, table.names)


def test_a_container_does_not_hold_the_data():
    X = np.zeros((100_000, 3))
    container = read_table(X).container
    alive = weakref.ref(X)
    del X
    gc.collect()
    assert alive() is None
    assert len(pickle.dumps(container)) < 1000
    frame = pd.DataFrame(np.zeros((100_000, 3)), columns=list("abc"))
    container = read_table(frame).container
    assert not np.shares_memory(container.template.to_numpy(), frame.to_numpy())
    assert container.template.to_numpy().base is None or container.template.to_numpy().base.size == 0


def test_a_frame_of_new_fields_is_of_the_same_library(everywhere):
    frame = read_table(everywhere).container.frame({"row": np.arange(2), "name": ["a", "b"]})
    assert type(frame) is (pa.Table if isinstance(everywhere, np.ndarray) else type(everywhere))
    assert read_table(frame).levels(1).values == ["a", "b"]


# Arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint8, np.bool])
def test_an_array_comes_back_in_its_dtype(dtype):
    X = np.array([[0, 1], [1, 1]], dtype=dtype)
    assert_same(round_trip(X), X)


@pytest.mark.parametrize("dtype", ["U3", "S3", np.dtypes.StringDType()])
def test_an_array_of_text_comes_back_as_text(dtype):
    X = np.array([["a", "bcd"], ["e", ""]], dtype=dtype)
    rows = round_trip(X)
    assert rows.dtype.kind == X.dtype.kind
    assert_array_equal(rows, X)


def test_missing_cells_make_an_array_of_integers_floats_and_of_text_objects():
    build = read_table(np.array([[1, 2]])).container.build
    assert_array_equal(build([np.array([1.0, np.nan]), np.array([2.0, 3.0])]), [[1, 2], [np.nan, 3]])
    text = read_table(np.array([["a"]])).container.build([np.array(["b", None], dtype=object)])
    assert text.tolist() == [["b"], [None]]


def test_integers_are_rounded_and_stay_within_their_dtype():
    drawn = np.array([1.6, -0.4, 300, -1e30])
    for dtype in (np.uint8, np.int64):
        limits = np.iinfo(dtype)
        expected = [2, 0, min(300, limits.max), limits.min]
        one = np.ones((1, 1), dtype)
        arrow = pa.table({"c": one[:, 0]})
        for X in (one, sparse.csr_array(one), pd.DataFrame(one), pl.from_arrow(arrow), arrow):
            rows = read_table(X).container.build([drawn])
            assert_array_equal(read_table(rows).numbers([0])[:, 0], expected)


def test_mixed_objects_come_back_as_they_were():
    X = np.array([[1, True], ["a", 2], [None, 0.5]], dtype=object)
    assert round_trip(X).tolist() == X.tolist()


@pytest.mark.parametrize("dtype", ["datetime64[D]", "datetime64[ns]", "timedelta64[s]"])
def test_arrays_of_moments_and_durations_come_back(dtype):
    X = np.array([[86400 * 2], ["NaT"]], dtype="timedelta64[s]")
    X = X.astype(dtype) if dtype[0] == "t" else (np.datetime64(0, "s") + X).astype(dtype)
    assert_same(round_trip(X), X)


def test_objects_come_back_as_the_objects_they_were():
    X = np.array(
        [[dt.date(2020, 1, 2), 3, 2.5, False, "a", Decimal("0.1")], [None, None, None, None, None, None]],
        dtype=object,
    )
    rows = round_trip(X)
    assert rows.tolist() == X.tolist()
    assert list(map(type, rows[0])) == list(map(type, X[0]))


def test_a_column_of_objects_all_missing_takes_whatever_comes():
    build = read_table(np.array([[None]], dtype=object)).container.build
    assert build([np.array([0.5, np.nan])]).tolist() == [[0.5], [None]]


# Sparse


@pytest.mark.parametrize(
    "make, back",
    [
        (sparse.csr_array, sparse.csr_array),
        (sparse.csc_array, sparse.csc_array),
        (sparse.csc_matrix, sparse.csc_matrix),
        (sparse.csr_matrix, sparse.csr_matrix),
        (sparse.coo_matrix, sparse.csr_matrix),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_sparse_rows_come_back_as_they_came_in_their_dtype(make, back, dtype):
    X = make(np.array([[0, 2, 0], [3, 0, 0]], dtype=dtype))
    rows = round_trip(X)
    assert type(rows) is back
    assert (rows.dtype, rows.nnz) == (dtype, 2)
    assert_array_equal(rows.toarray(), X.toarray())


def test_a_missing_cell_of_sparse_integers_makes_floats():
    rows = read_table(sparse.csr_array(np.array([[1, 0]]))).container.build([np.array([np.nan]), np.zeros(1)])
    assert_array_equal(rows.toarray(), [[np.nan, 0]])


# Frames


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, 2], dtype="int8"),
        pd.Series([True, False]),
        pd.Series([1.5, np.nan], dtype="float32"),
        pd.Series(["b", None, "a"], dtype=pd.CategoricalDtype(["z", "a", "b"], ordered=True)),
        pd.Series([3, None, 1], dtype="category"),
        pd.cut(pd.Series([1.0, 7.0, np.nan]), [0, 5, 10]),
        pd.Series(pd.to_datetime(["2024-07-01", None])).dt.tz_localize("Europe/Berlin"),
        pd.Series(pd.to_datetime(["2024-07-01", None])).astype("datetime64[ns]"),
        pd.Series([dt.timedelta(seconds=1), None]).astype("timedelta64[ms]"),
        pd.Series([dt.date(2024, 7, 1), None]),
        pd.Series([1.0, 0.0], dtype="Sparse[float]"),
        pd.Series([dt.date(2024, 7, 1), None], dtype="date32[pyarrow]"),
        pd.Series(["a", None], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    ],
    ids=lambda column: str(column.dtype),
)
def test_a_pandas_column_comes_back_in_its_dtype(column):
    frame = column.to_frame("c")
    assert_same(round_trip(frame), frame)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, None], dtype=pl.UInt8),
        pl.Series([1.5, None], dtype=pl.Float32),
        pl.Series([Decimal("1.25"), None]),
        pl.Series(["b", None], dtype=pl.Enum(["a", "b"])),
        pl.Series(["b", None], dtype=pl.Categorical),
        pl.Series([b"b", None]),
        pl.Series([dt.date(2024, 7, 1), None]),
        pl.Series([dt.datetime(2024, 7, 1, tzinfo=dt.UTC), None], dtype=pl.Datetime("ms", "UTC")),
        pl.Series([dt.datetime(2024, 7, 1, tzinfo=dt.UTC), None]).dt.convert_time_zone("Asia/Tokyo"),
        pl.Series([dt.timedelta(seconds=1), None], dtype=pl.Duration("ns")),
        pl.Series([dt.time(1, 2, 3), None]),
        pl.Series([None, None]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_a_polars_column_comes_back_in_its_dtype(column):
    frame = column.to_frame("c")
    assert_same(round_trip(frame), frame)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, None], pa.uint8()),
        pa.array([1.5, None], pa.float32()),
        pa.array([True, None]),
        pa.array([Decimal("1.25"), None], pa.decimal128(6, 2)),
        pa.array([Decimal("1.25"), None], pa.decimal256(50, 2)),
        pa.array(["a", None], pa.large_string()),
        pa.array(["a", None], pa.string_view()),
        pa.array([b"a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array(["a", None]).cast(pa.dictionary(pa.int8(), pa.large_string())),
        pa.array([2, None]).dictionary_encode(),
        pa.array([dt.date(2024, 7, 1), None]),
        pa.array([dt.date(2024, 7, 1), None], pa.date64()),
        pa.array([dt.datetime(2024, 7, 1, tzinfo=dt.UTC), None], pa.timestamp("ns", "Asia/Tokyo")),
        pa.array([dt.datetime(2024, 7, 1, tzinfo=dt.UTC), None], pa.timestamp("s")),
        pa.array([dt.timedelta(seconds=1), None], pa.duration("s")),
        pa.array([dt.time(1, 2, 3), None], pa.time32("s")),
        pa.nulls(2),
    ],
    ids=lambda column: str(column.type),
)
def test_a_pyarrow_column_comes_back_in_its_type(column):
    table = pa.table({"c": column})
    assert_same(round_trip(table), table)


def test_missing_cells_make_a_pandas_column_nullable():
    frame = pd.DataFrame({"a": np.array([1, 2], np.uint8), "b": [True, False]})
    rows = read_table(frame).container.build([np.array([1.2, np.nan]), np.array([np.nan, 1])])
    expected = pd.DataFrame(
        {"a": pd.Series([1, None], dtype="UInt8"), "b": pd.Series([None, True], dtype="boolean")}
    )
    assert_same(rows, expected)


def test_a_level_beyond_the_categories_is_added_to_them():
    frame = pd.DataFrame({"c": pd.Series(["a"], dtype="category")})
    rows = read_table(frame).container.build([np.array(["b", None, "a"], dtype=object)])
    assert rows["c"].tolist()[::2] == ["b", "a"]
    assert rows["c"].dtype.categories.tolist() == ["a", "b"]


def test_a_column_that_was_all_missing_takes_whatever_comes():
    for frame in (pl.DataFrame({"c": [None]}), pa.table({"c": pa.nulls(1)}), pd.DataFrame({"c": [None]})):
        build = read_table(frame).container.build
        for cells in ([0.5, None], ["a", None]):
            assert list(build([np.array(cells, dtype=object)])["c"].to_numpy()) in (
                cells,
                [cells[0], pytest.approx(np.nan, nan_ok=True)],
            )


def test_intervals_come_back_as_their_text():
    frame = pd.DataFrame({"c": pd.interval_range(0, 2)})
    assert round_trip(frame).to_numpy().tolist() == [["(0, 1]"], ["(1, 2]"]]


def test_columns_of_a_multi_index_come_back():
    names = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"])
    frame = pd.DataFrame([[1.0, "u"], [2.0, "v"]], columns=names)
    assert_same(round_trip(frame), frame)


def test_sampled_times_of_day_wrap_around_midnight():
    frame = pl.DataFrame({"c": [dt.time(1)]})
    rows = read_table(frame).container.build([np.array([86400.0 + 60, -60.0])])
    assert rows["c"].to_list() == [dt.time(0, 1), dt.time(23, 59)]
