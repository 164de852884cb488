"""How files may be written: read as what they are, or refused with the cure."""

import bz2
import gc
import gzip
import io
import lzma
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, ipc
from pyarrow import parquet as pq

import suffice
from suffice.tables.files import formats, readers, separated
from suffice.tables.files.batches import LabelledFiles
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.options import ReadingOptions
from suffice.tables.files.source import open_source
from suffice.tables.files.types import Wanted

from .data_files import refused, rows_of, write

PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


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


def test_decimal_commas_are_read_as_points(tmp_path):
    path = write(tmp_path / "t.csv", "a;b;c\n1,5;01.02.2024;x,y\n1.234,25;03.02.2024;1\n-,5e3;;\n")
    found = rows_of(path, sep=";", decimal=",")
    assert found == {
        "a": [1.5, 1234.25, -500.0],
        "b": ["01.02.2024", "03.02.2024", None],
        "c": ["x,y", "1", None],
    }


@pytest.mark.parametrize("cells", [["1.001", "2.001"], ["3.5", "1,5"], ["1.234,5", "3.5"], ["1.001"]])
def test_a_point_beside_decimal_commas_is_never_guessed(tmp_path, cells):
    path = write(tmp_path / "t.csv", "\n".join(["b;a", *(f"x;{cell}" for cell in cells)]))
    row = next(row for row, cell in enumerate(cells) if "," not in cell)
    match = f"column 'a': row {row} holds '{cells[row]}', but decimals are separated by commas"
    refused(path, match, sep=";", decimal=",")


def test_points_part_thousands_where_other_cells_show_it(tmp_path):
    path = write(tmp_path / "t.csv", "a;b;c\n1.001;1.001;1.5\n1.234,5;1.001.000;v\n")
    assert rows_of(path, sep=";", decimal=",") == {
        "a": [1001.0, 1234.5],
        "b": [1001, 1001000],
        "c": ["1.5", "v"],
    }


def test_decimals_are_not_separated_by_what_separates_cells(tmp_path):
    refused(write(tmp_path / "t.csv", 'a,b\n"1,5",x\n'), "both separated by ','; name what", decimal=",")
    with pytest.raises(ValueError, match="sep ',' also separates decimals"):
        ReadingOptions(sep=",", decimal=",")


def test_chosen_marks_are_missing_in_every_format(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\n1,x\n?,-\n,NA\n3, ?\n")
    assert rows_of(path, missing=("?", "-")) == {"a": [1, None, None, 3], "b": ["x", None, "NA", None]}
    path = write(tmp_path / "t.jsonl", '{"a": "x", "b": 1}\n{"a": "?", "b": 2}\n')
    assert rows_of(path, missing=("?",)) == {"a": ["x", None], "b": [1, 2]}
    categories = pa.array(["x", "?"]).dictionary_encode()
    pq.write_table(pa.table({"a": categories, "b": [1, 2]}), tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet", missing=("?",)) == {"a": ["x", None], "b": [1, 2]}


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
    list(open_source(path).only(["a"], {"a": Wanted("number")}).batches())
    assert set(tried) == {pa.float64()}


@pytest.mark.slow
def test_time_grows_with_the_number_of_columns(tmp_path):
    seconds = []
    for n in (4_000, 16_000):
        path = write(
            tmp_path / "t.csv", ",".join(f"c{i}" for i in range(n)) + "\n" + ",".join(["1.5"] * n) + "\n"
        )
        start = time.process_time()
        rows_of(path)
        seconds.append(time.process_time() - start)
    assert seconds[1] < 8 * seconds[0]


def still_open(folder):
    """The files of a folder that this process holds open."""
    names = map(os.path.realpath, Path("/proc/self/fd").iterdir())
    return [name for name in names if name.startswith(str(folder.resolve()))]


@pytest.fixture
def without_collector():
    gc.disable()
    yield
    gc.enable()


TABLE = pa.table({"a": [1.0, 2.0] * 8, "y": ["p", "q"] * 8})


def written(writer, **options):
    file = io.BytesIO()
    writer(TABLE, file, **options)
    return file.getvalue()


WHOLE = {
    "t.csv": b"a,y\n" + b"1,p\n2,q\n" * 8,
    "t.jsonl": b'{"a": 1, "y": "p"}\n{"a": 2, "y": "q"}\n' * 8,
    "t.parquet": written(pq.write_table, row_group_size=4),
    "t.arrow": written(feather.write_feather, compression="uncompressed", chunksize=4),
}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted as in Linux")
@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("name", [*WHOLE, "t.csv.gz", "t.csv.xz", "t.jsonl.bz2", "t.arrow.zst"])
def test_a_file_is_closed_wherever_reading_ends(tmp_path, monkeypatch, name):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 32)
    monkeypatch.setattr(formats, "FEWEST_ROWS", 4)
    monkeypatch.setattr(formats, "BATCH_CELLS", 8)
    inside = WHOLE[".".join(name.split(".")[:2])]
    whole = PACKED.get(name.rpartition(".")[2], bytes)(inside)
    source = open_source(path := write(tmp_path / name, whole))
    held = [source.names, source.through(next)]
    assert still_open(tmp_path) == []
    labelled = LabelledFiles.of(source, "y")
    held += [iter(labelled), source.batches()]
    for rows in held[2:]:
        next(rows)
        rows.close()
        assert still_open(tmp_path) == []
    held += [failure(lambda: source.through(fail)), failure(lambda: labelled.through(fail))]
    held.append(failure(lambda: list(source.only(["y"], {"y": Wanted("number")}).batches())))
    held.append(failure(lambda: source.only(["y"], {"y": Wanted("number")}).settle()))
    assert still_open(tmp_path) == []
    broken = whole[:-12] + b"\0\xff\n" if whole == inside else whole[:-12]
    for options in (ReadingOptions(), ReadingOptions(missing=("?",))):
        cut = open_source(write(path, broken), options=options)
        held += [failure(lambda cut=cut: cut.names), failure(lambda cut=cut: cut.through(list))]
        held.append(failure(cut.settle))
    assert still_open(tmp_path) == []


def fail(batches):
    next(batches)
    raise ValueError("the work fails")


def failure(work):
    """What a piece of work raises, which holds all that its frames do."""
    try:
        work()
    except ValueError as error:
        return error
    return None
