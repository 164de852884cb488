"""What a model learnt of each column: its family, what it adds to rows held out, and what its values say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.plots.column_shapes import contrast_of, shapes_of
from suffice.plots.grid import SECONDS_PER_DAY, Grid, Surroundings, marginalises, read_rows
from suffice.plots.observed import Observed, observe
from suffice.plots.palette import DISTINCT
from suffice.plots.panels import are_bars
from suffice.reports.words import fewer_digits, shown
from suffice.tables.table import Table

MOST_COLUMNS = 400
"""Columns that the page lists."""
MOST_PICTURES = 24
"""Columns that it draws: those that add most."""
POINTS, FEWER_POINTS = 100, 60
"""Points of a curve, for one line and for several."""


def gains(model: Any, X: Any, labels: NDArray[Any]) -> tuple[Array, Array] | None:
    """The nats per row that each column adds by itself, and is believed to add; None where it is unknown."""
    if not hasattr(model, "evidence") or not hasattr(model, "schema_"):
        return None
    try:
        evidence = model.evidence(X, labels)
    except (TypeError, ValueError):
        return None
    return evidence.gained, evidence.believed


def schema(model: Any, found: tuple[Array, Array] | None) -> dict[str, Any] | None:
    """The columns of a model with their families and reasons, those that add most first."""
    columns = getattr(model, "schema_", None)
    if columns is None:
        return None
    n = len(columns)
    order = range(n) if found is None else np.argsort(-found[0], kind="stable").tolist()
    lines = []
    for j in list(order)[:MOST_COLUMNS]:
        one = columns.columns[j]
        lines.append(
            {
                "name": shown(one.name),
                "family": "left out" if one.family is None else shown(one.family),
                "reason": shown(one.reason, 240),
                "nats": None if one.nats is None else fewer_digits(one.nats),
                "gained": None if found is None else fewer_digits(found[0][j]),
                "believed": None if found is None else fewer_digits(found[1][j]),
            }
        )
    return {"columns": lines, "more": max(n - MOST_COLUMNS, 0)}


def pictures(model: Any, X: Any, codes: Codes, gained: Array | None) -> dict[str, Any] | None:
    """What the values of the columns that add most say, with the rows beneath; None where none is drawn."""
    if not marginalises(model) or len(model.classes_) < 2:
        return None
    table, classes = read_rows(model, X), model.classes_.tolist()
    contrast, names = contrast_of(classes, None, None)
    common = np.sort(np.argsort(-np.bincount(codes, minlength=len(classes)), kind="stable")[:DISTINCT])
    lines = common if contrast.shape[1] > 1 else np.zeros(1, dtype=np.intp)
    drawn = [
        column
        for factor in model.schema_.factors
        if factor.reads != "documents" and factor.family.factor != "counts"
        for column in factor.columns.tolist()
    ]
    drawn = [column for column in drawn if _has_values(table, column)]
    if not drawn:
        return None
    drawn.sort(key=lambda column: column if gained is None else -gained[column])
    panels = _panels(model, table, drawn[:MOST_PICTURES], contrast[:, lines], codes)
    return {
        "lines": [shown(names[k]) for k in lines] if len(names) > 1 else [],
        "classes": common.tolist(),
        "panels": [_as_data(*panel, common) for panel in panels],
        "more": max(len(drawn) - MOST_PICTURES, 0),
    }


def _has_values(table: Table, column: int) -> bool:
    if table.kind(column) in ("level", "boolean"):
        return bool((table.levels(column).codes >= 0).any())
    return not np.isnan(table.numbers([column])).all()


def _panels(
    model: Any, table: Table, columns: Sequence[int], contrast: Array, codes: Codes
) -> list[tuple[Grid, Array, Observed]]:
    """The values of each column, what they say, and what the rows hold."""
    points, n_classes = POINTS if contrast.shape[1] == 1 else FEWER_POINTS, len(contrast)
    if hasattr(model, "_shapes"):
        shapes = shapes_of(model, table, columns, contrast, points, codes, n_classes)
        return [(one.grid, one.nats, one.observed) for one in shapes]
    weight = model.schema_.evidence_weight if getattr(model, "evidence_weight", None) is None else 1.0
    panels = []
    for column in columns:
        around = Surroundings.of(model, table, (column,))
        grid = around.grid(column, points, 0.0)
        with np.errstate(invalid="ignore"):  # nothing is drawn where a value rules out several classes
            nats = weight * around.log_densities({column: grid.values}) @ contrast
        one_by_one = are_bars(grid, max(contrast.shape[1], n_classes))
        panels.append((grid, nats, observe(grid, table, codes, n_classes, one_by_one=one_by_one)))
    return panels


def _as_data(grid: Grid, nats: Array, observed: Observed, common: Codes) -> dict[str, Any]:
    at = grid.positions * (SECONDS_PER_DAY if grid.kind == "moments" else 1.0)
    edges = observed.edges * (SECONDS_PER_DAY if grid.kind == "moments" else 1.0)
    bars = are_bars(grid, max(nats.shape[1], len(common)))
    return {
        "name": shown(grid.name),
        "kind": grid.kind,
        "bars": bars,
        "labels": [shown(value, 30) for value in grid.values.tolist()] if bars else None,
        "levels": grid.n_levels,
        "at": fewer_digits(at, 6),
        "nats": fewer_digits(nats.T),
        "edges": fewer_digits(edges, 6),
        "rows": fewer_digits(np.nan_to_num(observed.density[:, common]).T, 3),
    }
