"""What any container looks like to the rest of the library: a table whose columns are numbers or levels."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from suffice.kernels import threads
from suffice.kernels.cells import as_rows
from suffice.kernels.choose import first_infinity, infinity_refusal
from suffice.kernels.columns import ColumnCells, Reader
from suffice.tables.as_arrays import LARGEST_EXACT, as_array, as_floats, as_native, complex_refusal
from suffice.tables.columns import (
    FEW_ROWS,
    Column,
    FrameColumn,
    Kind,
    LevelCells,
    Levels,
    PeriodColumn,
    array_column,
    frame_column,
    number_objects,
)
from suffice.tables.container import Container, Library
from suffice.tables.files.formats import TEXT_AS_CODES
from suffice.tables.notations import Notation, ReadColumn
from suffice.tables.objects import numbers_of_objects
from suffice.tables.parts import rows_of_arrow
from suffice.tables.recognized import is_frame, refuse_lazy
from suffice.tables.records import Records, are_records, read_records
from suffice.tables.typed_columns import as_typed
from suffice.tables.wording import kind_of_thing, listed, quoted
from suffice.text import Documents

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

__all__ = ["Kind", "Levels", "Table", "read_table"]

Opened = Column | ReadColumn


class Table:
    """A table in any container, read column by column, and only when needed."""

    def __init__(
        self,
        library: Library,
        source: Any,
        open_column: Callable[[int], Opened],
        *,
        names: tuple[Hashable, ...] | None = None,
        array: NDArray[Any] | None = None,
        matrix: Any = None,
        block: NDArray[Any] | None = None,
    ) -> None:
        self.n_rows, self.n_columns = source.shape
        self.named = names is not None
        if names is not None:
            self.names = names
        self.array = array
        # The cells of a sparse container as they are: infinities are left for the reader to refuse.
        self.stored = matrix
        self._library = library
        self._source = source
        self.open_column = open_column
        # All cells as one ndarray, if the container holds them that way.
        self._block = array if block is None else block
        self._levels: dict[int, Levels] = {}
        self._readers: dict[int, Reader] = {}
        self.whole: tuple[Table, slice] | None = None
        self.notations: Mapping[int, Notation] = {}
        self.read_before: dict[tuple[int, Notation], ReadColumn] = {}

    @cached_property
    def names(self) -> tuple[Hashable, ...]:
        """The names of the columns, or their positions."""
        return tuple(range(self.n_columns))

    @cached_property
    def sparse(self) -> Any:
        """The cells of a sparse container, None of any other; ±inf is refused."""
        if self.stored is not None:
            self._refuse(first_infinity(self.stored), range(self.n_columns), self.stored)
        return self.stored

    @cached_property
    def container(self) -> Container:
        """The container of the table, for returning rows."""
        shared = self._source if self._library in ("numpy", "sparse") else self._block
        if shared is not None and shared.dtype != "O":
            return Container.of(self._library, self._source, (None,) * self.n_columns)
        cell_types = tuple(self.open_column(column).cell_type for column in range(self.n_columns))
        return Container.of(self._library, self._source, cell_types)

    @property
    def cells_per_row(self) -> int:
        """The number of cells in a row; in a sparse one, of those that are stored."""
        if self.stored is None:
            return int(self.n_columns)
        return int(self.stored.nnz // max(self.n_rows, 1)) + 1

    @property
    def row_labels(self) -> Any:
        """The index of a pandas frame; None where rows have no labels."""
        return self._source.index if self._library == "pandas" else None

    def label(self, column: int) -> str:
        """Name a column in a message."""
        return f"column {quoted(self.names[column])}"

    def kind(self, column: int) -> Kind:
        """Return the kind of the cells of a column."""
        shared = self.stored if self._block is None else self._block
        if shared is not None:
            return "boolean" if shared.dtype.kind == "b" else "number"
        return self.open_column(column).kind if self.whole is None else self.whole[0].kind(column)

    def levels(self, column: int) -> Levels:
        """Return a column of any kind as codes of its distinct values."""
        if column not in self._levels:
            self._levels[column] = self.open_column(column).levels()
        return self._levels[column]

    def cells(self, columns: Sequence[int]) -> NDArray[Any] | None:
        """Return columns unchecked, in their own type, if they are one ndarray of numbers or booleans.

        They have this machine's byte order, and floats are float32 or float64, as kernels require.
        """
        return None if self._block is None else as_native(_take(self._block, columns))

    def level_cells(self, columns: Sequence[int]) -> LevelCells:
        """Return columns to be read as levels."""
        matrix = self.cells(columns)
        if matrix is None and self.sparse is None and self.n_rows > FEW_ROWS:
            threads.run(self.levels, columns)  # containers encode without the interpreter's lock
        return LevelCells(matrix, [partial(self.levels, column) for column in columns])

    def numbers(
        self, columns: Sequence[int] | slice, *, infinities: bool = False
    ) -> NDArray[np.floating[Any]]:
        """Return columns as floats (n, len(columns)), NaN where missing; ±inf and text are refused.

        With `infinities`, no cell is inspected: the next reader refuses infinite ones in passing.

        Booleans are 0 and 1, moments are seconds since 1970 UTC, durations and times of day are seconds. One
        column of floats, or adjacent columns of a float array, are not copied.
        """
        positions = range(self.n_columns)[columns] if isinstance(columns, slice) else columns
        if self._block is not None:
            values = as_floats(_take(self._block, positions))
        elif self.stored is not None:
            values = as_floats(self.stored[:, list(positions)].toarray())
        else:
            single = [self._column_numbers(position) for position in positions]
            if len(single) == 1:
                values = single[0][:, np.newaxis]
            else:  # column by column in memory: each is written in one run
                values = (np.stack(single) if single else np.empty((0, self.n_rows))).T
        if not infinities:
            self._refuse(first_infinity(values), positions, values)
        return values

    def columns_apart(self, columns: Sequence[int]) -> NDArray[Any] | ColumnCells:
        """Return columns as `numbers` does, unchecked, but each where the container holds it, if it does."""
        if self._block is not None or self.stored is not None:
            return self.numbers(columns, infinities=True)
        if self.whole is not None:
            table, rows = self.whole
            cells = table.columns_apart(columns)
            return cells[rows]
        readers = [self._reader(position) for position in columns]
        dtype = np.result_type(*(read(slice(0, 0)) for read in readers))
        return ColumnCells(readers, dtype, slice(0, self.n_rows))

    def _reader(self, position: int) -> Reader:
        """What reads the numbers of a column, some rows at a time; parts of the table share it."""
        if position not in self._readers:
            column = self.open_column(position)
            in_parts = column.reader() if isinstance(column, FrameColumn) else None
            self._readers[position] = in_parts or self._column_numbers(position).__getitem__
        return self._readers[position]

    def _refuse(self, infinity: tuple[int, int] | None, positions: Sequence[int], cells: Any) -> None:
        """Raise if there is an infinity in the cells of some columns."""
        if infinity is not None:
            row, j = infinity
            raise ValueError(infinity_refusal(self.label(positions[j]), row, cells[row, j]))

    def documents(self, column: int) -> Documents:
        """Return a column of text as documents."""
        opened = self.open_column(column)
        if opened.kind != "level" or isinstance(opened, (PeriodColumn, ReadColumn)):
            if np.isnan(self.numbers([column])).all():  # no cell tells the kind
                return Documents.missing_ones(self.n_rows)
            raise TypeError(
                f"{self.label(column)} holds {self.kind(column)}s, but Words() needs text; "
                "convert it to strings, or choose another family for it."
            )
        try:
            return opened.documents()
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self.label(column)}: {error}") from error

    def values(self, column: int) -> NDArray[Any]:
        """Return the cells of a column as people read them: text, booleans, dates, and floats for numbers."""
        kind = self.kind(column)
        if kind in ("level", "boolean"):
            levels = self.levels(column)
            return np.asarray(np.array([*levels.values, None], dtype=object)[levels.codes])
        numbers = self.numbers([column])[:, 0]
        return self._exact(column, numbers) if kind == "number" else as_typed(numbers, kind)

    def _exact(self, column: int, numbers: NDArray[Any]) -> NDArray[Any]:
        """The numbers of a column as floats, or as objects if they are integers of more digits."""
        if not (np.abs(numbers) >= LARGEST_EXACT).any() or not self.open_column(column).is_whole:
            return as_typed(numbers, "number")
        levels = self.levels(column)
        values = np.empty(len(levels.values) + 1, dtype=object)
        values[:-1] = levels.values
        return np.asarray(values[levels.codes])

    def part(self, rows: slice) -> Table:
        """Return the table of adjacent rows, without a copy if the container allows it."""
        if self.stored is not None:
            part = _sparse_table(_adjacent(self._by_row, rows))
            if "sparse" in vars(self):  # it has been checked
                part.sparse = part.stored
            return part
        if self._library == "numpy" and self._block is not None:
            cells = self._source[rows]
            return _number_table(cells, cells if self.array is not None else self._block[rows])
        source = self._source.iloc if self._library == "pandas" else self._source
        start, stop, _ = rows.indices(self.n_rows)
        part = read_table(source.slice(start, stop - start) if self._library == "pyarrow" else source[rows])
        if part.n_columns == self.n_columns and self._block is None:
            part.whole = (self, slice(start, stop))
        return part

    @cached_property
    def _by_row(self) -> Any:
        """The sparse cells stored by row: stored by column, each part would read all of them."""
        return self.stored.tocsr()

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Return the table of some rows, given by a mask or by their positions."""
        if self._library == "pandas":
            return read_table(self._source.iloc[rows])
        if self._library in ("polars", "pyarrow") and rows.dtype == np.bool:
            rows = np.flatnonzero(rows)
        if self._library == "pyarrow":
            return read_table(rows_of_arrow(self._source, rows))
        return read_table(self._source[rows])

    def without(self, name: Hashable) -> tuple[Any, Any]:
        """The other columns and the column of this name, each as its library holds it."""
        if isinstance(self._source, Records):
            return self._source.without(name)
        import narwhals.stable.v2 as nw

        frame = nw.from_native(self._source, eager_only=True)
        return frame.drop(name).to_native(), frame.get_column(name).to_native()

    def _column_numbers(self, position: int) -> NDArray[np.floating[Any]]:
        """Return one column as floats; one of levels only if all of them are numbers."""
        column = self.open_column(position)
        if column.kind != "level":
            return column.numbers()
        levels = column.levels()
        texts = [value for value in levels.values if isinstance(value, str)]
        if texts:
            text = min(texts, key=lambda text: Notation("numbers").read(text)[1])
            raise ValueError(
                f"{self.label(position)} must hold numbers, but holds the text {quoted(text)}; "
                "convert it to numbers, or choose a family for levels such as Categorical()."
            )
        return np.asarray(np.array([*levels.values, np.nan], dtype=np.float64)[levels.codes])


def take_rows(X: Any, rows: NDArray[Any]) -> Any:
    """Return some rows of X, by position, in the same container: a table, or a column such as documents."""
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if are_records(X):
        return read_records(X)[rows].unpacked()
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return rows_of_arrow(X, rows) if hasattr(X, "to_batches") else X.take(rows)
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows.tolist()]


def read_table(X: Any) -> Table:
    """Read a two-dimensional array, sparse matrix, frame, dict of columns, or list of rows or dicts."""
    if type(X) is np.ndarray:
        return _read_array(X)
    if sparse.issparse(X):
        return _read_sparse(X)
    if is_frame(X):
        return _read_frame(X)
    if are_records(X):
        return _read_records(read_records(X))
    refuse_lazy(X)
    array = as_array(X, "X")
    if array.ndim == 0:
        raise ValueError(
            f"Expected a 2D table, got {kind_of_thing(X)}; convert it to an array or a DataFrame."
        )
    return _read_array(array)


def _read_array(X: NDArray[Any]) -> Table:
    """Read a two-dimensional ndarray; one of numbers or booleans is a block."""
    if X.shape == (0,):
        raise ValueError(
            "Expected a 2D table, got a list or array without rows; X must have at least one row."
        )
    if X.ndim == 1:
        raise ValueError(
            "Expected a 2D table, got a 1D array. Reshape your data: "
            "X.reshape(-1, 1) makes one column of it, X.reshape(1, -1) one row."
        )
    if X.ndim != 2:
        raise ValueError(
            f"Expected a 2D table, got an array of shape {X.shape}; X.reshape(len(X), -1) makes one."
        )
    if X.dtype.kind == "c":
        raise ValueError(complex_refusal("column 0"))
    numbers = numbers_of_objects(X) if X.dtype == "O" else X
    if numbers is not None and numbers.dtype.kind in "fiub":
        return _number_table(X, numbers)
    return Table("numpy", X, cache(partial(_array_column, X)))


def _number_table(X: NDArray[Any], numbers: NDArray[Any]) -> Table:
    """Make the table of an ndarray of numbers or booleans, or of objects that are such `numbers`."""
    if numbers is X:
        return Table("numpy", X, partial(_array_column, X), array=X)
    return Table("numpy", X, lambda column: number_objects(X[:, column], numbers[:, column]), block=numbers)


def _array_column(X: NDArray[Any], column: int) -> Column:
    """Read one column of a two-dimensional ndarray."""
    return array_column(X[:, column], f"column {column}")


def _read_sparse(X: Any) -> Table:
    """Read a scipy.sparse matrix or array without making it dense."""
    if X.ndim != 2:
        raise ValueError(f"Expected a 2D table, got a sparse array of shape {X.shape}. Reshape your data.")
    if X.dtype.kind == "c":
        raise ValueError(complex_refusal("column 0"))
    if X.format not in ("csr", "csc"):
        X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.dtype == np.longdouble:
        X = X.astype(np.float64)
    return _sparse_table(X)


def _sparse_table(X: Any) -> Table:
    """Make the table of a sparse array of numbers without duplicates."""
    # Not kept: all columns made dense would be the dense matrix.
    return Table("sparse", X, lambda column: _array_column(X[:, [column]].toarray(), 0), matrix=X)


def _adjacent(X: Any, rows: slice) -> Any:
    """Adjacent rows of a csr array, without a copy of their entries."""
    first, last = int(X.indptr[rows.start]), int(X.indptr[rows.stop])
    starts = X.indptr[rows.start : rows.stop + 1] - first
    part = as_rows(starts, X.indices[first:last], X.data[first:last], X.shape[1])
    part.has_canonical_format = True
    return part


def _read_frame(X: Any) -> Table:
    """Read a frame by position, so that names may be anything."""
    import narwhals.stable.v2 as nw

    X = nw.to_native(X, pass_through=True)
    if hasattr(X, "iloc"):
        dtypes = set(X.dtypes)
        numeric = len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype) and dtype.kind in "fiub"
        columns = cache(lambda: [column for _, column in X.items()])
        return _frame_table("pandas", X, X.columns, lambda j: columns()[j], X.to_numpy() if numeric else None)
    if not hasattr(X, "to_series") and not hasattr(X, "combine_chunks"):
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    # Columns of a frame come at a fourth of the cost of single ones; repeated names are refused before.
    frame = cache(lambda: nw.from_native(X, eager_only=True))
    if hasattr(X, "to_series"):
        names = X.columns
        return _frame_table("polars", X, names, lambda column: frame().get_column(names[column]))
    names, texts = X.column_names, {j for j, field in enumerate(X.schema) if field.metadata == TEXT_AS_CODES}
    return _frame_table("pyarrow", X, names, lambda column: frame().get_column(names[column]), texts=texts)


def _read_records(X: Records) -> Table:
    """Read named columns."""

    @cache
    def open_column(column: int) -> Column:
        return array_column(X.columns[column], f"column {quoted(X.names[column])}")

    return Table("records" if X.by_row else "dict", X, open_column, names=X.names)


def _frame_table(
    library: Library,
    X: Any,
    names: Iterable[Hashable],
    open_native: Callable[[int], Any],
    block: NDArray[Any] | None = None,
    texts: AbstractSet[int] = frozenset(),
) -> Table:
    """Make the table of a frame, after checking that its names are distinct; dictionaries may be texts."""
    names = tuple(names)
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"The column names {listed(repeated)} occur more than once; rename the columns.")

    @cache
    def open_column(column: int) -> Column:
        opened = frame_column(open_native(column), f"column {quoted(names[column])}")
        return (
            replace(opened, is_text=True) if column in texts and isinstance(opened, FrameColumn) else opened
        )

    return Table(library, X, open_column, names=names, block=block)


def _take(block: NDArray[Any], positions: Sequence[int]) -> NDArray[Any]:
    """Take columns of an ndarray, without a copy if they are adjacent."""
    n = len(positions)
    adjacent = range(positions[0], positions[0] + n) if n else range(0)
    if n and (positions == adjacent or list(positions) == list(adjacent)):  # ranges compare at once
        return block if n == block.shape[1] else block[:, positions[0] : positions[0] + n]
    return block[:, list(positions)]
