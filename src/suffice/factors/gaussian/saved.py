"""What a file holds of a joint Gaussian block: its sums, and where EM ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.arrays import Array, Exponents
from suffice.factors.gaussian.sums import Key, Sums
from suffice.families import MultivariateNormal
from suffice.families.elementary import SMALLEST_UNIT
from suffice.storage import Fields, Scalars

DEGREES = {"weight": 0, "support": 0, "total": 1, "scatter": 2, "peak": 1}
"""How many axes of columns each sum of a pattern has; by pairs of columns, the first three have two."""
MOMENTS = {"third": 2, "fourth": 2}
PAIRWISE = {"weight": 2, "support": 2, "total": 2}
LARGEST_EXPONENT = 1002
"""Distances between numbers whose squares are finite have no larger exponent."""
LARGEST = 2.0**500
"""The most that a sum in units of its columns may be: its square is a number too."""
DIFFERENCES, TINY = 1e6, 1e-100
"""How far sums that are differences of many may be beyond their squares, and squares that are not exact."""


def degrees_of(family: MultivariateNormal) -> dict[str, int]:
    """The axes of each sum that the family keeps."""
    pairwise = PAIRWISE if family.missing == "pairwise" else {}
    return DEGREES | pairwise | (MOMENTS if family.shrinkage == "ledoit_wolf" else {})


def fields_of_sums(
    family: MultivariateNormal, cells: dict[Key, Sums], origin: Array, exponent: Exponents
) -> dict[str, Any]:
    """The sums of all cells, one after the other."""
    patterns = b"".join(pattern for _, pattern in cells)
    fields = {
        "origin": origin,
        "exponent": exponent,
        "classes": np.array([k for k, _ in cells], dtype=np.int64),
        "patterns": np.frombuffer(patterns, np.bool).reshape(len(cells), len(exponent)),
    }
    for name in degrees_of(family):
        empty = np.empty(0, np.int64 if name == "support" else np.float64)
        parts = [getattr(cell, name).ravel() for cell in cells.values()]
        fields[name] = np.concatenate([empty, *parts])
    return fields


def sums_from_fields(
    family: MultivariateNormal, n_columns: int, n_classes: int, fields: Fields
) -> tuple[dict[Key, Sums], Array, Exponents]:
    """The sums of all cells, their origins and their units."""
    origin = fields.array("origin", np.float64, (n_classes, n_columns), finite=False)
    exponent = fields.array("exponent", np.int32, (n_columns,))
    if np.isinf(origin).any() or ((exponent < SMALLEST_UNIT) | (exponent > LARGEST_EXPONENT)).any():
        raise fields.error("origin", "or its exponent is out of range.")
    classes = fields.array("classes", np.int64, (None,))
    patterns = fields.array("patterns", np.bool, (len(classes), n_columns))
    if ((classes < 0) | (classes >= n_classes)).any():
        raise fields.error("classes", "names classes that do not exist.")
    if not patterns.any(axis=1).all():
        raise fields.error("patterns", "has a pattern without columns.")
    keys: list[Key] = [(k, pattern.tobytes()) for k, pattern in zip(classes.tolist(), patterns, strict=True)]
    fields.distinct("patterns", keys)
    sizes = patterns.sum(axis=1).tolist()
    flat = {}
    for name, degree in degrees_of(family).items():
        dtype = np.int64 if name == "support" else np.float64
        flat[name] = fields.array(name, dtype, (sum(p**degree for p in sizes),))
    if (flat["peak"] < 0).any():
        raise fields.error("peak", "holds negative numbers.")
    places = dict.fromkeys(flat, 0)
    cells = {}
    for key, p in zip(keys, sizes, strict=True):
        sums = {}
        for name, degree in degrees_of(family).items():
            start = places[name]
            places[name] = start + p**degree
            sums[name] = flat[name][start : places[name]].reshape((p,) * degree).copy()
        cells[key] = Sums(**sums)
        # By pairs of columns, one that was never observed has sums too: zeros.
        diagonals = [np.diag(a) if a.ndim == 2 else a for a in (cells[key].weight, cells[key].scatter)]
        held = np.any(np.broadcast_arrays(*diagonals), axis=0)
        if np.isnan(origin[key[0], np.frombuffer(key[1], np.bool)][held]).any():
            raise fields.error("origin", "is missing for a column that has sums.")
        if not are_products(cells[key].scatter, cells[key].peak, DIFFERENCES):
            raise fields.error("scatter", "is far beyond the sums of squares that there ever were.")
    return cells, origin, exponent


@dataclass(frozen=True)
class SavedSearch:
    """Where EM ended: means (k, d) of the classes, scatter matrices (g, d, d) of the groups that share Σ."""

    mean: Array
    scatter: Array
    singular: frozenset[int]
    """Groups whose covariance was losing rank."""
    notes: tuple[str, ...]

    def state(self) -> dict[str, Any]:
        """The fields that a file holds."""
        singular = np.array(sorted(self.singular), dtype=np.int64)
        notes = Scalars(list(self.notes))
        return {"mean": self.mean, "scatter": self.scatter, "singular": singular, "notes": notes}

    @classmethod
    def from_fields(cls, fields: Fields, n_classes: int, n_groups: int, d: int) -> SavedSearch:
        """Read and check the fields of a file."""
        singular = frozenset(fields.array("singular", np.int64, (None,)).tolist())
        if not singular <= set(range(n_groups)):
            raise fields.error("singular", "names groups that do not exist.")
        mean = fields.array("mean", np.float64, (n_classes, d))
        scatter = fields.array("scatter", np.float64, (n_groups, d, d))
        possible = all(are_products(one, np.diag(one)) for one in scatter)
        if not possible or np.abs(mean).max(initial=0.0) > LARGEST:
            raise fields.error("scatter", "or its mean is not that of any rows.")
        return cls(mean, scatter, singular, tuple(map(str, fields.scalars("notes"))))


def are_products(scatter: Array, squares: Array, slack: float = 1.0 + 1e-6) -> bool:
    """Whether no sum of products is beyond those of squares: |Σ xy|² ≤ Σ x² · Σ y², and none is huge."""
    if (squares < 0.0).any() or squares.max(initial=0.0) > LARGEST:
        return False
    roots = np.sqrt(squares)
    return bool((np.abs(scatter) <= slack * np.outer(roots, roots) + TINY).all())
