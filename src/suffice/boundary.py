"""The boundary between two classes as an equation: xᵀQx + wᵀx + w₀ = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from suffice.families.elementary import Array


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

    def __call__(self, X: ArrayLike) -> Array:
        """Log odds of `label` against `against` at each row: positive on the side of `label`."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if rows.shape[1] != len(self.centre):
            raise ValueError(f"rows have {rows.shape[1]} columns; the boundary has {len(self.centre)}.")
        away = rows - self.centre
        return np.asarray(np.sum((away @ self.Q) * away, axis=1) + away @ self.slope + self.level)

    def __repr__(self) -> str:
        terms = []
        d = len(self.w)
        if d > 6:
            return f"Boundary({self.label!r} | {self.against!r}: {self.kind} in {d} columns)"
        for i in range(d):
            for j in range(i, d):
                coefficient = self.Q[i, j] + (self.Q[j, i] if i != j else 0.0)
                if coefficient:
                    terms.append(f"{coefficient:+.4g}·x{i}" + ("²" if i == j else f"·x{j}"))
        terms += [f"{value:+.4g}·x{i}" for i, value in enumerate(self.w) if value]
        terms.append(f"{self.w0:+.4g}")
        return f"Boundary({self.label!r} | {self.against!r}: {self.kind}, {' '.join(terms)} = 0)"
