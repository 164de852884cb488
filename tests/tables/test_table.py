import datetime as dt
import subprocess
import sys
import timeit
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from suffice.tables import objects
from suffice.tables.recognized import is_frame
from suffice.tables.table import read_table

from .cells import decoded, one

NUMERIC = [0, 1, 2, 3, 5, 6, 7, 8]
MIXED_CELLS = st.one_of(
    st.floats(allow_infinity=False),
    st.integers(-(2**54), 2**54),
    st.booleans(),
    st.none(),
    st.sampled_from(["a", "1.5", np.float64(1.0), np.float32(0.5), np.int8(1), np.True_, 10**30, pd.NA]),
)


# The same data in every container


def test_every_container_has_the_same_shape(everywhere):
    table = read_table(everywhere)
    assert (table.n_rows, table.n_columns) == (4, 9)


def test_every_container_gives_the_same_kinds(everywhere, expected):
    table = read_table(everywhere)
    assert tuple(map(table.kind, range(9))) == expected.KINDS


def test_every_container_gives_the_same_numbers_to_the_last_bit(everywhere, expected):
    values = read_table(everywhere).numbers(NUMERIC)
    assert values.dtype == np.float64
    assert_array_equal(values, expected.NUMBERS[:, NUMERIC])


def test_every_container_gives_the_same_levels(everywhere, expected):
    table = read_table(everywhere)
    for column, cells in enumerate(expected.LEVELS):
        assert decoded(table, column) == cells


def test_levels_are_plain_python_values_in_order_of_appearance(everywhere):
    table = read_table(everywhere)
    assert [table.levels(j).values for j in (0, 3, 4, 8)] == [[34, 51], [True, False], ["Ulm", "Bonn"], []]
    assert [type(table.levels(j).values[0]) for j in (0, 1, 2, 3, 4)] == [int, float, float, bool, str]


def test_text_asked_for_as_numbers_is_refused_with_the_column_a_value_and_the_cure(everywhere):
    table = read_table(everywhere)
    with pytest.raises(ValueError, match=r"column ('town'|4) .*'Ulm'.*Categorical"):
        table.numbers([0, 4])


def test_frames_have_names_and_arrays_have_positions(everywhere, expected):
    table = read_table(everywhere)
    if isinstance(everywhere, np.ndarray):
        assert (table.names, table.named, table.label(3)) == (tuple(range(9)), False, "column 3")
    else:
        assert (table.names, table.named, table.label(3)) == (expected.NAMES, True, "column 'smoker'")
    assert is_frame(everywhere) is table.named
    assert table.array is None
    assert table.sparse is None


def test_a_table_without_rows_reads_like_any_other(everywhere):
    table = read_table(everywhere[:0] if not isinstance(everywhere, pa.Table) else everywhere.slice(0, 0))
    assert table.numbers([0]).shape == (0, 1)
    assert table.levels(4).values == []


@pytest.mark.parametrize(
    "rows", [np.array([False, True, True, False]), np.array([1, 2])], ids=["mask", "positions"]
)
def test_some_rows_of_every_container_are_a_table(everywhere, expected, rows):
    table = read_table(everywhere).take(rows)
    assert_array_equal(table.numbers(NUMERIC), expected.NUMBERS[1:3][:, NUMERIC])
    assert decoded(table, 4) == [None, "Bonn"]


def test_every_container_shows_the_same_values(everywhere, expected):
    table = read_table(everywhere)
    for column in (3, 4, 6, 7):
        assert table.values(column).tolist() == list(expected.CELLS[column])
    assert_array_equal(table.values(5), np.array(expected.CELLS[5], dtype="datetime64[us]"))
    assert_array_equal(table.values(1), expected.NUMBERS[:, 1])


# Arrays


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_float_array_is_handed_out_itself(dtype):
    X = np.arange(12, dtype=dtype).reshape(4, 3)
    X.flags.writeable = False
    table = read_table(X)
    assert table.array is X
    for columns in (slice(None), [0, 1, 2], range(3)):
        assert table.numbers(columns) is X


def test_adjacent_columns_of_a_float_array_are_a_view():
    X = np.arange(12.0).reshape(4, 3)
    assert np.shares_memory(read_table(X).numbers([1, 2]), X)
    assert_array_equal(read_table(X).numbers([2, 0]), X[:, [2, 0]])
    assert_array_equal(read_table(X).numbers(slice(None, None, 2)), X[:, ::2])
    assert read_table(X).numbers([]).shape == (4, 0)


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, np.longdouble, np.bool])
def test_other_numeric_arrays_become_float64(dtype):
    X = np.array([[0, 1], [1, 1]], dtype=dtype)
    table = read_table(X)
    assert table.array is X
    assert table.kind(0) == ("boolean" if dtype is np.bool else "number")
    assert table.numbers(slice(None)).dtype == np.float64
    assert_array_equal(table.numbers(slice(None)), [[0, 1], [1, 1]])
    assert decoded(table, 1) == [1, 1]


def test_a_list_of_lists_keeps_numbers_numbers_beside_text():
    table = read_table([[1, "a"], [2.5, "b"], [None, None]])
    assert [table.kind(0), table.kind(1)] == ["number", "level"]
    assert_array_equal(table.numbers([0]), [[1], [2.5], [np.nan]])
    assert decoded(table, 1) == ["a", "b", None]


def test_an_array_of_text_has_levels():
    for dtype in ("U", "S", object, np.dtypes.StringDType()):
        table = read_table(np.array([["a"], ["nan"], ["a"]], dtype=dtype))
        assert table.kind(0) == "level"
        assert decoded(table) == ["a", "nan", "a"]


def test_arrays_of_moments_and_durations_read_as_seconds():
    moments = read_table(np.array([["1970-01-02"], ["NaT"]], dtype="datetime64[D]"))
    durations = read_table(np.array([[90], ["NaT"]], dtype="timedelta64[s]"))
    assert (moments.kind(0), durations.kind(0)) == ("moment", "duration")
    assert_array_equal(moments.numbers([0]), [[86400], [np.nan]])
    assert_array_equal(durations.numbers([0]), [[90], [np.nan]])
    assert decoded(moments) == [86400, None]


def test_masked_cells_are_missing():
    mask = [[False], [True]]
    assert_array_equal(read_table(np.ma.array([[1], [2]], mask=mask)).numbers([0]), [[1], [np.nan]])
    assert decoded(read_table(np.ma.array([["a"], ["b"]], mask=mask))) == ["a", None]


@pytest.mark.parametrize(
    "cells, kind, levels",
    [
        ([1, 2.5, None], "number", [1, 2.5, None]),
        ([np.int64(1), np.float32(0.5), np.nan], "number", [1, 0.5, None]),
        ([True, None, False], "boolean", [True, None, False]),
        ([True, np.nan, False], "boolean", [True, None, False]),
        ([np.True_, pd.NA], "boolean", [True, None]),
        ([None, None], "number", [None, None]),
        ([np.nan, pd.NA, pd.NaT], "number", [None, None, None]),
        (["a", None, np.nan, float("nan"), pd.NA], "level", ["a", None, None, None, None]),
        (["a", 1, 1.0, np.int64(1), 2.5], "level", ["a", 1, 1, 1, 2.5]),
        ([True, 2], "level", [True, 2]),
        ([dt.date(1970, 1, 2), None, np.nan], "moment", [86400, None, None]),
        ([pd.Timestamp("1970-01-02", tz="Europe/Berlin"), pd.NaT], "moment", [82800, None]),
        ([np.datetime64("1970-01-02"), np.datetime64("NaT")], "moment", [86400, None]),
        ([dt.timedelta(seconds=3), np.timedelta64(4, "s"), None], "duration", [3, 4, None]),
        ([dt.time(1), None], "clock", [3600, None]),
        ([Decimal("1.50"), 2, Decimal("NaN")], "number", [1.5, 2, None]),
    ],
)
def test_a_column_of_objects_is_what_its_cells_are(cells, kind, levels):
    X = np.empty((len(cells), 1), dtype=object)
    X[:, 0] = cells
    for table in (read_table(X), read_table(pd.DataFrame({"c": pd.Series(cells, dtype=object)}))):
        assert table.kind(0) == kind
        assert decoded(table) == levels
        if kind != "level":
            assert_array_equal(
                table.numbers([0])[:, 0], [np.nan if value is None else value for value in levels]
            )


def test_levels_that_are_all_numbers_can_be_read_as_numbers():
    table = read_table(np.array([[True], [2], [None]], dtype=object))
    assert_array_equal(table.numbers([0]), [[1], [2], [np.nan]])
    assert_array_equal(one(pd.Series([3, None, 5], dtype="category")).numbers([0]), [[3], [np.nan], [5]])
    assert_array_equal(one(pl.Series([None, None], dtype=pl.String)).numbers([0]), [[np.nan], [np.nan]])


# Sparse


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix])
def test_a_sparse_matrix_is_handed_out_itself(make):
    X = make(np.array([[0.0, 2.0], [3.0, 0.0]]))
    table = read_table(X)
    assert table.sparse is X
    assert table.array is None
    assert (table.kind(0), table.names, table.named) == ("number", (0, 1), False)


@pytest.mark.parametrize("make", [sparse.coo_array, sparse.lil_matrix, sparse.dok_array])
def test_other_sparse_formats_become_csr(make):
    table = read_table(make(np.array([[0, 2], [3, 0]])))
    assert table.sparse.format == "csr"
    assert_array_equal(table.sparse.toarray(), [[0, 2], [3, 0]])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_some_rows_of_a_matrix_stay_in_its_format(make):
    X = make(np.array([[0.0, 2.0], [3.0, 0.0], [4.0, 5.0]]))
    table = read_table(X).take(np.array([True, False, True]))
    taken = table.array if table.sparse is None else table.sparse
    assert type(taken) is type(X)
    assert_array_equal(table.numbers(slice(None)), [[0, 2], [4, 5]])


def test_single_sparse_columns_can_be_asked_for():
    table = read_table(sparse.csr_array(np.array([[0.0, 2.0], [np.nan, 0.0]])))
    assert_array_equal(table.numbers([1]), [[2], [0]])
    assert decoded(table) == [0, None]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_an_infinity_in_a_sparse_matrix_is_refused_when_its_cells_are_asked_for(make):
    table = read_table(make(np.array([[0, 0, 1], [1, np.nan, 0], [0, -np.inf, 0]])))
    for cells in (lambda: table.sparse, lambda: table.numbers([0, 1]), lambda: table.level_cells([1])):
        with pytest.raises(ValueError, match="column 1 contains the infinite value -inf at row 2"):
            cells()
    assert_array_equal(table.numbers([0, 2]), [[0, 1], [1, 0], [0, 0]])


# Infinity


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("gap", [0.0, np.nan])
def test_an_infinity_is_refused_with_its_column_value_row_and_the_cure(dtype, order, gap):
    X = np.zeros((100_000, 3), dtype=dtype, order=order)
    X[5, 0] = gap
    X[90_000, 1] = -np.inf
    with pytest.raises(ValueError, match="column 1 contains the infinite value -inf at row 90000; drop"):
        read_table(X).numbers([0, 1])
    assert read_table(X).numbers([0, 2]).shape == (100_000, 2)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_infinity_in_a_frame_is_refused_by_name(container):
    table = read_table(container({"a": [1, 2], "b": [1.0, np.inf]}))
    with pytest.raises(ValueError, match="column 'b' contains the infinite value inf at row 1"):
        table.numbers([0, 1])


def test_large_finite_numbers_are_not_infinite():
    X = np.array([[1e300, -1e308], [1e308, 1e308]])
    assert read_table(X).numbers(slice(None)) is X


# Refusals


@pytest.mark.parametrize(
    "X, message",
    [
        (np.ones(3), "Reshape your data"),
        (pd.Series([1, 2]), "Reshape your data"),
        (sparse.coo_array(np.ones(3)), "Reshape your data"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (3.0, "got a float; convert"),
        (object(), "got an object; convert"),
        ([], "without rows; X must have at least one row"),
        (np.ones(0), "without rows; X must have at least one row"),
        (pl.LazyFrame({"a": [1]}), "got a LazyFrame; convert"),
        ([[1, 2], [3]], "not rectangular"),
        (np.ones((2, 2), complex), "Complex data not supported: column 0"),
        (sparse.csr_array(np.ones((2, 2), complex)), "Complex data not supported: column 0"),
    ],
)
def test_what_is_not_a_table_is_refused_with_the_cure(X, message):
    with pytest.raises(ValueError, match=message):
        read_table(X)


def test_complex_columns_are_refused_by_name():
    for cells in (np.array([1j, 2]), pd.Series([1j, "a"], dtype=object)):
        table = read_table(pd.DataFrame({"z": cells}))
        with pytest.raises(ValueError, match="Complex data not supported: column 'z'"):
            table.kind(0)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_repeated_column_names_are_refused_by_name(frame):
    with pytest.raises(ValueError, match=r"\['a'\] occur more than once; rename"):
        read_table(frame)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([[1], [2]]),
        pd.Series([{"a": 1}, None]),
        pd.Series([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
        pl.Series([[1], [2]]),
        pl.Series([{"a": 1}]),
        pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)),
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_nested_columns_are_refused_by_name(column):
    table = one(column)
    with pytest.raises(TypeError, match=r"column 'c'.*several columns"):
        table.kind(0)


def test_a_nested_cell_of_an_array_is_refused():
    X = np.ones((2, 2), dtype=object)
    X[0, 1] = {"foo": "bar"}
    with pytest.raises(
        TypeError, match=r"column 1 of X holds a dict at row 0, .* must be a string or a number"
    ):
        read_table(X).kind(1)


def test_a_structured_array_is_refused():
    with pytest.raises(TypeError, match="column 0 has dtype"):
        read_table(np.zeros((2, 1), dtype=[("a", float)])).kind(0)


# Cost


def test_reading_imports_no_frame_library():
    code = (
        "import sys, numpy as np\n"
        "from suffice.tables.table import read_table\nfrom suffice.tables.targets import read_labels\n"
        "read_table(np.ones((3, 2))).numbers([0]); read_labels([1, 2]); read_table([['a', None]]).levels(0)\n"
        "print({'pandas', 'polars', 'pyarrow', 'narwhals', 'sklearn'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout.strip() == "set()"


def test_reading_a_small_array_takes_microseconds():
    X = np.ones((150, 4))
    assert min(timeit.repeat(lambda: read_table(X), number=1000, repeat=20)) / 1000 < 20e-6


@pytest.mark.parametrize("worth_arrow", [0, 1 << 16], ids=["by Arrow", "by Python"])
def test_objects_that_are_numbers_are_read_at_once(worth_arrow, monkeypatch):
    monkeypatch.setattr(objects, "WORTH_ARROW", worth_arrow)
    X = np.array([[1, 2.5], [None, float("nan")], [3, -0.5]], dtype=object)
    table = read_table(X)
    cells = table.cells([0, 1])
    np.testing.assert_array_equal(cells, [[1.0, 2.5], [np.nan, np.nan], [3.0, -0.5]])
    assert table.numbers(slice(None)).base is cells.base or table.numbers(slice(None)) is cells
    assert table.container.cell_types == (int, float)
    assert table.levels(0).values == [1, 3]
    np.testing.assert_array_equal(table.part(slice(1, 3)).cells([0, 1]), cells[1:])


@pytest.mark.parametrize("worth_arrow", [0, 1 << 16], ids=["by Arrow", "by Python"])
@pytest.mark.parametrize("odd", ["1.5", True, 2**53 + 1, -(2**53) - 1, 10**400, dt.date(2020, 1, 1), b"1"])
def test_objects_with_a_cell_that_is_no_plain_number_are_read_column_by_column(odd, worth_arrow, monkeypatch):
    monkeypatch.setattr(objects, "WORTH_ARROW", worth_arrow)
    X = np.array([[1.0, 0.5], [2.0, 0.25]], dtype=object)
    X[1, 0] = odd
    table = read_table(X)
    assert table.cells([0, 1]) is None
    np.testing.assert_array_equal(table.numbers([1])[:, 0], [0.5, 0.25])


@given(st.lists(st.lists(MIXED_CELLS, min_size=2, max_size=2), min_size=1, max_size=6))
def test_objects_read_by_arrow_are_the_objects_read_by_python(rows):
    X = np.empty((len(rows), 2), dtype=object)
    X[:] = rows

    def columns():
        table = read_table(X)
        return [(table.kind(j), table.container.cell_types[j], list(table.values(j))) for j in range(2)]

    by_python = columns()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "WORTH_ARROW", 0)
        by_arrow = columns()
    assert repr(by_arrow) == repr(by_python)


def test_adjacent_sparse_rows_are_those_rows():
    X = sparse.random_array((50, 8), density=0.3, rng=np.random.default_rng(0), format="csr")
    part = read_table(X).part(slice(10, 31)).sparse
    np.testing.assert_array_equal(part.toarray(), X.toarray()[10:31])
    assert part.has_canonical_format
    assert type(part) is type(X)
    assert read_table(X).part(slice(50, 50)).sparse.shape == (0, 8)
