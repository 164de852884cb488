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
    w: Array
    w0: float

    @property
    def kind(self) -> Literal["linear", "quadratic"]:
        """Whether the surface is a hyperplane."""
        return "quadratic" if self.Q.any() else "linear"

    def __call__(self, X: ArrayLike) -> Array:
        """Log odds of `label` against `against` at each row: positive on the side of `label`."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        return np.asarray(np.einsum("ij,jk,ik->i", rows, self.Q, rows) + rows @ self.w + self.w0)

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
