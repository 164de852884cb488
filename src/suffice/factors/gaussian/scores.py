"""The scores of rows in a joint Gaussian block, with and without missing cells.

Rows are centred by their class mean and scaled by column before the Cholesky factor whitens them, so
neither offsets nor units cost digits. A row with gaps is scored on its observed columns: the marginal
of a Gaussian is the Gaussian of the submatrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Exponents
from suffice.export.expressions import Gaps, Score
from suffice.factors.base import Block, RayScores, Separation, SolvedFactor
from suffice.factors.blocks import active_columns
from suffice.factors.checks import holds_infinity_beside, refuse_infinities
from suffice.factors.gaussian import patterns
from suffice.factors.gaussian.export import gaussian_scores
from suffice.factors.gaussian.moments import ScatterPart
from suffice.factors.gaussian.natural import gaussian_form
from suffice.factors.gaussian.parameters import Gaussians, Whitening
from suffice.factors.gaussian.saved import SavedSearch
from suffice.factors.natural import NaturalForm
from suffice.factors.scores import Scores
from suffice.families import MultivariateNormal, Normal
from suffice.families.multivariate_normal import natural_from_moments
from suffice.kernels.cells import row_patterns, row_runs
from suffice.kernels.choose import contiguous, gaussian_for, is_complete

ROWS_AT_ONCE = 4096
NUMBERS_AT_ONCE = 1 << 20
"""Numbers of rows with gaps that are held at once."""
FAR = 50
"""Rows more than 2^FAR deviations away are scored separately: the differences of their squares round to 0."""
REACH = 480
"""Rows up to 2^REACH deviations away can be squared; further ones are compared in a larger unit."""
FARTHEST = 2.0**300
"""Means farther apart than this many deviations are as far apart as this: no row of one is near the other."""
LARGEST = 2.0**1000
"""The largest score: sums of scores stay finite."""


class SolvedGaussian(Gaussians, SolvedFactor):
    """The Gaussians of all classes, which score rows."""

    family: MultivariateNormal
    is_predictive: ClassVar[bool] = False
    """Whether the scores are averages over the posterior of the parameters."""
    weight: Array
    """The rows' weight of each class."""
    degrees: Array
    """How many squares the covariance of each class is an average of: the rows, less ddof."""

    def __init__(self, family: MultivariateNormal, labels: list[str], active: Codes, d: int) -> None:
        super().__init__(labels, active, d)
        self.family: MultivariateNormal = family
        self.regularized = []
        self.n_parameters = 0
        self.scatter_parts: list[ScatterPart] | None = []
        self.weight = np.zeros(0)
        self.degrees = np.zeros(0)
        self.em: SavedSearch | None = None

    def saved_search(self) -> dict[str, Any]:
        return {} if self.em is None else {"em": self.em.state()}

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        done = self._add_whole_rows(block, scores.finite, base=base)
        if done < len(block):
            refuse_infinities(block, labels)
            self._add_by_patterns(block[done:], scores.finite[done:], base=base)
        elif holds_infinity_beside(block, self.active):
            refuse_infinities(block, labels)

    def _add_whole_rows(self, block: Array, scores: Array, *, base: bool) -> int:
        """Add the scores of the first rows, up to one with a gap or an infinity; return how many."""
        linear, n_cells = self._linear, block.size * len(self.group)
        if linear is not None and base:  # classes that share Σ have their own product for that
            return 0
        values = contiguous(active_columns(block, self.active))
        kernels = gaussian_for(n_cells)
        if linear is not None:
            return int(kernels.linear_scores(values, self._limit[self.active], *linear, scores))
        return int(kernels.whitened_scores(values, *self._whitening, scores))

    @cached_property
    def _limit(self) -> Array:
        """The largest |x| of a row that is not far away."""
        with np.errstate(over="ignore"):
            return np.minimum(np.ldexp(self.scale, FAR), np.finfo(np.float64).max)

    def are_far(self, cells: Array) -> NDArray[np.bool_]:
        """Whether rows of the active columns are far away."""
        return np.asarray((np.abs(cells) > self._limit[self.active]).any(axis=1))

    @cached_property
    def _linear(self) -> tuple[Array, Array, Array] | None:
        """Base, slopes and constants of the scores, where all share Σ and the square may be expanded."""
        if self.group.any() or len(self.group) < 2:
            return None
        means = self.about_middle(self.active, np.arange(len(self.group)), self.whitenings[0])
        return (means.base, *means.linear(self.whitenings[0])) if means.close else None

    @cached_property
    def _whitening(self) -> tuple[Array, ...]:
        """The arguments of the kernel of whitened rows."""
        on = self.active
        return (
            self._limit[on],
            np.ascontiguousarray(self.centre[:, on]),
            1.0 / self.scale[on],
            np.ascontiguousarray(self.shift[:, on]),
            np.stack([self.whitenings[g].inverse for g in self.group]),
            np.array([self.whitenings[g].constant for g in self.group]),
        )

    def _add_by_patterns(self, block: Array, scores: Array, *, base: bool) -> None:
        """Add the scores of rows with gaps; those far away are scored separately."""
        cells = block[:, self.active]
        far = self.are_far(cells)
        near, distant = np.flatnonzero(~far), np.flatnonzero(far)
        for run in row_runs(len(near), cells.shape[1], NUMBERS_AT_ONCE):
            (found,) = patterns.log_densities([self], [cells[near[run]]], whole=base)
            scores[near[run]] += found
        for rows, columns, whitenings in self._patterns(block[distant]):
            values = block[distant[rows][:, np.newaxis], columns]
            scores[distant[rows]] += self._far_scores(values, columns, whitenings, whole=base)

    def _far_scores(
        self, values: Array, columns: Codes, whitenings: list[Whitening], *, whole: bool
    ) -> Array:
        """Scores of rows far away, whose squared distances may overflow.

        Where they do, all distances of a row are measured in the same larger unit. Unless the `whole` is
        wanted, they are those beyond the nearest class, and the linear part decides among those that share Σ.
        """
        larger = self._larger_units(values, columns)
        scale = self.scale[columns]
        distance, linear = np.zeros((len(values), len(self.group))), np.zeros((len(values), len(self.group)))
        for g, whitening in enumerate(whitenings):
            members = np.flatnonzero(self.group == g)
            for k in members.tolist():
                distance[:, k] = whitening.squared(self._standard(values, columns, k, larger))
            if whole or len(members) == 1:
                continue
            means = self.about_middle(columns, members, whitening)
            away = whitening.whiten(_in_units(values, means.base, scale, means.middle, larger))
            apart = np.ldexp(np.abs(means.whitened).max(initial=0.0), 20 - larger)
            rows = np.flatnonzero(np.abs(away).max(axis=1) > apart)
            here = np.ix_(rows, members)
            distance[here] = np.einsum("ij,ij->i", away[rows], away[rows])[:, np.newaxis]
            with np.errstate(over="ignore"):
                slope = np.ldexp(away[rows] @ means.whitened.T, larger[rows, np.newaxis])
            linear[here] = np.clip(slope, -LARGEST, LARGEST) - means.half_norms
        if not whole:
            distance -= distance.min(axis=1, keepdims=True)
            with np.errstate(over="ignore"):
                distance = np.minimum(np.ldexp(distance, 2 * larger[:, np.newaxis]), LARGEST)
        constant = np.array([whitenings[g].constant for g in self.group])
        return np.asarray(constant - 0.5 * distance + linear)

    def _larger_units(self, values: Array, columns: Codes) -> Exponents:
        """The exponents of the units in which the squared distances of rows do not overflow."""
        scale = np.frexp(self.scale[columns])[1]
        away = 0.5 * values[:, np.newaxis] - 0.5 * self.centre[:, columns]
        exponent = np.where(away == 0, -REACH, np.frexp(away)[1] + 1 - scale)
        return np.asarray(np.maximum(exponent.max(axis=(1, 2), initial=REACH) - REACH, 0))

    def _standard(self, values: Array, columns: Codes, k: int, larger: Exponents | None = None) -> Array:
        """(x − μ_k)/scale, or the same in units larger by powers of two."""
        centre, shift, scale = self.centre[k, columns], self.shift[k, columns], self.scale[columns]
        if larger is None:
            return np.asarray((values - centre) / scale - shift)
        return _in_units(values, centre, scale, shift, larger)

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        return gaussian_scores(self, columns, labels, gaps)

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        return [gaussian_form(self, names, about)]

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        refuse_infinities(block, labels)
        result = np.zeros((*block.shape, len(self.group)))
        for rows, columns, whitenings in self._patterns(block):
            scale, values = self.scale[columns], block[np.ix_(rows, columns)]
            far = (np.abs(values) > self._limit[columns]).any()
            larger = self._larger_units(values, columns) if far else None
            for k, g in enumerate(self.group):
                z = self._standard(values, columns, k, larger)
                result[rows[:, np.newaxis], columns, k] = whitenings[g].cells(z, scale)
        return result

    def alone(self, block: Block, labels: list[str]) -> Array:
        """By the marginal of each column."""
        each = [self.take_columns(np.array([j])) for j in range(block.shape[1])]
        cells = [
            one.contributions(block[:, [j]], [labels[j]], base=False)[:, 0] for j, one in enumerate(each)
        ]
        return np.stack(cells, axis=1)

    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        seen = np.zeros(block.shape, dtype=np.bool_)
        seen[:, self.active] = ~np.isnan(block[:, self.active])
        return seen, np.zeros_like(seen)

    def take_columns(self, index: Codes) -> SolvedFactor:
        active = np.flatnonzero(np.isin(index, self.active))
        part = self._empty([self.labels[j] for j in index.tolist()], active, len(index))
        part.weight, part.degrees = self.weight, self.degrees
        part.centre, part.shift, part.scale = self.centre[:, index], self.shift[:, index], self.scale[index]
        at = np.searchsorted(self.active, index[active])
        part.standard, part.group = self.standard[:, at[:, np.newaxis], at], self.group
        part.scatter_parts = None
        return part

    def _empty(self, labels: list[str], active: Codes, d: int) -> SolvedGaussian:
        """A factor of other columns, whose parameters are still to be filled in."""
        return SolvedGaussian(self.family, labels, active, d)

    def gaussian_peak(self, seen: NDArray[np.bool_]) -> tuple[int, Array] | None:
        on = seen[self.active]
        peaks = np.array([whitening.constant for whitening in self.marginals(self.active[on])])
        return int(on.sum()), peaks[self.group]

    def _patterns(self, block: Array) -> Iterator[tuple[Codes, Codes, list[Whitening]]]:
        """Rows with the same columns observed, those columns, and Σ on them for each group."""
        if is_complete(block):
            if len(block):
                yield np.arange(len(block)), self.active, self.whitenings
            return
        for seen, rows in row_patterns(~np.isnan(block[:, self.active])):
            if seen.any():
                yield rows, self.active[seen], self.marginals(self.active[seen])

    @cached_property
    def log_likelihood(self) -> float:
        """Log p of the summarized rows; NaN where only pairs of columns were summed."""
        if self.scatter_parts is None:
            return float("nan")
        value = 0.0
        for part in self.scatter_parts:
            whitening = self.whitenings[part.group]
            if len(part.columns) < len(self.active):
                marginal = self.standard[part.group][np.ix_(part.columns, part.columns)]
                (whitening,) = Whitening.of_each(marginal[np.newaxis], self.scale[self.active][part.columns])
            distance = np.sum((whitening.inverse @ part.scatter) * whitening.inverse)
            value += part.weight * whitening.constant - 0.5 * float(distance)
        return value

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        rows = self.mean[classes].copy()
        noise = rng.standard_normal((len(classes), len(self.active)))
        for g, whitening in enumerate(self.whitenings):
            members = self.group[classes] == g
            drawn = whitening.colour(noise[members]) * self.scale[self.active]
            rows[np.ix_(members, self.active)] += drawn
        return list(rows.T)

    def simulated_scores(self, seen: NDArray[np.bool_], classes: Codes, noise: Array) -> Array:
        ends = np.searchsorted(classes, np.arange(len(self.group) + 1))
        parts = [*map(slice, ends[:-1], ends[1:])]
        scores = np.empty((len(classes), len(self.group)))
        each = self.along_rays(seen, {c: noise[rows] for c, rows in enumerate(parts)})
        for rows, rays in zip(parts, each, strict=True):
            scores[rows] = (rays.peak[:, np.newaxis] - 0.5 * rays.squares - rays.slopes).T
        return scores

    def along_rays(self, seen: NDArray[np.bool_], directions: dict[int, Array]) -> Iterator[RayScores]:
        """In coordinates where their own class is standard, the others are a product or a shift away."""
        columns = self.active[seen[self.active]]
        whitenings, n_classes = self.marginals(columns), len(self.group)
        constant = np.array([whitening.constant for whitening in whitenings])[self.group]
        for c, every in directions.items():
            mine, rays = whitenings[self.group[c]], every[:, : len(columns)]
            with np.errstate(over="ignore"):
                away = (self.centre[c] - self.centre) / self.scale + (self.shift[c] - self.shift)
            away = np.clip(away[:, columns], -FARTHEST, FARTHEST)
            squares, slopes = np.empty((2, n_classes, len(rays)))
            peak = constant.copy()
            for g, theirs in enumerate(whitenings):
                members = np.flatnonzero(self.group == g)
                along = rays if theirs is mine else rays @ (theirs.inverse @ mine.root).T
                shift = away[members] @ theirs.inverse.T
                squares[members] = np.einsum("ij,ij->i", along, along)
                slopes[members] = shift @ along.T
                peak[members] -= 0.5 * np.einsum("ij,ij->i", shift, shift)
            yield RayScores(peak, slopes, squares)

    def separation(self) -> Separation:
        n_classes, on = len(self.group), self.active
        kl, distance = (np.zeros((len(self.scale), n_classes, n_classes)) for _ in range(2))
        joint_kl, joint_distance = (np.zeros((n_classes, n_classes)) for _ in range(2))
        covariance = self.standard[self.group]
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        away_from = (self.centre - self.centre[:, np.newaxis]) / self.scale + self.shift
        for k in range(n_classes):
            away = (away_from[k] - self.shift[k])[:, on]
            for family, natural, into in (
                (Normal(), np.stack([away / variance, -0.5 / variance]), (kl, distance)),
                (self.family, natural_from_moments(away, covariance), (joint_kl, joint_distance)),
            ):
                mine = np.broadcast_to(natural[:, [k]], natural.shape)
                both = family.kl(mine, natural, 0.0), family.bhattacharyya(mine, natural, 0.0)
                for divergence, result in zip(both, into, strict=True):
                    if result.ndim == 2:
                        result[k] = divergence
                    else:
                        result[on, k] = divergence.T
        parts = (np.maximum(part, 0.0) for part in (kl, distance, joint_kl, joint_distance))
        return Separation(*parts)

    def conventional(self) -> list[dict[str, Any]]:
        spread = np.diagonal(self.covariances(), axis1=1, axis2=2)
        return [{"mean": self.mean[:, j], "variance": spread[:, j]} for j in range(len(self.scale))]


def scores_at_once(several: Sequence[SolvedFactor], blocks: Sequence[Block]) -> list[Array] | None:
    """Scores of rows, each block by its own Gaussians, up to what classes share: (rows, classes) of each.

    None where factors are not all Gaussians of the same columns, where no cell is missing, so that a product
    with each block is all there is to do, or where rows are far away.
    """
    gaussians = [one for one in several if type(one) is SolvedGaussian]
    if len(gaussians) < len(several):
        return None
    on, group = gaussians[0].active, gaussians[0].group
    if not all(np.array_equal(one.active, on) and np.array_equal(one.group, group) for one in gaussians):
        return None
    cells = [block[:, on] for block in blocks]
    if all(map(is_complete, cells)):
        return None
    if any(one.are_far(values).any() for one, values in zip(gaussians, cells, strict=True)):
        return None
    return patterns.log_densities(gaussians, cells, whole=False)


def runs(rows: Codes) -> Iterator[Codes]:
    """The rows in batches."""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        yield rows[start : start + ROWS_AT_ONCE]


def _in_units(values: Array, centre: Array, scale: Array, shift: Array, larger: Exponents) -> Array:
    """((x − centre)/scale − shift)/2^larger, although the difference and the ratio may overflow."""
    by_row = larger[:, np.newaxis]
    size, exponent = np.frexp(0.5 * values - 0.5 * centre)
    unit, unit_exponent = np.frexp(scale)
    return np.asarray(np.ldexp(size / unit, exponent + 1 - unit_exponent - by_row) - np.ldexp(shift, -by_row))
