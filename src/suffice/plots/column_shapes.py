"""What columns say by themselves, weighed, over their values: the data of ShapeDisplay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.plots.grid import Grid, Surroundings, repeated_values
from suffice.plots.observed import Observed, observe
from suffice.plots.panels import are_bars
from suffice.tables.table import Table
from suffice.tables.targets import class_index
from suffice.tables.wording import counted, listed


@dataclass(frozen=True)
class Shape:
    """What one column says.

    Attributes
    ----------
    grid : Grid
        The values of the column, as `grid.values`.
    nats : ndarray of shape (n_values, n_lines)
        What each value adds to the scores.
    repeated : tuple of float
        The values of a Hurdle that repeat.
    at_repeated : ndarray of shape (n_repeated, n_lines)
        What they add.
    missing : ndarray of shape (n_lines,) or None
        What a missing cell adds; None if it adds nothing.
    observed : Observed
        What the rows hold: of each class, if their labels are known, else of all together.
    """

    grid: Grid
    nats: Array
    repeated: tuple[float, ...]
    at_repeated: Array
    missing: Array | None
    observed: Observed


def contrast_of(classes: list[Any], label: Any, against: Any) -> tuple[Array, list[str]]:
    """The classes that each line compares, (classes, lines), and its name."""
    k = len(classes)
    if k < 2:
        raise ValueError("what columns say needs two classes, but this model has one.")
    one = None if label is None else class_index(label, classes)
    other = None if against is None else class_index(against, classes)
    if one is not None and one == other:
        raise ValueError(f"label and against must be different classes, but both are {classes[one]!r}.")
    if k == 2:
        one = (1 if other is None else 1 - other) if one is None else one
        other = 1 - one
    if one is None and other is not None:
        raise ValueError("against= needs a label to compare it with.")
    centred = np.eye(k) - 1.0 / k
    if one is None:
        return centred, [str(name) for name in classes]
    if other is None:
        return centred[:, [one]], [str(classes[one])]
    return (np.eye(k)[:, [one]] - np.eye(k)[:, [other]]), [f"{classes[one]} against {classes[other]}"]


def ranked_columns(estimator: Any) -> list[int]:
    """The columns that can be drawn, all but text and Multinomials, by the nats of their own pieces."""
    nats = np.zeros(len(estimator.schema_))
    weighed = estimator.weights_
    for piece, own in zip(weighed.pieces, np.nan_to_num(weighed.nats).tolist(), strict=True):
        if piece.group not in ("joint", "pairs") and len(piece.columns) == 1:
            nats[piece.columns[0]] += own
    columns = sorted(
        column
        for factor in estimator.schema_.factors
        if factor.reads != "documents" and factor.family.factor != "counts"
        for column in factor.columns.tolist()
    )
    return sorted(columns, key=lambda column: -abs(nats[column]))


def without_shape(estimator: Any) -> list[str]:
    """What no shape holds, with the nats that it adds: what several columns say together, and text."""
    weighed, schema = estimator.weights_, estimator.schema_
    joint = [tuple(factor.columns.tolist()) for factor in schema.factors if factor.family.joint]
    drawn, texts = set(ranked_columns(estimator)), _columns_of_text(estimator)
    kinds = []
    for piece in weighed.pieces:
        if texts.issuperset(piece.columns):
            kinds.append("text")
        elif piece.group == "pairs":
            kinds.append("pairs")
        else:
            is_joint = piece.group == "joint" or piece.columns in joint or drawn.isdisjoint(piece.columns)
            kinds.append("joint" if is_joint else "")
    together = ["joint densities"] if "joint" in kinds else []
    together += [counted(n, "pair of columns", "pairs of columns")] if (n := kinds.count("pairs")) else []
    names = listed([schema.names[j] for j in sorted(texts)], 3, brackets=False)
    text = [f"{counted(len(texts), 'column')} of text ({names})"] if texts else []
    said = []
    for words, own in ((together, ("joint", "pairs")), (text, ("text",))):
        nats = float(weighed.nats[np.isin(kinds, own)].sum())
        if words:
            said.append(" and ".join(words) + ("" if np.isnan(nats) else f", {nats:+.3f} nats"))
    return said


def _columns_of_text(estimator: Any) -> set[int]:
    factors = estimator.schema_.factors
    return {j for factor in factors if factor.reads == "documents" for j in factor.columns.tolist()}


def shapes_of(
    estimator: Any,
    table: Table,
    columns: Sequence[int],
    contrast: Array,
    resolution: int,
    codes: Codes,
    n_classes: int,
) -> list[Shape]:
    """What columns say: all of them at once, since a cell says the same whatever the others hold."""
    around = Surroundings(estimator, table, tuple(range(table.n_columns)), {}, None)
    grids = [around.grid(column, resolution, 0.0) for column in columns]
    repeated = [repeated_values(estimator, column) for column in columns]
    n_rows = 1 + max(
        len(grid.values) + len(values) for grid, values in zip(grids, repeated, strict=True)
    )  # the last is a missing cell everywhere
    cells = {}
    for grid, values in zip(grids, repeated, strict=True):
        own = np.full(n_rows, None if grid.kind == "levels" else np.nan, grid.values.dtype)
        own[: len(grid.values)] = grid.values
        own[len(grid.values) : len(grid.values) + len(values)] = values
        cells[grid.column] = own
    with np.errstate(invalid="ignore"):  # nothing is drawn where a value rules out several classes
        said = estimator._shapes(around.rows(cells)) @ contrast
    shapes = []
    for grid, values in zip(grids, repeated, strict=True):
        nats, missing = said[: len(grid.values), grid.column], said[-1, grid.column]
        at_repeated = said[len(grid.values) : len(grid.values) + len(values), grid.column]
        one_by_one = are_bars(grid, max(contrast.shape[1], n_classes))
        observed = observe(grid, table, codes, n_classes, one_by_one=one_by_one)
        known = missing if np.abs(missing).max() > 0.0 else None
        shapes.append(Shape(grid, nats, values, at_repeated, known, observed))
    return shapes
