"""From scatter sums to Gaussians: means and covariances, tied, shrunk, and never singular.

All matrices live in standardised coordinates, (x − centre of the class)/scale of the column, so that
nothing here depends on the units of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.base import Regularized
from suffice.factors.gaussian.em import Found, maximize, nearest_covariance
from suffice.factors.gaussian.regular import block_name, peculiarities, regular
from suffice.factors.gaussian.scores import ScatterPart, SolvedScatter
from suffice.factors.gaussian.sums import Sums
from suffice.factors.gaussian.totals import ScatterTotals
from suffice.factors.gaussian.tying import Tying
from suffice.families.elementary import exponent_of
from suffice.storage import Fields

Scored = TypeVar("Scored", bound=SolvedScatter)
SMALLEST_SCALE = 2.0**-1020
"""Its reciprocal is a float."""


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
    noise: Array
    """How much of it rounding may have left."""
    total_variance: Array
    varies: NDArray[np.bool_]
    """Whether a column varies."""


def solve_scatter(
    totals: ScatterTotals, labels: list[str], classes: NDArray[Any], saved_search: Fields | None = None
) -> SolvedScatter:
    """The Gaussians of all classes: maximum likelihood, tied and shrunk as the family says.

    With `again`, what EM found over the gaps is in a file; without gaps the file holds nothing.
    """
    found = class_moments(totals, classes, saved_search)
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
    left_out: dict[int, str]
    """Columns that say nothing, with the reason."""


def class_moments(
    totals: ScatterTotals, classes: NDArray[Any], saved_search: Fields | None = None
) -> ClassMoments:
    """The moments of all classes, tied as the family says."""
    everything = standardised(totals)
    active = np.flatnonzero(everything.varies)
    data = _columns(everything, active)
    family = totals.family
    tying = Tying(family.covariance, classes, family.ddof)
    if isinstance(family.shrinkage, tuple) and family.shrinkage[0] == 1.0:
        tying.share()
    rounding = tying.rounding(data.weight * data.variance, data.weight * data.noise)
    moments = replace(_moments(totals, data, tying, saved_search), rounding=rounding)
    left_out = {j: _why_left_out(everything, j) for j in np.flatnonzero(~everything.varies).tolist()}
    return ClassMoments(classes, everything.centre, everything.scale, active, data, tying, moments, left_out)


def _why_left_out(data: Standardised, column: int) -> str:
    if not data.weight[:, column].any():
        return "no row has a value in it, so it is left out"
    if data.noise[:, column].any():
        return "what is left of it is rounding of rows taken away, so it is left out; fit the rows afresh"
    return "all its values are equal, so it tells no classes apart and is left out"


def assembled(solved: Scored, found: ClassMoments, matrices: Array) -> Scored:
    """Gaussians with these covariances (g, d, d), standardised; where one is singular, it is made regular."""
    labels, moments, tying = solved.labels, found.moments, found.tying
    block = block_name(labels)
    names = found.classes.tolist()
    solved.centre, solved.scale = found.centre, found.scale
    solved.shift = np.zeros_like(found.centre)
    solved.shift[:, found.active] = moments.mean
    solved.standard, made_regular = regular(matrices, moments, tying, block, names)
    solved.regularized = peculiarities(found, labels) + made_regular
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
    weight, first, second, peak, support = (np.zeros((n_classes, d)) for _ in range(5))
    for key, cell in totals.cells.items():
        k, columns = key[0], totals.columns_of(key)
        pairs = cell.weight.ndim > 0
        weight[k, columns] += np.diag(cell.weight) if pairs else cell.weight
        support[k, columns] += np.diag(cell.support) if pairs else cell.support
        first[k, columns] += (np.diag(cell.total) if pairs else cell.total) * ratio[columns]
        second[k, columns] += np.diag(cell.scatter) * ratio[columns] ** 2
        peak[k, columns] += cell.peak * ratio[columns] ** 2
    mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    variance = np.divide(second, weight, out=np.zeros_like(second), where=weight > 0) - mean**2
    # Rounding leaves at most this much of a variance that is zero.
    eps = np.finfo(np.float64).eps
    noise = np.divide(16.0 * eps * peak, weight, out=np.zeros_like(peak), where=weight > 0)
    variance[(variance <= 8.0 * eps * mean**2) | (variance <= noise)] = 0.0
    noise[support < 2] = 0.0  # one row has no variance to lose

    everything = weight.sum(axis=0)
    away = np.where(weight > 0, (reference - anchor) / unit + mean, 0.0)
    share = np.divide(weight, everything, out=np.zeros_like(weight), where=everything > 0)
    grand = np.sum(share * away, axis=0)
    within = np.sum(share * variance, axis=0)
    total = within + np.sum(share * (away - grand) ** 2, axis=0)
    scale = np.sqrt(np.where(within > 0, within, np.where(total > 0, total, 1.0)))
    spread = np.maximum(scale * unit, SMALLEST_SCALE)
    if "isotropic" in totals.family.covariance and (total > 0).any():  # Σ = λI in the units of the data
        spread = np.full(d, spread[total > 0].max())
    with np.errstate(over="ignore"):
        scale = spread / unit
        square = scale**2

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
        spread,
        np.where(weight > 0, variance, within) / square,
        noise / square,
        total / square,
        total > 0,
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
        data.noise[at],
        data.total_variance[active],
        data.varies[active],
    )


@dataclass(frozen=True)
class Moments:
    """Means (k, d) of the classes, scatter matrices W_g·S_g (g, d, d) of the groups that share Σ."""

    mean: Array
    scatter: Array
    weight: Array
    """The rows' weight of each class."""
    total_variance: Array
    evidence: list[ScatterPart] | None
    """What the log likelihood is made of; None where only pairs of columns were summed."""
    fourth_powers: Sequence[Callable[[Array], float]] = field(default_factory=list)
    """For each class, Σ w·|z·factor|⁴ about its mean as a function of the factor: for Ledoit and Wolf."""
    found: Found | None = None
    """Where EM ended, if it took EM."""
    rounding: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """What share of each variance, (g, d), may be rounding of rows taken away."""


def _moments(
    totals: ScatterTotals, data: Standardised, tying: Tying, saved_search: Fields | None = None
) -> Moments:
    """Means and scatters: closed form without gaps, pairwise, or by EM."""
    n_classes, d = data.weight.shape
    complete = all(len(cell.columns) == d for patterns in data.cells for cell in patterns)
    if saved_search is not None and len(saved_search) and (complete or totals.family.missing == "pairwise"):
        raise saved_search.error("em", "belongs to a search, and there was none.")
    if totals.family.missing == "pairwise":
        return _pairwise_moments(data, tying)
    if not complete:
        if totals.family.shrinkage == "ledoit_wolf":
            raise ValueError(
                "shrinkage='ledoit_wolf' needs fourth moments of whole rows, and these have gaps; "
                "use shrinkage='oas' or a number."
            )
        return maximize(data, tying, saved_search)
    mean, weight = np.zeros((n_classes, d)), np.zeros(n_classes)
    scatter = np.zeros((tying.n_groups, d, d))
    fourth_powers = []
    for k, patterns in enumerate(data.cells):
        for cell in patterns:
            sums = cell.sums
            weight[k], mean[k] = sums.weight, sums.total / sums.weight
            own = sums.moved(-mean[k]).scatter if _counts(mean[k], sums) else sums.scatter
            constant = data.variance[k] == 0
            if constant.any():  # what is left of these is rounding, and may be below 0
                own = np.where(constant | constant[:, np.newaxis], 0.0, own)
            scatter[tying.group[k]] += own
            if cell.raw.fourth is not None:
                shift = cell.shift - mean[k] / cell.factor
                fourth_powers.append(partial(_fourth_power, cell, shift))
    evidence = [
        ScatterPart(g, np.arange(d), float(w), scatter[g])
        for g, w in enumerate(tying.pooled(weight))
        if w > 0
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
    evidence: list[ScatterPart] | None = []
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
                evidence.append(ScatterPart(g, np.arange(d), weight[k], about.scatter))
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
    own, count = moments.scatter, tying.divisors(moments.weight)
    everyone, everything = own.sum(axis=0), count.sum()
    mixed = (1.0 - toward_shared) * own + toward_shared * everyone
    weight = (1.0 - toward_shared) * count + toward_shared * everything
    mixed = mixed / np.where(weight > 0, weight, 1.0)[:, np.newaxis, np.newaxis]
    level = np.trace(mixed, axis1=1, axis2=2) / max(mixed.shape[1], 1)
    identity = level[:, np.newaxis, np.newaxis] * np.eye(mixed.shape[1])
    return tying.shaped((1.0 - toward_identity) * mixed + toward_identity * identity)
