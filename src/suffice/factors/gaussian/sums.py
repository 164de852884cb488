"""The sums of a joint Gaussian block: Σw, Σx, Σxxᵀ and higher moments of a class, and how rows are added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Counts, read_only
from suffice.kernels.choose import contiguous

ROWS_AT_ONCE = 4096

Key = tuple[int, bytes]
"""A class and the columns observed, one byte each."""


@dataclass(frozen=True)
class Sums:
    """Sums over the rows of one class and one pattern, in the pattern's p columns.

    `weight` is () for a pattern, and (p, p) by pairs of columns; likewise `total` is (p,) or (p, p):
    total[i, j] is Σ w·x_i over rows in which both i and j are observed. The third and fourth moments
    Σ w·x_i²·x_j and Σ w·x_i²·x_j² are kept for Ledoit and Wolf's shrinkage only. The arrays are never
    written to: copies of statistics share them.
    """

    weight: Array
    support: Counts
    total: Array
    scatter: Array
    peak: Array
    """The largest Σ w·x² that each column ever reached: its rounding error stays when rows are subtracted."""
    third: Array | None = None
    fourth: Array | None = None

    def __post_init__(self) -> None:
        for array in (self.peak, *self.arrays().values()):
            array.setflags(write=False)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All sums, by name."""
        return {name: value for name, value in vars(self).items() if value is not None and name != "peak"}

    @property
    def squares(self) -> Array:
        """Σ w·x² of each column."""
        return np.diag(self.scatter)

    @property
    def dense(self) -> Sums:
        """The same sums as matrices, which these are."""
        return self

    @property
    def nbytes(self) -> int:
        """The memory that the sums take."""
        return sum(array.nbytes for array in self.arrays().values())

    def added(self, other: Sums, sign: int) -> Sums:
        """The sum, or difference."""
        theirs = other.arrays()
        sums = {name: value + sign * theirs[name] for name, value in self.arrays().items()}
        peak = np.maximum(np.maximum(self.peak, other.peak), np.abs(np.diag(sums["scatter"])))
        return Sums(peak=peak, **sums)

    def is_zero(self) -> bool:
        """Whether all sums are zero."""
        return not any(np.any(value) for value in self.arrays().values())

    def moved(self, shift: Array) -> Sums:
        """Sums of x + shift instead of x: exact algebra."""
        if self.weight.ndim:
            a, b = shift[:, np.newaxis], shift[np.newaxis]
            total = self.total + self.weight * a
            scatter = self.scatter + a * self.total.T + b * self.total + self.weight * a * b
            return Sums(
                self.weight, self.support, total, scatter, self._peak_of_move(shift, np.diag(scatter))
            )
        # Σ(x + a)(x + a)ᵀ = Σxxᵀ + u aᵀ + a uᵀ with u = Σx + ½·weight·a: one product and one addition.
        half = self.total + 0.5 * self.weight * shift
        scatter = np.stack([half, shift], axis=1) @ np.stack([shift, half])
        scatter += self.scatter
        third = fourth = None
        if self.third is not None and self.fourth is not None:
            # (x_i + a_i)²(x_j + a_j) and (x_i + a_i)²(x_j + a_j)², expanded.
            a, b = shift[:, np.newaxis], shift[np.newaxis]
            square = np.diag(self.scatter)[:, np.newaxis]
            xi, xj = self.total[:, np.newaxis], self.total[np.newaxis]
            third = (
                self.third
                + b * square
                + 2 * a * self.scatter
                + 2 * a * b * xi
                + a**2 * (xj + b * self.weight)
            )
            fourth = (
                self.fourth
                + 2 * b * self.third
                + b**2 * square
                + 2 * a * self.third.T
                + 4 * a * b * self.scatter
                + 2 * a * b**2 * xi
                + a**2 * (square.T + 2 * b * xj + b**2 * self.weight)
            )
        return Sums(
            self.weight,
            self.support,
            self.total + self.weight * shift,
            scatter,
            self._peak_of_move(shift, np.diag(scatter)),
            third,
            fourth,
        )

    def _peak_of_move(self, shift: Array, squares: Array) -> Array:
        """The largest number that occurs between Σx² and Σ(x + a)²."""
        pairs = self.weight.ndim > 0
        weight, total = (np.diag(a) if pairs else a for a in (self.weight, self.total))
        square = np.abs(weight * shift**2)
        return np.asarray(
            np.maximum.reduce([self.peak, square, np.abs(2.0 * shift * total), np.abs(squares)])
        )

    def standardised(self, shift: Array, factor: Array) -> Sums:
        """Sums of (x + shift)·factor, without third and fourth moments."""
        moved = replace(self, third=None, fourth=None).moved(shift)
        return moved.rescaled(factor)

    def fourth_power(self, shift: Array, factor: Array) -> float:
        """Σ w·|z|⁴ with z = (x + shift)·factor, from the third and fourth moments."""
        if self.third is None or self.fourth is None:
            raise ValueError("these sums have no fourth moments.")
        a = factor**2
        ab = a * shift
        abb = float(ab @ shift)
        return float(
            a @ self.fourth @ a
            + 4.0 * (a @ self.third @ ab)
            + 4.0 * (ab @ self.scatter @ ab)
            + 2.0 * abb * (a @ np.diag(self.scatter))
            + 4.0 * abb * (ab @ self.total)
            + abb * abb * self.weight
        )

    def restricted(self, inside: NDArray[np.bool_]) -> Sums:
        """Only some of the columns."""
        if inside.all():
            return self
        kept = self.arrays()
        for name, value in kept.items():
            if value.ndim == 2:
                kept[name] = value[np.ix_(inside, inside)]
            elif value.ndim == 1:
                kept[name] = value[inside]
        return Sums(peak=self.peak[inside], **kept)

    def as_pattern(self) -> Sums:
        """Pairwise sums over complete rows as the sums of one pattern."""
        return Sums(self.weight[0, 0], self.support[0, 0], self.total[:, 0], self.scatter, self.peak)

    def by_pairs(self, index: Codes) -> Sums:
        """Sums by pairs of the columns in `index`; −1 is a column without rows."""
        held = np.flatnonzero(index >= 0)
        inside, own = np.ix_(held, held), index[held]
        found = {}
        for name, array in self.arrays().items():
            found[name] = np.zeros((len(index), len(index)), dtype=array.dtype)
            part = array[np.ix_(own, own)] if array.ndim == 2 else array
            found[name][inside] = part[own][:, np.newaxis] if array.ndim == 1 else part
        peak = np.zeros(len(index))
        peak[held] = self.peak[own]
        return Sums(peak=peak, **found)

    def scaled(self, factor: float) -> Sums:
        """All sums times a number; row support stays."""
        scaled: dict[str, Any] = {name: array * factor for name, array in self.arrays().items()}
        return Sums(peak=self.peak * abs(factor), **(scaled | {"support": self.support}))

    def rescaled(self, scale: Array) -> Sums:
        """Sums of x·scale; by powers of two, exact."""
        a, b = scale[:, np.newaxis], scale[np.newaxis]
        scatter = self.scatter * a
        scatter *= b
        total = self.total * (a if self.weight.ndim else scale)
        third = fourth = None
        if self.third is not None and self.fourth is not None:
            third = self.third * a**2
            third *= b
            fourth = self.fourth * a**2
            fourth *= b**2
        return Sums(self.weight, self.support, total, scatter, self.peak * scale**2, third, fourth)


def sums_of_rows(x: Array, w: Array | None, *, moments: bool) -> Sums:
    """Sums over complete rows."""
    weighted = x if w is None else x * w[:, np.newaxis]
    scatter = weighted.T @ x
    third = fourth = None
    if moments:
        square = x**2
        weighted_square = square if w is None else square * w[:, np.newaxis]
        third, fourth = weighted_square.T @ x, weighted_square.T @ square
    return Sums(
        np.asarray(float(len(x)) if w is None else w.sum()),
        np.asarray(len(x), dtype=np.int64),
        weighted.sum(axis=0),
        scatter,
        np.diag(scatter).copy(),
        third,
        fourth,
    )


def pairwise_sums(x: Array, seen: NDArray[np.bool_], w: Array | None) -> Sums:
    """Sums by pairs of columns over the rows in which both are observed."""
    present = seen.astype(np.float64)
    x = np.where(seen, x, 0.0)
    weighted = x if w is None else x * w[:, np.newaxis]
    support = present.T @ present
    weight = support if w is None else (present * w[:, np.newaxis]).T @ present
    scatter = weighted.T @ x
    return Sums(weight, support.astype(np.int64), weighted.T @ present, scatter, np.diag(scatter).copy())


class GroupedSums:
    """Σ w·zzᵀ of every class with z = (x − c, 1), from rows sorted by class."""

    def __init__(self, origin: Array) -> None:
        n_classes, d = origin.shape
        self.origin = origin
        self.products = np.zeros((n_classes, d + 1, d + 1))
        self._rows = np.ones((ROWS_AT_ONCE, d + 1))
        self._order = np.empty(ROWS_AT_ONCE, dtype=np.intp)
        self._starts = np.empty(n_classes + 1, dtype=np.intp)

    def add_rows(self, kernels: ModuleType, values: Array, classes: Codes, weights: Array | None) -> bool:
        """Add a few rows; False where a cell is missing or infinite."""
        n = len(values)
        rows, order = self._rows[:n], self._order[:n]
        cells = contiguous(values), read_only(classes)
        kernels.grouped(*cells, self.origin, self._starts, rows, order)
        weighted = rows if weights is None else rows * weights[order, np.newaxis]
        starts = self._starts.tolist()
        for k, (start, stop) in enumerate(pairwise(starts)):
            if start < stop:
                with np.errstate(over="ignore", invalid="ignore"):  # the sums tell
                    self.products[k] += weighted[start:stop].T @ rows[start:stop]
        return bool(np.isfinite(self.products[:, -1]).all())
