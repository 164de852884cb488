"""What is known of columns of numbers at a glance; those without gaps are looked at together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.derived import CellReader, Within
from suffice.factors.gaussian.totals import LARGEST

FAR = 8.0
"""Standard deviations at which numbers are cut off in the joint Gaussian, where one row could rule."""
CELLS_AT_ONCE = 1 << 20
"""Numbers that are looked at at once."""


class DescribedNumbers(NamedTuple):
    """What is known of a column of numbers at a glance."""

    within: Within | None
    """The numbers, cut off far away; None if they do not vary."""
    n_different: int
    """How many are different; missing ones are one more."""


def described_columns(
    reader: CellReader, columns: Sequence[int], gone: Mapping[int, NDArray[np.bool_]], weights: Array | None
) -> dict[int, DescribedNumbers]:
    """What is known of each column; `gone` says where those with gaps are missing."""
    whole = [j for j in columns if j not in gone]
    step = max(1, CELLS_AT_ONCE // max(reader.n_rows, 1))
    found: dict[int, DescribedNumbers] = {}
    for first in range(0, len(whole), step):
        some = whole[first : first + step]
        numbers = np.stack([reader.numbers(j) for j in some])
        found |= zip(some, _described(some, numbers, weights), strict=True)
    for j, missing in gone.items():
        of_there = None if weights is None else weights[~missing]
        (one,) = _described([j], reader.numbers(j)[np.newaxis, ~missing], of_there)
        found[j] = one._replace(n_different=one.n_different + 1)
    return found


def _described(columns: Sequence[int], numbers: Array, weights: Array | None) -> list[DescribedNumbers]:
    """What is known of columns of numbers without gaps, one in each row."""
    if not numbers.size:
        return [DescribedNumbers(None, 0) for _ in columns]
    ordered = np.sort(numbers, axis=1)
    n_different = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
    found = [DescribedNumbers(None, n) for n in n_different.tolist()]
    varying = np.flatnonzero(n_different > 1)
    if not len(varying):
        return found
    units = np.abs(ordered[varying][:, [0, -1]]).max(axis=1)  # squares and sums of large numbers overflow
    each = numbers[varying] / units[:, np.newaxis]
    means = np.average(each, axis=1, weights=weights)
    variances = np.average((each - means[:, np.newaxis]) ** 2, axis=1, weights=weights)
    facts = (one.tolist() for one in (varying, units, means, variances))
    for at, unit, mean, variance in zip(*facts, strict=True):
        far = FAR * variance**0.5
        low, high = max(unit * (mean - far), -LARGEST), min(unit * (mean + far), LARGEST)
        found[at] = found[at]._replace(within=Within(columns[at], low, high))
    return found
