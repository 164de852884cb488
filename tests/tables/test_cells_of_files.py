"""The cells of files are read as what they are."""

import datetime as dt
import json
import random
from decimal import Decimal

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import ipc
from pyarrow import parquet as pq

import suffice
from suffice.cli import main
from suffice.tables.files import formats
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.source import open_source
from suffice.tables.files.types import Wanted

from .data_files import refused, rows_of, write


@pytest.mark.parametrize(
    "cells, expected",
    [
        (["9:30", "23:59:59.5"], [dt.time(9, 30), dt.time(23, 59, 59, 500_000)]),
        (["24:00", "9:30"], ["24:00", "9:30"]),
        (["9:3", "x"], ["9:3", "x"]),
        (["1 day, 0:00:05", "0:00:05"], [dt.timedelta(days=1, seconds=5), dt.timedelta(seconds=5)]),
        (["-1 day, 23:59:59.5"], [dt.timedelta(seconds=-0.5)]),
        (["-1 days +23:59:59"], [dt.timedelta(seconds=-1)]),
        (["2 days 00:00:00.000250"], [dt.timedelta(days=2, microseconds=250)]),
        (["25:00:00", "00:30:00"], [dt.timedelta(hours=25), dt.timedelta(minutes=30)]),
        (["P1DT2H", "-PT0.5S", "P3D"], [dt.timedelta(hours=26), dt.timedelta(seconds=-0.5), dt.timedelta(3)]),
        (["P", "PT"], ["P", "PT"]),
        (["9223372036854775808"], [2**63]),
        (["1" * 38, "2"], [Decimal("1" * 38), Decimal(2)]),
        (["1" * 40], [float("1" * 40)]),
    ],
)
def test_cells_of_csv_are_read_as_what_they_look_like(tmp_path, cells, expected):
    text = "a;b\n" + "".join(f"{cell};z\n" for cell in cells)
    assert rows_of(write(tmp_path / "t.csv", text), sep=";")["a"] == expected


def test_nanoseconds_are_kept(tmp_path):
    path = write(
        tmp_path / "t.csv", "a,b\n2020-01-02 03:04:05.000000006,12:00:00.000000007\n2020-01-02,1:00\n"
    )
    table = next(open_source(path).batches())
    assert table.schema.types == [pa.timestamp("ns"), pa.time64("ns")]
    assert table["a"].cast(pa.int64())[0].as_py() % 10**9 == 6
    assert table["b"].cast(pa.int64())[0].as_py() == 12 * 3600 * 10**9 + 7


@pytest.mark.parametrize("later, expected", [("25:00:00", dt.timedelta(hours=25)), ("soon", "soon")])
def test_times_widen_to_durations_and_to_text(tmp_path, monkeypatch, later, expected):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 32)
    path = write(tmp_path / "t.csv", "a,b\n" + "01:00:00,z\n" * 20 + f"{later},z\n")
    first = dt.timedelta(hours=1) if later != "soon" else "01:00:00"
    assert rows_of(path)["a"] == [first] * 20 + [expected]


@pytest.mark.parametrize("wanted", ["moment", "clock", "duration", "number", "boolean", "level"])
def test_cells_are_read_as_the_kind_that_is_wanted(tmp_path, wanted):
    cells = {
        "moment": "2020-01-02 03:04:05.000000006",
        "clock": "3:04:05",
        "duration": "3:04:05",
        "number": "1",
        "boolean": "true",
        "level": "1",
    }
    path = write(tmp_path / "t.csv", f"a\n{cells[wanted]}\nnothing\n")
    source = open_source(path).only(["a"], {"a": Wanted(wanted)})
    if wanted == "level":
        assert next(source.batches())["a"].to_pylist() == ["1", "nothing"]
        return
    with pytest.raises(FileDataError, match="row 1 holds 'nothing'"):
        list(source.batches())
    path = write(tmp_path / "t.csv", f"a\n{cells[wanted]}\n")
    of = next(open_source(path).only(["a"], {"a": Wanted(wanted)}).batches()).schema.types[0]
    assert not pa.types.is_string(of)
    assert (wanted == "duration") == pa.types.is_duration(of)


@pytest.mark.parametrize("block", [24, 1 << 22])
def test_numbers_that_turn_into_text_in_jsonl_are_text_as_they_are_written(tmp_path, monkeypatch, block):
    monkeypatch.setattr(formats, "BLOCK_BYTES", block)
    cells = ["1", "2.50", "true", '"x\\u00e9"', "null", "1e3"]
    path = write(tmp_path / "t.jsonl", "".join(f'{{"a": {cell}, "n": 1}}\n' for cell in cells))
    assert rows_of(path) == {"a": ["1", "2.50", "true", "xé", None, "1e3"], "n": [1] * 6}


def test_large_integers_of_jsonl_keep_their_digits(tmp_path):
    rows = [{"a": 2**63, "b": 2**63, "c": 2**70 + 1}, {"a": 3, "b": 0.5, "c": 1}]
    found = rows_of(write(tmp_path / "t.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert found == {"a": [2**63, 3], "b": [2.0**63, 0.5], "c": [2**70 + 1, 1]}


def test_a_byte_order_mark_between_joined_files_is_no_data(tmp_path):
    part = "\ufeffa,b\n1,x\n"
    assert rows_of(write(tmp_path / "t.csv", part * 3)) == {"a": [1] * 3, "b": ["x"] * 3}
    assert rows_of(write(tmp_path / "t.jsonl", '\ufeff{"a": 1}\n' * 3)) == {"a": [1] * 3}


def test_headers_that_look_like_missing_cells_are_no_rows_either(tmp_path):
    path = write(tmp_path / "t.csv", "NA,,b\n1,2,x\nNA,,b\n,3,y\n")
    expected = {"NA": [1, None], "": [2, 3], "b": ["x", "y"]}
    assert rows_of(path) == expected
    for name, cells in expected.items():
        assert next(open_source(path).only([name]).batches()).to_pydict() == {name: cells}


def test_headers_of_joined_files_are_no_rows_where_one_column_is_read(tmp_path):
    source = open_source(write(tmp_path / "t.csv", "a,b\n1,x\na,b\na,y\n")).only(["a"])
    assert next(source.batches()).to_pydict() == {"a": ["1", "a"]}


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["x", "y"], pa.large_string()),
        pa.array(["x", "y"], pa.string_view()),
        pa.array([b"x", b"y"]),
        pa.array([b"x", b"y"], pa.large_binary()),
        pa.array([b"x", b"y"], pa.binary_view()),
        pa.array(["x", "y"]).dictionary_encode(),
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), pa.array(["x", "y"])),
    ],
    ids=lambda column: str(column.type),
)
def test_text_of_every_type_is_text(tmp_path, column):
    table = pa.table({"a": column})
    with ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    assert rows_of(tmp_path / "t.arrow") == {"a": ["x", "y"]}


@pytest.mark.parametrize(
    "cells",
    [[b"\xff"], [[1]], [{"b": 1}], [pa.MonthDayNano([1, 2, 3])]],
    ids=["bytes", "list", "object", "interval"],
)
def test_cells_that_are_no_values_are_refused(tmp_path, cells):
    table = pa.table({"a": cells})
    with ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    refused(tmp_path / "t.arrow", "column 'a' holds lists, objects or bytes")


def test_lists_behind_a_cell_that_widens_its_column_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 32)
    text = '{"a": 1, "b": 1}\n' * 5 + '{"a": "x", "b": 1}\n' * 5 + '{"a": 1, "b": [1]}\n' * 5
    refused(write(tmp_path / "t.jsonl", text), "column 'b' holds lists")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_files_without_rows_have_their_columns(tmp_path, name):
    path, table = tmp_path / name, pa.table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.string())})
    if name == "t.csv":
        write(path, "a,y\n")
    elif name == "t.parquet":
        pq.write_table(table, path)
    else:
        with ipc.new_file(path, table.schema):
            pass
    assert rows_of(path) == {"a": [], "y": []}
    with pytest.raises(FileDataError, match="no rows below the header"):
        suffice.summarize(path, target="y")


@pytest.mark.parametrize("extension", ["csv", "jsonl", "parquet", "arrow"])
def test_what_sample_writes_predict_reads(tmp_path, extension):
    day, rng = dt.datetime(2020, 1, 1), random.Random(0)  # noqa: DTZ001
    lines = ["clock,duration,moment,number,y"]
    for i in range(80):
        gap = dt.timedelta(seconds=rng.randrange(200_000) + 50_000 * (i % 2))
        digits = f"{rng.randrange(10**9):09}"
        lines.append(f'{(day + gap).time()},"{gap}",{day + gap}.{digits},{2**63 + i % 5},{"ab"[i % 2]}')
    write(tmp_path / "t.csv", "\n".join(lines) + "\n")
    model, drawn = str(tmp_path / "m.suffice"), str(tmp_path / f"drawn.{extension}")
    for command in (
        ["fit", str(tmp_path / "t.csv"), "-y", "y", "-o", model],
        ["sample", model, "-n", "20", "--seed", "1", "-y", "y", "-o", drawn],
        ["predict", model, drawn],
    ):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 21
    reasons = [column.reason for column in suffice.load(model).schema_]
    for word, reason in zip(["a clock", "a duration", "a moment", "whole numbers"], reasons, strict=True):
        assert word in reason


def test_a_header_alone_gives_a_header_alone(tmp_path):
    model = str(tmp_path / "m.suffice")
    path = str(write(tmp_path / "t.csv", "x,y\n" + "1,a\n5,b\n" * 10))
    assert CliRunner().invoke(main, ["fit", path, "-y", "y", "-o", model]).exit_code == 0
    result = CliRunner().invoke(main, ["predict", model, str(write(tmp_path / "h.csv", "x,y\n"))])
    assert (result.exit_code, result.stdout) == (0, "prediction\n")
