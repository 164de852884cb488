"""Rows with gaps in a joint Gaussian block, many patterns of missing cells at once.

The marginal of a Gaussian is the Gaussian of the submatrix. Here a missing column stays in the matrix, with
variance 1 and no covariances, and adds 0 to a row: then matrices of all patterns are of one size.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.parameters import NEAR, Gaussians
from suffice.families.special import HALF_LOG_TWO_PI
from suffice.kernels.cells import pattern_runs

NUMBERS_AT_ONCE = 1 << 20
"""Numbers of matrices, or of rows, that are held at once."""
FEW_ROWS = 1 << 12
"""Rows that patterns are filled up to, whatever their own numbers: more cost more than calls do."""


class Patterns(NamedTuple):
    """Some patterns, with about as many rows each."""

    seen: NDArray[np.bool_]
    """Which columns are observed, (patterns, columns)."""
    rows: Codes
    """(patterns, rows): those of a pattern, and its last one again up to the number of the others."""
    counts: Codes
    """The rows of each pattern."""

    @classmethod
    def of(cls, seen: NDArray[np.bool_]) -> Iterator[Patterns]:
        """The patterns of rows of which these cells are observed, those with fewest rows first."""
        order, starts = pattern_runs(seen)
        counts = np.diff(starts, append=len(order))
        found = np.flatnonzero(seen[order[starts]].any(axis=1))
        found = found[np.argsort(counts[found], kind="stable")]
        starts, counts = starts[found], counts[found]
        most = max(1, NUMBERS_AT_ONCE // max(seen.shape[1], 1) ** 2)
        doubled = np.flatnonzero(np.diff(np.frexp(counts)[1])) + 1
        if len(found) * counts.max(initial=0) <= FEW_ROWS:
            doubled = doubled[:0]
        for first, last in pairwise([0, *doubled.tolist(), len(found)]):
            for start in range(first, last, most):
                some = slice(start, min(start + most, last))
                own = counts[some, np.newaxis]
                rows = order[starts[some, np.newaxis] + np.minimum(np.arange(own[-1, 0]), own - 1)]
                yield cls(seen[rows[:, 0]], rows, counts[some])


def add_scores(gaussians: Gaussians, cells: Array, scores: Array, *, base: bool) -> None:
    """Add log p of rows, whose cells are those of the active columns, to scores (rows, classes).

    Without `base`, what is equal for all classes is left out where they share Σ.
    """
    members = [np.flatnonzero(gaussians.group == g) for g in range(len(gaussians.standard))]
    for some in Patterns.of(~np.isnan(cells)):
        groups = [_Group.of(gaussians, g, classes, some.seen) for g, classes in enumerate(members)]
        step = max(1, NUMBERS_AT_ONCE // some.seen.size)
        for start in range(0, some.rows.shape[1], step):
            rows = some.rows[:, start : start + step]
            own = start + np.arange(rows.shape[1]) < some.counts[:, np.newaxis]
            values = cells[rows]
            for classes, group in zip(members, groups, strict=True):
                log_p = group.log_densities(values, whole=base or len(groups) > 1)
                scores[rows[own][:, np.newaxis], classes] += log_p[own]


class _Group(NamedTuple):
    """Classes that share Σ, under some patterns."""

    seen: NDArray[np.bool_]
    centre: Array
    """(classes, columns), as are the shifts."""
    shift: Array
    scale: Array
    roots: Array
    """L with LLᵀ = Σ, in standardised coordinates, (patterns, columns, columns)."""
    constant: Array
    """That of the density, (patterns,)."""

    @classmethod
    def of(cls, gaussians: Gaussians, g: int, members: Codes, seen: NDArray[np.bool_]) -> _Group:
        on, scale = gaussians.active, gaussians.scale[gaussians.active]
        both = seen[:, :, np.newaxis] & seen[:, np.newaxis]
        roots = np.linalg.cholesky(np.where(both, gaussians.standard[g], np.eye(len(on))))
        log_det = 2.0 * np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        constant = -0.5 * log_det - seen @ (np.log(scale) + HALF_LOG_TWO_PI)
        here = np.ix_(members, on)
        return cls(seen, gaussians.centre[here], gaussians.shift[here], scale, roots, constant)

    def log_densities(self, values: Array, *, whole: bool) -> Array:
        """Log p of rows (patterns, rows, columns) in each class, (patterns, rows, classes).

        Unless the `whole` is wanted, −½xᵀΣ⁻¹x and the constant are dropped: they are equal for all classes,
        and the rest is one matrix product.
        """
        if len(self.centre) == 1:
            return self._by_squares(values)
        base = self.centre[0]
        with np.errstate(over="ignore", invalid="ignore"):  # then means are not close
            means = (self.centre - base) / self.scale + self.shift
            middle = means.mean(axis=0)
            apart = self._whitened(np.broadcast_to(means - middle, (len(self.seen), *means.shape)))
            squares = np.einsum("pij,pij->pi", apart, apart)
        close = (squares <= NEAR**2 * self.seen.sum(axis=1, keepdims=True)).all(axis=1)
        if not close.any():
            return self._by_squares(values)
        apart, squares = (np.where(close.reshape(-1, *[1] * (a.ndim - 1)), a, 0.0) for a in (apart, squares))
        if whole:
            rows = self._whitened((values - base) / self.scale - middle)
            own = 0.5 * np.einsum("pij,pij->pi", rows, rows)
            constant = self.constant[:, np.newaxis] - 0.5 * squares
            log_p = rows @ apart.swapaxes(1, 2) - own[:, :, np.newaxis] + constant[:, np.newaxis]
        else:
            slopes = self._solved(apart, transposed=True)
            away = np.where(self.seen[:, np.newaxis], (values - base) / self.scale, 0.0)
            constant = -slopes @ middle - 0.5 * squares
            log_p = away @ slopes.swapaxes(1, 2) + constant[:, np.newaxis]
        return log_p if close.all() else np.where(close[:, None, None], log_p, self._by_squares(values))

    def _by_squares(self, values: Array) -> Array:
        """Log p from the squared distance to each mean."""
        each = []
        for centre, shift in zip(self.centre, self.shift, strict=True):
            rows = self._whitened((values - centre) / self.scale - shift)
            each.append(self.constant[:, np.newaxis] - 0.5 * np.einsum("pij,pij->pi", rows, rows))
        return np.stack(each, axis=2)

    def _whitened(self, rows: Array) -> Array:
        """L⁻¹z of standardised rows (patterns, rows, columns), whose missing cells count as 0."""
        return self._solved(np.where(self.seen[:, np.newaxis], rows, 0.0))

    def _solved(self, rows: Array, *, transposed: bool = False) -> Array:
        """L⁻¹z, or L⁻ᵀz, of rows (patterns, rows, columns)."""
        solve, result = linalg.lapack.dtrtrs, np.empty_like(rows)
        for root, own, found in zip(self.roots, rows, result, strict=True):
            # Read by columns, the root in memory is its own transpose.
            found[:] = solve(root.T, own.T, lower=0, trans=not transposed)[0].T
        return result
