"""Rows dealt to folds, so that each fold has its share of every class.

Rows may be dealt by what is in them instead of where they are: then it does not matter in which order they
come, nor whether a row is there k times or has the weight k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.tables.row_keys import Keys, RowKeys, mixed

SEED = 0
"""Of the order in which rows are dealt: the same rows have the same folds."""
MOST_UNITS = 20_000
"""Units of weight that are dealt; of a larger weight, a unit is more than one row."""
CHANCE = 0.01
"""The probability that copies of one row are so many by chance."""
ROUNDING = 1e-9
"""The share of a unit that does not matter."""


def spread_rows(n_rows: int, most: int) -> Codes:
    """The positions of at most so many rows: one at random from each of as many parts of equal length.

    Every n-th row would show only a part of what repeats, such as classes that take turns.
    """
    if n_rows <= most:
        return np.arange(n_rows)
    ends = np.arange(1, most + 1) * n_rows // most
    return np.random.default_rng(SEED).integers(np.append(0, ends[:-1]), ends)


def splits_of(fold: Codes, n_folds: int) -> list[tuple[Codes, Codes]]:
    """The rows of all other folds, and the rows of each fold."""
    return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(n_folds)]


@dataclass(frozen=True)
class DealtRows:
    """Rows dealt to folds. A row may lie in several of them."""

    rows: Codes
    """The position of each row, or part of a row; in order."""
    weights: Array | None
    """The weight of each part; None if all rows count once, and none is in parts."""
    fold: Codes
    independent: float = 1.0
    """The part of the weight that counts where rows must be independent: copies of a row are not."""


def deal_by_content(codes: Codes, weights: Array | None, contents: RowKeys, n_folds: int) -> DealtRows:
    """Deal rows, or units of weight, in the order of their classes and keys.

    Equal rows are put together. Copies of one row stay so, as one unit: in several folds, they would be held
    out from themselves. Rows that are equal by chance are cut into units, of one row each. Each unit has a
    key, so that units lie on a line anywhere among those of their class, and the line is dealt in turn. To
    deal equal rows one after the other would give each fold its share of them: a fold would be known by heart
    from the others.
    """
    n, keys = len(codes), contents.keys
    order = np.lexsort((keys, codes))
    codes, keys = codes[order], keys[order]
    is_new = np.ones(n, dtype=np.bool_)
    is_new[1:] = (codes[1:] != codes[:-1]) | (keys[1:] != keys[:-1])
    if weights is None and is_new.all():
        return _in_turn(order, n_folds)
    of_group, weight = np.cumsum(is_new) - 1, np.ones(n) if weights is None else weights[order]
    size = np.asarray(np.bincount(of_group, weight), dtype=np.float64)
    if contents.are_copies:
        length = _units_of_copies(size, codes[is_new])
    else:
        length = size if weights is None else size / max(1.0, float(size.sum()) / MOST_UNITS)
    if weights is None and np.array_equal(length, size):
        return _in_turn(order[_on_the_line(codes, keys, np.flatnonzero(is_new))], n_folds)
    parts = np.empty((n, n_folds))
    shares = weight * np.divide(length, size, out=np.ones_like(size), where=size > 0)[of_group]
    parts[order] = _parts(shares, codes, keys, is_new, n_folds)
    rows, fold = np.nonzero(parts)
    independent = _independent(size, length) if contents.are_copies else 1.0
    if weights is None and len(rows) == n:
        return DealtRows(rows, None, fold, independent)
    of_part = parts[rows, fold]
    return DealtRows(rows, of_part if weights is None else weights[rows] * of_part, fold, independent)


def _in_turn(line: Codes, n_folds: int) -> DealtRows:
    """Whole rows in the order of a line."""
    place = np.empty(len(line), dtype=np.intp)
    place[line] = np.arange(len(line))
    return DealtRows(np.arange(len(line)), None, place % n_folds)


def _units_of_copies(size: Array, codes: Codes) -> Array:
    """The number of units of groups of equal rows in order of their classes: 1 if they are copies of a row.

    A group far heavier than others of its class is no row that was copied more often, but a value that
    repeats, such as the zeros among amounts. The weights of copies are taken to be at most as uneven as those
    of an exponential distribution, whose median is ln 2 times its mean.
    """
    starts = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
    n_groups = np.diff(starts, append=len(codes))
    median = size[np.lexsort((size, codes))][starts + (n_groups - 1) // 2]
    most = median * np.log(n_groups / CHANCE) / np.log(2.0)
    median, most = median.repeat(n_groups), most.repeat(n_groups)
    repeats = (size > most) & (median > 0)
    times = np.divide(size, median, out=np.ones_like(size), where=repeats)
    return np.asarray(np.minimum(np.rint(times), MOST_UNITS))


def _independent(size: Array, n_units: Array) -> float:
    """The part of the weight of copies that is independent: (Σw)²/Σw² of their units (Kish 1965)."""
    largest = float(size.max())
    relative = size / largest
    return min(1.0, float(relative.sum() / (relative @ (relative / n_units))) / largest)


def _on_the_line(codes: Codes, keys: Keys, starts: Codes) -> Codes:
    """The order in which units lie on the line; equal ones are side by side, and begin at `starts`."""
    if len(starts) == len(codes):
        return np.arange(len(codes))
    number = np.arange(len(codes)) - starts.repeat(np.diff(starts, append=len(codes)))
    apart = np.where(number > 0, mixed(keys + mixed(number.astype(np.uint64))), keys)
    return np.lexsort((apart, codes))


def _parts(units: Array, codes: Codes, keys: Keys, is_new: NDArray[np.bool_], period: int) -> Array:
    """The part of each row in each of so many places; equal rows are side by side, each with its units."""
    of_group, starts = np.cumsum(is_new) - 1, np.flatnonzero(is_new)
    ends = np.cumsum(units)
    before = np.concatenate([[0.0], ends])[starts]
    ends = _snapped(ends - before[of_group])  # within the group
    begins = np.where(is_new, 0.0, np.concatenate([[0.0], ends[:-1]]))
    size = ends[np.append(starts[1:], len(ends)) - 1]
    n_units = np.maximum(np.ceil(size), 1.0).astype(np.intp)
    first_unit = np.cumsum(n_units) - n_units
    line = _on_the_line(codes[starts].repeat(n_units), keys[starts].repeat(n_units), first_unit)
    group = np.arange(len(starts)).repeat(n_units)
    length = np.minimum(size[group] - (np.arange(len(group)) - first_unit[group]), 1.0)
    on_line = np.concatenate([[0.0], _snapped(np.cumsum(length[line]))])
    within = np.empty((len(group), period))
    within[line] = np.diff(_dealt_before(on_line, period), axis=0)
    # Units that each row has a share of.
    low = np.minimum(np.floor(begins), n_units[of_group] - 1.0)  # the last row of a group may weigh nothing
    n_shares = np.maximum(np.ceil(ends) - low, 1.0).astype(np.intp)
    row = np.arange(len(units)).repeat(n_shares)
    number = low[row] + np.arange(len(row)) - (np.cumsum(n_shares) - n_shares)[row]
    share = np.minimum(ends[row], number + 1.0) - np.maximum(begins[row], number)
    of_unit = first_unit[of_group[row]] + number.astype(np.intp)
    share /= np.maximum(length[of_unit], ROUNDING)
    parts = np.zeros((len(units), period))
    np.add.at(parts, row, share[:, np.newaxis] * within[of_unit])
    lost = np.flatnonzero(~parts.any(axis=1))  # beside so many others
    parts[lost, lost % period] = 1.0
    parts[parts < ROUNDING * parts.max(axis=1, keepdims=True)] = 0.0
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _snapped(ends: Array) -> Array:
    """Ends of units that are whole but for rounding, whole."""
    whole = np.rint(ends)
    return np.where(np.abs(ends - whole) < ROUNDING * np.maximum(ends, 1.0), whole, ends)


def _dealt_before(line: Array, period: int) -> Array:
    """How much of the line before some points is dealt to each of so many places in turn."""
    rounds = np.floor(line / period)
    left = line - rounds * period
    return np.asarray(rounds[:, np.newaxis] + np.clip(left[:, np.newaxis] - np.arange(period), 0.0, 1.0))
