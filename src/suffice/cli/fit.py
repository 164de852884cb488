"""Commands that learn from rows: fit, summarize and update."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.outputs import refuse_a_terminal, refuse_to_replace, save

if TYPE_CHECKING:
    from suffice.tables.files import FileSource, LabelledFiles

MODELS = ("auto", "nb", "gda", "qda", "text", "logistic")


@options.command(
    "suffice fit penguins.csv -y species -o penguins.suffice",
    "suffice fit 'trips-*.parquet' -y paid_by --families stops=poisson --drop id -o trips.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="Where the model goes; - is stdout.")
@click.option(
    "--model",
    "kind",
    type=click.Choice(MODELS),
    default="auto",
    show_default=True,
    help="nb: a family for each column (naive Bayes); gda, qda: joint Gaussians with one covariance, or one "
    "for each class; text: words of one column; logistic: regression. auto is nb, or gda or qda where all "
    "columns are measurements and cross-validation finds a smaller log loss.",
)
@options.families
@options.weight
@options.drop
@options.form
@options.force
def fit(
    data: tuple[str, ...],
    target: str | None,
    output: str,
    kind: str,
    families: tuple[str, ...],
    weight: str | None,
    drop: tuple[str, ...],
    form: str | None,
    force: bool,
) -> None:
    """Fit a model to the labelled rows of DATA, and save it.

    The rows are read in batches, so DATA may be larger than memory. The first 100,000 rows (or 64 MB of them)
    decide the family of each column; the table of families is shown with the reasons, and so are accuracy and
    log loss in 5-fold cross-validation on up to 50,000 rows, beside those of always answering the commonest
    class.
    """
    from suffice.cli.inputs import named_target, opened

    refuse_to_replace(output, force=force)
    refuse_a_terminal(output)
    chosen = options.chosen_families(families)
    if chosen and kind not in ("auto", "nb"):
        raise click.UsageError(f"--families goes with --model nb, not with --model {kind}.")
    with opened(data, form, "fitting") as source:
        columns = {"target": named_target(source, target), "weight": weight, "drop": drop}
        model, evaluation, n_rows = _fitted(source, kind, chosen, columns)
        save(model, output)
    if hasattr(model, "schema_"):
        click.echo(f"{model.schema_!r}\n", err=True)
    click.echo(f"{type(model).__name__} of {n_rows:,} rows, {len(model.classes_)} classes.", err=True)
    if evaluation is None:
        click.echo("Too few rows for cross-validation.", err=True)
        return
    baseline = evaluation.baseline
    click.echo(
        f"Cross-validated: accuracy {evaluation.accuracy:.3f} and log loss {evaluation.log_loss:.3f}; "
        f"always {evaluation.commonest!r}: {baseline.accuracy:.3f} and {baseline.log_loss:.3f}.",
        err=True,
    )


def _fitted(
    source: FileSource, kind: str, families: dict[str, Any], columns: dict[str, Any]
) -> tuple[Any, Any, int]:
    """The model, its cross-validation, and how many rows there are."""
    import suffice
    from suffice.cli.cross_validation import Sample, cross_validated
    from suffice.tables.files import LabelledFiles, require_column

    for name in families:
        require_column(name, source.names)
    files = LabelledFiles.of(source, **columns)
    if kind in ("gda", "qda", "logistic"):
        _refuse_text(files, kind)
    if kind == "text":
        families = {_text_column(source, columns): suffice.families.Words()}
    makers: dict[str, Callable[[], Any]] = {
        "gda": lambda: suffice.GaussianDiscriminant("shared"),
        "qda": lambda: suffice.GaussianDiscriminant("full"),
        "logistic": suffice.LogisticRegression,
    }
    model = makers.get(kind, lambda: suffice.BayesClassifier(families or "infer"))()
    model.fit_from(source, **columns)
    sample = files.through(Sample)
    best = cross_validated(model, sample)
    if kind == "auto" and not families and best is not None and _are_measurements(model, sample):
        for other in ("gda", "qda"):
            rival = makers[other]().fit_from(source, **columns)
            found = cross_validated(rival, sample)
            if found is not None and found.log_loss < best.log_loss:
                model, best = rival, found
    return model, best, sample.n_rows


def _refuse_text(files: LabelledFiles, kind: str) -> None:
    """Refuse text for a model of numbers, and say how to leave it out."""
    first = files.through(next).X
    text = [field.name for field in first.schema if str(field.type) == "string"]
    if text:
        options_to_drop = " ".join(f"--drop {shlex.quote(name)}" for name in text[:10])
        raise click.UsageError(
            f"--model {kind} takes numbers, and {', '.join(map(repr, text[:10]))} hold text; leave them out "
            f"with {options_to_drop}, or take --model nb."
        )


def _are_measurements(model: Any, sample: Any) -> bool:
    """Whether every column is a measurement without gaps, so that joint Gaussians are candidates."""
    columns = list(model.schema_)
    names = {"Normal", "LogNormal", "Gamma"}
    measured = all(column.family is not None and column.family.name in names for column in columns)
    return measured and 1 < len(columns) <= 100 and not any(column.null_count for column in sample.X.columns)


def _text_column(source: FileSource, columns: dict[str, Any]) -> str:
    used = {columns["target"], columns["weight"], *columns["drop"]}
    left = [name for name in source.names if name not in used]
    if len(left) != 1:
        raise click.UsageError(
            f"--model text takes one column of text, but there are {', '.join(map(repr, left[:20]))}; leave "
            "the others out with --drop, or let --model auto find the text among them."
        )
    return left[0]


@options.command(
    "suffice summarize monday.csv -y species -o monday.suffice",
    "cat tuesday.csv | suffice summarize - -y species --like monday.suffice -o tuesday.suffice",
    "suffice merge monday.suffice tuesday.suffice -o week.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="Where the statistics go; - is stdout.")
@click.option(
    "--like",
    type=click.Path(),
    metavar="FILE",
    help="Sum for the families of a model or statistics, so that the results can be merged.",
)
@options.families
@options.weight
@options.drop
@options.form
@options.force
def summarize(
    data: tuple[str, ...],
    target: str | None,
    output: str,
    like: str | None,
    families: tuple[str, ...],
    weight: str | None,
    drop: tuple[str, ...],
    form: str | None,
    force: bool,
) -> None:
    """Sum the labelled rows of DATA into statistics, which are all that a model needs.

    Statistics of parts (days, sites, shards) can be merged and subtracted, and used in place of a model.
    Parts must be summed for the same families: give the first to the others by --like.
    """
    import suffice
    from suffice.cli.inputs import load, named_target, opened

    refuse_to_replace(output, force=force)
    refuse_a_terminal(output)
    chosen: Any = options.chosen_families(families) or "infer"
    if like is not None and families:
        raise click.UsageError("--like and --families both say what the families are; give one of them.")
    with opened(data, form, "summarizing") as source:
        rows, column = source, named_target(source, target)
        if like is not None:
            rows, chosen = _like(load(like), source, column, weight)
        statistics = suffice.summarize(
            rows, target=column, families=chosen, sample_weight=weight, drop=() if like else drop
        )
        save(statistics, output)
    click.echo(f"{statistics!r}", err=True)


def _like(held: Any, source: FileSource, target: str, weight: str | None) -> tuple[FileSource, Any]:
    """The rows with the columns of another file, read as they were there."""
    import suffice
    from suffice.cli.inputs import as_model, kind_of_classes, reader

    model = as_model(held)
    if not isinstance(model, suffice.BayesClassifier):
        raise click.UsageError("--like takes a model of families or statistics, and this file holds neither.")
    wanted = {**reader(model, source).wanted, target: kind_of_classes(model)}
    schema = model.statistics_.schema
    others = [name for name in (target, weight) if name is not None]
    return source.only([*map(str, schema.names), *others], wanted), schema


@options.command("suffice update penguins.suffice new-penguins.csv -y species")
@options.model_file()
@options.data()
@options.known_target
@options.weight
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE",
    help="Where the model goes; MODEL itself by default.",
)
@options.form
@options.force
def update(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    output: str | None,
    form: str | None,
    force: bool,
) -> None:
    """Let MODEL learn the labelled rows of DATA, as if it had been fitted to them too.

    The file takes its new content at once, when it is whole; if anything fails, it is what it was.
    """
    import suffice
    from suffice.cli.inputs import as_model, kind_of_classes, load, opened, reader, target_of
    from suffice.tables.files import LabelledFiles

    if output is not None:
        refuse_to_replace(output, force=force)
    if model == "-":
        raise click.UsageError("stdin has no place for the updated model; name a file.")
    held = load(model)
    learner = as_model(held)
    if not hasattr(learner, "partial_fit"):
        raise click.UsageError(
            f"a {type(learner).__name__} cannot learn more rows; fit it again to all of them."
        )
    with opened(data, form, "updating") as source:
        reading = reader(learner, source, learning=True)
        column = target_of(learner, source, target, weight)
        others = [name for name in (column, weight) if name is not None]
        wanted = {**reading.wanted, column: kind_of_classes(learner)}
        files = LabelledFiles.of(source.only([*reading.names, *others], wanted), column, weight)
        updated = files.through(lambda batches: _more(copy(learner), reading, batches))
    is_statistics = isinstance(held, suffice.Statistics)
    save(updated.statistics_ if is_statistics else updated, model if output is None else output)
    rows = [one.statistics_.n_rows for one in (updated, learner)]
    click.echo(f"{rows[0]:,} rows, {rows[1]:,} before.", err=True)


def _more(learner: Any, reading: Any, batches: Any) -> Any:
    for X, y, weights in batches:
        learner.partial_fit(reading.arranged(X), y, sample_weight=weights)
    return learner
