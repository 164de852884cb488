"""The least value of a smooth convex function, by Newton's method with Hessians kept for many steps.

Steps are those of L-BFGS, whose first guess is the inverse of a Hessian: that of this function some steps
before, or of a function like it. So slopes do most of the work, and a Hessian is computed anew only where the
last one misleads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from suffice.arrays import Array

At = Callable[[Array], tuple[Array | float, Array]]
"""The value and the slope at a point, or those of several functions at a point of each."""
Solve = Callable[[Array], Array]
"""The product of an inverse Hessian with a slope, or with several."""
STEPS = 200
REMEMBERED = 30
"""Steps whose change of slope corrects the Hessian."""
SLOW = 0.1
"""The share of the gain that is left after a step, from which the Hessian misleads."""
SHORTEST = 1e-6
ROUNDING = 1e-13


def minimise(
    at: At,
    start: Array,
    negligible: Array | float,
    solve: Solve | None,
    hessian: Callable[[], Solve] | None,
    *,
    rough: bool = False,
) -> Array:
    """The point of least value, up to steps that promise a gain below `negligible`.

    `solve` is what is known of the Hessian, if anything; `hessian` gives the one at the last point that was
    looked at, if it can be had. What is known may be `rough`: then it is linear and the same at all points,
    and the last step says how large the Hessian is. Functions that are alike are searched at once, from
    points (functions, parameters).
    """
    point = start.copy()
    value, slope = at(point)
    is_fresh = solve is None
    if solve is None:
        solve = _known(hessian)
    straight = solve(slope) if rough else None
    changes: list[_Change] = []
    before = np.full(point.shape[:-1], np.inf)
    is_found = np.zeros(point.shape[:-1], dtype=np.bool_)
    for _ in range(STEPS):
        step = _step(slope, changes, solve) if straight is None else _rough_step(slope, changes, straight)
        step[is_found] = 0.0
        promised = 0.5 * np.vecdot(slope, step)
        is_last = promised <= negligible
        if is_last.any():
            point[is_last] -= step[is_last]
            step[is_last] = 0.0
            is_found = is_found | is_last
            if is_found.all():
                return point
        if hessian is not None and not is_fresh and ((promised > SLOW * before) & ~is_found).any():
            solve, changes, is_fresh, before = hessian(), [], True, np.full_like(before, np.inf)
            continue
        share, least = np.where(is_found, 0.0, 1.0), value + ROUNDING * np.abs(value)
        lower, next_slope = at(point - step)
        while (is_long := ~(lower <= least - 2e-4 * share * promised) & (share > SHORTEST)).any():
            share = np.where(is_long, 0.5 * share, share)
            lower, next_slope = at(point - share[..., np.newaxis] * step)
        is_found = is_found | (share <= SHORTEST)  # rounding hides what is left
        moved = -np.where(is_found, 0.0, share)[..., np.newaxis] * step
        change = _Change.of(moved, next_slope - slope)
        if straight is not None:
            next_straight = solve(next_slope)
            change = change._replace(straight=next_straight - straight)
            straight = next_straight
        changes = [*changes[1 - REMEMBERED :], change]
        point, value, slope = point + moved, lower, next_slope
        is_fresh, before = False, promised
    return point


class _Change(NamedTuple):
    """A step, and how the slope turned on the way; 0 if it turned the wrong way."""

    moved: Array
    turned: Array
    curvature: Array
    """Their product."""
    straight: Array
    """What is known of the inverse Hessian times the turn, in a rough search."""

    @classmethod
    def of(cls, moved: Array, turned: Array) -> _Change:
        curvature = np.vecdot(moved, turned)
        return cls(moved, turned, np.where(curvature > 0, curvature, np.inf), turned)


def _known(hessian: Callable[[], Solve] | None) -> Solve:
    return (lambda slope: slope.copy()) if hessian is None else hessian()


def _step(slope: Array, changes: Sequence[_Change], solve: Solve) -> Array:
    """The inverse Hessian times the slope, corrected by what the last steps have shown (Nocedal 1980)."""
    shares, slope = _shares(slope, changes)
    return _with_shares(solve(slope), changes, shares)


def _rough_step(slope: Array, changes: Sequence[_Change], straight: Array) -> Array:
    """The same from what is known times the slope and times each turn, as large as the last step says."""
    shares, _ = _shares(slope, changes)
    step = straight.copy()
    for change, share in zip(changes, shares, strict=True):
        step -= share[..., np.newaxis] * change.straight
    if changes:
        last = changes[-1]
        size = last.curvature / np.vecdot(last.turned, last.straight)
        step *= np.where(np.isfinite(last.curvature), size, 1.0)[..., np.newaxis]
    return _with_shares(step, changes, shares)


def _shares(slope: Array, changes: Sequence[_Change]) -> tuple[list[Array], Array]:
    """How much of the slope each change explains, the last one first, and what is left of it."""
    slope, shares = slope.copy(), []
    for change in reversed(changes):
        shares.append(np.vecdot(change.moved, slope) / change.curvature)
        slope -= shares[-1][..., np.newaxis] * change.turned
    return shares[::-1], slope


def _with_shares(step: Array, changes: Sequence[_Change], shares: Sequence[Array]) -> Array:
    for change, share in zip(changes, shares, strict=True):
        step = (
            step + (share - np.vecdot(change.turned, step) / change.curvature)[..., np.newaxis] * change.moved
        )
    return step
