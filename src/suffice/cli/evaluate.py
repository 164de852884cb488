"""Commands that judge and explain predictions: evaluate and explain."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.messages import as_json, wants_json
from suffice.cli.outputs import (
    as_arrow,
    format_to_write,
    refuse_to_replace,
    write_for_people,
    write_tables,
    write_text,
)
from suffice.tables.wording import counted

if TYPE_CHECKING:
    from suffice.cli.options import DataFormat
    from suffice.tables.files.source import FileSource
    from suffice.tables.row_source import RowSource


@options.command(
    "suffice evaluate penguins.suffice held-out.csv",
    "suffice evaluate penguins.suffice held-out.csv -y species --json",
)
@options.model_file()
@options.data()
@options.known_target
@options.weight
@options.drop_unlabelled
@options.data_format
def evaluate(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    drop_unlabelled: bool,
    data_format: DataFormat,
) -> None:
    """Evaluate MODEL on the labelled rows of DATA, compared with always predicting the most common class.

    Of more than 4 million posteriors, only sums are kept: the areas under ROC curves are then computed from
    bins of posteriors, and the other metrics as always.
    """
    from suffice.cli.inputs import load_model, opened

    answerer = load_model(model)
    with opened(
        data, data_format.as_fitted(answerer), "evaluating", drop_unlabelled=drop_unlabelled
    ) as source:
        evaluation = _evaluation(answerer, source, target, weight)
    if wants_json():
        write_text(as_json(evaluation.to_dict()), "-")
    else:
        write_for_people(repr(evaluation), "-")


def _evaluation(model: Any, source: FileSource, target: str | None, weight: str | None) -> Any:
    """Evaluate posteriors batch by batch."""
    from suffice.cli.columns import kind_of_classes, reader, target_of
    from suffice.engines.predictions import InParts
    from suffice.evaluation.streamed import StreamedEvaluation
    from suffice.tables.files.batches import LabelledFiles

    column = target_of(model, source, target, weight)
    reading = reader(model, source)
    others = [name for name in (column, weight) if name is not None]
    wanted = {**reading.wanted, column: kind_of_classes(model)}

    def judged(batches: Any) -> Any:
        streamed = StreamedEvaluation(model.classes_)
        asked = InParts(lambda part: model.predict_proba(reading.arranged(part)), len(model.classes_))
        for X, y, weights in batches:
            for rows, posteriors in asked(X):
                streamed.add(y[rows], posteriors, None if weights is None else weights[rows])
        return streamed.evaluation()

    files = source.only([*reading.names, *others], wanted)
    return LabelledFiles.of(files, column, weight).through(judged)


@options.command(
    "suffice explain penguins.suffice new.csv --row 0",
    "suffice explain penguins.suffice new.csv -o contributions.parquet",
)
@options.model_file()
@options.data()
@click.option(
    "--row", type=click.IntRange(min=0), help="Explain this row only, in words; the first row is 0."
)
@options.output(required=False, text="The file for the explanation; stdout by default.")
@options.output_format
@options.data_format
@options.force
def explain(
    model: str,
    data: tuple[str, ...],
    row: int | None,
    output: str,
    output_format: str | None,
    data_format: DataFormat,
    force: bool,
) -> None:
    """Show how each cell of DATA speaks for or against each class, in nats.

    Without --row the result is a table with one line per row and column of DATA, one more line for each row,
    and one column per class. The lines of a row add up to the scores of the classes, and the difference of
    two scores is their log odds.

    In a model of densities (bayes, gaussian, text) a number is log p(cell | class), and the last line,
    (prior), holds the log priors. In a model of weighed evidence a number is what the cell adds to the score
    once everything is weighed, and the last line, (prior, bias), holds log priors and biases. In a regression
    a number is a coefficient times the cell, and the last line is the (intercept).

    With --row, one row is explained in words.
    """
    from suffice.cli.columns import reader
    from suffice.cli.inputs import load_model, opened

    refuse_to_replace(output, force=force)
    form = format_to_write(output, output_format) if row is None else ""
    answerer = load_model(model, to_ask=True)
    if not hasattr(answerer, "explain"):
        raise click.UsageError(f"a {type(answerer).__name__} cannot explain its predictions.")
    with opened(data, data_format.as_fitted(answerer), "explaining") as source:
        reading = reader(answerer, source)
        rows = reading.rows(source)
        if row is None:
            write_tables(_contributions(answerer, reading, rows), output, form)
            return
        explanation = _explained(answerer, reading, rows, row)
        if wants_json():
            write_text(as_json(_facts(explanation, row)), output)
        else:
            write_for_people(f"row {row}:{explanation.describe(0).partition(':')[2]}", output)


def _contributions(model: Any, reading: Any, rows: RowSource) -> Iterator[Any]:
    from suffice.engines.predictions import InParts

    n_numbers = max(len(reading.names), 1) * len(model.classes_)
    asked, first = InParts(lambda part: model.explain(reading.arranged(part)), n_numbers), 0
    with closing(rows.batches()) as batches:
        for batch in batches:
            with rows.placing(first):
                for some, explanation in asked(batch):
                    frame = as_arrow(explanation.to_frame())
                    numbers = frame.column(0).to_numpy() + first + some.start
                    yield frame.set_column(0, "row", [numbers])
            first += batch.num_rows


def _explained(model: Any, reading: Any, rows: RowSource, row: int) -> Any:
    """The explanation of one row."""
    first = 0
    with closing(rows.batches()) as batches:
        for batch in batches:
            if row < first + batch.num_rows:
                with rows.placing(row):
                    return model.explain(reading.arranged(batch.slice(row - first, 1)))
            first += batch.num_rows
    raise click.UsageError(
        f"there is no row {row}: the data has {counted(first, 'row')}, and the first is row 0."
    )


def _facts(explanation: Any, row: int) -> dict[str, Any]:
    """The explanation of one row for programs."""
    from suffice.model.explaining.text_explanation import TextExplanation

    classes = explanation.classes.tolist()

    def by_class(nats: Any) -> dict[Any, Any]:
        return dict(zip(classes, nats, strict=True))

    if isinstance(explanation, TextExplanation):
        (names, said), rest = explanation.words(0), {"rest": by_class(explanation.rest(0))}
    else:
        names, said, rest = list(explanation.columns), explanation.contributions[0], {}
    return {
        "row": row,
        "posterior": by_class(explanation.posterior[0]),
        "prior": by_class(explanation.prior),
        "contributions": {name: by_class(nats) for name, nats in zip(names, said, strict=True)},
        "scores": by_class(explanation.total[0]),
        **rest,
    }
