"""Arguments and options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import click

from suffice.cli.messages import choose
from suffice.tables.files.formats import FORMATS
from suffice.tables.files.options import ReadingOptions

Decorator = Callable[[Any], Any]


class Finite(click.FloatRange):
    """A number that is not negative; float would also read inf and nan."""

    def __init__(self, most: float | None = None) -> None:
        super().__init__(min=0.0, max=most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the text of a number."""
        number: float = super().convert(value, param, ctx)
        return number if math.isfinite(number) else self.fail(f"{value} is not a finite number.", param, ctx)


class FilePath(click.Path):
    """The name of a file; an empty one would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a name."""
        return super().convert(named(value, param, ctx), param, ctx)


def named(value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
    """A name, unless it is empty."""
    if not value:
        raise click.BadParameter("the name is empty.", ctx, param)
    return value


def command(*examples: str) -> Decorator:
    """A command whose help ends with examples, with the options that every command has."""
    lines = "".join(f"  {line}\n" for line in examples)
    made = click.command(epilog=f"\b\nExample{'s' * (len(examples) > 1)}:\n{lines}")
    return lambda function: made(_threads(_json(_quiet(function))))


def _choose(_: click.Context, param: click.Parameter, value: bool) -> None:
    choose(**{str(param.name): value})


def _set_threads(_: click.Context, __: click.Parameter, value: int | None) -> None:
    if value is not None:
        from suffice.kernels.threads import set_threads

        set_threads(value)


_common: dict[str, Any] = {"expose_value": False, "is_eager": True}
_quiet = click.option("-q", "--quiet", is_flag=True, callback=_choose, help="Only tell errors.", **_common)
_json = click.option(
    "--json",
    is_flag=True,
    callback=_choose,
    help="Answer in JSON, on stdout; errors too, on stderr.",
    **_common,
)
_threads = click.option(
    "--threads",
    type=click.IntRange(min=1),
    callback=_set_threads,
    help="The most threads to use; by default one for each processor.",
    **_common,
)


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
    return click.argument("data", nargs=-1, required=required, type=FilePath(), metavar="DATA...")


def model_file(name: str = "model") -> Decorator:
    """A file with a model or statistics."""
    return click.argument(name, type=FilePath(), metavar=name.upper())


@dataclass(frozen=True)
class DataFormat:
    """How the files of DATA are written."""

    form: str | None
    options: ReadingOptions

    def as_fitted(self, model: Any) -> DataFormat:
        """How a model's rows were written: texts that stood for a missing cell still do, unless others do."""
        schema = getattr(getattr(model, "statistics_", model), "schema", None)
        chosen = None if schema is None else schema.marks.chosen
        if self.options.missing is not None or chosen is None:
            return self
        return replace(self, options=replace(self.options, missing=chosen))

    def left_to_model(self) -> DataFormat:
        """The same, where a model of families reads marks of missing cells itself, and remembers them."""
        usual = self.options.missing is None
        return replace(self, options=replace(self.options, missing=None if usual else ()))


_FORMAT_OPTIONS = (
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="The format of DATA, if the file name does not show it; csv for stdin.",
    ),
    click.option(
        "--sep", metavar="CHARACTER", help="What separates the cells of csv files, such as ; or \\t."
    ),
    click.option(
        "--decimal",
        default=".",
        metavar="CHARACTER",
        help="What separates decimals: . or , (then points part thousands, where that is beyond doubt).",
    ),
    click.option(
        "--encoding", default="utf-8", metavar="NAME", help="The encoding of text, such as latin-1."
    ),
)
missing = click.option(
    "--missing",
    multiple=True,
    metavar="TEXT,...",
    help="Texts that stand for a missing cell, such as '?,NA,-', instead of the usual ones or the model's.",
)


def data_format(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how DATA is written, as one argument; `missing` is among them."""

    @wraps(function)
    def with_format(
        *,
        form: str | None,
        sep: str | None,
        decimal: str,
        encoding: str,
        missing: tuple[str, ...],
        **named: Any,
    ) -> Any:
        marks = marks_of(missing)
        sep = "\t" if sep == "\\t" else sep
        try:
            chosen = ReadingOptions(missing=marks, sep=sep, decimal=decimal, encoding=encoding)
        except ValueError as error:
            raise click.UsageError(f"--{error}") from error
        return function(data_format=DataFormat(form, chosen), **named)

    for option in (missing, *reversed(_FORMAT_OPTIONS)):
        with_format = option(with_format)
    return with_format


def marks_of(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Texts that stand for a missing cell; None if none is named."""
    return tuple(mark.strip() for text in texts for mark in text.split(",")) if texts else None


def marks_of_labels(data_format: DataFormat, target: str) -> dict[str, tuple[str, ...]]:
    """The chosen texts that stand for no label, where the model reads those of its own columns."""
    return {} if data_format.options.missing is None else {target: data_format.options.marks}


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


def like(text: str) -> Decorator:
    """A file whose families to use."""
    return click.option("--like", type=FilePath(), metavar="FILE", help=text)


def refuse_beside_like(families: tuple[str, ...]) -> None:
    """Refuse families that are chosen twice."""
    if families:
        raise click.UsageError("--like and --families both set the families; use only one of them.")


drop_unlabelled = click.option(
    "--drop-unlabelled", is_flag=True, help="Leave out rows without a label, instead of refusing them."
)
checkpoint = click.option(
    "--checkpoint",
    type=FilePath(dir_okay=False),
    metavar="FILE",
    help="Write the sums so far to this file every few seconds; after an interruption, the same command goes "
    "on from there. It is removed at the end.",
)
on_error = click.option(
    "--on-error",
    type=click.Choice(["raise", "skip"]),
    default="raise",
    show_default=True,
    help="Whether a file that cannot be read ends the command, or is skipped with a warning.",
)
timeout = click.option(
    "--timeout",
    type=Finite(),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait while another command changes the same file.",
)
force = click.option("--force", is_flag=True, help="Overwrite an existing file.")


def output(*, required: bool, text: str) -> Decorator:
    """Where the result goes; stdout by default, unless it is required."""
    # A default of None would count as an answer.
    said: dict[str, Any] = {"required": True} if required else {"default": "-"}
    return click.option("-o", "--output", type=FilePath(), metavar="FILE", help=text, **said)


output_format = click.option(
    "--output-format",
    type=click.Choice(FORMATS),
    help="The format of the result, if the file name does not show it; csv on stdout.",
)


def chosen_priors(text: str | None) -> Any:
    """None, "uniform", or priors by class from `class=prior,class=prior`; a class may hold commas and =."""
    if text is None or text == "uniform":
        return text
    priors: dict[str, float] = {}
    waiting = ""
    for piece in text.split(","):
        waiting += piece
        label, equals, number = waiting.rpartition("=")
        try:
            prior = float(number) if equals else None
        except ValueError:
            prior = None
        if prior is None:
            waiting += ","
            continue
        priors[label.strip()] = prior
        waiting = ""
    if waiting:
        raise click.BadParameter(
            f"{waiting.rstrip(',')!r} is no prior; write uniform, or CLASS=P,..., as in good=0.9,bad=0.1.",
            param_hint="--priors",
        )
    return priors


def priors_of_labels(priors: Any, classes: Any) -> Any:
    """Priors that were given by the text of each class, by its label."""
    import numpy as np

    from suffice.model.priors import class_priors
    from suffice.tables.targets import class_index

    try:
        if priors != "uniform":
            known = {str(label): label for label in classes.tolist()}
            places = {label: class_index(label, list(known)) for label in priors}
            priors = {classes.tolist()[places[label]]: prior for label, prior in priors.items()}
        class_priors(priors, classes, np.ones(len(classes)))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--priors") from error
    return priors


def chosen_families(texts: tuple[str, ...]) -> dict[str, Any]:
    """Families by column from `column=family,column=family`; a column's name may hold commas and =."""
    import re

    from suffice.families import family_named
    from suffice.model.columns.chosen_families import family_from

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
