"""The first batches of rows that bring their labels along, as one: they decide what the columns are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from suffice.engines.kinds import kind_of, kind_of_array
from suffice.engines.packed_rows import joined_rows
from suffice.tables.files.batches import SCHEMA_BYTES, SCHEMA_ROWS, LabelledBatch
from suffice.tables.files.formats import FileDataError
from suffice.tables.row_source import placed, rename_row, row_in
from suffice.tables.targets import read_labels

Kinds = dict[str, str | None]
"""What each column and the labels of a batch are; None for a column without values."""
INDEX_BYTES = 8
"""What the place of a sparse cell takes, at most."""


class FirstJoined(Iterator[LabelledBatch]):
    """Batches, of which the first ones are joined as long as they are of one kind.

    A batch of another kind comes as it is, so that whoever cannot use it refuses it.

    Parameters
    ----------
    batches : iterator of pairs
        What messages call a batch, and the batch. None is empty.
    """

    def __init__(self, batches: Iterator[tuple[str, LabelledBatch]]) -> None:
        self._rest = batches
        self._joined: list[tuple[str, int]] | None = None
        self._other: tuple[str, LabelledBatch] | None = None
        self._place: str | None = None

    def __next__(self) -> LabelledBatch:
        """The first batches as one, and then one after the other."""
        if self._joined is None:
            first = self._first()
            return joined_rows(first) if len(first) > 1 else first[0]
        self._place, batch = next(self._rest) if self._other is None else self._other
        self._other = None
        return batch

    def _first(self) -> list[LabelledBatch]:
        """The batches that are joined, with their labels read."""
        some: list[LabelledBatch] = []
        self._joined, known = [], None
        n_rows = size = 0
        for place, batch in self._rest:
            self._place = place
            read = batch._replace(y=read_labels(batch.y))
            self._place = None
            known = _in_common(known, _kinds(read)) if some else _kinds(read)
            if some and known is None:
                self._other = place, batch
                break
            some.append(read)
            self._joined.append((place, n_rows))
            n_rows, size = n_rows + len(read.y), size + _bytes(read.X)
            if n_rows >= SCHEMA_ROWS or size >= SCHEMA_BYTES:
                break
        return some

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Let errors about the batch in hand say where it is; in the first ones, where a row is."""
        try:
            yield
        except FileDataError:  # it says where
            raise
        except (TypeError, ValueError) as error:
            if self._place is not None:
                raise placed(error, self._place) from error
            row = row_in(error)
            if row is not None and self._joined:
                place, start = [one for one in self._joined if one[1] <= row][-1]
                rename_row(error, row - start, f"{place}: ")
            raise


def _kinds(batch: LabelledBatch) -> Kinds | None:
    """What is in a batch; None if it cannot be joined to another."""
    import pyarrow as pa

    X, y, weights = batch
    n_rows = len(y)
    beside: Kinds = {"labels": _kind_of_array(y)}
    if (weights is not None and np.shape(weights) != (n_rows,)) or getattr(X, "shape", (0,))[0] != n_rows:
        return None
    if isinstance(X, pa.Table):
        return {**beside, **{f"column {one.name}": _kind_of_column(one.type) for one in X.schema}}
    if X.ndim == 2 and (sparse.issparse(X) or isinstance(X, np.ndarray)):
        return {**beside, "cells": f"{X.shape[1]} {_kind_of_array(X)} {sparse.issparse(X)}"}
    return None


def _kind_of_array(array: Any) -> str:
    return kind_of_array(array) or str(array.dtype.kind)


def _kind_of_column(of: Any) -> str | None:
    import pyarrow as pa

    kind, held = kind_of(of), of.value_type if pa.types.is_dictionary(of) else of
    are_plain = kind != "text" or pa.types.is_string(held) or pa.types.is_large_string(held)
    return kind if kind != "time" and are_plain else str(of)


def _in_common(some: Kinds | None, others: Kinds | None) -> Kinds | None:
    """What two batches are, joined; None if they cannot be."""
    if some is None or others is None or list(some) != list(others):
        return None
    if any(None not in (kind, others[name]) and kind != others[name] for name, kind in some.items()):
        return None
    return {name: others[name] if kind is None else kind for name, kind in some.items()}


def _bytes(X: Any) -> int:
    """About as many as rows take."""
    return int(X.nnz * (X.dtype.itemsize + INDEX_BYTES) if sparse.issparse(X) else getattr(X, "nbytes", 0))
