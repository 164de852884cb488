"""What commands write: tables, text, models and pictures, to a file or to stdout."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

MOST_ROWS = 1 << 13
"""Rows that are Python objects at a time, on their way into text."""


def refuse_to_replace(path: str, *, force: bool) -> None:
    """Refuse to overwrite a file, before any work is done."""
    if path != "-" and (Path(path).is_file() or Path(path).is_dir()) and not force:
        raise click.UsageError(f"{path} exists already; add --force to overwrite it.")
    if path != "-" and not Path(path).absolute().parent.is_dir():
        raise click.UsageError(f"the folder {Path(path).absolute().parent} does not exist; create it first.")


def refuse_a_terminal(path: str) -> None:
    """Refuse to write binary data to a terminal."""
    if path == "-" and sys.stdout.isatty():
        raise click.UsageError("the result is binary; name a file with -o, or redirect stdout.")


def save(held: Any, path: str) -> None:
    """Save a model or statistics; an existing file stays until the new one is complete."""
    if path == "-":
        held.save(sys.stdout.buffer)
    else:
        held.save(path)


@contextmanager
def sink(path: str) -> Iterator[Any]:
    """A binary file, which appears under its name once it is complete, or stdout."""
    if path == "-":
        yield sys.stdout.buffer
        return
    from suffice.storage.saved import replacing

    with replacing(path) as file:
        yield file


def write_text(text: str, path: str) -> None:
    """Write lines of text."""
    with sink(path) as file:
        file.write((text.rstrip("\n") + "\n").encode())


def write_tables(tables: Iterable[Any], path: str, form: str | None) -> None:
    """Write pyarrow Tables one after the other, each as soon as it is there."""
    from suffice.tables.files.formats import UnknownFormatError, format_of

    if form is None:
        try:
            form = "csv" if path == "-" else format_of(Path(path))
        except UnknownFormatError as error:
            raise click.UsageError(
                f"{str(error).rstrip('.')}, or name the format with --output-format."
            ) from error
    if form in ("parquet", "arrow"):
        refuse_a_terminal(path)
    packed = path.endswith(".gz")
    with sink(path) as file, _packing(file) if packed else _as_it_is(file) as out:
        _WRITERS[form](tables, out)


@contextmanager
def _packing(file: Any) -> Iterator[Any]:
    import gzip

    with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        yield packed


@contextmanager
def _as_it_is(file: Any) -> Iterator[Any]:
    yield file


def _write_separated(delimiter: str) -> Callable[[Iterable[Any], Any], None]:
    def write(tables: Iterable[Any], out: Any) -> None:
        for number, table in enumerate(tables):
            text = io.StringIO()
            lines = csv.writer(text, delimiter=delimiter, lineterminator="\n")
            if number == 0:
                lines.writerow(table.column_names)
            for batch in table.to_batches(MOST_ROWS):
                lines.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
            out.write(text.getvalue().encode())
            out.flush()

    return write


def _write_lines(tables: Iterable[Any], out: Any) -> None:
    for table in tables:
        for batch in table.to_batches(MOST_ROWS):
            for row in batch.to_pylist():
                out.write(json.dumps(row, default=str, ensure_ascii=False).encode() + b"\n")
        out.flush()


def _write_columns(open_writer: Callable[[Any, Any], Any]) -> Callable[[Iterable[Any], Any], None]:
    def write(tables: Iterable[Any], out: Any) -> None:
        writer = None
        for table in tables:
            writer = open_writer(out, table.schema) if writer is None else writer
            writer.write_table(table)
        if writer is not None:
            writer.close()

    return write


def _open_parquet(out: Any, schema: Any) -> Any:
    from pyarrow import parquet

    return parquet.ParquetWriter(out, schema)


def _open_arrow(out: Any, schema: Any) -> Any:
    from pyarrow import ipc

    return ipc.new_stream(out, schema)


_WRITERS: dict[str, Callable[[Iterable[Any], Any], None]] = {
    "csv": _write_separated(","),
    "tsv": _write_separated("\t"),
    "jsonl": _write_lines,
    "parquet": _write_columns(_open_parquet),
    "arrow": _write_columns(_open_arrow),
}
