"""Each file as the names of its columns and a stream of Arrow batches, in the types of the file itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from typing import Any

from suffice.tables.files.columnar import arrow_batches, arrow_names, parquet_batches, parquet_names
from suffice.tables.files.formats import TEXT, DataFile, refusals
from suffice.tables.files.lines import lines_batches
from suffice.tables.files.separated import header_and_rows, separated_batches
from suffice.tables.files.types import cast, is_text, plain
from suffice.tables.wording import listed


def column_names(file: DataFile) -> tuple[str, ...]:
    """The names of a file's columns; for jsonl, those in its first block."""
    with refusals(file):
        if file.form in TEXT:
            with header_and_rows(file) as (header, _):
                names = header
        elif file.form == "jsonl":
            first = next(lines_batches(file, {}), None)
            if first is None:
                raise file.error("the file is empty.")
            names = first.schema.names
        else:
            names = (parquet_names if file.form == "parquet" else arrow_names)(file)
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise file.error(f"the column names {listed(repeated, 5)} occur more than once; rename them.")
    return tuple(names)


def raw_batches(
    file: DataFile, names: tuple[str, ...], types: Mapping[str, Any], *, coded: bool = False
) -> Generator[Any]:
    """The batches of a file, with these columns only; of jsonl, with those that occur.

    Cells of csv and tsv files are text or missing; in columns of these types, which may become more while
    batches are read, they may be numbers. For jsonl, these are the types of columns. Text of parquet files
    may be `coded`.
    """
    with refusals(file):
        if file.form in TEXT:
            yield from separated_batches(file, names, types)
        elif file.form == "jsonl":
            yield from _with_marks(file, lines_batches(file, dict(types)))
        else:
            parquet = file.form == "parquet"
            batches = parquet_batches(file, names, coded=coded) if parquet else arrow_batches(file, names)
            yield from _with_marks(file, batches)


def _with_marks(file: DataFile, made: Generator[Any]) -> Iterator[Any]:
    """Batches in which cells that hold a chosen mark are missing."""
    marks = None if file.options.missing is None else file.options.marks
    with closing(made) as batches:
        for batch in batches:
            yield with_gaps(batch, {} if marks is None else dict.fromkeys(batch.schema.names, marks))


def with_gaps(batch: Any, marks: Mapping[str, tuple[str, ...]]) -> Any:
    """A batch in which the cells of some columns are missing where they hold a mark."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not marks:
        return batch
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        text = cast(column, plain(column.type)) if name in marks and is_text(column.type) else None
        gap = pa.scalar(None, pa.string())
        columns.append(
            column if text is None else pc.if_else(pc.is_in(text, pa.array(marks[name])), gap, text)
        )
    return pa.record_batch(columns, names=batch.schema.names)
