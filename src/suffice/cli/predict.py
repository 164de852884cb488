"""The command that predicts the class of each row: predict."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.errors import DataFailure, SchemaFailure
from suffice.cli.outputs import format_to_write, refuse_to_replace, write_tables
from suffice.tables.files.formats import TEXT
from suffice.tables.wording import listed, quoted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat
    from suffice.tables.files.source import FileSource
    from suffice.tables.row_source import RowSource


@options.command(
    "suffice predict penguins.suffice new.csv",
    "suffice predict penguins.suffice new.csv --proba --keep id -o answers.parquet",
    "cat new.csv | suffice predict penguins.suffice | sort | uniq -c",
)
@options.model_file()
@options.data(required=False)
@click.option("--proba", is_flag=True, help="Add the posterior of each class, in columns p(CLASS).")
@click.option(
    "--costs",
    type=options.FilePath(exists=True, dir_okay=False),
    help="Predict the class of least expected cost. Costs are a JSON file {TRUE: {PREDICTED: cost}}, or a "
    "csv file with the columns true, predicted and cost.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    shell_complete=options.columns_of_data,
    help="A column of DATA to copy to the result, as it is written there; can be repeated.",
)
@click.option(
    "--allow-missing-columns",
    is_flag=True,
    help="Take columns of the model that DATA lacks as missing in every row.",
)
@options.output(required=False, text="The file for the predictions; stdout by default.")
@options.output_format
@options.data_format
@options.force
def predict(
    model: str,
    data: tuple[str, ...],
    proba: bool,
    costs: str | None,
    keep: tuple[str, ...],
    allow_missing_columns: bool,
    output: str,
    output_format: str | None,
    data_format: DataFormat,
    force: bool,
) -> None:
    """Predict the class of each row of DATA (stdin by default) with MODEL.

    The result has one line per row, in the same order, with the column prediction. Columns that the model
    does not know are ignored, and cells may be missing.
    """
    from suffice.cli.columns import reader
    from suffice.cli.inputs import load_model, opened
    from suffice.engines.model_columns import MissingColumnsError
    from suffice.tables.files.ahead import one_ahead
    from suffice.tables.targets import require_column

    refuse_to_replace(output, force=force)
    form = format_to_write(output, output_format)
    answerer = load_model(model, to_ask=costs is None)
    decider = None if costs is None else _cost_sensitive(answerer, costs)
    kept = tuple(dict.fromkeys(keep))
    _refuse_names(kept, answerer, proba=proba)
    with opened(data or ("-",), data_format.as_fitted(answerer), "predicting") as source:
        for name in kept:
            require_column(name, source.names)
        try:
            reading = reader(answerer, source, allow_missing=allow_missing_columns)
        except MissingColumnsError as error:
            cure = "To take what it lacks as missing in every row, add --allow-missing-columns."
            raise SchemaFailure(f"{error} {cure}") from error
        rows = reading.rows(replace(source, coded=reading.coded))
        with closing(_as_written(source, kept, form)) as written:
            answers = _predictions(answerer, decider, reading, rows, _Copied(written, kept), proba=proba)
            with closing(one_ahead(answers)) as tables:
                write_tables(tables, output, form)


def _refuse_names(keep: tuple[str, ...], model: Any, *, proba: bool) -> None:
    """Refuse to copy a column whose name a column of the result has."""
    own = {"prediction", *(_posterior_names(model) if proba else ())}
    for name in keep:
        if name in own:
            raise click.UsageError(
                f"--keep {quoted(name)}: the result has a column of its own with this name; rename that of "
                "the data."
            )


def _posterior_names(model: Any) -> list[str]:
    return [f"p({label})" for label in model.classes_.tolist()]


def _as_written(source: FileSource, names: tuple[str, ...], form: str) -> Generator[Any]:
    """The columns to copy, with every cell of a text file as it is written; only empty ones are missing.

    Where the result has types, numbers of jsonl files stay numbers.
    """
    import pyarrow as pa

    options = replace(source.options, missing=(), decimal=".")
    copied = replace(source, options=options, said=lambda _, __: None, verbatim=True).only(names, {})
    forms = copied.forms
    if forms & set(TEXT) or (form in TEXT and forms == {"jsonl"}):
        copied.settle(dict.fromkeys(names, pa.string()))
    elif names and (forms == {"jsonl"} or len(copied.paths) > 1):
        copied.settle()
    return copied.batches()


def _predictions(
    model: Any, decider: Any, reading: Any, rows: RowSource, copied: _Copied, *, proba: bool
) -> Generator[Any]:
    import pyarrow as pa

    from suffice.engines.predictions import InParts

    names = _posterior_names(model)

    def answered(n_rows: int, labels: Any, posterior: Any) -> Any:
        fields = {**copied.next_rows(n_rows), "prediction": labels}
        if posterior is not None:
            fields |= {name: posterior[:, k] for k, name in enumerate(names)}
        return pa.table(fields)

    asked = InParts(lambda part: _answers(model, decider, reading.arranged(part), proba=proba), len(names))
    start = 0
    with closing(rows.batches()) as batches:
        for batch in batches:
            with rows.placing(start):
                yield from (answered(len(answers[0]), *answers) for _, answers in asked(batch))
            start += batch.num_rows


def _answers(model: Any, decider: Any, X: Any, *, proba: bool) -> tuple[Any, Any]:
    """Predictions as an Arrow array and, if they are wanted, posteriors; the rows are scored once."""
    import pyarrow as pa

    from suffice.engines.predictions import likeliest

    posterior: Any = model.predict_proba(X) if proba or decider is not None else None
    if decider is None and proba:
        return likeliest(model, X, posterior), posterior
    labels = model.predict(X) if decider is None else decider.predict(posterior)
    of_labels = pa.array(model.classes_.tolist()).type
    return pa.array(labels.tolist(), of_labels), posterior if proba else None


class _Copied:
    """Columns to copy, in pieces of any number of rows."""

    def __init__(self, tables: Iterator[Any], names: tuple[str, ...]) -> None:
        self._tables, self._names = tables, names
        self._waiting: list[Any] = []

    def next_rows(self, n_rows: int) -> dict[str, Any]:
        """The next rows, by column."""
        import pyarrow as pa

        if not self._names or not n_rows:
            return {name: pa.array([], pa.string()) for name in self._names}
        while sum(table.num_rows for table in self._waiting) < n_rows:
            self._waiting.append(next(self._tables))
        table = pa.concat_tables(self._waiting)
        self._waiting = [table.slice(n_rows)]
        return {name: table.column(name).slice(0, n_rows) for name in self._names}


def _cost_sensitive(model: Any, path: str) -> Any:
    """Decides, from the posteriors of rows, for the class of least expected cost."""
    import suffice
    from suffice.tables.targets import class_index

    known = {str(label): label for label in model.classes_.tolist()}

    def label(name: Any) -> Any:
        try:
            class_index(str(name), list(known))
        except ValueError as error:
            raise click.UsageError(f"{path}: {error}") from error
        return known[str(name)]

    if path.endswith(".json"):
        entries = _nested_costs(path)
    else:
        from suffice.tables.files.source import open_source
        from suffice.tables.files.types import Wanted

        source = open_source(path)
        if not {"true", "predicted", "cost"} <= set(source.names):
            raise DataFailure(
                f"{path}: costs need the columns true, predicted and cost, but the columns are "
                f"{listed(source.names, brackets=False)}."
            )
        kinds = {"true": Wanted("level"), "predicted": Wanted("level"), "cost": Wanted("number")}
        tables = source.only(kinds, kinds).batches()
        entries = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    costs = {(label(t), label(p)): float(cost) for t, p, cost in entries}
    decider = suffice.CostSensitive(_Posteriors(model.classes_), costs)
    try:
        _ = decider.costs_
    except ValueError as error:
        raise DataFailure(f"{path}: {error}") from error
    return decider


class _Posteriors:
    """A model whose rows are posteriors."""

    def __init__(self, classes: Any) -> None:
        self.classes_ = classes

    def predict_proba(self, X: Any) -> Any:
        """Return the rows."""
        return X


def _nested_costs(path: str) -> list[tuple[Any, ...]]:
    """Each true class, predicted class and cost in a JSON file."""
    from pathlib import Path

    try:
        nested = json.loads(Path(path).read_text(encoding="utf-8"))
        return [(t, p, float(cost)) for t, row in nested.items() for p, cost in row.items()]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        known = isinstance(error, ValueError)
        raise DataFailure(
            f'{path}: costs must be JSON such as {{"bad": {{"good": 5}}, "good": {{"bad": 1}}}}, with the '
            f"true class outside and the predicted class inside{f' ({error})' if known else ''}."
        ) from error
