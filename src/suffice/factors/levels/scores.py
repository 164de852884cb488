"""Probabilities of levels, one table for each column; each cell of a row adds one row of its table."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from suffice.arrays import Array, Codes
from suffice.export.expressions import Expression, Gaps, LevelNumber, Lookup, Score, total_score
from suffice.factors.base import Separation, SolvedFactor, divergences
from suffice.factors.blocks import as_numbers
from suffice.factors.checks import refuse_errors
from suffice.factors.levels.alike import LevelIndex, Unseen, share_of_new
from suffice.factors.levels.cells import LevelBlock
from suffice.factors.levels.grouping import grouped
from suffice.factors.levels.readings import NumberReader, Reading, add_readings, encoded_reading
from suffice.factors.levels.totals import LevelCounts, LevelTotals, refuse_infinity
from suffice.factors.natural import NaturalForm, ruled_out
from suffice.factors.scores import IMPOSSIBLE, Scores, bounded, unseen_log_shares
from suffice.families import Categorical, Family
from suffice.kernels.cells import class_blocks
from suffice.tables.wording import one_line, quoted

DEFAULT = Categorical()
"""The settings of families that have none of their own."""


class LevelTable:
    """Log p(level | class) of one column, with one row for unseen levels and one for missing cells."""

    def __init__(self, family: Family, counts: LevelCounts, *, keep_empty: bool = False) -> None:
        (shares,) = _shares_of_each(family, [self.hold(family, counts, keep_empty=keep_empty)])
        self.complete(family, shares)

    @classmethod
    def of_each(cls, family: Family, columns: list[LevelCounts]) -> list[LevelTable]:
        """The tables of columns, all at once."""
        tables = [cls.__new__(cls) for _ in columns]
        held = [table.hold(family, counts) for table, counts in zip(tables, columns, strict=True)]
        for table, shares in zip(tables, _shares_of_each(family, held), strict=True):
            table.complete(family, shares)
        return tables

    def hold(self, family: Family, counts: LevelCounts, *, keep_empty: bool = False) -> Array:
        """The levels, and the counts (classes, levels) that shares are made of, joined if that is wanted."""
        settings = family if isinstance(family, Categorical) else DEFAULT
        counts = counts.with_levels(settings.listed)
        present = np.asarray(counts.support.any(axis=0) | keep_empty)
        if settings.listed:
            present[counts.codes_of(list(settings.listed), grow=False)] = True
        order = _in_order(counts.levels, np.flatnonzero(present).tolist())
        self.levels = [counts.levels[i] for i in order]
        self.rows_of = LevelIndex(self.levels).places_of
        weight = np.where(counts.support > 0, counts.weight, 0.0)[:, order]
        self.weight = weight
        self.times = counts.support.sum(axis=0)
        self.groups = grouped(weight) if settings.joined else None
        return weight if self.groups is None else self.groups.sums(weight)

    def complete(self, family: Family, shares: _Shares) -> None:
        """The rows of all levels, and those of unseen levels and missing cells."""
        settings = family if isinstance(family, Categorical) else DEFAULT
        self.probability, log_p, zero, per_class = shares
        n_levels = len(self.probability)
        log_unseen = np.zeros(len(per_class))
        unseen_order = np.zeros(len(per_class))
        self.n_unnamed = max(settings.fewest - len(self.levels), 0)
        self.n_unseen = self.n_unnamed or int(family.unseen == "smooth")
        if self.n_unseen:
            n_more = self.n_unseen if self.groups is None else 1
            log_unseen, log_rest = unseen_log_shares(per_class, family.alpha, n_levels, n_more)
            log_p = log_p + log_rest
            if self.n_unnamed:
                self.probability = self.probability * np.exp(log_rest)
            if family.alpha == 0:
                unseen_order = np.where(np.isneginf(log_unseen) | (self.n_unnamed == 0), IMPOSSIBLE, 0.0)
                log_unseen = np.where(
                    unseen_order > 0, _log_of_nothing(per_class, self.n_unnamed), log_unseen
                )
            log_unseen = log_unseen - np.log(self.n_unseen / n_more)
        if self.groups is not None:
            of_level, share = self.groups.codes, self.groups.shares(self.weight, family.alpha)[:, np.newaxis]
            log_p, zero = log_p[of_level] + np.log(share), zero[of_level]
            self.probability = self.probability[of_level] * share
        self.log_p = np.concatenate([log_p, [log_unseen, np.zeros_like(log_unseen)]])
        self.order = None
        if zero.any() or unseen_order.any():
            self.order = np.vstack(
                [np.where(zero, IMPOSSIBLE, 0.0), unseen_order, np.zeros_like(unseen_order)]
            )

    @property
    def n_parameters(self) -> int:
        """Shares that sum to 1 in each class; joined levels have one, and shares in their group."""
        n_levels = len(self.levels) + self.n_unnamed
        n_groups = n_levels if self.groups is None else self.groups.n_groups + (self.n_unnamed > 0)
        return int(self.weight.shape[0] * max(n_groups - 1, 0) + n_levels - n_groups)

    @property
    def outcomes(self) -> Array:
        """The shares of all levels, those without a name as one."""
        unnamed = self.n_unnamed * np.exp(self.limits[len(self.levels)])
        return np.vstack([self.probability, unnamed]) if self.n_unnamed else self.probability

    @property
    def limits(self) -> Array:
        """Log p, −inf where alpha = 0 rules a level out."""
        return self.log_p if self.order is None else np.where(self.order > 0, -np.inf, self.log_p)

    @property
    def log_likelihood(self) -> float:
        """Log p of the counted cells; a level without rows in a class adds nothing."""
        log_p = self.log_p[: len(self.levels)].T
        return float(np.sum(np.where(self.weight > 0, self.weight * log_p, 0.0)))

    def scaled(self, by: float, most: float) -> LevelTable:
        """The table as bounded evidence times a number."""
        other = copy(self)
        other.log_p, other.order = by * bounded(self.limits, most), None
        return other

    def draw(self, classes: Codes, rng: np.random.Generator) -> Codes:
        """A level number for each row, from the row's class; a level of probability 0 is never drawn."""
        chance, drawn = rng.random(len(classes)), np.empty(len(classes), dtype=np.intp)
        for k, rows in class_blocks(classes, self.probability.shape[1]):
            # The last sum may differ from 1 by rounding. Scaled by it, every chance stays below it.
            steps = np.cumsum(self.probability[:, k])
            drawn[rows] = np.searchsorted(steps, chance[rows] * steps[-1], side="right")
        return drawn

    def score(self, row: Expression) -> Score:
        """The scores that a row of the table gives."""
        return Score(Lookup(row, self.log_p), None if self.order is None else Lookup(row, self.order))

    def unseen(self, batch: LevelBlock, label: str) -> list[Unseen]:
        """The cells that hold values never seen in training, if there are any."""
        n_levels = len(self.levels)
        strange = np.array([row == n_levels for row in self.rows_of(batch.values)], dtype=np.bool_)
        if not n_levels or not strange.any():
            return []
        cells = np.bincount(batch.codes[batch.codes >= 0], minlength=len(strange))
        example, trained = batch.values[int(np.argmax(strange))], self.levels[0]
        n_unseen, n_cells = int(cells[strange].sum()), int(cells.sum())
        return [Unseen(label, n_unseen, n_cells, example, trained, share_of_new(self.times))]

    def rows(self, batch: LevelBlock, label: str, *, refuse_unseen: bool) -> Codes:
        """The row of the table for each cell."""
        n_levels = len(self.levels)
        known = np.array([*self.rows_of(batch.values), n_levels + 1], dtype=np.intp)
        rows: Codes = known[batch.codes]
        if refuse_unseen and (rows == n_levels).any():
            at = int(np.argmax(rows == n_levels))
            raise ValueError(
                f"{label}: the level {quoted(batch.values[batch.codes[at]])} (row {at}) was never seen in "
                "training; unseen='ignore' would treat it as missing, unseen='smooth' as rare."
            )
        return rows


class _Shares(NamedTuple):
    """P(level | class) of one column, (levels, classes), and its log; 1/N where it is 0."""

    probability: Array
    log_p: Array
    zero: NDArray[np.bool_]
    per_class: Array
    """The weight of each class."""


def _shares_of_each(family: Family, columns: list[Array]) -> list[_Shares]:
    """The shares of columns from their counts (classes, levels), those of as many levels at once."""
    of_size: dict[int, list[int]] = {}
    for j, counts in enumerate(columns):
        of_size.setdefault(counts.shape[1], []).append(j)
    found: dict[int, _Shares] = {}
    for places in of_size.values():
        weight = np.stack([columns[j] for j in places])
        per_class, weight = weight.sum(axis=2), np.moveaxis(weight, 2, 0)
        mean = np.divide(weight, per_class, out=np.zeros_like(weight), where=per_class > 0)
        total = per_class.sum(axis=1, keepdims=True)
        pooled = weight.sum(axis=2, keepdims=True) / np.where(total > 0, total, 1.0)
        probability = family.smooth(mean, per_class, pooled)
        zero = probability <= 0
        log_p = np.log(np.where(zero, 1.0, probability))
        if zero.any():
            with np.errstate(divide="ignore"):
                log_p = np.where(zero, -np.log(per_class), log_p)
        for i, j in enumerate(places):
            found[j] = _Shares(probability[:, i], log_p[:, i], zero[:, i], per_class[i])
    return [found[j] for j in range(len(columns))]


def _log_of_nothing(per_class: Array, n_unnamed: int) -> Array:
    """Log p of an unseen level beside α, as α → 0: 1/N for one of the levels, the same for all else."""
    return -np.log(np.where(per_class > 0, per_class, 1.0)) if n_unnamed else np.zeros_like(per_class)


def _in_order(levels: list[Any], places: list[int]) -> list[int]:
    """Places of some levels, in the order of these."""
    if len(set(map(type, levels))) <= 1:
        return sorted(places, key=levels.__getitem__)
    return sorted(places, key=lambda i: _sort_key(levels[i]))


def _sort_key(level: Any) -> tuple[str, Any]:
    """Levels of one type in their own order, types side by side."""
    if isinstance(level, (bool, int, float)):
        return ("", level)
    return (type(level).__name__, level)


class SolvedLevels(SolvedFactor):
    """One `LevelTable` for each column."""

    def __init__(self, family: Family, tables: list[LevelTable]) -> None:
        self.family = family
        self.tables = tables
        self.regularized = []
        self.n_parameters = sum(table.n_parameters for table in self.tables)

    @property
    def log_likelihood(self) -> float:
        return sum(table.log_likelihood for table in self.tables)

    @cached_property
    def first(self) -> Codes:
        """Where the rows of each table begin among those of all."""
        sizes = [len(table.log_p) for table in self.tables]
        return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp) if sizes else np.zeros(0, np.intp)

    @cached_property
    def log_p(self) -> Array:
        """The tables of all columns, one below the other."""
        return np.concatenate([table.log_p for table in self.tables])

    @cached_property
    def order(self) -> Array | None:
        """Their orders, where some cell has one."""
        if all(table.order is None for table in self.tables):
            return None
        return np.concatenate(
            [np.zeros_like(table.log_p) if table.order is None else table.order for table in self.tables]
        )

    @cached_property
    def numbers(self) -> NumberReader:
        """Which row a whole number reads, in columns whose levels are whole numbers."""
        return NumberReader.of([table.levels for table in self.tables], self.first)

    def readings(self, block: Any, labels: list[str]) -> list[Reading]:
        """Which row of the tables each cell reads."""
        readings, encoded = [], np.arange(len(self.tables))
        if block.matrix is not None:
            refuse_infinity(block, labels)
            readings, encoded = self.numbers.readings(as_numbers(block.matrix)), self.numbers.others
        for j in encoded.tolist():
            batch, table = block[j], self.tables[j]
            known = table.rows_of(batch.values)
            readings.append(encoded_reading(batch, known, int(self.first[j]), len(table.levels)))
        return readings

    def rows_of_tables(self, block: Any, labels: list[str]) -> list[Codes]:
        """For each column, the row of its table that each cell reads."""
        return [
            table.rows(block[j], label, refuse_unseen=self.family.unseen == "error")
            for j, (table, label) in enumerate(zip(self.tables, labels, strict=True))
        ]

    def add_scores(self, block: Any, labels: list[str], scores: Scores, *, base: bool) -> None:
        if not self.tables:
            return
        readings = self.readings(block, labels)
        if not add_readings(readings, self.log_p, scores.finite):
            if self.family.unseen == "error":
                self.rows_of_tables(block, labels)  # which names the cell
            for j, (table, label) in enumerate(zip(self.tables, labels, strict=True)):
                scores.unseen += table.unseen(block[j], label)
        if self.order is not None:
            orders = np.zeros_like(scores.finite)
            add_readings(readings, self.order, orders)
            scores.add_orders(slice(None), orders)

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        cells = enumerate(zip(columns, labels, self.tables, strict=True))
        return total_score(
            [
                table.score(self.row_expression(j, column, label))
                for j, (column, label, table) in cells
                if table.levels  # without a level all classes score the same
            ]
        )

    def row_expression(self, j: int, column: int, label: str) -> Expression:
        """The row of the j-th table that a cell reads."""
        refuse_errors(self.family, label)
        return LevelNumber(column, tuple(self.tables[j].levels))

    def where_there(self, j: int, column: int, there: Array, gone: Array) -> Expression:
        """Read off the level, since a missing text has many marks."""
        levels = tuple(self.tables[j].levels)
        return Lookup(LevelNumber(column, levels), np.stack([there] * (len(levels) + 1) + [gone]))

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        if not isinstance(self.family, Categorical):
            return super().natural_forms(names, about)
        tables = enumerate(zip(self.tables, names, strict=True))
        return [self._natural_form(j, table, name) for j, (table, name) in tables if table.levels]

    def _natural_form(self, j: int, table: LevelTable, name: str) -> NaturalForm:
        """λ_l = log p_l and ln g = 0: u(x) holds an indicator for each level."""
        n_levels, named = len(table.levels), [one_line(level) for level in table.levels]
        outcomes = n_levels + (table.n_unseen > 0)
        natural = table.limits[:outcomes].T
        if np.isneginf(natural).any():
            level = [*named, "any other"][int(np.isneginf(natural).any(axis=0).argmax())]
            raise ruled_out(name, f"a class has the probability 0 for {level}")

        def u(block: Any) -> Array:
            rows = table.rows(block[j], name, refuse_unseen=self.family.unseen == "error")
            indicators = np.vstack([np.eye(n_levels + 1, outcomes), np.full(outcomes, np.nan)])
            return indicators[rows]

        return NaturalForm(
            columns=(j,),
            statistics=tuple(f"[{name} = {level}]" for level in [*named, "any other"][:outcomes]),
            natural=natural,
            log_g=np.zeros(len(natural)),
            shared=np.zeros(outcomes, dtype=np.bool_),
            u=u,
            origin=np.zeros(1),
        )

    def contributions(self, block: Any, labels: list[str], *, base: bool) -> Array:
        rows = np.stack(self.rows_of_tables(block, labels), axis=1) + self.first
        limits = self.log_p if self.order is None else np.where(self.order > 0, -np.inf, self.log_p)
        by_class = np.ascontiguousarray(limits.T)
        return np.moveaxis(by_class.take(rows, axis=1), 0, -1)  # an index would put classes side by side

    def observed(self, block: Any, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        rows = np.stack(self.rows_of_tables(block, labels), axis=1)
        n_levels = np.array([len(table.levels) for table in self.tables])
        unseen = (rows == n_levels) & (n_levels > 0)
        counts = np.array([table.n_unseen > 0 for table in self.tables])
        return (rows < n_levels) | (unseen & counts), unseen & ~counts

    def scaled(self, by: Array, most: float) -> SolvedFactor | None:
        other = self.take_columns(np.arange(len(by)))
        other.tables = [table.scaled(w, most) for table, w in zip(self.tables, by.tolist(), strict=True)]
        return other

    def take_columns(self, index: Codes) -> SolvedLevels:
        return SolvedLevels(self.family, [self.tables[j] for j in index.tolist()])

    def log_power_sums(self, powers: Array) -> Array:
        result = np.zeros((len(powers), len(self.tables), self.log_p.shape[1]))
        for j, table in enumerate(self.tables):
            if table.levels:
                # Unseen levels are outcomes too, if they have a probability.
                outcomes = table.limits[: len(table.levels) + (table.n_unseen > 0)]
                times = np.ones((len(outcomes), 1))
                times[len(table.levels) :] = table.n_unseen
                result[:, j] = [special.logsumexp(a * outcomes, axis=0, b=times) for a in powers]
        return result

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        columns = []
        for table in self.tables:
            levels = np.empty(len(table.levels), dtype=object)
            levels[:] = table.levels
            nothing = np.full(len(classes), None)
            columns.append(levels[table.draw(classes, rng)] if len(levels) else nothing)
        return columns

    def separation(self) -> Separation:
        n_classes = self.tables[0].weight.shape[0]
        pairs = []
        for table in self.tables:
            with np.errstate(divide="ignore"):
                natural = np.log(table.outcomes)
            nothing = np.zeros((n_classes, n_classes))
            pairs.append(divergences(self.family, natural) if len(natural) else (nothing, nothing))
        return Separation.of_independent(np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs]))

    def conventional(self) -> list[dict[str, Any]]:
        return [
            {"levels": table.levels, "probability": table.probability.T}
            | ({} if table.groups is None else {"group": table.groups.codes})
            for table in self.tables
        ]


def solve_levels(totals: LevelTotals, _labels: list[str], _classes: NDArray[Any]) -> SolvedLevels:
    """θ of every column."""
    return SolvedLevels(totals.family, LevelTable.of_each(totals.family, totals.columns))
