"""What commands write: tables, text, models and pictures, to a file or to stdout."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import click

from suffice.cli.errors import refuse_closed_stdout
from suffice.cli.messages import as_json, say, wants_json
from suffice.kernels import threads
from suffice.tables.wording import visible

MOST_ROWS = 1 << 13
"""Rows that are Python objects at a time, on their way into text."""
AT_ONCE = 1 << 15
"""Rows that one thread makes lines of text of."""
PACKED = (".gz", ".bz2", ".xz")
"""Extensions of files that are compressed as they are written."""
NOT_WRITTEN = (".zst", ".zstd", ".lz4", ".br")


def refuse_output(path: str, *, force: bool) -> None:
    """Refuse a place for a binary result, before any work is done."""
    refuse_to_replace(path, force=force)
    refuse_a_terminal(path)
    refuse_beside_json(path)


def refuse_beside_json(path: str) -> None:
    """Refuse to write to stdout what is not the answer in JSON."""
    if path == "-" and wants_json():
        raise click.UsageError("--json writes to stdout, so the result needs a file; name one with -o.")


def refuse_to_replace(path: str, *, force: bool) -> None:
    """Refuse to overwrite a file, or to write to a closed stdout, before any work is done."""
    if path == "-":
        refuse_closed_stdout()
    if path != "-" and Path(path).is_dir():
        raise click.UsageError(f"{path} is a folder; name a file in it.")
    if path != "-" and Path(path).is_file() and not force:
        raise click.UsageError(f"{path} exists already; add --force to overwrite it.")
    if path != "-" and not Path(path).absolute().parent.is_dir():
        raise click.UsageError(f"the folder {Path(path).absolute().parent} does not exist; create it first.")


def refuse_a_terminal(path: str) -> None:
    """Refuse to write binary data to a terminal."""
    if path == "-" and sys.stdout.isatty():
        raise click.UsageError("the result is binary; name a file with -o, or redirect stdout.")


def save(held: Any, path: str) -> None:
    """Save a model or statistics; an existing file stays until the new one is complete."""
    with sink(path) if path == "-" else nullcontext(path) as place:
        held.save(place)


@contextmanager
def sink(path: str) -> Iterator[Any]:
    """A binary file, which appears under its name once it is complete, or stdout."""
    from suffice.storage.saved import naming, replacing

    with naming("stdout", _stdout()) if path == "-" else replacing(path) as file:
        yield _Terminal(file) if file.isatty() else file


@contextmanager
def _stdout() -> Iterator[Any]:
    """Where stdout goes; with PYTHONUNBUFFERED, where it may take only a part of what it is given."""
    out: Any = sys.stdout.buffer
    if not isinstance(out, io.RawIOBase):
        yield out
        return
    whole = io.BufferedWriter(out)
    yield whole
    whole.detach()


class _Terminal(io.RawIOBase):
    """Writes lines of text to a terminal, which could obey what is hidden in cells and names."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def writable(self) -> bool:
        """Say that it takes bytes."""
        return True

    def write(self, lines: Any) -> int:
        """Write whole lines."""
        text = bytes(lines)
        self._file.write(visible(text.decode("utf-8", "replace"), kept="\n\t").encode())
        return len(text)

    def flush(self) -> None:
        """Show what was written."""
        self._file.flush()


def write_text(text: str, path: str) -> None:
    """Write lines of text."""
    with sink(path) as file:
        file.write((text.rstrip("\n") + "\n").encode())


def write_for_people(text: str, path: str) -> None:
    """Write what people read on a terminal, in which names and labels cannot hide anything."""
    write_text(visible(text), path)


def report(text: str, facts: Mapping[str, Any]) -> None:
    """Report what a command has done: in words on stderr, or as JSON on stdout."""
    if wants_json():
        write_text(as_json(facts), "-")
    else:
        say(text)


def as_arrow(frame: Any) -> Any:
    """A frame of any library as a pyarrow Table."""
    import narwhals.stable.v2 as nw

    return nw.from_native(frame, eager_only=True).to_arrow()


def format_to_write(path: str, form: str | None) -> str:
    """The format of a table that will be written, refused before any work is done if there is none."""
    from suffice.tables.files.formats import UnknownFormatError, format_of

    if form is None:
        try:
            form = format_of(Path(path)) if path != "-" else "jsonl" if wants_json() else "csv"
        except UnknownFormatError as error:
            raise click.UsageError(
                f"{str(error).rstrip('.')}, or name the format with --output-format."
            ) from error
    if form in ("parquet", "arrow"):
        refuse_a_terminal(path)
    suffix = Path(path).suffix.lower()
    if form == "parquet" and suffix in (*PACKED, *NOT_WRITTEN):
        plain = path[: -len(suffix)]
        raise click.UsageError(f"a parquet file is compressed inside; name it without {suffix}: {plain}.")
    if suffix in NOT_WRITTEN:
        raise click.UsageError(f"{suffix} files are only read; write one of {', '.join(PACKED)}.")
    return form


def write_tables(tables: Iterable[Any], path: str, form: str) -> None:
    """Write pyarrow Tables one after the other, each as soon as it is there; the first may have no rows."""
    with sink(path) as file, _packed(path, file) as out:
        _WRITERS[form](tables, out)


def size_of(table: Any, path: str, form: str) -> int:
    """The bytes that a table takes in a file of this name and format."""
    held = io.BytesIO()
    with _packed(path, held) as out:
        _WRITERS[form]([table], out)
    return held.tell()


def free_space(path: str) -> int | None:
    """The bytes left on the disk of a file, which stdout may be too; None for anything else."""
    if path != "-":
        place = Path(path).absolute()
        return shutil.disk_usage(place.parent).free if place.is_file() or not place.exists() else None
    try:
        number = sys.stdout.fileno()
        return shutil.disk_usage(number).free if stat.S_ISREG(os.fstat(number).st_mode) else None
    except (OSError, ValueError):  # stdout is not a file of the system
        return None


def _packed(path: str, file: Any) -> Any:
    """The file, through the compression that its name asks for."""
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        import gzip

        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)  # without the name of the file on the way
    if suffix == ".bz2":
        import bz2

        return bz2.BZ2File(file, "wb")
    if suffix == ".xz":
        import lzma

        return lzma.LZMAFile(file, "wb")
    return nullcontext(file)


def _write_separated(delimiter: str) -> Callable[[Iterable[Any], Any], None]:
    def write(tables: Iterable[Any], out: Any) -> None:
        for number, table in enumerate(tables):
            if number == 0:
                out.write(_lines([table.column_names], delimiter))
            parts = [table[start : start + AT_ONCE] for start in range(0, table.num_rows, AT_ONCE)]
            for lines in threads.run(partial(_text_of, delimiter=delimiter), parts):
                out.write(lines)
            out.flush()

    return write


def _text_of(table: Any, delimiter: str) -> Any:
    """The rows as lines of text."""
    quickly = _rows_quickly(table, delimiter)
    return _rows(table, delimiter) if quickly is None else quickly


def _rows_quickly(table: Any, delimiter: str) -> Any:
    """The rows as Arrow writes them; None where cells need quotes, which Arrow puts around every text."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    if any(pa.types.is_duration(of) for of in table.schema.types):
        return None  # which would be mere numbers
    text = pa.BufferOutputStream()
    settings = arrow_csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="none", batch_size=MOST_ROWS
    )
    try:
        arrow_csv.write_csv(table, text, settings)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None
    lines = text.getvalue()
    if table.num_columns == 1:  # a line without anything would be no row
        whole = lines.to_pybytes()
        return None if whole.startswith(b"\n") or b"\n\n" in whole else lines
    return lines


def _rows(table: Any, delimiter: str) -> bytes:
    """The rows, with quotes where they are needed."""
    return b"".join(
        _lines(zip(*map(_cells, batch.columns), strict=True), delimiter)
        for batch in table.to_batches(MOST_ROWS)
    )


def _cells(column: Any) -> list[Any]:
    """Cells as Arrow writes them; durations as Python does."""
    import pyarrow as pa

    cells: list[Any] = (column if pa.types.is_duration(column.type) else column.cast(pa.string())).to_pylist()
    return cells


def _lines(rows: Iterable[Iterable[Any]], delimiter: str) -> bytes:
    lines = _Lines()
    csv.writer(lines, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return "".join(lines).encode()


class _Lines(list[str]):
    """Lines that end in LF, although the writer, which quotes what its lines end in, quotes CR too."""

    def write(self, line: str) -> None:
        """Take a line."""
        self.append(f"{line[:-2]}\n")


def _write_lines(tables: Iterable[Any], out: Any) -> None:
    for table in tables:
        for batch in table.to_batches(MOST_ROWS):
            for row in batch.to_pylist():
                out.write(json.dumps(row, default=_as_json, ensure_ascii=False).encode() + b"\n")
        out.flush()


def _as_json(value: Any) -> Any:
    """Integers of any length as what they are, anything else as text."""
    return int(value) if isinstance(value, Decimal) else str(value)


def _write_columns(open_writer: Callable[[Any, Any], Any]) -> Callable[[Iterable[Any], Any], None]:
    def write(tables: Iterable[Any], out: Any) -> None:
        writer: Any = None
        with ExitStack() as closed:  # also if rows cannot be read: a writer cannot outlive its file
            for table in tables:
                if writer is None:
                    writer = closed.enter_context(open_writer(out, table.schema))
                writer.write_table(table)

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
