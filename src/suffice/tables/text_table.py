"""Documents as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.tables.columns import is_missing
from suffice.tables.container import LIST, Container
from suffice.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from suffice.tables.columns import Column, Kind
    from suffice.text import Documents


class TextTable(Table):
    """Documents as a table of one unnamed column."""

    def __init__(self, documents: Documents, container: Container = LIST) -> None:
        super().__init__("numpy", np.empty((len(documents), 1), dtype=object), _no_column)
        self._documents = documents
        self._container = container

    @property
    def container(self) -> Container:
        """The container of the documents."""
        return self._container

    def kind(self, column: int) -> Kind:
        """Text is a level."""
        return "level"

    def documents(self, column: int) -> Documents:
        """The documents."""
        return self._documents

    def part(self, rows: slice) -> Table:
        """Adjacent documents."""
        return TextTable(self._documents.part(rows.start, rows.stop), self._container)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Table:
        """Some of the documents."""
        return TextTable(self._documents.take(np.arange(self.n_rows)[rows]), self._container)


def _no_column(column: int) -> Column:
    raise TypeError(f"column {column} holds documents, which cannot be read as numbers or levels.")


def is_list_of_documents(X: Any, *, or_missing: bool = False) -> bool:
    """Whether X is a list or column of documents; with `or_missing`, all may be missing, or none be there."""
    if not _is_list_or_column(X):
        return False
    if not len(X):
        return or_missing
    first = _first_there(X)
    return isinstance(first, str) or (or_missing and first is None)


def are_cells(X: Any) -> bool:
    """Whether X is a single cell, or a list or column of cells that are no rows."""
    if X is None or isinstance(X, (str, bytes)) or np.isscalar(X):
        return True
    return _is_list_or_column(X) and not hasattr(_first_there(X), "__len__")


def _is_list_or_column(X: Any) -> bool:
    """Whether something has one dimension; Arrow's arrays do not tell."""
    if isinstance(X, (list, tuple)):
        return True
    return len(X.shape) == 1 if hasattr(X, "shape") else hasattr(X, "to_pylist")


def _first_there(cells: Iterable[Any]) -> Any:
    """The first cell of a column, or row of a list, that is not missing; None if all are."""
    plain = (cell.as_py() if hasattr(cell, "as_py") else cell for cell in cells)
    # Only what has no length may be missing: a row that is an array does not equal itself in one word.
    return next((cell for cell in plain if hasattr(cell, "__len__") or not is_missing(cell)), None)
