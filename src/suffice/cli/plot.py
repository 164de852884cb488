"""The command that draws a model and its data: plot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from suffice.cli import options
from suffice.cli.messages import as_json, wants_json
from suffice.cli.outputs import refuse_output, sink, write_text
from suffice.tables.wording import counted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat


@dataclass(frozen=True)
class Request:
    """What is drawn: a model, rows with or without classes, and the choices of columns and of a row."""

    model: Any
    X: Any
    y: Any
    columns: list[str] | None
    row: int


@dataclass(frozen=True)
class Picture:
    """A kind of picture: what the help says of it, how it is drawn, and what that takes."""

    about: str
    draw: Callable[[Request], Any]
    rows: Literal["none", "any", "labelled"] = "labelled"
    two_columns: bool = False


def _evaluation(of: Request) -> Any:
    import suffice

    return suffice.evaluate(of.model, of.X, of.y).plot()


def _explanation(of: Request) -> Any:
    if of.row >= len(of.X):
        raise click.UsageError(
            f"there is no row {of.row}: the data has {counted(len(of.X), 'row')}, and the first is row 0."
        )
    return of.model.explain(of.X[of.row : of.row + 1]).plot()


def _weights(of: Request) -> Any:
    if not hasattr(of.model, "weights_"):
        raise click.UsageError(
            f"{type(of.model).__name__} weighs no evidence; fit the model with --model evidence."
        )
    return of.model.weights_.plot()


def _display(name: str, *given: Literal["y", "columns"]) -> Callable[[Request], Any]:
    """Draw the display of this name, which takes the rows and some of what is given beside them."""

    def draw(of: Request) -> Any:
        from suffice import plots

        chosen = {one: getattr(of, one) for one in given}
        return getattr(plots, name).from_estimator(of.model, of.X, **chosen)

    return draw


PICTURES = {
    "densities": Picture("each column by class", _display("DensityDisplay", "columns"), "any"),
    "posterior": Picture("over two columns", _display("PosteriorDisplay", "y", "columns"), two_columns=True),
    "surface": Picture(
        "the same of the last class, in three dimensions",
        _display("SurfaceDisplay", "columns"),
        "any",
        two_columns=True,
    ),
    "shapes": Picture("what each column says, weighed", _display("ShapeDisplay", "y", "columns")),
    "weights": Picture("what each piece of evidence adds, without DATA", _weights, "none"),
    "explanation": Picture("of one row", _explanation, "any"),
    "evaluation": Picture("on labelled rows", _evaluation),
    "confusion": Picture("matrix, on labelled rows", _display("ConfusionDisplay", "y")),
    "reliability": Picture("predicted against observed shares", _display("ReliabilityDisplay", "y")),
    "precision-recall": Picture("for every threshold", _display("PrecisionRecallDisplay", "y")),
    "roc": Picture("curve, for every threshold", _display("RocCurveDisplay", "y")),
}


@options.command(
    "suffice plot penguins.suffice penguins.csv -o densities.png",
    "suffice plot penguins.suffice rows.csv --what posterior --columns a,b -o ab.svg",
    "suffice plot penguins.suffice --what weights -o weights.png",
)
@options.model_file()
@options.data(required=False)
@click.option(
    "--what",
    type=click.Choice(list(PICTURES)),
    default="densities",
    show_default=True,
    help="; ".join(f"{name}: {picture.about}" for name, picture in PICTURES.items()) + ".",
)
@click.option(
    "--columns",
    multiple=True,
    metavar="COLUMN,...",
    shell_complete=options.columns_of_data,
    help="A column to draw, or several with commas between; can be repeated. posterior and surface need two.",
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
    held, picture = load_model(model), PICTURES[what]
    if (picture.rows == "none") != (not data):
        raise click.UsageError(
            f"{what} takes no DATA." if data else f"{what} needs rows; pass files as DATA."
        )
    X = y = chosen = None
    if data:
        with opened(data, data_format.as_fitted(held), "drawing") as source:
            reading = reader(held, source)
            chosen = _separated(columns, reading.names)
            if picture.two_columns and len(chosen or ()) != 2:
                raise click.UsageError(f"{what} needs two columns; name them with --columns A,B.")
            X, y = _rows(held, reading, source, target, labelled=picture.rows == "labelled")
    display = picture.draw(Request(held, X, y, chosen, row))
    with sink(output) as file:
        display.figure_.savefig(file, format=suffix, bbox_inches="tight", dpi=150)
    if wants_json():
        write_text(as_json({"file": output, "what": what}), "-")


def _separated(texts: tuple[str, ...], names: tuple[str, ...]) -> list[str] | None:
    """The columns that texts name, with commas between unless a name holds them; None of no texts."""
    return [one for text in texts for one in ([text] if text in names else text.split(","))] or None


def _rows(model: Any, reading: Any, source: Any, target: str | None, *, labelled: bool) -> tuple[Any, Any]:
    import pyarrow as pa

    from suffice.cli.columns import kind_of_classes, target_of

    if not labelled:
        return reading.arranged(pa.concat_tables(list(reading.rows(source).batches()))), None
    column = target_of(model, source, target)
    rows = reading.rows(source, column, wanted={column: kind_of_classes(model)})
    table = pa.concat_tables(list(rows.batches()))
    return reading.arranged(table.select(list(reading.names))), table.column(column)
