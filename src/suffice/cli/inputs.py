"""What commands read: rows of files or stdin, models, and the rows that a model can answer for."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.errors import DataFailure, SchemaFailure
from suffice.tables.wording import nearest

if TYPE_CHECKING:
    from suffice.tables.files import FileSource, Types


@contextmanager
def opened(data: tuple[str, ...], form: str | None, work: str) -> Iterator[FileSource]:
    """The rows of files; those of stdin are put into a temporary file first, for they may be read twice."""
    from suffice.progress import Progress
    from suffice.tables.files import UnknownFormatError, open_source

    with tempfile.NamedTemporaryFile(prefix="suffice-") as spool, Progress(work) as progress:
        if "-" in data:
            if len(data) > 1:
                raise click.UsageError("stdin (-) cannot be read together with files.")
            shutil.copyfileobj(sys.stdin.buffer, spool)
            spool.flush()
            source = open_source(spool.name, form or "csv")
        else:
            source = open_source(list(data), form)
        try:
            _ = source.names
        except UnknownFormatError as error:
            raise click.UsageError(f"{str(error).rstrip('.')}, or say what it is with --format.") from error
        yield replace(source, said=lambda rows: progress.say(f"{rows:,} rows"))


def load(path: str) -> Any:
    """A model or statistics from a file or stdin."""
    import suffice

    try:
        return suffice.load(io.BytesIO(sys.stdin.buffer.read()) if path == "-" else path)
    except suffice.SufficeFileError as error:
        raise DataFailure(f"{path}: {error} Files with models come from suffice fit.") from error


def as_model(held: Any) -> Any:
    """A model as it is; statistics as the model of the families they were summed for."""
    import suffice

    return suffice.BayesClassifier().fit_statistics(held) if isinstance(held, suffice.Statistics) else held


def load_model(path: str) -> Any:
    """A model from a file with a model or statistics."""
    return as_model(load(path))


@dataclass(frozen=True)
class Reader:
    """How a model reads rows of files: its own columns, each as what it was when the model was fitted."""

    names: tuple[str, ...]
    """The columns to read."""
    wanted: Types
    """What their cells must be."""
    arranged: Callable[[Any], Any]
    """What the model is given of a table with these columns."""

    def batches(self, source: FileSource, *others: str, wanted: Types | None = None) -> Iterator[Any]:
        """Tables with the model's columns and others; what these are may be said."""
        return source.only((*self.names, *others), {**self.wanted, **(wanted or {})}).batches()


def reader(model: Any, source: FileSource, *, learning: bool = False) -> Reader:
    """How a model reads a source, if it has the model's columns.

    Columns without a family are not read, and need not be there. A model that is `learning` reads those that
    had no values so far: it can decide on them now.
    """
    from suffice import TextClassifier

    present = source.names
    if isinstance(model, TextClassifier):
        return _documents(present)
    if hasattr(model, "feature_names_in_"):
        return _named(model, present, learning=learning)
    return _by_position(model, present, learning=learning)


def _documents(present: tuple[str, ...]) -> Reader:
    name = present[0] if len(present) == 1 else "text"
    if name not in present:
        raise SchemaFailure(
            f"the model reads documents from a column 'text', but the columns are {_list(present)}; "
            "rename the one with the documents."
        )
    return Reader((name,), {name: "level"}, lambda table: table.column(name))


def _named(model: Any, present: tuple[str, ...], *, learning: bool) -> Reader:
    wanted = _kinds(model)
    missing = [name for name in wanted if name not in present]
    if missing:
        raise SchemaFailure(_missing(missing, present, list(model.feature_names_in_)))
    waiting = [name for name in _undecided(model) if learning and name in present]
    read = (*wanted, *waiting)
    everything = list(model.feature_names_in_)

    def arranged(table: Any) -> Any:
        import pyarrow as pa

        columns = [table.column(name) if name in read else pa.nulls(table.num_rows) for name in everything]
        return pa.table(columns, names=everything)

    return Reader(read, wanted, arranged)


def _by_position(model: Any, present: tuple[str, ...], *, learning: bool) -> Reader:
    n_columns = model.n_features_in_
    if len(present) < n_columns:
        raise SchemaFailure(
            f"the model was fitted on {n_columns} columns without names, but there are {len(present)}: "
            f"{_list(present)}."
        )
    kinds = _kinds(model)
    wanted = {present[j]: kind for j, kind in kinds.items()}
    waiting = [present[j] for j in _undecided(model) if learning]
    read = (*wanted, *waiting)

    def arranged(table: Any) -> Any:
        import numpy as np

        gap = np.full(table.num_rows, np.nan)
        columns = [
            table.column(name).to_numpy(zero_copy_only=False) if name in read else gap
            for name in present[:n_columns]
        ]
        dtype = np.float64 if all(_is_numeric(table.column(name).type) for name in read) else object
        return np.column_stack([column.astype(dtype) for column in columns])

    return Reader(read, wanted, arranged)


def _is_numeric(of: Any) -> bool:
    """Whether cells of an Arrow type fit into an array of floats."""
    import pyarrow as pa

    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    return any(kind(of) for kind in kinds)


def _missing(missing: list[str], present: tuple[str, ...], known: list[str]) -> str:
    extra = [name for name in present if name not in known]
    near = nearest(missing[0], extra)
    hint = "" if near is None else f" Is {near!r} meant? Then rename it."
    return f"the model needs {_list(missing)}, which the data do not have.{hint} They have {_list(present)}."


def _list(names: Any) -> str:
    shown = ", ".join(repr(str(name)) for name in list(names)[:20])
    return f"{shown} and {len(names) - 20} more" if len(names) > 20 else shown


def _kinds(model: Any) -> dict[Any, Any]:
    """What the cells of each column that the model uses were when it was fitted."""
    from suffice import BayesClassifier
    from suffice.factors.levels.totals import LevelTotals

    if not isinstance(model, BayesClassifier):
        names = getattr(model, "feature_names_in_", range(model.n_features_in_))
        return dict.fromkeys(list(names), "number")
    statistics, container = model.statistics_, model.container_
    schema = statistics.schema
    seen = _seen(container, len(schema))
    kinds: dict[int, Any] = {}
    for factor, totals in zip(schema.factors, statistics.totals, strict=True):
        for place, column in enumerate(factor.columns.tolist()):
            if seen[column] in ("moment", "duration", "clock"):
                kinds[column] = seen[column]
            elif isinstance(totals, LevelTotals):
                kinds[column] = _kind_of_levels(totals.columns[place].levels)
            elif factor.reads == "numbers":
                kinds[column] = seen[column] if seen[column] in ("boolean", "measure") else "number"
            else:
                kinds[column] = "level"
    return {schema.names[column]: kinds[column] for column in sorted(kinds)}


def _seen(container: Any, n_columns: int) -> list[str]:
    """What the cells of each column were; "measure" where the model does not know."""
    if container is None:
        return ["measure"] * n_columns
    kinds = list(container.kinds())
    if container.library == "pyarrow":
        for j, of in enumerate(container.template.schema.types):
            kinds[j] = "measure" if of == "null" else kinds[j]
    return kinds


def _undecided(model: Any) -> list[Any]:
    """The columns that had no values so far."""
    return [column.name for column in getattr(model, "schema_", ()) if column.undecided]


def _kind_of_levels(levels: list[Any]) -> str:
    """What categories are: text, unless all that were seen are flags or numbers."""
    if levels and all(isinstance(level, bool) for level in levels):
        return "boolean"
    return "number" if levels and not any(isinstance(level, str) for level in levels) else "level"


def kind_of_classes(model: Any) -> Any:
    """What the labels of a model are."""
    kind = model.classes_.dtype.kind
    return "boolean" if kind == "b" else "number" if kind in "iuf" else "level"


def named_target(source: FileSource, target: str | None) -> str:
    """The column with the classes, which must have been named."""
    if target is None:
        raise click.UsageError(
            f"which column holds the classes? Name it with -y; the columns are {_list(source.names)}."
        )
    return target


def target_of(model: Any, source: FileSource, target: str | None, weight: str | None = None) -> str:
    """The column with the classes: the named one, the only other one, or the only one of known classes."""
    from suffice.tables.files import FileDataError, require_column

    own = set(reader(model, source).names) | set(getattr(model, "feature_names_in_", ()))
    for name, option in ((target, "-y"), (weight, "--weight")):
        if name is not None:
            require_column(name, source.names)
        if name in own:
            raise click.UsageError(f"the model learns from {name!r}, so {option} must name another column.")
    if target is not None:
        return target
    own.add(weight)
    known = set(model.classes_.tolist())
    found = []
    others = [name for name in source.names if name not in own]
    if len(others) == 1:
        return others[0]
    for name in others:
        try:
            first = next(source.only([name], {name: kind_of_classes(model)}).batches(), None)
        except FileDataError:
            continue
        if first is not None and set(first.column(0).drop_null().unique().to_pylist()) <= known:
            found.append(name)
    if len(found) != 1:
        which = _list(found or others) if found or others else "no column beside those of the model"
        raise click.UsageError(f"which column holds the classes? Name it with -y; it may be {which}.")
    return str(found[0])
