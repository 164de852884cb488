"""The least value of a smooth convex function, by Newton's method with Hessians kept for many steps.

Steps are those of L-BFGS, whose first guess is the inverse of a Hessian: that of this function some steps
before, or of a function like it. So slopes do most of the work, and a Hessian is computed anew only where the
last one misleads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.arrays import Array

At = Callable[[Array], tuple[float, Array]]
"""The value and the slope at a point."""
Solve = Callable[[Array], Array]
"""The product of an inverse Hessian with a slope."""
STEPS = 200
REMEMBERED = 10
"""Steps whose change of slope corrects the Hessian."""
SLOW = 0.1
"""The share of the gain that is left after a step, from which the Hessian misleads."""
SHORTEST = 1e-6
ROUNDING = 1e-13


def minimise(
    at: At,
    start: Array,
    negligible: float,
    solve: Solve | None,
    hessian: Callable[[], Solve] | None,
    *,
    rough: bool = False,
) -> Array:
    """The point of least value, up to steps that promise a gain below `negligible`.

    `solve` is what is known of the Hessian, if anything; `hessian` gives the one at the last point that was
    looked at, if it can be had. Where what is known is `rough`, the last step says how large the Hessian is.
    """
    point = start
    value, slope = at(point)
    is_fresh = solve is None
    if solve is None:
        solve = _known(hessian)
    changes: list[tuple[Array, Array]] = []
    before = np.inf
    for _ in range(STEPS):
        step = _step(slope, changes, solve, rough=rough)
        promised = 0.5 * float(slope @ step)
        if promised <= negligible:
            return point - step
        if promised > SLOW * before and hessian is not None and not is_fresh:
            solve, changes, is_fresh, before = hessian(), [], True, np.inf
            continue
        share, least = 1.0, value + ROUNDING * abs(value)
        lower, next_slope = at(point - step)
        while not lower <= least - 2e-4 * share * promised and share > SHORTEST:
            share *= 0.5
            lower, next_slope = at(point - share * step)
        if share <= SHORTEST:  # rounding hides what is left
            return point
        if np.vdot(step, next_slope - slope) < 0:
            changes = [*changes[1 - REMEMBERED :], (-share * step, next_slope - slope)]
        point, value, slope = point - share * step, lower, next_slope
        is_fresh, before = False, promised
    return point


def _known(hessian: Callable[[], Solve] | None) -> Solve:
    return (lambda slope: slope) if hessian is None else hessian()


def _step(slope: Array, changes: Sequence[tuple[Array, Array]], solve: Solve, *, rough: bool) -> Array:
    """The inverse Hessian times the slope, corrected by what the last steps have shown (Nocedal 1980)."""
    slope, shares = slope.copy(), []
    for moved, turned in reversed(changes):
        shares.append(float(moved @ slope) / float(moved @ turned))
        slope -= shares[-1] * turned
    step = solve(slope)
    if rough and changes:
        moved, turned = changes[-1]
        step *= float(moved @ turned) / float(turned @ solve(turned))
    for (moved, turned), share in zip(changes, reversed(shares), strict=True):
        step = step + (share - float(turned @ step) / float(moved @ turned)) * moved
    return step
