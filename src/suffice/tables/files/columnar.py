"""Parquet and Arrow files as batches, each checked before it is used."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

from suffice.tables.files import formats
from suffice.tables.files.formats import DataFile
from suffice.tables.files.packed import opened
from suffice.tables.files.types import is_text

ARROW_FILE = b"ARROW1"
"""How an Arrow file starts; 8 bytes into it, it goes on as a stream does."""
BYTES_OF_CODES = 3
"""The most bytes that a code of text takes in a parquet file; the text itself takes more."""


def parquet_names(file: DataFile) -> list[str]:
    """The columns of a parquet file."""
    from pyarrow import parquet

    names: list[str] = parquet.read_schema(file.path).names
    return names


def parquet_batches(file: DataFile, names: tuple[str, ...], *, coded: bool) -> Generator[Any]:
    """Batches with these columns; text that the file holds as codes stays so, if asked for."""
    from pyarrow import parquet

    as_codes = sorted(_coded_text(file, names)) if coded else []
    # Arrow's default settings read ahead without limit.
    with parquet.ParquetFile(file.path, read_dictionary=as_codes, pre_buffer=False) as source:
        for batch in source.iter_batches(formats.batch_rows(len(names)), columns=list(names)):
            yield _checked(batch).select(list(names))


def row_groups_of(file: DataFile, first: int, last: int) -> list[int]:
    """The row groups of a parquet file that hold some of its rows."""
    from pyarrow import parquet

    metadata, start, found = parquet.read_metadata(file.path), 0, []
    for group in range(metadata.num_row_groups):
        end = start + metadata.row_group(group).num_rows
        if start <= last and first < end:
            found.append(group)
        start = end
    return found


def _coded_text(file: DataFile, names: tuple[str, ...]) -> set[str]:
    """The columns of text whose first rows take no more room than codes of few texts."""
    from pyarrow import parquet

    with parquet.ParquetFile(file.path) as source:
        if not source.metadata.num_row_groups or not len(source.schema_arrow):
            return set()
        first, schema = source.metadata.row_group(0), source.schema_arrow
        chunks = {chunk.path_in_schema: chunk for chunk in map(first.column, range(first.num_columns))}
    return {
        name
        for name in names
        if name in chunks
        and is_text(schema.field(name).type)
        and chunks[name].total_uncompressed_size <= BYTES_OF_CODES * chunks[name].num_values
    }


def arrow_names(file: DataFile) -> list[str]:
    """The columns of an Arrow file or stream."""
    with _reader(file) as reader:
        names: list[str] = reader.schema.names
        return names


def arrow_batches(file: DataFile, names: tuple[str, ...]) -> Generator[Any]:
    """Batches with these columns."""
    with _reader(file) as reader:
        for batch in reader:
            yield _checked(batch).select(list(names))


@contextmanager
def _reader(file: DataFile) -> Iterator[Any]:
    from pyarrow import ipc

    with opened(file) as stream:
        is_stream, is_packed = not stream.read(8).startswith(ARROW_FILE), stream is not file.raw[-1]
    with opened(file) if is_packed else _plain(file) as stream:
        if not is_stream:
            stream.read(8)
        with ipc.open_stream(stream) as reader:
            yield reader


@contextmanager
def _plain(file: DataFile) -> Iterator[Any]:
    """The bytes of a file, read into memory that Arrow uses again; that of Python would be new each time."""
    import pyarrow as pa

    with pa.OSFile(os.fsencode(file.path)) as stream:
        file.raw.append(stream)
        yield stream


def _checked(batch: Any) -> Any:
    """A batch whose offsets, indices and text are valid: Arrow computes with others until it crashes."""
    batch.validate(full=True)
    return batch
