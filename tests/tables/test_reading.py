"""What files may hold and how they may be written: read as what it is, or refused with the cure."""

import bz2
import datetime as dt
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from decimal import Decimal

import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import ipc
from pyarrow import parquet as pq

import suffice
from suffice.cli import main
from suffice.tables.files import formats, readers, separated
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.options import ReadingOptions
from suffice.tables.files.source import open_source

PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


def rows_of(path, form=None, **options):
    source = open_source(path, form, ReadingOptions(**options))
    return source.through(lambda batches: pa.concat_tables(list(batches))).to_pydict()


def write(path, content, encoding="utf-8"):
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def refused(path, match, **options):
    with pytest.raises(FileDataError, match=match) as refusal:
        rows_of(path, **options)
    assert path.name in str(refusal.value)


# --- never hang, never crash ----------------------------------------------------------------------

READ_OFTEN = """
import sys
from suffice.tables.files.source import open_source
for _ in range(6):
    try:
        list(open_source(sys.argv[1]).batches())
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_broken_row_far_above_the_end_neither_hangs_nor_aborts(tmp_path, name):
    content = b"a,b,y\n1,2\n" + b"1.25,2.5,x\n" * 1_000_000
    path = write(tmp_path / name, gzip.compress(content, 1) if name.endswith("gz") else content)
    command = [sys.executable, "-c", READ_OFTEN, str(path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout  # noqa: S603
    assert told.count("row 0 has 2 cells, but there are 3 columns: '1,2'") == 6


def damaged_arrow(place, byte):
    table = pa.table({"a": ["one", "two", None], "b": pa.array(["x", "y", "x"]).dictionary_encode()})
    file = io.BytesIO()
    with ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    packed = bytearray(file.getvalue())
    packed[place] = byte
    return bytes(packed)


READ_ALL = """
import sys
from pathlib import Path
from suffice.tables.files.source import open_source
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        list(open_source(path).batches())[0].to_pydict()
    except ValueError:
        pass
print("done")
"""


def test_damaged_arrow_files_are_refused_before_they_are_used(tmp_path):
    length = len(damaged_arrow(0, ord("A")))
    for place in range(8, length, 3):
        for byte in (0x7F, 0xFF):
            write(tmp_path / f"{place:05}-{byte}.arrow", damaged_arrow(place, byte))
    command = [sys.executable, "-c", READ_ALL, str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout  # noqa: S603
    assert told == "done\n"


def test_text_of_columnar_files_that_is_not_utf8_is_refused(tmp_path):
    broken = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    pq.write_table(pa.table({"a": broken}), tmp_path / "t.parquet")
    refused(tmp_path / "t.parquet", "UTF8")


def packed_line(n_bytes):
    """A gzip file with one line of jsonl that has no end for so long."""
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as packed:
        packed.write(b'{"a": "')
        for _ in range(n_bytes >> 20):
            packed.write(b"x" * (1 << 20))
    return file.getvalue()


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.csv.gz"])
def test_a_line_without_an_end_is_refused_after_a_few_blocks(tmp_path, monkeypatch, name):
    path = write(tmp_path / name, packed_line(1 << 26))
    n_read = []
    read = gzip.GzipFile.read
    monkeypatch.setattr(
        gzip.GzipFile, "read", lambda self, n=-1: n_read.append(len(got := read(self, n))) or got
    )
    refused(path, "longer than 4 MB")
    assert sum(n_read) <= 3 * formats.BLOCK_BYTES


def test_deep_nesting_is_refused_and_brackets_in_text_are_not(tmp_path):
    refused(write(tmp_path / "t.jsonl", '{"a": ' + "[" * 100_000 + "}\n"), "nested more than")
    deep = '{"a": 1, "b": ' + '{"c": ' * 100_000 + "1" + "}" * 100_001 + "\n"
    refused(write(tmp_path / "t.jsonl", deep), "nested more than")
    text = '"[{' * 3 + "[" * 1000
    path = write(tmp_path / "t.jsonl", json.dumps({"a": text}) + "\n")
    assert rows_of(path) == {"a": [text]}


@pytest.mark.parametrize(
    "text, row",
    [
        ("null\n", 0),
        ("\n null, 1\n", 0),
        ('null\n{"a": 1}\n', 0),
        ('{"a": 1}\n\n{"a": 2}\nnull\n{"a": 3}\n', 2),
        ('{"a": 1}\n' * 20 + "null\n", 20),
        ("[1]\n", 0),
        ("1\n", 0),
        ('{"a": 1}\n{"a":\n1}\n', 1),
        ('{"a": 1} \n\t{"a": 2}\t\r\n {"a": 3},\n', 2),
        ('{"a":\n' * 100_000, 0),
        ('{"a":\n' + "[\n" * 100_000, 0),
    ],
)
@pytest.mark.parametrize("block", [16, 1 << 22])
def test_lines_that_are_no_objects_are_refused(tmp_path, monkeypatch, block, text, row):
    monkeypatch.setattr(formats, "BLOCK_BYTES", block)
    refused(write(tmp_path / "t.jsonl", text), f"row {row} is not a JSON object in one line")


@pytest.mark.parametrize("extension, pack", PACKED.items())
@pytest.mark.parametrize("name, content", [("t.csv", b"a,b\n1,x\n"), ("t.jsonl", b'{"a": 1, "b": "x"}\n')])
def test_packed_files_of_every_kind_are_read(tmp_path, name, content, extension, pack):
    path = write(tmp_path / f"{name}.{extension}", pack(content))
    assert rows_of(path) == {"a": [1], "b": ["x"]}
    refused(write(path, pack(content * 1000)[:-9]), "damaged or truncated")


@pytest.mark.parametrize("extension, pack", PACKED.items())
@pytest.mark.parametrize("opener", [ipc.new_file, ipc.new_stream])
def test_packed_arrow_files_and_streams_are_read(tmp_path, opener, extension, pack):
    file, table = io.BytesIO(), pa.table({"a": [1, 2], "b": ["x", None]})
    with opener(file, table.schema) as writer:
        writer.write_table(table)
    path = write(tmp_path / f"t.arrow.{extension}", pack(file.getvalue()))
    assert rows_of(path) == table.to_pydict()


# --- clear errors ---------------------------------------------------------------------------------


def test_lines_may_end_in_carriage_returns_alone(tmp_path):
    assert rows_of(write(tmp_path / "t.csv", 'a,b\r1,"x\ry"\r3,4\r')) == {"a": [1, 3], "b": ["x\ry", "4"]}
    assert rows_of(write(tmp_path / "t.jsonl", '{"a": 1}\r{"a": 2}\r')) == {"a": [1, 2]}


def test_names_may_be_of_any_length_and_hold_anything(tmp_path):
    long = "x" * 200_000
    assert open_source(write(tmp_path / "t.csv", f"{long},b\n1,2\n")).names == (long, "b")
    odd = '"a ""quoted"" name",1.50,"2\n3",,"q"r\n1,2,3,4,5\n'
    assert open_source(write(tmp_path / "t.csv", odd)).names == ('a "quoted" name', "1.50", "2\n3", "", "qr")


def test_a_header_of_too_many_cells_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(separated, "MOST_COLUMNS", 2)
    refused(write(tmp_path / "t.csv", "a,b,c\n1,2,3\n"), "3 cells, but a table may have 2 columns")


@pytest.mark.parametrize(
    "name, content", [("t.csv", "a,b\nx,y\né,z\n"), ("t.jsonl", '{"a":"x"}\n{"a":"é"}\n')]
)
def test_other_encodings_are_named_by_row_and_read_when_they_are_chosen(tmp_path, name, content):
    path = write(tmp_path / name, content, "latin-1")
    refused(path, "not UTF-8 in row 1; name its encoding, as in --encoding latin-1")
    assert rows_of(path, encoding="latin-1")["a"] == ["x", "é"]
    path = write(tmp_path / name, content, "utf-16")
    refused(path, "--encoding utf-16")
    assert rows_of(path, encoding="utf-16")["a"] == ["x", "é"]
    refused(write(tmp_path / name, b"\x81\n"), "not cp1252", encoding="cp1252")


@pytest.mark.parametrize("joined", ["", "a,b\n", "\ufeffa,b\n", "\n\n"])
def test_rows_are_counted_from_0_without_headers_and_empty_lines(tmp_path, joined):
    text = f"a,b\n1,x\n{joined}2,y\n3\n"
    refused(write(tmp_path / "t.csv", text), "row 2 has 1 cell, but there are 2 columns: '3'")


def test_rows_are_counted_within_their_file(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 16)
    first = write(tmp_path / "1.csv", "a,y\n" + "1,x\n" * 20)
    for name, text, words in (
        ("2.csv", "a,y\n1,x\n2,\n", "2.csv: column 'y' has no label at row 1"),
        ("3.csv", "a,y\n" + "1,x\n" * 20 + "5\n", "3.csv: row 20 has 1 cell"),
        ("4.jsonl", '{"a":1,"y":"x"}\n' * 9 + "nonsense\n", "4.jsonl: row 9 is not a JSON object"),
    ):
        with pytest.raises(FileDataError, match=words):
            suffice.summarize([first, write(tmp_path / name, text)], target="y")
    with pytest.raises(ValueError, match=r"column 'a' is -2.0 at row 1 of .*5\.csv"):
        suffice.summarize(
            [
                write(tmp_path / "0.csv", "a,b,y\n1,1,x\n"),
                write(tmp_path / "5.csv", "a,b,y\n1,1,x\n-2,1,x\n"),
            ],
            target="y",
            sample_weight="a",
        )


def test_a_quote_that_is_never_closed_is_refused(tmp_path):
    refused(write(tmp_path / "t.csv", 'a,b\n1,"x\n2,y\n'), "quote is never closed")


@pytest.mark.parametrize(
    "name, content, cure",
    [("t.csv", "a;y\n1;x\n", "';'"), ("t.csv", "a\ty\n1\tx\n", "tab"), ("t.tsv", "a,y\n1,x\n", "','")],
)
def test_another_separator_is_recognized_and_can_be_named(tmp_path, name, content, cure):
    path = write(tmp_path / name, content)
    refused(path, f"Name the separator with --sep {cure}")
    assert rows_of(path, sep=cure.strip("'")) == {"a": [1], "y": ["x"]}


def test_a_single_column_of_text_may_hold_other_separators(tmp_path):
    assert rows_of(write(tmp_path / "t.csv", "text; lower\nno\n")) == {"text; lower": ["no"]}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_since_it_cannot_be_read_twice(tmp_path):
    os.mkfifo(tmp_path / "t.csv")

    def feed():
        with suppress(BrokenPipeError):
            write(tmp_path / "t.csv", "a,b\n1,2\n")

    writer = threading.Thread(target=feed)
    writer.start()
    refused(tmp_path / "t.csv", "send it to stdin")
    writer.join()


@pytest.mark.parametrize(
    "options, match",
    [
        ({"sep": "ab"}, "one ASCII character"),
        ({"sep": '"'}, "one ASCII character"),
        ({"decimal": ";"}, "decimal must be"),
        ({"encoding": "nothing"}, "'nothing' is not known"),
        ({"encoding": "hex"}, "'hex' is not known"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        ReadingOptions(**options)


# --- cells as what they are -----------------------------------------------------------------------


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
    source = open_source(path).only(["a"], {"a": wanted})
    if wanted == "level":
        assert next(source.batches())["a"].to_pylist() == ["1", "nothing"]
        return
    with pytest.raises(FileDataError, match="row 1 holds 'nothing'"):
        list(source.batches())
    path = write(tmp_path / "t.csv", f"a\n{cells[wanted]}\n")
    of = next(open_source(path).only(["a"], {"a": wanted}).batches()).schema.types[0]
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


# --- options --------------------------------------------------------------------------------------


def test_decimal_commas_are_read_as_points(tmp_path):
    path = write(tmp_path / "t.csv", "a;b;c\n1,5;01.02.2024;x,y\n1.234,25;03.02.2024;1\n-,5e3;;\n")
    found = rows_of(path, sep=";", decimal=",")
    assert found == {
        "a": [1.5, 1234.25, -500.0],
        "b": ["01.02.2024", "03.02.2024", None],
        "c": ["x,y", "1", None],
    }


def test_chosen_marks_are_missing_in_every_format(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,x\n?,-\n,NA\n3, ?\n")
    assert rows_of(path, missing=("?", "-")) == {"a": [1, None, None, 3], "b": ["x", None, "NA", None]}
    path = write(tmp_path / "t.jsonl", '{"a": "x", "b": 1}\n{"a": "?", "b": 2}\n')
    assert rows_of(path, missing=("?",)) == {"a": ["x", None], "b": [1, 2]}
    categories = pa.array(["x", "?"]).dictionary_encode()
    pq.write_table(pa.table({"a": categories, "b": [1, 2]}), tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet", missing=("?",)) == {"a": ["x", None], "b": [1, 2]}


# --- folders --------------------------------------------------------------------------------------


def test_folders_are_read_with_the_columns_in_their_names(tmp_path):
    for number, place in enumerate(["y=2020/m=a%20b", "y=2021/m=__HIVE_DEFAULT_PARTITION__"]):
        (tmp_path / place).mkdir(parents=True)
        write(tmp_path / place / "part.csv", f"a,b\n{number},x\n")
        pq.write_table(pa.table({"a": [number], "b": ["x"]}), tmp_path / place / "qart.parquet")
    for other in ("_SUCCESS", ".part.csv.crc", "notes.txt", "_part.csv"):
        write(tmp_path / other, "nothing")
    part = {"a": [0, 0, 1, 1], "b": ["x"] * 4, "y": [2020, 2020, 2021, 2021], "m": ["a b", "a b", None, None]}
    assert rows_of(tmp_path) == part
    source = open_source(tmp_path).only(["y"])
    assert [table.to_pydict() for table in source.batches()] == [{"y": [year]} for year in part["y"]]


def test_folders_without_data_and_columns_named_twice_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no files that end in \.csv"):
        open_source(tmp_path)
    (tmp_path / "a=1").mkdir()
    refused(write(tmp_path / "a=1" / "t.csv", "a\n1\n").parent.parent, "in the name of its folder")


# --- cost -----------------------------------------------------------------------------------------


def test_the_header_is_read_once(tmp_path, monkeypatch):
    path = write(
        tmp_path / "t.csv", ",".join(f"c{i}" for i in range(200)) + "\n" + ",".join("1" * 200) + "\n"
    )
    n_read = []
    read = readers.header_and_rows
    monkeypatch.setattr(readers, "header_and_rows", lambda file: n_read.append(1) or read(file))
    source = open_source(path)
    for name in source.names:
        assert name in source.only([name]).names
    next(source.batches())
    assert len(n_read) == 1


def test_columns_of_floats_are_not_tried_as_integers(tmp_path, monkeypatch):
    from suffice.tables.files import types

    tried = []
    cast = types._cast
    monkeypatch.setattr(types, "_cast", lambda column, to: tried.append(to) or cast(column, to))
    path = write(tmp_path / "t.csv", "a\n" + "1.5\n" * 1000)
    assert rows_of(path)["a"] == [1.5] * 1000
    list(open_source(path).only(["a"], {"a": "number"}).batches())
    assert set(tried) == {pa.float64()}


@pytest.mark.slow
def test_time_grows_with_the_number_of_columns(tmp_path):
    seconds = []
    for n in (4_000, 16_000):
        path = write(
            tmp_path / "t.csv", ",".join(f"c{i}" for i in range(n)) + "\n" + ",".join(["1.5"] * n) + "\n"
        )
        start = time.perf_counter()
        rows_of(path)
        seconds.append(time.perf_counter() - start)
    assert seconds[1] < 8 * seconds[0]
