"""The columns that a fitted model reads from a source of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.tables.files.types import Wanted
from suffice.tables.notations import MARKS
from suffice.tables.row_source import RowSource
from suffice.tables.wording import listed, nearest, quoted

if TYPE_CHECKING:
    from suffice.tables.files.source import Types


class ModelColumnsError(ValueError):
    """Columns that do not match the model."""


class MissingColumnsError(ModelColumnsError):
    """Some of the model's columns are not there; they could be taken as missing in every row."""


@dataclass(frozen=True)
class Reader:
    """How a model reads rows of files: its own columns, each as what it was when the model was fitted."""

    names: tuple[str, ...]
    """The columns to read."""
    wanted: Types
    """What their cells must be."""
    arranged: Callable[[Any], Any]
    """What the model is given of a table with these columns."""
    coded: bool = False
    """Whether text may come as codes of a dictionary, as files hold it."""
    missing: frozenset[str] = frozenset()
    """Columns of the model that the rows lack."""

    def rows(self, source: RowSource, *others: str, wanted: Types | None = None) -> RowSource:
        """Rows with the model's columns and others, whose kinds may be given."""
        return source.only((*self.names, *others), {**self.wanted, **(wanted or {})})


def reader(model: Any, source: RowSource, *, learning: bool = False, allow_missing: bool = False) -> Reader:
    """How a model reads a source that has its columns.

    Columns without a family are not read and may be missing; any may if that is allowed, and if all files
    lack it. A model that is `learning` also reads columns that had no values so far, since it can now
    choose their families.
    """
    (first, _), *others = source.parts()
    try:
        made = _reader(model, source.names, learning=learning, allow_missing=allow_missing)
    except ModelColumnsError as error:
        raise type(error)(f"{first}{error}") from None
    for other, present in others:
        there = set(present)
        missing = [name for name in made.names if name not in there]
        if missing and not allow_missing:
            raise ModelColumnsError(f"{other}{_missing(missing, present, list(made.names))}")
        added = [name for name in present if name in made.missing]
        if missing or added:
            lacks, has = ("lacks", "has") if missing else ("has", "lacks")
            raise ModelColumnsError(
                f"{other}the data {lacks} {_list(missing or added)}, which the first file {has}; "
                "files that lack different columns must be read one by one."
            )
    return made


def _reader(model: Any, present: tuple[str, ...], *, learning: bool, allow_missing: bool) -> Reader:
    if getattr(model, "reads_documents", False):
        return _documents(present)
    if hasattr(model, "feature_names_in_"):
        return _named(model, present, learning=learning, allow_missing=allow_missing)
    return _by_position(model, present, learning=learning)


def _documents(present: tuple[str, ...]) -> Reader:
    name = present[0] if len(present) == 1 else "text"
    if name not in present:
        raise ModelColumnsError(
            f"the model reads documents from a column named 'text', but the columns are {_list(present)}; "
            "rename the column that holds the documents."
        )
    return Reader((name,), {name: Wanted("level")}, lambda table: table.column(name))


def _named(model: Any, present: tuple[str, ...], *, learning: bool, allow_missing: bool) -> Reader:
    wanted = _kinds(model)
    there = set(present)
    missing = [name for name in wanted if name not in there]
    lack = _missing(missing, present, list(model.feature_names_in_)) if missing else ""
    if missing and len(missing) == len(wanted):
        raise ModelColumnsError(
            f"some columns may be missing, but not all: {lack}" if allow_missing else lack
        )
    if missing and not allow_missing:
        raise MissingColumnsError(lack)
    wanted = {name: kind for name, kind in wanted.items() if name in there}
    waiting = [name for name in _undecided(model) if learning and name in there]
    read = (*wanted, *waiting)
    kept, everything = set(read), list(model.feature_names_in_)

    def arranged(table: Any) -> Any:
        import pyarrow as pa

        columns = [table.column(name) if name in kept else pa.nulls(table.num_rows) for name in everything]
        fields = [table.field(name) if name in kept else pa.field(name, pa.null()) for name in everything]
        return pa.table(columns, schema=pa.schema(fields))

    return Reader(read, wanted, arranged, coded=True, missing=frozenset(missing))


def _by_position(model: Any, present: tuple[str, ...], *, learning: bool) -> Reader:
    n_columns = model.n_features_in_
    if len(present) < n_columns:
        raise ModelColumnsError(
            f"the model was fitted to {n_columns} unnamed columns, but the data has {len(present)}: "
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
    hint = "" if near is None else f" If you meant {quoted(near)}, rename it."
    return f"the data lacks {_list(missing)}, which the model needs.{hint} The columns are {_list(present)}."


def _list(names: Any) -> str:
    return listed(map(str, names), brackets=False)


def _kinds(model: Any) -> dict[Any, Wanted]:
    """What the cells of each column that the model uses were when it was fitted."""
    from suffice.factors.levels.totals import LevelTotals

    if not hasattr(model, "statistics_"):
        names = getattr(model, "feature_names_in_", range(model.n_features_in_))
        return dict.fromkeys(list(names), Wanted("number", MARKS))
    statistics, container = model.statistics_, model._container
    schema, named = statistics.schema, statistics.schema.names
    seen = _seen(container, len(schema))
    kinds: dict[int, Any] = {}
    for factor, totals in zip(schema.factors, statistics.totals, strict=True):
        for place, column in enumerate(factor.columns.tolist()):
            if column in schema.notations and schema.notations[column].form != "levels":
                kinds[column] = "anything"  # the model reads the text itself
            elif seen[column] in ("moment", "duration", "clock"):
                kinds[column] = seen[column]
            elif isinstance(totals, LevelTotals):
                kinds[column] = _kind_of_levels(totals.columns[place].levels)
            elif factor.reads == "numbers":
                kinds[column] = seen[column] if seen[column] in ("boolean", "measure") else "number"
            else:
                kinds[column] = "level"
    marks = schema.marks.numbers
    return {named[column]: Wanted(kinds[column], marks) for column in sorted(kinds)}


def _seen(container: Any, n_columns: int) -> list[str]:
    """What the cells of each column were; "measure" if the model does not know."""
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
    """What categories are: text, unless all of them are flags or numbers."""
    if levels and all(isinstance(level, bool) for level in levels):
        return "boolean"
    return "number" if levels and not any(isinstance(level, str) for level in levels) else "level"


def kind_of_classes(model: Any) -> Wanted:
    """What the labels of a model are."""
    kind = model.classes_.dtype.kind
    return Wanted("boolean" if kind == "b" else "number" if kind in "iuf" else "level")
