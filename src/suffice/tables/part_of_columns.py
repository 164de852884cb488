"""Some columns of a table, in the container that the table came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
