"""Rows with gaps in a joint Gaussian block, many patterns of missing cells at once, of one block or several.

The marginal of a Gaussian is the Gaussian of the submatrix. Patterns that are alike are looked at together.
Columns that are observed in all of them come first, and are decomposed once: Σ = LLᵀ has the same first rows
of L in each. What these columns leave of the others differs by pattern. There a missing column stays in the
matrix, with variance 1 and no covariances, and adds 0 to a row: then all matrices are of one size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.parameters import NEAR, Gaussians
from suffice.families.special import HALF_LOG_TWO_PI
from suffice.kernels.cells import pattern_runs

NUMBERS_AT_ONCE = 1 << 17
"""Numbers of matrices that are held at once: fewer patterns are more alike."""
ROWS_AT_ONCE = 1 << 20
"""Numbers of rows that are held at once."""
FEW_ROWS = 1 << 12
"""Rows that patterns are filled up to, whatever their own numbers: more cost more than calls do."""


class Patterns(NamedTuple):
    """Some patterns that are alike, with about as many rows each."""

    block: Codes
    """The block of each pattern."""
    seen: NDArray[np.bool_]
    """Which columns are observed, (patterns, columns)."""
    rows: Codes
    """(patterns, rows): those of a pattern, and its last one again up to the number of the others."""
    counts: Codes
    """The rows of each pattern."""

    @classmethod
    def of(cls, seen: NDArray[np.bool_], block: Codes) -> Iterator[Patterns]:
        """The patterns of rows of some blocks, of which these cells are observed."""
        bits = block[:, np.newaxis] >> np.arange(int(block.max(initial=0)).bit_length())
        order, starts = pattern_runs(np.hstack([seen, bits & 1 == 1]) if bits.size else seen)
        counts, kinds = np.diff(starts, append=len(order)), seen[order[starts]]
        often_gone = np.argsort(np.count_nonzero(kinds, axis=0), kind="stable")
        found = pattern_runs(kinds[:, often_gone])[0]
        found = found[kinds[found].any(axis=1)]
        size = np.frexp(counts[found])[1]
        if len(found) * counts[found].max(initial=0) <= FEW_ROWS:
            size = np.zeros_like(size)
        by_size = np.argsort(size, kind="stable")
        found, doubled = found[by_size], np.flatnonzero(np.diff(size[by_size])) + 1
        starts, counts = starts[found], counts[found]
        most = max(1, NUMBERS_AT_ONCE // max(seen.shape[1], 1) ** 2)
        for first, last in pairwise([0, *doubled.tolist(), len(found)]):
            for start in range(first, last, most):
                some = slice(start, min(start + most, last))
                own = counts[some, np.newaxis]
                rows = order[starts[some, np.newaxis] + np.minimum(np.arange(own.max()), own - 1)]
                yield cls(block[rows[:, 0]], seen[rows[:, 0]], rows, counts[some])


def add_scores(
    several: Sequence[Gaussians], cells: Array, block: Codes, scores: Array, *, base: bool
) -> None:
    """Add log p of rows, each by the Gaussians of its block, to scores (rows, classes).

    Cells are those of the active columns, which blocks share, as they do the groups of classes. Without
    `base`, what is equal for all classes is left out where they share Σ.
    """
    group, parameters = several[0].group, _Parameters.of(several)
    members = [np.flatnonzero(group == g) for g in range(parameters.standard.shape[1])]
    for some in Patterns.of(~np.isnan(cells), block):
        is_whole = some.seen.all(axis=0)
        columns = np.append(np.flatnonzero(is_whole), np.flatnonzero(some.seen.any(axis=0) & ~is_whole))
        blocks, which = np.unique(some.block, return_inverse=True)
        seen = some.seen[:, columns]
        groups = [
            _Group.of(parameters.taken(blocks, columns, g, classes), which, seen)
            for g, classes in enumerate(members)
        ]
        step = max(1, ROWS_AT_ONCE // some.seen.size)
        for start in range(0, some.rows.shape[1], step):
            rows = some.rows[:, start : start + step]
            own = start + np.arange(rows.shape[1]) < some.counts[:, np.newaxis]
            values = cells[rows].take(columns, axis=2)
            for classes, one in zip(members, groups, strict=True):
                log_p = one.log_densities(values, whole=base or len(groups) > 1)
                scores[rows[own][:, np.newaxis], classes] += log_p[own]


class _Parameters(NamedTuple):
    """The parameters of several blocks, on the active columns."""

    centre: Array
    """(blocks, classes, columns), as are the shifts."""
    shift: Array
    scale: Array
    """(blocks, columns)."""
    standard: Array
    """(blocks, groups, columns, columns), or those of a group."""

    @classmethod
    def of(cls, several: Sequence[Gaussians]) -> _Parameters:
        on = several[0].active
        return cls(
            np.stack([one.centre for one in several])[..., on],
            np.stack([one.shift for one in several])[..., on],
            np.stack([one.scale for one in several])[..., on],
            np.stack([one.standard for one in several]),
        )

    def taken(self, blocks: Codes, columns: Codes, g: int, members: Codes) -> _Parameters:
        """Those of a group of classes, of some blocks and columns."""
        own = np.ix_(blocks, members, columns)
        standard = self.standard[:, g][np.ix_(blocks, columns, columns)]
        return _Parameters(self.centre[own], self.shift[own], self.scale[np.ix_(blocks, columns)], standard)


class _Group(NamedTuple):
    """Classes that share Σ, under some patterns. Its root is (L 0; B R), where R differs by pattern.

    All else is that of the block of each pattern, or of the only block.
    """

    seen: NDArray[np.bool_]
    """Which columns are observed, (patterns, columns); all of the first ones are."""
    centre: Array
    """(patterns, classes, columns), as are the shifts."""
    shift: Array
    scale: Array
    """(patterns, 1, columns)."""
    inverse: Array
    """L⁻¹, in standardised coordinates, (patterns, columns, columns)."""
    across: Array
    """B."""
    roots: Array
    """R, with variance 1 for missing columns."""
    constant: Array
    """That of the density, (patterns,)."""

    @classmethod
    def of(cls, parameters: _Parameters, which: Codes, seen: NDArray[np.bool_]) -> _Group:
        """The classes of a group under patterns of observed columns, each of which is of some block."""
        n = int(np.count_nonzero(seen.all(axis=0)))
        standard = parameters.standard
        first = np.linalg.cholesky(standard[:, :n, :n])
        inverse = np.zeros_like(first)
        for one, root in zip(inverse, first, strict=True) if n else ():
            one[:] = linalg.lapack.dtrtri(root.T, lower=0)[0].T
        across = standard[:, n:, :n] @ inverse.swapaxes(1, 2)
        left = standard[:, n:, n:] - across @ across.swapaxes(1, 2)
        own_left = left[which]
        pattern, gap = np.nonzero(~seen[:, n:])
        own_left[pattern, gap] = own_left[pattern, :, gap] = 0.0
        own_left[pattern, gap, gap] = 1.0
        roots: Array = np.asarray(np.linalg.cholesky(own_left), dtype=np.float64)
        units = np.vecdot(seen, (np.log(parameters.scale) + HALF_LOG_TWO_PI)[which])
        constant = -_log_roots(first)[which] - _log_roots(roots) - units
        own = slice(None) if len(first) == 1 else which
        centre, shift, scale = (part[own] for part in parameters[:3])
        return cls(seen, centre, shift, scale[:, np.newaxis], inverse[own], across[own], roots, constant)

    def log_densities(self, values: Array, *, whole: bool) -> Array:
        """Log p of rows (patterns, rows, columns) in each class, (patterns, rows, classes).

        Unless the `whole` is wanted, −½xᵀΣ⁻¹x and the constant are dropped: they are equal for all classes,
        and the rest is one matrix product.
        """
        centre, shift, scale = self.centre, self.shift, self.scale
        if centre.shape[1] == 1:
            return self._by_squares(values)
        base = centre[:, :1]
        with np.errstate(over="ignore", invalid="ignore"):  # then means are not close
            means = (centre - base) / scale + shift
            middle = means.mean(axis=1, keepdims=True)
            apart = self._whitened(np.broadcast_to(means - middle, (len(self.seen), *means.shape[1:])))
            squares = np.vecdot(apart, apart)
        close = (squares <= NEAR**2 * self.seen.sum(axis=1, keepdims=True)).all(axis=1)
        if not close.any():
            return self._by_squares(values)
        apart, squares = (np.where(close.reshape(-1, *[1] * (a.ndim - 1)), a, 0.0) for a in (apart, squares))
        if whole:
            rows = self._whitened((values - base) / scale - middle)
            own = 0.5 * np.vecdot(rows, rows)
            constant = self.constant[:, np.newaxis] - 0.5 * squares
            log_p = rows @ apart.swapaxes(1, 2) - own[:, :, np.newaxis] + constant[:, np.newaxis]
        else:
            slopes = self._whitened_transposed(apart)
            away = self._without_missing((values - base) / scale)
            constant = -np.vecdot(slopes, middle) - 0.5 * squares
            log_p = away @ slopes.swapaxes(1, 2) + constant[:, np.newaxis]
        return log_p if close.all() else np.where(close[:, None, None], log_p, self._by_squares(values))

    def _by_squares(self, values: Array) -> Array:
        """Log p from the squared distance to each mean."""
        each = []
        for k in range(self.centre.shape[1]):
            own = slice(k, k + 1)
            rows = self._whitened((values - self.centre[:, own]) / self.scale - self.shift[:, own])
            each.append(self.constant[:, np.newaxis] - 0.5 * np.vecdot(rows, rows))
        return np.stack(each, axis=2)

    def _without_missing(self, rows: Array) -> Array:
        """Rows (patterns, rows, columns) with 0 for missing cells."""
        has_gaps = self.inverse.shape[1] < rows.shape[2]
        return np.where(self.seen[:, np.newaxis], rows, 0.0) if has_gaps else rows

    def _whitened(self, rows: Array) -> Array:
        """The inverse root times standardised rows (patterns, rows, columns); missing cells count as 0."""
        n = self.inverse.shape[1]
        first = rows[..., :n] @ self.inverse.swapaxes(1, 2)
        if n == rows.shape[2]:
            return first
        rest = rows[..., n:] - first @ self.across.swapaxes(1, 2)
        rest = np.where(self.seen[:, np.newaxis, n:], rest, 0.0)
        return np.concatenate([first, self._solved(rest)], axis=2)

    def _whitened_transposed(self, rows: Array) -> Array:
        """The inverse of the transposed root times rows."""
        n = self.inverse.shape[1]
        rest = self._solved(rows[..., n:], transposed=True)
        first = (rows[..., :n] - rest @ self.across) @ self.inverse
        return np.concatenate([first, rest], axis=2)

    def _solved(self, rows: Array, *, transposed: bool = False) -> Array:
        """R⁻¹z, or R⁻ᵀz, of rows (patterns, rows, columns)."""
        solve, result = linalg.lapack.dtrtrs, np.empty(rows.shape)
        for root, own, found in zip(self.roots, rows, result, strict=True) if rows.size else ():
            # Read by columns, the root in memory is its own transpose.
            found[:] = solve(root.T, own.T, lower=0, trans=not transposed)[0].T
        return result


def _log_roots(roots: NDArray[np.floating]) -> Array:
    """½ log det of RRᵀ."""
    return np.asarray(np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1), dtype=np.float64)
