"""Files as one re-iterable source of batches, in which each column has one type throughout."""

from __future__ import annotations

import glob
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from suffice.kernels.threads import run
from suffice.tables.files.ahead import one_ahead
from suffice.tables.files.columnar import row_groups_of
from suffice.tables.files.folders import Partition, files_in
from suffice.tables.files.formats import TEXT, TEXT_AS_CODES, DataFile, FileDataError, format_of
from suffice.tables.files.options import DEFAULTS, ReadingOptions
from suffice.tables.files.readers import column_names, raw_batches, with_gaps
from suffice.tables.files.share import Share
from suffice.tables.files.types import (
    Wanted,
    as_plain,
    cast,
    first_misfit,
    narrowest,
    read_as,
    wider,
)
from suffice.tables.row_source import RowSource
from suffice.tables.wording import did_you_mean, listed, quoted

T = TypeVar("T")
Types = Mapping[str, Wanted]
MOST_BESIDE = 1000
"""The most files beside one that is not there, among which the one that was meant is looked for."""
ANY_TEXT = Wanted("level")


class _TypesChangedError(Exception):
    """A batch holds cells that do not fit the types of the earlier ones."""


@dataclass
class FileSource(RowSource):
    """The rows of files in batches (pyarrow Tables). Nothing is kept, so memory is that of a few batches.

    The types of csv and tsv columns are those of the first block. If a later cell does not fit, all rows are
    read once to find wider types, and the work in progress starts over.
    """

    paths: tuple[Path, ...]
    form: str | None = None
    """The format, if the names of the files do not reveal it."""
    wanted: Types = field(default_factory=dict)
    """The kind that the cells of some columns must have."""
    said: Callable[[int, float | None], None] = lambda _, __: None
    """Called with the number of rows read so far, and the share of the files, if it is known."""
    kept: tuple[str, ...] | None = None
    """The columns to read; all of them by default."""
    options: ReadingOptions = DEFAULTS
    """How files of text are written."""
    called: str | None = None
    """What messages call the only file, if not by its path: stdin."""
    partitions: Mapping[Path, Partition] = field(default_factory=dict)
    """The columns that the names of folders hold, as in year=2024, for the files in them."""
    headers: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    """The columns of the files read so far, which sources with some of the columns share."""
    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts that stand for a missing cell, of single columns; `options` has those of all."""
    coded: bool = False
    """Whether text may come as codes of a dictionary, in columns with `TEXT_AS_CODES`."""
    drop_unlabelled: bool = False
    """Whether rows without a label are left out where labels are read, instead of refused."""
    verbatim: bool = False
    """Whether text that cannot be kept as it is written is refused, instead of read with U+FFFD."""
    skipped: dict[Path, str] | None = None
    """Why files were skipped, where those that cannot be read are; None to refuse them."""

    def __post_init__(self) -> None:
        self._types: dict[str, Any] = {}
        self._settled = False
        self._starts: list[tuple[int, DataFile]] = []
        self._keys = dict.fromkeys(key for parts in self.partitions.values() for key in parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the first file, and those that the names of folders hold."""
        return self._names_in(self._first_path) if self.kept is None else self.kept

    @property
    def _first_path(self) -> Path:
        """The first file, or the first that can be read where others are skipped."""
        if self.skipped is not None:
            for path in self.paths:
                try:
                    self._names_in(path)
                except FileDataError as error:
                    self.skipped[path] = str(error)
                else:
                    return path
        return self.paths[0]

    def _names_in(self, path: Path) -> tuple[str, ...]:
        if path not in self.headers:
            file = self._file(path)
            names = column_names(file)
            both = [name for name in names if name in self._keys]
            if both:
                raise file.error(f"{listed(both, 5)} are columns of the file and in the name of its folder.")
            self.headers[path] = (*names, *self._keys)
        return self.headers[path]

    def parts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The columns of each file but jsonl, whose lines may lack some; of one, if others may be skipped."""
        first = self._first_path
        for path in (first, *(one for one in self.paths if one != first and self.skipped is None)):
            file = self._file(path)
            if path == first or file.form != "jsonl":
                yield f"{file}: ", self._names_in(path)

    def _file(self, path: Path) -> DataFile:
        form = format_of(path) if self.form is None else self.form
        return DataFile(path, form, self.options, self.called, (self.kept or ()) if self.verbatim else ())

    @property
    def forms(self) -> set[str]:
        """The formats of the files."""
        return {self._file(path).form for path in self.paths}

    def only(self, names: Iterable[str], wanted: Types | None = None) -> FileSource:
        """The same rows with some of the columns, in this order, and the kinds their cells must have."""
        return replace(self, kept=tuple(names), wanted=self.wanted if wanted is None else wanted)

    def through(self, work: Callable[[Iterator[Any]], T]) -> T:
        """Do some work with all batches; it starts over if columns turn out to need wider types."""
        try:
            return super().through(work)
        except _TypesChangedError:
            self.settle()
        try:
            return super().through(work)
        except _TypesChangedError as error:
            raise FileDataError(f"{error}, and no type fits all its cells.") from error

    def batches(self) -> Generator[Any]:
        """The rows, batch by batch, read one batch ahead of the work."""
        import pyarrow as pa

        n_rows = None
        for table, n_rows, share in one_ahead(self._tables()):
            yield table
            self.said(n_rows, share)
        if n_rows is None:
            yield pa.table([pa.nulls(0)] * len(self.names), names=list(self.names))

    def _tables(self) -> Generator[tuple[Any, int, float | None]]:
        """Each batch, with the number of rows and the share of the files read by then."""
        import pyarrow as pa

        n_rows, names, share = 0, list(self.names), Share(self.paths)
        self._starts = []
        for file, first, batch in self._raw():
            if first == 0:
                self._starts.append((n_rows, file))
            typed = partial(self._typed, file, first)
            columns = run(typed, list(zip(names, batch.columns, strict=True)))
            table = pa.Table.from_arrays(columns, schema=pa.schema(map(_field, names, columns)))
            n_rows += batch.num_rows
            yield table, n_rows, share.of(len(self._starts) - 1, file, first + batch.num_rows)

    def after(self, n_files: int, n_rows: int) -> Iterator[Any]:
        """The batches behind the first files, which have so many rows, in the types settled so far."""
        rest = replace(self, paths=self.paths[n_files:])
        vars(rest).update(_types=self._types, _settled=self._settled)
        for batch in rest.batches():
            self._starts = [(n_rows + start, file) for start, file in vars(rest)["_starts"]]
            yield batch

    def locate(self, row: int) -> tuple[DataFile, int]:
        """The file that holds a row of the batches read so far, and the number of the row there."""
        start, file = max((one for one in self._starts if one[0] <= row), key=lambda one: one[0])
        return file, row - start

    def place_error(self, error: ValueError, row: int, *, named: bool = True) -> None:
        """The same, and show a number that is too large for a float as it is written, not as an infinity."""
        super().place_error(error, row, named=named)
        for name in self.names:
            start, infinite, rest = str(error).partition(f"column {quoted(name)} contains the infinite value")
            in_file = infinite and name not in self._keys
            written = self._written(name, *self.locate(row)) if in_file else None
            if isinstance(written, str) and any(map(str.isdigit, written)):
                rest = rest.partition(" at row ")[2]
                words = f"column {quoted(name)} holds {quoted(written, 40)}, which is too large for a number,"
                error.args = (f"{start}{words} at row {rest}",)
                return

    def _written(self, name: str, file: DataFile, row: int) -> Any:
        """A cell of a file, as it is written if that is text."""
        import pyarrow as pa

        with closing(raw_batches(file, (name,), {name: pa.string()})) as batches:
            for batch in batches:
                if row < batch.num_rows:
                    return batch.column(name)[row].as_py()
                row -= batch.num_rows
        return None

    def place(self, first: int, end: int) -> str:
        """Where some rows of the batches read so far are; in a parquet file, also in which row groups."""
        file, row = self.locate(first)
        words, last = super().place(first, end), row + max(end - first, 1) - 1
        if file.form != "parquet":
            return words
        groups = row_groups_of(file, row, last)
        return (
            f"{words} (row group {groups[0]})"
            if len(groups) == 1
            else f"{words} (row groups {groups[0]} to {groups[-1]})"
        )

    @property
    def title(self) -> str:
        """What messages call all files."""
        return " and ".join(str(path) if self.called is None else self.called for path in self.paths[:3])

    def _raw(self) -> Iterator[tuple[DataFile, int, Any]]:
        """Each batch with its file and the number of its first row there."""
        names = self.names
        # Some column tells the number of rows, even if only those of folders are read.
        inside = (
            tuple(name for name in names if name not in self._keys) or self._names_in(self._first_path)[:1]
        )
        for path in self.paths:
            try:
                yield from self._raw_of(path, inside)
            except FileDataError as error:
                if self.skipped is None:
                    raise
                self.skipped[path] = str(error)

    def _raw_of(self, path: Path, inside: tuple[str, ...]) -> Iterator[tuple[DataFile, int, Any]]:
        """The batches of one file."""
        names = self.names
        file, present = self._file(path), set(self._names_in(path))
        missing = [name for name in names if name not in present]
        if missing and file.form != "jsonl":
            be = "is" if len(missing) == 1 else "are"
            raise file.error(
                f"there {be} no column{'s' * (be == 'are')} {listed(missing, brackets=False)}, which "
                f"{'the first file has' if self.kept is None else f'{be} needed'}."
            )
        types: Mapping[str, Any] = self._types
        if file.form not in TEXT:
            settled = self._types if self._settled else {}
            types = {n: of for n, of in settled.items() if not is_null(of) and n not in self._keys}
        first = 0
        for batch in raw_batches(file, inside, types, coded=self.coded):
            whole = _completed(batch, names, self.partitions.get(path, {}))
            yield file, first, with_gaps(whole, {n: self.marks[n] for n in names if n in self.marks})
            first += batch.num_rows

    def _is_text(self, file: DataFile, name: str) -> bool:
        return file.form in TEXT or name in self._keys

    def _typed(self, file: DataFile, first: int, named: tuple[str, Any]) -> Any:
        """A column of a batch, in the type settled for it."""
        name, raw = named
        may_stay = self.coded and is_coded(raw.type) and self.wanted.get(name, ANY_TEXT).kind == "level"
        if may_stay and self._types.setdefault(name, raw.type.value_type) == raw.type.value_type:
            return raw
        column = _plain(file, name, raw)
        if name in self.wanted:
            wanted = self.wanted[name]
            found = read_as(column, wanted)
            if found is None:
                at = first_misfit(column, lambda part: read_as(part, wanted))
                raise WrongCellError(name, wanted, column[at].as_py(), file, first + at)
            return found
        settled = self._types.get(name)
        if settled is None:
            settled = narrowest(column) if self._is_text(file, name) else column.type
            self._types[name] = settled
        found = cast(column, settled) if self._is_text(file, name) else _in_type(column, settled)
        if found is None:
            raise _TypesChangedError(f"{file}: column {quoted(name)} changes type")
        return found

    def settle(self, types: Mapping[str, Any] | None = None) -> None:
        """Settle the types of the columns: given ones, or those that all cells fit, after reading them."""
        names = self.names
        for file, _, batch in self._raw() if types is None else ():
            for name, raw in zip(names, batch.columns, strict=True):
                if name in self.wanted:
                    continue
                column = _plain(file, name, raw)
                of = self._types.get(name)
                if self._is_text(file, name) and (of is None or cast(column, of) is None):
                    self._types[name] = _widened_text(column, of)
                elif not self._is_text(file, name):
                    self._types[name] = column.type if of is None else wider(of, column.type)
        self._types |= types or {}
        self._settled = True


class WrongCellError(FileDataError):
    """A cell that is not of the kind its column must have."""

    def __init__(self, name: str, wanted: Wanted, value: Any, file: DataFile, row: int) -> None:
        words = {"number": "numbers", "boolean": "true or false", "level": "text", "moment": "dates or times"}
        words |= {"measure": "numbers, dates or times", "clock": "times of day", "duration": "durations"}
        expected = words.get(wanted.kind, wanted.kind)
        super().__init__(
            f"{file}: column {quoted(name)} must hold {expected}, but row {row} holds {quoted(value)}."
        )


def _field(name: str, column: Any) -> Any:
    import pyarrow as pa

    return pa.field(name, column.type, metadata=TEXT_AS_CODES if is_coded(column.type) else None)


def is_coded(of: Any) -> bool:
    """Whether a type is that of text as codes of a dictionary."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(of) and pa.types.is_string(of.value_type))


def is_null(of: Any) -> bool:
    """Whether a type is that of a column without values."""
    import pyarrow as pa

    return bool(pa.types.is_null(of))


def is_source(X: Any) -> bool:
    """Whether X stands for files: a path, a glob, a list of these, or a source of batches."""
    if isinstance(X, (list, tuple)):
        return bool(X) and all(isinstance(one, (str, PathLike)) for one in X)
    return isinstance(X, (str, PathLike, FileSource))


def open_source(X: Any, form: str | None = None, options: ReadingOptions = DEFAULTS) -> FileSource:
    """Open files given by a path, a folder, a glob, or a list of these."""
    if isinstance(X, FileSource):
        return X
    if isinstance(X, (list, tuple)) and not X:
        raise ValueError("the list of files is empty; pass a path, a glob or a list of them.")
    paths: list[Path] = []
    partitions: dict[Path, Partition] = {}
    for one in X if isinstance(X, (list, tuple)) else [X]:
        path = Path(one)
        found = [path] if path.exists() else [Path(name) for name in sorted(glob.glob(str(one)))]  # noqa: PTH207  a pattern may be absolute
        if not found:
            raise FileNotFoundError(f"no file matches {str(one)!r}{_hint(path)}")
        for place in found:
            inside = files_in(place, form) if place.is_dir() else {place: {}}
            paths += inside
            partitions |= {file: parts for file, parts in inside.items() if parts}
    return FileSource(tuple(paths), form, options=options, partitions=partitions)


def _hint(path: Path) -> str:
    """A question that names the closest of the first files beside one that is not there."""
    try:
        beside = [one.name for one in islice(path.parent.iterdir(), MOST_BESIDE)]
    except OSError:
        beside = []
    near = did_you_mean(path.name, beside)
    return f"; {near}" if near else "."


def _completed(batch: Any, names: tuple[str, ...], parts: Partition) -> Any:
    """A batch with all columns: those of folders, and missing cells where a line of jsonl lacks a key."""
    import pyarrow as pa

    if tuple(batch.schema.names) == names:
        return batch
    present = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name, text in parts.items():
        present[name] = pa.repeat(pa.scalar(text, pa.string()), batch.num_rows)
    gap = pa.nulls(batch.num_rows)
    return pa.record_batch([present.get(name, gap) for name in names], names=list(names))


def _plain(file: DataFile, name: str, raw: Any) -> Any:
    """A column whose cells are values of one kind."""
    column = as_plain(raw)
    if column is None:
        raise file.error(
            f"column {quoted(name)} holds lists, objects or bytes ({raw.type}), but each cell must be a "
            "number, a text or a time; drop it."
        )
    return column


def _in_type(column: Any, settled: Any) -> Any:
    """A column in the settled type, or None if that is too narrow."""
    return cast(column, settled) if wider(settled, column.type) == settled else None


def _widened_text(column: Any, of: Any) -> Any:
    """The narrowest type for a column of text and for the earlier cells of another type."""
    found = narrowest(column)
    both = found if of is None else wider(of, found)
    return both if cast(column, both) is not None else wider(both, column.type)
