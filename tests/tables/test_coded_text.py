"""Text that parquet files hold as codes stays codes, and gives what the text itself gives."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from suffice import BayesClassifier, summarize
from suffice.engines.model_columns import reader
from suffice.families import Categorical, Normal, Words
from suffice.tables.files import batches, columnar, formats
from suffice.tables.files.batches import LabelledFiles
from suffice.tables.files.formats import DataFile
from suffice.tables.files.source import open_source

ROWS = 900


@pytest.fixture(autouse=True)
def _short_batches(monkeypatch):
    monkeypatch.setattr(formats, "BATCH_ROWS", 100)
    monkeypatch.setattr(batches, "SCHEMA_ROWS", 100)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    colours = np.array(["red", "green", None, "10", "blue"], dtype=object)
    return pa.table(
        {
            "x": rng.integers(-64, 64, ROWS) / 8 + y,
            "colour": pa.array(colours[np.minimum(rng.integers(0, 5, ROWS), 3 + (np.arange(ROWS) > 700))]),
            "text": [f"row {i} is of class {k}" for i, k in enumerate(y)],
            "y": pa.array(np.array(["low", "mid", "top"], dtype=object)[y]),
        }
    )


def written(tmp_path, table, **options):
    path = tmp_path / f"rows{len(list(tmp_path.iterdir()))}.parquet"
    pq.write_table(table, path, **options)
    return path


FAMILIES = {"x": Normal(), "colour": Categorical(), "text": Words()}


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"row_group_size": 70}], ids=str)
@pytest.mark.parametrize("families", [FAMILIES, "infer"], ids=["given", "inferred"])
def test_files_of_codes_give_the_statistics_of_the_table(table, tmp_path, options, families):
    path = written(tmp_path, table, **options)
    found = summarize(path, target="y", families=families)
    assert found == summarize(table, target="y", families=found.schema)
    assert BayesClassifier(families).fit_from(path, target="y").statistics_ == found


def test_codes_of_different_files_are_told_apart(table, tmp_path):
    parts = [table.slice(0, 400), table.slice(400, 300), table.slice(700)]
    paths = [written(tmp_path, part, use_dictionary=part is not parts[1]) for part in parts]
    categories = parts[0].set_column(1, "colour", parts[0]["colour"].dictionary_encode())
    paths[0] = written(tmp_path, categories)
    expected = summarize(table, target="y", families=FAMILIES)
    assert summarize(paths, target="y", families=FAMILIES) == expected
    assert summarize(paths[::-1], target="y", families=FAMILIES) == expected


def test_only_text_that_takes_little_room_comes_as_codes(table, tmp_path):
    path = written(tmp_path, table)
    found = columnar._coded_text(DataFile(path, "parquet"), ("x", "colour", "text", "y"))
    assert found == {"colour", "y"}


def test_later_batches_hold_codes_and_the_first_holds_text(table, tmp_path):
    files = LabelledFiles.of(written(tmp_path, table), "y").coded()
    types = files.through(lambda found: [(batch.X["colour"].type, batch.y.type) for batch in found])
    assert types[0] == (pa.string(), pa.string())
    assert all(pa.types.is_dictionary(of) for pair in types[1:] for of in pair)
    plain = LabelledFiles.of(written(tmp_path, table), "y")
    assert all(batch.X["colour"].type == pa.string() for batch in plain.through(list))


def test_a_dictionary_that_shortens_text_declares_no_categories(table, tmp_path):
    some = table.filter(pc.is_in(table["colour"], pa.array(["red", "green"])))
    categories = some.set_column(
        1, "colour", pa.array([*some["colour"].to_pylist(), "never"]).dictionary_encode().slice(0, len(some))
    )
    path = written(tmp_path, categories)
    assert summarize(path, target="y", families=FAMILIES).schema["colour"].family == Categorical()


def test_predictions_of_codes_are_those_of_text(table, tmp_path):
    path = written(tmp_path, table)
    model = BayesClassifier(FAMILIES).fit(table.drop_columns("y"), table["y"])
    reading = reader(model, open_source(path))
    batches = list(reading.rows(replace(open_source(path), coded=reading.coded)).batches())
    assert all(pa.types.is_dictionary(batch["colour"].type) for batch in batches)
    found = np.concatenate([model.predict_proba(reading.arranged(batch)) for batch in batches])
    assert np.array_equal(found, model.predict_proba(table.drop_columns("y")))
