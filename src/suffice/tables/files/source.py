"""Files as one re-iterable source of batches, in which each column has one type throughout."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from suffice.kernels.threads import run
from suffice.tables.files.formats import FileDataError, column_names, format_of, raw_batches
from suffice.tables.files.types import (
    Wanted,
    cast,
    first_misfit,
    is_nested,
    narrowest,
    plain,
    read_as,
    wider,
)
from suffice.tables.wording import quoted

T = TypeVar("T")
Types = Mapping[str, Wanted]


class _TypesChangedError(Exception):
    """A batch holds cells that do not fit the types of the earlier ones."""


@dataclass
class FileSource:
    """The rows of files in batches (pyarrow Tables). Nothing is kept, so memory is that of a few batches.

    The types of csv and tsv columns are those of the first block. If a later cell does not fit, all rows are
    read once to find wider types, and the work in progress starts over.
    """

    paths: tuple[Path, ...]
    form: str | None = None
    """The format, if the names of the files do not reveal it."""
    wanted: Types = field(default_factory=dict)
    """The kind that the cells of some columns must have."""
    said: Callable[[int], None] = lambda _: None
    """Called with the number of rows read so far."""
    kept: tuple[str, ...] | None = None
    """The columns to read; all of them by default."""

    def __post_init__(self) -> None:
        self._types: dict[str, Any] = {}
        self._settled = False

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the first file."""
        first = column_names(self.paths[0], self._form(self.paths[0]))
        return first if self.kept is None else self.kept

    def only(self, names: Iterable[str], wanted: Types | None = None) -> FileSource:
        """The same rows with some of the columns, in this order, and the kinds their cells must have."""
        return replace(self, kept=tuple(names), wanted=self.wanted if wanted is None else wanted)

    def through(self, work: Callable[[Iterator[Any]], T]) -> T:
        """Do some work with all batches; it starts over if columns turn out to need wider types."""
        try:
            return work(self.batches())
        except _TypesChangedError:
            self._settle()
        try:
            return work(self.batches())
        except _TypesChangedError as error:
            raise FileDataError(f"{error}, and no type fits all its cells.") from error

    def batches(self) -> Iterator[Any]:
        """The rows, batch by batch."""
        import pyarrow as pa

        n_rows = 0
        for path, first, batch in self._raw():
            names = list(self._names_of(batch))
            typed = partial(self._typed, path, first, batch)
            yield pa.table(run(typed, names), names=names)
            n_rows += batch.num_rows
            self.said(n_rows)
        if n_rows == 0:
            paths = " and ".join(map(str, self.paths[:3]))
            raise FileDataError(f"{paths}: there are no rows below the header.")

    def _names_of(self, batch: Any) -> tuple[str, ...]:
        return tuple(batch.schema.names) if self.kept is None else self.kept

    def _form(self, path: Path) -> str:
        return format_of(path) if self.form is None else self.form

    def _raw(self) -> Iterator[tuple[Path, int, Any]]:
        """Each batch with its file and the number of its first row there."""
        names = self.names
        for path in self.paths:
            form = self._form(path)
            missing = [name for name in names if name not in column_names(path, form)]
            if missing and form != "jsonl":
                raise FileDataError(
                    f"{path}: there is no column {quoted(missing[0])}, which "
                    f"{'the first file has' if self.kept is None else 'is needed'}."
                )
            types = {n: of for n, of in self._types.items() if not is_null(of)} if self._settled else {}
            first = 0
            for batch in raw_batches(path, form, names, types):
                yield path, first, _completed(batch, names) if form == "jsonl" else batch
                first += batch.num_rows

    def _is_text(self, path: Path) -> bool:
        return self._form(path) in ("csv", "tsv")

    def _typed(self, path: Path, first: int, batch: Any, name: str) -> Any:
        """A column of a batch, in the type settled for it."""
        column = batch.column(name)
        if is_nested(column.type):
            raise FileDataError(
                f"{path}: column {quoted(name)} holds lists or objects, but each cell must be one value; "
                "drop it."
            )
        column = cast(column, plain(column.type))
        if name in self.wanted:
            wanted = self.wanted[name]
            found = read_as(column, wanted)
            if found is None:
                at = first_misfit(column, lambda part: read_as(part, wanted))
                raise WrongCellError(name, wanted, column[at].as_py(), path, first + at)
            return found
        settled = self._types.get(name)
        if settled is None:
            settled = narrowest(column) if self._is_text(path) else column.type
            self._types[name] = settled
        found = cast(column, settled) if self._is_text(path) else _in_type(column, settled)
        if found is None:
            raise _TypesChangedError(f"{path}: column {quoted(name)} changes type")
        return found

    def _settle(self) -> None:
        """Read everything to find the types of the columns."""
        for path, _, batch in self._raw():
            for name in set(self._names_of(batch)) - set(self.wanted):
                column = cast(batch.column(name), plain(batch.column(name).type))
                of = self._types.get(name)
                if self._is_text(path) and (of is None or cast(column, of) is None):
                    self._types[name] = _widened_text(column, of)
                elif not self._is_text(path):
                    self._types[name] = column.type if of is None else wider(of, column.type)
        self._settled = True


class WrongCellError(FileDataError):
    """A cell that is not of the kind its column must have."""

    def __init__(self, name: str, wanted: Wanted, value: Any, path: Path, row: int) -> None:
        words = {"number": "numbers", "boolean": "true or false", "level": "text", "moment": "dates or times"}
        words |= {"measure": "numbers, dates or times", "clock": "times of day", "duration": "durations"}
        super().__init__(
            f"{path}: column {quoted(name)} must hold {words.get(wanted, wanted)}, but row {row} holds "
            f"{quoted(value)}."
        )


def is_null(of: Any) -> bool:
    """Whether a type is that of a column without values."""
    import pyarrow as pa

    return bool(pa.types.is_null(of))


def is_source(X: Any) -> bool:
    """Whether X stands for files: a path, a glob, a list of these, or a source of batches."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(one, (str, PathLike)) for one in X)
    return isinstance(X, (str, PathLike, FileSource))


def open_source(X: Any, form: str | None = None) -> FileSource:
    """Open files given by a path, a glob, or a list of these."""
    if isinstance(X, FileSource):
        return X
    if isinstance(X, (list, tuple)) and not X:
        raise ValueError("the list of files is empty; pass a path, a glob or a list of them.")
    paths: list[Path] = []
    for one in X if isinstance(X, (list, tuple)) else [X]:
        path = Path(one)
        found = [path] if path.exists() else [Path(name) for name in sorted(glob.glob(str(one)))]  # noqa: PTH207  a pattern may be absolute
        if not found:
            raise FileNotFoundError(f"no file matches {str(one)!r}.")
        paths += found
    folders = [path for path in paths if path.is_dir()]
    if folders:
        raise IsADirectoryError(f"{folders[0]} is a directory; name its files, as in '{folders[0]}/*.csv'.")
    return FileSource(tuple(paths), form)


def _completed(batch: Any, names: tuple[str, ...]) -> Any:
    """A batch of jsonl with all columns: an absent key is a missing cell."""
    import pyarrow as pa

    columns = [
        batch.column(name) if name in batch.schema.names else pa.nulls(batch.num_rows) for name in names
    ]
    return pa.record_batch(columns, names=list(names))


def _in_type(column: Any, settled: Any) -> Any:
    """A column in the settled type, or None if that is too narrow."""
    return cast(column, settled) if wider(settled, column.type) == settled else None


def _widened_text(column: Any, of: Any) -> Any:
    """The narrowest type for a column of text and for the earlier cells of another type."""
    found = narrowest(column)
    both = found if of is None else wider(of, found)
    return both if cast(column, both) is not None else wider(both, column.type)
