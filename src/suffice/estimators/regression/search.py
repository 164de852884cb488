"""The search for the optimum: which method, Newton's and quasi-Newton, and how it ended.

A gradient of all rows costs n·m·p operations, a Hessian n·(m·p)². Newton's method is for problems whose
Hessian is cheap: few rows or few parameters. The others take quasi-Newton from a curvature that is nearly the
Hessian, so that a few gradients suffice. A gradient of sparse rows is cheap whatever their columns, and the
products of their entries are not: they take Newton's method only for short rows.

Many rows are solved from a sample first. Its optimum is within √(parameters · n / sample) standard errors of
that of all rows, its Hessian is nearly theirs, and both cost a fraction of one pass. The sample decides where
the search starts and how it looks ahead, and nothing else: the optimum is that of all rows.

Rows that are with workers are read anew on every pass, which takes longer than the Hessian of a row that has
few parameters. So Newton's method goes on from the sample there: it needs half of the passes.

Progress is measured by the decrement √(gᵀH⁻¹g): how many standard errors the parameters are from the optimum,
whatever the units of the columns. Half its square is the log-likelihood still to be gained.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from suffice.arrays import Array
from suffice.estimators.regression.curvature import Curvature, DenseCurvature, KroneckerCurvature
from suffice.estimators.regression.objective import Objective, Sums
from suffice.storage import Fields
from suffice.tables.wording import counted

NEWTON = 3e8
"""Operations of a Hessian up to which dense rows take Newton's method."""
GRADIENTS = 8.0
"""Gradients of sparse rows that a Hessian may cost: Newton's method needs so many times fewer steps."""
CHEAP = 3e9
"""Operations that one Hessian may cost besides."""
READING = 200.0
"""Operations that take as long as to read a cell where workers have it."""
DENSE = 2048
"""Parameters beyond which no matrix of their size is made."""
SAMPLE_SHARE = 16
"""One row in so many is in the sample…"""
SAMPLE_LEAST = 4096
SAMPLE_PER_PARAMETER = 20
"""…but no fewer than these, and these for each parameter."""
WORTH_SAMPLING = 8
"""How many times the sample's rows there must be: the optimum of few rows may lie far from that of all."""
SAMPLE_TOL = 0.3
"""The sample is solved to this many of its own standard errors."""
REFRESH = 25
"""Iterations after which the curvature is computed again."""
SUFFICIENT = 1e-4
"""The share of the promised decrease that a step must deliver."""
ROUNDING = 1e-13
"""Relative changes of a sum that are rounding."""
HALVINGS = 40
MEMORY = 30
"""Steps that quasi-Newton remembers."""
STILL_MOVING = 1e-3
"""A step that gains nothing and yet moves some score by this much runs away."""
ONCE_CURVED = 1e-9
"""The relative curvature at even scores above which a direction is not that of collinear columns."""

CURE = "use a finite C, for which there is always an optimum, or drop the columns that separate the classes."


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


def minimise(objective: Objective, tol: float, max_iter: int, *, hessian: bool = False) -> Minimum:
    """The minimum of F by the method that suits its size; `hessian` asks for the Hessian there too."""
    separable = objective.strength == 0.0
    found = _from_sample(objective)
    start, curvature = found or (objective.start(), None)
    if (found is None or objective.design.is_elsewhere) and _newton_suits(objective):
        return newton(objective, start, tol, max_iter, stop_when_separated=separable)
    done = 0
    while True:
        curvature = curvature or _kronecker(objective, start)
        few = min(REFRESH, max_iter - done)
        minimum = quasi_newton(objective, start, curvature, tol, few, stop_when_separated=separable)
        done += minimum.n_iterations
        if minimum.converged or done >= max_iter or minimum.n_iterations < few:
            break
        start, curvature = minimum.parameters, None
    if hessian:
        left = max(1, max_iter - done)
        minimum = newton(objective, minimum.parameters, tol, left, stop_when_separated=separable)
        done += minimum.n_iterations
    minimum.n_iterations = min(done, max_iter)  # the pass for the Hessian may be one more
    return minimum


def hessian_is_cheap(objective: Objective) -> bool:
    """Whether one Hessian of all rows adds little to the cost of a fit."""
    if objective.design.is_sparse:
        return _newton_suits(objective)
    # For two classes a Hessian never costs much more than a few gradients.
    return _hessian_costs_at_most(objective, np.inf if objective.shape[0] == 1 else CHEAP)


def _newton_suits(objective: Objective) -> bool:
    """Whether a few Hessians cost no more than the gradients that they save."""
    if objective.design.is_sparse:
        return objective.shape[0] * objective.shape[1] <= DENSE and _products_pay(objective)
    cells = objective.design.n_rows * objective.design.n_columns
    reading = READING * cells if objective.design.is_elsewhere else 0.0
    return _hessian_costs_at_most(objective, max(NEWTON, reading))


def _products_pay(objective: Objective) -> bool:
    """Whether the products of sparse entries cost no more than some gradients, in nanoseconds or so."""
    m, p = objective.shape
    n, stored = objective.design.n_rows, objective.design.entries_per_row
    gradient = n * m * (2.5 * stored + 25.0)
    hessian = 8.0 * n * (m * stored) ** 2 + 0.1 * float(m * p) ** 3
    return hessian <= GRADIENTS * gradient


def _hessian_costs_at_most(objective: Objective, operations: float) -> bool:
    m, p = objective.shape
    return m * p <= DENSE and objective.design.n_rows * float(m * p) ** 2 <= operations


def _from_sample(objective: Objective) -> tuple[Array, Curvature | None] | None:
    """The optimum of a sample and its curvature; None where a sample is too small or has no optimum."""
    m, p = objective.shape
    n = objective.design.n_rows
    least = max(SAMPLE_LEAST, SAMPLE_PER_PARAMETER * m * p)
    n_sample = min(max(least, n // SAMPLE_SHARE), objective.design.n_at_hand)
    if n_sample < least or n < WORTH_SAMPLING * n_sample:
        return None
    sample = objective.on_sample(n_sample)
    found = minimise(sample, SAMPLE_TOL, 50)
    if not found.converged:
        return None
    n_fewer = min(n_sample, int(CHEAP / (m * p) ** 2))
    if m * p > DENSE or n_fewer < SAMPLE_PER_PARAMETER * m * p:
        return found.parameters, None
    fewer = sample if n_fewer == n_sample else objective.on_sample(n_fewer)
    hessian = fewer.hessian_at(found.parameters).hessian
    return found.parameters, None if hessian is None else DenseCurvature(hessian * (n / n_fewer))


def _kronecker(objective: Objective, parameters: Array) -> KroneckerCurvature:
    diagonal = objective.shape[1] > DENSE or (objective.design.is_sparse and not _products_pay(objective))
    between, within = objective.factors_at(parameters, diagonal=diagonal)
    return KroneckerCurvature(between, within, objective.penalty)


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
    if pairs:  # where classes are nearly separated, it is flatter than the curvature knows
        s, y = pairs[-1]
        result *= max(1.0, float(np.sum(s * y) / np.sum(y * curvature.solve(y))))
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
        raise RuntimeError("the Hessian was not computed in this pass.")
    return sums.hessian


def problem(objective: Objective, minimum: Minimum, max_iter: int) -> str | None:
    """None where the optimum was found, else a sentence that names the cause and the cure.

    Without a penalty the likelihood has no maximum where the classes are separated. Completely: the scores
    found classify every row correctly, so their multiples are ever more likely. Quasi-completely: some rows
    decide nothing, the others move on and on while the likelihood gains nothing any more.
    """
    if objective.strength == 0.0:
        if minimum.n_wrong == 0:
            return (
                "The classes are separated: a linear combination of the columns classifies every row "
                f"correctly, so with C=inf the likelihood has no maximum and the search was stopped; {CURE}"
            )
        if minimum.converged and (
            objective.largest_move(minimum.step) > STILL_MOVING or _lost_curvature(objective, minimum)
        ):
            return (
                "The classes are partly separated (quasi-complete separation): the likelihood keeps growing "
                f"as some coefficients go to infinity, so with C=inf it has no maximum; {CURE}"
            )
    if minimum.converged:
        return None
    passes = counted(minimum.n_iterations, "iteration")
    cure = (
        "increase max_iter or tol."
        if minimum.n_iterations >= max_iter
        else "rounding errors hide any further progress, so increase tol."
    )
    return (
        f"The search stopped after {passes}, {minimum.decrement:.2g} standard errors from the optimum; {cure}"
    )


def _lost_curvature(objective: Objective, minimum: Minimum) -> bool:
    """Whether a direction became flat on the way; that of collinear columns was so from the start."""
    if minimum.curvature is None or minimum.curvature.rank == len(minimum.curvature.scale):
        return False
    flat = minimum.curvature.flat()
    hessian = np.asarray(objective.hessian_at(objective.start()).hessian)
    curved = np.sum(flat * (hessian @ flat), axis=0)
    return bool((curved > ONCE_CURVED * (hessian.diagonal() @ np.square(flat))).any())
