"""Integers beyond 2⁵³ keep their digits: as levels, as labels, in explanations, samples and files."""

import io
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

import suffice
from suffice.tables.targets import read_labels

CLASSES = ["a", "b", "c"] * 20
ROWS = np.arange(60.0)
IDS = [2**53, 2**53 + 1, 2**53 + 2] * 20
UNSIGNED = [2**64 - 1, 2**64 - 2, 2**64 - 3] * 20
HUGE = [2**100, 2**100 + 1, -(2**100)] * 20
MIXED = [2**63, -1, 2**63 + 1] * 20


def decimals(values):
    return [Decimal(value) for value in values]


TABLES = {
    "pandas int64": (lambda: pd.DataFrame({"id": IDS, "x": ROWS}), IDS),
    "pandas Int64": (lambda: pd.DataFrame({"id": pd.array(IDS, dtype="Int64"), "x": ROWS}), IDS),
    "pandas uint64": (lambda: pd.DataFrame({"id": np.array(UNSIGNED, np.uint64), "x": ROWS}), UNSIGNED),
    "pandas UInt64": (lambda: pd.DataFrame({"id": pd.array(UNSIGNED, dtype="UInt64"), "x": ROWS}), UNSIGNED),
    "pandas objects": (lambda: pd.DataFrame({"id": pd.Series(HUGE, dtype=object), "x": ROWS}), HUGE),
    "pandas arrow": (
        lambda: pd.DataFrame({"id": pd.array(UNSIGNED, dtype="uint64[pyarrow]"), "x": ROWS}),
        UNSIGNED,
    ),
    "polars": (lambda: pl.DataFrame({"id": IDS, "x": ROWS}), IDS),
    "polars uint64": (
        lambda: pl.DataFrame({"id": pl.Series(UNSIGNED, dtype=pl.UInt64), "x": ROWS}),
        UNSIGNED,
    ),
    "polars int128": (lambda: pl.DataFrame({"id": pl.Series(HUGE, dtype=pl.Int128), "x": ROWS}), HUGE),
    "polars decimal": (
        lambda: pl.DataFrame({"id": pl.Series(decimals(HUGE), dtype=pl.Decimal(38, 0)), "x": ROWS}),
        HUGE,
    ),
    "pyarrow": (lambda: pa.table({"id": IDS, "x": ROWS}), IDS),
    "pyarrow uint64": (lambda: pa.table({"id": pa.array(UNSIGNED, pa.uint64()), "x": ROWS}), UNSIGNED),
    "pyarrow decimal": (
        lambda: pa.table({"id": pa.array(decimals(HUGE), pa.decimal128(38, 0)), "x": ROWS}),
        HUGE,
    ),
    "numpy int64": (lambda: np.array(IDS)[:, np.newaxis], IDS),
    "numpy uint64": (lambda: np.array(UNSIGNED, np.uint64)[:, np.newaxis], UNSIGNED),
    "numpy objects": (lambda: np.array(HUGE, dtype=object)[:, np.newaxis], HUGE),
    "masked": (lambda: np.ma.masked_array(np.array(IDS)[:, np.newaxis], mask=False), IDS),
    "list of lists": (lambda: [[one, x / 2] for one, x in zip(IDS, ROWS, strict=True)], IDS),
    "list of signed and unsigned": (lambda: [[one, 0.5] for one in MIXED], MIXED),
    "dict": (lambda: {"id": IDS, "x": ROWS}, IDS),
    "dict of signed and unsigned": (lambda: {"id": MIXED, "x": ROWS}, MIXED),
    "rows": (lambda: [{"id": one, "x": x} for one, x in zip(HUGE, ROWS, strict=True)], HUGE),
}


@pytest.fixture(params=TABLES)
def table(request):
    make, ids = TABLES[request.param]
    return make(), ids


def cells_of(X):
    """The first column, as Python integers."""
    if isinstance(X, np.ndarray):
        return list(map(int, X[:, 0].tolist()))
    if isinstance(X, list):
        return [row["id"] if isinstance(row, dict) else row[0] for row in X]
    read = "to_pylist" if isinstance(X, pa.Table) else "to_list" if isinstance(X, pl.DataFrame) else "tolist"
    return [int(cell) for cell in getattr(X["id"], read)()]


def by_category(X):
    named = not isinstance(X, (np.ndarray, list)) or isinstance(X[0], dict)
    return suffice.BayesClassifier({"id" if named else 0: "categorical"}).fit(X, CLASSES)


def test_levels_keep_their_digits(table):
    X, ids = table
    model = by_category(X)
    assert set(model.statistics_.totals[0].columns[0].levels) == set(ids)
    assert_array_equal(model.predict(X), CLASSES)
    assert list(model.explain(X).values[0]) == ids


def test_sampled_integers_keep_their_digits(table):
    X, ids = table
    model = by_category(X)
    sampled, _ = model.sample(labels=CLASSES, random_state=0)
    # Smoothing gives every level some probability in every class.
    assert set(cells_of(sampled)) == set(ids)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    again = suffice.load(file)
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    if ids is not HUGE or isinstance(X, (pd.DataFrame, np.ndarray, list)):  # files know no decimals
        assert cells_of(again.sample(labels=CLASSES, random_state=0)[0]) == cells_of(sampled)


def test_inference_tells_integers_apart_that_floats_do_not(table):
    X, _ = table
    column = next(iter(suffice.BayesClassifier().fit(X, CLASSES).schema_))
    if column.reason != "numbers in an array":
        assert column.family == suffice.families.Categorical()
        why = "a code, by its name" if column.name == "id" else "as floats, some would be the same"
        assert column.reason == f"whole numbers, 3 different: {why}"


@pytest.mark.parametrize("start", [2**53 - 30, 2**60, 2**63 - 30, 2**64 - 60, 2**90])
@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, dict])
def test_a_numbering_beyond_the_floats_is_an_identifier(start, container):
    numbers = list(range(start, start + 60))
    if container is pl.DataFrame and start == 2**90:
        numbers = pl.Series(numbers, dtype=pl.Int128)
    schema = suffice.BayesClassifier().fit(container({"n": numbers, "x": ROWS}), CLASSES).schema_
    assert schema["n"].reason == "an identifier: 60 whole numbers, all different"


@pytest.mark.parametrize("ids", [IDS, UNSIGNED, HUGE, MIXED], ids=["ids", "unsigned", "huge", "mixed"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_integers_of_text_files_keep_their_digits(tmp_path, ids, form):
    path = tmp_path / f"rows.{form}"
    rows = [{"id": one, "kind": label} for one, label in zip(ids, CLASSES, strict=True)]
    lines = [f"{row['id']},{row['kind']}" for row in rows] if form == "csv" else list(map(json.dumps, rows))
    path.write_text("\n".join((["id,kind"] if form == "csv" else []) + lines) + "\n")
    model = suffice.BayesClassifier({"id": "categorical"}).fit_from(path, target="kind")
    assert set(model.statistics_.totals[0].columns[0].levels) == set(ids)
    assert_array_equal(model.predict([{"id": one} for one in ids]), CLASSES)


@pytest.mark.parametrize(
    "cells", [pa.array(UNSIGNED, pa.uint64()), pa.array(decimals(HUGE), pa.decimal128(38, 0))]
)
def test_integers_of_parquet_files_keep_their_digits(tmp_path, cells):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": cells, "kind": CLASSES}), path)
    model = suffice.BayesClassifier({"id": "categorical"}).fit_from(path, target="kind")
    assert set(model.statistics_.totals[0].columns[0].levels) == set(map(int, cells.to_pylist()))


def test_a_point_in_a_later_row_makes_a_column_of_digits_floats(tmp_path):
    for form, text in (
        ("csv", f"id,kind\n{2**70},a\n0.5,b\n"),
        ("jsonl", f'{{"id": {2**70}, "kind": "a"}}\n{{"id": 0.5, "kind": "b"}}\n'),
    ):
        path = tmp_path / f"rows.{form}"
        path.write_text(text)
        statistics = suffice.summarize(path, target="kind", families={"id": "categorical"})
        assert set(statistics.totals[0].columns[0].levels) == {2**70, 0.5}


LABELS = {
    "list": list,
    "objects": lambda y: np.array(y, dtype=object),
    "pandas": lambda y: pd.Series(y, dtype=object),
    "polars": lambda y: pl.Series(y, dtype=pl.Int128),
    "decimals": decimals,
}


@pytest.mark.parametrize("form", LABELS)
@pytest.mark.parametrize("y", [IDS, UNSIGNED], ids=["ids", "unsigned"])
def test_labels_keep_their_digits(form, y):
    model = suffice.BayesClassifier().fit(ROWS[:, np.newaxis] % 3, LABELS[form](y))
    assert model.classes_.tolist() == sorted(set(y))
    assert model.classes_.dtype.kind in "iu"


@pytest.mark.parametrize("form", LABELS)
@pytest.mark.parametrize("y", [HUGE, MIXED], ids=["huge", "mixed"])
def test_labels_of_more_than_64_bits_are_refused_with_the_cure(form, y):
    with pytest.raises(ValueError, match="integers of more than 64 bits; convert them to strings"):
        read_labels(LABELS[form](y))


def test_batches_of_signed_and_unsigned_labels_keep_their_digits():
    X = np.array([[0.0], [1.0]])
    model = suffice.BayesClassifier().fit(X, np.array([2**60, 2**60 + 1]))
    model.partial_fit(X, np.array([2**60, 2**63 + 1], dtype=np.uint64))
    assert model.classes_.tolist() == [2**60, 2**60 + 1, 2**63 + 1]
    with pytest.raises(ValueError, match="more than 64 bits"):
        model.partial_fit(X, np.array([-1, -2]))


def test_large_floats_are_shown_as_floats():
    model = suffice.BayesClassifier().fit(pd.DataFrame({"x": [1e300, 2e300, 1e299, 3e300]}), list("aabb"))
    assert "1e+300" in model.explain(pd.DataFrame({"x": [1e300]})).describe()
