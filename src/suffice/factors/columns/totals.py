"""Columns of numbers, each its own member of one family: sums of u(x) about an origin per class and column.

A thousand Normal columns are one array operation: totals are (statistics, classes, columns).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, Counts, Exponents
from suffice.factors.base import Block, Totals, gather
from suffice.factors.blocks import FoldedCells
from suffice.factors.checks import first_offence, impossible, within
from suffice.factors.columns.binary import outcome_sums
from suffice.factors.columns.folds import sums_without_folds
from suffice.factors.columns.functions import column_sums
from suffice.factors.columns.refuse import refuse_cells
from suffice.factors.columns.rounding import NOTHING, ROUNDING, AboutMeans, follows, moved_peaks, peaks_of
from suffice.factors.columns.sparse import ClassSums, largest_entries
from suffice.factors.columns.squares import square_sums
from suffice.factors.origins import MOST_CLASSES, place_origins
from suffice.families import Family
from suffice.families.elementary import (
    NO_SPREAD,
    SMALLEST_UNIT,
    elementary,
    exponent_of,
    rebase,
    rescale,
)
from suffice.kernels.cells import class_blocks
from suffice.kernels.choose import gaussian_for, is_complete
from suffice.kernels.columns import ColumnCells
from suffice.storage import Fields

LARGEST_EXPONENT = 1024
"""Of a float."""


class ColumnTotals(Totals):
    """Σ w·u(x), Σ w and row counts of observed cells, per class and column.

    `weight` and `support` have one column until a gap is met, and then one for each column. `peak` remembers
    how much was summed before rows were removed, and is None until then.
    """

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"
    takes_folds: ClassVar[bool] = True

    def __init__(
        self,
        family: Family,
        total: Array,
        weight: Array,
        support: Counts,
        origin: Array,
        exponent: Exponents,
        base: Array,
        peak: Exponents | None = None,
    ) -> None:
        self.family = family
        self.total = total
        self.weight = weight
        self.support = support
        self.origin = origin if family.centred else np.full_like(origin, family.default_origin)
        self.exponent = exponent
        self.base = base
        self.peak = peak

    @classmethod
    def empty(cls, family: Family, n_columns: int, n_classes: int = 0) -> Self:
        start = NO_SPREAD if family.scaled or family.centred else 0
        return cls(
            family,
            total=np.zeros((family.n_statistics, n_classes, n_columns)),
            weight=np.zeros((n_classes, 1)),
            support=np.zeros((n_classes, 1), dtype=np.int64),
            origin=np.zeros((n_classes, n_columns)),
            exponent=np.full(n_columns, start, dtype=np.int32),
            base=np.zeros((n_classes, n_columns if family.has_base_measure else 0)),
        )

    @property
    def n_columns(self) -> int:
        return int(self.total.shape[2])

    def refuse(self, block: Block, labels: list[str], classes: Codes) -> None:
        refuse_cells(self.family, np.where(self.has_origin(), self.origin, np.nan), block, labels)

    def update(self, block: Block, classes: Codes, weights: Array | None) -> None:
        if sparse.issparse(block):
            self.add(self._of_sparse(block, classes, weights), 1)
            return
        values = np.asarray(block)
        observed = ~np.isnan(values)
        gaps = None if observed.all() else observed
        if gaps is not None:
            self.expand_presence()
        blocks: list[Any] = [
            (k, *(None if array is None else array[rows] for array in (values, gaps, weights)))
            for k, rows in class_blocks(classes, self.weight.shape[0])
        ]
        if self.family.centred:
            self._place_origins(blocks)
        if self.family.scaled or self.family.centred:
            self._grow_unit(blocks)
        for k, part, seen, w in blocks:
            if seen is None:
                self.support[k] += len(part)
                self.weight[k] += len(part) if w is None else w.sum()
            else:
                self.support[k] += seen.sum(axis=0)
                self.weight[k] += seen.sum(axis=0) if w is None else w @ seen
            self.total[:, k] += column_sums(self.family.functions, part, w, self.origin[k], self.unit, seen)
        if self.family.has_base_measure:
            base = self.family.log_base_measure(np.asarray(values, dtype=np.float64))
            base = base if gaps is None else np.where(gaps, base, 0.0)
            for k, rows in class_blocks(classes, self.weight.shape[0]):
                self.base[k] += base[rows].sum(axis=0) if weights is None else weights[rows] @ base[rows]

    def prepare(
        self, block: Block, labels: list[str], classes: Codes, weights: Array | None, n_classes: int
    ) -> Callable[[Any], None]:
        batch = None
        if isinstance(block, FoldedCells):
            refuse_cells(self.family, np.full((1, block.numbers.shape[1]), np.nan), block.numbers, labels)
            sums = sums_without_folds(self.family, self.reach, block, classes, weights, n_classes)
            batch = type(self)(self.family, *sums)
        elif self.family.is_binary and not sparse.issparse(block):
            batch = self._of_outcomes(block, classes, weights, n_classes)
        elif self.takes_columns_apart and n_classes <= MOST_CLASSES and not sparse.issparse(block):
            batch = self._of_rows(block, classes, weights, n_classes)
        if batch is not None:
            return lambda totals: totals.add(batch, 1)
        if isinstance(block, ColumnCells):
            block = np.asarray(block)
        return super().prepare(block, labels, classes, weights, n_classes)

    def _of_outcomes(
        self, block: NDArray[Any], classes: Codes, weights: Array | None, n_classes: int
    ) -> Self | None:
        """Sums of rows of 0 and 1 about the origin 0, in one read; None if a cell is neither."""
        sums = outcome_sums(block, classes, n_classes, weights)
        if sums is None:
            return None
        total, weight, support = sums
        if weight is None or support is None:
            counts = np.bincount(classes, minlength=n_classes)
            by_class = counts if weights is None else np.bincount(classes, weights, minlength=n_classes)
            weight, support = by_class[:, np.newaxis].astype(np.float64), counts[:, np.newaxis]
        batch = self.empty(self.family, self.n_columns, n_classes)
        batch.total, batch.weight, batch.support = total[np.newaxis], weight, support
        return batch

    @property
    def takes_columns_apart(self) -> bool:
        """Where x and x² are summed in one read."""
        return self.family.functions == ("x", "x2") and self.family.scaled and self.family.centred

    def _of_rows(
        self, values: Array | ColumnCells, classes: Codes, weights: Array | None, n_classes: int
    ) -> Self | None:
        """Sums of rows about the origins held here, in one read; None if squares overflow."""
        batch = self.empty(self.family, self.n_columns, n_classes)
        held = len(self.origin)
        batch.origin[:held] = self.origin
        if not len(values):
            return batch
        wanted = np.ones(batch.origin.shape, dtype=np.bool_)
        if held:
            wanted[:held] = ~self.has_origin()
        place_origins(gaussian_for(values.size), values, classes, wanted, batch.origin)
        sums = (
            square_sums(values, classes, weights, batch.origin) if np.isfinite(batch.origin).all() else None
        )
        if sums is None:
            return None
        batch.weight, batch.support, batch.exponent = sums.weight, sums.support, exponent_of(sums.size)
        batch.total = np.array([np.ldexp(sums.first, -batch.unit), np.ldexp(sums.second, -2 * batch.unit)])
        return batch

    def _of_sparse(self, block: Any, classes: Codes, weights: Array | None) -> Self:
        """Sums of sparse rows, about the origin 0."""
        block = block.tocsr()
        n_classes = self.weight.shape[0]
        fresh = self.empty(self.family, self.n_columns, n_classes)
        if self.family.scaled:
            fresh.raise_unit(exponent_of(largest_entries(block)))
        counts = np.bincount(classes, minlength=n_classes)
        fresh.support += counts[:, np.newaxis]
        fresh.weight += (counts if weights is None else np.bincount(classes, weights, minlength=n_classes))[
            :, np.newaxis
        ]
        powers = tuple(function.degree for function in elementary(self.family.functions))
        sums = ClassSums(block, classes, weights, n_classes)
        x = block.data.astype(np.float64, copy=False)
        if not is_complete(x):
            missing = np.isnan(x)
            x = np.where(missing, 0.0, x)
            fresh.expand_presence()
            fresh.weight -= sums.of(missing.astype(np.float64))
            fresh.support -= sums.n_of(missing)
        scaled = x * np.ldexp(1.0, -fresh.unit)[block.indices] if self.family.scaled else x
        fresh.total = np.stack([sums.of(scaled if power == 1 else scaled**power) for power in powers])
        if self.family.has_base_measure:
            fresh.base = sums.of(self.family.log_base_measure(x))
        return fresh

    def expand_presence(self) -> None:
        """Keep weight and support per column from now on."""
        if self.weight.shape[1] != self.n_columns:
            self.weight = np.repeat(self.weight, self.n_columns, axis=1)
            self.support = np.repeat(self.support, self.n_columns, axis=1)

    def _place_origins(self, blocks: list[Any]) -> None:
        """Give each class and column without rows the first value observed there."""
        for k, part, seen, _ in blocks:
            fresh = ~self.has_origin(k)
            if not fresh.any():
                continue
            if seen is None:
                self.origin[k] = np.where(fresh, part[0], self.origin[k])
            else:
                first = part[np.argmax(seen, axis=0), np.arange(self.n_columns)]
                self.origin[k] = np.where(fresh & seen.any(axis=0), first, self.origin[k])

    def _grow_unit(self, blocks: list[Any]) -> None:
        """Raise the unit of each column to cover the batch."""
        size = np.zeros(self.n_columns)
        for k, part, _, _ in blocks:
            np.fmax(size, np.fmax.reduce(self.reach(part, self.origin[k]), axis=0), out=size)
        self.raise_unit(exponent_of(size))

    def reach(self, values: Array, origin: Array) -> Array:
        """How far values lie from the origin: |x − c|, or relative to c where the sums have no unit."""
        away = np.abs(values - origin)
        if self.family.scaled or self.family.default_origin == 0.0:
            return away
        with np.errstate(over="ignore"):
            return np.minimum(away / origin, 2.0**30)

    def raise_unit(self, exponent: Exponents) -> None:
        """Measure in units of at least 2^exponent: exact. The exponent remembers how much was summed."""
        raised = np.maximum(self.exponent, exponent)
        if (raised != self.exponent).any():
            before, self.exponent = self.unit, raised
            self.total = rescale(self.family.functions, self.total, self.unit - before)

    @property
    def unit(self) -> Exponents:
        """The exponents of the units that x and x² are summed in."""
        return (
            np.maximum(self.exponent, SMALLEST_UNIT) if self.family.scaled else np.zeros_like(self.exponent)
        )

    @property
    def noise(self) -> Array:
        """How large rounding may have made a dispersion that is zero, given how much was summed."""
        size = 2 * (self.exponent - self.unit) if self.family.scaled else np.minimum(self.exponent, 30)
        return ROUNDING * np.ldexp(1.0, size)

    def peaks(self) -> Exponents:
        """Exponents of the largest Σ w·|u(x)| and Σ w that every class and column ever held."""
        origin = np.where(self.has_origin(), self.origin, self.family.default_origin)
        now = peaks_of(self.family, self.total, self.weight, origin, self.unit)
        return now if self.peak is None else np.maximum(self.peak, now)

    def about_means(self, where: NDArray[np.bool_]) -> AboutMeans:
        """Mean statistics about the mean of each class, with what rounding left in them; 0 elsewhere."""
        return AboutMeans.of(
            self.family,
            np.where(where, self.total, 0.0),
            np.where(where, self.weight, 1.0),
            np.where(where, self.origin, self.family.default_origin),
            self.peaks(),
            self.unit,
        )

    def add(self, other: Self, sign: int) -> None:
        is_zero = not any(part.any() for part in (self.support, self.weight, self.total, self.base))
        is_plain = sign > 0 and self.peak is None and other.peak is None
        if is_zero and is_plain and (self.exponent <= other.exponent).all():  # the first rows
            self.__dict__ |= other.copy().arrays()
            return
        if self.weight.shape[1] != other.weight.shape[1]:
            self.expand_presence()
        self.origin = np.where(self.has_origin(), self.origin, other.origin)
        other = other.rebased(self.origin)
        self.raise_unit(other.exponent)
        if follows(self.family) and (sign < 0 or self.peak is not None or other.peak is not None):
            self.peak = np.maximum(self.peaks(), other.peaks())
        self.total += sign * rescale(self.family.functions, other.total, self.unit - other.unit)
        self.weight += sign * other.weight
        self.support += sign * other.support
        self.base += sign * other.base
        if self.peak is not None:
            self.peak = np.where(self.has_origin(), self.peak, NOTHING).astype(np.int32)

    def has_origin(self, k: int | slice = slice(None)) -> NDArray[np.bool_]:
        """Where something was summed, including signed sums whose row counts cancel."""
        return np.asarray((self.support[k] != 0) | (self.weight[k] != 0) | self.total[:, k].any(axis=0))

    def vanishes(self) -> NDArray[np.bool_]:
        return np.asarray(~self.has_origin().any(axis=1) & ~self.base.any(axis=1))

    def rebased(self, origin: Array) -> Self:
        """The same sums about other origins, (classes, columns): exact algebra."""
        if not self.family.centred or np.array_equal(origin, self.origin):
            return self
        held = self.has_origin()
        target = np.where(held, origin, self.origin)
        moved = self.copy()
        safe = np.where(held, moved.origin, self.family.default_origin)
        safe_target = np.where(held, target, self.family.default_origin)
        moved.raise_unit(exponent_of(self.reach(safe_target, safe).max(axis=0, initial=0.0)))
        weight = np.broadcast_to(moved.weight, safe.shape)
        functions = self.family.functions
        if moved.peak is not None:
            moved.peak = moved_peaks(self.family, moved.peaks(), safe, safe_target, moved.unit)
        moved.total = rebase(functions, moved.total, weight, safe, safe_target, moved.unit)
        moved.origin = origin.copy()
        return moved

    def copy(self) -> Self:
        """An independent copy."""
        other = type(self)(self.family, *(array.copy() for array in self.arrays().values()))
        other.peak = self.peak
        return other

    def scale(self, factors: Array) -> None:
        by_class = factors[:, np.newaxis]
        self.total *= by_class
        self.weight *= by_class
        self.base *= by_class
        if self.peak is not None:
            grown = self.peak + np.frexp(by_class)[1]
            self.peak = np.where((self.peak == NOTHING) | (by_class == 0), NOTHING, grown).astype(np.int32)

    def take_classes(self, index: Codes) -> Self:
        return type(self)(
            self.family,
            gather(self.total, index, 1),
            gather(self.weight, index, 0),
            gather(self.support, index, 0),
            gather(self.origin, index, 0),
            self.exponent.copy(),
            gather(self.base, index, 0),
            None if self.peak is None else NOTHING + gather(self.peak - NOTHING, index, 1),
        )

    def take_columns(self, index: Codes) -> Self:
        wide = self.copy()
        wide.expand_presence()
        exponent = gather(self.exponent, index, 0)
        exponent[index < 0] = NO_SPREAD if self.family.scaled or self.family.centred else 0
        base = gather(wide.base, index, 1) if self.family.has_base_measure else wide.base
        return type(self)(
            self.family,
            gather(wide.total, index, 2),
            gather(wide.weight, index, 1),
            gather(wide.support, index, 1),
            gather(wide.origin, index, 1),
            exponent,
            base,
            None if self.peak is None else NOTHING + gather(self.peak - NOTHING, index, 2),
        )

    def matches(self, other: Self, rtol: float) -> bool:
        if self.total.shape != other.total.shape:
            return False
        mine, theirs = self.copy(), other.copy()
        mine.expand_presence()
        theirs.expand_presence()
        theirs = theirs.rebased(np.where(mine.has_origin(), mine.origin, theirs.origin))
        mine.raise_unit(theirs.exponent)
        theirs.raise_unit(mine.exponent)
        size = np.abs(mine.weight).max(initial=0.0)
        return np.array_equal(mine.support, theirs.support) and all(
            within(a, b, rtol, size)
            for a, b in ((mine.weight, theirs.weight), (mine.total, theirs.total), (mine.base, theirs.base))
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        # In the order in which they make up the sums.
        names = ("total", "weight", "support", "origin", "exponent", "base")
        return {name: getattr(self, name) for name in names}

    def state(self) -> dict[str, Any]:
        return super().state() | ({} if self.peak is None else {"peak": self.peak})

    def presence(self) -> Array:
        return np.broadcast_to(self.weight, (len(self.weight), self.n_columns))

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        width = fields.any_array("weight").shape[-1:] or (0,)
        if width[0] not in (1, n_columns):
            raise fields.error("weight", f"must have 1 or {n_columns} columns.")
        cells, presence = (n_classes, n_columns), (n_classes, *width)
        exponent = fields.array("exponent", np.int32, (n_columns,))
        if ((exponent < NO_SPREAD) | (exponent > LARGEST_EXPONENT)).any():
            raise fields.error("exponent", "is not the exponent of a number.")
        totals = cls(
            family,
            total=fields.array("total", np.float64, (family.n_statistics, *cells)),
            weight=fields.array("weight", np.float64, presence),
            support=fields.array("support", np.int64, presence),
            origin=fields.array("origin", np.float64, cells),
            exponent=exponent,
            base=fields.array("base", np.float64, (n_classes, n_columns if family.has_base_measure else 0)),
        )
        if family.centred and not family.support(totals.origin[totals.has_origin()]).all():
            raise fields.error("origin", f"holds numbers outside the support of {family.name}.")
        if follows(family) and fields.has_array("peak"):
            totals.peak = fields.array("peak", np.int32, (family.n_statistics + 1, *cells))
            if ((totals.peak < NOTHING) | (totals.peak > -NOTHING)).any():
                raise fields.error("peak", "does not hold the exponents of sums.")
        return totals

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        bad = impossible(self.weight, self.support, size) | (self.support > rows[:, np.newaxis])
        if bad.any():
            _, column = first_offence(bad)
            return f"{labels[column]} would have a negative row count, or too many rows, in some class"
        present = np.broadcast_to(self.support > 0, self.origin.shape)
        weight = np.where(present, self.weight, 1.0)
        origin = np.where(present, self.origin, self.family.default_origin)
        slack = 1e-9 + self.noise
        with np.errstate(all="ignore"):
            outside = self.family.outside(self.total / weight, origin, slack) & present
            if self.peak is not None:
                about = self.about_means(present)
                outside &= ~self.family.support(about.centre) | self.family.outside(
                    about.mean, about.centre, slack + about.spread
                )
        if outside.any():
            return (
                f"{labels[first_offence(outside)[1]]} would have sums in some class that no values could give"
            )
        return None
