"""What the cells of an Arrow column are, whatever their width."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from suffice.tables.files.formats import FileDataError
from suffice.tables.files.types import as_plain, read_as
from suffice.tables.wording import quoted


def kind_of(of: Any) -> str | None:
    """The kind of cells that an Arrow type holds; None for a column without values."""
    import pyarrow as pa

    if pa.types.is_dictionary(of):
        return kind_of(of.value_type)
    if pa.types.is_null(of):
        return None
    if pa.types.is_boolean(of):
        return "boolean"
    if pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_decimal(of):
        return "number"
    return "time" if pa.types.is_temporal(of) else "text"


def read_column(column: Any, wanted: Any) -> Any:
    """A column of plain cells, of the kind that is wanted; None if they are no such cells."""
    plain = as_plain(column)
    return plain if plain is None or wanted is None else read_as(plain, wanted)


class Seen(NamedTuple):
    """The kind of a column, its Arrow type, and where it was seen."""

    kind: str
    type: str
    place: str


class SeenKinds(dict[str, Seen]):
    """What the columns of some rows hold; each keeps the kind that it had where it was seen first."""

    def settle(self, name: str, seen: Seen) -> None:
        """Note what a column holds; another kind than before is refused."""
        before = self.setdefault(name, seen)
        if seen.kind != before.kind:
            raise FileDataError(
                f"{seen.place}: column {quoted(name)} holds a {seen.kind} ({seen.type}), but it held a "
                f"{before.kind} ({before.type}) in {before.place}; convert it, so that it has one type "
                "everywhere."
            )

    def settle_all(self, table: Any, place: str) -> None:
        """Note what the columns of an Arrow table hold."""
        for column in table.schema:
            kind = kind_of(column.type)
            if kind is not None:
                self.settle(column.name, Seen(kind, str(column.type), place))

    def packed(self) -> bytes:
        """The same as bytes."""
        return json.dumps(self).encode()


def merge_kinds(parts: list[bytes]) -> bytes:
    """What the columns of several parts hold; a column of two kinds is refused."""
    together = SeenKinds()
    for part in parts:
        for name, seen in json.loads(part).items():
            together.settle(name, Seen(*seen))
    return together.packed()
