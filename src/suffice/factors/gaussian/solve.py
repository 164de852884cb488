"""From the sums of a joint Gaussian block to its means and covariances: tied, shrunk, and never singular."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors.base import Regularized
from suffice.factors.gaussian.em import maximize
from suffice.factors.gaussian.moments import (
    CentredRows,
    ClassMoments,
    Moments,
    Standardised,
    centred_rows,
    class_means,
    closed_moments,
    columns_of,
    pairwise_moments,
    standardised,
)
from suffice.factors.gaussian.regular import (
    SINGULAR,
    block_name,
    have_full_rank,
    notes_of,
    peculiarities,
    regular,
)
from suffice.factors.gaussian.rows import RowSums
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.shrinkage import (
    degrees_of_freedom,
    least_variances,
    noise_of_covariances,
    posterior_means,
    shrunk_matrices,
    shrunk_rows,
)
from suffice.factors.gaussian.thin import ThinCovariance
from suffice.factors.gaussian.thin_scores import ThinGaussian, thin_from_fields
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.families import MultivariateNormal
from suffice.storage import Fields

NUMBERS_AT_ONCE = 1 << 18
"""Numbers of covariances that are held at once: more cost more than calls do."""
Scored = TypeVar("Scored", bound=SolvedGaussian)


def solve_gaussian(
    totals: GaussianTotals, labels: list[str], classes: NDArray[Any], saved_search: Fields | None = None
) -> SolvedGaussian:
    """The Gaussians of all classes: maximum likelihood, tied and shrunk as the family says.

    `saved_search` is what a file holds of EM, which then does not run, or of covariances found from a few
    rows; it is empty where there were neither gaps nor few rows.
    """
    if saved_search is not None and "thin" in saved_search:
        saved_search.require(["thin"])
        return _restored(totals, labels, classes, saved_search)
    few_rows = None if saved_search is not None else _few_rows(totals, classes)
    if few_rows is not None:
        return _thin(*few_rows, labels, totals.family)
    return _of_moments(class_moments(totals, classes, saved_search), labels, totals.family)


def solve_gaussians(
    several: Sequence[GaussianTotals],
    labels: list[str],
    classes: NDArray[Any],
    families: Sequence[MultivariateNormal],
) -> list[list[SolvedGaussian]]:
    """The Gaussians of families with `shrinkage="bayes"` that differ in which classes share a covariance.

    The moments of the classes are found once, unless EM finds them. Several sums of the same classes and
    columns, such as those of folds, are solved side by side where nothing is peculiar about any of them.
    """
    n_numbers = len(several) * len(classes) * several[0].n_columns ** 2
    at_once = len(several) > 1 and n_numbers <= NUMBERS_AT_ONCE
    found = _side_by_side(several, labels, classes, families) if at_once else None
    return found or [_of_each_family(totals, labels, classes, families) for totals in several]


def _side_by_side(
    several: Sequence[GaussianTotals],
    labels: list[str],
    classes: NDArray[Any],
    families: Sequence[MultivariateNormal],
) -> list[list[SolvedGaussian]] | None:
    """The Gaussians of several sums, without notes; None where columns are constant, or ranks may be lost."""
    sums = [totals.dense() for totals in several]
    if not all(totals.is_closed for totals in sums):
        return None
    each = [standardised(totals) for totals in sums]
    active = np.flatnonzero(each[0].varies)
    if any(not np.array_equal(one.varies, each[0].varies) for one in each):
        return None
    data = Standardised.side_by_side([columns_of(one, active) for one in each])
    moments = moments_of(sums[0], data, Tying("full", np.arange(len(data.weight)), families[0].ddof))
    lost = data.weight * np.where(data.variance > 0, data.noise, 0.0)
    parts = [slice(first, first + len(classes)) for first in range(0, len(data.weight), len(classes))]
    found: list[list[SolvedGaussian]] = [[] for _ in several]
    for family in families:
        tying = Tying(family.covariance, classes, family.ddof)
        tied = [
            Moments(
                moments.mean[some],
                tying.pooled(moments.scatter[some]),
                moments.weight[some],
                one.total_variance[active],
                None,
                noise=tying.pooled(lost[some]),
            )
            for some, one in zip(parts, each, strict=True)
        ]
        matrices = [posterior_means(one, tying) for one in tied]
        noise = [noise_of_covariances(one, tying, family.shrinkage) for one in tied]
        least = np.concatenate([least_variances(one, tying) for one in tied])
        if not have_full_rank(np.concatenate(matrices), np.concatenate(noise), least):
            return None
        for place, one in enumerate(each):
            solved = SolvedGaussian(family, labels, active, len(one.scale))
            solved.centre, solved.scale = one.centre, one.scale
            solved.shift = np.zeros_like(one.centre)
            solved.shift[:, active] = tied[place].mean
            solved.standard, solved.group = matrices[place], tying.group
            found[place].append(solved)
    return found


def _of_each_family(
    totals: GaussianTotals, labels: list[str], classes: NDArray[Any], families: Sequence[MultivariateNormal]
) -> list[SolvedGaussian]:
    """The Gaussians of one table's sums."""
    own = totals.with_family(replace(families[0], covariance="full"))
    if not own.is_closed:
        return [solve_gaussian(totals.with_family(family), labels, classes) for family in families]
    classwise = class_moments(own, classes)
    return [
        _of_moments(classwise.tied(Tying(family.covariance, classes, family.ddof)), labels, family)
        for family in families
    ]


def _of_moments(classwise: ClassMoments, labels: list[str], family: MultivariateNormal) -> SolvedGaussian:
    matrices = shrunk_matrices(classwise, family.shrinkage)
    solved = SolvedGaussian(family, labels, classwise.active, len(classwise.scale))
    has_prior = family.shrinkage == "bayes"
    least = least_variances(classwise.moments, classwise.tying) if has_prior else 0.0
    return assembled(solved, classwise, matrices, least)


def class_moments(
    totals: GaussianTotals, classes: NDArray[Any], saved_search: Fields | None = None
) -> ClassMoments:
    """The moments of all classes, tied as the family says."""
    totals = totals.dense()
    return _class_moments(totals, classes, lambda data, tying: moments_of(totals, data, tying, saved_search))


def _few_rows(totals: GaussianTotals, classes: NDArray[Any]) -> tuple[ClassMoments, CentredRows] | None:
    """Rows instead of scatter matrices, where rows were kept, are few and lost no digits."""
    kept = all(isinstance(cell, RowSums) for cell in totals.cells.values())
    if not kept or not _are_complete(totals) or totals.family.shrinkage == "bayes":
        return None
    classwise = _class_moments(totals, classes, class_means)
    data, tying = classwise.data, classwise.tying
    exact = (classwise.moments.noise <= SINGULAR * tying.pooled(data.weight * data.variance)).all()
    rows = centred_rows(data) if exact and tying.shape == "full" else None
    return None if rows is None or not rows.values.size else (classwise, rows)


def _are_complete(totals: GaussianTotals) -> bool:
    """Whether all rows have the same columns; one that none of them has is left out."""
    return len({pattern for _, pattern in totals.cells}) <= 1


def _class_moments(
    totals: GaussianTotals, classes: NDArray[Any], find: Callable[[Standardised, Tying], Moments]
) -> ClassMoments:
    everything = standardised(totals)
    active = np.flatnonzero(everything.varies)
    data = columns_of(everything, active)
    family = totals.family
    tying = Tying(family.covariance, classes, family.ddof)
    if isinstance(family.shrinkage, tuple) and family.shrinkage[0] == 1.0:
        tying.share()
    noise = np.where(data.variance > 0, data.noise, 0.0)  # what is taken as zero is exact
    moments = replace(find(data, tying), noise=tying.pooled(data.weight * noise))
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


def assembled(solved: Scored, classwise: ClassMoments, matrices: Array, least: Array | float = 0.0) -> Scored:
    """Fill in the parameters with standardised covariances (g, d, d); singular ones are regularised.

    They exceed the `least` variances (g, d) in all directions.
    """
    moments, tying = classwise.moments, classwise.tying
    covariances = list(matrices)
    pooled = moments.scatter.sum(axis=0) / (float(moments.weight.sum()) or 1.0)
    noise = noise_of_covariances(moments, tying, solved.family.shrinkage)
    regularized = regular(covariances, pooled, noise, moments, tying, least)
    solved.standard = np.stack(covariances) if regularized else matrices
    solved.scatter_parts = moments.scatter_parts
    return _described(solved, classwise, regularized)


def _thin(
    classwise: ClassMoments, rows: CentredRows, labels: list[str], family: MultivariateNormal
) -> ThinGaussian:
    """The Gaussians of a few rows."""
    moments, tying = classwise.moments, classwise.tying
    covariances = shrunk_rows(classwise, rows, family.shrinkage)
    pooled = ThinCovariance.of(rows.values, np.full(len(rows.values), 1.0 / moments.weight.sum()))
    noise = noise_of_covariances(moments, tying, family.shrinkage)
    regularized = regular(covariances, pooled, noise, moments, tying)
    group = tying.group[rows.classes]
    whitened = [one.whitened(classwise.data.scale, group == g) for g, one in enumerate(covariances)]
    distance = np.array([distance for _, distance in whitened])
    solved = ThinGaussian(
        family, labels, classwise.active, [whitening for whitening, _ in whitened], distance
    )
    return _described_thin(solved, classwise, regularized)


def _restored(
    totals: GaussianTotals, labels: list[str], classes: NDArray[Any], saved_search: Fields
) -> ThinGaussian:
    """The Gaussians of a few rows, with the covariances that a file holds."""
    if not _are_complete(totals) or any(cell.weight.ndim for cell in totals.cells.values()):
        raise saved_search.error("thin", "is of complete rows, but these statistics have gaps.")
    classwise = _class_moments(totals, classes, class_means)
    fields = saved_search.branch("thin")
    whitenings, distance, regularized = thin_from_fields(
        fields, classwise.tying.n_groups, classwise.data.scale
    )
    solved = ThinGaussian(totals.family, labels, classwise.active, whitenings, distance)
    return _described_thin(solved, classwise, regularized)


def _described_thin(
    solved: ThinGaussian, classwise: ClassMoments, regularized: dict[int, str]
) -> ThinGaussian:
    solved.group_weight, solved.regularized_groups = (
        classwise.tying.pooled(classwise.moments.weight),
        regularized,
    )
    return _described(solved, classwise, regularized)


def _described(solved: Scored, classwise: ClassMoments, regularized: dict[int, str]) -> Scored:
    """Fill in all but the covariances."""
    labels, moments, tying = solved.labels, classwise.moments, classwise.tying
    names = classwise.classes.tolist()
    solved.centre, solved.scale = classwise.centre, classwise.scale
    solved.shift = np.zeros_like(classwise.centre)
    solved.shift[:, classwise.active] = moments.mean
    block = block_name(labels)
    solved.regularized = peculiarities(classwise, labels) + notes_of(regularized, tying, block, names)
    solved.em = moments.saved_search
    if solved.em is not None:
        solved.regularized += [Regularized(block, label, note) for note in solved.em.notes for label in names]
    solved.group = tying.group
    solved.n_parameters = len(names) * len(classwise.active) + tying.n_parameters(len(classwise.active))
    solved.weight = moments.weight
    solved.degrees = degrees_of_freedom(moments, tying, solved.family.shrinkage)
    return solved
