"""A form over the columns of a model, and the model as JavaScript, so that a page can score what is typed."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Codes
from suffice.estimators.text import TextClassifier
from suffice.export.exportable import Exportable
from suffice.export.javascript import Program, program
from suffice.export.scoring import InputColumn
from suffice.plots.grid import marginalises, read_rows
from suffice.reports.passing import NamedModel
from suffice.reports.words import fewer_digits, shown
from suffice.tables.table import Table, read_table, take_rows

MOST_CODE = 350_000
"""Characters of JavaScript that a page holds."""
MOST_FIELDS = 200
"""Columns that a form has room for."""


def what_if(
    named: NamedModel, X: Any, parts: list[tuple[Any, Codes]], *, extremes: bool
) -> tuple[Program | None, dict[str, Any]]:
    """The model as a program, and the form; with the reason instead where there is none."""
    model = named.inner  # wrappers change what scores become, not what is read
    if isinstance(model, TextClassifier):
        return None, {"reason": "a page does not carry the words of a whole language"}
    try:
        written, needs_all = _written(named.model)
    except (TypeError, ValueError, NotImplementedError) as error:
        return None, {"reason": shown(error, 400).rstrip(".")}
    if len(written.code) > MOST_CODE or len(written.columns) > MOST_FIELDS:
        return None, {
            "reason": f"the model reads {len(written.columns):,} columns and as a program is "
            f"{len(written.code):,} letters long, which is more than a page should hold"
        }
    sampled = _read(model, X)
    tables = [_read(model, take_rows(held, places)) for held, places in parts]
    return written, {
        "fields": [_field(written, column, sampled, extremes=extremes) for column in written.columns],
        "parts": [list(part) for part in written.parts],
        "start": _start(named, X),
        "needsAll": needs_all,
        "rows": [row for table in tables for row in _cells(written, table)],
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


def _cells(written: Program, table: Table) -> list[list[Any]]:
    """The cells of each row that the program reads: numbers, and the places of levels, in brackets."""
    columns: list[list[Any]] = []
    for column in written.columns:
        if column.kind == "level" or column.wide:
            levels = table.levels(column.position)
            places = {str(one): [j] for j, one in enumerate(written.levels.get(column.position, []))}
            held: list[Any] = [places.get(str(one), shown(one)) for one in levels.values]
            held.append(None)
            columns.append([held[code] for code in levels.codes.tolist()])
        else:
            numbers = table.numbers([column.position])[:, 0].astype(np.float64).tolist()
            columns.append([None if np.isnan(number) else number for number in numbers])
    return [list(row) for row in zip(*columns, strict=True)]
