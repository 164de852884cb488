"""The totals of a joint Gaussian block: sums of x and xxᵀ about an origin, by class and pattern of gaps.

A pattern is the set of columns observed in a row. Sums are kept for each pattern that occurs, so they
stay additive with gaps; without gaps there is one pattern. With `missing="pairwise"` one set of sums
per class holds every pair of columns over the rows in which both are observed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import ModuleType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes, Counts, Exponents
from suffice.factors.base import Block, Totals
from suffice.factors.checks import first_offence, impossible, refuse_infinities, within
from suffice.factors.gaussian.rows import RowSums, are_few
from suffice.factors.gaussian.saved import fields_of_sums, sums_from_fields
from suffice.factors.gaussian.sums import ROWS_AT_ONCE, GroupedSums, Key, Sums, pairwise_sums, sums_of_rows
from suffice.factors.origins import MOST_CLASSES, SQUARABLE, place_origins, size_of_squares
from suffice.families import Family, MultivariateNormal
from suffice.families.elementary import SMALLEST_UNIT, exponent_of
from suffice.kernels import cells as kernels
from suffice.kernels import threads
from suffice.kernels.choose import gaussian_for, has_squares, is_complete
from suffice.storage import Fields

LARGEST = 2.0**1000
"""The largest number that can be squared, in a larger unit."""
PATTERN_BYTES = 1 << 30
"""The most memory that the sums of one block may take."""
MOST_PARTS, PART_BYTES = 32, 1 << 27
"""The most parts that rows are split into, and the most memory for the sums of all parts."""


class GaussianTotals(Totals):
    """`Sums` for each class and pattern that occurs, about one origin per class and column."""

    reads: ClassVar[Literal["numbers", "levels", "documents"]] = "numbers"

    def __init__(
        self, family: MultivariateNormal, cells: dict[Key, Sums], origin: Array, exponent: Exponents
    ) -> None:
        self.family: MultivariateNormal = family
        self.cells = cells
        self.origin = origin
        self.exponent = exponent

    @classmethod
    def empty(cls, family: Family, n_columns: int) -> Self:
        if not isinstance(family, MultivariateNormal):
            raise TypeError(f"{family.name} is not a MultivariateNormal, so it has no joint sums.")
        return cls(
            family, {}, np.full((0, n_columns), np.nan), np.full(n_columns, SMALLEST_UNIT, dtype=np.int32)
        )

    @property
    def n_columns(self) -> int:
        return len(self.exponent)

    @property
    def nbytes(self) -> int:
        """The memory that the sums take."""
        return sum(cell.nbytes for cell in self.cells.values())

    @property
    def is_closed(self) -> bool:
        """Whether means and scatters have a closed form: no row has a gap, or pairs of columns are summed."""
        return self.family.missing == "pairwise" or not any(0 in pattern for _, pattern in self.cells)

    def dense(self) -> Self:
        """The same with matrices for all sums, as in a file."""
        cells = {key: cell.dense for key, cell in self.cells.items()}
        return type(self)(self.family, cells, self.origin, self.exponent)

    def refuse(self, block: Block, labels: list[str], classes: Codes) -> None:
        if sparse.issparse(block):
            raise ValueError(
                f"{labels[0]} is sparse, but a joint Gaussian needs every pair of columns; "
                "pass a dense array, or Normal() for independent columns."
            )
        refuse_infinities(block, labels)
        large = None if has_squares(block) else np.abs(block).astype(np.float64) > LARGEST
        if large is not None and large.any():
            row, column = first_offence(large)
            raise ValueError(
                f"{labels[column]}: the value {block[row, column]} (row {row}) is too large to be squared; "
                "rescale or remove it."
            )
        if is_complete(block):
            return
        gaps = np.isnan(block).any(axis=0)
        if self.family.shrinkage == "ledoit_wolf" and gaps.any():
            raise ValueError(
                f"{labels[int(np.argmax(gaps))]} has missing values, but shrinkage='ledoit_wolf' "
                "needs complete rows; use shrinkage='oas' or a number, or impute the missing values."
            )
        if self.family.missing == "em":
            self._refuse_too_many_patterns(block, classes)

    def _refuse_too_many_patterns(self, block: Array, classes: Codes) -> None:
        observed = ~np.isnan(block)
        if observed.all():
            return
        keyed = np.column_stack([classes.astype(np.int64).view(np.uint8).reshape(len(classes), 8), observed])
        _, first = np.unique(keyed, axis=0, return_index=True)
        fresh = [i for i in first.tolist() if (int(classes[i]), observed[i].tobytes()) not in self.cells]
        each = 4 if self.family.shrinkage == "ledoit_wolf" else 1
        columns = observed[fresh].sum(axis=1).astype(np.float64)
        size = self.nbytes + 8.0 * float(np.sum(each * columns**2 + columns + 2.0))
        if size > PATTERN_BYTES:
            raise ValueError(
                f"the sums of {len(self.cells) + len(fresh)} patterns of missing values would take "
                f"{size / 1e9:.1f} GB; use missing='pairwise', which keeps one sum per pair of columns."
            )

    def prepare(
        self, block: Block, labels: list[str], classes: Codes, weights: Array | None, n_classes: int
    ) -> Callable[[Any], None]:
        plain = self.family.missing != "pairwise" and self.family.shrinkage != "ledoit_wolf"
        plain = plain and not are_few(len(classes), self.n_columns)
        if plain and n_classes <= MOST_CLASSES and isinstance(block, np.ndarray):
            batch = self._of_rows(block, classes, weights, n_classes)
            if batch is not None:
                return lambda totals: totals.add(batch, 1)
        return super().prepare(block, labels, classes, weights, n_classes)

    def _of_rows(self, values: Array, classes: Codes, weights: Array | None, n_classes: int) -> Self | None:
        """Sums of rows without gaps about the present origins, in one pass.

        None if a row has a gap or a square overflows.
        """
        kernels = gaussian_for(values.size)
        origin = self._origins_of(kernels, values, classes, n_classes)
        most = max(1, min(MOST_PARTS, PART_BYTES // max(1, 8 * origin.size * self.n_columns)))
        step = max(ROWS_AT_ONCE, -(-len(values) // most))
        parts = [slice(start, min(start + step, len(values))) for start in range(0, len(values), step)]

        def sums_of(rows: slice) -> GroupedSums | None:
            sums = GroupedSums(origin)
            for start in range(rows.start, rows.stop, ROWS_AT_ONCE):
                at = slice(start, min(start + ROWS_AT_ONCE, rows.stop))
                w = None if weights is None else weights[at]
                if not sums.add_rows(kernels, values[at], classes[at], w):
                    return None
            return sums

        with threads.one_thread_per_product() if len(parts) > 1 else nullcontext():
            grouped = [sums for sums in threads.run(sums_of, parts) if sums is not None]
        if len(grouped) < len(parts):
            return None
        first, *others = grouped or [GroupedSums(origin)]
        products = first.products
        with np.errstate(over="ignore", invalid="ignore"):  # the size tells
            for sums in others:
                products += sums.products
        squares = np.diagonal(products, axis1=1, axis2=2)[:, :-1]
        size = size_of_squares(products[:, -1, :-1], squares, weights)
        if size is None or (np.abs(origin) > SQUARABLE).any():
            return None
        return self._of_products(products, classes, origin, size)

    def _origins_of(self, kernels: ModuleType, values: Array, classes: Codes, n_classes: int) -> Array:
        """The present origins, the first values of classes that have none, and 0 for classes without rows."""
        origin = np.zeros((n_classes, self.n_columns))
        wanted = np.ones(origin.shape, dtype=np.bool_)
        held = len(self.origin)
        wanted[:held] = np.isnan(self.origin)
        origin[:held] = np.where(wanted[:held], 0.0, self.origin)
        place_origins(kernels, values, classes, wanted, origin)
        return origin

    def _of_products(self, products: Array, classes: Codes, origin: Array, size: Array) -> Self:
        """The sums in Σ w·zzᵀ with z = (x − c, 1), in units that cover `size`."""
        d = self.n_columns
        exponent = np.maximum(exponent_of(size), SMALLEST_UNIT)
        scale = np.where(size > 0, np.ldexp(1.0, -exponent), 1.0)
        counts = np.bincount(classes, minlength=len(origin))
        everything = np.ones(d, dtype=np.bool_).tobytes()
        cells: dict[Key, Sums] = {}
        for k in np.flatnonzero(counts).tolist():
            scatter, total, weight = products[k, :d, :d], products[k, :d, d], products[k, d, d]
            raw = Sums(np.asarray(weight), np.asarray(counts[k]), total, scatter, np.diag(scatter))
            cells[k, everything] = raw.rescaled(scale)
        origin[counts == 0] = np.nan
        return type(self)(self.family, cells, origin, exponent)

    def update(self, block: Block, classes: Codes, weights: Array | None) -> None:
        values = np.asarray(block)
        complete = is_complete(values)
        observed = np.broadcast_to(np.True_, values.shape) if complete else ~np.isnan(values)
        blocks = list(kernels.class_blocks(classes, len(self.origin)))
        size = np.zeros(self.n_columns)
        for k, rows in blocks:
            self._place_origin(k, values[rows], observed[rows], size)
        self.raise_unit(exponent_of(size))
        for k, rows in blocks:
            part, seen = values[rows], observed[rows]
            w = None if weights is None else weights[rows]
            if complete or self.family.missing == "pairwise":
                self._update_class(k, part, None if complete else seen, w)
                continue
            for pattern, members in kernels.row_patterns(seen):
                where = np.flatnonzero(pattern)
                if len(where):
                    self._update_class(k, part[members], None, None if w is None else w[members], where)

    def _place_origin(self, k: int, part: Array, seen: NDArray[np.bool_], size: Array) -> None:
        """Set missing origins of a class to its first values, and raise `size` to the distances from them."""
        fresh = np.isnan(self.origin[k]) & seen.any(axis=0)
        if fresh.any():
            first = part[np.argmax(seen, axis=0), np.arange(self.n_columns)]
            self.origin[k] = np.where(fresh, first, self.origin[k])
        np.fmax(size, np.fmax.reduce(np.abs(part - self.origin[k]), axis=0), out=size)

    def _update_class(
        self, k: int, part: Array, seen: NDArray[np.bool_] | None, w: Array | None, where: Codes | None = None
    ) -> None:
        """Add rows of one class, all of one pattern or (`seen`) by pairs."""
        columns = np.arange(self.n_columns) if where is None else where
        pattern = np.zeros(self.n_columns, dtype=np.bool_)
        pattern[columns] = True
        key = (k, pattern.tobytes())
        scale = np.ldexp(1.0, -self.exponent[columns])
        cell = self.cells.get(key)
        for start in range(0, len(part), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            x = (part[rows][:, columns] - self.origin[k, columns]) * scale
            weight = None if w is None else w[rows]
            if self.family.missing == "pairwise":
                present = np.ones(x.shape, dtype=np.bool_) if seen is None else seen[rows]
                more = pairwise_sums(x, present, weight)
            else:
                sums = RowSums.of if are_few(len(part), len(columns)) else sums_of_rows
                more = sums(x, weight, moments=self.family.shrinkage == "ledoit_wolf")
            cell = more if cell is None else cell.added(more, 1)
        if cell is not None:
            self.cells[key] = cell

    def _no_sums(self, p: int) -> Sums:
        if self.family.missing == "pairwise":
            nothing = np.zeros((p, p))
            return Sums(nothing, np.zeros((p, p), dtype=np.int64), nothing, nothing, np.zeros(p))
        more = {"third": np.zeros((p, p)), "fourth": np.zeros((p, p))}
        return Sums(
            np.zeros(()),
            np.zeros((), dtype=np.int64),
            np.zeros(p),
            np.zeros((p, p)),
            np.zeros(p),
            **(more if self.family.shrinkage == "ledoit_wolf" else {}),
        )

    def columns_of(self, key: Key) -> Codes:
        """The columns observed in a pattern."""
        return np.flatnonzero(np.frombuffer(key[1], dtype=np.bool_))

    def raise_unit(self, exponent: Exponents) -> None:
        """Measure in units of at least 2^exponent: exact."""
        raised = np.maximum(self.exponent, exponent)
        if (raised != self.exponent).any():
            scale = np.ldexp(1.0, self.exponent - raised)
            self.cells = {key: cell.rescaled(scale[self.columns_of(key)]) for key, cell in self.cells.items()}
            self.exponent = raised

    def rebased(self, origin: Array) -> Self:
        """The same sums about other origins, (classes, columns): exact algebra."""
        shift = np.where(np.isnan(self.origin) | np.isnan(origin), 0.0, self.origin - origin)
        moved = type(self)(self.family, dict(self.cells), origin.copy(), self.exponent)
        if not shift.any():
            return moved
        moved.raise_unit(exponent_of(np.abs(shift).max(axis=0, initial=0.0)))
        in_units = shift * np.ldexp(1.0, -moved.exponent)
        moved.cells = {
            key: cell.moved(in_units[key[0], self.columns_of(key)]) for key, cell in moved.cells.items()
        }
        return moved

    def add(self, other: Self, sign: int) -> None:
        self.origin = np.where(np.isnan(self.origin), other.origin, self.origin)
        theirs = other.rebased(np.where(np.isnan(other.origin), np.nan, self.origin))
        self.raise_unit(theirs.exponent)
        theirs.raise_unit(self.exponent)
        cells = dict(self.cells)
        for key, cell in theirs.cells.items():
            mine = cells.get(key)
            if mine is None and sign == 1:
                cells[key] = cell
            else:
                cells[key] = (mine or self._no_sums(len(self.columns_of(key)))).added(cell, sign)
        self.cells = {key: cell for key, cell in cells.items() if not cell.is_zero()}

    def scale(self, factors: Array) -> None:
        self.cells = {(k, p): cell.scaled(float(factors[k])) for (k, p), cell in self.cells.items()}

    def take_classes(self, index: Codes) -> Self:
        origin = np.full((len(index), self.n_columns), np.nan)
        origin[index >= 0] = self.origin[index[index >= 0]]
        places: dict[int, int] = {int(old): new for new, old in enumerate(index) if old >= 0}
        cells = {(places[k], p): cell for (k, p), cell in self.cells.items() if k in places}
        return type(self)(self.family, cells, origin, self.exponent.copy())

    def take_columns(self, index: Codes) -> Self:
        """A copy with some of the columns; patterns of gaps that they do not tell apart become one."""
        cells: dict[Key, Sums] = {}
        for (k, pattern), cell in self.cells.items():
            seen = np.frombuffer(pattern, dtype=np.bool_)
            if not seen[index].any():
                continue
            part = cell.restricted(np.isin(np.flatnonzero(seen), index))
            if isinstance(part, RowSums) and not are_few(int(part.support), len(part.total)):
                part = part.dense
            key = k, seen[index].tobytes()
            cells[key] = cells[key].added(part, 1) if key in cells else part
        return type(self)(self.family, cells, self.origin[:, index], self.exponent[index])

    def by_pairs(self, index: Codes) -> Self:
        """The sums by pairs of the columns in `index`; −1 is a column without rows."""
        family, held = replace(self.family, missing="pairwise"), index >= 0
        origin = np.where(held, self.origin[:, index], np.nan)
        exponent = np.where(held, self.exponent[index], SMALLEST_UNIT).astype(np.int32)
        cells: dict[Key, Sums] = {}
        everything = np.ones(len(index), dtype=np.bool_).tobytes()
        for key, cell in self.cells.items():
            places = np.full(self.n_columns, -1)
            seen = self.columns_of(key)
            places[seen] = np.arange(len(seen))
            part, to = cell.dense.by_pairs(np.where(held, places[index], -1)), (key[0], everything)
            cells[to] = cells[to].added(part, 1) if to in cells else part
        return type(self)(family, cells, origin, exponent)

    def vanishes(self) -> NDArray[np.bool_]:
        gone = np.ones(len(self.origin), dtype=np.bool_)
        for (k, _), cell in self.cells.items():
            gone[k] &= cell.is_zero()
        return gone

    def matches(self, other: Self, rtol: float) -> bool:
        if self.origin.shape != other.origin.shape:
            return False
        mine = self.take_classes(np.arange(len(self.origin)))
        theirs = other.rebased(np.where(np.isnan(other.origin) | np.isnan(self.origin), np.nan, self.origin))
        mine.raise_unit(theirs.exponent)
        theirs.raise_unit(mine.exponent)
        size = max((float(np.abs(cell.weight).max()) for cell in mine.cells.values()), default=0.0)
        for key in mine.cells.keys() | theirs.cells.keys():
            nothing = self._no_sums(len(self.columns_of(key)))
            a, b = (side.cells.get(key, nothing).arrays() for side in (mine, theirs))
            if not all(within(a[name], b[name], 0.0 if name == "support" else rtol, size) for name in a):
                return False
        return True

    def arrays(self) -> dict[str, NDArray[Any]]:
        named: dict[str, NDArray[Any]] = {"origin": self.origin, "exponent": self.exponent}
        for number, cell in enumerate(self.cells.values()):
            named |= {f"{name}.{number}": array for name, array in cell.arrays().items()}
        return named

    def presence(self) -> Array:
        weight = np.zeros(self.origin.shape)
        for key, sums in self.cells.items():
            weight[key[0], self.columns_of(key)] += np.diag(sums.weight) if sums.weight.ndim else sums.weight
        return weight

    def problem(self, labels: list[str], size: float, rows: Counts) -> str | None:
        for key, cell in self.cells.items():
            if impossible(np.atleast_1d(cell.weight), np.atleast_1d(cell.support), size).any():
                return f"{labels[0]} and its block would have a negative row count in some class"
            pairs = cell.weight.ndim > 0
            weight, total = (np.diag(a) if pairs else a for a in (cell.weight, cell.total))
            held = np.broadcast_to(weight > 0, total.shape)
            mean = np.divide(total, weight, out=np.zeros_like(total), where=held)
            about = cell.squares - total * mean
            negative = about < -1e-9 * cell.peak
            if negative.any():
                column = self.columns_of(key)[int(np.argmax(negative))]
                return f"{labels[column]} would have a negative variance"
        return None

    def state(self) -> dict[str, Any]:
        return fields_of_sums(self.family, self.dense().cells, self.origin, self.exponent)

    @classmethod
    def from_fields(cls, family: Family, n_columns: int, n_classes: int, fields: Fields) -> Self:
        family = cls.empty(family, n_columns).family
        return cls(family, *sums_from_fields(family, n_columns, n_classes, fields))
