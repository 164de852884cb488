"""Batches of rows with their labels and weights, from columns of files."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from suffice.engines.files.source import open_source
from suffice.families.elementary import Array

SCHEMA_ROWS = 100_000
"""The rows, counted from the first, that decide what the columns are."""
SCHEMA_BYTES = 1 << 26
"""Of a wide table as many as take this space in memory."""
T = TypeVar("T")


class UnknownColumnError(ValueError):
    """A column was named that is not there; says which there are, and the nearest."""


class LabelledBatch(NamedTuple):
    """Rows (a pyarrow Table), one label each, and weights, all positive."""

    X: Any
    y: Any
    weight: Array | None


def labelled(
    source: Any,
    work: Callable[[Iterator[LabelledBatch]], T],
    *,
    target: str,
    weight: str | None = None,
    drop: Iterable[str] = (),
) -> T:
    """Do something with the labelled batches of files; it starts anew where columns need wider types."""
    files = open_source(source)
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    names = files.names
    for name in (target, *(() if weight is None else (weight,)), *dropped):
        require_column(name, names)
    features = [name for name in names if name not in (target, weight, *dropped)]
    if not features:
        raise ValueError(f"there is no column left to learn from besides {target!r}.")
    read = files.only([name for name in names if name not in dropped], files.wanted)
    return read.through(lambda tables: work(_labelled(_gathered(tables), target, weight, features)))


def all_rows(batches: Iterable[LabelledBatch]) -> LabelledBatch:
    """All batches as one."""
    import pyarrow as pa

    tables, labels, weights = zip(*batches, strict=True)
    y = pa.chunked_array([chunk for one in labels for chunk in one.chunks])
    return LabelledBatch(pa.concat_tables(tables), y, None if weights[0] is None else np.concatenate(weights))


def require_column(name: str, names: Iterable[str]) -> None:
    """Refuse a name that no column has."""
    known = list(names)
    if name in known:
        return
    near = difflib.get_close_matches(name, known, n=1)
    shown = ", ".join(map(repr, known[:20])) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UnknownColumnError(f"there is no column {name!r}; {hint}The columns are {shown}.")


def _gathered(tables: Iterator[Any]) -> Iterator[Any]:
    """The rows that decide what the columns are as one table, then the others."""
    import pyarrow as pa

    first: list[Any] = []
    for table in tables:
        first.append(table)
        rows, size = (sum(getattr(one, name) for one in first) for name in ("num_rows", "nbytes"))
        if rows >= SCHEMA_ROWS or size >= SCHEMA_BYTES:
            break
    if first:
        yield pa.concat_tables(first)
    yield from tables


def _labelled(
    tables: Iterator[Any], target: str, weight: str | None, features: list[str]
) -> Iterator[LabelledBatch]:
    row = 0
    for table in tables:
        start, row = row, row + table.num_rows
        weights = None if weight is None else _weights(table.column(weight), weight, start)
        kept = table
        if weights is not None and not weights.all():
            kept, weights = table.filter(weights > 0), weights[weights > 0]
        labels = kept.column(target)
        if labels.null_count:
            # Of all rows, also those without weight: that is how people count.
            at = int(np.argmax(table.column(target).is_null().to_numpy(zero_copy_only=False)))
            raise ValueError(
                f"column {target!r} has no label at row {start + at}; give it one, or take the row out."
            )
        if kept.num_rows:
            yield LabelledBatch(kept.select(features), labels, weights)


def _weights(column: Any, name: str, start: int) -> Array:
    try:
        weights = np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"column {name!r} holds {column.type}s; weights must be numbers.") from None
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"column {name!r} is {weights[at]} at row {start + at}; weights must be finite and not negative."
        )
    return weights
