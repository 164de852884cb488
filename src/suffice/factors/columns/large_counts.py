"""Scores of large counts, as the distance from the best that any member of the family could score.

Around x = 2·10⁷ the score x·log μ − μ of a Poisson is 3·10⁸, so float64 knows it only to 6·10⁻⁸. The deviance
ψ(x, μ) = x·log(x/μ) − x + μ differs from it by a term that is equal for all classes, and is small where a
class is plausible. Families name theirs as sums of ψ(a, c), with a − c to all digits; NumPy and the exports
compute ψ in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.export.expressions import (
    Expression,
    Where,
    absolute,
    as_expression,
    log,
    polynomial,
    square,
    total,
)
from suffice.factors.columns.parameters import ColumnParameters
from suffice.families import Family

LARGE = 1e4
"""Nats from which on a score is computed as a deviance; below, it has at least eleven decimals."""
NEAR = 0.1
SERIES = tuple(1.0 / (2 * i + 1) for i in range(9, 0, -1))
"""ψ = (a − c)·v + 2a·v³·(1/3 + v²/5 + v⁴/7 + …) with v = (a − c)/(a + c) (Loader 2000), if |v| < 0.1."""


def columns_of_large_counts(solved: ColumnParameters) -> NDArray[np.bool_]:
    """The columns for which the deviance has more digits than λx − A."""
    family = solved.family
    found = solved.active & ~solved.point.any(axis=0)
    if family.deviance_terms is None or not found.any():
        return np.zeros_like(found)
    natural, origin = solved.natural[:, :, found], solved.origin[:, found]
    mean = family.mean_from_natural(natural, origin)[0]
    size = np.maximum(np.abs(natural[0] * mean), np.abs(family.log_normalizer(natural, origin)))
    found[found] = (size > LARGE).any(axis=0)
    return found


def deviances(family: Family, x: Array, mean: Array) -> Array:
    """The deviance of counts x from means."""
    return np.asarray(sum(_psi(*term) for term in _terms(family, x, mean)))


def deviance_expression(family: Family, x: Expression, mean: Array) -> Expression:
    """The deviance of a cell x from the mean of each class."""
    terms = [map(as_expression, term) for term in _terms(family, x, mean)]
    return total([_psi_expression(*term) for term in terms])


def _terms(family: Family, x: Any, mean: Array) -> tuple[tuple[Any, Any, Any], ...]:
    return () if family.deviance_terms is None else family.deviance_terms(x, mean)


def psi(a: Array, c: Array) -> Array:
    """a·log(a/c) − a + c without cancellation, for c > 0."""
    return _psi(a, c, a - c)


def _psi(a: Array, c: Array, away: Array) -> Array:
    v = away / (a + c)
    near = away * v + 2.0 * a * v * np.square(v) * np.polyval(SERIES, np.square(v))
    far = a * np.log(np.where(a > 0, a, 1.0) / c) - away
    return np.where(np.abs(v) < NEAR, near, far)


def _psi_expression(a: Expression, c: Expression, away: Expression) -> Expression:
    v = away / (a + c)
    near = total([away * v, 2.0 * a * v * square(v) * polynomial(square(v), SERIES)])
    far = a * log(Where(a > 0.0, a, as_expression(1.0)) / c) - away
    return Where(absolute(v) < NEAR, near, far)
