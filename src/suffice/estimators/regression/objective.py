"""The penalised negative log-likelihood as a sum over rows: value, gradient and Hessian in one pass.

    F(W) = Σ_i s_i·(−log p(t_i | W·x_i)) + ‖w‖² / (2C)

which has the minimum of C·Σ s_i·loss_i + ½‖w‖², and for C = ∞ is the negative log-likelihood. Parameters are
(m, p): one row of p = d (+ 1 for the intercept, last) for two classes, K − 1 rows for softmax.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import add
from typing import Any

import numpy as np
from scipy import sparse

from suffice.arrays import Array, read_only
from suffice.estimators.regression.design import Block, Design, Total
from suffice.estimators.regression.likelihoods import Likelihood, Local, LogisticLikelihood
from suffice.kernels.choose import WORTH_COMPILING, chosen

EVEN = float(np.log(2.0))
"""The loss of a row whose class has the probability ½."""
HEAVIEST = 1e308
"""The penalty of a column in tiny units, kept finite."""
PASSES = 8
"""How often a fit reads its rows, about."""
NO_WEIGHTS = read_only(np.zeros(0))
NO_HALF = np.zeros((0, 0))

Kernel = Callable[..., tuple[float, int]]


@dataclass
class Sums:
    """The result of a pass over the rows."""

    value: float
    gradient: Array
    """(m, p)."""
    n_wrong: int
    """Rows whose class is given a probability of ½ or less."""
    hessian: Array | None = None
    """(m·p, m·p)."""

    def __add__(self, other: Sums) -> Sums:
        hessian = None
        if self.hessian is not None and other.hessian is not None:
            self.hessian += other.hessian  # it may be large, and a sum of blocks is only used here
            hessian = self.hessian
        return Sums(
            self.value + other.value,
            self.gradient + other.gradient,
            self.n_wrong + other.n_wrong,
            hessian,
        )


@dataclass
class Pair:
    """The two factors of an approximate Hessian."""

    between: Array
    within: Array

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.between + other.between, self.within + other.within)


@dataclass
class Objective:
    """F over a design. `basis` (K, m) turns parameters into score coefficients: softmax scores sum to 0."""

    design: Design
    likelihood: Likelihood
    strength: float
    intercept: bool
    basis: Array

    @cached_property
    def shape(self) -> tuple[int, int]:
        """(m, p), of the parameters."""
        return self.basis.shape[1], self.design.n_columns + self.intercept

    @cached_property
    def penalty(self) -> Array:
        """The penalty's second derivative for each of the p parameters of a row."""
        weight = np.full(self.shape[1], self.strength)
        if self.design.unit is not None:
            with np.errstate(over="ignore"):
                penalty = self.strength / self.design.unit / self.design.unit
            weight[: self.design.n_columns] = np.minimum(penalty, HEAVIEST)
        if self.intercept:
            weight[-1] = 0.0
        return weight

    def start(self) -> Array:
        """All parameters 0."""
        return np.zeros(self.shape)

    def gradient_at(self, parameters: Array) -> Sums:
        """Value and gradient."""
        return self._finished(self._total(Objective._first_order, parameters, self._cells()), parameters)

    def hessian_at(self, parameters: Array) -> Sums:
        """Value, gradient and Hessian."""
        return self._finished(self._total(Objective._second_order, parameters, self._cells()), parameters)

    def factors_at(self, parameters: Array, *, diagonal: bool) -> tuple[Array, Array]:
        """A (m, m) and G (p, p) whose Kronecker product is near the Hessian without the penalty.

        With y the probabilities, A is the mean of diag(y) − yyᵀ and G = Σ (1 − Σ y_k²)·zzᵀ, scaled so that
        the traces over the classes agree; where y is the same for all rows A ⊗ G is the Hessian. `diagonal`
        returns only the diagonal of G.
        """
        total = self._total(Objective._factors, parameters, diagonal=diagonal)
        between = self.basis.T @ total.between @ self.basis
        return between / np.trace(total.between), total.within

    def on_sample(self, n_rows: int) -> Objective:
        """The same problem on some of the rows, with the penalty in proportion."""
        design = self.design.sample(n_rows)
        share = n_rows / self.design.n_rows
        return Objective(design, self.likelihood, self.strength * share, self.intercept, self.basis)

    def largest_move(self, step: Array) -> float:
        """The most that a step changes a difference between two scores of a row."""
        return self._total(Objective._move, step, plus=max)

    def _total(
        self,
        of_block: Callable[..., Total],
        *given: Any,
        plus: Callable[[Total, Total], Total] = add,
        **settings: Any,
    ) -> Total:
        """The sum of a method over all rows; to rows that are elsewhere it is sent, without them."""
        design = self.design
        sent = replace(self, design=design.without_rows()) if design.is_elsewhere else self
        return design.total(partial(of_block, sent, *given, **settings), plus)

    def _move(self, step: Array, block: Block) -> float:
        scores = self._scores(step, block)
        spread = np.ptp(scores, axis=0) if len(scores) > 1 else np.abs(scores)
        return float(spread.max())

    def _factors(self, parameters: Array, block: Block, *, diagonal: bool) -> Pair:
        y = self.likelihood.local(self._scores(parameters, block), block.codes).curvature
        Z = with_ones(block.X) if self.intercept else block.X
        if len(y) == 1:
            between, spread = np.ones((1, 1)), block.weighted(y[0])
        else:
            spread = block.weighted(1.0 - np.square(y).sum(axis=0))
            between = np.diag(block.weighted(y).sum(axis=1)) - block.weighted(y) @ y.T
        return Pair(between, squares(Z, spread) if diagonal else gram(Z, spread))

    def _scores(self, parameters: Array, block: Block) -> Array:
        coefficients = self.basis @ parameters
        d = self.design.n_columns
        by_column, X = coefficients[:, :d], block.X
        scores = np.asarray((X @ by_column.T).T if sparse.issparse(X) else by_column @ X.T)
        return scores + coefficients[:, d:] if self.intercept else scores

    def _sums(self, local: Local, block: Block) -> Sums:
        slope = block.weighted(local.slope)
        X = block.X
        gradient = np.asarray((X.T @ slope.T).T if sparse.issparse(X) else slope @ X)
        if self.intercept:
            gradient = np.column_stack([gradient, slope.sum(axis=1)])
        value = float(block.weighted(local.loss).sum())
        return Sums(value, gradient, int(np.count_nonzero(local.loss >= EVEN)))

    def _first_order(self, parameters: Array, n_cells: int, block: Block) -> Sums:
        kernel = self._kernel(n_cells)
        if kernel is not None:
            return self._compiled_sums(kernel, parameters[0], block, NO_HALF)
        return self._sums(self.likelihood.local(self._scores(parameters, block), block.codes), block)

    def _second_order(self, parameters: Array, n_cells: int, block: Block) -> Sums:
        kernel = self._kernel(n_cells)
        if kernel is not None:
            return self._compiled_hessian(kernel, parameters[0], block)
        local = self.likelihood.local(self._scores(parameters, block), block.codes)
        sums = self._sums(local, block)
        Z = with_ones(block.X) if self.intercept else block.X
        if len(local.curvature) == 1:
            sums.hessian = gram(Z, block.weighted(local.curvature[0]))
        else:
            sums.hessian = softmax_hessian(Z, local.curvature, block)
        return sums

    def _kernel(self, n_cells: int | None = None) -> Kernel | None:
        """The compiled pass, for logistic regression on rows that are dense and many."""
        if not isinstance(self.likelihood, LogisticLikelihood) or self.design.is_sparse:
            return None
        if n_cells is None:
            n_cells = self.design.n_rows * self.design.n_columns * PASSES
        module = chosen("suffice.estimators.regression.compiled", n_cells, WORTH_COMPILING)
        return None if module is None else module.logistic_sums

    def _cells(self) -> int:
        """How many cells a pass chooses its kernel by, in whatever thread or process."""
        return 0 if self._kernel() is None else WORTH_COMPILING

    def _compiled_sums(self, kernel: Kernel, parameters: Array, block: Block, half: Array) -> Sums:
        d = self.design.n_columns
        gradient = np.zeros(d + 1)
        value, n_wrong = kernel(
            read_only(np.ascontiguousarray(block.X)),
            read_only(block.codes),
            NO_WEIGHTS if block.weights is None else read_only(block.weights),
            parameters[:d],
            parameters[d] if self.intercept else 0.0,
            gradient,
            half,
        )
        return Sums(value, gradient[np.newaxis, : len(parameters)], n_wrong)

    def _compiled_hessian(self, kernel: Kernel, parameters: Array, block: Block) -> Sums:
        half = np.empty((len(block), len(parameters)))
        sums = self._compiled_sums(kernel, parameters, block, half)
        sums.hessian = half.T @ half
        return sums

    def _finished(self, sums: Sums, parameters: Array) -> Sums:
        """Sums over rows in the coordinates of the parameters, with the penalty."""
        pull = self.penalty * parameters
        sums.value += 0.5 * float(np.sum(pull * parameters))
        sums.gradient = self.basis.T @ sums.gradient + pull
        if sums.hessian is not None:
            m, p = self.shape
            if len(self.basis) > 1:
                # The last class's blocks are minus the sum of the others', which `change` takes into account.
                change = self.basis[:-1] - self.basis[-1]
                blocks = sums.hessian.reshape(m, p, m, p)
                blocks = np.tensordot(np.tensordot(change, blocks, (0, 0)), change, (2, 0))
                sums.hessian = np.ascontiguousarray(blocks.transpose(0, 1, 3, 2)).reshape(m * p, m * p)
            sums.hessian.flat[:: m * p + 1] += np.tile(self.penalty, m)
        return sums


def with_ones(X: Any) -> Any:
    """X with a last column of ones."""
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


def scaled_rows(Z: Any, by: Array) -> Any:
    """Each row times its number."""
    return sparse.diags_array(by) @ Z if sparse.issparse(Z) else Z * by[:, np.newaxis]


def gram(Z: Any, weights: Array) -> Array:
    """Σ w·zzᵀ for weights ≥ 0."""
    half = scaled_rows(Z, np.sqrt(weights))
    product = half.T @ half
    return np.asarray(product.toarray() if sparse.issparse(product) else product)


def squares(Z: Any, weights: Array) -> Array:
    """Σ w·z² by column."""
    return np.asarray(weights @ (Z.multiply(Z) if sparse.issparse(Z) else np.square(Z)))


def softmax_hessian(Z: Any, y: Array, block: Block) -> Array:
    """Σ y_k·(I_kj − y_j)·zzᵀ over rows, for all classes but the last."""
    p = Z.shape[1]
    stack = sparse.hstack if sparse.issparse(Z) else np.hstack
    weights = np.ones(len(block.codes)) if block.weights is None else block.weights
    hessian = -gram(stack([scaled_rows(Z, y_k) for y_k in y[:-1]]), weights)
    for k, y_k in enumerate(y[:-1]):
        one = slice(k * p, (k + 1) * p)
        hessian[one, one] += gram(Z, weights * y_k)
    return hessian
