"""What a joint Gaussian block scores, as expressions: one formula for each pattern of gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from suffice.factors.gaussian.scores import SolvedScatter

MOST_COLUMNS_WITH_GAPS = 6
"""Patterns of gaps double with every column: 2⁶ = 64 formulas are the most that are written out."""


def scatter_scores(solved: SolvedScatter, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
    """The scores of a block: by column where columns are independent, else by pattern of gaps."""
    active = solved.active
    if gaps == "null":
        return Score(_log_density(solved, columns, active))
    off_diagonal = solved.standard * (1.0 - np.eye(len(active)))
    if not off_diagonal.any():
        return Score(total([_alone(solved, columns, int(j)) for j in active]))
    if len(active) > MOST_COLUMNS_WITH_GAPS:
        named = ", ".join(labels[j] for j in active[:3])
        raise ValueError(
            f"{named}, …: a joint Gaussian of {len(active)} columns has a formula of its own for each of the "
            f"2^{len(active)} patterns of missing cells, and at most {MOST_COLUMNS_WITH_GAPS} columns are "
            "written out; pass missing='null' to score whole rows only, or choose covariance='diagonal'."
        )
    return Score(_by_pattern(solved, columns, [], active.tolist()))


def _by_pattern(
    solved: SolvedScatter, columns: list[int], seen: list[int], undecided: list[int]
) -> Expression:
    """The formula for the columns observed, by looking at one column after the other."""
    if not undecided:
        return _log_density(solved, columns, np.array(seen, dtype=np.intp))
    j, rest = undecided[0], undecided[1:]
    return Where(
        Missing(columns[j]),
        _by_pattern(solved, columns, seen, rest),
        _by_pattern(solved, columns, [*seen, j], rest),
    )


def _alone(solved: SolvedScatter, columns: list[int], j: int) -> Expression:
    density = _log_density(solved, columns, np.array([j]))
    return Where(Missing(columns[j]), as_expression(0.0), density)


def _log_density(solved: SolvedScatter, columns: list[int], seen: Codes) -> Expression:
    """Log p of the columns seen; where all classes share Σ, without what is equal for all of them."""
    if not len(seen):
        return as_expression(0.0)
    whitenings = solved.marginals(seen)
    if len(whitenings) == 1 and len(solved.group) > 1:
        means = solved.about_middle(seen, np.arange(len(solved.group)), whitenings[0])
        if means.close:
            slopes, constant = means.linear(whitenings[0])
            terms = tuple(Cell(columns[j]) - c for j, c in zip(seen, means.base, strict=True))
            return Linear(terms, slopes.T) + constant
    standard = [
        (Cell(columns[j]) - solved.centre[:, j]) * (1.0 / solved.scale[j]) - solved.shift[:, j] for j in seen
    ]
    inverses = np.stack([whitenings[g].inverse for g in solved.group])
    constants = np.array([whitenings[g].constant for g in solved.group])
    if len(seen) == 1:
        return square(standard[0]) * (-0.5 * inverses[:, 0, 0] ** 2) + constants
    return SquaredNorm(tuple(standard), inverses) * -0.5 + constants
