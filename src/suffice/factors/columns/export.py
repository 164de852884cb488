"""The scores of number columns as expressions: λᵀu(x) about each class's origin, column by column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.export.expressions import (
    TRUTHS,
    Apply,
    Cell,
    Clip,
    Expression,
    Linear,
    Missing,
    Score,
    Where,
    absolute,
    as_expression,
    mask,
    square,
    statistics,
    total,
    total_score,
)
from suffice.factors.checks import refuse_errors
from suffice.factors.columns.functions import MOST
from suffice.factors.columns.large_counts import columns_of_large_counts, deviance_expression
from suffice.factors.columns.parameters import ColumnParameters
from suffice.factors.scores import CERTAIN, IMPOSSIBLE, unseen_log_shares
from suffice.families import Family
from suffice.families.elementary import elementary

LogDensity = Callable[[int, Expression], Expression]
"""Log p without log h of the first statistic of column j, for each class that is not a single value."""
CANCELLING = ("log", "log1m", "reciprocal")
"""Functions with terms that nearly cancel if the values of a class are close together."""
STEEPEST = 2.0**44
"""The largest λ of these: at one deviation each term is √λ = 2²² nats, which float64 knows to 5e-10."""


def column_scores(
    solved: ColumnParameters,
    columns: list[int],
    labels: list[str],
    quadratic: list[Array] | None,
    log_p: LogDensity | None = None,
) -> Score:
    """The scores of all columns that vary; a cell beyond the range of floats is cut off.

    `quadratic` has the parameters of squares, if the scores are sums of squares; `log_p` is log p of a cell
    without log h, if that is not λᵀu(x) − A.
    """
    active = np.flatnonzero(solved.active).tolist()
    if quadratic is not None:
        limit, *squares = quadratic
        each = zip(active, limit.tolist(), *(parameter.T for parameter in squares), strict=True)
        return Score(total([_square(Cell(columns[j]), *parameters) for j, *parameters in each]))
    large = columns_of_large_counts(solved).tolist() if log_p is None else [False] * len(columns)
    return total_score(
        [
            _column(solved, j, Cell(columns[j]), labels[j], float(most), float(least), log_p, large=large[j])
            for j, most, least in zip(active, solved.largest(), solved.smallest(), strict=True)
        ]
    )


def _square(
    cell: Cell, limit: float, origin: Array, scale: Array, rest: Array, constant: Array
) -> Expression:
    """The score of a cell as one square, constant − (scale·(x − origin) − rest)²."""
    z = (Clip(cell, -limit, limit) - origin) * scale
    finite = as_expression(constant) - square(z - rest if rest.any() else z)
    return Where(~Missing(cell.column), finite, as_expression(0.0))


def _column(
    solved: ColumnParameters,
    j: int,
    cell: Cell,
    label: str,
    largest: float,
    smallest: float,
    log_p: LogDensity | None,
    *,
    large: bool,
) -> Score:
    family = solved.family
    inside = support_of(family, cell, label)
    # Missing where it is outside, so that no logarithm of a negative number is taken.
    x: Expression = cell if family.takes_every_number else Where(inside, cell, as_expression(np.nan))
    low = smallest if "reciprocal" in family.functions else -largest
    if np.isfinite(largest):
        x = Clip(x, low, largest)
    if large:
        mean = family.mean_from_natural(solved.natural[:, :, j], solved.origin[:, j])[0]
        finite, order = 0.0 - deviance_expression(family, x, mean), None
    else:
        finite, order = _cell(solved, j, x, label, log_p)
    outside: Expression = as_expression(0.0)
    if family.unseen == "smooth" and not family.takes_every_number:
        log_unseen, log_rest = unseen_log_shares(solved.weight[:, j], family.alpha, 1)
        finite = finite + log_rest
        if family.alpha == 0:
            rare = Where(Missing(cell.column), as_expression(0.0), as_expression(IMPOSSIBLE))
            order = Where(inside, as_expression(0.0) if order is None else order, rare)
        else:
            outside = Where(Missing(cell.column), as_expression(0.0), as_expression(log_unseen))
    elif order is not None:
        order = Where(inside, order, as_expression(0.0))
    return Score(Where(inside, finite, outside), order)


def _refuse_too_narrow(solved: ColumnParameters, j: int, label: str) -> None:
    """Refuse a distribution whose score is the difference of two terms with too few decimals for 1e-9."""
    family = solved.family
    steep = [row for row, name in enumerate(family.functions) if name in CANCELLING]
    # Both terms of a Beta matter: near 0 or 1, one λ is large and its function tiny.
    if (
        len(family.functions) > 1
        and steep
        and np.abs(solved.natural[steep, :, j]).min(axis=0).max() > STEEPEST
    ):
        raise ValueError(
            f"{label}: the values are so close together, compared with their size, that the scores of "
            f"{family.name} have fewer than nine decimals; use Normal or LogNormal, which keep their digits."
        )


def _cell(
    solved: ColumnParameters, j: int, x: Expression, label: str, log_p: LogDensity | None
) -> tuple[Expression, Expression | None]:
    """Log p of a cell inside the support without log h, and its order where a class is a single value."""
    _refuse_too_narrow(solved, j, label)
    family, point = solved.family, solved.point[:, j]
    natural = np.where(point, 0.0, solved.natural[:, :, j])
    # A single-valued class does not use its origin; any valid one will do.
    origin = np.where(point, solved.origin[np.argmin(point), j], solved.origin[:, j])
    terms = _statistics(family, x, origin, int(solved.exponent[j]), label)
    if log_p is None:
        finite = Linear(terms, natural) + np.where(point, 0.0, solved.constant[:, j])
    else:
        finite = log_p(j, terms[0]) * mask(~point)
    if not point.any():
        return finite, None
    location, vanishing = solved.location[:, j], np.where(point, solved.vanishing[:, j], 0.0)
    if family.discrete:
        away = absolute(x - location)
        return total([finite, away * vanishing]), away * mask(point)
    doubt = solved.doubt[:, j]
    hit = absolute(x - location) <= doubt if doubt.any() else x == as_expression(location)
    order = Where(hit, as_expression(CERTAIN), as_expression(IMPOSSIBLE)) * mask(point)
    return total([finite, Where(hit, as_expression(0.0), as_expression(vanishing))]), order


def _statistics(
    family: Family, x: Expression, origin: Array, exponent: int, label: str
) -> tuple[Expression, ...]:
    """u(x), with one's own functions cut off as in Python."""
    try:
        terms = statistics(elementary(family.functions), x, origin, exponent)
    except (TypeError, ValueError) as error:
        own = ", ".join(repr(one.name) for one in family.functions if not isinstance(one, str))
        raise TypeError(
            f"{label}: the function {own} of {family.name} cannot be exported; write it with + - * / **, "
            "np.where of comparisons, np.abs, np.exp, np.floor, np.log, np.log1p, np.power, np.sin, np.sqrt "
            "and np.square only."
        ) from error
    return tuple(
        term if isinstance(one, str) else Clip(_as_number(term), -MOST, MOST)
        for one, term in zip(family.functions, terms, strict=True)
    )


def _as_number(value: Expression) -> Expression:
    """The value of one's own function, where true is 1 and false is 0, as in an array of floats."""
    if isinstance(value, Missing) or (isinstance(value, Apply) and value.function in TRUTHS):
        return Where(value, as_expression(1.0), as_expression(0.0))
    if isinstance(value, Where):
        return Where(value.condition, _as_number(value.yes), _as_number(value.no))
    return value


def support_of(family: Family, cell: Cell, label: str) -> Expression:
    """Whether a cell lies in the support, by running the family's own test on the expression."""
    if family.takes_every_number:
        return ~Missing(cell.column)
    refuse_errors(family, label)
    support: Any = family.support
    try:
        inside = support(cell)
    except (TypeError, ValueError):
        inside = None
    if isinstance(inside, np.ndarray) and inside.ndim == 0:
        inside = inside.item()
    if not isinstance(inside, Expression):
        raise TypeError(
            f"{label}: the support of {family.name} cannot be exported; write support(x) with comparisons, "
            "&, |, ~, np.floor and np.isfinite only."
        )
    return inside
