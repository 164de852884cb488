"""Linear scores of discriminant analysis: from covariances, or from the rows themselves if they are few."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from suffice.arrays import Array
from suffice.dropin.covariances import Covariances, inflation, joint_gaussian
from suffice.export.expressions import Cell, Gaps, Linear, Missing, Score, Where, all_of, as_expression
from suffice.factors.base import Block, Totals
from suffice.factors.checks import refuse_infinities
from suffice.factors.gaussian.moments import Standardised, centred_rows, columns_of, standardised
from suffice.factors.gaussian.rows import RowSums
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.solve import assembled
from suffice.factors.gaussian.totals import GaussianTotals
from suffice.factors.gaussian.tying import Tying
from suffice.factors.scores import Scores
from suffice.kernels.choose import contiguous, gaussian_for
from suffice.storage import Fields

SAVED = ("middle", "coefficients", "constants", "scalings", "explained")
"""What a file holds of scores that were found from rows."""
OF_COVARIANCE = ("standard", "regularized", "scatter_parts", "within")
"""What takes the covariance itself."""


class LinearGaussian(SolvedGaussian):
    """Gaussians with one covariance, and the linear scores that scikit-learn's solvers derive from them.

    Rows without gaps are scored by `coefficients` about `middle`; others by the marginals of the Gaussians.
    """

    within: Array
    coefficients: Array
    """(k, d)."""
    constants: Array
    """What a row at `middle` scores, (k,), priors aside."""
    middle: Array
    scalings: Array
    explained: Array

    def solve_svd(
        self, mean: Array, deviation: Array, strength: Array, axes_within: Array, priors: Array, tol: float
    ) -> None:
        """Whiten by the principal axes of the correlations within classes, then find Fisher's directions."""
        rank = int(np.sum(strength > tol))
        whitening = (axes_within / deviation[:, np.newaxis])[:, :rank] / strength[:rank]
        self.middle = priors @ mean
        away = mean - self.middle
        between = (np.sqrt(priors)[:, np.newaxis] * away) @ whitening
        _, spread, axes = np.linalg.svd(between, full_matrices=False)
        explained = np.square(spread)
        self.explained = (
            explained / explained.sum() if explained.sum() > 0 else np.full_like(explained, np.nan)
        )
        kept = int(np.sum(spread > tol * spread.max(initial=0.0)))
        self.scalings = whitening @ axes[:kept].T
        projected = away @ self.scalings
        self.coefficients = projected @ self.scalings.T
        self.constants = -0.5 * np.sum(np.square(projected), axis=1)

    def solve_within(self, moments: Covariances, priors: Array, *, directions: bool) -> None:
        """Σ⁻¹·μ_k by least squares, or by the eigenvectors of Σ⁻¹·(the covariance between classes)."""
        mean = moments.mean
        if directions:
            values, vectors = linalg.eigh(moments.total - self.within, self.within)
            self.scalings = vectors[:, ::-1]
            self.explained = values[::-1] / values.sum()
            self.coefficients = mean @ self.scalings @ self.scalings.T
        else:
            self.coefficients = linalg.lstsq(self.within, mean.T)[0].T
        self.middle = priors @ mean
        quadratic = np.sum(mean * self.coefficients, axis=1)
        self.constants = self.coefficients @ self.middle - 0.5 * quadratic

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        """Linear scores of rows without gaps; with gaps the marginals of the Gaussians."""
        used = np.flatnonzero(self.coefficients.any(axis=0))
        terms = tuple(Cell(columns[j]) - float(self.middle[j]) for j in used)
        constants = as_expression(self.constants)
        linear = Linear(terms, self.coefficients[:, used].T) + constants if terms else constants
        if gaps == "null":
            return Score(linear)
        by_pattern = super().expression(columns, labels, gaps)
        whole = all_of([~Missing(column) for column in columns])
        return Score(Where(whole, linear, by_pattern.finite))

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        """Linear scores of rows without gaps; log densities where those are wanted."""
        if base:
            super().add_scores(block, labels, scores, base=True)
            return
        limit = np.full(block.shape[1], np.finfo(np.float64).max)
        parameters = (np.ascontiguousarray(a) for a in (self.middle, self.coefficients, self.constants))
        kernels = gaussian_for(block.size * len(self.constants))
        done = kernels.linear_scores(contiguous(block), limit, *parameters, scores.finite)
        if done < len(block):
            refuse_infinities(block, labels)
            rest, finite = block[done:], scores.finite[done:]
            gaps = np.isnan(rest).any(axis=1)
            finite[~gaps] += (rest[~gaps] - self.middle) @ self.coefficients.T + self.constants
            by_marginals = np.zeros((int(gaps.sum()), finite.shape[1]))
            self._add_by_patterns(rest[gaps], by_marginals, base=False)
            finite[gaps] += by_marginals


class FewRowsGaussian(LinearGaussian):
    """The same from the rows, where they are few: no matrix of d × d is needed for rows without gaps.

    The covariance, for all else, is worked out when it is first needed.
    """

    def __init__(
        self, totals: GaussianTotals, data: Standardised, labels: list[str], classes: NDArray[Any]
    ) -> None:
        active = np.flatnonzero(data.varies)
        super().__init__(joint_gaussian(None), labels, active, len(labels))
        del self.standard, self.regularized, self.scatter_parts  # found when they are first needed
        self.totals = totals.take_classes(np.arange(len(classes)))
        self.classes = classes
        self.centre, self.scale = data.centre, data.scale
        self.shift = np.zeros_like(self.centre)
        for k, cells in enumerate(data.cells):
            for cell in cells:
                total = (cell.raw.total + cell.raw.weight * cell.shift) * cell.factor
                self.shift[k, cell.columns] = np.where(
                    data.varies[cell.columns], total / cell.raw.weight, 0.0
                )
        self.group = np.zeros(len(classes), dtype=np.intp)
        shared = Tying("shared", classes, 0.0)
        self.n_parameters = len(classes) * len(active) + shared.n_parameters(len(active))

    @classmethod
    def of(
        cls,
        totals: Totals,
        labels: list[str],
        classes: NDArray[Any],
        settings: tuple[Array, float],
        saved_search: Fields | None,
    ) -> FewRowsGaussian | None:
        """With these priors and tolerance, if the rows are few; or what a file holds of it."""
        if not isinstance(totals, GaussianTotals):
            return None
        if saved_search is not None:
            if "svd" not in saved_search:
                return None
            saved_search.require(["svd"])
            return cls(totals, standardised(totals), labels, classes).restored(saved_search.branch("svd"))
        if not all(isinstance(cell, RowSums) for cell in totals.cells.values()):
            return None
        data = standardised(totals)
        solved = cls(totals, data, labels, classes)
        rows = centred_rows(columns_of(data, solved.active))
        if rows is None:
            return None
        weight = sum(float(cell.weight) for cell in totals.cells.values())
        whole = np.zeros((len(rows.values), len(labels)))
        whole[:, solved.active] = rows.values / np.sqrt(weight)
        deviation = np.sqrt(np.sum(whole**2, axis=0))
        varies = deviation > 0
        _, strength, axes = np.linalg.svd(whole / np.where(varies, deviation, 1.0), full_matrices=False)
        strength *= np.sqrt(inflation(np.asarray(weight), len(classes)))
        deviation = np.where(varies, deviation * solved.scale, 1.0)
        priors, tol = settings
        solved.solve_svd(solved.mean, deviation, strength, axes.T, priors, tol)
        return solved

    def saved_search(self) -> dict[str, Any]:
        """The scores, which the sums in a file would give other last bits."""
        return {"svd": {name: getattr(self, name) for name in SAVED}}

    def restored(self, fields: Fields) -> Self:
        """The same with the scores that a file holds."""
        n_classes, d = self.centre.shape
        self.middle = fields.array("middle", np.float64, (d,))
        self.coefficients = fields.array("coefficients", np.float64, (n_classes, d))
        self.constants = fields.array("constants", np.float64, (n_classes,))
        self.scalings = fields.array("scalings", np.float64, (d, None))
        self.explained = fields.array("explained", np.float64, (None,), finite=False)
        return self

    def __getattr__(self, name: str) -> Any:
        if name not in OF_COVARIANCE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        dense = shared_gaussian(Covariances.of(self.totals, self.classes, None, shared=True), self.labels)
        vars(self).update({one: getattr(dense, one) for one in OF_COVARIANCE})
        return vars(self)[name]


def shared_gaussian(moments: Covariances, labels: list[str], within: Array | None = None) -> LinearGaussian:
    """Gaussians that share the covariance `within`, or that of all rows about their class means."""
    classwise = moments.classwise
    scatter_parts = classwise.moments.scatter_parts
    if scatter_parts is not None:
        scatter_parts = [replace(part, group=0) for part in scatter_parts]
    scatter, noise = (
        sums.sum(axis=0, keepdims=True) for sums in (classwise.moments.scatter, classwise.moments.noise)
    )
    pooled = replace(
        classwise,
        tying=Tying("shared", classwise.classes, 0.0),
        moments=replace(classwise.moments, scatter_parts=scatter_parts, scatter=scatter, noise=noise),
    )
    solved = LinearGaussian(joint_gaussian(moments.shrinkage), labels, classwise.active, len(labels))
    if within is None:
        solved.within = moments.in_units(moments.standard)[0]
        larger = inflation(moments.weight.sum(), len(classwise.classes))
        return assembled(solved, pooled, moments.standard * larger)
    solved.within = within
    return assembled(solved, pooled, moments.standardised(within)[np.newaxis].copy())


def principal_axes(covariance: Array) -> tuple[Array, Array, Array]:
    """Standard deviations of columns; along the principal axes of the correlations; and these in columns.

    With fewer rows than columns most axes have no spread. They are left out, and the others come from a
    factor L with LLᵀ = R that has only a few columns, which is cheaper.
    """
    deviation = np.sqrt(np.diag(covariance))
    deviation[deviation == 0] = 1.0
    correlation = covariance / np.outer(deviation, deviation)
    factor, order, rank, _ = linalg.lapack.dpstrf(correlation, lower=1)
    if rank < len(correlation) // 2:
        root = np.empty((len(correlation), rank))
        root[order - 1] = np.tril(factor[:, :rank])
        axes, strength, _ = np.linalg.svd(root, full_matrices=False)
        return deviation, strength, axes
    values, vectors = linalg.eigh(correlation, check_finite=False)
    return deviation, np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1]
