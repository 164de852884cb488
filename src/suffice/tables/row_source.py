"""Rows that are somewhere: in files, in a stream, in a database. They come as batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Self, TypeVar

T = TypeVar("T")


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

    def place(self, first: int, end: int) -> str:
        """Where some rows of the batches read so far are, for messages."""
        held, row = self.locate(first)
        return f"{held}, rows {row} to {row + max(end - first, 1) - 1}"
