"""Dicts of columns and lists of dicts are tables; what is not in memory is refused with the cure."""

import copy
import datetime as dt
import io

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_array_equal

import suffice
from suffice.tables.table import read_table

from .cells import decoded

CELLS = {
    "size": [1.5, 2.5, None, 4.0, 5.5, 0.5] * 10,
    "town": ["Ulm", None, "Bonn", "Ulm", "Bonn", "Ulm"] * 10,
    "age": [34, 51, 34, None, 28, 60] * 10,
    "smoker": [True, False, None, True, True, False] * 10,
    "day": [dt.date(2024, 1, day) for day in range(1, 7)] * 10,
}
LABELS = ["yes", "no", "no", "yes", "yes", "no"] * 10
ROWS = [
    {name: cell for name, cell in zip(CELLS, row, strict=True) if cell is not None}
    for row in zip(*CELLS.values(), strict=True)
]
FORMS = {"dict": CELLS, "rows": ROWS, "arrays": {name: np.array(cells) for name, cells in CELLS.items()}}


def frame():
    return pl.DataFrame({name: pl.Series(name, cells) for name, cells in CELLS.items()})


@pytest.fixture(params=FORMS)
def table(request):
    return FORMS[request.param]


def test_dicts_and_rows_give_the_model_of_a_frame(table):
    model, known = (suffice.BayesClassifier().fit(X, LABELS) for X in (table, frame()))
    assert model.statistics_ == known.statistics_
    assert [c.family for c in model.schema_] == [c.family for c in known.schema_]
    assert_array_equal(model.predict_proba(table), known.predict_proba(frame()))
    assert_array_equal(known.predict_proba(table), known.predict_proba(frame()))
    assert_array_equal(model.feature_names_in_, list(CELLS))
    assert model.n_features_in_ == 5


def test_a_key_that_a_row_lacks_is_a_missing_cell():
    assert decoded(read_table([{"a": 1}, {"b": "x"}, {"a": 3, "b": None}]), 0) == [1, None, 3]
    assert decoded(read_table([{"a": 1}, {"b": "x"}, {"a": 3, "b": None}]), 1) == [None, "x", None]


@pytest.mark.parametrize("missing", [False, True])
def test_rows_are_sampled_as_they_came(missing):
    X, y = suffice.BayesClassifier().fit(CELLS, LABELS).sample(30, random_state=0, missing=missing)
    assert list(X) == list(CELLS)
    assert all(type(column) is np.ndarray and len(column) == 30 for column in X.values())
    assert {type(cell) for cell in X["day"]} - {type(None)} == {dt.date}
    assert {type(cell) for cell in X["smoker"]} - {type(None)} == {bool}
    rows, again = suffice.BayesClassifier().fit(ROWS, LABELS).sample(30, random_state=0, missing=missing)
    assert type(rows) is list
    assert [list(row) for row in rows] == [list(CELLS)] * 30
    assert [row["town"] for row in rows] == X["town"].tolist()
    assert_array_equal(y, again)
    assert len(suffice.BayesClassifier().fit(ROWS, LABELS).predict(rows)) == 30


def test_a_saved_model_samples_as_before(table):
    model = suffice.BayesClassifier().fit(table, LABELS)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    again = suffice.load(file)
    X, kept = (one.sample(5, random_state=1)[0] for one in (model, again))
    assert repr(X) == repr(kept)
    assert repr(copy.deepcopy(model).sample(5, random_state=1)[0]) == repr(X)


def test_series_of_any_library_may_be_columns():
    ids = [2**60, None, 2**60 + 1]
    for series in (pd.Series(ids, dtype="Int64"), pl.Series(ids), pa.array(ids), pa.chunked_array([ids])):
        assert decoded(read_table({"id": series, "x": [1.0, 2.0, 3.0]})) == ids


def test_dicts_are_taken_wherever_tables_are(table):
    numbers = {name: FORMS["arrays"][name].astype(float) for name in ("size", "age")}
    for model in (suffice.BayesClassifier(), suffice.GaussianDiscriminant()):
        model.fit(numbers, LABELS)
        assert 0.0 <= model.score(numbers, LABELS) <= 1.0
        assert model.explain(numbers).to_frame().num_rows == 60 * 3  # two columns and the prior
        assert 0.0 < suffice.evaluate(model, numbers, LABELS).accuracy <= 1.0
    assert model.boundary("yes", "no")(numbers).shape == (60,)
    assert suffice.summarize(table, LABELS) == suffice.summarize(frame(), LABELS)
    complete = {name: np.nan_to_num(column) for name, column in numbers.items()}
    assert list(suffice.LogisticRegression().fit(complete, LABELS).feature_names_in_) == ["size", "age"]
    assert len(suffice.NoveltyDetector(suffice.BayesClassifier()).fit(complete).predict(complete)) == 60
    curves = suffice.compare([suffice.BayesClassifier()], table, LABELS, repeats=1, sizes=[20])
    assert curves.error.shape == (1, 1, 1)


def test_columns_are_checked_by_name():
    model = suffice.BayesClassifier().fit(CELLS, LABELS)
    with pytest.raises(ValueError, match="now missing:\n- size"):
        model.predict({name: CELLS[name] for name in ("town", "age", "smoker", "day")})


@pytest.mark.parametrize(
    "X, words",
    [
        ({"a": [1, 2], "b": [1]}, "column 'a' has 2 cells, but column 'b' has 1 cell"),
        ({"a": 1.0}, r"column 'a' is a float, not a list or array of cells.* A single row is .*\[row\]"),
        ({"a": "text"}, "column 'a' is a str"),
        ({"a": [[1], [2]]}, "column 'a' of X holds a list"),
        ([{"a": 1}, 3], "row 0 is a dict, but row 1 is a int"),
    ],
)
def test_dicts_that_are_not_tables_are_refused_with_the_column(X, words):
    with pytest.raises((TypeError, ValueError), match=words):
        suffice.BayesClassifier().fit(X, ["a", "b"])


def duckdb_relation():
    duckdb = pytest.importorskip("duckdb")
    return duckdb.sql("select 123456789 as secret, 'y' as y")


def foreign(library, name):
    cls = type(name, (), {"__module__": f"{library}.core", "__repr__": lambda _: "123456789"})
    return cls()


SECRET = pa.table({"secret": [123456789], "y": ["a"]})
LAZY = [
    (lambda: pl.from_arrow(SECRET).lazy(), r"X\.collect\(\)"),
    (lambda: nw.from_native(pl.from_arrow(SECRET)).lazy(), r"X\.collect\(\)"),
    (duckdb_relation, r"X\.to_arrow_table\(\)"),
    (lambda: ds.dataset(SECRET), r"X\.to_table\(\)"),
    (SECRET.to_reader, r"X\.read_all\(\)"),
    (lambda: foreign("dask", "DataFrame"), r"X\.compute\(\)"),
    (lambda: foreign("pyspark", "DataFrame"), r"X\.toPandas\(\)"),
]


@pytest.mark.parametrize("make, cure", LAZY)
@pytest.mark.parametrize(
    "act",
    [
        lambda X: suffice.BayesClassifier().fit(X, ["a"]),
        lambda X: suffice.BayesClassifier().fit([[1.0], [2.0]], [0, 1]).predict(X),
        lambda X: suffice.TextClassifier().fit(X, ["a"]),
        lambda X: suffice.summarize(X, ["a"]),
    ],
)
def test_a_table_that_is_not_in_memory_is_refused_with_the_call_that_reads_it(make, cure, act):
    with pytest.raises(ValueError, match=cure) as refusal:
        act(make())
    assert len(str(refusal.value)) < 120
    assert "123456789" not in str(refusal.value)


@pytest.mark.parametrize(
    "X", [{123456789, 3}, (i for i in [123456789]), "123456789", [123456789, 3], np.array([123456789.0, 3.0])]
)
def test_no_refusal_holds_a_copy_of_the_data(X):
    with pytest.raises((TypeError, ValueError), match="Expected a 2D table") as refusal:
        suffice.BayesClassifier().fit(X, ["a", "b"])
    assert "123456789" not in str(refusal.value)


def test_keys_may_come_in_any_order_and_be_absent_from_every_row():
    model = suffice.BayesClassifier().fit(ROWS, LABELS)
    turned = [dict(reversed(row.items())) for row in ROWS]
    assert_array_equal(model.predict_proba(turned), model.predict_proba(ROWS))
    assert_array_equal(model.predict_proba(dict(reversed(CELLS.items()))), model.predict_proba(CELLS))
    alone = [{"town": "Ulm"}, {"town": "Bonn"}, {}]
    nothing = pl.DataFrame({name: [None] * 3 for name in CELLS} | {"town": ["Ulm", "Bonn", None]})
    assert_array_equal(model.predict_proba(alone), model.predict_proba(nothing))
    assert_array_equal(model.predict_proba([{}]), model.priors_[np.newaxis])
    with pytest.raises(ValueError, match="unseen at fit time:\n- twon"):
        model.predict([{"twon": "Ulm"}])


def test_a_container_of_columns_does_not_hold_the_data():
    column = np.arange(1_000.0)
    (empty,) = read_table({"a": column}).container.template.columns
    assert len(empty) == 0
    assert not np.may_share_memory(empty, column)
    assert empty.base is None
