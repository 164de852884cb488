"""Each file format as a stream of Arrow batches, in the types of the file itself."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from suffice.tables.wording import listed

FORMATS = {
    "csv": ("csv",),
    "tsv": ("tsv", "tab"),
    "jsonl": ("jsonl", "ndjson"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc"),
}
"""Formats and their extensions; csv, tsv, jsonl and arrow files may be compressed with gzip."""
BLOCK_BYTES = 1 << 22
"""How much of a csv, tsv or jsonl file is read at a time; no row may be longer."""
BATCH_ROWS = 1 << 15
"""The most rows in a batch of a parquet file."""
HEADER_BYTES = 1 << 20
LARGEST_INTEGER = 2.0**63
"""Beyond this, Arrow reads the integers of jsonl files as floats."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a file of two-byte characters starts."""
ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape of JSON; its group is half of a surrogate pair that stands alone."""


class FileDataError(ValueError):
    """A data file that cannot be read; the message says which one, where and why."""


class UnknownFormatError(FileDataError):
    """A file whose name does not reveal its format."""

    def __init__(self, path: Path) -> None:
        extensions = ", ".join(f".{extension}" for extension, *_ in FORMATS.values())
        super().__init__(f"{path}: the name does not reveal the format; it must end in {extensions}.")


def format_of(path: Path) -> str:
    """The format of a file, by its extension."""
    suffixes = [suffix.lower().lstrip(".") for suffix in path.suffixes]
    if suffixes and suffixes[-1] == "gz":
        suffixes.pop()
    for name, extensions in FORMATS.items():
        if suffixes and suffixes[-1] in extensions:
            return name
    raise UnknownFormatError(path)


def column_names(path: Path, form: str) -> tuple[str, ...]:
    """The names of a file's columns; for jsonl, those in its first block."""
    with refusals(path):
        if form in ("csv", "tsv"):
            names = _header(path, form)
        elif form == "jsonl":
            first = next(_json_batches(path, {}), None)
            if first is None:
                raise FileDataError(f"{path}: the file is empty.")
            names = first.schema.names
        elif form == "parquet":
            import pyarrow.parquet as pq

            names = pq.read_schema(path).names
        else:
            with _open_arrow(path) as reader:
                names = reader.schema.names
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise FileDataError(
            f"{path}: the column names {listed(repeated, 5)} occur more than once; rename them."
        )
    return tuple(names)


def raw_batches(path: Path, form: str, names: tuple[str, ...], types: dict[str, Any]) -> Iterator[Any]:
    """The batches of one file, with these columns only. Cells of csv and tsv files are text or missing."""
    with refusals(path):
        if form in ("csv", "tsv"):
            yield from _csv_batches(path, form, names)
        elif form == "jsonl":
            yield from _json_batches(path, types)
        elif form == "parquet":
            yield from _parquet_batches(path, names)
        else:
            with _open_arrow(path) as reader:
                for batch in _arrow_batches(reader):
                    yield batch.select(list(names))


@contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Name the file in the errors of Arrow, gzip and the decoder."""
    import pyarrow as pa

    try:
        yield
    except FileDataError:
        raise
    except UnicodeDecodeError as error:
        raise FileDataError(
            f"{path}: the file is not UTF-8 ({error.reason} at byte {error.start}); convert it with "
            f"iconv -f {'utf-16' if error.object[:2] in UTF_16 else 'latin1'} -t utf-8."
        ) from error
    except (pa.ArrowInvalid, pa.ArrowKeyError, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        message = str(error).rstrip(".")
        if "UTF8" in message:
            message = "the file is not UTF-8; convert it with iconv -f latin1 -t utf-8"
        if "straddling" in message:
            message = f"a row is longer than {BLOCK_BYTES >> 20} MB, or a quote is never closed"
        raise FileDataError(f"{path}: {message}.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileDataError(f"{path}: the gzip data is damaged or truncated ({error}).") from error


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """A binary file, decompressed if it starts like a gzip file."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        yield gzip.GzipFile(fileobj=file) if packed else file


def _delimiter(form: str) -> str:
    return "\t" if form == "tsv" else ","


def _header(path: Path, form: str) -> list[str]:
    with _open(path) as file:
        start = file.read(HEADER_BYTES)
    # A character that the cut has split is not part of the header.
    text = start.decode("utf-8-sig", errors="strict" if len(start) < HEADER_BYTES else "ignore")
    if "\0" in text:
        raise FileDataError(f"{path}: the file contains NUL bytes, so it is not text.")
    lines = csv.reader(io.StringIO(text), delimiter=_delimiter(form))
    names = next((line for line in lines if line), None)
    if names is None:
        raise FileDataError(f"{path}: the file is empty; its first line must name the columns.")
    return names


def _csv_batches(path: Path, form: str, names: tuple[str, ...]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

    header = _header(path, form)
    with _open(path) as file:
        reader = arrow_csv.open_csv(
            file,
            arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
            arrow_csv.ParseOptions(delimiter=_delimiter(form), newlines_in_values=True),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.string()),
                include_columns=list(names),
                strings_can_be_null=True,
            ),
        )
        for batch in reader:
            # Concatenated files repeat their header.
            if len(names) > 1 and pc.any(pc.equal(batch.column(0), names[0])).as_py():
                again = [pc.equal(column, name) for column, name in zip(batch.columns, names, strict=True)]
                repeated = again[0]
                for one in again[1:]:
                    repeated = pc.and_(repeated, one)
                yield batch.filter(pc.invert(pc.fill_null(repeated, fill_value=False)))
            else:
                yield batch


def _json_batches(path: Path, types: dict[str, Any]) -> Iterator[Any]:
    with _open(path) as file:
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)
        while block := file.read(BLOCK_BYTES):
            block += file.readline()
            if block.strip():
                yield from _json_table(block, types).to_batches()


def _json_table(block: bytes, types: dict[str, Any]) -> Any:
    """Some lines of a jsonl file, in which lone surrogates are read as U+FFFD, as in lists of texts."""
    import pyarrow as pa

    try:
        return _valid_json_table(block, types)
    except pa.ArrowInvalid as error:
        if "surrogate" not in str(error):
            raise
    return _valid_json_table(ESCAPE.sub(lambda escape: rb"\ufffd" if escape[1] else escape[0], block), types)


def _valid_json_table(block: bytes, types: dict[str, Any]) -> Any:
    """Some lines of a jsonl file, in which integers of more than 64 bits keep their digits."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json as arrow_json

    def read(types: dict[str, Any]) -> Any:
        schema = pa.schema(list(types.items())) if types else None
        return arrow_json.read_json(
            pa.BufferReader(block),
            arrow_json.ReadOptions(block_size=len(block) + 1),
            arrow_json.ParseOptions(explicit_schema=schema, newlines_in_values=False),
        )

    table = read(types)
    for name in table.column_names:
        column = table.column(name)
        if name in types or not pa.types.is_floating(column.type) or not len(column):
            continue
        if (pc.max(pc.abs(column)).as_py() or 0.0) >= LARGEST_INTEGER:
            with suppress(pa.ArrowInvalid):  # not all of them are whole numbers
                table = read({**types, name: pa.decimal128(38, 0)})
                types = {**types, name: pa.decimal128(38, 0)}
    return table


def _parquet_batches(path: Path, names: tuple[str, ...]) -> Iterator[Any]:
    from pyarrow import dataset

    # Arrow's default settings read ahead without limit.
    options = dataset.ParquetFragmentScanOptions(pre_buffer=False)
    form = dataset.ParquetFileFormat(default_fragment_scan_options=options)
    scanner = dataset.dataset(path, format=form).scanner(
        columns={name: dataset.field(name) for name in names},
        batch_size=BATCH_ROWS,
        batch_readahead=4,
        fragment_readahead=1,
    )
    yield from scanner.to_batches()


@contextmanager
def _open_arrow(path: Path) -> Iterator[Any]:
    """A reader of an Arrow file or stream."""
    from pyarrow import ipc

    with _open(path) as file:
        whole = file.read(6) == b"ARROW1"
        file.seek(0)
        with (ipc.open_file if whole else ipc.open_stream)(file) as reader:
            yield reader


def _arrow_batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)
