"""A block of count columns that are one Multinomial: sums of counts per class and column."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from suffice.archive import Fields
from suffice.expressions import Cell, Gaps, Linear, Score, Where, all_of, as_expression, mask
from suffice.factors.base import (
    Codes,
    Counts,
    Separation,
    Solved,
    Totals,
    divergences,
    first_offence,
    gather,
    impossible,
    refuse_errors,
    refuse_infinities,
    within,
)
from suffice.factors.sparse_columns import column_of_entry, dense, membership
from suffice.factors.sparse_counts import add_sparse_count_scores, add_sparse_counts
from suffice.families import Bernoulli, Family
from suffice.families.elementary import Array
from suffice.scores import IMPOSSIBLE, Scores


class CountTotals(Totals):
    """Σ w·x per class and column, with the rows that hold each column, and the rows of each class.

    A row with a gap anywhere in the block is missing as a whole.
    """

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"

    def __init__(
        self, family: Family, total: Array, support: Counts, weight: Array, rows: Counts, base: Array
    ) -> None:
        self.family = family
        self.total = total
        self.support = support
        self.weight = weight
        self.rows = rows
        self.base = base

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        none = np.zeros(0)
        no_rows = np.zeros(0, dtype=np.int64)
        return cls(
            family,
            np.zeros((0, n_columns)),
            np.zeros((0, n_columns), dtype=np.int64),
            none,
            no_rows,
            none.copy(),
        )

    @property
    def n_columns(self) -> int:
        return int(self.total.shape[1])

    def refuse(self, block: Any, labels: list[str], classes: Codes) -> None:
        refuse_infinities(block, labels)
        bad = _entries(block) < 0
        if bad.any():
            label, value = labels[_first_column(block, bad)], _entries(block)[bad].flat[0]
            raise ValueError(
                f"{label}: the value {value} is outside {self.family.name}, which takes "
                f"{self.family.support_name}; mend or remove it, or choose another family with families=."
            )

    def update(self, block: Any, classes: Codes, weights: Array | None) -> None:
        if sparse.issparse(block):
            sums = self.total, self.support, self.weight, self.rows, self.base
            add_sparse_counts(block, classes, weights, sums)
            return
        whole = ~_rows_with_gaps(block)
        if not whole.all():
            block, classes = block[whole], classes[whole]
            weights = None if weights is None else weights[whole]
        n_classes = len(self.rows)
        counts = np.bincount(classes, minlength=n_classes)
        self.rows += counts
        self.weight += counts if weights is None else np.bincount(classes, weights, minlength=n_classes)
        members = membership(classes, weights, n_classes)
        self.total += dense(members @ block)
        self.support += dense(membership(classes, None, n_classes) @ (block > 0)).astype(np.int64)
        self.base += members @ log_base_of_rows(block)

    def add(self, other: Self, sign: int) -> None:
        for mine, theirs in zip(self.arrays().values(), other.arrays().values(), strict=True):
            np.add(mine, sign * theirs, out=mine)

    def scale(self, factor: float) -> None:
        self.total *= factor
        self.weight *= factor
        self.base *= factor

    def take_classes(self, index: Codes) -> Self:
        return type(self)(self.family, *(gather(array, index, 0) for array in self.arrays().values()))

    def take_columns(self, index: Codes) -> Self:
        """A joint block is decided as a whole, so its columns never change."""
        if not np.array_equal(index, np.arange(self.n_columns)):
            raise ValueError(f"the columns of one {self.family.name} block belong together.")
        return self.take_classes(np.arange(len(self.rows)))

    def vanishes(self) -> NDArray[np.bool_]:
        held = self.total.any(axis=1) | self.support.any(axis=1) | (self.rows != 0) | (self.base != 0)
        return np.asarray(~held)

    def matches(self, other: Self, rtol: float) -> bool:
        if self.total.shape != other.total.shape:
            return False
        size = np.abs(self.total).max(initial=0.0)
        theirs = other.arrays()
        return all(
            within(mine, theirs[name], 0.0 if mine.dtype.kind == "i" else rtol, size)
            for name, mine in self.arrays().items()
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        names = ("total", "support", "weight", "rows", "base")
        return {name: getattr(self, name) for name in names}

    def presence(self) -> Array:
        return np.repeat(self.weight[:, np.newaxis], self.n_columns, axis=1)

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        return cls(
            family,
            total=fields.array("total", np.float64, (n_classes, n_columns)),
            support=fields.array("support", np.int64, (n_classes, n_columns)),
            weight=fields.array("weight", np.float64, (n_classes,)),
            rows=fields.array("rows", np.int64, (n_classes,)),
            base=fields.array("base", np.float64, (n_classes,)),
        )

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        bad = impossible(self.total, self.support, max(size, float(np.abs(self.total).max(initial=0.0))))
        if bad.any():
            return f"{labels[first_offence(bad)[1]]} would have a count below zero in some class"
        return None

    def solve(self, labels: list[str], classes: NDArray[Any]) -> SolvedCounts:
        return SolvedCounts(self)


class SolvedCounts(Solved):
    """Log θ of every class and column."""

    is_given_length = True

    def __init__(self, totals: CountTotals) -> None:
        self.family = totals.family
        total = np.where(totals.support > 0, totals.total, 0.0)
        draws = total.sum(axis=1)
        mean = np.divide(total.T, draws, out=np.zeros_like(total.T), where=draws > 0)
        self.probability = self.family.smooth(mean, draws, mean).T
        zero = self.probability <= 0
        self.zero = zero if zero.any() else None
        # What is left of a vanishing θ as alpha → 0⁺ is 1/N.
        floor = np.broadcast_to(1.0 / np.where(draws > 0, draws, 1.0)[:, np.newaxis], zero.shape)
        self.log_p = np.log(np.where(zero, floor, self.probability))
        self.mean_length = np.divide(draws, totals.weight, out=np.zeros_like(draws), where=totals.weight > 0)
        self.regularized = []
        self.n_parameters = len(draws) * max(totals.n_columns - 1, 0)
        self._log_likelihood = float(np.sum(total * self.log_p) + totals.base.sum())

    @property
    def log_likelihood(self) -> float:
        return self._log_likelihood

    @cached_property
    def by_column(self) -> Array:
        """Log θ with the classes of each column side by side."""
        return np.ascontiguousarray(self.log_p.T)

    def _prepared(self, block: Any, labels: list[str]) -> tuple[Any, NDArray[np.bool_]]:
        """Counts with gaps as zeros, and the rows that are whole."""
        refuse_infinities(block, labels)
        entries = _entries(block)
        negative = entries < 0
        if negative.any() and self.family.unseen == "error":
            raise ValueError(
                f"{labels[_first_column(block, negative)]}: a count is {entries[negative].flat[0]}; "
                f"{self.family.name} takes {self.family.support_name}; unseen='ignore' would treat the block "
                "as missing."
            )
        whole = ~_rows_with_gaps(block)
        if negative.any():
            whole &= ~np.asarray((block < 0).sum(axis=1) > 0).reshape(-1)
        if whole.all():
            return block, whole
        if sparse.issparse(block):
            kept = sparse.diags_array(whole.astype(np.float64)).tocsr()
            block = block.copy()
            block.data = np.nan_to_num(block.data)
            return kept @ block, whole
        return np.where(whole[:, np.newaxis], block, 0.0), whole

    def add_scores(self, block: Any, labels: list[str], scores: Scores, *, base: bool) -> None:
        block, whole = self._prepared(block, labels)
        if sparse.issparse(block):
            add_sparse_count_scores(block, self.by_column, scores.finite)
        else:
            scores.finite += block @ self.log_p.T
        if self.zero is not None:
            scores.add_orders(slice(None), IMPOSSIBLE * dense(block @ self.zero.T.astype(np.float64)))
        if base:
            scores.finite += np.where(whole, log_base_of_rows(block), 0.0)[:, np.newaxis]

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        refuse_errors(self.family, labels[0])
        cells = tuple(Cell(column) for column in columns)
        whole, nothing = all_of([cell >= 0.0 for cell in cells]), as_expression(0.0)
        finite = Where(whole, Linear(cells, self.log_p.T), nothing)
        if self.zero is None:
            return Score(finite)
        return Score(finite, Where(whole, Linear(cells, IMPOSSIBLE * mask(self.zero.T)), nothing))

    def contributions(self, block: Any, labels: list[str], *, base: bool) -> Array:
        """Each column's x·log θ, with log n! shared out in proportion to the counts."""
        block, _ = self._prepared(block, labels)
        x = block.toarray() if sparse.issparse(block) else np.asarray(block, dtype=np.float64)
        cells = x[:, :, np.newaxis] * self.log_p.T
        if base:
            length = x.sum(axis=1, keepdims=True)
            share = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
            log_base = share * special.gammaln(length + 1.0) - special.gammaln(x + 1.0)
            cells += log_base[:, :, np.newaxis]
        if self.zero is not None:
            order = (x > 0)[:, :, np.newaxis] * self.zero.T.astype(np.float64)
            cells = np.where(order == 0, cells, np.where(order > 0, -np.inf, np.inf))
        return np.asarray(cells)

    def observed(self, block: Any, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        _, whole = self._prepared(block, labels)
        seen = np.repeat(whole[:, np.newaxis], block.shape[1], axis=1)
        complete = np.repeat(~_rows_with_gaps(block)[:, np.newaxis], block.shape[1], axis=1)
        return seen, complete & ~seen

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Rows of Poisson length about the class's mean length."""
        lengths = rng.poisson(self.mean_length[classes])
        return list(rng.multinomial(lengths, self.probability[classes]).T.astype(np.float64))

    def separation(self) -> Separation:
        """Of rows of the mean length: of the true class, or between both for the symmetric distance."""
        length = self.mean_length
        between = 0.5 * (length[:, np.newaxis] + length)
        with np.errstate(divide="ignore"):
            kl, distance = divergences(self.family, np.log(self.probability.T))
        with np.errstate(divide="ignore", invalid="ignore"):
            # A column alone, in so many draws, is Binomial.
            alone = divergences(Bernoulli(), np.log(self.probability / (1.0 - self.probability))[np.newaxis])
        kl_alone, distance_alone = (np.nan_to_num(np.moveaxis(one, -1, 0), posinf=np.inf) for one in alone)
        return Separation(
            np.maximum(kl_alone, 0.0) * length[:, np.newaxis],
            np.maximum(distance_alone, 0.0) * between,
            np.maximum(kl, 0.0) * length[:, np.newaxis],
            np.maximum(distance, 0.0) * between,
        )

    def conventional(self) -> list[dict[str, Any]]:
        return [{"probability": column} for column in self.probability.T]


def log_base_of_rows(block: Any) -> Array:
    """Log n!/Πx_j! of each row."""
    length = np.asarray(block.sum(axis=1), dtype=np.float64).reshape(-1)
    if sparse.issparse(block):
        terms = block.astype(np.float64)
        terms.data = special.gammaln(terms.data + 1.0)
        parts = np.asarray(terms.sum(axis=1)).reshape(-1)
    else:
        parts = special.gammaln(np.asarray(block, dtype=np.float64) + 1.0).sum(axis=1)
    return np.asarray(special.gammaln(length + 1.0) - parts)


def _first_column(block: Any, bad: NDArray[np.bool_]) -> int:
    """The column of the first bad entry, in row order."""
    if sparse.issparse(block):
        return column_of_entry(block, int(np.argmax(bad)))
    return int(np.argwhere(bad)[0][1])


def _entries(block: Any) -> NDArray[Any]:
    return np.asarray(block.data if sparse.issparse(block) else block)


def _rows_with_gaps(block: Any) -> NDArray[np.bool_]:
    if not sparse.issparse(block):
        return np.asarray(np.isnan(block).any(axis=1))
    gaps = np.zeros(block.shape[0], dtype=np.bool_)
    missing = np.isnan(block.data)
    if missing.any():
        gaps[block.tocoo().row[missing]] = True
    return gaps
