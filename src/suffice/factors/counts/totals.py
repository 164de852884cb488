"""A block of count columns that are one Multinomial: sums of counts per class and column."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.factors.base import Totals, gather
from suffice.factors.checks import OutsideSupportError, impossible, refuse_infinities, within
from suffice.factors.class_sums import RowSums, SparseRows, class_sums, nothing_to_refuse
from suffice.factors.sparse_sums import ClassSparseSums, SparseSums, no_sums, summed
from suffice.families import Family
from suffice.kernels import threads
from suffice.kernels.cells import place_of_entry
from suffice.kernels.choose import are_counts, contiguous, discrete_for, row_parts
from suffice.storage import Fields

NO_WEIGHTS = read_only(np.zeros(0))


class CountTotals(ClassSparseSums, Totals):
    """Σ w·x per class and column, with the rows that hold each column, and the rows of each class.

    A row with a gap anywhere in the block is missing as a whole.
    """

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"
    refuses_infinities: ClassVar[bool] = True
    divisible: ClassVar[bool] = False

    def __init__(
        self, family: Family, n_columns: int, entries: SparseSums, weight: Array, rows: Counts, base: Array
    ) -> None:
        super().__init__(entries)
        self.family = family
        self._n_columns = n_columns
        self.weight = weight
        self.rows = rows
        self.base = base

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        return cls(family, n_columns, no_sums(), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0))

    @property
    def n_columns(self) -> int:
        return self._n_columns

    def table(self) -> Array:
        """Σ w·x in a plain table."""
        return self.entries.table(self.entries.total, len(self.rows), self.n_columns)

    def prepare(
        self, block: Any, labels: list[str], classes: Codes, weights: Array | None, n_classes: int
    ) -> Callable[[Any], None]:
        """Sum a batch, refusing what cannot be summed on the way: cells are read once."""
        sums = self._sums(block, classes, weights, n_classes, lambda: self.refuse(block, labels, classes))
        return lambda totals: totals.add_sums(*sums)

    def refuse(self, block: Any, labels: list[str], classes: Codes) -> None:
        if are_counts(stored_cells(block)):
            return
        refuse_infinities(block, labels)
        negative = first_negative(block)
        if negative is not None:
            row, column, value = negative
            raise OutsideSupportError.of(labels[column], f"{value} (row {row})", self.family)

    def update(self, block: Any, classes: Codes, weights: Array | None) -> None:
        self.add_sums(*self._sums(block, classes, weights, len(self.rows)))

    def _sums(
        self,
        block: Any,
        classes: Codes,
        weights: Array | None,
        n_classes: int,
        check: Callable[[], None] = nothing_to_refuse,
    ) -> tuple[SparseSums, RowSums]:
        """The sums of rows of counts, which `check` refuses if they are not counts."""
        base = np.zeros(n_classes if self.has_base else 0)
        row_sums = RowSums(np.zeros(n_classes), np.zeros(n_classes, np.int64), base)
        if not sparse.issparse(block):
            check()
            return _sums_of_dense_counts(block, classes, weights, row_sums), row_sums
        block = block.tocsr()
        rows = SparseRows(block.indptr, block.indices, block.data, block.shape[1])
        return class_sums(rows, classes, weights, n_classes, row_sums=row_sums, check=check), row_sums

    @property
    def has_base(self) -> bool:
        """Whether log n!/Πx! is summed."""
        return not getattr(self.family, "in_order", False)

    def add_sums(self, entries: SparseSums, row_sums: RowSums) -> None:
        """Add the sums of a batch."""
        self.append(entries)
        self.weight += row_sums.weight
        self.rows += row_sums.rows
        if self.has_base:
            self.base += row_sums.base

    def add(self, other: Self, sign: int) -> None:
        self.append(other.entries.scaled(sign, sign))
        self.weight += sign * other.weight
        self.rows += sign * other.rows
        self.base += sign * other.base

    def scale(self, factors: Array) -> None:
        self.entries = self.entries.scaled(factors[self.entries.classes])
        self.weight *= factors
        self.base *= factors

    def take_classes(self, index: Codes) -> Self:
        by_class = (gather(array, index, 0) for array in (self.weight, self.rows, self.base))
        return type(self)(self.family, self.n_columns, self.entries.of_classes(index), *by_class)

    def take_columns(self, index: Codes) -> Self:
        """A joint block is decided as a whole, so its columns never change."""
        if not np.array_equal(index, np.arange(self.n_columns)):
            raise ValueError(f"the columns of a {self.family.name} block cannot be separated.")
        return self.take_classes(np.arange(len(self.rows)))

    def vanishes(self) -> NDArray[np.bool_]:
        n_held = np.diff(self.entries.starts(len(self.rows)))
        return np.asarray((self.rows == 0) & (self.base == 0) & (n_held == 0))

    def matches(self, other: Self, rtol: float) -> bool:
        if (len(self.rows), self.n_columns) != (len(other.rows), other.n_columns):
            return False
        size = np.abs(self.entries.total).max(initial=0.0)
        apart = summed([self.entries, other.entries.scaled(-1, -1)])
        both = summed([self.entries, other.entries])
        among = both.total[np.searchsorted(both.keys(), apart.keys())]
        return (
            not apart.support.any()
            and bool(np.all(np.abs(apart.total) <= rtol * (np.abs(among) + size)))
            and np.array_equal(self.rows, other.rows)
            and within(self.weight, other.weight, rtol, size)
            and within(self.base, other.base, rtol, size)
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        entries = self.entries
        return {
            "starts": entries.starts(len(self.rows)),
            "columns": entries.columns,
            "total": entries.total,
            "support": entries.support,
            "weight": self.weight,
            "rows": self.rows,
            "base": self.base,
        }

    def presence(self) -> Array:
        return np.broadcast_to(self.weight[:, np.newaxis], (len(self.weight), self.n_columns))

    @staticmethod
    def gaps(block: Any) -> tuple[Codes, Codes]:
        """The rows that are missing as a whole; the columns are there together, so they count as one."""
        rows = np.unique(Totals.gaps(block)[0])
        return rows, np.zeros_like(rows)

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        starts = fields.array("starts", np.int64, (n_classes + 1,))
        columns = fields.array("columns", np.int32, (None,))
        lengths = np.diff(starts)
        if starts[0] != 0 or starts[-1] != len(columns) or (lengths < 0).any():
            raise fields.error("starts", "must rise from 0 to the number of entries.")
        entries = SparseSums(
            np.repeat(np.arange(n_classes, dtype=np.int32), lengths),
            columns,
            fields.array("total", np.float64, columns.shape),
            fields.array("support", np.int64, columns.shape),
        )
        if ((columns < 0) | (columns >= n_columns)).any() or (np.diff(entries.keys()) <= 0).any():
            raise fields.error("columns", "must be sorted and distinct within each class.")
        return cls(
            family,
            n_columns,
            entries,
            weight=fields.array("weight", np.float64, (n_classes,)),
            rows=fields.array("rows", np.int64, (n_classes,)),
            base=fields.array("base", np.float64, (n_classes,)),
        )

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        if self.entries.are_positive():
            return None
        total, support = self.entries.total, self.entries.support
        bad = impossible(total, support, max(size, float(np.abs(total).max(initial=0.0))))
        if bad.any():
            return f"{labels[int(self.entries.columns[bad].min())]} would have a negative count in some class"
        return None


def _sums_of_dense_counts(
    block: NDArray[Any], classes: Codes, weights: Array | None, row_sums: RowSums
) -> SparseSums:
    """`class_sums` of dense rows."""
    n_classes, n_columns = len(row_sums.rows), block.shape[1]
    kernels = discrete_for(block.size)
    by_row = NO_WEIGHTS if weights is None else read_only(weights)
    block, classes = read_only(block), read_only(classes)

    def of_part(rows: slice) -> tuple[Array, Counts, Array]:
        shape = n_classes, n_columns
        part = np.zeros(shape), np.zeros(shape, np.int64), np.zeros((3, n_classes))
        kernels.sum_dense_counts(contiguous(block[rows]), classes[rows], by_row[rows], *part)
        return part

    # A part has a table of its own, which should be smaller than the part.
    parts = threads.run(of_part, row_parts(len(classes), n_columns, fewest=n_classes) or [slice(0)])
    total, support, own = (reduce(add, arrays) for arrays in zip(*parts, strict=True))
    for array, more in zip(row_sums, own, strict=True):
        if len(array):
            np.add(array, more, out=array, casting="unsafe")  # the number of rows is whole
    return SparseSums.of_tables(0, total, support)


def stored_cells(block: Any) -> NDArray[Any]:
    """The cells of a dense block, or those that a sparse one stores."""
    return np.asarray(block.data if sparse.issparse(block) else block)


def first_negative(block: Any) -> tuple[int, int, Any] | None:
    """Row, column and value of the first count below zero, in row order."""
    entries = stored_cells(block)
    if not (entries < 0).any():
        return None
    at = int(np.argmax(entries < 0))
    row, column = place_of_entry(block, at) if sparse.issparse(block) else divmod(at, block.shape[1])
    return row, column, entries.flat[at]
