"""Rows with gaps in a joint Gaussian block, many patterns of missing cells at once, of one block or several.

The marginal of a Gaussian is the Gaussian of the submatrix. With P = Σ⁻¹, and o and m the columns that a row
observes and misses, zᵀΣ_oo⁻¹z = zᵀPz − (Pz)_mᵀ P_mm⁻¹ (Pz)_m, where z is 0 in m, and
log det Σ_oo = log det Σ + log det P_mm: a row that misses a few columns takes a matrix of these few. A row
that observes fewer than it misses, or one where Σ is nearly singular, takes Σ_oo. Patterns that take about as
many columns are looked at together, in matrices of one size: a column too many has variance 1 and no
covariances.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.parameters import NEAR, Gaussians
from suffice.families.special import HALF_LOG_TWO_PI
from suffice.kernels.cells import pattern_runs

NUMBERS_AT_ONCE = 1 << 17
"""Numbers of matrices, or of rows, that are held at once: fewer patterns are more alike."""
FEW_ROWS = 1 << 12
"""Rows that patterns are filled up to, whatever their own numbers: more cost more than calls do."""
MOST_INFLATION = 2.0**14
"""The largest Σ_jj·(Σ⁻¹)_jj up to which what a row misses is taken away: that loses 4 of 16 digits. Squares
of slopes may be as many times as large as those of columns that are not alike."""


def log_densities(several: Sequence[Gaussians], blocks: Sequence[Array], *, whole: bool) -> list[Array]:
    """Log p of the rows of each block by its own Gaussians, (rows, classes) of each.

    Cells are those of the active columns, which blocks share, as they do the groups of classes. Unless the
    `whole` is wanted, what is equal for all classes is left out where they share Σ.
    """
    group, parameters = several[0].group, _Parameters.of(several)
    covariances = [_Covariances.of(standard) for standard in parameters.standard]
    rows = _Rows.of(blocks, np.logical_and.reduce([one.sound for one in covariances]))
    scores = np.empty((len(rows.cells), len(group)))
    for g, one in enumerate(covariances):
        own = _Group(rows, one, parameters.of_classes(np.flatnonzero(group == g)))
        scores[:, group == g] = own.log_densities(whole=whole or len(covariances) > 1)
    return np.split(scores, np.cumsum([len(block) for block in blocks[:-1]]))


class _Parameters(NamedTuple):
    """The parameters of several blocks, on the active columns."""

    centre: Array
    """(classes, blocks, columns), as are the shifts."""
    shift: Array
    scale: Array
    """(blocks, columns)."""
    standard: Array
    """(groups, blocks, columns, columns)."""

    @classmethod
    def of(cls, several: Sequence[Gaussians]) -> Self:
        on = several[0].active
        return cls(
            np.stack([one.centre[:, on] for one in several], axis=1),
            np.stack([one.shift[:, on] for one in several], axis=1),
            np.stack([one.scale[on] for one in several]),
            np.stack([one.standard for one in several], axis=1),
        )

    def of_classes(self, members: Codes) -> Self:
        """Those of some classes."""
        return self._replace(centre=self.centre[members], shift=self.shift[members])


class _Covariances(NamedTuple):
    """Σ and Σ⁻¹ of a group of classes in each block, (blocks, columns, columns)."""

    matrices: Array
    inverses: Array
    log_roots: Array
    """½ log det Σ of each block."""

    @classmethod
    def of(cls, matrices: Array) -> Self:
        roots = np.linalg.cholesky(matrices)
        lower = np.zeros(roots.shape)
        for inverse, root in zip(lower, roots, strict=True) if roots.size else ():
            # Read by columns, the root in memory is its own transpose.
            inverse[:] = linalg.lapack.dpotri(root.T, lower=0)[0].T
        inverses = lower + lower.swapaxes(1, 2)
        diagonal = np.arange(roots.shape[1])
        inverses[:, diagonal, diagonal] = lower[:, diagonal, diagonal]
        return cls(np.ascontiguousarray(matrices), inverses, _log_roots(roots))

    @property
    def sound(self) -> NDArray[np.bool_]:
        """Whether the inverse of each block has most of its digits."""
        variances, precisions = (np.diagonal(one, axis1=1, axis2=2) for one in self[:2])
        return np.asarray((variances * precisions <= MOST_INFLATION).all(axis=1))


@dataclass(frozen=True)
class _Batch:
    """Some patterns that take about as many columns, with about as many rows each."""

    at: Codes
    """Their places among all patterns."""
    block: Codes
    by_inverse: bool
    """Whether they take the columns that they miss from Σ⁻¹, or those that they observe from Σ."""
    columns: Codes
    """(patterns, columns): those that are taken, and others up to the number of the most."""
    others: tuple[Codes, Codes]
    """Where the others are."""
    rows: Codes
    """(patterns, rows): those of a pattern, and its last one again up to the number of the others."""
    own: NDArray[np.bool_]
    """Which rows are its own."""
    n_columns: int
    """All of them."""

    @cached_property
    def places(self) -> Codes:
        """Where the numbers of what is taken are in the matrices of all blocks, one after the other."""
        of_row = self.block[:, np.newaxis] * self.n_columns + self.columns
        return of_row[:, :, np.newaxis] * self.n_columns + self.columns[:, np.newaxis]

    def matrices(self, covariances: _Covariances) -> Array:
        """What is taken of Σ, or of Σ⁻¹, of each pattern."""
        source = covariances.inverses if self.by_inverse else covariances.matrices
        taken = source.ravel().take(self.places)
        pattern, place = self.others
        taken[pattern, place] = taken[pattern, :, place] = 0.0
        taken[pattern, place, place] = 1.0
        return taken

    def cells(self, rows: Array, at: Codes) -> Array:
        """The columns that are taken, of some rows of each pattern, (patterns, rows, columns)."""
        taken = rows[at[:, :, np.newaxis], self.columns[:, np.newaxis]]
        pattern, place = self.others
        taken[pattern, :, place] = 0.0
        return taken


@dataclass(frozen=True)
class _Rows:
    """The rows of several blocks, one block after the other, by the patterns of their missing cells."""

    cells: Array
    gaps: Codes
    """Where missing cells are in all of these."""
    ends: list[int]
    """Where each block begins, and the last one ends."""
    block: Codes
    """The block of each pattern; those of a block are side by side."""
    kinds: NDArray[np.bool_]
    """Which columns are observed, (patterns, columns)."""
    by_inverse: NDArray[np.bool_]
    """Whether a pattern takes the columns that it misses."""
    order: Codes
    """The rows pattern by pattern."""
    starts: Codes

    @classmethod
    def of(cls, blocks: Sequence[Array], sound: NDArray[np.bool_]) -> Self:
        """The rows of blocks whose Σ⁻¹ are sound, or not."""
        cells, sizes = np.concatenate(blocks), [len(block) for block in blocks]
        seen, of_row = ~np.isnan(cells), np.arange(len(blocks)).repeat(sizes)
        bits = of_row[:, np.newaxis] >> np.arange(len(blocks).bit_length())[::-1]
        order, starts = pattern_runs(np.hstack([bits & 1 == 1, seen]))
        block, kinds = of_row[order[starts]], seen[order[starts]]
        by_inverse = sound[block] & (2 * np.count_nonzero(kinds, axis=1) >= seen.shape[1])
        gaps, ends = np.flatnonzero(~seen), [0, *np.cumsum(sizes).tolist()]
        return cls(cells, gaps, ends, block, kinds, by_inverse, order, starts)

    @cached_property
    def pattern(self) -> Codes:
        """The pattern of each row."""
        found = np.empty(len(self.order), dtype=np.intp)
        found[self.order] = np.arange(len(self.starts)).repeat(self.counts)
        return found

    @cached_property
    def counts(self) -> Codes:
        """The rows of each pattern."""
        return np.diff(self.starts, append=len(self.order))

    @cached_property
    def batches(self) -> list[_Batch]:
        """All patterns, those that are alike together."""
        taken = self.kinds != self.by_inverse[:, np.newaxis]
        widths, size = np.count_nonzero(taken, axis=1), np.frexp(self.counts)[1]
        if len(size) * self.counts.max(initial=0) <= FEW_ROWS:
            size = np.zeros_like(size)
        by_kind = np.lexsort([-widths, size, self.by_inverse])
        alike = np.stack([self.by_inverse, size])[:, by_kind]
        edges = np.flatnonzero((alike[:, 1:] != alike[:, :-1]).any(axis=0)) + 1
        return [
            self._batch(at, taken[at])
            for first, last in pairwise([0, *edges.tolist(), len(by_kind)])
            for at in self._runs(by_kind[first:last], widths)
        ]

    def _runs(self, alike: Codes, widths: Codes) -> Iterator[Codes]:
        """Patterns in their order, as many at once as matrices and rows may have numbers."""
        start = 0
        while start < len(alike):
            most = max(
                int(widths[alike[start]]) ** 2, int(self.counts[alike[start]]) * self.cells.shape[1], 1
            )
            stop = start + max(1, NUMBERS_AT_ONCE // most)
            yield alike[start:stop]
            start = stop

    def _batch(self, at: Codes, taken: NDArray[np.bool_]) -> _Batch:
        widths, counts = np.count_nonzero(taken, axis=1), self.counts[at, np.newaxis]
        columns = np.argsort(~taken, axis=1, kind="stable")[:, : widths.max()]
        pattern, place = np.nonzero(np.arange(columns.shape[1]) >= widths[:, np.newaxis])
        places = np.arange(counts.max())
        rows = self.order[self.starts[at, np.newaxis] + np.minimum(places, counts - 1)]
        by_inverse = bool(self.by_inverse[at[0]])
        own, others = places < counts, (pattern, place)
        return _Batch(at, self.block[at], by_inverse, columns, others, rows, own, taken.shape[1])

    def standardised(self, centre: Array, shift: Array, scale: Array) -> Array:
        """(x − centre)/scale − shift, of each block its own; missing cells count as 0."""
        away = np.empty(self.cells.shape)
        for i, rows in enumerate(pairwise(self.ends)):
            one = np.subtract(self.cells[slice(*rows)], centre[i], out=away[slice(*rows)])
            one /= scale[i]
            one -= shift[i]
        away.ravel()[self.gaps] = 0.0
        return away


class _Group:
    """Classes that share Σ in each block."""

    def __init__(self, rows: _Rows, covariances: _Covariances, parameters: _Parameters) -> None:
        self.rows, self.covariances, self.parameters = rows, covariances, parameters

    def log_densities(self, *, whole: bool) -> Array:
        """Log p of all rows in each class, (rows, classes).

        Unless the `whole` is wanted, −½xᵀΣ⁻¹x and the constant are dropped: they are equal for all classes,
        and the rest is one matrix product.
        """
        centre, shift, scale, _ = self.parameters
        if len(centre) == 1:
            return self._by_squares()
        with np.errstate(over="ignore", invalid="ignore"):  # then means are not close
            means = (centre - centre[0]) / scale + shift
            middle = means.mean(axis=0)
            apart = (means - middle).swapaxes(0, 1)[self.rows.block]
            apart = np.where(self.rows.kinds[:, np.newaxis], apart, 0.0)
            slopes = self._slopes(apart)
            squares = np.vecdot(slopes, apart)
            # Slopes along columns that are nearly alike are long, and what they say of each cancels.
            variances = np.diagonal(self.covariances.matrices, axis1=1, axis2=2)[self.rows.block]
            along = np.vecdot(np.square(slopes), variances[:, np.newaxis])
        n_seen = np.count_nonzero(self.rows.kinds, axis=1)[:, np.newaxis]
        close = (np.maximum(squares, along / MOST_INFLATION) <= NEAR**2 * n_seen).all(axis=1)
        if not close.any():
            return self._by_squares()
        slopes[~close], squares[~close] = 0.0, 0.0
        near = np.where(np.isfinite(middle), middle, 0.0)
        away = self.rows.standardised(centre[0], near, scale)
        log_p = np.empty((len(away), len(centre)))
        for some in self.rows.batches:
            log_p[some.rows] = away[some.rows] @ slopes[some.at].swapaxes(1, 2)
        log_p -= 0.5 * squares[self.rows.pattern]
        if whole:
            log_p += self._about(away)[:, np.newaxis]
        return log_p if close.all() else np.where(close[self.rows.pattern, None], log_p, self._by_squares())

    def _by_squares(self) -> Array:
        """Log p from the squared distance to each mean."""
        centre, shift, scale, _ = self.parameters
        each = (self.rows.standardised(*own, scale) for own in zip(centre, shift, strict=True))
        return np.stack([self._about(away) for away in each], axis=1)

    def _about(self, away: Array) -> Array:
        """The log densities of standardised rows about the mean."""
        image = self._times_inverse(away, self.rows.ends)
        squares = np.vecdot(away, image)
        squares[~self.rows.by_inverse[self.rows.pattern]] = 0.0
        for some, root in zip(self.rows.batches, self._roots, strict=True):
            if some.columns.size:
                few = _solved(root, some.cells(image if some.by_inverse else away, some.rows))
                more = np.vecdot(few, few)[some.own]
                squares[some.rows[some.own]] += -more if some.by_inverse else more
        squares *= -0.5
        squares += self._constants[self.rows.pattern]
        return np.asarray(squares)

    def _slopes(self, apart: Array) -> Array:
        """Σ_oo⁻¹ times some vectors of each pattern, (patterns, vectors, columns); missing cells are 0."""
        n_patterns, n, d = apart.shape
        ends = np.searchsorted(self.rows.block, np.arange(len(self.rows.ends))) * n
        flat, few = apart.reshape(n_patterns * n, d), np.zeros(apart.shape)
        image = self._times_inverse(flat, ends.tolist())
        for some in self.rows.batches:
            if some.columns.size:
                source = image if some.by_inverse else flat
                cells = some.cells(source, some.at[:, np.newaxis] * n + np.arange(n)).swapaxes(1, 2)
                found = np.linalg.solve(some.matrices(self.covariances), cells)
                few[some.at[:, np.newaxis], :, some.columns] = found
        by_inverse = self.rows.by_inverse[:, np.newaxis, np.newaxis]
        rest = np.where(by_inverse, apart - few, 0.0).reshape(flat.shape)
        slopes = self._times_inverse(rest, ends.tolist()).reshape(apart.shape)
        return np.where(by_inverse & self.rows.kinds[:, np.newaxis], slopes, np.where(by_inverse, 0.0, few))

    def _times_inverse(self, rows: Array, ends: Sequence[int]) -> Array:
        """Σ⁻¹z of rows that are block after block."""
        image = np.empty_like(rows)
        for inverse, (start, stop) in zip(self.covariances.inverses, pairwise(ends), strict=True):
            np.matmul(rows[start:stop], inverse, out=image[start:stop])
        return image

    @cached_property
    def _roots(self) -> list[Array]:
        """The roots of what the patterns of each batch take."""
        each = (some.matrices(self.covariances) for some in self.rows.batches)
        return [np.asarray(np.linalg.cholesky(one), dtype=np.float64) for one in each]

    @cached_property
    def _constants(self) -> Array:
        """Those of the density of each pattern."""
        block, kinds = self.rows.block, self.rows.kinds
        units = np.vecdot(kinds, (np.log(self.parameters.scale) + HALF_LOG_TWO_PI)[block])
        constants = -units - np.where(self.rows.by_inverse, self.covariances.log_roots[block], 0.0)
        for some, roots in zip(self.rows.batches, self._roots, strict=True):
            constants[some.at] -= _log_roots(roots)
        return np.asarray(constants)


def _solved(roots: Array, rows: Array) -> Array:
    """R⁻¹z of rows (patterns, rows, columns)."""
    solve, result = linalg.lapack.dtrtrs, np.empty(rows.shape)
    for root, own, found in zip(roots, rows, result, strict=True):
        # Read by columns, the root in memory is its own transpose.
        found[:] = solve(root.T, own.T, lower=0, trans=1)[0].T
    return result


def _log_roots(roots: NDArray[np.floating]) -> Array:
    """½ log det of RRᵀ."""
    return np.asarray(np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1), dtype=np.float64)
