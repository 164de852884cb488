"""Commands that turn labelled rows into sums: summarize and update."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.locks import locked
from suffice.cli.outputs import refuse_output, report, save
from suffice.tables.wording import counted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat


@options.command(
    "suffice summarize monday.csv -y species -o monday.suffice",
    "cat tuesday.csv | suffice summarize - -y species --like monday.suffice -o tuesday.suffice",
    "suffice merge monday.suffice tuesday.suffice -o week.suffice",
)
@options.data()
@options.target
@options.output(required=True, text="The file for the statistics; - is stdout.")
@options.like("Use the families of this model or statistics, so that the results can be merged.")
@options.families
@options.weight
@options.drop
@options.drop_unlabelled
@options.checkpoint
@options.on_error
@options.data_format
@options.timeout
@options.force
def summarize(
    data: tuple[str, ...],
    target: str | None,
    output: str,
    like: str | None,
    families: tuple[str, ...],
    weight: str | None,
    drop: tuple[str, ...],
    drop_unlabelled: bool,
    checkpoint: str | None,
    on_error: str,
    data_format: DataFormat,
    timeout: float,
    force: bool,
) -> None:
    """Reduce the labelled rows of DATA to their statistics, which are all that a model needs.

    Statistics of parts (days, sites, shards) can be merged and subtracted, and used in place of a model.
    All parts must have the same families: pass the first result to the others with --like.
    """
    import suffice
    from suffice.cli.columns import named_target, rows_like
    from suffice.cli.inputs import load, opened

    refuse_output(output, force=force)
    chosen: Any = options.chosen_families(families) or "infer"
    marks, of_labels = data_format.options.missing, partial(options.marks_of_labels, data_format)
    if like is not None:
        options.refuse_beside_like(families)
    held = None if like is None else load(like)
    reading = data_format.left_to_model() if held is None else data_format.as_fitted(held)
    rows_of = partial(opened, drop_unlabelled=drop_unlabelled, on_error=on_error)
    with rows_of(data, reading, "summarizing") as source:
        rows, column = source, named_target(source, target)
        source.marks = of_labels(column)
        if held is not None:
            rows, chosen = rows_like(held, rows, column, weight)
        statistics = suffice.summarize(
            rows,
            target=column,
            families=chosen,
            sample_weight=weight,
            drop=() if like else drop,
            missing_marks=marks if like is None else None,
            checkpoint=checkpoint,
        )
        with locked(output, timeout):
            save(statistics, output)
    report(repr(statistics), {"file": output, **facts_of(statistics)})


def facts_of(statistics: Any) -> dict[str, Any]:
    """What statistics are of, for programs."""
    return {
        "rows": statistics.n_rows,
        "classes": statistics.classes,
        "weight": statistics.weight,
        "columns": len(statistics.schema),
    }


@options.command("suffice update penguins.suffice new-penguins.csv -y species")
@options.model_file()
@options.data()
@options.known_target
@options.weight
@click.option(
    "-o",
    "--output",
    type=options.FilePath(),
    metavar="FILE",
    help="The file for the updated model; MODEL itself by default.",
)
@options.drop_unlabelled
@options.data_format
@options.timeout
@options.force
def update(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    output: str | None,
    drop_unlabelled: bool,
    data_format: DataFormat,
    timeout: float,
    force: bool,
) -> None:
    """Add the labelled rows of DATA to MODEL, as if it had been fitted to them as well.

    The file is replaced in one step once the new model is complete; if anything fails, it is left as it was.
    While another command changes the file, this one waits.
    """
    if model == "-":
        raise click.UsageError("a model from stdin cannot be updated in place; name a file.")
    if output is None:
        output = model
    else:
        refuse_output(output, force=force)
    with locked(output, timeout):
        held, updated = _updated(model, data, target, weight, data_format, drop_unlabelled=drop_unlabelled)
        save(updated, output)
    rows = [getattr(one, "statistics_", one).n_rows for one in (updated, held)]
    report(
        f"{counted(rows[0], 'row')} (previously {rows[1]:,}).",
        {"file": output, "rows": rows[0], "rows_before": rows[1]},
    )


def _updated(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    data_format: DataFormat,
    *,
    drop_unlabelled: bool,
) -> tuple[Any, Any]:
    """What the file holds, and the same with more rows."""
    import suffice
    from suffice.cli.columns import kind_of_classes, reader, target_of
    from suffice.cli.inputs import as_model, load, opened
    from suffice.tables.files.batches import LabelledFiles

    held = load(model)
    learner = as_model(held)
    if not hasattr(learner, "partial_fit"):
        raise click.UsageError(f"a {type(learner).__name__} cannot be updated; fit it again to all rows.")
    with opened(data, data_format.as_fitted(learner), "updating", drop_unlabelled=drop_unlabelled) as source:
        reading = reader(learner, source, learning=True)
        column = target_of(learner, source, target, weight)
        others = [name for name in (column, weight) if name is not None]
        wanted = {**reading.wanted, column: kind_of_classes(learner)}
        files = LabelledFiles.of(source.only([*reading.names, *others], wanted), column, weight)
        updated = files.through(lambda batches: _more(copy(learner), reading, batches))
    return held, updated.statistics_ if isinstance(held, suffice.Statistics) else updated


def _more(learner: Any, reading: Any, batches: Any) -> Any:
    for X, y, weights in batches:
        learner.partial_fit(reading.arranged(X), y, sample_weight=weights)
    return learner
