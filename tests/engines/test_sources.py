"""The same statistics from every source of rows."""

import subprocess
import sys

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from sklearn.base import clone

import suffice


def parts_of(frame, n_parts=5):
    return [
        frame.iloc[at : at + len(frame) // n_parts + 1]
        for at in range(0, len(frame), len(frame) // n_parts + 1)
    ]


SOURCES = {
    "a frame": lambda table, _: table,
    "a list of frames": lambda table, _: parts_of(table),
    "a generator of frames": lambda table, _: iter(parts_of(table)),
    "Polars frames": lambda table, _: [pl.from_pandas(part) for part in parts_of(table)],
    "record batches": lambda table, _: pa.Table.from_pandas(table).to_batches(100),
    "a RecordBatchReader": lambda table, _: pa.Table.from_pandas(table).to_reader(100),
    "an Arrow stream": lambda table, _: Streamed(table),
    "an Arrow dataset": lambda table, _: pa.dataset.dataset(pa.Table.from_pandas(table)),
    "a LazyFrame": lambda table, _: pl.from_pandas(table).lazy(),
    "a narwhals LazyFrame": lambda table, _: __import__("narwhals").from_native(pl.from_pandas(table).lazy()),
    "a relation": lambda table, _: duckdb.from_df(table),
    "an Ibis table": lambda table, _: ibis.connect("polars://").create_table("rows", table),
    "a parquet file": lambda table, folder: written(table, folder / "rows.parquet"),
    "SQL": lambda table, folder: f"FROM '{written(table, folder / 'rows.parquet')}'",
}


class Streamed:
    """Has nothing but an Arrow stream."""

    def __init__(self, table):
        self.table = pa.Table.from_pandas(table)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def written(table, path):
    table.to_parquet(path)
    return path


@pytest.mark.parametrize("source", SOURCES)
def test_any_source_gives_the_statistics_of_the_rows_in_memory(source, table, whole, families, tmp_path):
    found = suffice.summarize(SOURCES[source](table, tmp_path), target="kind", families=families)
    assert found.isclose(whole, rtol=1e-12)


@pytest.mark.parametrize("source", ["a generator of frames", "a LazyFrame", "a relation", "an Arrow stream"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_model_fitted_to_a_source_is_the_model_of_the_rows(source, weight, rows, families, tmp_path):
    data = rows.drop(columns="note")
    found = suffice.BayesClassifier(families).fit_from(
        SOURCES[source](data, tmp_path),
        target="kind",
        weight=weight,
        drop=["weight"] if weight is None else (),
    )
    X = data[list(families)]
    expected = suffice.BayesClassifier(families).fit(X, data.kind, data.weight if weight else None)
    assert found.statistics_.isclose(expected.statistics_)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-9, atol=1e-14)


def test_pairs_of_rows_and_labels_give_the_statistics_of_all_rows(table, whole, families):
    pairs = [(part.drop(columns="kind"), part.kind) for part in parts_of(table)]
    assert suffice.summarize(iter(pairs), families=families).isclose(whole)
    assert suffice.BayesClassifier(families).fit_from(pairs).statistics_.isclose(whole)


def test_pairs_of_arrays_are_rows_without_names():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    found = suffice.GaussianDiscriminant().fit_from((X[i : i + 20], y[i : i + 20]) for i in (0, 20, 40))
    np.testing.assert_allclose(
        found.predict_proba(X), suffice.GaussianDiscriminant().fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("as_array", [True, False])
def test_weighed_evidence_and_regressions_take_pairs(as_array, rows):
    X, y = rows[["height", "calls"]], rows.kind.to_numpy()
    X = X.to_numpy(float) if as_array else X
    pairs = [(X[i : i + 400], y[i : i + 400]) for i in range(0, 1200, 400)]
    found = suffice.LogisticRegression().fit_from(pairs)
    np.testing.assert_allclose(
        found.coef_, suffice.LogisticRegression().fit(X, y).coef_, rtol=1e-6, atol=1e-9
    )
    weighed = suffice.EvidenceClassifier().fit_from(pairs)
    assert weighed.classes_.tolist() == ["a", "b", "c"]
    assert weighed.score(X, y) > 0.5


def test_every_estimator_fits_lazy_rows(table):
    lazy = pl.from_pandas(table[["height", "calls", "kind"]]).lazy()
    for model in (suffice.LogisticRegression(), suffice.EvidenceClassifier(), suffice.GaussianDiscriminant()):
        expected = clone(model).fit(table[["height", "calls"]], table.kind)
        found = model.fit(lazy, "kind").predict_proba(table[["height", "calls"]])
        np.testing.assert_allclose(
            found, expected.predict_proba(table[["height", "calls"]]), rtol=1e-6, atol=1e-9
        )


def test_fit_takes_lazy_rows_with_the_name_of_their_labels(table, whole, families):
    found = suffice.BayesClassifier(families).fit(pl.from_pandas(table).lazy(), "kind")
    assert found.statistics_.isclose(whole)
    with pytest.raises(ValueError, match="y must be the name of a column"):
        suffice.BayesClassifier(families).fit(pl.from_pandas(table).lazy(), table.kind)


@pytest.mark.parametrize("source", ["a LazyFrame", "a relation"])
def test_words_weighed_evidence_and_regressions_read_lazy_rows(source, rows, tmp_path):
    data = rows[["note", "kind"]]
    text = suffice.TextClassifier().fit_from(SOURCES[source](data, tmp_path), target="kind")
    assert text.statistics_ == suffice.TextClassifier().fit(data.note, data.kind).statistics_
    numbers = rows[["height", "calls", "kind"]]
    for model in (suffice.EvidenceClassifier(), suffice.LogisticRegression()):
        found = model.fit_from(SOURCES[source](numbers, tmp_path), target="kind").predict_proba(
            numbers[["height", "calls"]]
        )
        expected = model.fit(numbers[["height", "calls"]], numbers.kind).predict_proba(
            numbers[["height", "calls"]]
        )
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_columns_are_found_by_name_in_any_order(table, whole, families):
    first, *others = parts_of(table)
    turned = [part[list(part.columns)[::-1]] for part in others]
    assert suffice.summarize([first, *turned], target="kind", families=families).isclose(whole)


@pytest.mark.parametrize("name", ["*", "^h.*$", 'a "b".c'])
def test_names_of_columns_are_not_patterns(name, table):
    odd = table.rename(columns={"height": name})
    expected = suffice.summarize(odd, target="kind")
    for source in (pl.from_pandas(odd).lazy(), duckdb.from_df(odd)):
        assert suffice.summarize(source, target="kind", families=expected.schema).isclose(expected)


def test_a_batch_that_lacks_a_column_is_refused_by_number(table, families):
    first, second, *_ = parts_of(table)
    with pytest.raises(ValueError, match="the iterable, batch 1: there is no column 'wait'"):
        suffice.summarize([first, second.drop(columns="wait")], target="kind", families=families)


@pytest.mark.parametrize("model", [suffice.BayesClassifier(), suffice.LogisticRegression()])
def test_numbers_may_be_whole_in_one_batch_and_have_gaps_or_decimals_in_another(model):
    x = np.arange(200.0) % 7
    whole, kinds = pd.DataFrame({"x": x, "kind": np.where(x > 2, "a", "b")}), (np.int32, np.int64, np.float32)
    batches = [whole.astype({"x": kind}) for kind in kinds]
    batches[2].loc[0, "x"] = 2.5
    found = model.fit_from(batches, target="kind")
    every = pd.concat(batches)
    expected = clone(model).fit(every[["x"]], every["kind"])
    np.testing.assert_allclose(
        found.predict_proba(whole[["x"]]), expected.predict_proba(whole[["x"]]), rtol=1e-12
    )


def test_a_batch_without_labels_is_refused_by_number(table):
    first, second, *_ = parts_of(table)
    with pytest.raises(ValueError, match="batch 1: column 'kind' has no label at row 0"):
        suffice.summarize([first, second.assign(kind=None)], target="kind")


def test_a_column_that_changes_its_kind_is_refused_by_number(table, families):
    first, second, *_ = parts_of(table)
    with pytest.raises(ValueError, match=r"batch 1: column 'wait' holds a text .*, but it held a number"):
        suffice.summarize([first, second.assign(wait="long")], target="kind", families=families)


def test_a_value_that_a_family_cannot_have_is_refused_with_its_batch_and_nothing_is_lost(table, families):
    first, second, *_ = parts_of(table)
    model = suffice.BayesClassifier(families).fit(first, "kind")
    before = model.statistics_
    many = pd.concat([first] * 500)
    with pytest.raises(ValueError, match=r"the iterable, batch 1, rows 0 to \d+: column 'wait'.*-1"):
        model.fit_from([many, second.assign(wait=-1.0)], target="kind")
    assert model.statistics_ == before


def test_a_value_in_a_later_file_is_refused_with_the_file_and_the_row_group(
    table, families, tmp_path, monkeypatch
):
    monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 10)
    first, second, *_ = parts_of(table)
    first.to_parquet(tmp_path / "1.parquet")
    second = second.assign(wait=np.where(np.arange(len(second)) == 230, -1.0, 1.0))
    second.to_parquet(tmp_path / "2.parquet", row_group_size=100)
    with pytest.raises(ValueError, match=r"2\.parquet, rows 200 to 240 \(row group 2\): column 'wait'.*-1"):
        suffice.summarize(tmp_path / "*.parquet", target="kind", families=families)


def test_a_source_that_can_be_read_once_is_not_read_twice(table, monkeypatch):
    numbers = table[["height", "calls", "kind"]]
    found = suffice.LogisticRegression().fit_from(iter(parts_of(numbers)), target="kind")
    assert (
        found.coef_ == suffice.LogisticRegression().fit_from(parts_of(numbers), target="kind").coef_
    ).all()
    monkeypatch.setattr("suffice.estimators.regression.rows.HELD_BYTES", 0)
    with pytest.raises(ValueError, match="can be read only once"):
        suffice.LogisticRegression().fit_from(iter(parts_of(numbers)), target="kind")


@pytest.mark.parametrize(
    "source, error, said",
    [
        (3, TypeError, "rows cannot be read from an int; pass paths, SQL, a frame"),
        (None, TypeError, "rows cannot be read from None"),
        (iter([]), ValueError, "the iterable has no rows"),
        ([np.zeros((4, 2)), np.zeros(4)], TypeError, r"a tuple \(X, y\), got ndarray"),
        ("nofile.csv", FileNotFoundError, "nofile.csv"),
    ],
)
def test_what_holds_no_rows_is_named_before_labels_are_asked_for(source, error, said):
    with pytest.raises(error, match=said):
        suffice.BayesClassifier().fit_from(source)


def test_rows_without_a_target_are_refused(table):
    with pytest.raises(ValueError, match=r"pass target= with the name .*, one of .*'kind'.*\(X, y\)"):
        suffice.summarize(pl.from_pandas(table).lazy())
    with pytest.raises(ValueError, match="there is no column 'knid'; did you mean 'kind'"):
        suffice.summarize(pl.from_pandas(table).lazy(), target="knid")
    with pytest.raises(TypeError, match="each batch must be a DataFrame"):
        suffice.summarize(iter([1, 2]), target="kind")


def test_no_engine_is_imported_that_the_user_did_not_bring():
    code = (
        "import sys, pandas as pd, suffice\n"
        "frame = pd.DataFrame({'x': [1.0, 2.0, 8.0, 9.0], 'y': ['a', 'a', 'b', 'b']})\n"
        "suffice.BayesClassifier().fit_from([frame], target='y')\n"
        "print([one for one in ('polars', 'duckdb', 'ibis', 'dask', 'pyspark') if one in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603, our own code
    assert run.stdout.strip() == "[]"
