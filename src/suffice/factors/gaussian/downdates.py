"""A joint Gaussian block without each of its rows: means, scatters and distances by rank-one downdates.

Without row x of weight w, a class of weight W and mean μ has the mean μ − w/(W − w)·z and the scatter matrix
S − c·zzᵀ, with z = x − μ and c = wW/(W − w). By Sherman and Morrison, |S − c·zzᵀ| = |S|(1 − h) and

    aᵀ(S − c·zzᵀ)⁻¹a = aᵀS⁻¹a + c(aᵀS⁻¹z)²/(1 − h)    with the leverage h = c·zᵀS⁻¹z.

S − c·zzᵀ ≥ (1 − h)S in all directions. So what rounding does to S, and to the difference, is at most
κ/(1 − h) times as large in the result, where κ is the condition of S. Where this is too much, the row is
solved afresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.moments import standardised
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.factors.left_out import LabelledBlock, sums_of_others
from suffice.kernels.cells import class_blocks

STIFFEST = 1e4
"""The largest κ/(1 − h): rounding of 2e-16 then stays below 1e-11 of a squared distance."""


class Downdates:
    """Rows of a block about the means of their classes, in the scales of the columns that vary."""

    def __init__(self, totals: GaussianTotals, rows: LabelledBlock) -> None:
        data = standardised(totals)
        self.rows = rows
        self.active = np.flatnonzero(data.varies)
        self.scale = data.scale[self.active]
        values = np.asarray(rows.block, dtype=np.float64)[:, self.active]
        self.codes, self.n_classes = rows.codes, len(rows.classes)
        # (x − centre)/scale of every class; what is left of the means is subtracted from both.
        self.away = (values[:, np.newaxis] - data.centre[:, self.active]) / self.scale
        everyone = np.arange(len(self.codes))
        z = self.away[everyone, self.codes]
        self.weight = rows.weight
        rest = np.zeros((self.n_classes, len(self.active)))
        for k, mine in class_blocks(self.codes, self.n_classes):
            rest[k] = rows.weights[mine] @ z[mine] / self.weight[k]
        self.away -= rest
        self.centre = data.centre[:, self.active]
        self.means = (self.centre - self.centre[:1]) / self.scale + rest
        """The class means, about that of the first class."""
        self.z = self.away[everyone, self.codes]
        own = sums_of_others(rows.weights, self.codes, self.n_classes)
        self.weight_left = np.repeat(self.weight[np.newaxis], len(self.codes), axis=0)
        self.weight_left[everyone, self.codes] = own
        self.exact = rows.support[self.codes] > 1
        ratio = np.divide(self.weight[self.codes], own, out=np.ones_like(own), where=own > 0)
        self.ratio = ratio
        """By how much the row is farther from the mean of the others."""
        self.c = rows.weights * ratio
        """The factor of zzᵀ in the downdate of the scatter matrix."""
        self.away[everyone, self.codes] = self.z * ratio[:, np.newaxis]
        self.move = self.z * (ratio - 1.0)[:, np.newaxis]
        """How far the mean of the class moves away from the row."""

    @property
    def d(self) -> int:
        """The number of columns that vary."""
        return len(self.active)

    @cached_property
    def scatter(self) -> Array:
        """Σ w·zzᵀ of each class, with all rows."""
        sums = np.zeros((self.n_classes, self.d, self.d))
        for k, mine in class_blocks(self.codes, self.n_classes):
            z = self.z[mine]
            sums[k] = (z * self.rows.weights[mine][:, np.newaxis]).T @ z
        return sums

    @cached_property
    def squares(self) -> Array:
        """Σ w·z² of each class and column, with all rows: the diagonals of `scatter`."""
        sums = np.zeros((self.n_classes, self.d))
        for k, mine in class_blocks(self.codes, self.n_classes):
            sums[k] = self.rows.weights[mine] @ self.z[mine] ** 2
        return sums

    def divisors(self, tying: Tying) -> tuple[Array, Array]:
        """The weight of each group without each row, (n, g), and what its scatter matrix is divided by."""
        groups = [tying.group == g for g in range(tying.n_groups)]
        count = np.stack([self.weight_left[:, members].sum(axis=1) for members in groups], axis=1)
        left = count - tying.ddof * np.bincount(tying.group, minlength=tying.n_groups)
        return count, np.where(left > 0, left, count)

    def lost_squares(self, rows: Codes) -> Array:
        """By how much the diagonal shrinks without each of these rows, (n, d)."""
        return np.asarray(self.c[rows, np.newaxis] * self.z[rows] ** 2)

    def scatter_without(self, rows: Codes, scatter: Array) -> Array:
        """A scatter matrix to which these rows belong, without each of them, (n, d, d)."""
        z = self.z[rows]
        return np.asarray(scatter - (self.c[rows, np.newaxis] * z)[:, :, np.newaxis] * z[:, np.newaxis])

    def cells_of(self, shrinkage: Any) -> int:
        """How many numbers it takes to find out how far to shrink without a row."""
        return len(self.codes) if shrinkage in ("ledoit_wolf", "auto") else 1

    def fourth_powers(self, rows: Codes, summed: NDArray[np.bool_], factor: Array, *, has_row: bool) -> Array:
        """Σ w·|z·factor|⁴ over the rows to be `summed`, without each of these rows if they are among them."""
        mine = np.flatnonzero(summed)
        z = self.z[mine]
        lengths = z**2 @ (factor**2).T
        if has_row:
            moved = self.move[rows] * factor**2
            same = self.codes[mine][:, np.newaxis] == self.codes[rows]
            lengths += same * (2.0 * z @ moved.T + np.einsum("ij,ij->i", moved, self.move[rows]))
            lengths[mine[:, np.newaxis] == rows] = 0.0
        return np.asarray(self.rows.weights[mine] @ lengths**2)


@dataclass(frozen=True)
class Distances:
    """Squared distances (n, k) or, by column, (n, k, d), log determinants (n,), and whether digits remain."""

    squares: Array
    log_det: Array
    exact: NDArray[np.bool_]
    precision: Array | None = None
    """The diagonal of the inverse of each full matrix, (n, d)."""


def downdated_distances(whole: Downdates, rows: Codes, members: Codes, scatter: Array) -> Distances:
    """Distances to the means of some classes, which share this scatter matrix with the class of each row."""
    root = _root(scatter)
    if root is None:
        return no_distances(len(rows), len(members))
    inverse, log_det, stiffness = root
    z = whole.z[rows] @ inverse.T
    leverage = whole.c[rows] * np.einsum("ij,ij->i", z, z)
    left = 1.0 - leverage
    exact = left * STIFFEST > stiffness
    left = np.where(exact, left, 1.0)
    away = whole.away[rows[:, np.newaxis], members] @ inverse.T
    along = np.einsum("ikj,ij->ik", away, z)
    squares = np.einsum("ikj,ikj->ik", away, away) + (whole.c[rows] / left)[:, np.newaxis] * along**2
    return Distances(squares, log_det + np.log(left), exact)


def matrix_distances(away: Array, covariance: Array, largest: Array) -> Distances:
    """Distances by full matrices, (n, d, d) or (1, d, d); their rounding is a share of `largest`, (n, d)."""
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return no_distances(*away.shape[:2])
    inverse = np.linalg.inv(root)
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = (largest / np.einsum("njj->nj", covariance)).max(axis=1, initial=1.0)
    precision = np.einsum("nij,nij->nj", inverse, inverse)
    stiffness = lost * np.einsum("nj,njj->n", precision, covariance)
    squares = np.square(away @ inverse.transpose(0, 2, 1)).sum(axis=2)
    log_det = 2.0 * np.log(np.einsum("njj->nj", root)).sum(axis=1)
    exact = np.broadcast_to(stiffness <= STIFFEST * away.shape[2], len(away))
    return Distances(squares, log_det, exact, precision)


def variance_distances(away: Array, variance: Array, largest: Array) -> Distances:
    """Distances by column, from variances (n, d) or (1, d)."""
    exact = np.all(variance * STIFFEST > largest, axis=1)
    variance = np.where(exact[:, np.newaxis], variance, 1.0)
    squares = away**2 / variance[:, np.newaxis]
    return Distances(squares, np.log(variance).sum(axis=1), np.broadcast_to(exact, len(away)))


def no_distances(n_rows: int, n_classes: int) -> Distances:
    """Where every row must be solved afresh."""
    return Distances(np.zeros((n_rows, n_classes)), np.zeros(n_rows), np.zeros(n_rows, dtype=np.bool_))


def _root(scatter: Array) -> tuple[Array, float, float] | None:
    """L⁻¹ with LLᵀ = S, log |S|, and a bound on the condition of its correlations; None if S is singular."""
    try:
        root = np.linalg.cholesky(scatter)
    except np.linalg.LinAlgError:
        return None
    inverse = np.linalg.inv(root)
    stiffness = float(np.einsum("ij,ij,jj->", inverse, inverse, scatter))
    return inverse, 2.0 * float(np.log(np.diag(root)).sum()), stiffness / max(len(scatter), 1)
