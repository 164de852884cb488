"""Columns that lie apart in memory are summed and scored as the same cells in one array are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from suffice import BayesClassifier, summarize
from suffice.arrays import read_only
from suffice.families import Normal
from suffice.kernels import choose
from suffice.kernels import columns as reference
from suffice.kernels.columns import ColumnCells
from suffice.tables.table import read_table

compiled = pytest.importorskip(
    "suffice.kernels.columns_compiled", reason="numba has no wheels for this machine"
)


def cells_of(columns):
    return ColumnCells(
        [column.__getitem__ for column in columns], columns[0].dtype, slice(0, len(columns[0]))
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [1, 5, compiled.FEW_CLASSES])
def test_rows_in_runs_of_a_class_are_summed_to_the_same_bits(dtype, n_classes):
    rng = np.random.default_rng(1)
    columns = tuple(read_only(rng.normal(size=300).astype(dtype)) for _ in range(8))
    classes = read_only(rng.integers(0, n_classes, 300).astype(np.uint8))
    origin, sums = rng.normal(size=(n_classes, 8)), np.zeros((2, n_classes, 16))
    runs = compiled.rows_to_sum(classes, n_classes)
    assert isinstance(runs, tuple)
    compiled.column_sums(columns, runs, origin, sums[0])
    compiled.column_sums(columns, classes, origin, sums[1])
    assert_array_equal(sums[0], sums[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_of_columns_are_the_same_bits(dtype):
    rng = np.random.default_rng(0)
    columns = tuple(read_only((rng.integers(-64, 64, 300) / 8).astype(dtype)) for _ in range(8))
    classes, origin = read_only(rng.integers(0, 5, 300).astype(np.uint8)), rng.integers(-8, 8, (5, 8)) / 4
    ours, theirs = np.zeros((5, 16)), np.zeros((5, 16))
    compiled.column_sums(columns, compiled.rows_to_sum(classes, 5), origin, ours)
    reference.column_sums(columns, classes, origin, theirs)
    assert_array_equal(ours, theirs)
    assert ours.any()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_rows_of_classes_are_counted(dtype):
    classes, counts = read_only(np.random.default_rng(0).integers(0, 5, 300).astype(dtype)), np.ones((2, 6))
    compiled.count_rows(classes, counts[0])
    reference.count_rows(classes, counts[1])
    assert_array_equal(counts[0], counts[1])
    assert counts[0].sum() == 306


@pytest.mark.parametrize("d", [1, 7, 8, 9, 19])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_columns_are_brought_together(d, dtype, monkeypatch):
    monkeypatch.setattr(choose, "WORTH_COMPILING", 1)
    columns = [np.arange(j, j + 101).astype(dtype) for j in range(d)]
    for table in (cells_of(columns), np.stack(columns).T):
        values = choose.contiguous(table)
        assert values.flags.c_contiguous
        assert values.dtype == dtype
        assert_array_equal(values, np.stack(columns, axis=1))


def test_some_rows_of_columns_are_columns_again_and_one_array_where_it_is_needed():
    columns = [np.arange(10.0), np.arange(10.0) ** 2]
    some = cells_of(columns)[2:8][1:3]
    assert some.shape == (2, 2)
    assert_array_equal(np.asarray(some), [[3, 9], [4, 16]])
    assert np.shares_memory(some.column(1), columns[1])


@pytest.mark.parametrize(
    "container", ["Polars", "Polars in chunks", "Arrow", "Arrow in chunks", "Arrow cut apart"]
)
@pytest.mark.parametrize("cells", ["floats", "gaps", "integers"])
def test_rows_in_order_are_taken_from_columns_where_they_lie(container, cells):
    rng = np.random.default_rng(4)
    X = rng.integers(-9, 9, (230, 3)) if cells == "integers" else rng.normal(size=(230, 3))
    if cells == "gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    apart = read_table(CONTAINERS[container](X, ["a", "b", "c"])).columns_apart(range(3))
    rows = np.array([0, 0, 7, 32, 33, 34, 34, 49, 50, 229])
    assert_array_equal(apart.take(rows), X[rows].astype(np.float64), strict=True)
    assert_array_equal(apart[40:].take(rows[:3]), X[40 + rows[:3]])


def chunked(X, names):
    table = pa.table(list(X.T), names=names)
    return pa.concat_tables([table.slice(0, 33), table.slice(33, 1), table.slice(34)])


def cut_apart(X, names):
    columns = [pa.chunked_array([x[: 9 * j], x[9 * j :]]) for j, x in enumerate(X.T.copy())]
    return pa.table(columns, names=names)


CONTAINERS = {
    "Fortran order": lambda X, _: np.asfortranarray(X),
    "big-endian": lambda X, _: X.astype(X.dtype.newbyteorder(">")),
    "strided": lambda X, _: np.repeat(X, 2, axis=0)[::2],
    "pandas": lambda X, names: pd.DataFrame({name: x.copy() for name, x in zip(names, X.T, strict=True)}),
    "nullable pandas": lambda X, names: pd.DataFrame(X, columns=names).astype("Float64"),
    "Polars": lambda X, names: pl.from_numpy(X, names).fill_nan(None),
    "Polars in chunks": lambda X, names: pl.concat(
        [pl.from_numpy(X[:50], names), pl.from_numpy(X[50:], names)], rechunk=False
    ),
    "Arrow": lambda X, names: pa.table([pa.array(x, from_pandas=True) for x in X.T], names=names),
    "Arrow in chunks": chunked,
    "Arrow cut apart": cut_apart,
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("worth_compiling", [1, 1 << 40])
@pytest.mark.parametrize("gaps", [False, True])
def test_any_container_gives_the_same_bits(container, worth_compiling, gaps, monkeypatch):
    monkeypatch.setattr(choose, "WORTH_COMPILING", worth_compiling)
    monkeypatch.setattr(choose, "CELLS_AT_ONCE", 700)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(230, 11)), rng.integers(0, 4, 230)
    if gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    names = [f"x{j}" for j in range(11)]
    expected = BayesClassifier(Normal()).fit(X, y)
    table = CONTAINERS[container](X, names)
    model = BayesClassifier(Normal()).fit(table, y)
    (ours,), (theirs,) = model.statistics_.totals, expected.statistics_.totals
    for name, array in theirs.arrays().items():
        assert_array_equal(ours.arrays()[name], array, strict=True)
    assert_array_equal(model.predict_proba(table), expected.predict_proba(X))


@pytest.mark.parametrize("worth_compiling", [1, 1 << 40])
def test_columns_of_several_types_are_summed_as_floats(worth_compiling, monkeypatch):
    monkeypatch.setattr(choose, "WORTH_COMPILING", worth_compiling)
    rng = np.random.default_rng(2)
    whole, y = rng.integers(-9, 9, 90), rng.integers(0, 3, 90)
    columns = {
        "a": whole,
        "b": whole.astype(np.float32),
        "c": whole.astype(np.float64) / 4,
        "d": whole.astype(np.int8),
        "e": whole > 0,
    }
    X = np.stack([np.asarray(column, np.float64) for column in columns.values()], axis=1)
    expected = summarize(pd.DataFrame(X, columns=list(columns)), y, families=Normal())
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert summarize(frame, y, families=Normal()) == expected


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table, pd.DataFrame])
def test_an_infinity_is_refused_by_its_row_in_any_container(frame, monkeypatch):
    monkeypatch.setattr(choose, "CELLS_AT_ONCE", 100)
    columns = {f"x{j}": np.arange(90.0) for j in range(9)}
    model = BayesClassifier(Normal()).fit(frame(columns), np.arange(90) % 2)
    columns["x3"][71] = np.inf
    with pytest.raises(ValueError, match="column 'x3' contains the infinite value inf at row 71"):
        BayesClassifier(Normal()).fit(frame(columns), np.arange(90) % 2)
    with pytest.raises(ValueError, match="column 'x3' contains the infinite value inf at row 71"):
        model.predict_proba(frame(columns))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_squares_that_overflow_or_vanish_are_summed_all_the_same(scale):
    X, y = np.random.default_rng(3).normal(size=(60, 9)) * scale, np.arange(60) % 2
    frame = pl.from_numpy(X)
    ours, theirs = BayesClassifier(Normal()).fit(frame, y), BayesClassifier(Normal()).fit(X, y)
    assert_array_equal(ours.predict_proba(frame), theirs.predict_proba(X))
