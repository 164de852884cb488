"""Summarize: rows from anywhere → Statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from suffice.engines.labelled import How, OnError, labelled_arrays, labelled_rows
from suffice.engines.partial_sums import SumsOfRows, cells_so_far, labelled_table, under, without_held_out
from suffice.engines.sources import is_lazy, is_rows
from suffice.kernels.choose import one_choice
from suffice.model.columns.chosen_families import Families
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows
from suffice.tables.coded_labels import read_coded_labels
from suffice.tables.files.batches import Labelled, LabelledBatch
from suffice.tables.notations import Marks, checked_marks
from suffice.tables.table import read_table
from suffice.tables.targets import split_target


def summarize(
    X: Any,
    y: Any = None,
    *,
    target: str | int | None = None,
    families: Families = "infer",
    sample_weight: ArrayLike | str | None = None,
    drop: Iterable[str | int] = (),
    missing_marks: Iterable[str] | None = None,
    how: How | None = None,
    checkpoint: str | PathLike[str] | None = None,
    on_error: OnError = "raise",
) -> Statistics:
    """Add up the sufficient statistics of a table, class by class.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, or source of rows
        The rows; cells may be missing (NaN, None or null). Sources are paths, globs and lists of them, SQL,
        Polars LazyFrames, DuckDB relations, Ibis tables, Dask and Spark DataFrames, Arrow streams, and
        iterables of frames or of pairs (X, y). They are read in batches; the first 100,000 rows decide the
        families, unless `families` is a Schema.
    y : array-like of shape (n_samples,), optional
        The class of each row.
    target : str or int, optional
        The column of X that holds the classes, instead of `y`.
    families : "infer", Family, dict or Schema, default="infer"
        The family of each column, as in BayesClassifier. A Schema, such as `schema` of other statistics or
        `schema_` of a model, fixes what all columns are.
    sample_weight : array-like of shape (n_samples,) or str, optional
        Weights ≥ 0; a row of weight k counts as k rows. For sources, the name of a column.
    drop : list of str or int, optional
        Columns of sources to leave out.
    missing_marks : list of str, optional
        The texts that stand for a missing cell, as in BayesClassifier.
    how : {"pushdown", "batches"}, optional
        Who adds up: the engine that holds the rows, by GROUP BY, or this library, in batches where the rows
        are. By default the engine does where rows would have to leave it (Ibis, Spark), if it can for all
        columns.
    checkpoint : path, optional
        For files: where sums and position are written every few seconds. After an interruption, the same call
        goes on from there, and ends in the same sums; then the file is removed.
    on_error : {"raise", "skip"}, default="raise"
        For files: whether one that cannot be read is an error, or skipped with a warning. Rows that were read
        before the damage count.

    Returns
    -------
    statistics : Statistics

    Examples
    --------
    >>> import suffice
    >>> a = suffice.summarize([[1.0], [2.0], [9.0]], ["low", "low", "high"])
    >>> b = suffice.summarize([[3.0]], ["low"])
    >>> a + b - b == a
    True
    """
    marks = checked_marks(missing_marks)
    if is_lazy(X) and y is not None:
        return _summed(labelled_arrays(X, y, sample_weight), families, marks)
    if y is None and is_rows(X):
        labelled = labelled_rows(
            X, target, sample_weight, drop, how, checkpoint=checkpoint, on_error=on_error
        )
        return _summed(labelled, families, marks)
    if (y is None) == (target is None):
        raise ValueError("pass either y, or target= with the name of the column that holds the classes.")
    if drop or how is not None or checkpoint is not None or on_error != "raise":
        raise ValueError(
            "drop=, how=, checkpoint= and on_error= only work for rows that are not in memory; drop the "
            "columns of a DataFrame beforehand."
        )
    if target is not None:
        X, y = split_target(X, target)
    rows = LabelledRows(read_table(X), read_coded_labels(y), sample_weight)
    return rows.statistics(rows.schema(families, marks))


def _summed(labelled: Labelled, families: Families, marks: Marks) -> Statistics:
    """Add up the rows of a source: where they are, or batch by batch."""
    schemas: list[Schema] = []

    def begin(first: LabelledBatch) -> SumsOfRows:
        schemas.append(labelled_table(first).schema(families, marks))
        return SumsOfRows(without_held_out(schemas[0]), marks)

    def add(batches: Iterator[LabelledBatch]) -> Statistics:
        first = labelled_table(next(batches))
        accumulator = Accumulator.empty(first.schema(families, marks))
        first.add_to(accumulator)
        kept = labelled.checkpoint
        saved = None if kept is None else kept.sums(accumulator.schema)
        if saved is not None:
            accumulator = Accumulator.of(under(accumulator.schema, saved))
        for batch in batches:
            rows = labelled_table(batch)
            accumulator.decide(rows.decided(accumulator.schema, marks))
            with one_choice(cells_so_far(accumulator, batch)):
                rows.add_to(accumulator)
            if kept is not None:
                kept.note(accumulator.statistics)
        return accumulator.statistics()

    sums = labelled.summed(begin)
    return labelled.coded().through(add) if sums is None else under(schemas[0], sums)
