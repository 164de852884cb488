"""One column of a schema: its family, the reason for it, and how its cells are written."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from suffice.factors import KINDS
from suffice.families import Family
from suffice.storage import Fields, Setting
from suffice.tables.dates import FORMS
from suffice.tables.notations import Notation

CHOSEN = "chosen by families="
"""The reason for a family that the user chose."""


@dataclass(frozen=True)
class Factor:
    """A family on some columns, given by position."""

    family: Family
    columns: NDArray[np.intp]

    @property
    def reads(self) -> str:
        """What the factor reads: numbers, levels or documents."""
        return KINDS[self.family.factor].totals.reads

    @property
    def refuses_infinities(self) -> bool:
        """Whether the factor refuses infinities of sparse cells while it reads them."""
        return KINDS[self.family.factor].totals.refuses_infinities


class Column(NamedTuple):
    """One column of a table: its family and the reason for it.

    Attributes
    ----------
    name : hashable
        The name of the column; its position in arrays.
    family : Family or None
        None if the column is left out.
    reason : str
        Why the column has this family.
    undecided : bool
        Whether the column still waits for its first value.
    block : int or None
        Columns that are modelled jointly, such as those of a Multinomial, have the same number.
    notation : Notation or None
        How the cells are written, if they are text: as numbers, dates or levels, with marks of missing ones.
    nats : float or None
        What the column by itself added to held-out rows, in nats a row, if its family was inferred.
    is_chosen : bool
        Whether the user chose the family.
    summed : object
        What the sums of the column depend on: its family without the settings for solving, and its block.

    Examples
    --------
    >>> import suffice
    >>> X = [[1.0, 5.0], [1.2, 6.0], [3.0, 9.0]]
    >>> suffice.BayesClassifier().fit(X, ["a", "a", "b"]).schema_[1].reason
    'numbers in an array'
    """

    name: Hashable
    family: Family | None
    reason: str
    undecided: bool = False
    block: int | None = None
    notation: Notation | None = None
    nats: float | None = None

    @property
    def is_chosen(self) -> bool:
        """Whether the user chose the family."""
        return CHOSEN in self.reason

    @property
    def summed(self) -> object:
        """What the sums of the column depend on; settings for solving do not count."""
        return (None if self.family is None else self.family.summed, self.block)


@dataclass(frozen=True, eq=False)
class AlikeColumns(Sequence[Column]):
    """Columns that differ only in their names, created on demand: there may be a million words."""

    names: tuple[Hashable, ...]
    family: Family | None
    reason: str
    block: int | None

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> Column: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Column]: ...
    def __getitem__(self, at: int | slice) -> Column | Sequence[Column]:
        if isinstance(at, slice):
            return AlikeColumns(self.names[at], self.family, self.reason, self.block)
        return Column(self.names[at], self.family, self.reason, block=self.block)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AlikeColumns):
            mine, theirs = ((one.family, one.reason, one.block, one.names) for one in (self, other))
            return mine == theirs
        return isinstance(other, tuple) and tuple(self) == other

    def __hash__(self) -> int:
        return hash(tuple(self))


def state_of_notations(columns: Sequence[Column]) -> dict[str, Any]:
    """How the cells of columns are written, as a file holds it; nothing if none is text."""
    if isinstance(columns, AlikeColumns):
        return {}
    distinct = list(dict.fromkeys(column.notation for column in columns if column.notation is not None))
    if not distinct:
        return {}
    place = {notation: i for i, notation in enumerate(distinct)}
    number = [-1 if column.notation is None else place[column.notation] for column in columns]
    return {
        "notations": Setting([[one.form, list(one.marks), one.unit, one.time] for one in distinct]),
        "notation": np.array(number, dtype=np.int32),
    }


def notations_from_fields(fields: Fields, n_columns: int) -> list[Notation | None]:
    """How the cells of each column are written, from a file."""
    if "notations" not in fields:
        return [None] * n_columns
    known = [_notation(fields, one) for one in _listed(fields)]
    number = fields.array("notation", np.int32, (n_columns,))
    if ((number < -1) | (number >= len(known))).any():
        raise fields.error("notation", "refers to something that does not exist.")
    return [None if i < 0 else known[i] for i in number.tolist()]


def _listed(fields: Fields) -> list[Any]:
    listed = fields.setting("notations")
    if not isinstance(listed, list):
        raise fields.error("notations", "must be a list.")
    return listed


def _notation(fields: Fields, saved: Any) -> Notation:
    match saved:
        case [str(form), list(marks), str(unit), bool(time)]:
            if form in ("levels", "numbers", *FORMS) and all(isinstance(mark, str) for mark in marks):
                return Notation(form, tuple(marks), unit, time)
    raise fields.error("notations", f"has {saved!r}, which is not a notation.")
