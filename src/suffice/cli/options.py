"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from suffice.tables.files.formats import FORMATS

Decorator = Callable[[Any], Any]


def command(*examples: str) -> Decorator:
    """A command whose help ends with examples."""
    lines = "".join(f"  {line}\n" for line in examples)
    return click.command(epilog=f"\b\nExample{'s' * (len(examples) > 1)}:\n{lines}")


def columns_of_data(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a column from the header of the data."""
    from suffice.tables.files.source import open_source

    # An option that still waits for its value leaves all arguments unparsed.
    for path in (*(context.params.get("data") or ()), *reversed(context.args)):
        try:
            names = open_source(path, context.params.get("form")).names
        except (OSError, ValueError):
            continue
        return [name for name in names if name.startswith(incomplete)]
    return []


def data(*, required: bool = True) -> Decorator:
    """The files that hold the rows."""
    return click.argument("data", nargs=-1, required=required, type=click.Path(), metavar="DATA...")


def model_file(name: str = "model") -> Decorator:
    """A file with a model or statistics."""
    return click.argument(name, type=click.Path(), metavar=name.upper())


form = click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="The format of DATA, if the file name does not show it; csv for stdin.",
)
target = click.option(
    "-y",
    "--target",
    metavar="COLUMN",
    shell_complete=columns_of_data,
    help="The column that holds the classes.  [required]",
)
known_target = click.option(
    "-y",
    "--target",
    metavar="COLUMN",
    shell_complete=columns_of_data,
    help="The column that holds the classes; needed only if several columns outside the model could be it.",
)
weight = click.option(
    "--weight",
    metavar="COLUMN",
    shell_complete=columns_of_data,
    help="The column that holds weights; a row of weight k counts as k rows.",
)
drop = click.option(
    "--drop",
    multiple=True,
    metavar="COLUMN",
    shell_complete=columns_of_data,
    help="A column to leave out; can be repeated.",
)
families = click.option(
    "--families",
    multiple=True,
    metavar="COLUMN=FAMILY,...",
    help="Families of columns, such as visits=poisson,income=gamma; 'none' leaves a column out. For the "
    "other columns, the first 100,000 rows decide.",
)
missing_marks = click.option(
    "--missing-mark",
    "missing_marks",
    multiple=True,
    metavar="TEXT",
    help="A text that stands for a missing cell; can be repeated. By default ?, -, NA, N/A, NaN, None and "
    "null do in columns of numbers and dates, and ? in columns of categories.",
)
force = click.option("--force", is_flag=True, help="Overwrite an existing file.")


def output(*, required: bool, text: str) -> Decorator:
    """Where the result goes; stdout by default, unless it is required."""
    # A default of None would count as an answer.
    said: dict[str, Any] = {"required": True} if required else {"default": "-"}
    return click.option("-o", "--output", type=click.Path(), metavar="FILE", help=text, **said)


output_format = click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    help="The format of the result, if the file name does not show it; csv on stdout.",
)


def chosen_families(texts: tuple[str, ...]) -> dict[str, Any]:
    """Families by column from `column=family,column=family`; a column's name may hold commas and =."""
    import re

    from suffice.families import family_named
    from suffice.model.chosen_families import family_from

    chosen: dict[str, Any] = {}
    for text in texts:
        waiting = ""
        for piece in text.split(","):
            waiting += piece
            column, equals, name = waiting.rpartition("=")
            called = re.fullmatch(r"\s*([\w-]+)(?:\((\d+)\))?\s*", name)
            if not equals or called is None:
                waiting += ","
                continue
            word, number = called.groups()
            spec: Any = None if word.lower() == "none" else word
            if number is not None:
                family: Any = family_named(word)
                spec = word if family is None else family(int(number))
            try:
                chosen[column] = family_from(spec)
            except ValueError as error:
                raise click.BadParameter(str(error), param_hint="--families") from error
            waiting = ""
        if waiting:
            raise click.BadParameter(
                f"{waiting.rstrip(',')!r} does not name a family; write COLUMN=FAMILY, as in visits=poisson.",
                param_hint="--families",
            )
    return chosen
