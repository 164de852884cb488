"""Files that are damaged or crafted: no hang, no crash, bounded memory."""

import gzip
import io
import json
import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import ipc
from pyarrow import parquet as pq

from suffice.tables.files import formats, lines

from .data_files import refused, rows_of, write

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


def test_more_keys_than_a_table_has_columns_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MOST_COLUMNS", 3)
    assert rows_of(write(tmp_path / "t.jsonl", '{"a": "\\"d\\":", "b": 1}\n{"c" :2}\n'))["c"] == [None, 2]
    refused(write(tmp_path / "t.jsonl", '{"a": 1, "b": 1}\n{"c": 1, "d": 2}\n'), "4 keys from row 0 on")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_that_each_have_keys_of_their_own_are_refused(tmp_path, end):
    text = end.join(f'{{"k{i}": 1}}' for i in range(20_000)) + end
    refused(write(tmp_path / "t.jsonl", text), "the 20,000 lines from row 0 on hold 20,000 different keys")
