"""The scores of a joint Gaussian block as expressions: a formula for each pattern of gaps, or one for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.arrays import Array, Codes
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
    log,
    square,
    total,
)
from suffice.export.observed import ObservedNormal
from suffice.factors.gaussian.parameters import Gaussians
from suffice.families.special import HALF_LOG_TWO_PI

LogDensity = Callable[[Codes], Expression]
"""Log p of some of the columns, for each class."""
MOST_COLUMNS_WITH_GAPS = 6
"""Patterns of gaps double with every column: at most 2⁶ = 64 formulas are written out."""


def gaussian_scores(gaussians: Gaussians, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
    """The scores of a block: by column where columns are independent, else by pattern of gaps."""
    independent = not (gaussians.standard * (1.0 - np.eye(len(gaussians.active)))).any()
    if gaps == "observed" and not independent:
        constants = -np.log(gaussians.scale[gaussians.active]) - HALF_LOG_TWO_PI
        terms = tuple(_standard(gaussians, columns, gaussians.active))
        return Score(ObservedNormal(terms, gaussians.standard[gaussians.group], constants))

    def log_density(seen: Codes) -> Expression:
        return _log_density(gaussians, columns, seen)

    return block_scores(log_density, gaussians.active, columns, labels, gaps, independent=independent)


def block_scores(
    log_density: LogDensity,
    active: Codes,
    columns: list[int],
    labels: list[str],
    gaps: Gaps,
    *,
    independent: bool,
) -> Score:
    """The scores of a block, from the formula for the columns that a row has."""
    if gaps == "null":
        return Score(log_density(active))
    if independent:
        return Score(total([_alone(log_density, columns, int(j)) for j in active]))
    if len(active) > MOST_COLUMNS_WITH_GAPS:
        named = ", ".join(labels[j] for j in active[:3])
        raise ValueError(
            f"{named}, …: a joint Gaussian of {len(active)} columns needs a separate formula for each of the "
            f"2^{len(active)} patterns of missing cells, and at most {MOST_COLUMNS_WITH_GAPS} columns are "
            "supported; pass missing='null' to score complete rows only, or use "
            "GaussianDiscriminant(covariance='diagonal')."
        )
    return Score(_by_pattern(log_density, columns, [], active.tolist()))


def _by_pattern(
    log_density: LogDensity, columns: list[int], seen: list[int], undecided: list[int]
) -> Expression:
    """The formula for the observed columns, decided one column after the other."""
    if not undecided:
        return log_density(np.array(seen, dtype=np.intp))
    j, rest = undecided[0], undecided[1:]
    return Where(
        Missing(columns[j]),
        _by_pattern(log_density, columns, seen, rest),
        _by_pattern(log_density, columns, [*seen, j], rest),
    )


def _alone(log_density: LogDensity, columns: list[int], j: int) -> Expression:
    return Where(Missing(columns[j]), as_expression(0.0), log_density(np.array([j])))


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
    constants = np.array([whitenings[g].constant for g in gaussians.group])
    return squared_distance(gaussians, columns, seen, -0.5) + constants


def marginal_log_density(
    gaussians: Gaussians, columns: list[int], gone: Sequence[Expression | None]
) -> Expression:
    """Log p of the columns that a row has, in one formula; `gone` says if each is missing, None if never.

    With missing cells at the mean, z = x − μ or 0, and Λ = Σ⁻¹, the square of the others is
    zᵀΛz − hᵀ(Λ_mm)⁻¹h with h = (Λz)_m, and log|Σ_oo| = log|Σ| + log|Λ_mm|. Elimination solves for h, one
    missing column after the other: as many steps as columns, each of which is skipped if its cell is there.
    """
    active, zero = gaussians.active.tolist(), as_expression(0.0)
    standard = _standard(gaussians, columns, gaussians.active)
    missing = [gone[j] for j in active]
    z = [one if m is None else Where(m, zero, one) for one, m in zip(standard, missing, strict=True)]
    inverses = np.stack([gaussians.whitenings[g].inverse for g in gaussians.group])
    precision = np.einsum("kia,kib->abk", inverses, inverses)
    waiting = [(a, m) for a, m in enumerate(missing) if m is not None]
    left = {(a, b): as_expression(precision[a, b]) for a, _ in waiting for b, _ in waiting if a <= b}
    h = {a: total([z[b] * precision[a, b] for b in range(len(z))]) for a, _ in waiting}
    parts = [SquaredNorm(tuple(z), inverses) * -0.5]
    for place, (a, is_gone) in enumerate(waiting):
        pivot, others = left[a, a], [b for b, _ in waiting[place + 1 :]]
        parts.append(Where(is_gone, square(h[a]) / pivot * 0.5, zero))
        if len(gaussians.standard) > 1:  # else it is equal for all classes
            parts.append(Where(is_gone, log(pivot) * -0.5, zero))
        for at, b in enumerate(others):
            slope = Where(is_gone, left[a, b] / pivot, zero)
            h[b] = h[b] - slope * h[a]
            for c in others[at:]:
                left[b, c] = left[b, c] - slope * left[a, c]
    return total(parts) + np.array([gaussians.whitenings[g].constant for g in gaussians.group])


def _standard(gaussians: Gaussians, columns: list[int], seen: Codes) -> list[Expression]:
    """x − μ_k in units of each column, for each class."""
    return [
        (Cell(columns[j]) - gaussians.centre[:, j]) * (1.0 / gaussians.scale[j]) - gaussians.shift[:, j]
        for j in seen
    ]


def squared_distance(
    gaussians: Gaussians, columns: list[int], seen: Codes, times: Array | float
) -> Expression:
    """(x − μ_k)ᵀΣ⁻¹(x − μ_k) on the columns seen, times a number, or one for each class."""
    standard = _standard(gaussians, columns, seen)
    whitenings = gaussians.marginals(seen)
    inverses = np.stack([whitenings[g].inverse for g in gaussians.group])
    if len(seen) == 1:
        return square(standard[0]) * (times * inverses[:, 0, 0] ** 2)
    return SquaredNorm(tuple(standard), inverses) * times
