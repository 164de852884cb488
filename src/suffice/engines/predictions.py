"""Answers to the rows of a source: a prediction and posteriors for each, where the rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.engines.lazy_rows import LazyRows
from suffice.engines.model_columns import Reader, reader
from suffice.engines.sources import rows_of
from suffice.kernels.choose import GrowingWork
from suffice.storage.saved import replacing
from suffice.tables.files.formats import format_of
from suffice.tables.row_source import RowSource, rename_row, row_in
from suffice.tables.targets import require_column
from suffice.tables.wording import kind_of_thing, quoted

PREDICTION = "prediction"
MOST_NUMBERS = 1 << 23
"""The most numbers that a model is asked for at once."""


@dataclass(frozen=True)
class Answers:
    """What a model says of tables: their kept columns, the prediction, and the posterior of each class."""

    model: Any
    reading: Reader
    keep: tuple[str, ...]
    proba: bool

    @classmethod
    def of(cls, model: Any, rows: RowSource, keep: Iterable[str], *, proba: bool) -> Answers:
        """Answers to the rows of a source that has the columns of the model."""
        kept = (keep,) if isinstance(keep, str) else tuple(keep)
        answers = cls(model, reader(model, rows), kept, proba)
        for name in kept:
            require_column(name, rows.names)
            if name in answers.own:
                raise ValueError(
                    f"keep={quoted(name)}: the answers have a column with this name; rename yours."
                )
        return answers

    @property
    def own(self) -> list[str]:
        """The columns of the answers, beside those that are kept."""
        posteriors = [f"p({label})" for label in self.model.classes_.tolist()] if self.proba else []
        return [PREDICTION, *posteriors]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns to read."""
        return (*self.reading.names, *(name for name in self.keep if name not in self.reading.names))

    def __call__(self, table: Any) -> Any:
        """The answers to the rows of a pyarrow Table, in their order."""
        import pyarrow as pa

        labels = pa.array(self.model.classes_.tolist())
        predicted, posterior = labels[:0], np.empty((0, len(labels)))
        if table.num_rows:
            X = self.reading.arranged(table)
            if self.proba:
                posterior = self.model.predict_proba(X)
                predicted = likeliest(self.model, X, posterior)
            else:
                predicted = pa.array(self.model.predict(X).tolist(), labels.type)
        fields = {name: table.column(name) for name in self.keep}
        fields[PREDICTION] = predicted
        if self.proba:
            fields |= {name: posterior[:, k] for k, name in enumerate(self.own[1:])}
        return pa.table(fields)


def likeliest(model: Any, X: Any, posterior: Array) -> Any:
    """The likeliest class of each row, as an Arrow array; where posteriors do not tell, scores do."""
    import pyarrow as pa

    labels, codes = pa.array(model.classes_.tolist()), posterior.argmax(axis=1)
    best = posterior[np.arange(len(codes)), codes]
    # Scores that differ may round to the same posterior, so only a single best one tells the class.
    if np.count_nonzero(posterior == best[:, np.newaxis]) > len(codes):
        return pa.array(model.predict(X).tolist(), labels.type)
    return labels.take(pa.array(codes))


def predicted(model: Any, source: Any, sink: Any, keep: Iterable[str], *, proba: bool) -> Any:
    """Answer the rows of a source into a sink; without one, return them as the engine holds rows."""
    rows = rows_of(source)
    answers = Answers.of(model, rows, keep, proba=proba)
    if isinstance(rows, LazyRows) and rows.has_workers:
        return rows.answered(answers, None if sink is None else fspath(sink))
    asked = rows.only(answers.names, answers.reading.wanted)
    batches = asked.batches()
    if sink is None:
        return _reader(_each(answers, asked, batches))
    if not (callable(sink) or isinstance(sink, (str, PathLike))):
        raise TypeError(f"sink must be a path, a function of tables or None, got {kind_of_thing(sink)}.")
    with closing(batches), nullcontext(sink) if callable(sink) else _writer(Path(sink)) as write:
        for table in _each(answers, asked, batches):
            write(table)
    return None


def _each(answers: Answers, rows: RowSource, tables: Iterator[Any]) -> Iterator[Any]:
    asked, start = InParts(answers, len(answers.model.classes_)), 0
    for table in tables:
        with rows.placing(start):
            yield from (answered for _, answered in asked(table))
        start += table.num_rows


class InParts:
    """Asks about tables, so few rows at a time that the numbers of all answers fit in memory."""

    def __init__(self, ask: Callable[[Any], Any], n_numbers: int) -> None:
        """Ask for so many numbers of each row."""
        self._ask, self._n_numbers = ask, max(n_numbers, 1)
        self._work = GrowingWork()

    def __call__(self, table: Any) -> Iterator[tuple[slice, Any]]:
        """Some rows with the answer to them, at least once, until all are answered."""
        at_once = max(1, MOST_NUMBERS // self._n_numbers)
        for start in range(0, max(table.num_rows, 1), at_once):
            some = slice(start, start + at_once)
            part = table[some]
            try:
                with self._work.more(part.num_rows * part.num_columns * self._n_numbers):
                    answer = self._ask(part)
            except ValueError as error:
                row = row_in(error)
                if row is not None:
                    rename_row(error, start + row)
                raise
            yield some, answer


def _reader(tables: Iterator[Any]) -> Any:
    """The answers as an Arrow stream, made as it is read."""
    import pyarrow as pa

    first = next(tables)
    batches = (batch for table in _chained(first, tables) for batch in table.to_batches())
    return pa.RecordBatchReader.from_batches(first.schema, batches)


def _chained(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


@contextmanager
def _writer(path: Path) -> Iterator[Callable[[Any], None]]:
    """Write tables to a file, which appears under its name once it is complete."""
    form = format_of(path)
    if form not in _WRITERS:
        raise ValueError(f"{path}: answers are written to {', '.join(f'.{one}' for one in _WRITERS)} files.")
    opened: list[Any] = []
    with replacing(str(path)) as file:

        def write(table: Any) -> None:
            if not opened:
                opened.append(_WRITERS[form](file, table.schema))
            opened[0].write_table(table)

        try:
            yield write
        finally:
            for one in opened:
                one.close()


def _open_parquet(file: Any, schema: Any) -> Any:
    from pyarrow import parquet

    return parquet.ParquetWriter(file, schema)


def _open_arrow(file: Any, schema: Any) -> Any:
    from pyarrow import ipc

    return ipc.new_stream(file, schema)


def _open_csv(file: Any, schema: Any) -> Any:
    from pyarrow import csv

    return csv.CSVWriter(file, schema)


_WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "parquet": _open_parquet,
    "arrow": _open_arrow,
    "csv": _open_csv,
}
