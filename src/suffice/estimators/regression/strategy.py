"""Which method solves a problem, and where it starts.

A gradient of all rows costs n·m·p operations, a Hessian n·(m·p)². Newton's method is for problems whose
Hessian is cheap: few rows or few parameters. The others take quasi-Newton from a curvature that is nearly the
Hessian, so that a few gradients suffice.

Many rows are solved from a sample first. Its optimum is within √(parameters · n / sample) standard errors of
that of all rows, its Hessian is nearly theirs, and both cost a fraction of one pass. The sample decides where
the search starts and how it looks ahead, and nothing else: the optimum is that of all rows.
"""

from __future__ import annotations

from suffice.arrays import Array
from suffice.estimators.regression.curvature import Curvature, DenseCurvature, KroneckerCurvature
from suffice.estimators.regression.minimise import Minimum, newton, quasi_newton
from suffice.estimators.regression.objective import Objective

NEWTON = 3e8
"""Operations of a Hessian up to which softmax takes Newton's method."""
CHEAP = 3e9
"""Operations that one Hessian may cost besides."""
DENSE = 2048
"""Parameters beyond which no matrix of their size is made."""
SAMPLE_SHARE = 16
"""One row in so many is in the sample…"""
SAMPLE_LEAST = 4096
SAMPLE_PER_PARAMETER = 20
"""…but no fewer than these, and these for each parameter."""
WORTH_SAMPLING = 4
"""How many times the sample's rows there must be."""
SAMPLE_TOL = 0.3
"""The sample is solved to this many of its own standard errors."""
REFRESH = 25
"""Iterations after which the curvature is taken anew."""


def minimise(objective: Objective, tol: float, max_iter: int, *, hessian: bool = False) -> Minimum:
    """The minimum of F by the method that suits its size; `hessian` asks for the Hessian there too."""
    separable = objective.strength == 0.0
    found = _from_sample(objective)
    if found is None and _hessian_costs_at_most(objective, NEWTON):
        return newton(objective, objective.start(), tol, max_iter, stop_when_separated=separable)
    start, curvature = found or (objective.start(), None)
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
    return _hessian_costs_at_most(objective, CHEAP)


def _hessian_costs_at_most(objective: Objective, operations: float) -> bool:
    """For two classes a Hessian is never much dearer than a few gradients."""
    m, p = objective.shape
    return m * p <= DENSE and (m == 1 or objective.design.n_rows * float(m * p) ** 2 <= operations)


def _from_sample(objective: Objective) -> tuple[Array, Curvature | None] | None:
    """The optimum of a sample and its curvature; None where a sample is too small or has no optimum."""
    m, p = objective.shape
    n = objective.design.n_rows
    n_sample = max(SAMPLE_LEAST, SAMPLE_PER_PARAMETER * m * p, n // SAMPLE_SHARE)
    if n < WORTH_SAMPLING * n_sample:
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
    diagonal = objective.shape[1] > DENSE
    between, within = objective.factors_at(parameters, diagonal=diagonal)
    return KroneckerCurvature(between, within, objective.penalty)
