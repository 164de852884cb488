"""A frame of any library as an Arrow table; what Arrow cannot hold is refused by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from suffice.tables.as_arrays import complex_refusal
from suffice.tables.columns import is_missing, kind_of_type
from suffice.tables.files.formats import FileDataError
from suffice.tables.records import require_cells
from suffice.tables.wording import listed, quoted

WORDS = {"boolean": "a boolean", "number": "a number", "moment": "a time", "clock": "a time"}
"""What messages call a cell, by its kind."""


def as_table(frame: Any) -> Any:
    """A frame of any library as a pyarrow Table."""
    import pyarrow as pa

    if isinstance(frame, (pa.Table, pa.RecordBatch)):
        _require_distinct(frame.schema.names)
        return frame if isinstance(frame, pa.Table) else pa.Table.from_batches([frame])
    if isinstance(frame, Mapping):
        names = list(map(str, frame))
        _require_distinct(names)
        for name, column in frame.items():
            require_cells(column, name)
        cells = zip(frame.values(), names, strict=True)
        return pa.table([_array(column, f"column {quoted(name)}") for column, name in cells], names)
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        held = nw.from_native(frame, eager_only=True)
        return _of_pandas(held.to_native()) if held.implementation.is_pandas() else held.to_arrow()
    except DuplicateError:
        _require_distinct(frame.columns)
        raise
    except TypeError as error:
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        raise TypeError(
            f"each batch must be a DataFrame, an Arrow table or a tuple (X, y), got {type(frame).__name__}."
        ) from error


def table_at(place: str, frame: Any) -> Any:
    """The same; what is refused is refused with the place of the frame."""
    try:
        return as_table(frame)
    except ValueError as error:
        raise FileDataError(f"{place}: {error}") from error


def _require_distinct(names: Iterable[Hashable]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"the column names {listed(repeated)} occur more than once; rename the columns.")


def _of_pandas(frame: Any) -> Any:
    import pyarrow as pa

    names = list(map(str, frame.columns))
    _require_distinct(names)
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, OverflowError, TypeError):  # some column is not an Arrow column as it is
        columns = [_array(frame.iloc[:, at], f"column {quoted(name)}") for at, name in enumerate(names)]
        return pa.table(columns, names)


def _array(column: Any, label: str) -> Any:
    """A column of cells, with what Arrow does not take by itself: sparse cells and integers of any size."""
    import pyarrow as pa

    if getattr(getattr(column, "dtype", None), "kind", "O") == "c":
        raise ValueError(complex_refusal(label))
    column = column.sparse.to_dense() if hasattr(column, "sparse") else column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        cells = [None if _is_gap(cell) else cell for cell in column]
    there = [row for row, cell in enumerate(cells) if cell is not None]
    words = {type(cells[row]): _word(cells[row]) for row in there}
    first = cells[there[0]]
    odd = next((row for row in there if words[type(cells[row])] != words[type(first)]), None)
    if odd is not None:
        raise ValueError(
            f"{label} holds {words[type(first)]} ({quoted(first)}) and then "
            f"{words[type(cells[odd])]} ({quoted(cells[odd])}) at row {odd}; convert it to one type."
        )
    if words[type(first)] != WORDS["number"]:
        raise ValueError(
            f"{label} holds {words[type(first)]} at row {there[0]}, which is not a number, a text or a time; "
            "convert it."
        )
    try:
        return pa.array(cells, pa.decimal128(38, 0))
    except (pa.ArrowException, OverflowError):  # not whole, or more digits
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())


def _is_gap(cell: Any) -> bool:
    """Whether a cell is missing; one that holds several values is not, and may not equal itself."""
    return not hasattr(cell, "__len__") and is_missing(cell)


def _word(cell: Any) -> str:
    """What messages call a cell."""
    kind = kind_of_type(type(cell))
    return "a text" if isinstance(cell, (str, bytes)) else WORDS.get(str(kind), f"a {type(cell).__name__}")
