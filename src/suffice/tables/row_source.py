"""Rows that are somewhere: in files, in a stream, in a database. They come as batches."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, Self, TypeVar

T = TypeVar("T")
ROW = re.compile(r"(?:at row |\(row )(\d+)")
"""How an error names a row; the last one that it names is not quoted from a cell."""


def row_in(error: TypeError | ValueError) -> int | None:
    """The row that an error is about, if it names one."""
    found = [one[1] for one in ROW.finditer(str(error))]
    return int(found[-1]) if found else None


def rename_row(error: TypeError | ValueError, row: int, prefix: str = "") -> None:
    """Let an error name its row by another number, and say where it is."""
    text = str(error)
    last = [one.span(1) for one in ROW.finditer(text)][-1]
    error.args = (f"{prefix}{text[: last[0]]}{row}{text[last[1] :]}",)


def placed(error: TypeError | ValueError, place: str) -> TypeError | ValueError:
    """The same error, which also says where it is."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{place}: {error}")


class RowSource(ABC):
    """Rows with named columns, in batches (pyarrow Tables)."""

    drop_unlabelled: bool
    """Whether rows without a label are left out where labels are read, instead of refused."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The columns."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What messages call all rows."""

    def parts(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The columns of each part that must have all that are read, and how errors about it begin."""
        yield "", self.names

    @abstractmethod
    def only(self, names: Iterable[str], wanted: Mapping[str, Any] | None = None) -> Self:
        """The same rows with some of the columns, in this order, and the kinds their cells must have."""

    @abstractmethod
    def batches(self) -> Generator[Any]:
        """The rows, batch by batch; whoever stops early closes them."""

    def through(self, work: Callable[[Iterator[Any]], T]) -> T:
        """Do some work with all batches."""
        with closing(self.batches()) as batches:
            return work(batches)

    @abstractmethod
    def locate(self, row: int) -> tuple[object, int]:
        """What holds a row of the batches read so far, for messages, and the number of the row there."""

    @contextmanager
    def placing(self, start: int) -> Iterator[None]:
        """Let errors about a row count it, and name what holds it, where row 0 is this one of all rows."""
        try:
            yield
        except ValueError as error:
            row = row_in(error)
            if row is not None:
                self.place_error(error, start + row)
            raise

    def place_error(self, error: ValueError, row: int, *, named: bool = True) -> None:
        """Let an error about this one of all rows count it, and maybe name what holds it, as it is there."""
        held, there = self.locate(row)
        rename_row(error, there, f"{held}: " if named else "")

    def place(self, first: int, end: int) -> str:
        """Where some rows of the batches read so far are, for messages."""
        held, row = self.locate(first)
        return f"{held}, rows {row} to {row + max(end - first, 1) - 1}"
