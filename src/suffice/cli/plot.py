"""The command that draws a model and its data: plot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.messages import as_json, wants_json
from suffice.cli.outputs import refuse_output, sink, write_text
from suffice.tables.wording import counted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat

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
@options.data_format
@options.force
def plot(
    model: str,
    data: tuple[str, ...],
    what: str,
    columns: tuple[str, ...],
    row: int,
    target: str | None,
    output: str,
    data_format: DataFormat,
    force: bool,
) -> None:
    """Draw MODEL together with the rows of DATA; needs matplotlib (pip install 'suffice[plot]').

    All rows are held in memory; if there are very many, pass a part of them.
    """
    from suffice.cli.columns import reader
    from suffice.cli.inputs import load_model, opened

    refuse_output(output, force=force)
    suffix = Path(output).suffix.lower().lstrip(".") or "png"
    if suffix not in ("png", "svg", "pdf"):
        raise click.UsageError(f"a picture must be a .png, .svg or .pdf file, not {output}.")
    import matplotlib as mpl

    mpl.use("agg")
    held = load_model(model)
    if what == "posterior" and len(columns) != 2:
        raise click.UsageError("posterior needs two columns; name them with --columns A --columns B.")
    with opened(data, data_format, "drawing") as source:
        reading = reader(held, source)
        X, y = _rows(held, reading, source, target, labelled=what not in ("densities", "explanation"))
    if what == "explanation" and row >= len(X):
        raise click.UsageError(
            f"there is no row {row}: the data has {counted(len(X), 'row')}, and the first is row 0."
        )
    display = _display(held, what, X, y, list(columns) or None, row)
    with sink(output) as file:
        display.figure_.savefig(file, format=suffix, bbox_inches="tight", dpi=150)
    if wants_json():
        write_text(as_json({"file": output, "what": what}), "-")


def _rows(model: Any, reading: Any, source: Any, target: str | None, *, labelled: bool) -> tuple[Any, Any]:
    import pyarrow as pa

    from suffice.cli.columns import kind_of_classes, target_of

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
