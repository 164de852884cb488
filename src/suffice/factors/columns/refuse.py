"""Numbers that cannot be summed: outside the support of the family, or too large for floating point."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from suffice.arrays import Array
from suffice.factors.base import Block
from suffice.factors.checks import OutsideSupportError, are_inside, first_offence, refuse_infinities
from suffice.factors.columns.functions import MOST, bounded
from suffice.factors.columns.sparse import largest_entries
from suffice.factors.origins import SQUARABLE
from suffice.families import Family
from suffice.kernels.cells import place_of_entry
from suffice.kernels.choose import has_squares

LARGEST = 2.0**960
WIDEST = 2.0**-480


def refuse_cells(family: Family, origin: Array, block: Block, labels: list[str]) -> None:
    """Raise for numbers that cannot be summed about these origins, (classes, columns), NaN for none yet."""
    if sparse.issparse(block):
        _refuse_entries(family, block, labels)
        return
    refuse_infinities(block, labels)
    if not family.takes_every_number:
        bad = ~(family.support(block) | np.isnan(block))
        if bad.any():
            row, column = first_offence(bad)
            value = f"{block[row, column]} (row {row})"
            raise OutsideSupportError.of(labels[column], value, family)
    _refuse_overflow(family, origin, block, labels)
    for function in family.functions:
        if not isinstance(function, str):
            values = np.asarray(block, dtype=np.float64)
            u = bounded(function, function.about(values, None), values)
            large = (np.abs(u) >= MOST).any(axis=0)
            if large.any():
                raise ValueError(beyond_floats(family, labels[int(np.argmax(large))]))


def _refuse_overflow(family: Family, origin: Array, block: Array, labels: list[str]) -> None:
    """Raise where the sums would overflow."""
    if not {"x", "x2"} & set(family.functions) or not block.size:
        return
    if family.scaled:
        if has_squares(block):
            return
        highest = np.fmax(np.fmax.reduce(block, axis=0), np.fmax.reduce(origin, axis=0, initial=0.0))
        lowest = np.fmin(np.fmin.reduce(block, axis=0), np.fmin.reduce(origin, axis=0, initial=0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            large = np.isinf(highest - lowest)
    else:
        size = np.abs(block).astype(np.float64)
        highest = np.fmax.reduce(size, axis=0)
        large = highest > largest_value(family)
        if family.centred:
            highest = np.fmax(highest, np.fmax.reduce(origin, axis=0, initial=np.nan))
            lowest = np.fmin(np.fmin.reduce(size, axis=0), np.fmin.reduce(origin, axis=0, initial=np.nan))
            large |= (lowest < 1.0 / LARGEST) | (lowest < highest * WIDEST)
    if large.any():
        raise ValueError(beyond_floats(family, labels[int(np.argmax(large))]))


def beyond_floats(family: Family, label: str) -> str:
    """Word the refusal of a column whose sums or parameters overflow."""
    return (
        f"{label}: the values are too large, too small or too far apart for {family.name} in floating point; "
        "change the unit of the column, or choose LogNormal() or Histogram()."
    )


def _refuse_entries(family: Family, block: Block, labels: list[str]) -> None:
    """Raise for stored entries outside the support, and for families that cannot skip zeros."""
    if not set(family.functions) <= {"x", "x2"} or not family.support(np.zeros(1)).all():
        raise ValueError(
            f"{labels[0]} is sparse, but {family.name} (for {family.support_name}) cannot sum the zeros that "
            "are not stored; pass a dense array."
        )
    if not are_inside(family, block.data):
        bad = ~(family.support(block.data) | np.isnan(block.data))
        if bad.any():
            entry = int(np.argmax(bad))
            row, column = place_of_entry(block, entry)
            raise OutsideSupportError.of(labels[column], f"{block.data[entry]} (row {row})", family)
    lowest, highest = (reach(block.data, initial=0) for reach in (np.fmin.reduce, np.fmax.reduce))
    if not family.scaled and max(highest, -float(lowest)) > largest_value(family):
        large = largest_entries(block) > largest_value(family)
        raise ValueError(beyond_floats(family, labels[int(np.argmax(large))]))


def largest_value(family: Family) -> float:
    """The largest |x| whose sums do not overflow, where they have no unit."""
    return SQUARABLE if "x2" in family.functions else LARGEST
