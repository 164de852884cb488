"""Means and scatters of the classes from their sums: standardised, and in closed form or by pairs of columns.

All matrices live in standardised coordinates, (x − centre of the class)/scale of the column, so that
nothing here depends on the units of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.rows import RowSums
from suffice.factors.gaussian.saved import SavedSearch
from suffice.factors.gaussian.sums import Sums
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.families.elementary import exponent_of

SMALLEST_SCALE = 2.0**-1020
"""Its reciprocal is a float."""
NOISE_OF_MEANS = 2.0**20 * np.finfo(np.float64).eps
"""A squared mean is as noisy as a variance times ε, and times how many more rows there were than are left."""


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

    @property
    def mean(self) -> Array:
        """The mean of z."""
        return np.asarray((self.raw.total + self.raw.weight * self.shift) * self.factor / self.raw.weight)


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
    """How much of it may be rounding error."""
    total_variance: Array
    varies: NDArray[np.bool_]
    """Whether a column varies."""

    @classmethod
    def side_by_side(cls, several: Sequence[Standardised]) -> Standardised:
        """The classes of several sums of the same columns in turn, each in units of its own sums."""
        cells = [patterns for one in several for patterns in one.cells]
        names = ("weight", "centre", "variance", "noise")
        return replace(
            several[0],
            cells=cells,
            **{name: np.concatenate([getattr(one, name) for one in several]) for name in names},
        )


@dataclass(frozen=True)
class ScatterPart:
    """Some rows of one group: their weight, the columns observed, and the scatter about the means."""

    group: int
    columns: Codes
    weight: float
    scatter: Array


@dataclass(frozen=True)
class Moments:
    """Means (k, d) of the classes, scatter matrices W_g·S_g (g, d, d) of the groups that share Σ."""

    mean: Array
    scatter: Array
    weight: Array
    """The rows' weight of each class."""
    total_variance: Array
    scatter_parts: list[ScatterPart] | None
    """The parts of the log likelihood; None where only pairs of columns were summed."""
    saved_search: SavedSearch | None = None
    """Where EM ended, if it took EM."""
    noise: Array = field(default_factory=lambda: np.zeros((0, 0)))
    """How much of the diagonals of `scatter`, (g, d), may be rounding error from removed rows."""


@dataclass(frozen=True)
class CentredRows:
    """√w·(z − mean of the class) of a few rows, (n, d), with their weights and classes."""

    values: Array
    weight: Array
    classes: Codes


@dataclass(frozen=True)
class ClassMoments:
    """Means and scatters of the classes on the columns that vary, neither shrunk nor regularised."""

    classes: NDArray[Any]
    centre: Array
    """Where each class is centred, (k, d), in the units of the data; `moments.mean` is relative to it."""
    scale: Array
    """The unit of each column, (d,)."""
    active: Codes
    data: Standardised
    """The sums behind the moments, on the active columns."""
    tying: Tying
    moments: Moments
    left_out: dict[int, str]
    """Columns left out, with the reason."""

    def tied(self, tying: Tying) -> ClassMoments:
        """The moments of classes that have a scatter matrix each, for groups of them that share one."""
        moments = self.moments
        scatter, noise = (tying.pooled(one) for one in (moments.scatter, moments.noise))
        parts = moments.scatter_parts
        if parts is not None:
            parts = [replace(part, group=int(tying.group[part.group])) for part in parts]
        return replace(
            self, tying=tying, moments=replace(moments, scatter=scatter, noise=noise, scatter_parts=parts)
        )

    def fourth_power(self, classes: Iterable[int], factor: Array, away: Array | None = None) -> float:
        """Σ w·|z·factor|⁴ over the rows of some classes, about `away` from their means, (k, d)."""
        mean = self.moments.mean if away is None else self.moments.mean - away
        return sum(
            cell.raw.fourth_power(cell.shift - mean[k] / cell.factor, cell.factor * factor)
            for k in classes
            for cell in self.data.cells[k]
        )


def standardised(totals: GaussianTotals) -> Standardised:
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
        second[k, columns] += cell.squares * ratio[columns] ** 2
        peak[k, columns] += cell.peak * ratio[columns] ** 2
    mean = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    variance = np.divide(second, weight, out=np.zeros_like(second), where=weight > 0) - mean**2
    # Rounding leaves at most this much of a variance that is zero.
    eps = np.finfo(np.float64).eps
    noise = np.divide(16.0 * eps * peak, weight, out=np.zeros_like(peak), where=weight > 0)
    variance[(variance <= 8.0 * eps * mean**2) | (variance <= noise)] = 0.0

    everything = weight.sum(axis=0)
    away = np.where(weight > 0, np.where(held, reference - anchor, 0.0) / unit + mean, 0.0)
    share = np.divide(weight, everything, out=np.zeros_like(weight), where=everything > 0)
    grand = np.sum(share * away, axis=0)
    within = np.sum(share * variance, axis=0)
    between = np.sum(share * (away - grand) ** 2, axis=0)
    between[between <= NOISE_OF_MEANS * np.sum(share * noise, axis=0)] = 0.0
    total = within + between
    noise[support < 2] = 0.0  # one row has no variance to lose
    scale = np.sqrt(np.where(within > 0, within, np.where(total > 0, total, 1.0)))
    spread = np.maximum(scale * unit, SMALLEST_SCALE)
    if "isotropic" in totals.family.covariance and (total > 0).any():  # Σ = λI in the units of the data
        spread = np.full(d, spread[total > 0].max())
    with np.errstate(over="ignore"):
        scale = spread / unit
        square = scale**2

    grand_raw = anchor + grand * unit
    centre = np.where(weight > 0, reference + mean * unit, grand_raw)
    shift = np.where(weight > 0, reference - centre, 0.0) / unit
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


def columns_of(data: Standardised, active: Codes) -> Standardised:
    """The same without constant columns; patterns that differed only in those become one."""
    if len(active) == len(data.scale):
        return data
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
class _Stacked:
    """The sums of classes whose rows all have the same columns, stacked."""

    classes: Codes
    weight: Array
    total: Array
    scatter: Array

    @classmethod
    def of(cls, data: Standardised) -> _Stacked:
        """Sums of z = (x + shift)·factor, as `Cell.sums` are."""
        classes = [k for k, patterns in enumerate(data.cells) if patterns]
        cells = [data.cells[k][0] for k in classes]
        d = len(data.scale)
        weight, total, scatter, shift, factor = (
            np.stack(several) if cells else np.zeros((0, *shape))
            for several, shape in (
                ([cell.raw.weight for cell in cells], ()),
                ([cell.raw.total for cell in cells], (d,)),
                ([cell.raw.scatter for cell in cells], (d, d)),
                ([cell.shift for cell in cells], (d,)),
                ([cell.factor for cell in cells], (d,)),
            )
        )
        moved = cls(np.array(classes, dtype=np.intp), weight, total, scatter).moved(shift)
        by_row, by_column = factor[:, :, np.newaxis], factor[:, np.newaxis]
        scaled = moved.total * (by_row if weight.ndim > 1 else factor)
        return replace(moved, total=scaled, scatter=moved.scatter * by_row * by_column)

    def moved(self, shift: Array) -> _Stacked:
        """Sums of z + shift, as `Sums.moved` has them."""
        by_row, by_column = shift[:, :, np.newaxis], shift[:, np.newaxis]
        weight, total = self.weight, self.total
        if weight.ndim > 1:
            both = by_row * total.swapaxes(1, 2) + by_column * total
            scatter = self.scatter + both + weight * by_row * by_column
            return replace(self, total=total + weight * by_row, scatter=scatter)
        half = total + 0.5 * weight[:, np.newaxis] * shift
        scatter = np.stack([half, shift], axis=2) @ np.stack([shift, half], axis=1) + self.scatter
        return replace(self, total=total + weight[:, np.newaxis] * shift, scatter=scatter)


def closed_moments(data: Standardised, tying: Tying) -> Moments:
    """Means and scatters of rows without gaps."""
    n_classes, d = data.weight.shape
    mean, weight = np.zeros((n_classes, d)), np.zeros(n_classes)
    sums = _Stacked.of(data)
    held, own = sums.classes, sums.scatter
    weight[held], mean[held] = sums.weight, sums.total / sums.weight[:, np.newaxis]
    squares = np.diagonal(own, axis1=1, axis2=2)
    # Elsewhere, to subtract the mean would change the sums by no more than rounding.
    counts = np.any(sums.weight[:, np.newaxis] * mean[held] ** 2 > 2.0**-60 * squares, axis=1)
    if counts.any():
        own = np.where(counts[:, np.newaxis, np.newaxis], sums.moved(-mean[held]).scatter, own)
    constant = np.asarray(data.variance[held] == 0)
    if constant.any():  # only rounding is left, and it may be negative
        own = np.where(constant[:, np.newaxis] | constant[:, :, np.newaxis], 0.0, own)
    scatter = np.zeros((tying.n_groups, d, d))
    for g, of_class in zip(tying.group[held].tolist(), own, strict=True):
        scatter[g] += of_class
    parts = [
        ScatterPart(g, np.arange(d), float(w), scatter[g])
        for g, w in enumerate(tying.pooled(weight))
        if w > 0
    ]
    return Moments(mean, scatter, weight, data.total_variance, parts)


def class_means(data: Standardised, tying: Tying) -> Moments:
    """Means of rows without gaps, without their scatter."""
    mean, weight = np.zeros(data.weight.shape), np.zeros(len(data.weight))
    for k, patterns in enumerate(data.cells):
        for cell in patterns:
            weight[k], mean[k] = cell.raw.weight, cell.mean
    return Moments(mean, np.zeros((tying.n_groups, 0, 0)), weight, data.total_variance, None)


def centred_rows(data: Standardised) -> CentredRows | None:
    """All rows about the means of their classes, where these were kept and are few."""
    d = len(data.scale)
    cells = [(k, cell) for k, patterns in enumerate(data.cells) for cell in patterns]
    n_rows = sum(int(cell.raw.support) for _, cell in cells if isinstance(cell.raw, RowSums))
    rows, weight, classes = np.empty((n_rows, d)), np.empty(n_rows), np.empty(n_rows, dtype=np.intp)
    start = 0
    for k, cell in cells:
        raw = cell.raw
        if not isinstance(raw, RowSums) or len(cell.columns) < d or (raw.by_row < 0).any():
            return None
        stop = start + len(raw.rows)
        away = np.add(raw.rows, cell.shift, out=rows[start:stop])
        away *= cell.factor
        away -= cell.mean
        away *= np.sqrt(raw.by_row)[:, np.newaxis]
        away[:, data.variance[k] == 0] = 0.0  # only rounding is left
        weight[start:stop], classes[start:stop] = raw.by_row, k
        start = stop
    return CentredRows(rows, weight, classes) if 2 * n_rows <= d else None


def pairwise_moments(data: Standardised, tying: Tying) -> Moments:
    """Each pair of columns from the rows in which both are observed, made positive semi-definite."""
    n_classes, d = data.weight.shape
    mean, weight = np.zeros((n_classes, d)), np.zeros(n_classes)
    scatter = np.zeros((tying.n_groups, d, d))
    sums = _Stacked.of(data)
    held, of_pair = sums.classes, sums.weight
    if not len(held):
        return Moments(mean, scatter, weight, data.total_variance, [])
    count = np.where(of_pair > 0, of_pair, 1.0)
    ratio, other = sums.total / count, sums.total.swapaxes(1, 2) / count
    weight[held] = np.diagonal(of_pair, axis1=1, axis2=2).max(axis=1, initial=0.0)
    mean[held] = np.diagonal(ratio, axis1=1, axis2=2)
    constant = np.asarray(data.variance[held] == 0)  # only rounding is left, and it may be negative
    gone = constant[:, np.newaxis] | constant[:, :, np.newaxis]
    covariance = np.where(gone, 0.0, sums.scatter / count - ratio * other)
    complete = (of_pair == of_pair[:, :1, :1]).all(axis=(1, 2))
    for k, one, is_whole in zip(held.tolist(), covariance, complete.tolist(), strict=True):
        scatter[tying.group[k]] += weight[k] * (one if is_whole else nearest_covariance(one))
    parts: list[ScatterPart] | None = None
    if complete.all():
        of_class = replace(sums, weight=of_pair[:, 0, 0], total=sums.total[:, :, 0])
        each = zip(held.tolist(), of_class.moved(-mean[held]).scatter, strict=True)
        parts = [ScatterPart(int(tying.group[k]), np.arange(d), weight[k], one) for k, one in each]
    return Moments(mean, scatter, weight, data.total_variance, parts)


def nearest_covariance(covariance: Array, rounding: Array | None = None) -> Array:
    """The matrix without its negative eigenvalues, rescaled so that it keeps its diagonal.

    With `rounding`, how much of each variance may be rounding error, those that may be are zero as well. The
    diagonal then changes by no more than such errors, and is not kept: rescaling would spread them.
    """
    if rounding is None:
        varies = np.flatnonzero(np.diag(covariance) > 0)
        if len(varies) < len(covariance):  # all else is zero
            repaired = np.zeros_like(covariance)
            both = np.ix_(varies, varies)
            repaired[both] = nearest_covariance(covariance[both])
            return repaired
        margin = len(covariance) ** 2 * np.finfo(np.float64).eps * np.diag(covariance)
        if len(covariance) and not linalg.lapack.dpotrf(covariance + np.diag(margin), lower=True)[1]:
            return covariance
        unit, zero = np.ones(len(covariance)), 0.0
    else:
        unit, zero = np.sqrt(np.where(rounding > 0, rounding, 1.0)), 1.0
    values, vectors = np.linalg.eigh(covariance / unit / unit[:, np.newaxis])
    if values.min(initial=zero) >= zero:
        return covariance
    vectors *= unit[:, np.newaxis]
    repaired = np.asarray((vectors * np.where(values > zero, values, 0.0)) @ vectors.T)
    if rounding is not None:
        return repaired
    now, wanted = np.diag(repaired), np.diag(covariance)
    stretch = np.sqrt(np.divide(wanted, now, out=np.ones_like(now), where=now > 0))
    return np.asarray(repaired * np.outer(stretch, stretch))
