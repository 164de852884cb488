"""Linear scores of discriminant analysis, from covariances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from suffice.arrays import Array
from suffice.dropin.covariances import Covariances, inflation, joint_gaussian
from suffice.export.expressions import Cell, Gaps, Linear, Missing, Score, Where, all_of, as_expression
from suffice.factors.base import Block
from suffice.factors.checks import refuse_infinities
from suffice.factors.gaussian.scores import SolvedGaussian
from suffice.factors.gaussian.solve import assembled
from suffice.factors.gaussian.tying import Tying
from suffice.factors.scores import Scores
from suffice.kernels.choose import contiguous, gaussian_for


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
        self.set_constants(mean, priors)

    def set_constants(self, mean: Array, priors: Array) -> None:
        """The rest of the scores −½(x − μ_k)ᵀΣ⁻¹(x − μ_k), given Σ⁻¹·μ_k."""
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
