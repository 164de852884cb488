"""A joint Gaussian of a few rows of many columns without each of them: n × n matrices instead of d × d.

Σ = D + Σ_a b_a·z_a·z_aᵀ with a diagonal D and rows z_a about the means of their classes. By Woodbury, with
the products K_ab = √b_a·z_aᵀD⁻¹z_b·√b_b and c_a = √b_a·z_aᵀD⁻¹x,

    xᵀΣ⁻¹x = xᵀD⁻¹x − cᵀ(I + K)⁻¹c    and    |Σ| = |D|·|I + K|.

Without row i the means move, and D may be another. The rows about the new means are combinations of the old
ones, so all products follow from those of the old rows and of the class means in the metric D⁻¹ of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.downdates import STIFFEST, Distances, Downdates
from suffice.factors.gaussian.shrinkage import distance_to_identity, ledoit_wolf_share, oas_share
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.factors.left_out import LabelledBlock, LeftOut


class FewRows:
    """All rows about the means of their classes, and the class means, (n + k, d), with their products."""

    def __init__(self, whole: Downdates) -> None:
        self.whole = whole
        self.vectors = np.concatenate([whole.z, whole.means])

    def products(self, unit: Array) -> Array:
        """Products of all vectors, (m, n + k, n + k), in the metric diag(1/unit) of each of m units."""
        size, metric = len(self.vectors), (1.0 / unit).T
        found = np.empty((len(unit), size, size))
        for a, vector in enumerate(self.vectors):
            found[:, a, a:] = ((self.vectors[a:] * vector) @ metric).T
            found[:, a:, a] = found[:, a, a:]
        return found

    def about_new_means(self, rows: Codes, products: Array) -> Array:
        """Products of the rows about the means without each of these rows with all vectors, (m, n, n + k)."""
        n = len(self.whole.z)
        moved = self._moved(rows)[:, :, np.newaxis]
        own = products[0, rows] if len(products) == 1 else products[np.arange(len(rows)), rows]
        return np.asarray(products[:, :n] + moved * own[:, np.newaxis])

    def _moved(self, rows: Codes) -> Array:
        """How many times row i is added to each row a, (m, n): the mean of its class moves away from it."""
        whole = self.whole
        same = whole.codes == whole.codes[rows][:, np.newaxis]
        return np.asarray(same * (whole.ratio[rows] - 1.0)[:, np.newaxis])

    def among_rows(self, rows: Codes, about: Array) -> Array:
        """Products of the rows about the new means with each other, (m, n, n)."""
        everyone = np.arange(len(rows))
        own = about[everyone, :, rows]
        return np.asarray(
            about[:, :, : len(self.whole.z)] + own[:, :, np.newaxis] * self._moved(rows)[:, np.newaxis]
        )

    def distances(
        self, rows: Codes, members: Codes, products: Array, by_row: Array, level: Array, unit: Array
    ) -> Distances:
        """Distances of each row to the means of some classes, for Σ = level·diag(unit) + Σ b·zzᵀ."""
        about = self.about_new_means(rows, products)
        root = np.sqrt(by_row / level[:, np.newaxis])
        inner = self.among_rows(rows, about) * root[:, np.newaxis] * root[:, :, np.newaxis]
        inner[:, np.arange(inner.shape[1]), np.arange(inner.shape[1])] += 1.0
        weights = self._combinations(rows, members)
        along = (about @ weights.transpose(0, 2, 1)) * root[:, :, np.newaxis]
        away = self.whole.away[rows[:, np.newaxis], members]
        alone = (away**2 @ (1.0 / unit)[:, :, np.newaxis])[:, :, 0]
        squares = alone - np.einsum("nak,nak->nk", along, np.linalg.solve(inner, along))
        lengths = np.sqrt(np.einsum("maa->ma", products))
        largest = np.einsum(
            "nka,na->nk", np.abs(weights), np.broadcast_to(lengths, (len(rows), lengths.shape[1]))
        )
        exact = (largest**2 <= STIFFEST * squares).all(axis=1)
        log_det = np.log(level[:, np.newaxis] * unit).sum(axis=1) + np.linalg.slogdet(inner)[1]
        return Distances(squares / level[:, np.newaxis], log_det, exact)

    def _combinations(self, rows: Codes, members: Codes) -> Array:
        """x − μ of each row and class as a sum of the vectors, (m, k, n + k)."""
        whole = self.whole
        n, own = len(whole.z), whole.codes[rows]
        weights = np.zeros((len(rows), len(members), len(self.vectors)))
        for at, k in enumerate(members.tolist()):
            mine = own == k
            weights[np.arange(len(rows)), at, rows] = np.where(mine, whole.ratio[rows], 1.0)
            weights[np.arange(len(rows)), at, n + own] += ~mine
            weights[:, at, n + k] -= ~mine
        return weights


def leave_out_few_rows(totals: GaussianTotals, rows: LabelledBlock) -> LeftOut | None:
    """The scores of every row; None without shrinkage, where the covariances are singular."""
    family = totals.family
    shrinkage: Any = family.shrinkage
    amount = shrinkage[1] if isinstance(shrinkage, tuple) else shrinkage
    shrinks = isinstance(amount, str) or (amount is not None and amount > 0)
    if rows.predictive or not shrinks:
        return None
    whole = Downdates(totals, rows)
    if not whole.d or 2 * len(rows.codes) > whole.d:
        return None
    return _Shrunk(whole, Tying(family.covariance, rows.classes, family.ddof), shrinkage).scores()


class _Shrunk:
    def __init__(self, whole: Downdates, tying: Tying, shrinkage: Any) -> None:
        self.whole, self.tying, self.shrinkage = whole, tying, shrinkage
        self.shared = shrinkage[0] if isinstance(shrinkage, tuple) else 0.0
        if self.shared == 1.0:
            tying.share()
        self.few = FewRows(whole)
        self.group = tying.group[whole.codes]
        self.squares = tying.pooled(whole.squares)
        self.count, self.divisor = whole.divisors(tying)

    def scores(self) -> LeftOut:
        """Log densities of the classes, without what is equal for all of them."""
        whole = self.whole
        scores, exact = np.zeros((len(self.group), whole.n_classes)), whole.exact.copy()
        for part in whole.rows.parts(2 * len(self.few.vectors) ** 2):
            rows = np.arange(len(self.group))[part]
            rows = rows[exact[rows]]
            for g in range(self.tying.n_groups):
                own = self.group[rows] == g
                for some, has_row in ((rows[own], True), (rows[~own], False)):
                    if len(some):
                        members = np.flatnonzero(self.tying.group == g)
                        found = self._distances(some, g, members, has_row=has_row)
                        exact[some] &= found.exact
                        scores[some[:, np.newaxis], members] = -0.5 * (
                            found.log_det[:, np.newaxis] + found.squares
                        )
        return LeftOut.checked(scores, exact)

    def _distances(self, rows: Codes, g: int, members: Codes, *, has_row: bool) -> Distances:
        whole, friedman = self.whole, isinstance(self.shrinkage, tuple)
        divisor = self.divisor[rows]
        behind = (1.0 - self.shared) * divisor[:, g] + self.shared * divisor.sum(axis=1)
        by_row = whole.rows.weights * ((1.0 - self.shared) * (self.group == g) + self.shared)
        by_row = by_row / behind[:, np.newaxis]
        by_row[np.arange(len(rows)), rows] = 0.0
        everything, lost = self.squares.sum(axis=0), whole.lost_squares(rows)
        before = (1.0 - self.shared) * self.squares[g] + self.shared * everything
        after = before - ((1.0 - self.shared) * has_row + self.shared) * lost
        safe = (after * STIFFEST > before).all(axis=1)
        unit = after = np.where(safe[:, np.newaxis], after, 1.0) / behind[:, np.newaxis]
        if friedman:
            unit = (everything - lost) / self.count[rows].sum(axis=1, keepdims=True)
            safe &= (unit > 0).all(axis=1)
            unit = np.where(safe[:, np.newaxis], unit, 1.0)
            unit = unit * (after / unit).mean(axis=1, keepdims=True)
        elif not has_row:  # one metric for all
            unit = unit[:1]
        products = self.few.products(unit)
        share = self._shares(rows, g, products, by_row)
        found = self.few.distances(
            rows, members, products, by_row * (1.0 - share)[:, np.newaxis], share, unit
        )
        return Distances(found.squares, found.log_det, found.exact & safe & (share * STIFFEST >= 1.0))

    def _shares(self, rows: Codes, g: int, products: Array, by_row: Array) -> Array:
        amount = self.shrinkage[1] if isinstance(self.shrinkage, tuple) else self.shrinkage
        if not isinstance(amount, str):
            return np.full(len(rows), float(amount))
        among = self.few.among_rows(rows, self.few.about_new_means(rows, products))
        squares = np.einsum("nab,nab,na,nb->n", among, among, by_row, by_row, optimize=True)
        count, d = self.count[rows, g], self.whole.d
        if amount == "oas":
            return np.array([oas_share(*one) for one in zip(squares, [d] * len(rows), count, strict=True)])
        lengths = np.einsum("naa->na", among)
        used = self.whole.rows.weights * (by_row > 0)
        fourth = np.einsum("na,na->n", used, lengths**2)
        distances = [distance_to_identity(np.ones(d), square) for square in squares.tolist()]
        return np.array(
            [ledoit_wolf_share(*one) for one in zip(squares, distances, fourth, count, strict=True)]
        )
