"""Some columns or rows of a table, in the container that the table came in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.tables.as_arrays import as_array
from suffice.tables.recognized import is_frame
from suffice.tables.records import are_records, read_records


def take_columns(X: Any, columns: Sequence[int]) -> Any:
    """Return some columns of X, by position, in the same container; a list of rows becomes an array."""
    taken = list(columns)
    if sparse.issparse(X):  # before records: a dictionary of keys is a dict
        return (X if X.format in ("csr", "csc") else X.tocsr())[:, taken]
    if are_records(X):
        return read_records(X).of_columns(taken).unpacked()
    if is_frame(X):
        import narwhals.stable.v2 as nw

        X = nw.to_native(X, pass_through=True)
        if hasattr(X, "iloc"):
            return X.iloc[:, taken]
        return X[:, taken] if hasattr(X, "to_series") else X.select(taken)
    return (X if hasattr(X, "shape") else as_array(X, "X"))[:, taken]


def rows_of_arrow(table: Any, rows: NDArray[Any]) -> Any:
    """Some rows of an Arrow table, by position; those in order are taken chunk by chunk, which joins none."""
    import pyarrow as pa

    batches = table.to_batches()
    in_order = len(rows) and rows[0] >= 0 and rows[-1] < table.num_rows and (np.diff(rows) >= 0).all()
    if len(batches) < 2 or not in_order:
        return table.take(rows)
    starts = np.cumsum([0, *map(len, batches)])
    edges = pairwise(np.searchsorted(rows, starts).tolist())
    some = [
        batch.take(rows[first:last] - start)
        for batch, start, (first, last) in zip(batches, starts[:-1], edges, strict=True)
        if first < last
    ]
    return pa.Table.from_batches(some, table.schema).combine_chunks()
