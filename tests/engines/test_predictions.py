"""Answers to rows of any source."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice


@pytest.fixture(scope="module")
def model(table, families):
    return suffice.BayesClassifier(families).fit(table, "kind")


@pytest.fixture(scope="module")
def posterior(model, table):
    return model.predict_proba(table.drop(columns="kind"))


SOURCES = {
    "a LazyFrame": lambda table: pl.from_pandas(table).lazy(),
    "a relation": duckdb.from_df,
    "frames": lambda table: iter([table.iloc[:500], table.iloc[500:]]),
    "a stream": lambda table: pa.Table.from_pandas(table).to_reader(100),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_answers_to_a_source_are_those_to_its_rows(source, table, model, posterior):
    found = model.predict_from(SOURCES[source](table), keep=["calls"]).read_all()
    assert found.column_names == ["calls", "prediction", "p(a)", "p(b)", "p(c)"]
    assert found["calls"].to_pylist() == table.calls.tolist()
    assert found["prediction"].to_pylist() == model.predict(table.drop(columns="kind")).tolist()
    columns = np.column_stack([found[f"p({label})"].to_numpy() for label in "abc"])
    np.testing.assert_array_equal(columns, posterior)


@pytest.mark.parametrize("name", ["answers.parquet", "answers.csv", "answers.arrow"])
def test_answers_are_written_to_files(name, table, model, posterior, tmp_path):
    assert model.predict_from(pl.from_pandas(table).lazy(), tmp_path / name) is None
    readers = {
        "parquet": pd.read_parquet,
        "csv": pd.read_csv,
        "arrow": lambda path: pa.ipc.open_stream(path).read_pandas(),
    }
    found = readers[name.split(".")[1]](tmp_path / name)
    np.testing.assert_allclose(found[["p(a)", "p(b)", "p(c)"]], posterior, rtol=1e-12)


def test_an_answer_that_fails_leaves_the_file_as_it_was(table, model, tmp_path):
    path = tmp_path / "answers.parquet"
    model.predict_from([table], path, proba=False)
    assert pq.read_schema(path).names == ["prediction"]

    def broken():
        yield table
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        model.predict_from(broken(), path)
    assert pq.read_schema(path).names == ["prediction"]
    assert [one.name for one in tmp_path.iterdir()] == ["answers.parquet"]


def test_a_function_is_given_each_table_of_answers(table, model):
    found = []
    model.predict_from([table.iloc[:7], table.iloc[7:9]], found.append, proba=False)
    assert [one.num_rows for one in found] == [7, 2]


def test_documents_are_read_from_their_column(rows):
    model = suffice.TextClassifier().fit(rows.note, rows.kind)
    found = model.predict_from(pl.from_pandas(rows[["note"]]).lazy()).read_all()
    assert found["prediction"].to_pylist() == model.predict(rows.note).tolist()


def test_what_cannot_be_answered_is_refused(table, model, tmp_path):
    with pytest.raises(ValueError, match="the data lacks 'wait', which the model needs"):
        model.predict_from([table.drop(columns="wait")])
    with pytest.raises(ValueError, match="there is no column 'id'"):
        model.predict_from([table], keep=["id"])
    with pytest.raises(ValueError, match=r"answers are written to \.parquet, \.arrow, \.csv files"):
        model.predict_from([table], tmp_path / "answers.jsonl")
    with pytest.raises(TypeError, match="sink must be a path"):
        model.predict_from([table], 3)
