"""Boundary: the surface xᵀQx + wᵀx + w₀ = 0 between two classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy import sparse

from suffice.arrays import Array
from suffice.links import logit
from suffice.tables.recognized import has_names
from suffice.tables.shown import as_html
from suffice.tables.table import read_table
from suffice.tables.targets import class_index
from suffice.tables.wording import counted, listed, one_line, printable, quoted


@dataclass(frozen=True)
class Boundary:
    """The surface on which two classes are equally probable, or one has a given posterior against the other.

    It is xᵀQx + wᵀx + w₀ = 0, or wᵀu(x) + w₀ = 0 for a model that is linear in other statistics u(x), such as
    log x or indicators of levels. Q, w and w₀ describe it about the origin. Far from there they are large
    numbers that cancel, so the surface is also kept, and evaluated, about a point among the classes.

    Attributes
    ----------
    label, against : label
        The two classes; the log odds are positive on the side of `label`.
    Q : ndarray of shape (n_features, n_features)
        The quadratic coefficients; zero if the boundary is linear, empty if it is one of u(x).
    w : ndarray of shape (n_features,)
        The linear coefficients.
    w0 : float
        The constant.
    kind : {"linear", "quadratic"}
        Whether the surface is a hyperplane, in x or in u(x).
    centre : ndarray of shape (n_features,)
        A point among the classes.
    slope : ndarray of shape (n_features,)
        The gradient of the log odds at the centre.
    level : float
        The log odds at the centre.
    columns : tuple or None
        The names of the columns, or of the components of u(x); None for models fitted to arrays.
    statistics : callable or None
        u(x) of rows, or their columns as the model reads them; None if they are read as numbers.

    Examples
    --------
    >>> import suffice
    >>> X = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [4.0, 4.0], [5.0, 6.0], [4.0, 6.0]]
    >>> boundary = suffice.GaussianDiscriminant().fit(X, ["a", "a", "a", "b", "b", "b"]).boundary("b", "a")
    >>> boundary([[0.0, 0.0], [5.0, 5.0]]) > 0
    array([False,  True])
    """

    label: Any
    against: Any
    Q: Array
    centre: Array
    """A point among the classes."""
    slope: Array
    """The gradient of the log odds there."""
    level: float
    """The log odds there."""
    columns: tuple[Any, ...] | None = None
    statistics: Callable[[Any], Any] | None = None

    @property
    def w(self) -> Array:
        """The linear coefficients."""
        if self.kind == "linear":
            return self.slope
        return np.asarray(self.slope - 2.0 * (self.Q @ self.centre))

    @property
    def w0(self) -> float:
        """The constant."""
        linear = self.level - self.slope @ self.centre
        return float(linear if self.kind == "linear" else linear + self.centre @ self.Q @ self.centre)

    @property
    def kind(self) -> Literal["linear", "quadratic"]:
        """Whether the surface is a hyperplane, in x or in u(x)."""
        return "quadratic" if self.Q.any() else "linear"

    def __call__(self, X: Any) -> Array:
        """Log odds of `label` against `against` at each row: positive on the side of `label`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; columns of frames are found by name.

        Returns
        -------
        log_odds : ndarray of shape (n_samples,)
            NaN for a row with a missing cell; the model's `decision_function` marginalises it.
        """
        rows = self._rows(X)
        away = rows if sparse.issparse(rows) else rows - self.centre  # those of text are about 0
        log_odds = away @ self.slope + self.level
        if self.kind == "quadratic":
            log_odds = log_odds + np.sum((away @ self.Q) * away, axis=1)
        return np.asarray(log_odds)

    def _rows(self, X: Any) -> Any:
        """X as numbers, with the columns in the order of the boundary's."""
        if self.statistics is not None:
            return self.statistics(X)
        if has_names(X) and self.columns is not None:
            table = read_table(X)
            missing = [name for name in self.columns if name not in table.names]
            if missing:
                raise ValueError(f"the boundary needs {listed(self.columns)}, but X lacks {listed(missing)}.")
            return table.numbers([table.names.index(name) for name in self.columns]).astype(np.float64)
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if rows.shape[1] != len(self.centre):
            raise ValueError(
                f"X has {counted(rows.shape[1], 'column')}, but the boundary has {len(self.centre)}."
            )
        return rows

    def __repr__(self) -> str:
        d, classes = len(self.centre), f"{quoted(self.label, 40)} | {quoted(self.against, 40)}"
        if d > 6:
            return f"Boundary({classes}: {self.kind} in {d} columns)"
        names = [f"x{i}" for i in range(d)] if self.columns is None else list(map(one_line, self.columns))
        terms = []
        for i in range(len(self.Q)):
            for j in range(i, d):
                coefficient = self.Q[i, j] + (self.Q[j, i] if i != j else 0.0)
                if coefficient:
                    terms.append(f"{coefficient:+.4g}·{names[i]}" + ("²" if i == j else f"·{names[j]}"))
        terms += [f"{value:+.4g}·{name}" for value, name in zip(self.w, names, strict=True) if value]
        terms.append(f"{self.w0:+.4g}")
        return printable(f"Boundary({classes}: {self.kind}, {' '.join(terms)} = 0)")

    def _repr_html_(self) -> str:
        return as_html([repr(self)])


def two_classes(known: list[Any], label: Any, against: Any) -> tuple[int, int]:
    """The positions of two different classes."""
    i, j = class_index(label, known), class_index(against, known)
    if i == j:
        raise ValueError(f"a boundary lies between two different classes, got {quoted(label)} twice.")
    return i, j


def checked_threshold(threshold: float) -> float:
    """A posterior strictly between 0 and 1."""
    if not (isinstance(threshold, Real) and 0.0 < threshold < 1.0):
        raise ValueError(f"threshold must be a number strictly between 0 and 1, got {threshold!r}.")
    return float(threshold)


def log_odds_at(threshold: float) -> float:
    """The log odds of a posterior."""
    odds: Array = logit(np.array(checked_threshold(threshold)))
    return float(odds)
