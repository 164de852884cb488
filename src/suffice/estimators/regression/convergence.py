"""Whether a search found the optimum, and what to say if not."""

from __future__ import annotations

import numpy as np

from suffice.estimators.regression.minimise import Minimum
from suffice.estimators.regression.objective import Objective

STILL_MOVING = 1e-3
"""A step that gains nothing and yet moves some score by this much runs away."""
ONCE_CURVED = 1e-9
"""The relative curvature at even scores above which a direction is not that of collinear columns."""

CURE = "use a finite C, which always has an optimum, or drop the columns that separate the classes."


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
                "The classes are separated in part (quasi-complete separation): some rows are classified "
                f"ever more surely without end, so with C=inf the likelihood has no maximum; {CURE}"
            )
    if minimum.converged:
        return None
    passes = "1 iteration" if minimum.n_iterations == 1 else f"{minimum.n_iterations} iterations"
    cure = (
        "increase max_iter, or accept a larger tol."
        if minimum.n_iterations >= max_iter
        else "rounding hides any further progress, so accept a larger tol."
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
