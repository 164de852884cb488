"""Documents as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.tables.container import LIST, Container
from suffice.tables.table import Table

if TYPE_CHECKING:
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
