"""The columns that a model reads from files, and the one that holds the classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from suffice.engines.model_columns import Reader, kind_of_classes, reader
from suffice.tables.wording import listed, quoted

if TYPE_CHECKING:
    from suffice.tables.files.source import FileSource

__all__ = ["Reader", "kind_of_classes", "named_target", "reader", "target_of"]


def named_target(source: FileSource, target: str | None) -> str:
    """The column that holds the classes, which must be named."""
    if target is None:
        raise click.UsageError(
            f"which column holds the classes? Name it with -y; the columns are {_list(source.names)}."
        )
    return target


def target_of(model: Any, source: FileSource, target: str | None, weight: str | None = None) -> str:
    """The column that holds the classes: the named one, or the only one that can."""
    from suffice.tables.targets import require_column

    own = set(reader(model, source).names) | set(getattr(model, "feature_names_in_", ()))
    for name, option in ((target, "-y"), (weight, "--weight")):
        if name is not None:
            require_column(name, source.names)
        if name in own:
            raise click.UsageError(
                f"the model learns from {quoted(name)}, so {option} must name another column."
            )
    if target is not None:
        return target
    others = [name for name in source.names if name not in own and name != weight]
    if not others:
        raise click.UsageError("no column is left to hold the classes: the model uses them all.")
    found = others if len(others) == 1 else [name for name in others if _holds_classes(model, source, name)]
    if len(found) != 1:
        raise click.UsageError(
            f"which column holds the classes? Name it with -y; it may be {_list(found or others)}."
        )
    return found[0]


def _holds_classes(model: Any, source: FileSource, name: str) -> bool:
    """Whether a column begins with classes of the model and nothing else."""
    from suffice.tables.files.formats import FileDataError

    try:
        first = source.only([name], {name: kind_of_classes(model)}).through(next)
    except FileDataError:
        return False
    known = set(model.classes_.tolist())
    return set(first.column(0).drop_null().unique().to_pylist()) <= known


def rows_like(held: Any, source: FileSource, target: str, weight: str | None) -> tuple[FileSource, Any]:
    """The rows with the columns of another file, read as in that file, and the families of its columns."""
    import suffice
    from suffice.cli.inputs import as_model

    model = as_model(held)
    if not isinstance(model, (suffice.BayesClassifier, suffice.EvidenceClassifier)):
        raise click.UsageError("--like needs statistics or a model of families; this file holds neither.")
    target_of(model, source, target, weight)
    wanted = {**reader(model, source).wanted, target: kind_of_classes(model)}
    schema = model.statistics_.schema
    others = [name for name in (target, weight) if name is not None]
    return source.only([*map(str, schema.names), *others], wanted), schema


def _list(names: Any) -> str:
    return listed(map(str, names), brackets=False)
