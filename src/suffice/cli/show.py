"""Commands that show a model: info, export, plot and demo."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import click

from suffice.cli import options
from suffice.cli.errors import DataFailure
from suffice.cli.outputs import refuse_a_terminal, refuse_to_replace, sink, write_text
from suffice.export.dialects import DIALECTS
from suffice.tables.wording import counted

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

    write_text("\n".join(_told(load(file))), "-")


def _told(held: Any) -> list[str]:
    import suffice

    if isinstance(held, suffice.Statistics):
        return [repr(held), "", repr(held.schema)]
    settings = ", ".join(f"{name}={value!r}" for name, value in _settings(held).items())
    lines = [f"{type(held).__name__}({settings})"]
    if hasattr(held, "statistics_"):
        return [*lines, repr(held.statistics_), "", repr(held.schema_)]
    return [*lines, repr(held.summary())]


def _settings(model: Any) -> dict[str, Any]:
    """The settings that differ from the defaults."""
    default = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    return {name: value for name, value in own.items() if repr(value) != repr(default[name])}


@options.command(
    "suffice export penguins.suffice --to sql --table zoo.birds --dialect postgres --key id",
    "suffice export penguins.suffice --to onnx -o penguins.onnx",
    "suffice export penguins.suffice --to json",
)
@options.model_file()
@click.option(
    "--to", "form", type=click.Choice(["sql", "onnx", "json"]), required=True, help="The format to write."
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
    "columns), or gets no result.",
)
@options.output(required=False, text="The file to write; stdout by default.")
@options.force
def export(
    model: str,
    form: str,
    table: list[str],
    dialect: str,
    result: Any,
    key: tuple[str, ...],
    missing: Any,
    output: str,
    force: bool,
) -> None:
    """Write MODEL for use elsewhere.

    sql is one SELECT that scores rows inside a database; onnx is a graph for any ONNX runtime; json holds the
    classes, priors, columns and parameters for people and programs to read.
    """
    from suffice.cli.inputs import load_model

    refuse_to_replace(output, force=force)
    held = load_model(model)
    if form == "json":
        write_text(json.dumps(_readable(held), indent=2, ensure_ascii=False), output)
        return
    if not hasattr(held, f"to_{form}"):
        raise DataFailure(f"a {type(held).__name__} cannot be exported to {form}; use --to json.")
    if form == "sql":
        write_text(held.to_sql(table, dialect=dialect, output=result, key=key, missing=missing), output)
        return
    refuse_a_terminal(output)
    graph = held.to_onnx(missing=missing)
    with sink(output) as file:
        file.write(graph.SerializeToString())


def _readable(model: Any) -> dict[str, Any]:
    """The fitted parameters of a model, as plain numbers and text."""
    content: dict[str, Any] = {"model": type(model).__name__, "classes": model.classes_}
    if hasattr(model, "schema_"):
        content["priors"] = model.priors_
        content["columns"] = [
            {"name": str(c.name), "family": c.family and repr(c.family), "why": c.reason}
            for c in model.schema_
        ]
        content["parameters"] = model.parameters_
    else:
        content |= {"coefficients": model.coef_, "intercepts": model.intercept_}
        content["columns"] = getattr(model, "feature_names_in_", list(range(model.n_features_in_)))
    plain: dict[str, Any] = _plain(content)
    return plain


def _plain(value: Any) -> Any:
    """A value for JSON; NaN and infinities become null."""
    if isinstance(value, dict):
        return {name if isinstance(name, str) else str(name): _plain(one) for name, one in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, bool)) or value is None else str(value)


PICTURES = ("densities", "posterior", "evaluation", "confusion", "reliability", "explanation")


@options.command(
    "suffice plot penguins.suffice penguins.csv -o densities.png",
    "suffice plot penguins.suffice rows.csv --what posterior --columns a --columns b -o ab.svg",
)
@options.model_file()
@options.data()
@click.option(
    "--what",
    type=click.Choice(PICTURES),
    default="densities",
    show_default=True,
    help="densities: each column by class; posterior: over two columns; evaluation, confusion, reliability: "
    "on labelled rows; explanation: of one row.",
)
@click.option(
    "--columns",
    multiple=True,
    metavar="COLUMN",
    shell_complete=options.columns_of_data,
    help="A column to draw; can be repeated. posterior needs two.",
)
@click.option(
    "--row",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="explanation: the row; the first is 0.",
)
@options.known_target
@options.output(required=True, text="The picture: a .png, .svg or .pdf file.")
@options.form
@options.force
def plot(
    model: str,
    data: tuple[str, ...],
    what: str,
    columns: tuple[str, ...],
    row: int,
    target: str | None,
    output: str,
    form: str | None,
    force: bool,
) -> None:
    """Draw MODEL together with the rows of DATA; needs matplotlib (pip install 'suffice[plot]').

    All rows are held in memory; if there are very many, pass a part of them.
    """
    from suffice.cli.inputs import load_model, opened, reader

    refuse_to_replace(output, force=force)
    refuse_a_terminal(output)
    suffix = Path(output).suffix.lower().lstrip(".") or "png"
    if suffix not in ("png", "svg", "pdf"):
        raise click.UsageError(f"a picture must be a .png, .svg or .pdf file, not {output}.")
    import matplotlib as mpl

    mpl.use("agg")
    held = load_model(model)
    if what == "posterior" and len(columns) != 2:
        raise click.UsageError("posterior needs two columns; name them with --columns A --columns B.")
    with opened(data, form, "drawing") as source:
        reading = reader(held, source)
        X, y = _rows(held, reading, source, target, labelled=what not in ("densities", "explanation"))
    if what == "explanation" and row >= len(X):
        raise click.UsageError(
            f"there is no row {row}: the data has {counted(len(X), 'row')}, and the first is row 0."
        )
    display = _display(held, what, X, y, list(columns) or None, row)
    with sink(output) as file:
        display.figure_.savefig(file, format=suffix, bbox_inches="tight", dpi=150)


def _rows(model: Any, reading: Any, source: Any, target: str | None, *, labelled: bool) -> tuple[Any, Any]:
    import pyarrow as pa

    from suffice.cli.inputs import kind_of_classes, target_of

    if not labelled:
        return reading.arranged(pa.concat_tables(list(reading.batches(source)))), None
    column = target_of(model, source, target)
    batches = reading.batches(source, column, wanted={column: kind_of_classes(model)})
    table = pa.concat_tables(list(batches))
    return reading.arranged(table.select(list(reading.names))), table.column(column)


def _display(model: Any, what: str, X: Any, y: Any, columns: list[str] | None, row: int) -> Any:
    import suffice
    from suffice import plots

    if what == "densities":
        return plots.DensityDisplay.from_estimator(model, X, columns=columns)
    if what == "posterior":
        return plots.PosteriorDisplay.from_estimator(model, X, y, columns=columns)
    if what == "evaluation":
        return suffice.evaluate(model, X, y).plot()
    if what == "explanation":
        return model.explain(X[row : row + 1]).plot()
    kinds: dict[str, Any] = {"confusion": plots.ConfusionDisplay, "reliability": plots.ReliabilityDisplay}
    return kinds[what].from_estimator(model, X, y)


@options.command("suffice demo", "suffice demo --data > penguins.csv")
@click.option("--data", is_flag=True, help="Print the data of the demonstration as csv instead.")
def demo(data: bool) -> None:
    """Demonstrate the library on the Palmer penguins: fit, evaluate, explain, add and subtract."""
    if data:
        from importlib.resources import files

        write_text((files("suffice") / "datasets" / "penguins.csv").read_text(encoding="utf-8"), "-")
        return
    from suffice.cli.demo import main

    main()
