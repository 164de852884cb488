"""The command that draws rows from a model: sample."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import click

from suffice.cli import options
from suffice.cli.errors import DataFailure
from suffice.cli.messages import is_quiet
from suffice.cli.outputs import format_to_write, free_space, refuse_to_replace, size_of, write_tables
from suffice.tables.wording import counted, quoted

CELLS_AT_ONCE = 1 << 20
"""Cells that are drawn at a time."""
ROWS_TO_MEASURE = 10_000
"""Rows that show how much room all of them take."""


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
@click.option(
    "-y",
    "--target",
    default="class",
    show_default=True,
    callback=lambda ctx, param, value: options.named(value, param, ctx),
    help="The name of the column of classes.",
)
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
    """Draw random labelled rows from MODEL: similar data that belongs to no one.

    The rows are written as they are drawn, so there may be more of them than fit in memory.
    """
    from suffice.cli.inputs import load_model

    refuse_to_replace(output, force=force)
    form = format_to_write(output, output_format)
    source = load_model(model, to_ask=True)
    source = getattr(source, "generative_", source)
    if not hasattr(source, "sample"):
        raise click.UsageError(f"a {type(source).__name__} has no distribution of rows to draw from.")
    write_tables(
        _drawn_tables(source, n_rows, seed, target, partial(_refuse_too_many, output, form)), output, form
    )


def _refuse_too_many(output: str, form: str, n_rows: int, first: Any) -> None:
    """Refuse more rows than the disk has room for, if each takes as much as the first ones do."""
    some = first.slice(0, ROWS_TO_MEASURE)
    needed, free = n_rows / some.num_rows * size_of(some, output, form), free_space(output)
    if free is not None and needed > free:
        where = "stdout" if output == "-" else output
        raise DataFailure(
            f"{n_rows:,} rows take about {needed / 1e6:,.0f} MB, but the disk of {where} has "
            f"{free / 1e6:,.0f} MB left; draw fewer with -n, or write to another disk."
        )


def _drawn_tables(
    model: Any, n_rows: int, seed: int | None, target: str, refuse: Callable[[int, Any], None]
) -> Iterator[Any]:
    """The rows in tables of one type, at least one, of which the first shows if there are too many."""
    import numpy as np

    from suffice.progress import Progress

    # The library draws the same rows with this seed, from a generator made like this.
    rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31))
    at_once = max(1, CELLS_AT_ONCE // (1 + getattr(model, "n_features_in_", 1)))
    drawn, schema = 0, None
    with Progress("drawing", quiet=is_quiet()) as progress:
        while drawn < n_rows or schema is None:
            some = min(at_once, n_rows - drawn)
            X, y = model.sample(some, random_state=rng)
            table = _drawn(model, X, y, target)
            if schema is None and some < n_rows:
                refuse(n_rows, table)
            schema = schema or table.schema
            yield table.cast(schema)
            drawn += some
            progress.say(f"{counted(drawn, 'row')} of {n_rows:,}", drawn / max(n_rows, 1))


def _drawn(model: Any, X: Any, y: Any, target: str) -> Any:
    import numpy as np
    import pyarrow as pa
    from scipy import sparse

    from suffice.cli.outputs import as_arrow
    from suffice.tables.recognized import is_frame

    if is_frame(X):
        table = as_arrow(X)
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
