"""Dicts of columns and lists of dicts: tables with named columns, without a frame library."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.tables.as_arrays import as_array
from suffice.tables.wording import counted, kind_of_thing, quoted

SERIES_LIBRARIES = ("pandas", "polars", "pyarrow", "narwhals")


@dataclass(frozen=True, eq=False)
class Records:
    """Named columns of the same length, as one-dimensional arrays."""

    names: tuple[Hashable, ...]
    columns: tuple[NDArray[Any], ...]
    n_rows: int
    by_row: bool
    """Whether they came as one dict for each row, not as one dict of columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return self.n_rows, len(self.columns)

    def __getitem__(self, rows: Any) -> Records:
        n_rows = len(np.arange(self.n_rows)[rows])
        return replace(self, columns=tuple(column[rows] for column in self.columns), n_rows=n_rows)

    def arranged(self, names: tuple[Hashable, ...]) -> Records:
        """The columns in this order, if they are these; by row, a column that no row has is missing."""
        held = dict(zip(self.names, self.columns, strict=True))
        absent = set(names) - set(held)
        if set(held) - set(names) or (absent and not self.by_row):
            return self
        nothing = np.full(self.n_rows, None)
        return replace(self, names=names, columns=tuple(held.get(name, nothing) for name in names))

    def of_columns(self, columns: Sequence[int]) -> Records:
        """Some of the columns, by position."""
        taken = [(self.names[j], self.columns[j]) for j in columns]
        return replace(self, names=tuple(n for n, _ in taken), columns=tuple(c for _, c in taken))

    def without(self, name: Hashable) -> tuple[Records, NDArray[Any]]:
        """The other columns, and the column of this name."""
        at = self.names.index(name)
        names, columns = self.names, self.columns
        others = replace(self, names=names[:at] + names[at + 1 :], columns=columns[:at] + columns[at + 1 :])
        return others, columns[at]

    def unpacked(self) -> Any:
        """A dict of columns, or a list of dicts if they came by row."""
        if not self.by_row:
            return dict(zip(self.names, self.columns, strict=True))
        cells = zip(*(column.tolist() for column in self.columns), strict=True)
        return [dict(zip(self.names, row, strict=True)) for row in cells]


def are_records(X: Any) -> bool:
    """Whether X is a dict of columns, or a list that begins with a dict."""
    return isinstance(X, (Mapping, Records)) or (
        isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)
    )


def read_records(X: Any) -> Records:
    """Read a dict of columns, or a list of dicts, in which a key that a row lacks is a missing cell."""
    if isinstance(X, Records):
        return X
    if isinstance(X, Mapping):
        names = tuple(X)
        columns = tuple(_column(X[name], name) for name in names)
        odd = [at for at, column in enumerate(columns) if len(column) != len(columns[0])]
        if odd:
            first, other = ((quoted(names[at]), counted(len(columns[at]), "cell")) for at in (0, odd[0]))
            raise ValueError(
                f"column {first[0]} has {first[1]}, but column {other[0]} has {other[1]}; all columns "
                "must be of the same length."
            )
        return Records(names, columns, len(columns[0]) if columns else 0, by_row=False)
    strange = next((at for at, row in enumerate(X) if not isinstance(row, Mapping)), None)
    if strange is not None:
        raise ValueError(
            f"row 0 is a dict, but row {strange} is a {type(X[strange]).__name__}; use one type."
        )
    names = tuple(dict.fromkeys(name for row in X for name in row))
    columns = tuple(_column([row.get(name) for row in X], name) for name in names)
    return Records(names, columns, len(X), by_row=True)


def _column(values: Any, name: Hashable) -> NDArray[Any]:
    """One column as an array, in which integers keep their digits beside missing cells."""
    if type(values).__module__.partition(".")[0] in SERIES_LIBRARIES:
        import narwhals.stable.v2 as nw

        if hasattr(values, "to_pylist") and not hasattr(values, "chunks"):
            import pyarrow as pa

            values = pa.chunked_array([values])
        series = nw.from_native(values, series_only=True)
        # NumPy has no missing integer.
        values = _objects(series.to_list()) if series.null_count() else series.to_numpy()
    elif isinstance(values, (list, tuple, range)):
        values = list(values)
        if any(isinstance(cell, (list, tuple, dict, set, np.ndarray)) for cell in values):
            values = _objects(values)  # refused by the reader of columns, with its name
    else:
        require_cells(values, name)
    return as_array(values, f"column {quoted(name)}")


def require_cells(values: Any, name: Hashable) -> None:
    """Refuse what is no list or array of cells."""
    is_list = isinstance(values, (list, tuple, range))
    if not is_list and len(getattr(values, "shape", None) or np.shape(values)) != 1:
        raise ValueError(
            f"column {quoted(name)} is {kind_of_thing(values)}, not a list or array of cells; a dict must "
            "hold one list or array for each column. A single row is a list of one dict, [row]."
        )


def _objects(cells: list[Any]) -> NDArray[np.object_]:
    """Cells in an array of objects, one each."""
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array
