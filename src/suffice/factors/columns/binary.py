"""Columns of outcomes, 0 or 1, read in their own type: integers and booleans are not converted to floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.blocks import as_numbers
from suffice.kernels import threads
from suffice.kernels.choose import discrete_for, row_parts


def outcome_sums(
    block: NDArray[Any], classes: Codes, n_classes: int, weights: Array | None
) -> tuple[Array, Array | None, Counts | None] | None:
    """Σ w·x per class and column; if cells are missing, also Σ w and the number of those observed.

    None if a cell is neither 0 nor 1.
    """
    sums = _summed(block, classes, n_classes, weights, gaps=False)
    if sums is None:
        return None
    return (
        (sums[0], None, None)
        if not np.isnan(sums[0]).any()
        else _summed(block, classes, n_classes, weights, gaps=True)
    )


def _summed(
    block: NDArray[Any], classes: Codes, n_classes: int, weights: Array | None, *, gaps: bool
) -> tuple[Array, Array, Counts] | None:
    kernels = discrete_for(block.size)
    by_row = np.empty(0) if weights is None else weights
    shape = (n_classes, block.shape[1])
    # Many classes would make the sums of every part large.
    everyone = [slice(0, len(block))]
    parts = (row_parts(*block.shape) or everyone) if n_classes * 64 <= len(block) else everyone

    def part_sums(rows: slice) -> tuple[Array, Array, Counts] | None:
        sums = (
            np.zeros(shape),
            np.zeros(shape if gaps else (0, 0)),
            np.zeros(shape if gaps else (0, 0), np.int64),
        )
        cells = (_cells(block, rows), read_only(classes[rows]), read_only(by_row[rows]))
        return sums if kernels.add_outcomes(*cells, *sums) else None

    found = threads.run(part_sums, parts)
    sums = [part for part in found if part is not None]
    if len(sums) < len(found):
        return None
    total, weight, support = zip(*sums, strict=True)
    return sum(total[1:], total[0]), sum(weight[1:], weight[0]), sum(support[1:], support[0])


def add_outcome_scores(block: NDArray[Any], natural: Array, constant: Array, out: Array) -> int:
    """Add Σ λx + constant over the observed columns.

    Returns the number of rows scored: all, or some of those before the first cell that is neither 0 nor 1.
    """
    cells = _cells(block, slice(None))
    return int(discrete_for(block.size * out.shape[1]).add_outcome_scores(cells, natural, constant, out))


def _cells(block: NDArray[Any], rows: slice) -> NDArray[Any]:
    return read_only(np.ascontiguousarray(as_numbers(block)[rows]))
