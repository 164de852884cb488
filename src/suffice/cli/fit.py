"""Commands that read labelled rows: fit, summarize and update."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.outputs import refuse_a_terminal, refuse_to_replace, save
from suffice.tables.wording import counted, listed, quoted

if TYPE_CHECKING:
    from suffice.tables.files.batches import LabelledFiles
    from suffice.tables.files.source import FileSource

MODELS = ("auto", "nb", "gda", "qda", "text", "logistic")


@options.command(
    "suffice fit penguins.csv -y species -o penguins.suffice",
    "suffice fit 'trips-*.parquet' -y paid_by --families stops=poisson --drop id -o trips.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="The file for the model; - is stdout.")
@click.option(
    "--model",
    "kind",
    type=click.Choice(MODELS),
    default="auto",
    show_default=True,
    help="nb: naive Bayes, with a family for each column; gda, qda: joint Gaussians with one covariance, "
    "or with one per class; text: the words of one column; logistic: logistic regression. auto is nb, or "
    "gda or qda if all columns are measurements and the cross-validated log loss is lower.",
)
@options.families
@options.missing_marks
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
    missing_marks: tuple[str, ...],
    weight: str | None,
    drop: tuple[str, ...],
    form: str | None,
    force: bool,
) -> None:
    """Fit a model to the labelled rows of DATA and save it.

    The rows are read in batches, so DATA may be larger than memory. The first 100,000 rows (or 64 MB of them)
    decide the family of each column. The output lists the families with their reasons, then accuracy and log
    loss in 5-fold cross-validation on up to 50,000 rows, compared with always predicting the most common
    class.
    """
    from suffice.cli.inputs import named_target, opened

    refuse_to_replace(output, force=force)
    refuse_a_terminal(output)
    chosen = options.chosen_families(families)
    if chosen and kind not in ("auto", "nb"):
        raise click.UsageError(f"--families works with --model nb, not with --model {kind}.")
    if missing_marks and kind not in ("auto", "nb"):
        raise click.UsageError(f"--missing-mark works with --model nb, not with --model {kind}.")
    with opened(data, form, "fitting") as source:
        columns = {"target": named_target(source, target), "weight": weight, "drop": drop}
        model, evaluation, n_rows = _fitted(source, kind, chosen, missing_marks or None, columns)
        save(model, output)
    if hasattr(model, "schema_"):
        click.echo(f"{model.schema_!r}\n", err=True)
    size = f"{counted(n_rows, 'row')}, {counted(len(model.classes_), 'class')}"
    click.echo(f"{type(model).__name__} fitted to {size}.", err=True)
    if evaluation is None:
        click.echo("There are too few rows for cross-validation.", err=True)
        return
    baseline = evaluation.baseline
    click.echo(
        f"Cross-validated: accuracy {evaluation.accuracy:.3f} and log loss {evaluation.log_loss:.3f}; "
        f"always {quoted(evaluation.commonest)}: {baseline.accuracy:.3f} and {baseline.log_loss:.3f}.",
        err=True,
    )


def _fitted(
    source: FileSource,
    kind: str,
    families: dict[str, Any],
    marks: tuple[str, ...] | None,
    columns: dict[str, Any],
) -> tuple[Any, Any, int]:
    """The model, its cross-validation, and the number of rows."""
    import suffice
    from suffice.cli.cross_validation import Sample, cross_validated
    from suffice.tables.files.batches import LabelledFiles
    from suffice.tables.targets import require_column

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
    model = makers.get(kind, lambda: suffice.BayesClassifier(families or "infer", missing_marks=marks))()
    model.fit_from(source, **columns)
    sample = files.through(Sample)
    best = cross_validated(model, sample)
    if kind == "auto" and not families and best is not None and _are_measurements(model, sample):
        for other in ("gda", "qda"):
            rival = makers[other]()
            found = cross_validated(rival, sample)
            if found is not None and found.log_loss < best.log_loss:
                model, best = rival, found
        if not model.__sklearn_is_fitted__():
            model.fit_from(source, **columns)
    return model, best, sample.n_rows


def _refuse_text(files: LabelledFiles, kind: str) -> None:
    """Refuse columns of text for a model of numbers."""
    first = files.through(next).X
    text = [field.name for field in first.schema if str(field.type) == "string"]
    if text:
        options_to_drop = " ".join(f"--drop {shlex.quote(name)}" for name in text[:10])
        raise click.UsageError(
            f"--model {kind} needs numbers, but {', '.join(map(repr, text[:10]))} "
            f"{'holds' if len(text) == 1 else 'hold'} text; add {options_to_drop}, or use --model nb."
        )


def _are_measurements(model: Any, sample: Any) -> bool:
    """Whether every column is a measurement without gaps, so that joint Gaussians are candidates."""
    columns = list(model.schema_)
    names = {"Normal", "LogNormal", "Gamma"}
    measured = all(
        column.family is not None and column.family.name in names and column.notation is None
        for column in columns
    )
    return measured and 1 < len(columns) <= 100 and not any(column.null_count for column in sample.X.columns)


def _text_column(source: FileSource, columns: dict[str, Any]) -> str:
    used = {columns["target"], columns["weight"], *columns["drop"]}
    left = [name for name in source.names if name not in used]
    if len(left) != 1:
        raise click.UsageError(
            f"--model text needs a single column of text, but the columns are "
            f"{listed(left, brackets=False)}; drop the others with --drop, or use --model auto for all."
        )
    return left[0]


@options.command(
    "suffice summarize monday.csv -y species -o monday.suffice",
    "cat tuesday.csv | suffice summarize - -y species --like monday.suffice -o tuesday.suffice",
    "suffice merge monday.suffice tuesday.suffice -o week.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="The file for the statistics; - is stdout.")
@click.option(
    "--like",
    type=click.Path(),
    metavar="FILE",
    help="Use the families of this model or statistics, so that the results can be merged.",
)
@options.families
@options.missing_marks
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
    missing_marks: tuple[str, ...],
    weight: str | None,
    drop: tuple[str, ...],
    form: str | None,
    force: bool,
) -> None:
    """Reduce the labelled rows of DATA to their statistics, which are all that a model needs.

    Statistics of parts (days, sites, shards) can be merged and subtracted, and used in place of a model.
    All parts must have the same families: pass the first result to the others with --like.
    """
    import suffice
    from suffice.cli.inputs import load, named_target, opened

    refuse_to_replace(output, force=force)
    refuse_a_terminal(output)
    chosen: Any = options.chosen_families(families) or "infer"
    if like is not None and families:
        raise click.UsageError("--like and --families both set the families; use only one of them.")
    if like is not None and missing_marks:
        raise click.UsageError("--like sets the marks of missing cells too; leave out --missing-mark.")
    with opened(data, form, "summarizing") as source:
        rows, column = source, named_target(source, target)
        if like is not None:
            rows, chosen = _like(load(like), source, column, weight)
        statistics = suffice.summarize(
            rows,
            target=column,
            families=chosen,
            sample_weight=weight,
            drop=() if like else drop,
            missing_marks=missing_marks or None,
        )
        save(statistics, output)
    click.echo(f"{statistics!r}", err=True)


def _like(held: Any, source: FileSource, target: str, weight: str | None) -> tuple[FileSource, Any]:
    """The rows with the columns of another file, read as in that file."""
    import suffice
    from suffice.cli.inputs import as_model, kind_of_classes, reader

    model = as_model(held)
    if not isinstance(model, suffice.BayesClassifier):
        raise click.UsageError("--like needs statistics or a model of families; this file holds neither.")
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
    help="The file for the updated model; MODEL itself by default.",
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
    """Add the labelled rows of DATA to MODEL, as if it had been fitted to them as well.

    The file is replaced in one step once the new model is complete; if anything fails, it is left as it was.
    """
    import suffice
    from suffice.cli.inputs import as_model, kind_of_classes, load, opened, reader, target_of
    from suffice.tables.files.batches import LabelledFiles

    if output is not None:
        refuse_to_replace(output, force=force)
    if model == "-":
        raise click.UsageError("a model from stdin cannot be updated in place; name a file.")
    held = load(model)
    learner = as_model(held)
    if not hasattr(learner, "partial_fit"):
        raise click.UsageError(f"a {type(learner).__name__} cannot be updated; fit it again to all rows.")
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
    click.echo(f"{counted(rows[0], 'row')} (previously {rows[1]:,}).", err=True)


def _more(learner: Any, reading: Any, batches: Any) -> Any:
    for X, y, weights in batches:
        learner.partial_fit(reading.arranged(X), y, sample_weight=weights)
    return learner
