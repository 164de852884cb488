"""Commands that ask a model: predict, evaluate, explain and sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from suffice.cli import options
from suffice.cli.errors import DataFailure
from suffice.cli.outputs import refuse_to_replace, write_tables, write_text
from suffice.tables.wording import counted, listed, quoted

if TYPE_CHECKING:
    from suffice.tables.files.source import FileSource


@options.command(
    "suffice predict penguins.suffice new.csv",
    "suffice predict penguins.suffice new.csv --proba --keep id -o answers.parquet",
    "cat new.csv | suffice predict penguins.suffice | sort | uniq -c",
)
@options.model_file()
@options.data(required=False)
@click.option("--proba", is_flag=True, help="Add the posterior of each class, in columns p(CLASS).")
@click.option(
    "--costs",
    type=click.Path(exists=True, dir_okay=False),
    help="Predict the class of least expected cost. Costs are a JSON file {TRUE: {PREDICTED: cost}}, or a "
    "csv file with the columns true, predicted and cost.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    shell_complete=options.columns_of_data,
    help="A column of DATA to copy to the result; can be repeated.",
)
@options.output(required=False, text="The file for the predictions; stdout by default.")
@options.output_format
@options.form
@options.force
def predict(
    model: str,
    data: tuple[str, ...],
    proba: bool,
    costs: str | None,
    keep: tuple[str, ...],
    output: str,
    output_format: str | None,
    form: str | None,
    force: bool,
) -> None:
    """Predict the class of each row of DATA (stdin by default) with MODEL.

    The result has one line per row, in the same order, with the column prediction. Columns that the model
    does not know are ignored, and cells may be missing.
    """
    from suffice.cli.inputs import load_model, opened, reader
    from suffice.tables.targets import require_column

    refuse_to_replace(output, force=force)
    answerer = load_model(model)
    decider = answerer if costs is None else _cost_sensitive(answerer, costs)
    with opened(data or ("-",), form, "predicting") as source:
        for name in keep:
            require_column(name, source.names)
        reading = reader(answerer, source)
        kept = [name for name in keep if name not in reading.names]
        batches = reading.batches(source, *kept, wanted=dict.fromkeys(kept, "level"))
        write_tables(_predictions(decider, reading, batches, keep, proba=proba), output, output_format)


def _predictions(
    model: Any, reading: Any, batches: Iterator[Any], keep: tuple[str, ...], *, proba: bool
) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        X = reading.arranged(batch)
        fields = {name: batch.column(name) for name in keep}
        fields["prediction"] = pa.array(model.predict(X).tolist())
        if proba:
            posterior = model.predict_proba(X)
            fields |= {f"p({label})": posterior[:, k] for k, label in enumerate(model.classes_.tolist())}
        yield pa.table(fields)


def _cost_sensitive(model: Any, path: str) -> Any:
    """The model with predictions of least expected cost."""
    import suffice
    from suffice.tables.targets import class_index

    known = {str(label): label for label in model.classes_.tolist()}

    def label(name: Any) -> Any:
        try:
            class_index(str(name), list(known))
        except ValueError as error:
            raise click.UsageError(f"{path}: {error}") from error
        return known[str(name)]

    if path.endswith(".json"):
        entries = _nested_costs(path)
    else:
        from suffice.tables.files.source import open_source

        source = open_source(path)
        if not {"true", "predicted", "cost"} <= set(source.names):
            raise DataFailure(
                f"{path}: costs need the columns true, predicted and cost, but the columns are "
                f"{listed(source.names, brackets=False)}."
            )
        kinds: Any = {"true": "level", "predicted": "level", "cost": "number"}
        tables = source.only(kinds, kinds).batches()
        entries = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    costs = {(label(t), label(p)): float(cost) for t, p, cost in entries}
    return suffice.CostSensitive(model, costs)


def _nested_costs(path: str) -> list[tuple[Any, ...]]:
    """Each true class, predicted class and cost in a JSON file."""
    from pathlib import Path

    try:
        nested = json.loads(Path(path).read_text(encoding="utf-8"))
        return [(t, p, float(cost)) for t, row in nested.items() for p, cost in row.items()]
    except (ValueError, TypeError, AttributeError) as error:
        raise DataFailure(
            f'{path}: costs must be JSON such as {{"bad": {{"good": 5}}, "good": {{"bad": 1}}}}, with the '
            f"true class outside and the predicted class inside ({error})."
        ) from error


@options.command(
    "suffice evaluate penguins.suffice held-out.csv",
    "suffice evaluate penguins.suffice held-out.csv -y species --json",
)
@options.model_file()
@options.data()
@options.known_target
@options.weight
@click.option("--json", "as_json", is_flag=True, help="Print the metrics as JSON.")
@options.form
def evaluate(
    model: str,
    data: tuple[str, ...],
    target: str | None,
    weight: str | None,
    as_json: bool,
    form: str | None,
) -> None:
    """Evaluate MODEL on the labelled rows of DATA, compared with always predicting the most common class."""
    from suffice.cli.inputs import load_model, opened

    answerer = load_model(model)
    with opened(data, form, "evaluating") as source:
        evaluation = _evaluation(answerer, source, target, weight)
    write_text(json.dumps(evaluation.to_dict(), indent=2) if as_json else repr(evaluation), "-")


def _evaluation(model: Any, source: FileSource, target: str | None, weight: str | None) -> Any:
    """Evaluate posteriors, which are all that is kept of the rows."""
    import numpy as np

    import suffice
    from suffice.cli.inputs import kind_of_classes, reader, target_of
    from suffice.tables.files.batches import LabelledFiles
    from suffice.tables.targets import read_labels

    column = target_of(model, source, target, weight)
    reading = reader(model, source)
    others = [name for name in (column, weight) if name is not None]
    wanted = {**reading.wanted, column: kind_of_classes(model)}

    def judged(batches: Any) -> Any:
        # Of the labels each is held once, and a number for every row.
        names: dict[Any, int] = {}
        parts = []
        for X, y, weights in batches:
            found, codes = np.unique(read_labels(y), return_inverse=True)
            places = np.array([names.setdefault(name, len(names)) for name in found.tolist()], dtype=np.int32)
            parts.append((places[codes], weights, model.predict_proba(reading.arranged(X))))
        numbers, weights, posteriors = zip(*parts, strict=True)
        truth = read_labels(list(names))[np.concatenate(numbers)]
        weight_of_rows = None if weights[0] is None else np.concatenate(weights)
        return suffice.Evaluation.of(
            truth, np.concatenate(posteriors), classes=model.classes_, sample_weight=weight_of_rows
        )

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
@options.form
@options.force
def explain(
    model: str,
    data: tuple[str, ...],
    row: int | None,
    output: str,
    output_format: str | None,
    form: str | None,
    force: bool,
) -> None:
    """Show how each cell of DATA speaks for or against each class, in nats.

    Without --row the result is a table of log p(cell | class), with one line per row and column and one
    column per class. With the log prior, these add up to the joint score of the class. With --row, one row is
    explained in words.
    """
    from suffice.cli.inputs import load_model, opened, reader

    refuse_to_replace(output, force=force)
    answerer = load_model(model)
    if not hasattr(answerer, "explain"):
        raise click.UsageError(f"a {type(answerer).__name__} cannot explain its predictions.")
    with opened(data, form, "explaining") as source:
        reading = reader(answerer, source)
        batches = reading.batches(source)
        if row is None:
            write_tables(_contributions(answerer, reading, batches), output, output_format)
        else:
            write_text(_told(answerer, reading, batches, row), output)


def _contributions(model: Any, reading: Any, batches: Iterator[Any]) -> Iterator[Any]:
    first = 0
    for batch in batches:
        explanation = model.explain(reading.arranged(batch))
        if not hasattr(explanation, "to_frame"):
            raise click.UsageError("documents are explained one at a time; choose one with --row.")
        frame = _as_arrow(explanation.to_frame())
        rows = frame.column("row").to_numpy() + first
        yield frame.set_column(0, "row", [rows])
        first += batch.num_rows


def _told(model: Any, reading: Any, batches: Iterator[Any], row: int) -> str:
    first = 0
    for batch in batches:
        if row < first + batch.num_rows:
            told: str = model.explain(reading.arranged(batch.slice(row - first, 1))).describe(0)
            _, colon, rest = told.partition(":")
            return f"row {row}{colon}{rest}"
        first += batch.num_rows
    raise click.UsageError(
        f"there is no row {row}: the data has {counted(first, 'row')}, and the first is row 0."
    )


def _as_arrow(frame: Any) -> Any:
    import narwhals.stable.v2 as nw

    return nw.from_native(frame, eager_only=True).to_arrow()


@options.command("suffice sample penguins.suffice -n 100 --seed 1 -y species > drawn.csv")
@options.model_file()
@click.option(
    "-n",
    "--rows",
    "n_rows",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="The number of rows.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), help="The same seed draws the same rows.")
@click.option("-y", "--target", default="class", show_default=True, help="The name of the column of classes.")
@options.output(required=False, text="The file for the rows; stdout by default.")
@options.output_format
@options.force
def sample(
    model: str,
    n_rows: int,
    seed: int | None,
    target: str,
    output: str,
    output_format: str | None,
    force: bool,
) -> None:
    """Draw random labelled rows from MODEL: similar data that belongs to no one."""
    from suffice.cli.inputs import load_model

    refuse_to_replace(output, force=force)
    source = load_model(model)
    if not hasattr(source, "sample"):
        raise click.UsageError(f"a {type(source).__name__} has no distribution of rows to draw from.")
    X, y = source.sample(n_rows, random_state=seed)
    write_tables([_drawn(source, X, y, target)], output, output_format)


def _drawn(model: Any, X: Any, y: Any, target: str) -> Any:
    import numpy as np
    import pyarrow as pa
    from scipy import sparse

    from suffice.tables.recognized import is_frame

    if is_frame(X):
        table = _as_arrow(X)
    elif len(np.shape(X)) == 1:  # documents
        table = pa.table({"text": pa.array(np.asarray(X, dtype=object).tolist(), pa.string())})
    else:
        cells = X.toarray() if sparse.issparse(X) else np.asarray(X)
        names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(cells.shape[1])])
        table = pa.table({str(name): pa.array(cells[:, j].tolist()) for j, name in enumerate(names)})
    if target in table.column_names:
        raise click.UsageError(
            f"{quoted(target)} is a column of the model; give the classes another name with -y."
        )
    return table.append_column(target, pa.array(y.tolist()))
