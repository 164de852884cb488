"""From scatter sums to Gaussians: means and covariances, tied, shrunk, and never singular.

All matrices live in standardised coordinates, (x − centre of the class)/scale of the column, so that
nothing here depends on the units of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.archive import Fields
from suffice.factors.base import Codes, Regularized
from suffice.factors.em import VANISHING, Found, maximize, nearest_covariance
from suffice.factors.scatter import ScatterTotals
from suffice.factors.scatter_sums import Sums
from suffice.factors.solved_scatter import Evidence, SolvedScatter
from suffice.families.elementary import Array, exponent_of

Scored = TypeVar("Scored", bound=SolvedScatter)
SINGULAR = 1e-12
"""A correlation matrix with an eigenvalue below this (times its size) has lost rank."""


@dataclass(frozen=True)
class Cell:
    """The sums of one class and pattern, and how to bring them to the class mean and the columns' scales."""

    columns: Codes
    raw: Sums
    shift: Array
    factor: Array

    @property
    def sums(self) -> Sums:
        """Sums of z = (x + shift)·factor, computed anew: they may be large."""
        return self.raw.standardised(self.shift, self.factor)


@dataclass(frozen=True)
class Standardised:
    """The sums of every class about its own available-case mean, in units of the column's scale."""

    cells: list[list[Cell]]
    """For each class its patterns."""
    weight: Array
    """Rows' weight of each class and column, where observed."""
    centre: Array
    """Available-case mean of each class and column, in the units of the data."""
    scale: Array
    variance: Array
    """Available-case variance of each class and column."""
    total_variance: Array


def solve_scatter(
    totals: ScatterTotals, labels: list[str], classes: NDArray[Any], again: Fields | None = None
) -> SolvedScatter:
    """The Gaussians of all classes: maximum likelihood, tied and shrunk as the family says.

    With `again`, what EM found over the gaps is in a file; without gaps the file holds nothing.
    """
    found = class_moments(totals, classes, again)
    matrices = _shrunk(found.moments, found.tying, totals.family.shrinkage)
    return assembled(SolvedScatter(totals.family, labels, found.active, len(found.scale)), found, matrices)


@dataclass(frozen=True)
class ClassMoments:
    """Means and scatters of the classes on the columns that vary, neither shrunk nor regularised."""

    classes: NDArray[Any]
    centre: Array
    """Where each class is centred, (k, d), in the units of the data; `moments.mean` is beside it."""
    scale: Array
    """The unit of each column, (d,)."""
    active: Codes
    data: Standardised
    """The sums behind the moments, on the active columns."""
    tying: Tying
    moments: Moments


def class_moments(totals: ScatterTotals, classes: NDArray[Any], again: Fields | None = None) -> ClassMoments:
    """The moments of all classes, tied as the family says."""
    everything = standardised(totals)
    active = np.flatnonzero(everything.total_variance > 0)
    data = _columns(everything, active)
    family = totals.family
    tying = Tying(family.covariance, classes, data.scale, family.ddof)
    if isinstance(family.shrinkage, tuple) and family.shrinkage[0] == 1.0:
        tying.share()
    moments = _moments(totals, data, tying, again)
    return ClassMoments(classes, everything.centre, everything.scale, active, data, tying, moments)


def assembled(solved: Scored, found: ClassMoments, matrices: Array) -> Scored:
    """Gaussians with these covariances (g, d, d), standardised; where one is singular, it is made regular."""
    labels, moments, tying = solved.labels, found.moments, found.tying
    block = labels[0] if len(labels) == 1 else "the joint block"
    names = found.classes.tolist()
    solved.centre, solved.scale = found.centre, found.scale
    solved.shift = np.zeros_like(found.centre)
    solved.shift[:, found.active] = moments.mean
    solved.standard, solved.regularized = _regular(matrices, moments, tying, block, names)
    if moments.found is not None:
        solved.em = moments.found
        solved.regularized += [
            Regularized(block, label, note) for note in moments.found.notes for label in names
        ]
    solved.group = tying.group
    solved.n_parameters = len(names) * len(found.active) + tying.n_parameters(len(found.active))
    solved.evidence = moments.evidence
    return solved


def standardised(totals: ScatterTotals) -> Standardised:
    """Find class means and column scales, and bring all sums to them."""
    n_classes, d = totals.origin.shape
    held = ~np.isnan(totals.origin)
    reference = np.where(held, totals.origin, 0.0)
    anchor = np.where(held.any(axis=0), reference[np.argmax(held, axis=0), np.arange(d)], 0.0)
    apart = exponent_of(np.where(held, np.abs(reference - anchor), 0.0).max(axis=0, initial=0.0))
    raised = np.maximum(totals.exponent, apart)
    unit, ratio = np.ldexp(1.0, raised), np.ldexp(1.0, np.maximum(totals.exponent - raised, -1000))
    weight, first, second, peak = (np.zeros((n_classes, d)) for _ in range(4))
    for key, cell in totals.cells.items():
        k, columns = key[0], totals.columns_of(key)
        pairs = cell.weight.ndim > 0
        weight[k, columns] += np.diag(cell.weight) if pairs else cell.weight
        first[k, columns] += (np.diag(cell.total) if pairs else cell.total) * ratio[columns]
        second[k, columns] += np.diag(cell.scatter) * ratio[columns] ** 2
        peak[k, columns] += cell.peak * ratio[columns] ** 2
    mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    variance = np.divide(second, weight, out=np.zeros_like(second), where=weight > 0) - mean**2
    # Rounding leaves at most this much of a variance that is zero.
    eps = np.finfo(np.float64).eps
    variance[(variance <= 8.0 * eps * mean**2) | (variance * weight <= 16.0 * eps * peak)] = 0.0

    everything = weight.sum(axis=0)
    away = np.where(weight > 0, (reference - anchor) / unit + mean, 0.0)
    share = np.divide(weight, everything, out=np.zeros_like(weight), where=everything > 0)
    grand = np.sum(share * away, axis=0)
    within = np.sum(share * variance, axis=0)
    total = within + np.sum(share * (away - grand) ** 2, axis=0)
    scale = np.sqrt(np.where(within > 0, within, np.where(total > 0, total, 1.0)))

    grand_raw = anchor + grand * unit
    centre = np.where(weight > 0, reference + mean * unit, grand_raw)
    shift = np.where(weight > 0, (reference - centre) / unit, 0.0)
    cells: list[list[Cell]] = [[] for _ in range(n_classes)]
    for key, cell in totals.cells.items():
        k, columns = key[0], totals.columns_of(key)
        if np.any(cell.support > 0):
            in_units = ratio[columns]
            cells[k].append(Cell(columns, cell, shift[k, columns] / in_units, in_units / scale[columns]))
    return Standardised(
        cells,
        weight,
        centre,
        scale * unit,
        np.where(weight > 0, variance, within) / scale**2,
        total / scale**2,
    )


def _columns(data: Standardised, active: Codes) -> Standardised:
    """The same without constant columns; patterns that differed only in those become one."""
    place = np.full(len(data.scale), -1)
    place[active] = np.arange(len(active))
    cells = []
    for patterns in data.cells:
        kept: dict[bytes, Cell] = {}
        for cell in patterns:
            inside = place[cell.columns] >= 0
            if inside.any():
                columns = place[cell.columns][inside]
                raw, key = cell.raw.restricted(inside), columns.tobytes()
                if key in kept:
                    raw = raw.added(kept[key].raw, 1)
                kept[key] = Cell(columns, raw, cell.shift[inside], cell.factor[inside])
        cells.append(list(kept.values()))
    at = (slice(None), active)
    return Standardised(
        cells,
        data.weight[at],
        data.centre[at],
        data.scale[active],
        data.variance[at],
        data.total_variance[active],
    )


@dataclass(frozen=True)
class Moments:
    """Means (k, d) of the classes, scatter matrices W_g·S_g (g, d, d) of the groups that share Σ."""

    mean: Array
    scatter: Array
    weight: Array
    """The rows' weight of each class."""
    total_variance: Array
    evidence: list[Evidence] | None
    """What the log likelihood is made of; None where only pairs of columns were summed."""
    fourth_powers: Sequence[Callable[[Array], float]] = field(default_factory=list)
    """For each class, Σ w·|z·factor|⁴ about its mean as a function of the factor: for Ledoit and Wolf."""
    found: Found | None = None
    """Where EM ended, if it took EM."""


class Tying:
    """Which classes share a covariance, and what shape it has."""

    def __init__(self, covariance: Any, classes: NDArray[Any], scale: Array, ddof: float) -> None:
        self.scale = scale
        self.ddof = ddof
        n_classes = len(classes)
        if isinstance(covariance, str):
            self.shape = covariance.removeprefix("shared_") if covariance != "shared" else "full"
            shared = covariance.startswith("shared")
            self.group = np.zeros(n_classes, dtype=np.intp) if shared else np.arange(n_classes)
        else:
            self.shape = "full"
            self.group = _groups(covariance, classes)
        self.n_groups = int(self.group.max(initial=-1)) + 1

    def share(self) -> None:
        """All classes share one Σ: what Friedman's λ = 1 comes to."""
        self.group = np.zeros_like(self.group)
        self.n_groups = min(self.n_groups, 1)

    def pooled(self, per_class: Array) -> Array:
        """Sums over the classes of each group."""
        total = np.zeros((self.n_groups, *per_class.shape[1:]))
        np.add.at(total, self.group, per_class)
        return total

    def covariances(self, scatter: Array, weight: Array) -> Array:
        """Σ of each group, from W_g·S_g: divided by the rows (less ddof per class), and shaped."""
        count = self.pooled(np.maximum(weight - self.ddof, 0.0))
        some = np.where(count > 0, count, 1.0)[:, np.newaxis, np.newaxis]
        return self.shaped(scatter / some)

    def shaped(self, covariance: Array) -> Array:
        """Only the diagonal, or Σ = λI in the units of the data, where that is the shape."""
        if self.shape == "full":
            return covariance
        diagonal = np.diagonal(covariance, axis1=1, axis2=2)
        if self.shape == "isotropic":
            d = max(len(self.scale), 1)
            level = (diagonal * self.scale**2).sum(axis=1, keepdims=True) / d
            diagonal = level / self.scale**2
        return diagonal[:, :, np.newaxis] * np.eye(diagonal.shape[1])

    def n_parameters(self, d: int) -> int:
        """Free numbers in the covariances."""
        each = {"full": d * (d + 1) // 2, "diagonal": d, "isotropic": min(d, 1)}[self.shape]
        return self.n_groups * each


def _groups(covariance: tuple[tuple[Any, ...], ...], classes: NDArray[Any]) -> Codes:
    """The group of each class, from groups of labels."""
    named = [label for group in covariance for label in group]
    known = classes.tolist()
    missing = [label for label in known if label not in named]
    repeated = sorted({str(label) for label in named if named.count(label) > 1})
    unknown = [label for label in named if label not in known]
    if missing or repeated or unknown:
        raise ValueError(
            f"covariance groups must name every class once: missing {missing}, repeated {repeated}, "
            f"unknown {unknown}; the classes are {known}."
        )
    where = {label: g for g, group in enumerate(covariance) for label in group}
    return np.array([where[label] for label in known], dtype=np.intp)


def _moments(totals: ScatterTotals, data: Standardised, tying: Tying, again: Fields | None = None) -> Moments:
    """Means and scatters: closed form without gaps, pairwise, or by EM."""
    n_classes, d = data.weight.shape
    complete = all(len(cell.columns) == d for patterns in data.cells for cell in patterns)
    if again is not None and len(again) and (complete or totals.family.missing == "pairwise"):
        raise again.error("em", "belongs to a search, and there was none.")
    if totals.family.missing == "pairwise":
        return _pairwise_moments(data, tying)
    if not complete:
        if totals.family.shrinkage == "ledoit_wolf":
            raise ValueError(
                "shrinkage='ledoit_wolf' needs fourth moments of whole rows, and these have gaps; "
                "use shrinkage='oas' or a number."
            )
        return maximize(data, tying, again)
    mean, weight = np.zeros((n_classes, d)), np.zeros(n_classes)
    scatter = np.zeros((tying.n_groups, d, d))
    fourth_powers = []
    for k, patterns in enumerate(data.cells):
        for cell in patterns:
            sums = cell.sums
            constant = data.variance[k] == 0
            sums.scatter[constant] = sums.scatter[:, constant] = 0.0
            weight[k], mean[k] = sums.weight, sums.total / sums.weight
            scatter[tying.group[k]] += (
                sums.moved(-mean[k]).scatter if _counts(mean[k], sums) else sums.scatter
            )
            if cell.raw.fourth is not None:
                shift = cell.shift - mean[k] / cell.factor
                fourth_powers.append(partial(_fourth_power, cell, shift))
    evidence = [
        Evidence(g, np.arange(d), float(w), scatter[g]) for g, w in enumerate(tying.pooled(weight)) if w > 0
    ]
    return Moments(mean, scatter, weight, data.total_variance, evidence, fourth_powers)


def _counts(mean: Array, sums: Sums) -> bool:
    """Whether taking the mean off these sums would change them: they are about it already, to rounding."""
    return bool(np.any(sums.weight * mean**2 > 2.0**-60 * np.diag(sums.scatter)))


def _fourth_power(cell: Cell, shift: Array, factor: Array) -> float:
    return cell.raw.fourth_power(shift, cell.factor * factor)


def _pairwise_moments(data: Standardised, tying: Tying) -> Moments:
    """Each pair of columns from the rows in which both are observed, made positive semi-definite."""
    n_classes, d = data.weight.shape
    mean, weight = np.zeros((n_classes, d)), np.zeros(n_classes)
    scatter = np.zeros((tying.n_groups, d, d))
    evidence: list[Evidence] | None = []
    for k, patterns in enumerate(data.cells):
        for cell in patterns:
            sums, g = cell.sums, int(tying.group[k])
            count = np.where(sums.weight > 0, sums.weight, 1.0)
            weight[k] = np.diag(sums.weight).max(initial=0.0)
            mean[k] = np.diag(sums.total) / np.diag(count)
            covariance = sums.scatter / count - (sums.total / count) * (sums.total.T / count)
            constant = data.variance[k] == 0  # what is left of these is rounding, and may be below 0
            covariance[constant] = covariance[:, constant] = 0.0
            scatter[g] += weight[k] * nearest_covariance(covariance)
            if evidence is None or not np.all(sums.weight == sums.weight[0, 0]):
                evidence = None
            else:
                about = sums.as_pattern().moved(-mean[k])
                evidence.append(Evidence(g, np.arange(d), weight[k], about.scatter))
    return Moments(mean, scatter, weight, data.total_variance, evidence)


def _shrunk(moments: Moments, tying: Tying, shrinkage: Any) -> Array:
    """The covariance of each group after shrinkage."""
    if isinstance(shrinkage, tuple):
        return _friedman(moments, tying, *shrinkage)
    matrices = tying.covariances(moments.scatter, moments.weight)
    if shrinkage is None or tying.shape != "full" or matrices.shape[1] == 0:
        return matrices
    count = tying.pooled(moments.weight)
    for g in range(tying.n_groups):
        variance = np.diag(matrices[g]).copy()
        share = shrinkage
        if isinstance(shrinkage, str):
            inverse = np.divide(1.0, np.sqrt(variance), out=np.zeros_like(variance), where=variance > 0)
            correlation = matrices[g] * inverse
            correlation *= inverse[:, np.newaxis]
            if shrinkage == "oas":
                share = oas_share(correlation, count[g])
            else:
                fourth = sum(
                    power(inverse)
                    for power, h in zip(moments.fourth_powers, tying.group, strict=True)
                    if h == g
                )
                share = ledoit_wolf_share(correlation, fourth, count[g])
        matrices[g] *= 1.0 - share
        matrices[g][np.diag_indices_from(matrices[g])] = variance
    return matrices


def oas_share(correlation: Array, n: float) -> float:
    """The oracle approximating shrinkage of a correlation matrix (Chen et al. 2010)."""
    d = len(correlation)
    mean_square = float(np.vdot(correlation, correlation)) / correlation.size
    numerator, denominator = mean_square + 1.0, (n + 1.0) * (mean_square - 1.0 / d)
    return 1.0 if denominator <= numerator else numerator / denominator


def ledoit_wolf_share(correlation: Array, fourth: float, n: float) -> float:
    """Ledoit and Wolf's (2004) optimal shrinkage toward the identity, from Σ w·|z|⁴ of standardised rows."""
    diagonal = np.diag(correlation)
    size = float(np.vdot(correlation, correlation))
    off = size - float(diagonal @ diagonal) + float(np.sum((diagonal - 1.0) ** 2))
    noise = (fourth / n - size) / n
    return 0.0 if off <= 0 else min(max(noise, 0.0), off) / off


def _friedman(moments: Moments, tying: Tying, toward_shared: float, toward_identity: float) -> Array:
    """Friedman's (1989) regularised discriminant analysis: between full, shared and isotropic."""
    own, count = moments.scatter, tying.pooled(np.maximum(moments.weight - tying.ddof, 0.0))
    everyone, everything = own.sum(axis=0), count.sum()
    mixed = (1.0 - toward_shared) * own + toward_shared * everyone
    weight = (1.0 - toward_shared) * count + toward_shared * everything
    mixed = mixed / np.where(weight > 0, weight, 1.0)[:, np.newaxis, np.newaxis]
    level = np.trace(mixed, axis1=1, axis2=2) / max(mixed.shape[1], 1)
    identity = level[:, np.newaxis, np.newaxis] * np.eye(mixed.shape[1])
    return tying.shaped((1.0 - toward_identity) * mixed + toward_identity * identity)


def _regular(
    matrices: Array, moments: Moments, tying: Tying, label: str, classes: list[Any]
) -> tuple[Array, list[Regularized]]:
    """Positive definite matrices: where one has lost rank, one pseudo-observation of the pooled covariance.

    Where the pooled covariance has lost rank too, it first gets one pseudo-observation of its diagonal,
    and of the total variance in columns that are constant within every class.
    """
    singular = frozenset() if moments.found is None else moments.found.singular
    lost = [g in singular or not has_full_rank(matrix) for g, matrix in enumerate(matrices)]
    if not any(lost):
        return matrices, []
    everything = float(moments.weight.sum())
    pooled = moments.scatter.sum(axis=0) / max(everything, 1.0)
    target, reason = pooled, "the covariance shared by all classes"
    # A covariance that EM left on its way to lose rank may be most of the pooled one.
    if not has_full_rank(pooled, VANISHING if singular else SINGULAR):
        diagonal = np.diag(pooled)
        diagonal = np.where(diagonal > 0, diagonal, moments.total_variance)
        target = (everything * pooled + np.diag(diagonal)) / (everything + 1.0)
        reason += " (itself with one of the variances alone)"
    target = tying.shaped(np.stack([target]))[0]
    count = tying.pooled(moments.weight)
    notes = []
    for g in np.flatnonzero(lost):
        matrices[g] = (count[g] * matrices[g] + target) / (count[g] + 1.0)
        notes += [
            Regularized(
                label, classes[k], f"its covariance is singular: one pseudo-observation of {reason} was added"
            )
            for k in np.flatnonzero(tying.group == g)
        ]
    return matrices, notes


def has_full_rank(matrix: Array, singular: float = SINGULAR) -> bool:
    """Whether a covariance has full rank whatever the units: judged on its correlations."""
    diagonal = np.diag(matrix)
    if (diagonal <= 0).any():
        return False
    inverse = 1.0 / np.sqrt(diagonal)
    correlation = matrix * inverse
    correlation *= inverse[:, np.newaxis]
    smallest = singular * len(matrix)
    size = float(np.linalg.norm(correlation, 1)) if len(matrix) else 0.0
    root, failed = linalg.lapack.dpotrf(correlation, lower=True)
    if not failed and len(matrix):
        # The condition number in the 1-norm is cheap, and bounds the smallest eigenvalue from below.
        reciprocal, _ = linalg.lapack.dpocon(root, size, uplo="L")
        if reciprocal * size > 10.0 * smallest:
            return True
    return len(matrix) == 0 or bool(linalg.eigvalsh(correlation, subset_by_index=(0, 0))[0] > smallest)
