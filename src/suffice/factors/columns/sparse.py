"""Sums and scores of sparse columns without making them dense.

Only u(x) that vanish at 0 can be summed over stored entries alone: x and x², about the origin 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.blocks import dense, place_of_entry, places, with_data
from suffice.factors.checks import OutsideSupportError
from suffice.factors.columns.parameters import ColumnParameters
from suffice.factors.scores import Scores


def largest_entries(block: Any) -> Array:
    """The largest |x| of each column."""
    sizes = with_data(block, np.nan_to_num(np.abs(block.data.astype(np.float64))))
    return dense(sizes.max(axis=0)).reshape(-1)


class ClassSums:
    """Sums over the stored entries of a sparse block, by class and column."""

    def __init__(self, block: Any, classes: Codes, weights: Array | None, n_classes: int) -> None:
        rows, self.columns = places(block)
        self._shape = n_classes, block.shape[1]
        self._cells = classes[rows] * block.shape[1] + self.columns
        self._weights = None if weights is None else weights[rows]

    def of(self, values: Array) -> Array:
        """Σ w·value, (classes, columns)."""
        weighted = values if self._weights is None else values * self._weights
        n_classes, n_columns = self._shape
        sums = np.bincount(self._cells, weighted, n_classes * n_columns)
        return sums.astype(np.float64, copy=False).reshape(self._shape)

    def n_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many entries are chosen, (classes, columns)."""
        n_classes, n_columns = self._shape
        return np.bincount(self._cells[chosen], minlength=n_classes * n_columns).reshape(self._shape)


def add_sparse_scores(
    solved: ColumnParameters, block: Any, labels: list[str], scores: Scores, *, base: bool
) -> None:
    """Add log p(x | C_k): the score of a row of zeros, and the difference that each stored entry makes.

    λ₂(x − c)² + λ₁(x − c) is expanded about 0 here, because the origin of a sparse column is 0.
    """
    family = solved.family
    entries = block.astype(np.float64, copy=False)
    outside = ~(family.support(entries.data) | np.isnan(entries.data))
    if outside.any():
        if family.unseen != "ignore":
            at = int(np.argmax(outside))
            row, column = place_of_entry(entries, at)
            cure = "sparse columns need unseen='ignore'"
            raise OutsideSupportError.of(labels[column], f"{entries.data[at]} (row {row})", family, cure)
        entries = with_data(entries, np.where(outside, np.nan, entries.data))
    missing = np.isnan(entries.data)
    x = with_data(entries, np.where(missing, 0.0, entries.data))
    scale = np.where(solved.active, np.ldexp(1.0, -solved.exponent), 0.0)
    centre = solved.origin * scale
    scaled = with_data(x, x.data * scale[places(x)[1]])
    linear = solved.natural[0]
    at_zero = solved.constant - linear * centre
    if "x2" in family.functions:
        quadratic = solved.natural[1]
        at_zero = at_zero + quadratic * centre**2
        linear = linear - 2.0 * quadratic * centre
        squares = with_data(scaled, scaled.data**2)
        scores.finite += dense(squares @ quadratic.T)
    scores.finite += dense(scaled @ linear.T) + at_zero.sum(axis=1)
    gaps = with_data(entries, missing.astype(np.float64)) if missing.any() else None
    if gaps is not None:
        scores.finite -= dense(gaps @ at_zero.T)
    if solved.point.any():
        _add_orders(solved, x, gaps, scores)
    if base and family.has_base_measure:
        log_base = with_data(x, family.log_base_measure(x.data)) @ solved.active.astype(np.float64)
        scores.finite += log_base[:, np.newaxis]


def _add_orders(solved: ColumnParameters, x: Any, gaps: Any, scores: Scores) -> None:
    """Orders and finite parts of the cells on and off point masses."""
    coordinates = x.tocoo()
    stored = coordinates.data != 0
    rows, columns, values = coordinates.row[stored], coordinates.col[stored], coordinates.data[stored]
    for k in range(scores.finite.shape[1]):
        point, location, vanishing = solved.point[k], solved.location[k], solved.vanishing[k]
        zero_order, zero_finite = solved.off_point(np.zeros_like(location), location, vanishing)
        zero_order, zero_finite = np.where(point, zero_order, 0.0), np.where(point, zero_finite, 0.0)
        order = np.full(x.shape[0], zero_order.sum())
        finite = np.full(x.shape[0], zero_finite.sum())
        if gaps is not None:
            order -= gaps @ zero_order
            finite -= gaps @ zero_finite
        matters = point[columns]
        here, r = columns[matters], rows[matters]
        entry_order, entry_finite = solved.off_point(values[matters], location[here], vanishing[here])
        order += np.bincount(r, entry_order - zero_order[here], minlength=x.shape[0])
        finite += np.bincount(r, entry_finite - zero_finite[here], minlength=x.shape[0])
        scores.add_order(slice(None), k, order)
        scores.finite[:, k] += finite
