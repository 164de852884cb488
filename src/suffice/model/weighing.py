"""How much each piece of evidence counts, learnt from rows that the densities have not seen.

    a_k(x) = b_k + Σ_f w_f · log p_f(x | C_k) + Σ_j δ_jk(x_j)

The scores are those of a softmax regression whose inputs are held-out log densities φ_nk: its gradient is
Σ_n (Σ_k y_nk·φ_nk − φ_n,t), and its Hessian Σ_n (Σ_k y_nk·φ_nk·φ_nkᵀ − φ̄_n·φ̄_nᵀ), with y the posteriors
and φ̄_n = Σ_k y_nk·φ_nk. Weights of one kind of evidence are alike before any row is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize, sparse

from suffice.arrays import Array, Codes
from suffice.links import log_softmax

BIAS_PENALTY = 1e-2
"""Holds the biases, of which one is free, near the log class shares."""
STEPS = 25
BOUNDED_STEPS = 500
CONVERGED = 1e-9
"""Nats per row that do not matter, in the search for weights."""
JUDGED = 1e-5
"""The same for weights that are only judged on rows held out, whose loss is much less certain."""
CORRECTION_STEPS = 500
ROUNDING = 1e-12
"""The share of a Hessian that does not matter."""


@dataclass(frozen=True)
class KnownRows:
    """Rows whose classes are known, with weights."""

    codes: Codes
    weight: Array
    n_classes: int

    def take(self, rows: Codes) -> KnownRows:
        """Some of the rows."""
        return KnownRows(self.codes[rows], self.weight[rows], self.n_classes)

    @property
    def log_shares(self) -> Array:
        """The log of each class's share, with half a row more in each class."""
        counts = np.bincount(self.codes, self.weight, self.n_classes) + 0.5
        return np.asarray(np.log(counts / counts.sum()))

    def losses(self, scores: Array) -> Array:
        """−log posterior of the class of each row."""
        return np.asarray(-log_softmax(scores)[np.arange(len(self.codes)), self.codes])

    def mean_loss(self, scores: Array) -> float:
        """The mean of the same, by weight."""
        return float(np.average(self.losses(scores), weights=self.weight))

    def residuals(self, log_posteriors: Array) -> Array:
        """Weight times posterior less 1 for the class of the row: the slope of the loss in each score."""
        residuals = np.exp(log_posteriors)
        residuals[np.arange(len(self.codes)), self.codes] -= 1.0
        residuals *= self.weight[:, np.newaxis]
        return residuals


def alike(groups: Sequence[Codes], n_pieces: int, apart: float) -> Array:
    """The covariance of the weights before any row is seen, (f, f).

    A weight is the sum of those of its groups, each with variance 1, and one by itself, with variance
    `apart`².
    """
    covariance = apart**2 * np.eye(n_pieces)
    for group in groups:
        covariance[np.ix_(group, group)] += 1.0
    return covariance


@dataclass(frozen=True)
class PieceWeights:
    """One weight for each piece, and one bias for each class."""

    weights: Array
    bias: Array

    def scores(self, evidence: Array) -> Array:
        """Scores of rows with evidence (n, f, k)."""
        return np.asarray(np.einsum("nfk,f->nk", evidence, self.weights) + self.bias)


def inverse(covariance: Array) -> Array:
    """The inverse of a positive definite matrix."""
    return np.asarray(np.linalg.inv(covariance), dtype=np.float64)


def learn_weights(
    evidence: Array,
    rows: KnownRows,
    covariance: Array,
    offset: Array | None = None,
    start: PieceWeights | None = None,
    *,
    nonnegative: bool = False,
    converged: float = CONVERGED,
) -> PieceWeights:
    """The weights and biases of least penalised loss, by Newton's method, or within bounds.

    `covariance` (f, f) is that of the weights before any row is seen. With an offset (n, k), the biases are
    shrunk toward 0, without one toward the log class shares. The search ends where a step gains less than
    `converged` nats per row.
    """
    n, f, k = evidence.shape
    if f > n * k and not nonnegative:
        return _learn_in_span_of_rows(evidence, rows, covariance, offset, converged)
    precision = inverse(covariance)
    # The inputs of each class, (k, n, f + k); its bias is the weight of an input that is 1 for this class.
    design = np.zeros((k, n, f + k))
    design[:, :, :f] = evidence.transpose(2, 0, 1)
    design[np.arange(k), :, f + np.arange(k)] = 1.0
    penalty = linalg.block_diag(precision, BIAS_PENALTY * np.eye(k))
    centre = np.zeros(f + k)
    if offset is None:
        centre[f:] = rows.log_shares

    def slope_at(parameters: Array, log_posteriors: Array) -> Array:
        residuals = rows.residuals(log_posteriors)
        slope = sum(residuals[:, j] @ design[j] for j in range(k))
        return np.asarray(slope + penalty @ (parameters - centre))

    def at(parameters: Array) -> tuple[float, Array]:
        scores = (design @ parameters).T
        log_posteriors = log_softmax(scores if offset is None else scores + offset)
        own = log_posteriors[np.arange(n), rows.codes]
        away = parameters - centre
        return float(0.5 * away @ penalty @ away - rows.weight @ own), log_posteriors

    parameters = centre if start is None else np.concatenate([start.weights, start.bias])
    negligible = converged * float(rows.weight.sum())
    if nonnegative:

        def with_slope(parameters: Array) -> tuple[float, Array]:
            value, log_posteriors = at(parameters)
            return value, slope_at(parameters, log_posteriors)

        bounds = [(0.0, None)] * f + [(None, None)] * k
        options = {"maxiter": BOUNDED_STEPS, "ftol": 1e-12, "gtol": negligible}
        found = optimize.minimize(
            with_slope, parameters, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        ).x
        return PieceWeights(found[:f], found[f:])
    value, log_posteriors = at(parameters)
    for _ in range(STEPS):
        gradient = slope_at(parameters, log_posteriors)
        hessian = _hessian(design, log_posteriors, rows.weight) + penalty
        # Rounding may leave no penalty beside many rows, in the directions that they say nothing about.
        hessian[np.diag_indices(f + k)] += ROUNDING * hessian.diagonal().max()
        step = linalg.solve(hessian, gradient, assume_a="pos")
        promised, share = float(gradient @ step), 1.0
        lower, log_posteriors = at(parameters - step)
        while lower > value - 1e-4 * share * promised and share > 1e-6:
            share *= 0.5
            lower, log_posteriors = at(parameters - share * step)
        parameters = parameters - share * step
        if value - lower <= negligible:
            break
        value = lower
    return PieceWeights(parameters[:f], parameters[f:])


def _learn_in_span_of_rows(
    evidence: Array, rows: KnownRows, covariance: Array, offset: Array | None, converged: float
) -> PieceWeights:
    """The same where there are more pieces than rows and classes.

    The best weights are C·Φᵀ·α, with Φ the evidence of all rows and classes, and a penalty αᵀ(Φ·C·Φᵀ)α: those
    of as many pieces as Φ·C·Φᵀ has directions.
    """
    n, f, k = evidence.shape
    flat = evidence.transpose(0, 2, 1).reshape(n * k, f)
    spread = covariance @ flat.T
    squares, directions = linalg.eigh(flat @ spread)
    kept = squares > n * k * np.finfo(np.float64).eps * squares.max(initial=0.0)
    lengths, directions = np.sqrt(squares[kept]), directions[:, kept]
    fewer = (directions * lengths).reshape(n, k, -1).transpose(0, 2, 1)
    found = learn_weights(fewer, rows, np.eye(len(lengths)), offset, converged=converged)
    return PieceWeights(spread @ (directions @ (found.weights / lengths)), found.bias)


def _hessian(design: Array, log_posteriors: Array, weight: Array) -> Array:
    """Σ_n s_n·(Σ_k y_nk·φ_nk·φ_nkᵀ − φ̄_n·φ̄_nᵀ)."""
    y = np.exp(log_posteriors)
    if len(design) == 2:  # y(1 − y)·φφᵀ with the difference of the two
        gap = (design[1] - design[0]) * np.sqrt(weight * y[:, 0] * y[:, 1])[:, np.newaxis]
        return np.asarray(gap.T @ gap)
    root, mean = np.sqrt(weight), np.zeros(design.shape[1:])
    hessian = np.zeros((design.shape[2], design.shape[2]))
    for inputs, share in zip(design, y.T, strict=True):
        half = inputs * (np.sqrt(share) * root)[:, np.newaxis]
        hessian += half.T @ half
        half *= np.sqrt(share)[:, np.newaxis]
        mean += half
    return np.asarray(hessian - mean.T @ mean)


@dataclass(frozen=True)
class CorrectionDesign:
    """Which cells rows lie in, and how corrections of cells are made of what is shrunk toward 0.

    Levels are shrunk each by itself. Neighbouring intervals are shrunk toward each other: what is shrunk are
    the jumps from one to the next.
    """

    cells: sparse.csr_array
    """(n, m), 1 where a row lies in a cell."""
    jumps: sparse.csr_array
    """(m, p): corrections as sums of what is shrunk."""

    @classmethod
    def of(cls, codes: Array, sizes: Sequence[int], ordered: Sequence[bool]) -> CorrectionDesign:
        """The design of coarse cells (n, d), NaN where missing, of so many cells each."""
        first = np.cumsum([0, *sizes])
        rows, columns = np.nonzero(~np.isnan(codes))
        places = first[columns] + codes[rows, columns].astype(np.intp)
        shape = (len(codes), int(first[-1]))
        cells = sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=shape)
        blocks = [
            np.tril(np.ones((size, size)))[:, 1:] if in_order else np.eye(size)
            for size, in_order in zip(sizes, ordered, strict=True)
        ]
        return cls(cells, sparse.csr_array(sparse.block_diag(blocks)))

    def take(self, rows: Codes) -> CorrectionDesign:
        """The design of some of the rows."""
        return CorrectionDesign(self.cells[rows], self.jumps)


def learn_corrections(
    design: CorrectionDesign,
    rows: KnownRows,
    offset: Array,
    ridge: float,
    start: Array | None = None,
    *,
    converged: float = CONVERGED,
) -> tuple[Array, Array]:
    """Corrections (cells, classes) of least penalised loss beside an offset, and what they are made of."""
    cells, jumps = design.cells, design.jumps
    of_cells, of_jumps = sparse.csr_array(cells.T), sparse.csr_array(jumps.T)
    p, k = jumps.shape[1], rows.n_classes

    def at(flat: Array) -> tuple[float, Array]:
        parts = flat.reshape(p, k)
        log_posteriors = log_softmax(offset + cells @ (jumps @ parts))
        own = log_posteriors[np.arange(len(rows.codes)), rows.codes]
        slope = of_jumps @ (of_cells @ rows.residuals(log_posteriors)) + ridge * parts
        return float(0.5 * ridge * np.sum(parts * parts) - rows.weight @ own), slope.ravel()

    begin = np.zeros(p * k) if start is None else start
    options = {"maxiter": CORRECTION_STEPS, "maxcor": 10, "ftol": converged, "gtol": 0.0}
    found = optimize.minimize(at, begin, jac=True, method="L-BFGS-B", options=options).x
    return np.asarray(jumps @ found.reshape(p, k)), found


def mean_residuals(scores: Array, rows: KnownRows, nodes: int = 8) -> Array:
    """1 for the class of a row less the posterior, times the row's weight, averaged on the way to the scores.

    On the straight way from the log class shares to the scores, the log posterior of the class of a row grows
    by the product of these with what each part adds to the scores. So what parts add, adds up.
    """
    places, shares = np.polynomial.legendre.leggauss(nodes)
    start = rows.log_shares
    found = np.zeros_like(scores)
    for place, share in zip(0.5 + 0.5 * places, 0.5 * shares, strict=True):
        found -= share * rows.residuals(log_softmax(start + place * (scores - start)))
    return found
