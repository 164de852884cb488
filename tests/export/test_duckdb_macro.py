"""A macro of DuckDB scores any table with the columns of the model."""

import subprocess
import sys

import duckdb
import numpy as np
import pytest

import suffice


@pytest.fixture(scope="module")
def model():
    X, species = suffice.load_penguins()
    return suffice.BayesClassifier().fit(X, species)


def test_a_macro_scores_every_table_of_the_same_columns(model):
    X, _ = suffice.load_penguins()
    database = duckdb.connect()
    database.register("penguins", X)
    database.execute("CREATE TABLE few AS SELECT *, 7 AS id FROM penguins LIMIT 3")
    database.execute(model.to_duckdb_macro())
    expected = model.predict_proba(X)
    found = np.array(database.execute("FROM suffice_predict('penguins')").fetchall())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    found = np.array(database.execute("FROM suffice_predict('few')").fetchall())
    np.testing.assert_allclose(found, expected[:3], rtol=1e-9, atol=1e-12)


def test_a_macro_has_a_name_and_keys_of_ones_own(model):
    X, _ = suffice.load_penguins()
    database = duckdb.connect()
    database.register("penguins", X)
    database.execute("CREATE TABLE birds AS SELECT *, row_number() OVER () AS id FROM penguins")
    database.execute(model.to_duckdb_macro('a "good" guess', output="label", key="id"))
    found = database.execute("""SELECT label FROM "a ""good"" guess"('birds') ORDER BY id""").fetchall()
    assert [row[0] for row in found] == model.predict(X).tolist()


def test_the_command_line_writes_the_macro(model, tmp_path):
    model.save(tmp_path / "m.suffice")
    command = [
        "-m",
        "suffice",
        "export",
        str(tmp_path / "m.suffice"),
        "--to",
        "duckdb-macro",
        "--result",
        "label",
    ]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)  # noqa: S603, our own
    assert done.stdout == f"{model.to_duckdb_macro(output='label')};\n"
