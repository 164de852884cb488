"""A form over the columns of a model, and the model as JavaScript, so that a page can score what is typed."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.estimators.language import single_column
from suffice.estimators.text import TextClassifier
from suffice.export.exportable import Exportable
from suffice.export.javascript import Program, program
from suffice.export.scoring import InputColumn
from suffice.plots.grid import marginalises, read_rows
from suffice.reports.documents import document_code
from suffice.reports.passing import NamedModel
from suffice.reports.words import fewer_digits, shown
from suffice.tables.table import Table, read_table, take_rows
from suffice.text import read_documents

MANY_FIELDS = 40
"""Columns of which the form shows the first, and finds the others by name."""
MOST_FIELDS = 1_000
"""Columns that a form has room for."""
MOST_CELLS = 10_000
"""Cells of the rows that can be tried."""
LONGEST_DOCUMENT = 2_000
"""Characters of a document that can be tried."""


def what_if(
    named: NamedModel, X: Any, parts: list[tuple[Any, Codes]], gained: Array | None, *, rows: bool
) -> tuple[str | None, dict[str, Any]]:
    """The model as a function in JavaScript, and the form; with the reason instead where there is none."""
    model = named.inner  # wrappers change what scores become, not what is read
    try:
        if isinstance(model, TextClassifier):
            return _document_form(named, parts, rows=rows)
        return _form(named, X, parts, gained, extremes=rows)
    except (TypeError, ValueError, NotImplementedError) as error:
        return None, {"reason": shown(error, 400).rstrip(".")}


def _document_form(
    named: NamedModel, parts: list[tuple[Any, Codes]], *, rows: bool
) -> tuple[str, dict[str, Any]]:
    """One field for a whole document."""
    if not isinstance(named.model, TextClassifier):
        raise TypeError(f"a page does not score documents as a {type(named.model).__name__} does")
    if not rows:
        raise ValueError("the words of a text model are words of single documents, and rows are left out")
    documents = [read_documents(single_column(take_rows(held, places))) for held, places in parts]
    texts = [
        None if some.missing is not None and some.missing[i] else some.text(i)
        for some in documents
        for i in range(len(some))
    ]
    return document_code(named.model), {
        "fields": [{"at": 0, "name": "document", "kind": "document"}],
        "parts": [[]],
        "start": "(prior)",
        "needsAll": False,
        "rows": [[text] if text is None or len(text) <= LONGEST_DOCUMENT else None for text in texts],
    }


def _form(
    named: NamedModel, X: Any, parts: list[tuple[Any, Codes]], gained: Array | None, *, extremes: bool
) -> tuple[str, dict[str, Any]]:
    """A field for each column, those that add most first where there are many."""
    written, needs_all = _written(named.model)
    columns = written.columns
    if len(columns) > MOST_FIELDS:
        raise ValueError(f"the model reads {len(columns):,} columns, which is more than a form has room for")
    if gained is not None and len(columns) > MANY_FIELDS:
        columns = sorted(columns, key=lambda column: -gained[column.position])
    model = named.inner
    sampled = _read(model, X)
    tables = [_read(model, take_rows(held, places)) for held, places in parts]
    cells = [row for table in tables for row in _cells(written, columns, table)]
    return written.code, {
        "fields": [_field(written, column, sampled, extremes=extremes) for column in columns],
        "parts": [list(part) for part in written.parts],
        "start": _start(named, X),
        "needsAll": needs_all,
        "rows": cells[: MOST_CELLS // max(len(columns), 1)],
    }


def _written(model: Any) -> tuple[Program, bool]:
    """The program, and whether some cells must not be missing in it."""
    if not isinstance(model, Exportable):
        raise TypeError(f"the scores of a {type(model).__name__} are not written as expressions")
    try:
        return program(model._scoring("observed")), False  # noqa: SLF001  of this library
    except ValueError:
        return program(model._scoring("null")), True  # noqa: SLF001


def _start(named: NamedModel, X: Any) -> str:
    """What the model calls the score that a row begins with."""
    if not hasattr(named.model, "explain"):
        return "(prior)"
    return shown(named.model.explain(take_rows(X, np.array([0]))).start)


def _read(model: Any, X: Any) -> Table:
    return read_rows(model, X) if marginalises(model) else read_table(X)


def _field(written: Program, column: InputColumn, table: Table, *, extremes: bool) -> dict[str, Any]:
    """What the form knows of a column: its levels, or between what its numbers lie."""
    levels = written.levels.get(column.position)
    known: dict[str, Any] = {"at": column.position, "name": shown(column.name), "kind": column.kind}
    if column.wide:
        known["kind"] = "level"
    if levels is not None:
        known["levels"] = [str(one) if known["kind"] == "level" else float(one) for one in levels]
        return known
    numbers = table.numbers([column.position])[:, 0].astype(np.float64)
    if column.kind != "boolean" and not np.isnan(numbers).all():
        ends = (0.0, 1.0) if extremes else (0.05, 0.95)
        known["range"] = fewer_digits(np.nanquantile(numbers, [ends[0], 0.5, ends[1]]), 6)
    return known


def _cells(written: Program, columns: list[InputColumn], table: Table) -> list[list[Any]]:
    """The cells of each row that the program reads: numbers, and the places of levels, in brackets."""
    found: list[list[Any]] = []
    for column in columns:
        if column.kind == "level" or column.wide:
            levels = table.levels(column.position)
            places = {str(one): [j] for j, one in enumerate(written.levels.get(column.position, []))}
            held: list[Any] = [places.get(str(one), shown(one)) for one in levels.values]
            held.append(None)
            found.append([held[code] for code in levels.codes.tolist()])
        else:
            numbers = table.numbers([column.position])[:, 0].astype(np.float64).tolist()
            found.append([None if np.isnan(number) else number for number in numbers])
    return [list(row) for row in zip(*found, strict=True)]
