"""A value that repeats far beyond a density: a hurdle at 0, a sentinel such as −1 or 999, a limit at 100.

Rounding makes the values of a density repeat, too. But densities are log-concave, apart from heavy tails, and
so are the probabilities of their rounded values. This has two consequences. The share of a value among itself
and all beyond it grows from one value to the next, so it is at most the largest share of a value among those
beyond. And there is only one peak, so an end and a value farther in cannot both be more frequent than a value
between. A value that breaks one of these rules, far and not by chance, is no part of a density.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from suffice.arrays import Array, Counts

CHANCE = 0.01
"""The probability of a frequency that is far beyond by chance; within the rules it is much less likely."""
FAR = 2.0
"""How many times more frequent the value must be: heavy tails break the rules by less."""
NEIGHBOURS = 5
"""Values next to an end that must be rarer than it: numbers that people round often end in 0 or 5."""


def repeated_value(distinct: Array, counts: Counts | Array) -> float | None:
    """Find the value of a column that repeats far beyond a density.

    Parameters
    ----------
    distinct : ndarray of shape (n_values,)
        The values of the column, each once; no missing ones.
    counts : ndarray of shape (n_values,)
        The number of rows with each.

    Returns
    -------
    value : float or None
        The value; the most frequent if there are several, None if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.model.inference.repeated import repeated_value
    >>> amounts = np.maximum(np.random.default_rng(0).normal(size=1000), 0.0)
    >>> repeated_value(*np.unique(amounts, return_counts=True))
    0.0
    """
    order = np.argsort(distinct)
    rows = np.asarray(counts, dtype=np.float64)[order]
    if not len(rows):
        return None
    peak = int(np.argmax(rows))
    found = [peak] if _has_too_large_a_share(rows, peak) else []
    if _is_second_peak(rows):
        found.append(0)
    if _is_second_peak(rows[::-1]):
        found.append(len(rows) - 1)
    place = max(found, key=lambda one: rows[one], default=None)
    return None if place is None else float(np.asarray(distinct)[order[place]])


def _has_too_large_a_share(rows: Array, peak: int) -> bool:
    """Whether the peak breaks the rule of shares on each side that has several other values."""
    sides = [side for side in (rows[:peak], rows[peak + 1 :]) if len(side) > 1]
    return bool(sides) and all(
        _exceeds(rows[peak], float(side.max()), FAR * (rows[peak] + side.sum()) / side.sum())
        for side in sides
    )


def _is_second_peak(rows: Array) -> bool:
    """Whether the first value breaks the rule of one peak."""
    if len(rows) <= NEIGHBOURS:
        return False
    near, beyond = rows[1 : NEIGHBOURS + 1], rows[2:]
    return _exceeds(rows[0], float(near.max()), FAR) and _exceeds(float(beyond.max()), rows[1], 1.0)


def _exceeds(count: float, other: float, times: float) -> bool:
    """Whether a count is expected to be more than so many times another, by the exact test of two Poissons.

    Given their sum, the count is binomial with probability times/(1 + times) if it is exactly that.
    """
    return bool(special.betainc(count, other + 1.0, times / (1.0 + times)) < CHANCE)
