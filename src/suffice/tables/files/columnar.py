"""Parquet and Arrow files as batches, each checked before it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from suffice.tables.files import formats
from suffice.tables.files.formats import DataFile
from suffice.tables.files.packed import opened

ARROW_FILE = b"ARROW1"
"""How an Arrow file starts; 8 bytes into it, it goes on as a stream does."""


def parquet_names(file: DataFile) -> list[str]:
    """The columns of a parquet file."""
    from pyarrow import parquet

    names: list[str] = parquet.read_schema(file.path).names
    return names


def parquet_batches(file: DataFile, names: tuple[str, ...]) -> Iterator[Any]:
    """Batches with these columns."""
    from pyarrow import dataset

    # Arrow's default settings read ahead without limit.
    options = dataset.ParquetFragmentScanOptions(pre_buffer=False)
    form = dataset.ParquetFileFormat(default_fragment_scan_options=options)
    scanner = dataset.dataset(file.path, format=form).scanner(
        columns={name: dataset.field(name) for name in names},
        batch_size=formats.BATCH_ROWS,
        batch_readahead=4,
        fragment_readahead=1,
    )
    yield from map(_checked, scanner.to_batches())


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


def arrow_names(file: DataFile) -> list[str]:
    """The columns of an Arrow file or stream."""
    with _reader(file) as reader:
        names: list[str] = reader.schema.names
        return names


def arrow_batches(file: DataFile, names: tuple[str, ...]) -> Iterator[Any]:
    """Batches with these columns."""
    with _reader(file) as reader:
        for batch in reader:
            yield _checked(batch).select(list(names))


@contextmanager
def _reader(file: DataFile) -> Iterator[Any]:
    from pyarrow import ipc

    with opened(file) as stream:
        is_stream = not stream.read(8).startswith(ARROW_FILE)
    with opened(file) as stream:
        if not is_stream:
            stream.read(8)
        with ipc.open_stream(stream) as reader:
            yield reader


def _checked(batch: Any) -> Any:
    """A batch whose offsets, indices and text are valid: Arrow computes with others until it crashes."""
    batch.validate(full=True)
    return batch
