"""The scores of every row by the joint Gaussian of all other rows, tied, shaped and shrunk without it."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.downdates import (
    STIFFEST,
    Distances,
    Downdates,
    downdated_distances,
    matrix_distances,
    variance_distances,
)
from suffice.factors.gaussian.rows import RowSums
from suffice.factors.gaussian.shrinkage import distance_to_identity, ledoit_wolf_share, oas_share
from suffice.factors.gaussian.thin_left_out import leave_out_few_rows
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.factors.left_out import LabelledBlock, LeftOut
from suffice.families.special import log_student_constant
from suffice.kernels.choose import is_complete


def leave_out_gaussian(totals: GaussianTotals, rows: LabelledBlock) -> LeftOut | None:
    """None where cells are missing, which takes EM, where few rows are singular, and for "bayes"."""
    if totals.family.shrinkage == "bayes" or not is_complete(np.asarray(rows.block)):
        return None
    is_full = not isinstance(totals.family.covariance, str) or totals.family.covariance in ("full", "shared")
    if is_full and any(isinstance(cell, RowSums) for cell in totals.cells.values()):
        return leave_out_few_rows(totals, rows)
    found = _WithoutEach(totals, rows)
    return found.scores() if found.whole.d else None


class _WithoutEach:
    def __init__(self, totals: GaussianTotals, rows: LabelledBlock) -> None:
        self.family = totals.family
        self.whole = Downdates(totals, rows)
        self.predictive = rows.predictive
        self.tying = Tying(self.family.covariance, rows.classes, self.family.ddof)
        shrinkage = self.family.shrinkage
        self.friedman = shrinkage if isinstance(shrinkage, tuple) else (0.0, 0.0)
        if self.friedman[0] == 1.0:
            self.tying.share()
        self.group = self.tying.group[self.whole.codes]
        """The group of the class of each row."""
        self.squares = self.tying.pooled(self.whole.squares)
        self.count, self.divisor = self.whole.divisors(self.tying)
        if self.tying.shape == "full":
            self.scatter = self.tying.pooled(self.whole.scatter)

    @property
    def _groups(self) -> range:
        return range(self.tying.n_groups)

    def scores(self) -> LeftOut:
        """Log densities of the classes, without what is equal for all of them."""
        whole, scores = self.whole, np.zeros((len(self.group), self.whole.n_classes))
        # A column that is constant without the row leaves the model, so d changes.
        everything = self.squares.sum(axis=0)
        lost = whole.lost_squares(np.arange(len(self.group)))
        exact = whole.exact & ((everything - lost) * STIFFEST > everything).all(axis=1)
        per_row = whole.d * (whole.d if self.tying.shape == "full" else whole.n_classes)
        for part in whole.rows.parts(max(per_row, whole.cells_of(self.family.shrinkage))):
            rows = np.arange(len(self.group))[part]
            rows = rows[exact[rows]]
            for g in self._groups:
                own = self.group[rows] == g
                for some, has_row in ((rows[own], True), (rows[~own], False)):
                    if len(some):
                        members = np.flatnonzero(self.tying.group == g)
                        found = self._distances(some, g, members, has_row=has_row)
                        scores[some[:, np.newaxis], members] = self._log_density(some, g, members, found)
                        exact[some] &= found.exact
        return LeftOut.checked(scores, exact)

    def _distances(self, rows: Codes, g: int, members: Codes, *, has_row: bool) -> Distances:
        """Distances in the covariance of a group, which loses the row or does not."""
        whole, divisor = self.whole, self._rows_behind(rows)[:, g]
        plain = self.family.shrinkage is None or self.tying.shape != "full"
        away = whole.away[rows[:, np.newaxis], members]
        if self.tying.shape != "full":
            variance, largest = self._variances(rows, g, has_row=has_row)
            return variance_distances(away, variance, largest)
        if plain and has_row:
            found = downdated_distances(whole, rows, members, self.scatter[g])
            log_det = found.log_det - whole.d * np.log(divisor)
            return Distances(found.squares * divisor[:, np.newaxis], log_det, found.exact)
        if plain:
            found = matrix_distances(away, self.scatter[[g]], np.diag(self.scatter[g])[np.newaxis])
            log_det = found.log_det - whole.d * np.log(divisor)
            return Distances(found.squares * divisor[:, np.newaxis], log_det, found.exact)
        # Friedman's targets are those of all rows.
        some = rows if has_row or isinstance(self.family.shrinkage, tuple) else rows[:1]
        covariance, largest = self._shrunk(some, g, has_row=has_row)
        return matrix_distances(away, covariance, largest)

    def _rows_behind(self, rows: Codes) -> Array:
        """How many rows each covariance is divided by, (n, g)."""
        count, toward_shared = self.divisor[rows], self.friedman[0]
        return np.asarray((1.0 - toward_shared) * count + toward_shared * count.sum(axis=1, keepdims=True))

    def _variances(self, rows: Codes, g: int, *, has_row: bool) -> tuple[Array, Array]:
        """The variances of a group without each row, and with all rows: rounding is a share of these."""
        toward_shared, toward_identity = self.friedman
        squares = self.squares
        lost = self.whole.lost_squares(rows)
        everything = squares.sum(axis=0)
        before = (1.0 - toward_shared) * squares[g] + toward_shared * everything
        after = before - ((1.0 - toward_shared) * has_row + toward_shared) * lost
        before = np.broadcast_to(before, after.shape)
        if isinstance(self.family.shrinkage, tuple):
            unit = (everything - lost) / self.count[rows].sum(axis=1, keepdims=True)
            if self.tying.shape == "isotropic":
                unit = np.ones_like(unit)
            before, after = (
                (1.0 - toward_identity) * one
                + toward_identity * unit * (one / unit).mean(axis=1, keepdims=True)
                for one in (before, after)
            )
        divisor = self._rows_behind(rows)[:, [g]]
        return tuple(self.tying.shaped_variances(one / divisor) for one in (after, before))  # type: ignore[return-value]

    def _shrunk(self, rows: Codes, g: int, *, has_row: bool) -> tuple[Array, Array]:
        """The same as full matrices, shrunk."""
        whole, shrinkage = self.whole, self.family.shrinkage
        scatter = self.scatter[g]
        divisor = self._rows_behind(rows)[:, g, np.newaxis, np.newaxis]
        if isinstance(shrinkage, tuple):
            return self._friedman(rows, g, divisor, has_row=has_row)
        after = whole.scatter_without(rows, scatter) if has_row else scatter[np.newaxis]
        covariance = after / divisor
        largest = np.diag(scatter) / divisor[:, 0]
        variance = np.einsum("njj->nj", covariance).copy()
        covariance *= (
            1.0 - self._shares(rows, g, covariance, variance, has_row=has_row)[:, np.newaxis, np.newaxis]
        )
        np.einsum("njj->nj", covariance)[:] = variance
        return covariance, largest

    def _friedman(self, rows: Codes, g: int, divisor: Array, *, has_row: bool) -> tuple[Array, Array]:
        toward_shared, toward_identity = self.friedman
        everything = self.scatter.sum(axis=0)
        mixed = (1.0 - toward_shared) * self.scatter[g] + toward_shared * everything
        largest = np.diag(mixed) / divisor[:, 0]
        z, c = self.whole.z[rows], self.whole.c[rows] * ((1.0 - toward_shared) * has_row + toward_shared)
        covariance = (mixed - (c[:, np.newaxis] * z)[:, :, np.newaxis] * z[:, np.newaxis]) / divisor
        unit = np.diag(everything) - self.whole.lost_squares(rows)
        unit /= self.count[rows].sum(axis=1, keepdims=True)
        diagonal = np.einsum("njj->nj", covariance)
        level = (diagonal / unit).mean(axis=1, keepdims=True)
        covariance *= 1.0 - toward_identity
        diagonal += toward_identity * level * unit
        return covariance, largest

    def _shares(self, rows: Codes, g: int, covariance: Array, variance: Array, *, has_row: bool) -> Array:
        """How far the covariance of a group is shrunk toward its diagonal, without each row."""
        shrinkage: Any = self.family.shrinkage
        if not isinstance(shrinkage, str):
            return np.full(len(covariance), float(shrinkage))
        inverse = np.divide(
            1.0, np.sqrt(np.maximum(variance, 0.0)), out=np.zeros_like(variance), where=variance > 0
        )
        correlation = covariance * inverse[:, np.newaxis] * inverse[:, :, np.newaxis]
        squares = np.einsum("nij,nij->n", correlation, correlation)
        count = self.count[rows, g]
        if shrinkage == "oas":
            return np.array(
                [oas_share(s, self.whole.d, n) for s, n in zip(squares.tolist(), count.tolist(), strict=True)]
            )
        fourth = self.whole.fourth_powers(rows, self.group == g, inverse, has_row=has_row)
        diagonals = np.einsum("njj->nj", correlation)
        return np.array(
            [
                ledoit_wolf_share(square, distance_to_identity(diagonal, square), power, n)
                for square, diagonal, power, n in zip(
                    squares.tolist(), diagonals, fourth.tolist(), count.tolist(), strict=True
                )
            ]
        )

    def _log_density(self, rows: Codes, g: int, members: Codes, found: Distances) -> Array:
        by_column = found.squares.ndim == 3
        log_det = found.log_det[:, np.newaxis]
        if not self.predictive:
            squares = found.squares.sum(axis=2) if by_column else found.squares
            return np.asarray(-0.5 * (log_det + squares))
        squares, d = found.squares, self.whole.d
        width = 1 if self.family.covariance in ("diagonal", "shared_diagonal") else d
        if by_column and width > 1:
            squares = squares.sum(axis=2)
        squares = squares.reshape(*squares.shape[:2], -1)
        degrees = self._rows_behind(rows)[:, [g]] * (d if self.tying.shape == "isotropic" else 1)
        spread = 1.0 + 1.0 / self.whole.weight_left[rows[:, np.newaxis], members]
        constant = -0.5 * (log_det + d * np.log(spread)) + d // width * log_student_constant(degrees, width)
        bent = np.log1p(squares / (degrees * spread)[:, :, np.newaxis]).sum(axis=2)
        return np.asarray(constant - 0.5 * (degrees + width) * bent)
