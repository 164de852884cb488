"""Sums and scores of sparse columns without making them dense.

Only u(x) that vanish at 0 can be summed over stored entries alone: x and x², about the origin 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, read_only
from suffice.factors.blocks import add_products, dense, places, with_data
from suffice.factors.checks import OutsideSupportError, are_inside
from suffice.factors.columns.parameters import ColumnParameters
from suffice.factors.scores import Scores
from suffice.families import Family
from suffice.kernels.cells import place_of_entry
from suffice.kernels.choose import discrete_for


def largest_entries(block: Any) -> Array:
    """The largest |x| of each column."""
    sizes = with_data(block, np.nan_to_num(np.abs(block.data.astype(np.float64))))
    return dense(sizes.max(axis=0)).reshape(-1)


class ClassSums:
    """Sums over the stored entries of sparse rows, by class and column."""

    def __init__(self, block: Any, classes: Codes, weights: Array | None, n_classes: int) -> None:
        self._shape = n_classes, block.shape[1]
        self._places = block.indptr, block.indices
        self._classes = classes
        self._weights = np.empty(0) if weights is None else weights

    def of(self, values: Array) -> Array:
        """Σ w·value, (classes, columns)."""
        return self._sums(values, self._weights)

    def n_of(self, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many entries are chosen, (classes, columns)."""
        return self._sums(chosen.astype(np.float64), np.empty(0)).astype(np.int64)

    def _sums(self, values: Array, weights: Array) -> Array:
        sums = np.zeros(self._shape)
        arrays = (read_only(array) for array in (*self._places, values, self._classes, weights))
        discrete_for(len(values)).sum_entries(*arrays, sums)
        return sums


def add_sparse_scores(
    solved: ColumnParameters, block: Any, labels: list[str], scores: Scores, *, base: bool
) -> None:
    """Add log p(x | C_k): the score of a row of zeros, and the difference that each stored entry makes.

    λ₂(x − c)² + λ₁(x − c) is expanded about 0 here, because the origin of a sparse column is 0.
    """
    family = solved.family
    x, gaps = with_gaps_apart(family, block.astype(np.float64, copy=False), labels)
    scale = np.where(solved.active, np.ldexp(1.0, -solved.exponent), 0.0)
    centre = solved.origin * scale
    linear = solved.natural[0]
    at_zero = solved.constant - linear * centre
    if family.scaled:
        scaled = with_data(x, x.data * scale[places(x)[1]])
    else:
        scaled, linear = x, linear * scale
    if "x2" in family.functions:
        quadratic = solved.natural[1]
        at_zero = at_zero + quadratic * centre**2
        linear = linear - 2.0 * quadratic * centre
        add_products(with_data(scaled, scaled.data**2), quadratic.T, scores)
    add_products(scaled, linear.T, scores)
    scores.finite += at_zero.sum(axis=1)
    if gaps is not None:
        scores.finite -= dense(gaps @ at_zero.T)
    if solved.point.any():
        _add_orders(solved, x, gaps, scores)
    if base and family.has_base_measure:
        log_base = with_data(x, family.log_base_measure(x.data)) @ solved.active.astype(np.float64)
        scores.finite += log_base[:, np.newaxis]


def with_gaps_apart(family: Family, entries: Any, labels: list[str]) -> tuple[Any, Any]:
    """The entries with zeros in the place of gaps, and 1 at each gap; None if there is none."""
    if are_inside(family, entries.data):
        return entries, None
    inside = family.support(entries.data)
    missing = np.isnan(entries.data)
    outside = ~(inside | missing)
    if outside.any() and family.unseen != "ignore":
        at = int(np.argmax(outside))
        row, column = place_of_entry(entries, at)
        cure = "sparse columns need unseen='ignore'"
        raise OutsideSupportError.of(labels[column], f"{entries.data[at]} (row {row})", family, cure)
    gaps = missing | outside
    return with_data(entries, np.where(gaps, 0.0, entries.data)), with_data(entries, gaps.astype(np.float64))


def _add_orders(solved: ColumnParameters, x: Any, gaps: Any, scores: Scores) -> None:
    """Orders and finite parts of the cells on and off point masses."""
    coordinates = x.tocoo()
    stored = coordinates.data != 0
    rows, columns, values = coordinates.row[stored], coordinates.col[stored], coordinates.data[stored]
    for k in range(scores.finite.shape[1]):
        point = solved.point[k]
        zero_order, zero_finite = solved.off_point(np.zeros(len(point)), k, slice(None))
        zero_order, zero_finite = np.where(point, zero_order, 0.0), np.where(point, zero_finite, 0.0)
        order = np.full(x.shape[0], zero_order.sum())
        finite = np.full(x.shape[0], zero_finite.sum())
        if gaps is not None:
            order -= gaps @ zero_order
            finite -= gaps @ zero_finite
        matters = point[columns]
        here, r = columns[matters], rows[matters]
        entry_order, entry_finite = solved.off_point(values[matters], k, here)
        order += np.bincount(r, entry_order - zero_order[here], minlength=x.shape[0])
        finite += np.bincount(r, entry_finite - zero_finite[here], minlength=x.shape[0])
        scores.add_order(slice(None), k, order)
        scores.finite[:, k] += finite
