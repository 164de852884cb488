"""Files as batches: every format gives the same rows, and columns have one type from first to last."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, ipc
from pyarrow import parquet as pq

import suffice
from suffice.tables.files import formats
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.source import open_source
from suffice.tables.targets import UnknownColumnError

HOSTILE = ['a"; drop table x; --', "a,b", "a=b", "new\nline", " space ", "Ünïcode ☃", "--help", "a.b[0]"]


def rows_of(path, form=None):
    return open_source(path, form).through(lambda batches: pa.concat_tables(list(batches)))


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that a small file has many of them."""
    monkeypatch.setattr(formats, "BLOCK_BYTES", 64)
    monkeypatch.setattr(formats, "BATCH_ROWS", 3)


def save(table, path):
    form = formats.format_of(path)
    if form in ("csv", "tsv"):
        options = csv.WriteOptions(delimiter="\t" if form == "tsv" else ",")
        csv.write_csv(table, path, options)
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    elif form == "parquet":
        pq.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    return path


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.jsonl", "t.ndjson", "t.parquet", "t.arrow", "t.feather"]
)
def test_every_format_gives_the_same_rows(tmp_path, name):
    table = pa.table({n: [i, i + 1, None] for i, n in enumerate(HOSTILE)} | {"s": ["x", None, 'q"u,o\nte']})
    path = save(table, tmp_path / name)
    assert rows_of(path).to_pydict() == table.to_pydict()


@pytest.mark.parametrize(
    "escaped, text",
    [
        (r"good \ud800 film", "good \ufffd film"),
        (r"\udc00", "\ufffd"),
        (r"\uD83D\uDE00 \uD83D", "\U0001f600 \ufffd"),
        (r"\udc00\ud83d\ude00\ud800\ud800", "\ufffd\U0001f600\ufffd\ufffd"),
        (r"\ud800 \\ud800 \\\ud800 \n\"", '\ufffd \\ud800 \\\ufffd \n"'),
    ],
)
def test_lone_surrogates_of_jsonl_are_read_as_replacement_characters(tmp_path, escaped, text):
    path = write(tmp_path / "t.jsonl", f'{{"t": "fine", "y": "n"}}\n{{"t": "{escaped}", "y": "p"}}\n')
    assert rows_of(path).column("t").to_pylist() == ["fine", text]


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz", "t.jsonl.gz"])
def test_packed_files_are_read_as_they_are(tmp_path, name):
    table = pa.table({"a": [1.5, 2.5], "b": ["x", "y"]})
    plain = save(table, tmp_path / name.removesuffix(".gz"))
    packed = tmp_path / name
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert rows_of(packed).equals(rows_of(plain))


def test_an_arrow_stream_is_read_like_an_arrow_file(tmp_path):
    table = pa.table({"a": [1, 2], "b": ["x", "y"]})
    with ipc.new_stream(tmp_path / "s.arrow", table.schema) as writer:
        writer.write_table(table)
    assert rows_of(tmp_path / "s.arrow").equals(table)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "cells, expected",
    [
        (["1"] * 50 + ["2.5"], [1.0] * 50 + [2.5]),
        (["1"] * 50 + ["A7"], ["1"] * 50 + ["A7"]),
        ([""] * 50 + ["3"], [None] * 50 + [3]),
        (["true"] * 50 + ["maybe"], ["true"] * 50 + ["maybe"]),
        (["0.50"] * 50 + ["x"], ["0.50"] * 50 + ["x"]),
        (["1"] * 30 + ["2.5"] * 30 + ["z"], ["1"] * 30 + ["2.5"] * 30 + ["z"]),
        (["2020-01-01"] * 50 + ["soon"], ["2020-01-01"] * 50 + ["soon"]),
    ],
)
def test_a_cell_that_does_not_fit_widens_its_column_from_the_first_row(tmp_path, cells, expected):
    path = write(tmp_path / "t.csv", "a,b\n" + "".join(f"{cell},row {i}\n" for i, cell in enumerate(cells)))
    assert rows_of(path)["a"].to_pylist() == expected


@pytest.mark.usefixtures("small_blocks")
@given(cells=st.lists(st.sampled_from(["1", "-7", "2.5", "1e3", "", "true", "x", "2020-01-01"]), min_size=1))
@settings(max_examples=60, deadline=None)
def test_types_do_not_depend_on_the_size_of_blocks(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    write(path, "a,b\n" + "".join(f"{cell},z\n" for cell in cells))
    in_blocks = rows_of(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "BLOCK_BYTES", 1 << 22)
        assert in_blocks.to_pydict() == rows_of(path).to_pydict()


def test_files_of_different_types_meet_in_the_wider_one(tmp_path):
    pq.write_table(
        pa.table({"a": [1, 2], "b": pa.array(["x", "y"]).dictionary_encode()}), tmp_path / "1.parquet"
    )
    pq.write_table(pa.table({"a": [2.5], "b": ["z"]}), tmp_path / "2.parquet")
    table = rows_of(str(tmp_path / "*.parquet"))
    assert table.to_pydict() == {"a": [1.0, 2.0, 2.5], "b": ["x", "y", "z"]}


@pytest.mark.usefixtures("small_blocks")
def test_a_key_that_a_line_of_jsonl_lacks_is_a_missing_cell(tmp_path):
    lines = ['{"a": 1, "b": "x"}'] * 9 + ['{"b": "y"}', '{"a": 2.5}']
    table = rows_of(write(tmp_path / "t.jsonl", "\n".join(lines)))
    assert table["a"].to_pylist() == [1.0] * 9 + [None, 2.5]
    assert table["b"].to_pylist() == ["x"] * 9 + ["y", None]


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    assert rows_of(write(tmp_path / "t.csv", "\ufeffa,b\n1,2\n")).column_names == ["a", "b"]
    assert rows_of(write(tmp_path / "t.jsonl", '\ufeff{"a": 1}\n')).column_names == ["a"]


def test_the_headers_of_files_put_one_behind_the_other_are_no_rows(tmp_path):
    part = "a,b\n1,x\n2,y\n"
    assert rows_of(write(tmp_path / "t.csv", part * 3)).to_pydict() == {"a": [1, 2] * 3, "b": ["x", "y"] * 3}


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("t.csv", "", "empty"),
        ("t.csv", "a,b\n1,2\n3\n", "row 1 has 1 cell, but there are 2 columns"),
        ("t.csv", "a,b\n1,2\n3,4,5\n", "row 1 has 3 cells, but there are 2 columns"),
        ("t.csv", "a,a\n1,2\n", "more than once"),
        ("t.jsonl", "", "empty"),
        ("t.jsonl", '{"a": 1}\nnonsense\n', "row 1 is not a JSON object"),
        ("t.jsonl", '{"a": [1, 2]}\n', "lists, objects or bytes"),
        ("t.parquet", "a,b\n1,2\n", "no parquet file"),
        ("t.arrow", "a,b\n1,2\n", "t.arrow"),
        ("t.txt", "a,b\n1,2\n", "must end in .csv"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_file_and_the_reason(tmp_path, name, text, words):
    path = write(tmp_path / name, text)
    with pytest.raises(FileDataError, match=words) as refusal:
        rows_of(path)
    assert name in str(refusal.value)


def test_other_encodings_are_refused_with_the_cure(tmp_path):
    with pytest.raises(FileDataError, match="iconv"):
        rows_of(write(tmp_path / "t.csv", "a,b\n1,é\n", encoding="latin-1"))


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    whole = gzip.compress(b"a,b\n" + os.urandom(2000).hex().encode() + b",2\n")
    (tmp_path / "t.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileDataError, match="damaged or truncated"):
        rows_of(tmp_path / "t.csv.gz")


def test_paths_globs_and_lists_are_one_source(tmp_path):
    for i in range(3):
        write(tmp_path / f"part{i}.csv", f"a,b\n{i},x\n")
    wanted = {"a": [0, 1, 2], "b": ["x"] * 3}
    assert rows_of(str(tmp_path / "part*.csv")).to_pydict() == wanted
    assert rows_of([tmp_path / f"part{i}.csv" for i in range(3)]).to_pydict() == wanted
    with pytest.raises(FileNotFoundError, match="no file"):
        open_source(str(tmp_path / "nothing*.csv"))


# --- models from files ---------------------------------------------------------------------------


@pytest.fixture
def penguins(tmp_path):
    X, species = suffice.load_penguins()
    return X, species, save(X.append_column("species", pa.array(species)), tmp_path / "penguins.csv")


def test_a_model_from_a_file_is_the_model_of_its_rows(penguins):
    X, species, path = penguins
    from_file = suffice.BayesClassifier().fit_from(path, target="species")
    whole = suffice.BayesClassifier().fit(X, species)
    np.testing.assert_array_equal(from_file.predict_proba(X), whole.predict_proba(X))
    assert suffice.summarize(path, target="species") == whole.statistics_


@pytest.mark.usefixtures("small_blocks")
def test_batches_of_a_file_add_up_to_the_whole(penguins, monkeypatch):
    X, species, path = penguins
    monkeypatch.setattr(formats, "BLOCK_BYTES", 1 << 10)
    schema = suffice.BayesClassifier().fit(X, species).schema_
    monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 1)
    model = suffice.BayesClassifier(families=schema).fit_from(path, target="species")
    assert model.statistics_.isclose(suffice.summarize(X, species, families=schema))


def test_weights_and_columns_to_leave_out_are_named(tmp_path):
    path = write(tmp_path / "t.csv", "x,w,noise,y\n1,1,9,a\n2,0,9,a\n3,2,9,b\n5,1,9,b\n4,1,9,a\n")
    model = suffice.BayesClassifier().fit_from(path, target="y", weight="w", drop=["noise"])
    rows = pa.table({"x": [1, 3, 5, 4]})
    twin = suffice.BayesClassifier().fit(rows, ["a", "b", "b", "a"], [1, 2, 1, 1])
    assert model.statistics_ == twin.statistics_
    assert suffice.summarize(path, target="y", sample_weight="w", drop=["noise"]) == twin.statistics_


def test_documents_are_one_column_of_a_file(tmp_path):
    path = write(tmp_path / "t.csv", "text,y\ngood film,+\nbad film,-\ngood fun,+\n")
    model = suffice.TextClassifier().fit_from(path, target="y")
    twin = suffice.TextClassifier().fit(["good film", "bad film", "good fun"], ["+", "-", "+"])
    assert model.statistics_ == twin.statistics_
    with pytest.raises(ValueError, match="a single column"):
        suffice.TextClassifier().fit_from(write(tmp_path / "u.csv", "a,b,y\nx,y,z\n"), target="y")


def test_a_misspelt_column_is_answered_with_the_nearest(penguins):
    path = penguins[2]
    with pytest.raises(UnknownColumnError, match="did you mean 'species'"):
        suffice.summarize(path, target="specis")


def test_a_row_without_a_label_is_refused_by_its_number(tmp_path):
    path = write(tmp_path / "t.csv", "x,y\n1,a\n2,\n")
    with pytest.raises(ValueError, match="no label at row 1"):
        suffice.summarize(path, target="y")


def test_a_failed_fit_leaves_the_model_as_it_was(penguins, tmp_path):
    X, _, path = penguins
    model = suffice.BayesClassifier().fit_from(path, target="species")
    before = model.predict_proba(X)
    with pytest.raises(FileDataError):
        model.fit_from(write(tmp_path / "bad.csv", "x,y\n1,a\n2\n"), target="y")
    np.testing.assert_array_equal(model.predict_proba(X), before)


MEMORY = """
import resource, sys, suffice
warm = suffice.BayesClassifier().fit_from(sys.argv[1], target="y")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
suffice.BayesClassifier().fit_from(sys.argv[2], target="y")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_long_file_takes_no_more_memory_than_its_first_rows(tmp_path):
    rng = np.random.default_rng(0)

    def part(n):
        x = rng.normal(size=(n, 8))
        fields = {f"x{j}": x[:, j] for j in range(8)}
        return pa.table(
            fields | {"c": rng.choice(["red", "green", "blue"], n), "y": rng.choice(["a", "b"], n)}
        )

    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    csv.write_csv(part(1000), small)
    with csv.CSVWriter(large, part(1).schema) as writer:
        for _ in range(10):
            writer.write_table(part(100_000))
    command = [sys.executable, "-c", MEMORY, str(small), str(large)]
    used = 1024 * int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)  # noqa: S603
    assert used < 300e6, f"{used / 1e6:.0f} MB beyond those of a small file of {large.stat().st_size} bytes"


@pytest.mark.parametrize("held", [0, 1 << 27])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_regression_from_a_file_is_that_of_its_rows(tmp_path, monkeypatch, held, class_weight):
    rng = np.random.default_rng(0)
    X = pa.table({name: rng.normal(size=300).round(3) for name in "abc"})
    y = np.where(X["a"].to_numpy() + rng.normal(size=300) > 0.5, "yes", "no")
    weight = rng.integers(0, 3, size=300)
    path = save(X.append_column("w", pa.array(weight)).append_column("y", pa.array(y)), tmp_path / "t.csv")
    monkeypatch.setattr(formats, "BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr("suffice.tables.files.batches.SCHEMA_ROWS", 1)
    monkeypatch.setattr("suffice.estimators.regression.rows.HELD_BYTES", held)
    model = suffice.LogisticRegression(class_weight=class_weight)
    from_file = model.fit_from(path, target="y", weight="w").predict_proba(X)
    np.testing.assert_array_equal(from_file, model.fit(X, y, weight).predict_proba(X))


def test_a_regression_from_a_file_refuses_gaps_and_one_class(tmp_path):
    model = suffice.LogisticRegression()
    with pytest.raises(ValueError, match="column 'x' has missing cells"):
        model.fit_from(write(tmp_path / "t.csv", "x,z,y\n1,1,a\n,1,b\n"), target="y")
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit_from(write(tmp_path / "u.csv", "x,y\n1,a\n2,a\n"), target="y")


def test_weights_that_are_all_zero_are_refused(tmp_path):
    path = write(tmp_path / "t.csv", "x,w,y\n1,0,a\n2,0,b\n")
    with pytest.raises(ValueError, match="'w' is zero in every row"):
        suffice.BayesClassifier().fit_from(path, target="y", weight="w")


def test_an_empty_list_of_files_is_refused():
    with pytest.raises(ValueError, match="the list of files is empty; pass a path, a glob or a list of them"):
        suffice.BayesClassifier().fit_from([], target="y")
