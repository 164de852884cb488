"""From the sums of a joint Gaussian block to its means and covariances: tied, shrunk, and never singular."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.base import Regularized
from suffice.factors.gaussian.em import maximize
from suffice.factors.gaussian.moments import (
    ClassMoments,
    Moments,
    Standardised,
    closed_moments,
    columns_of,
    pairwise_moments,
    standardised,
)
from suffice.factors.gaussian.regular import block_name, peculiarities, regular
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.shrinkage import degrees_of_freedom, noise_of_covariances, shrunk_covariances
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.storage import Fields

Scored = TypeVar("Scored", bound=SolvedGaussian)


def solve_gaussian(
    totals: GaussianTotals, labels: list[str], classes: NDArray[Any], saved_search: Fields | None = None
) -> SolvedGaussian:
    """The Gaussians of all classes: maximum likelihood, tied and shrunk as the family says.

    `saved_search` is what a file holds of EM, which then does not run; it is empty where there were no gaps.
    """
    classwise = class_moments(totals, classes, saved_search)
    matrices = shrunk_covariances(classwise, totals.family.shrinkage)
    solved = SolvedGaussian(totals.family, labels, classwise.active, len(classwise.scale))
    return assembled(solved, classwise, matrices)


def class_moments(
    totals: GaussianTotals, classes: NDArray[Any], saved_search: Fields | None = None
) -> ClassMoments:
    """The moments of all classes, tied as the family says."""
    totals = totals.dense()
    everything = standardised(totals)
    active = np.flatnonzero(everything.varies)
    data = columns_of(everything, active)
    family = totals.family
    tying = Tying(family.covariance, classes, family.ddof)
    if isinstance(family.shrinkage, tuple) and family.shrinkage[0] == 1.0:
        tying.share()
    noise = np.where(data.variance > 0, data.noise, 0.0)  # what is taken as zero is exact
    moments = replace(moments_of(totals, data, tying, saved_search), noise=tying.pooled(data.weight * noise))
    left_out = {j: _why_left_out(everything, j) for j in np.flatnonzero(~everything.varies).tolist()}
    return ClassMoments(classes, everything.centre, everything.scale, active, data, tying, moments, left_out)


def moments_of(
    totals: GaussianTotals, data: Standardised, tying: Tying, saved_search: Fields | None = None
) -> Moments:
    """Means and scatters: closed form without gaps, pairwise, or by EM."""
    d = len(data.scale)
    complete = all(len(cell.columns) == d for patterns in data.cells for cell in patterns)
    if saved_search is not None and len(saved_search) and (complete or totals.family.missing == "pairwise"):
        raise saved_search.error("em", "is the end of a search, but these statistics need none.")
    if totals.family.missing == "pairwise":
        return pairwise_moments(data, tying)
    if not complete:
        if totals.family.shrinkage == "ledoit_wolf":
            raise ValueError(
                "shrinkage='ledoit_wolf' needs complete rows, but these have missing values; "
                "use shrinkage='oas' or a number."
            )
        return maximize(data, tying, saved_search)
    return closed_moments(data, tying)


def _why_left_out(data: Standardised, column: int) -> str:
    if not data.weight[:, column].any():
        return "it has no values, so it is left out"
    if data.noise[:, column].any():
        return "its variance is rounding error from removed rows, so it is left out; refit the remaining rows"
    return "all its values are equal, so it cannot separate the classes and is left out"


def assembled(solved: Scored, classwise: ClassMoments, matrices: Array) -> Scored:
    """Fill in the parameters with standardised covariances (g, d, d); singular ones are regularised."""
    labels, moments, tying = solved.labels, classwise.moments, classwise.tying
    block = block_name(labels)
    names = classwise.classes.tolist()
    solved.centre, solved.scale = classwise.centre, classwise.scale
    solved.shift = np.zeros_like(classwise.centre)
    solved.shift[:, classwise.active] = moments.mean
    noise = noise_of_covariances(moments, tying, solved.family.shrinkage)
    solved.standard, made_regular = regular(matrices, noise, moments, tying, block, names)
    solved.regularized = peculiarities(classwise, labels) + made_regular
    solved.em = moments.saved_search
    if solved.em is not None:
        solved.regularized += [Regularized(block, label, note) for note in solved.em.notes for label in names]
    solved.group = tying.group
    solved.n_parameters = len(names) * len(classwise.active) + tying.n_parameters(len(classwise.active))
    solved.scatter_parts = moments.scatter_parts
    solved.weight = moments.weight
    solved.degrees = degrees_of_freedom(moments, tying, solved.family.shrinkage)
    return solved
