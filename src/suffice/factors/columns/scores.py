"""Scores of number columns.

Each class is scored about its own mean, so λᵀu(x) is the centred form (x − μ_k)²/σ_k² and not the
expanded square.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from suffice.arrays import Array, Codes
from suffice.export.expressions import Cell, Expression, Gaps, Score
from suffice.factors.base import Block, SolvedFactor
from suffice.factors.blocks import active_columns
from suffice.factors.checks import (
    OutsideSupportError,
    first_offence,
    holds_infinity_beside,
    refuse_infinities,
)
from suffice.factors.columns import functions
from suffice.factors.columns.binary import add_outcome_scores
from suffice.factors.columns.export import column_scores, support_of
from suffice.factors.columns.large_counts import columns_of_large_counts, deviances
from suffice.factors.columns.natural import column_forms
from suffice.factors.columns.parameters import PER_COLUMN, ColumnParameters
from suffice.factors.columns.sparse import add_sparse_scores
from suffice.factors.natural import NaturalForm
from suffice.factors.scores import IMPOSSIBLE, Scores, unseen_log_shares, zeros_by_class
from suffice.families import Family
from suffice.kernels.choose import contiguous, gaussian_for

CELLS_AT_ONCE = 1 << 15
MOST_OUTCOMES = 1 << 21
"""The most probabilities of counts that are summed."""
LARGEST = float(np.finfo(np.float64).max)
LEAST_LOG_P = -40.0
"""The log probability of a count beyond which the rest is a geometric series."""
Prepared = tuple[Array, NDArray[np.bool_] | None, Array | None]
"""Values, cells outside the support, and log h(x), where they are needed."""


class SolvedColumns(ColumnParameters, SolvedFactor):
    """The scores of number columns, from the parameters of every class and column."""

    def __init__(self, family: Family, n_classes: int, n_columns: int) -> None:
        super().__init__(family, n_classes, n_columns)
        self.regularized = []
        self.n_parameters = 0
        self.log_p_of_rows = 0.0

    @property
    def log_likelihood(self) -> float:
        return self.log_p_of_rows

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        if sparse.issparse(block):
            self._add_sparse_scores(block, labels, scores, base=base)
            return
        done = 0
        if self.outcomes is not None:
            done = add_outcome_scores(block, *self.outcomes, scores.finite)
        elif self.quadratic is not None:
            on, n_cells = self.active, block.size * len(self.constant)
            block = contiguous(block)
            cells = active_columns(block, on)
            kernels = gaussian_for(n_cells)
            finite = kernels.quadratic_scores(contiguous(cells), *self.quadratic, scores.finite)
            if not finite or (cells is not block and holds_infinity_beside(block, on)):
                refuse_infinities(block, labels)
            return
        if done < len(block):
            refuse_infinities(block, labels)
        n_rows, n_columns = block.shape
        step = max(1, CELLS_AT_ONCE // max(n_columns, 1))
        for start in range(done, n_rows, step):
            rows = slice(start, start + step)
            prepared = self._prepared(block[rows], labels, base=base, first_row=start)
            self._add_scores_of(rows, prepared, scores)

    def _add_sparse_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        """Columns of large counts, which are rarely zero, are scored as dense ones."""
        if self.large_counts is None:
            add_sparse_scores(self, block, labels, scores, base=base)
            return
        large = columns_of_large_counts(self)
        few, many = np.flatnonzero(~large), np.flatnonzero(large)
        add_sparse_scores(self.take_columns(few), block[:, few], [labels[j] for j in few], scores, base=base)
        cells = block[:, many].toarray()
        self.take_columns(many).add_scores(cells, [labels[j] for j in many], scores, base=base)

    @cached_property
    def outcomes(self) -> tuple[Array, Array] | None:
        """λ and the constants for the kernel of outcomes; None where it cannot score these columns.

        With unseen="smooth" every cell gives up a share of its probability, which only the general path does.
        """
        plain = self.family.unseen != "smooth" and not self.point.any() and self.active.all()
        if not (self.family.is_binary and plain):
            return None
        return np.ascontiguousarray(self.natural[0]), np.ascontiguousarray(self.constant)

    @cached_property
    def large_counts(self) -> tuple[NDArray[np.bool_], Array] | None:
        """Which active columns are scored by their deviances, and their means; None if none is."""
        large = columns_of_large_counts(self)
        if not large.any():
            return None
        return large[self.active], self.family.mean_from_natural(self.natural, self.origin)[0][:, large]

    @cached_property
    def _on(self) -> slice | NDArray[np.bool_]:
        """The active columns: as a slice, which copies nothing, where that is all of them."""
        return slice(None) if self.active.all() else self.active

    @property
    def takes_columns_apart(self) -> bool:
        """Where scores are sums of squares."""
        return self.quadratic is not None

    @cached_property
    def quadratic(self) -> list[Array] | None:
        """The arguments for the kernel of squares; None where a score is not a sum of squares."""
        family = self.family
        if family.functions != ("x", "x2") or not family.takes_every_number or self.point.any():
            return None
        on = self.active
        linear, square = self.natural[:, :, on]
        # λᵀ(z, z²) = −(√−λ₂·z − rest)² + rest², with z = (x − c)·2⁻ᵉ
        root = np.sqrt(-square)
        rest = 0.5 * linear / root
        with np.errstate(over="ignore"):
            scale = np.ldexp(root, -self.exponent[on])
        if not np.isfinite(scale).all():
            return None
        limit = np.minimum(self.largest(), LARGEST)
        constant = self.constant[:, on] + np.square(rest)
        return [np.ascontiguousarray(a) for a in (limit, self.origin[:, on], scale, rest, constant)]

    def _add_scores_of(self, rows: slice, prepared: Prepared, scores: Scores) -> None:
        """Add the scores of some rows, few enough to stay in the cache."""
        values, outside, log_base = prepared
        if self._is_linear(outside):
            scores.finite[rows] += self._linear_scores(values)
        else:
            for k in range(scores.finite.shape[1]):
                cells, order = self._cells(values, outside, k)
                scores.finite[rows, k] += cells.sum(axis=1)
                if order is not None:
                    scores.add_order(rows, k, order.sum(axis=1))
        if log_base is not None:
            scores.finite[rows] += log_base.sum(axis=1)[:, np.newaxis]

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        return column_scores(self, columns, labels, self.quadratic)

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        return column_forms(self, names, about)

    def counted(self, j: int, column: int, label: str) -> Expression:
        ignores = self.active[j] and self.family.unseen == "ignore"
        return support_of(self.family, Cell(column), label) if ignores else super().counted(j, column, label)

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        dense = block.toarray() if sparse.issparse(block) else block
        refuse_infinities(dense, labels)
        values, outside, log_base = self._prepared(dense, labels, base=base)
        result = zeros_by_class(*dense.shape, len(self.constant))
        for k in range(result.shape[2]):
            cells, order = self._cells(values, outside, k)
            if order is not None:
                cells = np.where(order > 0, -np.inf, np.where(order < 0, np.inf, cells))
            result[:, self._on, k] = cells if log_base is None else cells + log_base
        return result

    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        dense = block.toarray() if sparse.issparse(block) else block
        values, outside, _ = self._prepared(dense, labels, base=False)
        seen, ignored = np.zeros(dense.shape, dtype=np.bool_), np.zeros(dense.shape, dtype=np.bool_)
        missing = np.isnan(values)
        seen[:, self.active] = ~missing if outside is None else ~missing | outside
        if outside is None:
            ignored[:, self.active] = missing & ~np.isnan(dense[:, self.active])
        return seen, ignored

    def take_columns(self, index: Codes) -> SolvedColumns:
        part = self._empty(len(index))
        for name in PER_COLUMN:
            setattr(part, name, getattr(self, name)[..., index])
        part.log_p_of_rows = np.nan
        return part

    def add_bounded(self, block: Block, labels: list[str], by: Array, most: float, scores: Scores) -> None:
        if self.quadratic is None or sparse.issparse(block):
            super().add_bounded(block, labels, by, most, scores)
            return
        on = self.active
        cells = contiguous(active_columns(block, on))
        kernels = gaussian_for(block.size * len(self.constant))
        finite = kernels.bounded_squares(cells, *self.quadratic, by[on], most, scores.finite)
        if not finite or holds_infinity_beside(block, on):
            refuse_infinities(block, labels)

    def _empty(self, n_columns: int) -> SolvedColumns:
        """A factor of other columns, whose parameters are still to be filled in."""
        return SolvedColumns(self.family, len(self.constant), n_columns)

    def gaussian_peak(self, seen: NDArray[np.bool_]) -> tuple[int, Array] | None:
        if self.quadratic is None:
            return None
        on = self.active & seen
        slope, curve = self.natural[:, :, on]
        return int(on.sum()), np.sum(self.constant[:, on] - slope**2 / (4.0 * curve), axis=1)

    def log_power_sums(self, powers: Array) -> Array:
        """By the formula of the family; by summing where counts have none."""
        if self.family.has_base_measure and self.family.discrete:
            return self._log_power_sums_of_counts(powers)
        natural, origin = self._members(self.point | ~self.active), self._origin_in_units()
        whole = self.family.log_normalizer(natural, origin)
        sums = np.full((len(powers), *self.constant.shape), np.nan)
        for i, a in enumerate(powers.tolist()):
            with np.errstate(divide="ignore", invalid="ignore"):
                integral = self.family.log_power_integral(natural, origin, a)
            if integral is not None:
                # Of a heavy tail a small power has no integral: no λ of the family stands for it.
                diverges = np.isnan(integral) & ~np.isnan(whole)
                sums[i] = np.where(diverges, np.inf, integral) - whole + (a - 1.0) * self.constant
        # A single value has probability 1, whatever the power.
        return np.where(self.active & ~self.point, sums, 0.0).swapaxes(1, 2)

    def _log_power_sums_of_counts(self, powers: Array) -> Array:
        """Σ p^a over 0, 1, 2, … until the rest is a geometric series; NaN if that takes too many terms."""
        n_classes, d = self.constant.shape
        result = np.zeros((len(powers), d, n_classes))
        result[:, self.active] = np.nan
        left, n = self.active.copy(), 64
        while left.any() and n * self.constant.size <= MOST_OUTCOMES:
            values = np.repeat(np.arange(float(n))[:, np.newaxis], d, axis=1)
            inside = self.family.support(values[:, 0])
            cells = self.contributions(values[inside], [""] * d, base=True)
            done = left & (not inside.all() or (cells[-1] < LEAST_LOG_P).all(axis=1))
            if done.any():
                for i, a in enumerate(powers):
                    result[i, done] = _log_sum_of_counts(a * cells[:, done], endless=bool(inside.all()))
            left &= ~done
            n *= 2
        return result

    def _prepared(self, block: Array, labels: list[str], *, base: bool, first_row: int = 0) -> Prepared:
        """Active columns, cells outside the support, and log h(x)."""
        block = block if block.dtype.kind == "f" else block.astype(np.float64)
        raw = block[:, self._on]
        outside: NDArray[np.bool_] | None = ~(self.family.support(raw) | np.isnan(raw))
        if outside is not None and outside.any():
            if self.family.unseen == "error":
                row, column = first_offence(outside)
                raise OutsideSupportError.of(
                    np.asarray(labels)[self.active][column],
                    f"{raw[row, column]} (row {first_row + row})",
                    self.family,
                    cure="unseen='ignore' treats it as missing",
                )
            raw = np.where(outside, np.nan, raw)
        largest = self.largest()
        if (np.abs(raw) > largest).any():
            raw = np.clip(raw, -largest, largest)
        if "reciprocal" in self.family.functions:
            raw = np.maximum(raw, self.smallest())
        if self.family.unseen != "smooth" or self.family.takes_every_number:
            outside = None
        log_base = None
        if base and self.family.has_base_measure:
            measured = self.family.log_base_measure(np.asarray(raw, dtype=np.float64))
            if self.large_counts is not None:
                large, mean = self.large_counts
                # The term that deviances leave out, from the two forms of one class's score.
                linear = self.natural[0, 0, self.active][large] * raw[:, large]
                score = linear + self.constant[0, self.active][large]
                measured[:, large] += score + deviances(self.family, raw[:, large], mean[0])
            log_base = np.where(np.isnan(raw), 0.0, measured)
        return raw, outside, log_base

    def _cells(self, values: Array, outside: NDArray[np.bool_] | None, k: int) -> tuple[Array, Array | None]:
        """Log p of each cell in class k without log h, and orders where some cell has one."""
        on, cells = self._on, self._log_p(values, k)
        order = None
        point = self.point[k, on]
        if point.any():
            off, finite = self.off_point(values, k, on)
            cells = np.where(point, finite, cells)
            order = np.where(point, off, 0.0)
        missing = np.isnan(values)
        if outside is not None:
            log_unseen, log_rest = unseen_log_shares(self.weight[k, on], self.family.alpha, 1)
            cells = np.where(outside, log_unseen, cells + log_rest)
            if self.family.alpha == 0:
                order = np.where(outside, IMPOSSIBLE, 0.0 if order is None else order)
                cells = np.where(outside, 0.0, cells)
            missing &= ~outside
        if missing.any():
            cells = np.where(missing, 0.0, cells)
            order = None if order is None else np.where(missing, 0.0, order)
        return cells, order

    def _log_p(self, values: Array, k: int) -> Array:
        """Log p of each cell in class k without log h, where the class is not a single value."""
        on = self._on
        cells = functions.column_scores(
            self.family.functions,
            values,
            self.natural[:, k, on],
            self.constant[k, on],
            self.origin[k, on],
            self.exponent[on],
        )
        if self.large_counts is not None:
            large, mean = self.large_counts
            cells[:, large] = -deviances(self.family, values[:, large], mean[k])
        return cells

    def _is_linear(self, outside: NDArray[np.bool_] | None) -> bool:
        """Whether all classes share u(x) = x about 0, so that one matrix product scores them all."""
        about_zero = self.family.functions == ("x",) and not self.family.centred
        plain = outside is None and not self.point.any() and self.large_counts is None
        return about_zero and plain

    def _linear_scores(self, values: Array) -> Array:
        on = self.active
        natural = self.natural[0][:, on]
        values = values * np.ldexp(1.0, -self.exponent[on]) if self.family.scaled else values
        constant = self.constant[:, on]
        missing = np.isnan(values)
        if missing.any():
            return np.asarray(np.where(missing, 0.0, values) @ natural.T + (~missing) @ constant.T)
        return np.asarray(values @ natural.T + constant.sum(axis=1))


def _log_sum_of_counts(scaled: Array, *, endless: bool) -> Array:
    """log Σ exp over the counts on the leading axis; if there are more, with a geometric series for them."""
    sums = special.logsumexp(scaled, axis=0)
    if not endless:
        return np.asarray(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.nan_to_num(scaled[-1] - scaled[-2], nan=-np.inf)
        rest = scaled[-1] + ratio - np.log1p(-np.exp(np.minimum(ratio, 0.0)))
    return np.asarray(np.logaddexp(sums, np.where(np.isneginf(scaled[-1]), -np.inf, rest)))
