"""What the cells of an Arrow column or an array are, whatever their width."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from suffice.tables.files.formats import FileDataError
from suffice.tables.files.types import as_plain, is_plain, read_as
from suffice.tables.wording import quoted

NO_SUCH_CELLS = "has the type {}, which is not {}; convert it, or drop the column."
ANY_CELLS = "a number, a text or a time"


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


def kind_of_array(array: Any) -> str | None:
    """The kind of cells that an array holds; None for texts and objects, which may be anything."""
    kinds = {**dict.fromkeys("iuf", "number"), "b": "boolean", "M": "time", "m": "duration"}
    return kinds.get(array.dtype.kind)


def read_column(column: Any, wanted: Any) -> Any:
    """A column of plain cells, of the kind that is wanted; None if they are no such cells."""
    plain = as_plain(column)
    return plain if plain is None or wanted is None else read_as(plain, wanted)


class Seen(NamedTuple):
    """The kind of cells, their type, and where they were seen."""

    kind: str
    type: str
    place: str


class SeenKinds(dict[str, Seen]):
    """What columns and arrays hold, by what messages call them; each keeps the kind that it had first."""

    def settle_column(self, name: str, of: Any, place: str, came_as: Any = None) -> None:
        """Note the Arrow type of a column, which may have come as another."""
        kind = kind_of(of)
        if kind is not None:
            self._settle(f"column {quoted(name)}", Seen(f"a {kind}", str(came_as or of), place))

    def settle_table(self, table: Any, place: str) -> None:
        """Note what the columns of an Arrow table hold; those that are nested are refused."""
        for column in table.schema:
            if not is_plain(column.type):
                refusal = NO_SUCH_CELLS.format(column.type, ANY_CELLS)
                raise FileDataError(f"{place}: column {quoted(column.name)} {refusal}")
            self.settle_column(column.name, column.type, place)

    def settle_array(self, called: str, array: Any, place: str) -> None:
        """Note what an array holds, if that is known."""
        kind = kind_of_array(array)
        if kind is not None:
            self._settle(called, Seen(f"{kind}s", str(array.dtype), place))

    def settle_labels(self, labels: NDArray[Any], place: str) -> None:
        """Note what labels are that have been read."""
        kind = kind_of_array(labels)
        self._settle("y", Seen("text" if kind is None else f"{kind}s", str(labels.dtype), place))

    def settle_again(self, seen: Mapping[str, Iterable[str]]) -> None:
        """Note what was seen elsewhere."""
        for called, one in seen.items():
            self._settle(called, Seen(*one))

    def _settle(self, called: str, seen: Seen) -> None:
        """Note what something holds; another kind than before is refused."""
        before = self.setdefault(called, seen)
        if seen.kind != before.kind:
            raise FileDataError(
                f"{seen.place}: {called} holds {seen.kind} ({seen.type}), but it held {before.kind} "
                f"({before.type}) in {before.place}; convert it, so that it has one type everywhere."
            )

    def packed(self) -> bytes:
        """The same as bytes."""
        return json.dumps(self).encode()


def merge_kinds(parts: list[bytes]) -> bytes:
    """What the columns of several parts hold; a column of two kinds is refused."""
    together = SeenKinds()
    for part in parts:
        together.settle_again(json.loads(part))
    return together.packed()
