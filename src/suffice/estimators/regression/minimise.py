"""Newton's method, and quasi-Newton from a given curvature.

Progress is measured by the decrement √(gᵀH⁻¹g): how many standard errors the parameters are from the optimum,
whatever the units of the columns. Half its square is the log-likelihood still to be gained.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from suffice.arrays import Array
from suffice.estimators.regression.curvature import Curvature, DenseCurvature
from suffice.estimators.regression.objective import Sums
from suffice.storage import Fields

SUFFICIENT = 1e-4
"""The share of the promised decrease that a step must deliver."""
ROUNDING = 1e-13
"""Relative changes of a sum that are rounding."""
HALVINGS = 40
MEMORY = 30
"""Steps that quasi-Newton remembers."""


class Problem(Protocol):
    """A smooth convex function as a sum over rows."""

    def gradient_at(self, parameters: Array) -> Sums:
        """Value and gradient."""

    def hessian_at(self, parameters: Array) -> Sums:
        """Value, gradient and Hessian."""


@dataclass(kw_only=True)
class Minimum:
    """Where a search ended."""

    parameters: Array
    value: float
    n_iterations: int
    decrement: float
    converged: bool
    step: Array
    """The last step."""
    n_wrong: int
    curvature: DenseCurvature | None = None
    """The Hessian at the minimum (one negligible step before it), where it was computed."""

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it."""
        curvature = [] if self.curvature is None else [self.curvature.state()]
        return vars(self) | {"curvature": curvature}

    @classmethod
    def from_fields(cls, fields: Fields) -> Self:
        """The same from its state."""
        parameters = fields.array("parameters", np.float64, (None, None))
        curvature = fields.branches("curvature")
        return cls(
            parameters=parameters,
            value=fields.number("value"),
            n_iterations=fields.integer("n_iterations", 0, 1 << 62),
            decrement=fields.number("decrement"),
            converged=fields.flag("converged"),
            step=fields.array("step", np.float64, parameters.shape, finite=False),
            n_wrong=fields.integer("n_wrong", 0, 1 << 62),
            curvature=DenseCurvature.from_fields(curvature[0], parameters.size) if curvature else None,
        )


def newton(
    problem: Problem, start: Array, tol: float, max_iter: int, *, stop_when_separated: bool = False
) -> Minimum:
    """Newton's method with step halving; the Hessian is exact at every iteration."""
    here, now = start, problem.hessian_at(start)
    decrement = np.inf
    for iteration in range(1, max_iter + 1):
        curvature = DenseCurvature(_hessian(now))
        step = -curvature.solve(now.gradient)
        before, decrement = decrement, _decrement(now.gradient, step)
        found = partial(
            Minimum,
            n_iterations=iteration,
            decrement=decrement,
            step=step,
            n_wrong=now.n_wrong,
            curvature=curvature,
        )
        if decrement <= tol:
            # The last step needs no check any more, and it squares the error.
            return found(parameters=here + step, value=now.value - 0.5 * decrement**2, converged=True)
        if iteration == max_iter or (stop_when_separated and now.n_wrong == 0):
            break
        if decrement >= before and decrement**2 <= ROUNDING * abs(now.value):
            break  # what is left to gain is rounding, and it no longer shrinks
        for halvings in range(HALVINGS):
            length = 0.5**halvings
            there = problem.hessian_at(here + length * step)
            if _decreases(now.value, there.value, length * decrement**2):
                break
        else:
            break
        here, now = here + length * step, there
    return found(parameters=here, value=now.value, converged=False)


def quasi_newton(
    problem: Problem,
    start: Array,
    curvature: Curvature,
    tol: float,
    max_iter: int,
    *,
    stop_when_separated: bool = False,
) -> Minimum:
    """Limited-memory BFGS whose first guess of the Hessian is `curvature`; an iteration needs a gradient."""
    here, now = start, problem.gradient_at(start)
    pairs: list[tuple[Array, Array]] = []
    for iteration in range(1, max_iter + 1):
        step = -_inverse_times(now.gradient, pairs, curvature)
        decrement = _decrement(now.gradient, step)
        done = decrement <= tol or iteration == max_iter
        if done or (stop_when_separated and now.n_wrong == 0):
            break
        length = 1.0
        for _ in range(HALVINGS):
            there = problem.gradient_at(here + length * step)
            if _decreases(now.value, there.value, length * decrement**2):
                break
            # The minimum of the parabola through both values and the slope here.
            excess = there.value - now.value + length * decrement**2
            length *= float(np.clip(0.5 * length * decrement**2 / excess, 0.1, 0.5))
        else:
            break
        change = there.gradient - now.gradient
        if np.sum(change * step) > 0.0:
            pairs = [*pairs[-MEMORY + 1 :], (length * step, change)]
        here, now = here + length * step, there
    return Minimum(
        parameters=here,
        value=now.value,
        n_iterations=iteration,
        decrement=decrement,
        converged=decrement <= tol,
        step=step,
        n_wrong=now.n_wrong,
    )


def _inverse_times(gradient: Array, pairs: list[tuple[Array, Array]], curvature: Curvature) -> Array:
    """BFGS's H⁻¹·g from the remembered steps s and changes of gradient y."""
    right = gradient.copy()
    shares = []
    for s, y in reversed(pairs):
        share = np.sum(s * right) / np.sum(s * y)
        right -= share * y
        shares.append(share)
    result = curvature.solve(right)
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        result += (share - np.sum(y * result) / np.sum(s * y)) * s
    return result


def _decrement(gradient: Array, step: Array) -> float:
    return float(np.sqrt(max(0.0, -np.sum(gradient * step))))


def _decreases(before: float, after: float, promised: float) -> bool:
    """Whether the value fell enough, or both values are the same but for rounding."""
    return after <= before - SUFFICIENT * promised + ROUNDING * abs(before)


def _hessian(sums: Sums) -> Array:
    if sums.hessian is None:
        raise RuntimeError("this pass was made without the Hessian.")
    return sums.hessian
