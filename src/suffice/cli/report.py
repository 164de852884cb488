"""Commands that write a page: report, of one model, and compare, of several on the same rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.outputs import refuse_beside_json, refuse_to_replace, sink
from suffice.cli.outputs import report as say_report
from suffice.tables.wording import counted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat

rows_option = click.option(
    "--rows/--no-rows",
    default=True,
    help="Whether the page holds single rows: the hundred most worth looking at, with their cells.  "
    "[default: rows]",
)
title_option = click.option("--title", help="The heading of the page.")


@options.command(
    "suffice report penguins.suffice held-out.csv -y species -o report.html",
    "suffice report penguins.suffice held-out.csv --no-rows -o report.html",
)
@options.model_file()
@options.data()
@options.known_target
@options.weight
@options.drop_unlabelled
@rows_option
@title_option
@options.output(required=True, text="The page, an .html file; - is stdout.")
@options.data_format
@options.force
def report(model: str, **settings: Any) -> None:
    """Write one page about MODEL and the labelled rows of DATA: a self-contained HTML file.

    It shows metrics, what was learnt of each column and the rows most worth looking at, and recomputes
    decisions for other priors, costs and thresholds. It carries the scores of at most 5,000 rows.
    """
    _write([model], **settings)


@options.command("suffice compare held-out.csv -m one.suffice -m other.suffice -y species -o compared.html")
@click.option(
    "-m",
    "--model",
    "models",
    type=options.FilePath(),
    multiple=True,
    required=True,
    metavar="MODEL",
    help="A model; repeat it for each. The page explains the first in detail.",
)
@options.data()
@options.known_target
@options.weight
@options.drop_unlabelled
@rows_option
@title_option
@options.output(required=True, text="The page, an .html file; - is stdout.")
@options.data_format
@options.force
def compare(models: tuple[str, ...], **settings: Any) -> None:
    """Write one page that compares models of the same classes on the labelled rows of DATA."""
    if len(models) < 2:
        raise click.UsageError("name at least two models, each with -m; for one there is suffice report.")
    _write(list(models), **settings)


def _write(
    models: list[str],
    *,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    drop_unlabelled: bool,
    rows: bool,
    title: str | None,
    output: str,
    data_format: DataFormat,
    force: bool,
) -> None:
    from suffice.cli.inputs import load_model, opened
    from suffice.reports.report import made_page

    refuse_to_replace(output, force=force)
    refuse_beside_json(output)
    held = [load_model(path) for path in models]
    names = _names(models)
    with opened(data, data_format.as_fitted(held[0]), "asking", drop_unlabelled=drop_unlabelled) as source:
        passed = _passed(held, names, source, target, weight)
    default = f"{', '.join(names[:3])} on {', '.join(Path(path).name for path in data[:3])}"
    page = made_page(passed, title=title or default, rows=rows)
    text = page.html.encode()
    with sink(output) as file:
        file.write(text)
    facts = {"file": output, "rows": passed.n_rows, "sample": page.data["rows"]["sample"], "bytes": len(text)}
    if output != "-":
        say_report(f"{output}: {counted(passed.n_rows, 'row')}, {len(text) / 1e3:,.0f} kB", facts)


def _passed(models: list[Any], names: list[str], source: Any, target: str | None, weight: str | None) -> Any:
    """Ask the models about the rows of files, batch by batch."""
    from suffice.cli.columns import kind_of_classes, reader, target_of
    from suffice.reports.passing import NamedModel, PassingRows
    from suffice.tables.files.batches import LabelledFiles

    column = target_of(models[0], source, target, weight)
    readers = [reader(model, source) for model in models]
    read = list(dict.fromkeys(name for one in readers for name in one.names))
    others = [name for name in (column, weight) if name is not None and name not in read]
    wanted = {column: kind_of_classes(models[0])}
    for one in reversed(readers):
        wanted |= one.wanted
    named = [
        NamedModel.of(name, model, one.arranged)
        for name, model, one in zip(names, models, readers, strict=True)
    ]

    def asked(batches: Any) -> Any:
        passed = PassingRows(named, 0)
        for X, y, weights in batches:
            passed.add(X, y, weights)
        return passed

    return LabelledFiles.of(source.only([*read, *others], wanted), column, weight).through(asked)


def _names(paths: list[str]) -> list[str]:
    """The names of files without folders, or with them if they would not differ."""
    names = [Path(path).stem for path in paths]
    return names if len(set(names)) == len(names) else list(paths)
