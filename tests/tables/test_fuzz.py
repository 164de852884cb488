"""Data files damaged at random: they are read, or `FileDataError` says what is wrong.

A crash ends the process and fails the test; time and memory are bounded. SUFFICE_FUZZ_FILES sets the number
of files of the long test, SUFFICE_FUZZ_SEED which they are.
"""

import bz2
import gzip
import io
import json
import lzma
import os
import resource
import sys
import time
import warnings
from contextlib import suppress
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc
from pyarrow import parquet as pq

import suffice
from suffice.tables.files import formats
from suffice.tables.files.formats import FileDataError
from suffice.tables.files.options import DEFAULTS, ReadingOptions
from suffice.tables.files.source import open_source

FEW = 400
MANY = int(os.environ.get("SUFFICE_FUZZ_FILES", "100000"))
SEED = int(os.environ.get("SUFFICE_FUZZ_SEED", "100"))
SHARES = 20
SECONDS = 20.0
"""The longest that a file may keep a processor busy."""
GIGABYTE = 1 << 30

ROWS = 60
TABLE = pa.table(
    {
        "n": [None if i % 7 == 0 else i for i in range(ROWS)],
        "x": [i / 8 for i in range(ROWS)],
        "s": [["red", 'a "quoted" word', "two\nlines", "Köln", None][i % 5] for i in range(ROWS)],
        "c": pa.array([["p", "q", "r"][i % 3] for i in range(ROWS)]).dictionary_encode(),
        "t": pa.array([10**15 * i for i in range(ROWS)], pa.timestamp("us")),
        "b": [i % 2 == 0 for i in range(ROWS)],
        "y": [["yes", "no"][i // 3 % 2] for i in range(ROWS)],
    }
)


def _csv(separator=",", end="\n", encoding="utf-8"):
    def cell(value):
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if set(text) & {'"', "\n", separator} else text

    rows = [TABLE.column_names, *([row[name] for name in TABLE.column_names] for row in TABLE.to_pylist())]
    return "".join(separator.join(map(cell, row)) + end for row in rows).encode(encoding)


def _jsonl():
    return "".join(
        json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in TABLE.to_pylist()
    ).encode()


def _parquet(**options):
    file = io.BytesIO()
    pq.write_table(TABLE, file, row_group_size=25, **options)
    return file.getvalue()


def _arrow(opener, **options):
    file = io.BytesIO()
    with opener(file, TABLE.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(TABLE, max_chunksize=25)
    return file.getvalue()


FILES = {
    "a.csv": _csv(),
    "b.csv": _csv(end="\r"),
    "c.csv": b"\xef\xbb\xbf" + _csv(end="\r\n") + b"\xef\xbb\xbf" + _csv(),
    "d.csv": _csv(";"),
    "e.csv": _csv(encoding="utf-16"),
    "f.tsv": _csv("\t"),
    "g.jsonl": _jsonl(),
    "h.parquet": _parquet(),
    "i.parquet": _parquet(compression="zstd", use_dictionary=False, data_page_version="2.0"),
    "j.parquet": _parquet(compression="gzip", write_statistics=False),
    "k.arrow": _arrow(ipc.new_file),
    "l.arrow": _arrow(ipc.new_stream),
    "m.arrow": _arrow(ipc.new_file, compression="lz4"),
    "n.feather": _arrow(ipc.new_stream, compression="zstd"),
    "o.csv.gz": gzip.compress(_csv()),
    "p.jsonl.gz": gzip.compress(_jsonl()),
    "q.csv.bz2": bz2.compress(_csv()),
    "r.csv.xz": lzma.compress(_csv()),
    "s.jsonl.zst": pa.compress(_jsonl(), "zstd", asbytes=True),
    "t.arrow.gz": gzip.compress(_arrow(ipc.new_file)),
}
PACKING = {
    "gz": (gzip.compress, gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (partial(lzma.compress, preset=0), lzma.decompress),
}
TOKENS = (
    *(
        b'"',
        b'""',
        b",",
        b";",
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\\",
        b"\\ud800",
    ),
    *(
        b"[",
        b"]",
        b"{",
        b"}",
        b":",
        b"null",
        b"true",
        b"NaN",
        b"Infinity",
        b"1e999",
        b"-0",
        b"9" * 30,
        b"9" * 400,
    ),
    *(
        b"n,x,s,c,t,b,y\n",
        b'{"n": "x"}\n',
        b'{"n": [1]}\n',
        b"[" * 300,
        b'{"a":' * 300,
        b"x" * 5000,
        b"25:61:61",
    ),
)


def one_of(rng, values):
    return values[int(rng.integers(len(values)))]


def damaged(rng, content):
    """The file after one to four accidents."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        place, span = int(rng.integers(len(content) + 1)), int(rng.integers(1, 17))
        accident = int(rng.integers(8))
        if accident == 0 and place < len(content):
            content[place] ^= 1 << int(rng.integers(8))
        elif accident == 1:
            content[place : place + span] = rng.bytes(span)
        elif accident == 2:
            del content[place : place + span]
        elif accident == 3:
            content[place:place] = one_of(rng, TOKENS)
        elif accident == 4:
            del content[place:]
        elif accident == 5:
            other = int(rng.integers(len(content) + 1))
            content[place:place] = content[other : other + 20 * span]
        elif accident == 6:
            content[place : place + 4] = int(rng.choice([0, 1, 2**31 - 1, 2**32 - 1, 2**30])).to_bytes(
                4, "little"
            )
        else:
            content += content[: 1 << 12]
    return bytes(content)


def any_options(rng):
    if rng.random() < 0.6:
        return DEFAULTS
    return ReadingOptions(
        missing=one_of(rng, [None, None, ("?", "red")]),
        sep=one_of(rng, [None, None, None, ";", "|"]),
        decimal=one_of(rng, [".", ".", ","]),
        encoding=one_of(rng, ["utf-8", "utf-8", "latin-1", "utf-16", "cp1252", "utf-7"]),
    )


def is_read(rng, path):
    """Whether a file is read; anything but `FileDataError` is a failure, and of a model `ValueError`."""
    source = open_source(path, options=any_options(rng))
    try:
        table = source.through(lambda batches: pa.concat_tables(list(batches), promote_options="default"))
    except FileDataError:
        return False
    table.validate(full=True)
    for column in table.columns:
        if not pa.types.is_temporal(column.type):  # moments may lie beyond those of Python
            column.to_pylist()
    if rng.random() < 0.05 and "y" in table.column_names:
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore")  # of cells that cannot be read, of numbers that overflow
            suffice.summarize(source, target="y")
    return True


def fuzz(folder, seed, n_files):
    """How many of so many damaged files are read, each in bounded time and memory."""
    rng = np.random.default_rng(seed)
    n_read = 0
    for number in range(n_files):
        name = one_of(rng, list(FILES))
        content = FILES[name]
        packing = PACKING.get(name.rpartition(".")[2])
        if packing is not None and rng.random() < 0.7:  # the damage is inside
            pack, unpack = packing
            content = pack(damaged(rng, unpack(content)))
        else:
            content = damaged(rng, content)
        path = folder / name
        path.unlink(missing_ok=True)  # a file that is cut and written again waits for the disk
        path.write_bytes(content)
        start = time.process_time()
        try:
            n_read += is_read(rng, path)
        except Exception as error:
            error.add_note(f"seed {seed}, file {number}: {name}")
            raise
        assert time.process_time() - start < SECONDS, (seed, number, name)
    return n_read


def peak_memory():
    """The most bytes that this process has ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_the_files_are_whole_before_they_are_damaged(tmp_path):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
        options = ReadingOptions(
            encoding="utf-16" if name == "e.csv" else "utf-8", sep=";" if name == "d.csv" else None
        )
        tables = list(open_source(tmp_path / name, options=options).batches())
        assert sum(table.num_rows for table in tables) == ROWS * (2 if name == "c.csv" else 1)
        assert tables[0].column_names == TABLE.column_names


@pytest.mark.parametrize("block", [256, 1 << 22])
def test_damaged_data_files_are_read_or_refused(tmp_path, monkeypatch, block):
    monkeypatch.setattr(formats, "BLOCK_BYTES", block)
    assert 0 < fuzz(tmp_path, block, FEW) < FEW


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_a_hundred_thousand_damaged_data_files_are_read_or_refused(tmp_path, monkeypatch, share):
    monkeypatch.setattr(formats, "BLOCK_BYTES", 1 << (8 + share))
    before = peak_memory()
    n_files = MANY // SHARES
    assert 0 < fuzz(tmp_path, SEED + share, n_files) < n_files
    assert peak_memory() - before < GIGABYTE
