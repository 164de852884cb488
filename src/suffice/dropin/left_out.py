"""The discriminants without each of their rows, with scikit-learn's shrinkage and tolerances."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.dropin.covariances import inflation
from suffice.factors.base import Totals
from suffice.factors.gaussian.downdates import STIFFEST, Downdates, matrix_distances
from suffice.factors.gaussian.rows import are_few
from suffice.factors.gaussian.shrinkage import ledoit_wolf_share
from suffice.factors.gaussian.thin_left_out import FewRows
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.left_out import LabelledBlock, LeftOut
from suffice.kernels.choose import is_complete

SURE = 2.0
"""How many times a variance must exceed the tolerance to count for certain."""
WELL_SCALED = 1e9
"""The largest condition, in the units of the data, of a matrix that scikit-learn's solver inverts."""

NEAR_ZERO = 1e5
"""The largest squared distance of a class mean from where the scores are 0, which are differences of such."""

MOST_DEVIATIONS = 1e4
"""How many deviations a mean may be away from 0: in the units of the data it is rounded by 2e-16 of it."""


class ClassCovariances:
    """Σ_k divided by n and shrunk, of each class with all rows, and without each of its rows."""

    def __init__(self, totals: GaussianTotals, rows: LabelledBlock, shrinkage: Any) -> None:
        self.whole = Downdates(totals, rows)
        self.shrinkage = shrinkage

    @classmethod
    def of(cls, totals: Totals, rows: LabelledBlock, shrinkage: Any) -> ClassCovariances | None:
        """None where cells are missing, a column is constant, or means in its units have lost digits."""
        if not isinstance(totals, GaussianTotals) or not is_complete(np.asarray(rows.block)):
            return None
        found = cls(totals, rows, shrinkage)
        near = bool((np.abs(found.whole.centre) < MOST_DEVIATIONS * found.whole.scale).all())
        return found if near and found.whole.d == totals.n_columns else None

    @property
    def are_few(self) -> bool:
        """Whether the rows take much less memory than a covariance."""
        return are_few(len(self.whole.codes), self.whole.d)

    @property
    def exact(self) -> NDArray[np.bool_]:
        """The rows that leave a class, which varies in all columns under Ledoit and Wolf's rule."""
        whole = self.whole
        if self.shrinkage != "auto":
            return whole.exact.copy()
        lost, squares = whole.lost_squares(np.arange(len(whole.codes))), whole.squares[whole.codes]
        return np.asarray(
            whole.exact & ((squares - lost) * STIFFEST > squares).all(axis=1) & (whole.squares > 0).all()
        )

    def whole_class(self, k: int) -> Array:
        """Of a class with all rows, (1, d, d)."""
        whole = self.whole
        return self._shrunk(
            whole.scatter[[k]] / whole.weight[k], k, np.zeros(1, dtype=np.intp), has_row=False
        )

    def without(self, rows: Codes, k: int) -> Array:
        """Of the class k, to which these rows belong, without each of them, (n, d, d)."""
        weight = self.whole.weight_left[rows, k]
        covariance = (
            self.whole.scatter_without(rows, self.whole.scatter[k]) / weight[:, np.newaxis, np.newaxis]
        )
        return self._shrunk(covariance, k, rows, has_row=True)

    def _shrunk(self, covariance: Array, k: int, rows: Codes, *, has_row: bool) -> Array:
        if self.shrinkage is None:
            return covariance
        d, square = self.whole.d, self.whole.scale**2
        variance = np.einsum("njj->nj", covariance)
        if isinstance(self.shrinkage, Real):
            share = np.full(len(covariance), float(self.shrinkage))
            target = np.outer(variance @ square / d, 1.0 / square)
        else:
            inverse = 1.0 / np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny))
            correlation = covariance * inverse[:, np.newaxis] * inverse[:, :, np.newaxis]
            squares = np.einsum("nij,nij->n", correlation, correlation)
            powers = self.whole.fourth_powers(rows, self.whole.codes == k, inverse, has_row=has_row)
            count = self.whole.weight_left[rows, k] if has_row else self.whole.weight[[k]]
            each = zip(squares.tolist(), powers.tolist(), count.tolist(), strict=True)
            share = np.array([ledoit_wolf_share(one, one - d, power, n) for one, power, n in each])
            target = variance.copy()
        shrunk = covariance * (1.0 - share)[:, np.newaxis, np.newaxis]
        np.einsum("njj->nj", shrunk)[:] += share[:, np.newaxis] * target
        return np.asarray(shrunk)


def quadratic_without_each(each: ClassCovariances, solver: str, reg_param: float, tol: float) -> LeftOut:
    """The scores of quadratic discriminants; rows whose class would be refused are not exact."""
    whole = each.whole
    n_classes, d = whole.n_classes, whole.d
    scores, exact = np.zeros((len(whole.codes), n_classes)), each.exact
    fewest = max(2, d) if solver == "svd" else 2
    exact &= (whole.rows.support[whole.codes] > fewest) & (whole.rows.support >= fewest).all()
    exact &= (whole.weight_left > 1.0).all(axis=1)
    square = whole.scale**2

    def regular(covariance: Array, weight: Array) -> Array:
        if solver == "eigen":
            return covariance
        kept = (1.0 - reg_param) * covariance * inflation(weight, 1)[:, np.newaxis, np.newaxis]
        np.einsum("njj->nj", kept)[:] += reg_param / square
        return np.asarray(kept)

    for part in whole.rows.parts(max(d**2, whole.cells_of(each.shrinkage))):
        everyone = np.arange(len(whole.codes))[part]
        everyone = everyone[exact[everyone]]
        for k in range(n_classes):
            own = whole.codes[everyone] == k
            largest = np.einsum("njj->nj", each.whole_class(k))
            for rows, has_row in ((everyone[own], True), (everyone[~own], False)):
                if not len(rows):
                    continue
                weight = whole.weight_left[rows, k] if has_row else whole.weight[[k]]
                covariance = regular(each.without(rows, k) if has_row else each.whole_class(k), weight)
                found = matrix_distances(whole.away[rows, k][:, np.newaxis], covariance, largest)
                scores[rows, k] = -0.5 * (found.log_det + found.squares[:, 0])
                exact[rows] &= found.exact
                if found.precision is not None:
                    exact[rows] &= np.sum(found.precision / square, axis=1) * tol * SURE < 1.0
    return LeftOut.checked(scores, exact)


def linear_without_each(each: ClassCovariances, solver: str, priors: Array, tol: float) -> LeftOut | None:
    """The scores of linear discriminants, given the priors (n, k) without each row."""
    whole = each.whole
    if each.are_few:
        return linear_of_few_rows(each, priors)
    scores, exact = np.zeros((len(whole.codes), whole.n_classes)), each.exact
    exact &= len(whole.codes) - 1 > whole.n_classes > 1
    if solver == "svd":
        exact &= whole.weight_left.sum(axis=1) > whole.n_classes
    for part in whole.rows.parts(max(2 * whole.d**2, whole.cells_of(each.shrinkage))):
        rows = np.arange(len(whole.codes))[part]
        rows = rows[exact[rows]]
        if not len(rows):
            continue
        covariance, largest = _within(each, rows, priors[rows], solver)
        found = matrix_distances(whole.away[rows], covariance, largest)
        scores[rows] = -0.5 * found.squares
        exact[rows] &= found.exact
        if found.precision is None:
            continue
        variance = np.einsum("njj->nj", covariance)
        if solver == "svd":
            # All directions must have a deviation above the tolerance, within and between the classes.
            exact[rows] &= np.sum(found.precision * variance, axis=1) * (SURE * tol) ** 2 < 1.0
            exact[rows] &= _all_directions(whole.away[rows], covariance, priors[rows], tol)
        else:
            square = whole.scale**2
            # Solved in the units of the data and about 0, as scikit-learn's scores are.
            condition = np.einsum("nj,j,nk,k->n", variance, square, found.precision, 1.0 / square)
            exact[rows] &= condition < WELL_SCALED
            mean = whole.centre / whole.scale
            distance = np.einsum("kj,njk->nk", mean, np.linalg.solve(covariance, mean.T[np.newaxis]))
            exact[rows] &= (distance < NEAR_ZERO).all(axis=1)
    return LeftOut.checked(scores, exact)


def linear_of_few_rows(each: ClassCovariances, priors: Array) -> LeftOut | None:
    """The same, where a share of the identity makes up for columns without rows; None for other shrinkage."""
    whole, share = each.whole, each.shrinkage
    if not isinstance(share, Real) or not float(share) * STIFFEST > 1.0:
        return None
    share, square = float(share), whole.scale**2
    everyone = np.arange(len(whole.codes))
    few, unit = FewRows(whole), 1.0 / square[np.newaxis]
    traces = np.repeat((whole.squares @ square)[np.newaxis], len(everyone), axis=0)
    traces[everyone, whole.codes] -= whole.lost_squares(everyone) @ square
    weight = np.where(whole.weight_left > 0, whole.weight_left, 1.0)
    level = share * np.sum(priors * traces / weight, axis=1) / whole.d
    exact = whole.exact & (traces * STIFFEST > whole.squares @ square).all(axis=1)
    exact &= len(everyone) - 1 > whole.n_classes > 1
    exact &= np.sum(whole.centre**2, axis=1).max() < NEAR_ZERO * level
    by_row = (1.0 - share) * (priors / weight)[:, whole.codes] * whole.rows.weights
    by_row[everyone, everyone] = 0.0
    scores, products = np.zeros((len(everyone), whole.n_classes)), few.products(unit)
    for part in whole.rows.parts(2 * len(few.vectors) ** 2):
        rows = everyone[part][exact[part]]
        if len(rows):
            classes = np.arange(whole.n_classes)
            found = few.distances(rows, classes, products, by_row[rows], level[rows], unit)
            scores[rows], exact[rows] = -0.5 * found.squares, found.exact
    return LeftOut.checked(scores, exact)


def _within(each: ClassCovariances, rows: Codes, priors: Array, solver: str) -> tuple[Array, Array]:
    """The covariance within the classes without each row, and the variances that rounding is a share of."""
    whole = each.whole
    if solver == "svd":
        scatter, weight = whole.scatter.sum(axis=0), whole.weight_left[rows].sum(axis=1)
        divisor = weight / inflation(weight, whole.n_classes)
        within = whole.scatter_without(rows, scatter) / divisor[:, np.newaxis, np.newaxis]
        return within, np.diag(scatter) / divisor[:, np.newaxis]
    matrices = np.concatenate([each.whole_class(k) for k in range(whole.n_classes)])
    largest = priors @ np.einsum("kjj->kj", matrices)
    own = whole.codes[rows]
    share = priors[np.arange(len(rows)), own]
    others = priors.copy()
    others[np.arange(len(rows)), own] = 0.0
    within = np.einsum("nk,kij->nij", others, matrices)
    for k in np.unique(own):
        mine = own == k
        within[mine] += share[mine, np.newaxis, np.newaxis] * each.without(rows[mine], k)
    return within, largest


def _all_directions(away: Array, covariance: Array, priors: Array, tol: float) -> NDArray[np.bool_]:
    """Whether all directions between the class means are kept, and none is far from their middle."""
    between = away - np.einsum("nk,nkj->nj", priors, away)[:, np.newaxis]
    products = between @ np.linalg.solve(covariance, between.transpose(0, 2, 1))
    near = (np.einsum("nkk->nk", products) < NEAR_ZERO).all(axis=1)
    root = np.sqrt(priors)
    spread = np.linalg.eigvalsh(products * root[:, np.newaxis] * root[:, :, np.newaxis])[:, ::-1]
    n_directions = min(away.shape[1] - 1, away.shape[2])
    return np.asarray(near & (spread[:, n_directions - 1] > (SURE * tol) ** 2 * spread[:, 0]))
