"""The table of coefficients that statisticians read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.links import probit, probit_inverse
from suffice.tables.container import Container
from suffice.tables.shown import Cells, as_html
from suffice.tables.wording import aligned, one_line


@dataclass(frozen=True)
class Summary:
    """Estimates with standard errors, z-values, p-values and confidence limits; prints as a table.

    Attributes
    ----------
    heading : tuple of (str, str)
        The names and values above the table.
    equation, term : list of str
        Which comparison and which column each line is about.
    estimate, standard_error, z, p, low, high : ndarray of shape (n_lines,)
        The columns of the table.
    level : float
        The confidence level of `low` and `high`.
    notes : tuple of str
        Notes below the table.
    container : Container
        The kind of frame that `to_frame` returns.

    Examples
    --------
    >>> from suffice import LogisticRegression
    >>> X = [[0.5], [1.0], [1.5], [2.0], [2.5], [3.0]]
    >>> summary = LogisticRegression().fit(X, [0, 0, 1, 0, 1, 1]).summary()
    >>> summary.term
    ['x0', '(intercept)']
    """

    heading: tuple[tuple[str, str], ...]
    equation: list[str]
    term: list[str]
    estimate: Array
    standard_error: Array
    level: float
    notes: tuple[str, ...]
    container: Container

    @property
    def z(self) -> Array:
        """The estimates divided by their standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.estimate / self.standard_error

    @property
    def p(self) -> Array:
        """The probability of a z at least this far from 0 if the coefficient were 0."""
        return 2.0 * probit(-np.abs(self.z))

    @property
    def low(self) -> Array:
        """The lower confidence limit."""
        return np.asarray(self.estimate - self._width())

    @property
    def high(self) -> Array:
        """The upper confidence limit."""
        return np.asarray(self.estimate + self._width())

    def to_frame(self) -> Any:
        """One line per coefficient.

        Returns
        -------
        frame : DataFrame
            In the library that the model was fitted with.
        """
        return self.container.frame(
            {
                "equation": self.equation,
                "term": self.term,
                "estimate": self.estimate,
                "standard_error": self.standard_error,
                "z": self.z,
                "p": self.p,
                "low": self.low,
                "high": self.high,
            }
        )

    def _cells(self) -> list[tuple[str, ...]]:
        tail = f"{50.0 * (1.0 - self.level):.3g}%", f"{50.0 * (1.0 + self.level):.3g}%"
        figures = zip(
            self.term, self.estimate, self.standard_error, self.z, self.p, self.low, self.high, strict=True
        )
        return [
            ("", "estimate", "std err", "z", "P>|z|", *tail),
            *(
                (one_line(term), *map(_figure, (b, se, z)), _share(p), *map(_figure, ends))
                for term, b, se, z, p, *ends in figures
            ),
        ]

    def __repr__(self) -> str:
        lines = aligned([(name, one_line(value, 100)) for name, value in self.heading], left=2)
        rows = aligned(self._cells())
        several = len(set(self.equation)) > 1
        lines += ["", rows[0], "─" * len(rows[0])]
        for i, row in enumerate(rows[1:]):
            if several and (i == 0 or self.equation[i] != self.equation[i - 1]):
                lines.append(one_line(self.equation[i], 100))
            lines.append(row)
        return "\n".join([*lines, *([""] if self.notes else []), *self.notes])

    def _repr_html_(self) -> str:
        cells, several = self._cells(), len(set(self.equation)) > 1
        rows = [cells[0]]
        for i, row in enumerate(cells[1:]):
            if several and (i == 0 or self.equation[i] != self.equation[i - 1]):
                rows.append((one_line(self.equation[i], 100), *[""] * (len(row) - 1)))
            rows.append(row)
        heading = Cells([(name, one_line(value, 100)) for name, value in self.heading], left=2, headed=False)
        return as_html([heading, Cells(rows), *self.notes])

    def _width(self) -> Array:
        return float(probit_inverse(0.5 * (1.0 + self.level))) * self.standard_error


def _figure(value: float) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{value:.4f}" if value == 0.0 or 1e-3 <= abs(value) < 1e5 else f"{value:.3e}"


def _share(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "–"
