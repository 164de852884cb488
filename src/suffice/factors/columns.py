"""Columns of numbers, each its own member of one family: sums of u(x) about an origin per class and column.

A thousand Normal columns are one array operation: totals are (statistics, classes, columns).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.factors.base import Block, Codes, Counts, Totals, first_offence, gather, impossible, within
from suffice.factors.solve_columns import solve_columns
from suffice.factors.solved_columns import SolvedColumns
from suffice.factors.sparse_columns import (
    class_sums,
    column_of_entry,
    dense,
    largest_entries,
    membership,
    with_data,
)
from suffice.families import Family
from suffice.families.elementary import (
    DEGREE,
    NO_SPREAD,
    Array,
    Exponents,
    exponent_of,
    rebase,
    rescale,
)
from suffice.kernels import reference as kernels


class ColumnTotals(Totals):
    """Σ w·u(x), Σ w and row counts of observed cells, per class and column.

    `weight` and `support` have one column until a gap is met, and then one for each column.
    """

    reads: ClassVar[Literal["numbers", "levels"]] = "numbers"

    def __init__(
        self,
        family: Family,
        total: Array,
        weight: Array,
        support: Counts,
        origin: Array,
        exponent: Exponents,
        base: Array,
    ) -> None:
        self.family = family
        self.total = total
        self.weight = weight
        self.support = support
        self.origin = origin
        self.exponent = exponent
        self.base = base

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        start = 0 if family.unit == "none" else NO_SPREAD
        return cls(
            family,
            total=np.zeros((family.n_statistics, 0, n_columns)),
            weight=np.zeros((0, 1)),
            support=np.zeros((0, 1), dtype=np.int64),
            origin=np.zeros((0, n_columns)),
            exponent=np.full(n_columns, start, dtype=np.int32),
            base=np.zeros((0, n_columns if family.base_measure_degree is not None else 0)),
        )

    @property
    def n_columns(self) -> int:
        return int(self.total.shape[2])

    def refuse(self, block: Block, labels: list[str]) -> None:
        if sparse.issparse(block):
            self._refuse_sparse(block, labels)
            return
        bad = ~(self.family.support(block) | np.isnan(block))
        if bad.any():
            row, column = first_offence(bad)
            raise ValueError(self._outside(labels[column], block[row, column], f"row {row}"))

    def _refuse_sparse(self, block: Block, labels: list[str]) -> None:
        if not set(self.family.functions) <= {"x", "x2"} or not self.family.support(np.zeros(1)).all():
            raise ValueError(
                f"{labels[0]} is sparse, and {self.family.name} needs {self.family.support_name}, "
                "so the zeros that are not stored cannot be read; pass a dense array."
            )
        bad = ~(self.family.support(block.data) | np.isnan(block.data))
        if bad.any():
            entry = int(np.argmax(bad))
            label = labels[column_of_entry(block, entry)]
            raise ValueError(self._outside(label, block.data[entry], "a stored entry"))

    def _outside(self, label: str, value: Any, where: str) -> str:
        return (
            f"{label}: the value {value} ({where}) is outside {self.family.name}, which takes "
            f"{self.family.support_name}; mend or remove it, or choose another family with families=."
        )

    def update(self, block: Block, classes: Codes, weights: Array | None) -> None:
        if sparse.issparse(block):
            self.add(self._of_sparse(block, classes, weights), 1)
            return
        raw = np.asarray(block)
        values = self.family.transformed(raw)
        observed = ~np.isnan(values)
        gaps = None if observed.all() else observed
        if gaps is not None:
            self.expand_presence()
        blocks = [
            (
                k,
                values[rows],
                None if gaps is None else gaps[rows],
                None if weights is None else weights[rows],
            )
            for k, rows in kernels.class_blocks(classes, self.weight.shape[0])
        ]
        self._place_origins(blocks)
        if self.family.unit != "none":
            self._grow_unit(blocks)
        for k, part, seen, w in blocks:
            if seen is None:
                self.support[k] += len(part)
                self.weight[k] += len(part) if w is None else w.sum()
            else:
                self.support[k] += seen.sum(axis=0)
                self.weight[k] += seen.sum(axis=0) if w is None else w @ seen
            self.total[:, k] += kernels.column_sums(
                self.family.functions, part, w, self.origin[k], self.exponent, seen
            )
        if self.family.base_measure_degree is not None:
            base = self.family.log_base_measure(np.asarray(raw, dtype=np.float64))
            base = base if gaps is None else np.where(gaps, base, 0.0)
            for k, rows in kernels.class_blocks(classes, self.weight.shape[0]):
                self.base[k] += base[rows].sum(axis=0) if weights is None else weights[rows] @ base[rows]

    def _of_sparse(self, block: Any, classes: Codes, weights: Array | None) -> Self:
        """Sums of sparse rows, about the origin 0."""
        n_classes = self.weight.shape[0]
        fresh = self.empty(self.family, self.n_columns).take_classes(np.full(n_classes, -1))
        if self.family.unit != "none":
            fresh.raise_unit(exponent_of(largest_entries(block)))
        counts = np.bincount(classes, minlength=n_classes)
        fresh.support += counts[:, np.newaxis]
        fresh.weight += (counts if weights is None else np.bincount(classes, weights, minlength=n_classes))[
            :, np.newaxis
        ]
        powers = tuple(DEGREE[name] for name in self.family.functions)
        members = membership(classes, weights, n_classes)
        fresh.total, gaps = class_sums(block, powers, np.ldexp(1.0, -fresh.exponent), members)
        if gaps is not None:
            fresh.expand_presence()
            rows, _ = class_sums(
                np.isnan(block), (1,), np.ones(self.n_columns), membership(classes, None, n_classes)
            )
            fresh.weight -= gaps
            fresh.support -= rows[0].astype(np.int64)
        if self.family.base_measure_degree is not None:
            data = np.nan_to_num(block.data.astype(np.float64))
            fresh.base = dense(members @ with_data(block, self.family.log_base_measure(data)))
        return fresh

    def expand_presence(self) -> None:
        """Keep weight and support per column from now on."""
        if self.weight.shape[1] != self.n_columns:
            self.weight = np.repeat(self.weight, self.n_columns, axis=1)
            self.support = np.repeat(self.support, self.n_columns, axis=1)

    def _place_origins(self, blocks: list[Any]) -> None:
        """Give each class and column without rows the first value observed there."""
        has_origin = self.has_origin()
        for k, part, seen, _ in blocks:
            if self.family.centred:
                fresh = ~has_origin[k]
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
            away = np.abs(part - self.origin[k]) if self.family.unit == "spread" else np.abs(part)
            np.fmax(size, np.fmax.reduce(away, axis=0), out=size)
        if not np.isfinite(size).all():
            raise ValueError(f"values of a {self.family.name} column differ by more than the largest float.")
        self.raise_unit(exponent_of(size))

    def raise_unit(self, exponent: Exponents) -> None:
        """Measure in units of at least 2^exponent: exact."""
        raised = np.maximum(self.exponent, exponent)
        if (raised != self.exponent).any():
            self.total = rescale(self.family.functions, self.total, raised - self.exponent)
            self.exponent = raised

    def add(self, other: Self, sign: int) -> None:
        if self.weight.shape[1] != other.weight.shape[1]:
            self.expand_presence()
        self.origin = np.where(self.has_origin(), self.origin, other.origin)
        other = other.rebased(self.origin)
        self.raise_unit(other.exponent)
        self.total += sign * rescale(self.family.functions, other.total, self.exponent - other.exponent)
        self.weight += sign * other.weight
        self.support += sign * other.support
        self.base += sign * other.base

    def has_origin(self) -> NDArray[np.bool_]:
        """Where something was summed, signed sums that cancel in number of rows included."""
        return np.asarray((self.support != 0) | (self.weight != 0) | (self.total != 0).any(axis=0))

    def vanishes(self) -> NDArray[np.bool_]:
        return np.asarray(~self.has_origin().any(axis=1) & ~self.base.any(axis=1))

    def rebased(self, origin: Array) -> Self:
        """The same sums about other origins, (classes, columns): exact algebra."""
        if not self.family.centred or np.array_equal(origin, self.origin):
            return self
        held = self.has_origin()
        target = np.where(held, origin, self.origin)
        moved = self.copy()
        if self.family.unit == "spread":
            moved.raise_unit(exponent_of(np.abs(target - self.origin).max(axis=0, initial=0.0)))
        safe = np.where(held, moved.origin, self.family.default_origin)
        safe_target = np.where(held, target, self.family.default_origin)
        weight = np.broadcast_to(moved.weight, safe.shape)
        functions = self.family.functions
        moved.total = rebase(functions, moved.total, weight, safe, safe_target, moved.exponent)
        moved.origin = origin.copy()
        return moved

    def copy(self) -> Self:
        """An independent copy."""
        return type(self)(
            self.family,
            self.total.copy(),
            self.weight.copy(),
            self.support.copy(),
            self.origin.copy(),
            self.exponent.copy(),
            self.base.copy(),
        )

    def scale(self, factor: float) -> None:
        self.total *= factor
        self.weight *= factor
        self.base *= factor

    def take_classes(self, index: Codes) -> Self:
        return type(self)(
            self.family,
            gather(self.total, index, 1),
            gather(self.weight, index, 0),
            gather(self.support, index, 0),
            gather(self.origin, index, 0),
            self.exponent.copy(),
            gather(self.base, index, 0),
        )

    def take_columns(self, index: Codes) -> Self:
        wide = self.copy()
        wide.expand_presence()
        exponent = gather(self.exponent, index, 0)
        start = 0 if self.family.unit == "none" else NO_SPREAD
        exponent[index < 0] = start
        base = wide.base if self.family.base_measure_degree is None else gather(wide.base, index, 1)
        return type(self)(
            self.family,
            gather(wide.total, index, 2),
            gather(wide.weight, index, 1),
            gather(wide.support, index, 1),
            gather(wide.origin, index, 1),
            exponent,
            base,
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
        names = ("total", "weight", "support", "origin", "exponent", "base")
        return {name: getattr(self, name) for name in names}

    def problem(self, labels: list[str], size: float) -> str | None:
        bad = impossible(self.weight, self.support, size)
        if bad.any():
            _, column = first_offence(bad)
            return f"{labels[column]} has fewer rows than none in some class"
        return None

    def solve(self, labels: list[str]) -> SolvedColumns:
        return solve_columns(self, labels)
