"""Labelled rows as bytes, which workers send: an Arrow stream, of tables and of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.tables.files.batches import LabelledBatch, decoded
from suffice.tables.files.types import joined_tables
from suffice.tables.targets import joined_labels, read_labels
from suffice.tables.wording import kind_of_thing

Numbers = dict[str, NDArray[Any]]
"""Numbers beside the rows, by name."""


def joined_rows(batches: list[LabelledBatch]) -> LabelledBatch:
    """Batches, one below the other; rows without weights have the weight 1."""
    weights = None
    if any(rows.weight is not None for rows in batches):
        each = [np.ones(len(rows.y)) if rows.weight is None else rows.weight for rows in batches]
        weights = np.concatenate(each)
    return LabelledBatch(
        _joined([rows.X for rows in batches]),
        joined_labels([read_labels(rows.y) for rows in batches]),
        weights,
    )


def _joined(parts: list[Any]) -> Any:
    """Tables or arrays, one below the other; all must be of one kind."""
    import pyarrow as pa

    odd = next((one for one in parts if _form(one) != _form(parts[0])), None)
    if odd is not None:
        raise ValueError(
            f"the batches hold their rows in {kind_of_thing(parts[0])} and in {kind_of_thing(odd)}; pass all "
            "of them in one kind of table."
        )
    if isinstance(parts[0], pa.Table):
        are_alike = all(one.schema.equals(parts[0].schema) for one in parts)
        return joined_tables(parts if are_alike else list(map(decoded, parts)))
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def _form(X: Any) -> str:
    """How rows are held."""
    if sparse.issparse(X):
        return "sparse"
    return "dense" if isinstance(X, np.ndarray) else type(X).__name__


def pack_rows(batch: LabelledBatch, beside: Numbers) -> bytes:
    """A batch, and numbers of its rows, as bytes."""
    import pyarrow as pa
    from pyarrow import ipc

    X, note = _as_columns(batch.X)
    beside = beside if batch.weight is None else {**beside, "weight": batch.weight}
    # Two columns may have one name: they are found by their places.
    columns = [*X.columns, pa.array(read_labels(batch.y)), *map(pa.array, beside.values())]
    table = pa.table(columns, names=[*X.column_names, "label", *beside])
    sink = pa.BufferOutputStream()
    table = table.replace_schema_metadata({**note, "beside": str(len(beside))})
    with ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unpack_rows(packed: bytes) -> tuple[LabelledBatch, Numbers]:
    """A batch, and the numbers beside its rows."""
    from pyarrow import ipc

    with ipc.open_stream(packed) as reader:
        table = reader.read_all()
    note = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    table = table.replace_schema_metadata(None)
    at = table.num_columns - int(note["beside"])
    names = table.column_names[at:]
    beside = {name: column.to_numpy() for name, column in zip(names, table.columns[at:], strict=True)}
    X = _from_columns(table.select(range(at - 1)), note)
    weight = beside.pop("weight", None)
    return LabelledBatch(X, read_labels(table.column(at - 1)), weight), beside


def _as_columns(X: Any) -> tuple[Any, dict[str, str]]:
    """Rows as an Arrow table, and what they were."""
    import pyarrow as pa

    if isinstance(X, pa.Table):
        return X, {"held": "table"}
    if sparse.issparse(X):
        rows = X.tocsr()
        offsets = pa.array(rows.indptr, pa.int64())
        lists = [pa.LargeListArray.from_arrays(offsets, pa.array(one)) for one in (rows.indices, rows.data)]
        return pa.table(lists, names=["columns", "cells"]), {"held": "sparse", "width": str(X.shape[1])}
    array = np.asarray(X)
    if array.dtype.kind in "fiub":
        cells = pa.array(np.ascontiguousarray(array).reshape(-1))
        lists = [pa.FixedSizeListArray.from_arrays(cells, array.shape[1])]
        return pa.table(lists, names=["cells"]), {"held": "numbers", "width": str(array.shape[1])}
    cells = [pa.array(column.tolist(), from_pandas=True) for column in array.T]
    return pa.table(cells, names=list(map(str, range(len(cells))))), {"held": "objects"}


def _from_columns(table: Any, note: dict[str, str]) -> Any:
    """Rows as they were."""
    match note["held"]:
        case "table":
            return table
        case "sparse":
            columns, cells = (one.combine_chunks() for one in table.columns)
            numbers = (cells.values.to_numpy(), columns.values.to_numpy(), cells.offsets.to_numpy())
            return sparse.csr_array(numbers, shape=(len(cells), int(note["width"])))
        case "numbers":
            cells = table.column(0).combine_chunks().flatten()
            return cells.to_numpy(zero_copy_only=False).reshape(-1, int(note["width"]))
        case _:
            found = np.empty((table.num_rows, table.num_columns), dtype=object)
            for at, column in enumerate(table.columns):
                found[:, at] = column.to_pylist()
            return found
