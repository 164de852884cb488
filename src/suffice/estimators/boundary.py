"""The boundary between two classes as an equation: xᵀQx + wᵀx + w₀ = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.arrays import Array
from suffice.tables.table import is_frame, read_table


@dataclass(frozen=True)
class Boundary:
    """Where two classes are equally probable (or one has a given posterior against the other).

    The same surface is kept about a point amid the classes, and evaluated there: far from the origin,
    Q, w and w₀ are large numbers that cancel.

    Attributes
    ----------
    Q : ndarray of shape (d, d)
        Zero where the boundary is linear.
    w : ndarray of shape (d,)
    w0 : float
    kind : "linear" or "quadratic"
    columns : tuple
        The names of x₀, x₁, …; None for models fitted on arrays.
    """

    label: Any
    against: Any
    Q: Array
    centre: Array
    """A point amid the classes."""
    slope: Array
    """The gradient of the log odds there."""
    level: float
    """The log odds there."""
    columns: tuple[Any, ...] | None = None

    @property
    def w(self) -> Array:
        """The linear coefficients."""
        return np.asarray(self.slope - 2.0 * (self.Q @ self.centre))

    @property
    def w0(self) -> float:
        """The constant."""
        return float(self.level - self.slope @ self.centre + self.centre @ self.Q @ self.centre)

    @property
    def kind(self) -> Literal["linear", "quadratic"]:
        """Whether the surface is a hyperplane."""
        return "quadratic" if self.Q.any() else "linear"

    def __call__(self, X: Any) -> Array:
        """Log odds of `label` against `against` at each row: positive on the side of `label`.

        Frames are read by the columns' names. A row with a gap has no place in the plane, and gives NaN;
        the model's `decision_function` marginalises it.
        """
        away = self._rows(X) - self.centre
        return np.asarray(np.sum((away @ self.Q) * away, axis=1) + away @ self.slope + self.level)

    def _rows(self, X: Any) -> Array:
        """X as numbers, its columns in the order of the boundary's."""
        if is_frame(X) and self.columns is not None:
            table = read_table(X)
            missing = [name for name in self.columns if name not in table.names]
            if missing:
                raise ValueError(f"the boundary is in the columns {list(self.columns)}; X lacks {missing}.")
            return table.numbers([table.names.index(name) for name in self.columns]).astype(np.float64)
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if rows.shape[1] != len(self.centre):
            raise ValueError(f"rows have {rows.shape[1]} columns; the boundary has {len(self.centre)}.")
        return rows

    def __repr__(self) -> str:
        d = len(self.centre)
        if d > 6:
            return f"Boundary({self.label!r} | {self.against!r}: {self.kind} in {d} columns)"
        names = [f"x{i}" for i in range(d)] if self.columns is None else [str(name) for name in self.columns]
        terms = []
        for i in range(d):
            for j in range(i, d):
                coefficient = self.Q[i, j] + (self.Q[j, i] if i != j else 0.0)
                if coefficient:
                    terms.append(f"{coefficient:+.4g}·{names[i]}" + ("²" if i == j else f"·{names[j]}"))
        terms += [f"{value:+.4g}·{name}" for value, name in zip(self.w, names, strict=True) if value]
        terms.append(f"{self.w0:+.4g}")
        return f"Boundary({self.label!r} | {self.against!r}: {self.kind}, {' '.join(terms)} = 0)"
