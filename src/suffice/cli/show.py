"""Commands that show a model: info, export and demo."""

from __future__ import annotations

import re
from math import isnan
from typing import Any

import click

from suffice.cli import options
from suffice.cli.errors import DataFailure
from suffice.cli.fit import described_columns
from suffice.cli.messages import as_json, wants_json
from suffice.cli.outputs import (
    refuse_output,
    refuse_to_replace,
    sink,
    write_for_people,
    write_tables,
    write_text,
)
from suffice.cli.summarize import facts_of
from suffice.export.dialects import DIALECTS

NAME_PART = r'(?:"(?:[^"]|"")+"|[^".]+)'


def _table_parts(ctx: click.Context, param: click.Parameter, value: str) -> list[str]:
    """The parts of a table's name: the text between dots, or in double quotes with "" for a quote."""
    if re.fullmatch(rf"{NAME_PART}(\.{NAME_PART}){{,2}}", value) is None:
        raise click.BadParameter(
            f"{value!r} does not name a table; write table, schema.table or catalog.schema.table, and a part "
            'that contains a dot or a double quote in double quotes, with "" for each quote.',
            ctx,
            param,
        )
    parts: list[str] = re.findall(NAME_PART, value)
    return [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]


@options.command("suffice info penguins.suffice")
@options.model_file("file")
def info(file: str) -> None:
    """Describe what FILE holds: the kind of model, its rows and classes, and the family of each column."""
    from suffice.cli.inputs import load

    held = load(file, to_ask=True)
    if wants_json():
        write_text(as_json(_described(held)), "-")
    else:
        write_for_people("\n".join(_told(held)), "-")


def _described(held: Any) -> dict[str, Any]:
    """What a file holds, for programs."""
    statistics = getattr(held, "statistics_", held)
    content: dict[str, Any] = {"holds": type(held).__name__}
    if hasattr(held, "get_params"):
        content |= {"settings": _settings(held), "classes": held.classes_}
    if hasattr(statistics, "schema"):
        content |= facts_of(statistics)
        content["columns"] = described_columns(statistics.schema)
    return content


def _told(held: Any) -> list[str]:
    import suffice

    if isinstance(held, suffice.Statistics):
        return [repr(held), "", repr(held.schema)]
    settings = ", ".join(f"{name}={value!r}" for name, value in _settings(held).items())
    lines = [f"{type(held).__name__}({settings})"]
    if hasattr(held, "statistics_"):
        weighed = ["", repr(held.weights_)] if hasattr(held, "weights_") else []
        return [*lines, repr(held.statistics_), "", repr(held.schema_), *weighed]
    return [*lines, repr(held.summary())]


def _settings(model: Any) -> dict[str, Any]:
    """The settings that differ from the defaults."""
    default = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    return {name: value for name, value in own.items() if repr(value) != repr(default[name])}


@options.command(
    "suffice export penguins.suffice --to sql --table zoo.birds --dialect postgres --key id",
    "suffice export penguins.suffice --to duckdb-macro --key id | duckdb zoo.db",
    "suffice export penguins.suffice --to onnx -o penguins.onnx",
    "suffice export penguins.suffice --to json",
)
@options.model_file()
@click.option(
    "--to",
    "form",
    type=click.Choice(["sql", "duckdb-macro", "onnx", "json"]),
    help="The format to write; --json is --to json.",
)
@click.option(
    "--table",
    callback=_table_parts,
    default="data",
    show_default=True,
    help="sql: the table that holds the rows. A dot separates catalog, schema and table, unless in double "
    "quotes: zoo.birds, or '\"a.b\"' for the one name a.b.",
)
@click.option(
    "--macro",
    default="suffice_predict",
    show_default=True,
    metavar="NAME",
    help="duckdb-macro: the name of the macro, which is called with the name of a table.",
)
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default="duckdb",
    show_default=True,
    help="sql: the database that will run it.",
)
@click.option(
    "--result",
    type=click.Choice(["proba", "label", "scores"]),
    default="proba",
    show_default=True,
    help="sql: posteriors, the most probable class, or log posteriors.",
)
@click.option(
    "--key",
    multiple=True,
    metavar="COLUMN",
    help="sql: a column of the table to copy to the result; can be repeated.",
)
@click.option(
    "--missing",
    type=click.Choice(["marginal", "null"]),
    default="marginal",
    show_default=True,
    help="sql, onnx: a row with missing cells in a joint Gaussian is scored on the observed cells (up to 6 "
    "columns, or 16 inputs of weighed evidence), or gets no result.",
)
@options.output(required=False, text="The file to write; stdout by default.")
@options.force
def export(
    model: str,
    form: str | None,
    table: list[str],
    macro: str,
    dialect: str,
    result: Any,
    key: tuple[str, ...],
    missing: Any,
    output: str,
    force: bool,
) -> None:
    """Write MODEL for use elsewhere.

    sql is one SELECT that scores rows inside a database; duckdb-macro makes a macro of DuckDB that scores any
    table with the columns of the model; onnx is a graph for any ONNX runtime; json holds the classes, priors,
    columns and parameters for people and programs to read.
    """
    from suffice.cli.inputs import load_model

    form = form or ("json" if wants_json() else None)
    if form is None:
        raise click.UsageError("name the format to write with --to: sql, duckdb-macro, onnx or json.")
    (refuse_output if form == "onnx" else refuse_to_replace)(output, force=force)
    held = load_model(model)
    if form == "json":
        write_text(as_json(_readable(held)), output)
        return
    if not hasattr(held, f"to_{form.replace('-', '_')}"):
        raise DataFailure(f"a {type(held).__name__} cannot be exported to {form}; use --to json.")
    if form == "onnx":
        content = held.to_onnx(missing=missing).SerializeToString()
    elif form == "sql":
        content = held.to_sql(table, dialect=dialect, output=result, key=key, missing=missing)
    else:
        content = f"{held.to_duckdb_macro(macro, output=result, key=key, missing=missing)};"
    facts = {"format": form, **({"text": content} if output == "-" else {"file": output})}
    if output != "-" or not wants_json():
        with sink(output) as file:
            file.write(content if form == "onnx" else f"{content.rstrip()}\n".encode())
    if wants_json():
        write_text(as_json(facts), "-")


def _readable(model: Any) -> dict[str, Any]:
    """The fitted parameters of a model, as plain numbers and text."""
    content: dict[str, Any] = {"model": type(model).__name__, "classes": model.classes_}
    if hasattr(model, "schema_"):
        content["priors"] = model.priors_
        content["columns"] = described_columns(model.schema_)
        content["parameters"] = getattr(model, "generative_", model).parameters_
        if hasattr(model, "weights_"):
            weighed = model.weights_
            content["bias"] = model.bias_
            content["evidence"] = [
                {
                    "kind": piece.group,
                    "about": piece.name,
                    "weight": None if isnan(weight) else weight,
                    "nats": None if isnan(nats) else nats,
                }
                for piece, weight, nats in zip(
                    weighed.pieces, weighed.weights.tolist(), weighed.nats.tolist(), strict=True
                )
            ]
    else:
        content |= {"coefficients": model.coef_, "intercepts": model.intercept_}
        content["columns"] = getattr(model, "feature_names_in_", list(range(model.n_features_in_)))
    return content


@options.command("suffice demo", "suffice demo --data > penguins.csv")
@click.option("--data", is_flag=True, help="Print the data of the demonstration as csv instead.")
def demo(data: bool) -> None:
    """Demonstrate the library on the Palmer penguins: fit, evaluate, explain, add and subtract."""
    if data:
        from importlib.resources import files

        path = files("suffice") / "datasets" / "penguins.csv"
        if wants_json():
            from pyarrow import csv

            write_tables([csv.read_csv(str(path))], "-", "jsonl")
        else:
            write_text(path.read_text(encoding="utf-8"), "-")
        return
    from suffice.cli.demo import main

    evaluation = main(quiet=wants_json())
    if wants_json():
        write_text(as_json(evaluation.to_dict()), "-")
