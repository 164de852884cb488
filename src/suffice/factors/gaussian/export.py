"""The scores of a joint Gaussian block as expressions, one formula for each pattern of gaps."""

from __future__ import annotations

import numpy as np

from suffice.arrays import Codes
from suffice.export.expressions import (
    Cell,
    Expression,
    Gaps,
    Linear,
    Missing,
    Score,
    SquaredNorm,
    Where,
    as_expression,
    square,
    total,
)
from suffice.factors.gaussian.parameters import Gaussians

MOST_COLUMNS_WITH_GAPS = 6
"""Patterns of gaps double with every column: at most 2⁶ = 64 formulas are written out."""


def gaussian_scores(gaussians: Gaussians, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
    """The scores of a block: by column where columns are independent, else by pattern of gaps."""
    active = gaussians.active
    if gaps == "null":
        return Score(_log_density(gaussians, columns, active))
    off_diagonal = gaussians.standard * (1.0 - np.eye(len(active)))
    if not off_diagonal.any():
        return Score(total([_alone(gaussians, columns, int(j)) for j in active]))
    if len(active) > MOST_COLUMNS_WITH_GAPS:
        named = ", ".join(labels[j] for j in active[:3])
        raise ValueError(
            f"{named}, …: a joint Gaussian of {len(active)} columns needs a separate formula for each of the "
            f"2^{len(active)} patterns of missing cells, and at most {MOST_COLUMNS_WITH_GAPS} columns are "
            "supported; pass missing='null' to score complete rows only, or use covariance='diagonal'."
        )
    return Score(_by_pattern(gaussians, columns, [], active.tolist()))


def _by_pattern(
    gaussians: Gaussians, columns: list[int], seen: list[int], undecided: list[int]
) -> Expression:
    """The formula for the observed columns, decided one column after the other."""
    if not undecided:
        return _log_density(gaussians, columns, np.array(seen, dtype=np.intp))
    j, rest = undecided[0], undecided[1:]
    return Where(
        Missing(columns[j]),
        _by_pattern(gaussians, columns, seen, rest),
        _by_pattern(gaussians, columns, [*seen, j], rest),
    )


def _alone(gaussians: Gaussians, columns: list[int], j: int) -> Expression:
    density = _log_density(gaussians, columns, np.array([j]))
    return Where(Missing(columns[j]), as_expression(0.0), density)


def _log_density(gaussians: Gaussians, columns: list[int], seen: Codes) -> Expression:
    """Log p of the columns seen; without terms equal for all classes where they share Σ."""
    if not len(seen):
        return as_expression(0.0)
    whitenings = gaussians.marginals(seen)
    if len(whitenings) == 1 and len(gaussians.group) > 1:
        means = gaussians.about_middle(seen, np.arange(len(gaussians.group)), whitenings[0])
        if means.close:
            slopes, constant = means.linear(whitenings[0])
            terms = tuple(Cell(columns[j]) - c for j, c in zip(seen, means.base, strict=True))
            return Linear(terms, slopes.T) + constant
    standard = [
        (Cell(columns[j]) - gaussians.centre[:, j]) * (1.0 / gaussians.scale[j]) - gaussians.shift[:, j]
        for j in seen
    ]
    inverses = np.stack([whitenings[g].inverse for g in gaussians.group])
    constants = np.array([whitenings[g].constant for g in gaussians.group])
    if len(seen) == 1:
        return square(standard[0]) * (-0.5 * inverses[:, 0, 0] ** 2) + constants
    return SquaredNorm(tuple(standard), inverses) * -0.5 + constants
