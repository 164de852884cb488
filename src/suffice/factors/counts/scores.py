"""A solved Multinomial block: its probabilities, and the scores of rows of counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from suffice.arrays import Array, Codes
from suffice.export.expressions import Cell, Gaps, Linear, Score, Where, all_of, as_expression, mask
from suffice.factors.base import Separation, SolvedFactor, divergences
from suffice.factors.blocks import add_products, dense
from suffice.factors.checks import OutsideSupportError, refuse_errors, refuse_infinities
from suffice.factors.counts.totals import CountTotals, first_negative, stored_cells
from suffice.factors.natural import NaturalForm, ruled_out
from suffice.factors.scores import IMPOSSIBLE, Scores
from suffice.factors.term_scores import TermScores, are_large, multinomial_scores
from suffice.families import Bernoulli
from suffice.kernels.choose import are_counts, is_complete

MOST_EXPORTED = 2.0**53 * 1e-9
"""Nats of a row beyond which float64 does not know its score to 1e-9."""


@dataclass(frozen=True)
class Tables:
    """θ of every class and column in plain tables, (classes, columns)."""

    probability: Array
    log_p: Array
    """Log θ; where θ vanishes with alpha, log of the rest."""
    zero: NDArray[Any] | None
    """How often alpha divides θ where it vanishes with alpha."""

    @classmethod
    def of(cls, counts: Array) -> Self:
        """The shares of the counts in each class; where one vanishes with alpha, 1/N is left."""
        total = counts.sum(axis=1, keepdims=True)
        share = np.divide(
            counts, total, out=np.full_like(counts, 1.0 / max(counts.shape[1], 1)), where=total > 0
        )
        vanishes = share <= 0
        with np.errstate(divide="ignore"):
            log_p = np.where(vanishes, -np.log(total), np.log(share))
        return cls(share, log_p, vanishes if vanishes.any() else None)


def solve_counts(totals: CountTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedCounts:
    """θ of every class and column."""
    return SolvedCounts(totals)


class SolvedCounts(SolvedFactor):
    """θ of every class and column: in plain tables, or of held columns only where these would be large."""

    is_given_length = True

    def __init__(self, totals: CountTotals, tables: Tables | None = None) -> None:
        self.family = totals.family
        self.entries = totals.entries.chosen(totals.entries.is_held())
        self.n_columns = totals.n_columns
        self.draws = self.entries.draws(len(totals.rows))
        self.mean_length = np.divide(
            self.draws, totals.weight, out=np.zeros_like(self.draws), where=totals.weight > 0
        )
        self.regularized = []
        self.n_parameters = len(self.draws) * max(totals.n_columns - 1, 0)
        self.is_wide = tables is None and are_large(len(self.draws), totals.n_columns)
        self._base, self.has_base = float(totals.base.sum()), totals.has_base
        if tables is not None:
            self.tables = tables

    @cached_property
    def tables(self) -> Tables:
        """The plain tables."""
        return Tables.of(
            self.entries.table(self.entries.total, len(self.draws), self.n_columns) + self.family.alpha
        )

    @cached_property
    def by_column(self) -> Array:
        """Log θ with the classes of each column side by side."""
        return np.ascontiguousarray(self.tables.log_p.T)

    @cached_property
    def term_scores(self) -> tuple[TermScores, TermScores | None]:
        """Log θ as term scores, and the powers of alpha where θ vanishes."""
        return multinomial_scores(self.entries, self.draws, self.family.alpha, self.n_columns)

    @property
    def log_likelihood(self) -> float:
        entries = self.entries
        if self.is_wide:
            total = (self.draws + self.family.alpha * self.n_columns)[entries.classes]
            log_p = np.log(entries.total + self.family.alpha) - np.log(total)
        else:
            log_p = self.tables.log_p[entries.classes, entries.columns]
        return float(entries.total @ log_p) + self._base

    def _prepared(self, block: Any, labels: list[str]) -> tuple[Any, NDArray[np.bool_]]:
        """Counts with gaps as zeros, and the rows that are whole."""
        if are_counts(stored_cells(block)):
            return block, np.ones(block.shape[0], np.bool_)
        refuse_infinities(block, labels)
        negative = first_negative(block)
        if negative is not None and self.family.unseen == "error":
            row, column, value = negative
            cure = "unseen='ignore' would treat all counts of the row as missing"
            raise OutsideSupportError.of(labels[column], f"{value} (row {row})", self.family, cure)
        whole = ~_rows_with_gaps(block)
        if negative is not None:
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
        if self.is_wide:
            self._add_wide_scores(sparse.csr_array(block), scores)
        elif sparse.issparse(block):
            add_products(block, self.by_column, scores)
        else:
            scores.finite += block @ self.tables.log_p.T
        if not self.is_wide and self.tables.zero is not None:
            zero = self.tables.zero.T.astype(np.float64)
            scores.add_orders(slice(None), IMPOSSIBLE * dense(block @ zero))
        if base and self.has_base:
            scores.finite += np.where(whole, _log_base_of_rows(block), 0.0)[:, np.newaxis]

    def _add_wide_scores(self, block: Any, scores: Scores) -> None:
        term_scores, orders = self.term_scores
        lengths = np.asarray(block.sum(axis=1), dtype=np.float64)
        scores.finite += term_scores.scores(block, lengths)
        if orders is not None:
            scores.add_orders(slice(None), orders.scores(block, lengths))

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        refuse_errors(self.family, labels[0])
        tables = self.tables
        scores = self.mean_length * np.sum(tables.probability * np.abs(tables.log_p), axis=1)
        if scores.max(initial=0.0) > MOST_EXPORTED:
            raise ValueError(
                f"{labels[0]}: rows of about {self.mean_length.max():.2g} counts have scores with fewer than "
                "nine decimals, so SQL and ONNX cannot agree with predict_proba; divide the counts by a "
                "thousand, or use families= to model each column by itself."
            )
        cells = tuple(Cell(column) for column in columns)
        whole, nothing = all_of([cell >= 0.0 for cell in cells]), as_expression(0.0)
        finite = Where(whole, Linear(cells, tables.log_p.T), nothing)
        if tables.zero is None:
            return Score(finite)
        return Score(finite, Where(whole, Linear(cells, IMPOSSIBLE * mask(tables.zero.T)), nothing))

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        """λ_j = log θ_j and ln g = 0: u(x) are the counts."""
        tables = self.tables
        if tables.zero is not None:
            column = int(np.argmax(np.asarray(tables.zero, dtype=np.bool_).any(axis=0)))
            raise ruled_out(names[column], "a class never has it")

        def u(block: Any) -> Array:
            counts, whole = self._prepared(block, names)
            return np.where(whole[:, np.newaxis], dense(counts).astype(np.float64), np.nan)

        return [
            NaturalForm(
                columns=tuple(range(self.n_columns)),
                statistics=tuple(names),
                natural=tables.log_p,
                log_g=np.zeros(len(tables.log_p)),
                shared=np.zeros(self.n_columns, dtype=np.bool_),
                u=u,
                origin=np.zeros(self.n_columns),
                powers=tuple((j,) for j in range(self.n_columns)),
            )
        ]

    def contributions(self, block: Any, labels: list[str], *, base: bool) -> Array:
        """Each column's x·log θ, with log n! shared out in proportion to the counts."""
        block, _ = self._prepared(block, labels)
        x = block.toarray() if sparse.issparse(block) else np.asarray(block, dtype=np.float64)
        cells = x[:, :, np.newaxis] * self.tables.log_p.T
        if base and self.has_base:
            length = x.sum(axis=1, keepdims=True)
            share = np.divide(x, length, out=np.zeros_like(x), where=length > 0)
            log_base = share * special.gammaln(length + 1.0) - special.gammaln(x + 1.0)
            cells += log_base[:, :, np.newaxis]
        if self.tables.zero is not None:
            order = (x > 0)[:, :, np.newaxis] * self.tables.zero.T.astype(np.float64)
            cells = np.where(order == 0, cells, np.where(order > 0, -np.inf, np.inf))
        return np.asarray(cells)

    def alone(self, block: Any, labels: list[str]) -> Array:
        """One count, given their sum, is Binomial."""
        block, _ = self._prepared(block, labels)
        x = block.toarray() if sparse.issparse(block) else np.asarray(block, dtype=np.float64)
        x, rest = x[:, :, np.newaxis], (x.sum(axis=1, keepdims=True) - x)[:, :, np.newaxis]
        share = self.tables.probability.T
        return np.asarray(special.xlogy(x, share) + special.xlog1py(rest, -share))

    def observed(self, block: Any, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        _, whole = self._prepared(block, labels)
        seen = np.repeat(whole[:, np.newaxis], block.shape[1], axis=1)
        complete = np.repeat(~_rows_with_gaps(block)[:, np.newaxis], block.shape[1], axis=1)
        return seen, complete & ~seen

    def take_columns(self, index: Codes) -> SolvedFactor:
        """Counts are observed or missing as a whole."""
        raise ValueError(f"the columns of a {self.family.name} block cannot be separated.")

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Rows of Poisson length about the class's mean length."""
        lengths = rng.poisson(self.mean_length[classes])
        return list(rng.multinomial(lengths, self.tables.probability[classes]).T.astype(np.float64))

    def separation(self) -> Separation:
        """Of rows of the mean length: of the true class, or between both for the symmetric distance."""
        length, probability = self.mean_length, self.tables.probability
        between = 0.5 * (length[:, np.newaxis] + length)
        with np.errstate(divide="ignore"):
            kl, distance = divergences(self.family, np.log(probability.T))
        with np.errstate(divide="ignore", invalid="ignore"):
            # One column alone is Binomial.
            alone = divergences(Bernoulli(), np.log(probability / (1.0 - probability))[np.newaxis])
        kl_alone, distance_alone = (np.nan_to_num(np.moveaxis(one, -1, 0), posinf=np.inf) for one in alone)
        return Separation(
            np.maximum(kl_alone, 0.0) * length[:, np.newaxis],
            np.maximum(distance_alone, 0.0) * between,
            np.maximum(kl, 0.0) * length[:, np.newaxis],
            np.maximum(distance, 0.0) * between,
        )

    def conventional(self) -> list[dict[str, Any]]:
        return [{"probability": column} for column in self.tables.probability.T]


def _log_base_of_rows(block: Any) -> Array:
    """Log n!/Πx_j! of each row."""
    length = np.asarray(block.sum(axis=1), dtype=np.float64).reshape(-1)
    if sparse.issparse(block):
        terms = block.astype(np.float64)
        terms.data = special.gammaln(terms.data + 1.0)
        parts = np.asarray(terms.sum(axis=1)).reshape(-1)
    else:
        parts = special.gammaln(np.asarray(block, dtype=np.float64) + 1.0).sum(axis=1)
    return np.asarray(special.gammaln(length + 1.0) - parts)


def _rows_with_gaps(block: Any) -> NDArray[np.bool_]:
    if not sparse.issparse(block):
        return np.zeros(len(block), np.bool_) if is_complete(block) else np.isnan(block).any(axis=1)
    gaps = np.zeros(block.shape[0], dtype=np.bool_)
    missing = np.isnan(block.data)
    if missing.any():
        gaps[block.tocoo().row[missing]] = True
    return gaps
