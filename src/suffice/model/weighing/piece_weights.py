"""How much each piece of evidence counts, learnt from rows that the densities have not seen.

    a_k(x) = b_k + Σ_f w_f · log p_f(x | C_k) + Σ_j δ_jk(x_j)

The scores are those of a softmax regression whose inputs are held-out log densities φ_nk: its gradient is
Σ_n (Σ_k y_nk·φ_nk − φ_n,t), and its Hessian Σ_n (Σ_k y_nk·φ_nk·φ_nkᵀ − φ̄_n·φ̄_nᵀ), with y the posteriors
and φ̄_n = Σ_k y_nk·φ_nk. Weights of one kind of evidence are alike before any row is seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize

from suffice.arrays import Array, Codes
from suffice.links import log_softmax
from suffice.model.weighing.known_rows import KnownRows
from suffice.model.weighing.quasi_newton import Solve, minimise

BIAS_PENALTY = 1e-2
"""Holds the biases, of which one is free, near the log class shares."""
BOUNDED_STEPS = 500
CONVERGED = 1e-12
"""Nats per row that do not matter, in the search for weights."""
JUDGED = 1e-5
"""The same for weights that are only judged on rows held out, whose loss is much less certain."""
ROWS_AT_ONCE = 2048
"""Rows whose share of a Hessian is computed at once, in the cache."""
ROUNDING = 1e-12
"""The share of a Hessian that does not matter."""
PLACES, SHARES = np.polynomial.legendre.leggauss(8)
"""Where slopes are looked at on a way, and how much each counts (Gauss and Legendre)."""


def alike(groups: Sequence[Codes], n_pieces: int, apart: float, together: float = 1.0) -> Array:
    """The covariance of the weights before any row is seen, (f, f).

    A weight is the sum of those of its groups, each with variance `together`², and one by itself, with
    variance `apart`².
    """
    covariance = apart**2 * np.eye(n_pieces)
    for group in groups:
        covariance[np.ix_(group, group)] += together**2
    return covariance


@dataclass(frozen=True)
class PieceWeights:
    """One weight for each piece, and one bias for each class."""

    weights: Array
    bias: Array

    def scores(self, inputs: Array) -> Array:
        """Scores (n, k) of rows with evidence (k, n, f)."""
        return np.asarray((inputs @ self.weights).T + self.bias)


def inverse(covariance: Array) -> Array:
    """The inverse of a positive definite matrix."""
    return np.asarray(np.linalg.inv(covariance), dtype=np.float64)


class WeightSearch:
    """The weights and biases of least penalised loss, for one penalty or choice of rows after the other.

    Evidence is (k, n, f), and an offset (n, k). With an offset, the biases are shrunk toward 0, without one
    toward the log class shares. What all rows show of the curvature serves searches among some of them, which
    may have evidence of their own, (searches, k, n, f).
    """

    def __init__(
        self,
        inputs: Array,
        rows: KnownRows,
        offset: Array | None = None,
        of_each: Array | None = None,
        *,
        nonnegative: bool = False,
    ) -> None:
        self.inputs, self.rows, self.nonnegative = inputs, rows, nonnegative
        self.offset, self.of_each = offset, of_each
        self._curvature: _Curvature | None = None
        self._speaks = (inputs != inputs[:1]).any(axis=(0, 1))
        if of_each is not None:
            self._speaks |= (of_each != of_each[:, :1]).any(axis=(0, 1, 2))
        self._of_speaking: WeightSearch | None = None
        if self._speaks.any() and not self._speaks.all() and not nonnegative:
            speaking = np.ascontiguousarray(inputs[..., self._speaks])
            of_each = None if of_each is None else np.ascontiguousarray(of_each[..., self._speaks])
            self._of_speaking = WeightSearch(speaking, rows, offset, of_each)

    def learn(
        self,
        covariance: Array,
        weight: Array | None = None,
        start: PieceWeights | None = None,
        converged: float = CONVERGED,
    ) -> PieceWeights:
        """The weights of all rows, or of rows with other weights, of which some may be 0.

        `covariance` (f, f) is that of the weights before any row is seen. The search ends where no step
        would gain `converged` nats per row.
        """
        if self._of_speaking is not None:
            begin = None if start is None else self._of_those_who_speak(start)
            found = self._of_speaking.learn(self._among(covariance), weight, begin, converged)
            return self._with_silent(covariance, [found])[0]
        k, n, f = self.inputs.shape
        rows = self.rows if weight is None else replace(self.rows, weight=weight)
        if self.nonnegative:
            return self._learn_bounded(rows, covariance, start, converged)
        if f > n * k:
            return _learn_in_span_of_rows(self.inputs, rows, covariance, self.offset, converged)
        loss = _PenalisedLoss(self.inputs, rows, _penalty(covariance, k), self.offset)
        begun = loss.centre if start is None else np.concatenate([start.weights, start.bias])
        size = float(rows.weight.sum())

        def solver() -> Solve:
            curvature = _Curvature(loss.hessian(), size, loss.in_scores())
            if weight is None:
                self._curvature = curvature
            return solver_of(curvature.hessian + loss.penalty)

        best = minimise(loss.at, begun, converged * size, self._known(loss, size), solver)
        return PieceWeights(best[:f], best[f:])

    def learn_each(
        self,
        covariance: Array,
        weights: Sequence[Array],
        starts: Sequence[PieceWeights],
        converged: float = CONVERGED,
        first: int = 0,
    ) -> list[PieceWeights]:
        """The same of rows with each of some weights, each from its own start: all in one search.

        With evidence of each search, these are the searches from the first on.
        """
        if self._of_speaking is not None:
            begun = [*map(self._of_those_who_speak, starts)]
            each = self._of_speaking.learn_each(self._among(covariance), weights, begun, converged, first)
            return self._with_silent(covariance, each)
        k, n, f = self.inputs.shape
        own = None if self.of_each is None else self.of_each[first : first + len(weights)]
        if self._curvature is None or self.nonnegative or f > n * k:
            searches = [self] * len(weights) if own is None else [*map(self._among_others, own)]
            pairs = zip(searches, weights, starts, strict=True)
            return [search.learn(covariance, weight, start, converged) for search, weight, start in pairs]
        rows = replace(self.rows, weight=np.stack(weights))
        inputs = self.inputs if own is None else own
        loss = _PenalisedLoss(inputs, rows, _penalty(covariance, k), self.offset)
        sizes = rows.weight.sum(axis=1)
        begin = np.stack([np.concatenate([start.weights, start.bias]) for start in starts])
        found = minimise(loss.at, begin, converged * sizes, self._known(loss, float(sizes.mean())), None)
        return [PieceWeights(one[:f], one[f:]) for one in found]

    def _among_others(self, inputs: Array) -> WeightSearch:
        """A search with other evidence."""
        return WeightSearch(inputs, self.rows, self.offset, nonnegative=self.nonnegative)

    def _known(self, loss: _PenalisedLoss, size: float) -> Solve | None:
        """What all rows have shown of the curvature, if they have, for rows of this weight.

        Where the curvature in the scores is several times as large or small now, so is all of it.
        """
        if self._curvature is None:
            return None
        hessian, of_size, of_scores = self._curvature
        share = size / of_size

        @cache
        def solver(doublings: int) -> Solve:
            return solver_of(2.0**doublings * share * hessian + loss.penalty)

        def solve(slope: Array) -> Array:
            return solver(round(math.log2(loss.in_scores() / (share * of_scores))))(slope)

        return solve

    def _learn_bounded(
        self, rows: KnownRows, covariance: Array, start: PieceWeights | None, converged: float
    ) -> PieceWeights:
        """Weights that may not be negative."""
        k, _, f = self.inputs.shape
        loss = _PenalisedLoss(self.inputs, rows, _penalty(covariance, k), self.offset)
        begun = loss.centre if start is None else np.concatenate([start.weights, start.bias])
        bounds = [(0.0, None)] * f + [(None, None)] * k
        gradient = converged * float(rows.weight.sum())
        options = {"maxiter": BOUNDED_STEPS, "ftol": 1e-12, "gtol": gradient}
        found = optimize.minimize(
            loss.at, begun, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        ).x
        return PieceWeights(found[:f], found[f:])

    def _among(self, covariance: Array) -> Array:
        """The covariance of the pieces that do not say the same of all classes."""
        return covariance[np.ix_(self._speaks, self._speaks)]

    def _of_those_who_speak(self, start: PieceWeights) -> PieceWeights:
        return PieceWeights(start.weights[self._speaks], start.bias)

    def _with_silent(self, covariance: Array, found: Sequence[PieceWeights]) -> list[PieceWeights]:
        """The weights of all pieces: those that say the same of all classes are what the others suggest."""
        some = self._speaks
        each = np.stack([one.weights for one in found], axis=1)
        weights = covariance[:, some] @ np.linalg.solve(self._among(covariance), each)
        weights[some] = each
        return [PieceWeights(w, one.bias) for w, one in zip(weights.T, found, strict=True)]


def learn_weights(
    inputs: Array,
    rows: KnownRows,
    covariance: Array,
    offset: Array | None = None,
    start: PieceWeights | None = None,
    *,
    nonnegative: bool = False,
) -> PieceWeights:
    """The weights and biases of least penalised loss, of evidence (k, n, f)."""
    return WeightSearch(inputs, rows, offset, nonnegative=nonnegative).learn(covariance, start=start)


def solver_of(hessian: Array) -> Solve:
    """The product of the inverse of a Hessian with a slope."""
    # Rounding may leave no penalty beside many rows, in the directions that they say nothing about.
    hessian.flat[:: len(hessian) + 1] += ROUNDING * hessian.diagonal().max()
    root, _ = linalg.cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
    return lambda slope: np.asarray(linalg.lapack.dpotrs(root, slope.T, lower=1)[0]).T


def _penalty(covariance: Array, n_classes: int) -> Array:
    """Λ of the weights, whose covariance is known before any row is seen, and of the biases."""
    f = len(covariance)
    penalty = np.diag(np.full(f + n_classes, BIAS_PENALTY))
    penalty[:f, :f] = inverse(covariance)
    return penalty


class _Curvature(NamedTuple):
    """A Hessian of the loss of all rows, their weight, and the curvature in the scores that it comes from."""

    hessian: Array
    size: float
    in_scores: float


class _PenalisedLoss:
    """−Σ_n s_n·log y_n,t + ½(θ − c)ᵀΛ(θ − c), with θ the weights and biases.

    Of several s_n, it is that of each, with the same evidence (k, n, f) or with its own, (…, k, n, f).
    """

    def __init__(self, inputs: Array, rows: KnownRows, penalty: Array, offset: Array | None) -> None:
        self.inputs, self.rows, self.penalty = inputs, rows, penalty
        self.offset = None if offset is None else np.ascontiguousarray(offset.T)
        k, _, f = inputs.shape[-3:]
        self.centre = np.zeros((*rows.weight.shape[:-1], f + k))
        if offset is None:
            self.centre[..., f:] = rows.log_shares
        self._posteriors = np.zeros((0, 0))

    def at(self, parameters: Array) -> tuple[Array, Array]:
        """The value and the slope."""
        *each, k, n, f = self.inputs.shape
        flat, alike = self.inputs.reshape(*each, k * n, f), parameters.shape[:-1]
        weights = parameters[..., :f]
        scores = (flat @ weights[..., np.newaxis])[..., 0] if each else weights @ flat.T
        scores = scores.reshape(*alike, k, n) + parameters[..., f:, np.newaxis]
        if self.offset is not None:
            scores += self.offset
        loss, self._posteriors = self.rows.loss_and_posteriors(scores)
        residuals = self.rows.residuals_of(self._posteriors)
        away = parameters - self.centre
        pull = away @ self.penalty
        of_rows = residuals.reshape(*alike, k * n)
        of_pieces = (of_rows[..., np.newaxis, :] @ flat)[..., 0, :] if each else of_rows @ flat
        slope = np.concatenate([of_pieces, residuals.sum(axis=-1)], axis=-1)
        return loss + 0.5 * np.vecdot(away, pull), slope + pull

    def hessian(self) -> Array:
        """Of the loss alone, at the last point."""
        return evidence_hessian(self.inputs, self._posteriors, self.rows.weight)

    def in_scores(self) -> float:
        """Σ_n s_n·(1 − Σ_k y_nk²), the curvature in the scores there; of several losses, the mean."""
        certain = np.einsum("...kn,...kn->...n", self._posteriors, self._posteriors)
        return max(float(np.mean(np.vecdot(self.rows.weight, 1.0 - certain))), 1e-300)


def _learn_in_span_of_rows(
    inputs: Array, rows: KnownRows, covariance: Array, offset: Array | None, converged: float
) -> PieceWeights:
    """The same where there are more pieces than rows and classes.

    The best weights are C·Φᵀ·α, with Φ the evidence of all rows and classes, and a penalty αᵀ(Φ·C·Φᵀ)α: those
    of as many pieces as Φ·C·Φᵀ has directions.
    """
    k, n, f = inputs.shape
    flat = inputs.reshape(k * n, f)
    spread = covariance @ flat.T
    squares, directions = linalg.eigh(flat @ spread)
    kept = squares > n * k * np.finfo(np.float64).eps * squares.max(initial=0.0)
    lengths, directions = np.sqrt(squares[kept]), directions[:, kept]
    fewer = (directions * lengths).reshape(k, n, -1)
    found = WeightSearch(fewer, rows, offset).learn(np.eye(len(lengths)), converged=converged)
    return PieceWeights(spread @ (directions @ (found.weights / lengths)), found.bias)


def evidence_hessian(inputs: Array, posteriors: Array, weight: Array) -> Array:
    """Σ_n s_n·(Σ_k y_nk·φ_nk·φ_nkᵀ − φ̄_n·φ̄_nᵀ), where φ_nk ends with the inputs of the biases, 1 for class k.

    It is summed over blocks of rows, with evidence (k, n, f) and posteriors (k, n).
    """
    k, n, f = inputs.shape
    hessian = np.zeros((f + k, f + k))
    pieces, both, biases = hessian[:f, :f], hessian[:f, f:], hessian[f:, f:]
    for first in range(0, n, ROWS_AT_ONCE):
        block = slice(first, first + ROWS_AT_ONCE)
        y, root = posteriors[:, block], np.sqrt(weight[block])
        if k == 2:  # y(1 − y)·φφᵀ with the difference of the two
            gap = np.sqrt(y[0] * y[1]) * root
            half = (inputs[1, block] - inputs[0, block]) * gap[:, np.newaxis]
            pieces += half.T @ half
            both += np.outer(half.T @ gap, [-1.0, 1.0])
            biases += float(gap @ gap) * np.array([[1.0, -1.0], [-1.0, 1.0]])
            continue
        mean = np.zeros((len(root), f))
        shares = root * np.sqrt(y)
        for j in range(k):
            half = inputs[j, block] * shares[j, :, np.newaxis]
            pieces += half.T @ half
            both[:, j] += shares[j] @ half
            half *= np.sqrt(y[j])[:, np.newaxis]
            mean += half
        pieces -= mean.T @ mean
        own = root * y
        both -= (own @ mean).T
        biases += np.diag(own @ root) - own @ own.T
    hessian[f:, :f] = both.T
    return hessian


def mean_residuals(scores: Array, rows: KnownRows) -> Array:
    """1 for the class of a row less the posterior, times the row's weight, averaged on the way to the scores.

    On the straight way from the log class shares to the scores, the log posterior of the class of a row grows
    by the product of these with what each part adds to the scores. So what parts add, adds up.
    """
    start = rows.log_shares
    found = np.zeros_like(scores)
    for place, share in zip(0.5 + 0.5 * PLACES, 0.5 * SHARES, strict=True):
        found -= share * rows.residuals(log_softmax(start + place * (scores - start)))
    return found
