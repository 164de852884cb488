"""Maximum likelihood of Gaussians from sums per pattern of gaps, by expectation–maximisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from suffice.archive import Fields, Scalars
from suffice.factors.base import Codes
from suffice.factors.solved_scatter import Evidence
from suffice.families.elementary import Array
from suffice.progress import Progress

if TYPE_CHECKING:
    from suffice.factors.scatter import Sums
    from suffice.factors.solve_scatter import Moments, Standardised, Tying

TOLERANCE = 1e-10
MOST_STEPS = 20_000
CHECK_EVERY = 50
VANISHING = 1e-8
"""A correlation matrix whose smallest eigenvalue is below this and still falling is losing its rank."""


class Pattern:
    """Sums of the rows in which the same columns are observed, and where those stand among all columns."""

    def __init__(self, columns: Codes, sums: Sums, d: int) -> None:
        hidden = np.setdiff1d(np.arange(d), columns)
        self.columns, self.hidden, self.sums = columns, hidden, sums
        self.among, self.across = np.ix_(columns, columns), np.ix_(hidden, columns)
        self.crosswise, self.within = np.ix_(columns, hidden), np.ix_(hidden, hidden)

    def expected(self, mean: Array, covariance: Array) -> tuple[Array, Array]:
        """E[Σ(x − μ)] and E[Σ(x − μ)(x − μ)ᵀ] over all columns, given the observed ones."""
        about = self.sums.moved(-mean[self.columns])
        if len(self.hidden) == 0:
            return about.total, about.scatter
        across = covariance[self.across]
        slope = regression(covariance[self.among], across)
        first, second = np.empty(len(mean)), np.empty(covariance.shape)
        first[self.columns], first[self.hidden] = about.total, slope @ about.total
        cross = slope @ about.scatter
        left_over = covariance[self.within] - slope @ across.T
        second[self.among] = about.scatter
        second[self.across] = cross
        second[self.crosswise] = cross.T
        second[self.within] = cross @ slope.T + self.sums.weight * left_over
        return first, second


@dataclass(frozen=True)
class Found:
    """Where EM ended: means (k, d) of the classes, scatter matrices (g, d, d) of the groups that share Σ."""

    mean: Array
    scatter: Array
    singular: frozenset[int]
    """Groups whose covariance was on its way to lose rank."""
    notes: tuple[str, ...]

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it."""
        singular = np.array(sorted(self.singular), dtype=np.int64)
        notes = Scalars(list(self.notes))
        return {"mean": self.mean, "scatter": self.scatter, "singular": singular, "notes": notes}

    @classmethod
    def from_fields(cls, fields: Fields, n_classes: int, n_groups: int, d: int) -> Found:
        """The same from its state."""
        singular = frozenset(fields.array("singular", np.int64, (None,)).tolist())
        if not singular <= set(range(n_groups)):
            raise fields.error("singular", "names groups that do not exist.")
        return cls(
            fields.array("mean", np.float64, (n_classes, d)),
            fields.array("scatter", np.float64, (n_groups, d, d)),
            singular,
            tuple(map(str, fields.scalars("notes"))),
        )


def maximize(data: Standardised, tying: Tying, again: Fields | None = None) -> Moments:
    """Means and scatters by EM, or those that it found when the model was saved."""
    from suffice.factors.solve_scatter import Moments

    n_classes, d = data.weight.shape
    cells = [[Pattern(cell.columns, cell.sums, d) for cell in patterns] for patterns in data.cells]
    weight = np.array([sum(float(pattern.sums.weight) for pattern in patterns) for patterns in cells])
    if again is None:
        found = search(cells, weight, data.variance, tying)
    else:
        found = Found.from_fields(again.branch("em"), n_classes, tying.n_groups, d)
    evidence = [
        Evidence(
            int(tying.group[k]),
            pattern.columns,
            float(pattern.sums.weight),
            pattern.sums.moved(-found.mean[k, pattern.columns]).scatter,
        )
        for k, patterns in enumerate(cells)
        for pattern in patterns
    ]
    return Moments(found.mean, found.scatter, weight, data.total_variance, evidence, found=found)


def search(cells: list[list[Pattern]], weight: Array, variance: Array, tying: Tying) -> Found:
    """EM from the available-case start, so that any batching of the rows gives the same answer."""
    n_classes, d = variance.shape
    start = weight[:, np.newaxis, np.newaxis] * _available_case(cells, variance)
    covariance = tying.covariances(tying.pooled(start), weight)
    mean, scatter = np.zeros((n_classes, d)), np.zeros((n_classes, d, d))
    moving = np.ones(tying.n_groups, dtype=np.bool_)
    smallest = np.full(tying.n_groups, np.inf)
    singular: set[int] = set()
    with Progress("EM over the gaps") as progress:
        for number in range(MOST_STEPS):
            step = np.zeros_like(mean)
            for k in np.flatnonzero(moving[tying.group] & (weight > 0)):
                expected = [pattern.expected(mean[k], covariance[tying.group[k]]) for pattern in cells[k]]
                shift = np.sum([first for first, _ in expected], axis=0)
                step[k] = shift / weight[k]
                scatter[k] = np.sum([second for _, second in expected], axis=0) - np.outer(step[k], shift)
            updated = tying.covariances(tying.pooled(scatter), weight)
            variance_now = np.diagonal(updated, axis1=1, axis2=2)
            spread = np.sqrt(np.where(variance_now > 0, variance_now, 1.0))
            relative = np.abs(updated - covariance) / (spread[:, :, np.newaxis] * spread[:, np.newaxis])
            change = relative.max(axis=(1, 2), initial=0.0)
            np.maximum.at(change, tying.group, (np.abs(step) / spread[tying.group]).max(axis=1, initial=0.0))
            for g in np.flatnonzero(moving & (change <= TOLERANCE)):
                moving[g] = not _settled(covariance[g], updated[g])
            mean, covariance = mean + step, updated
            if number % CHECK_EVERY == 0:
                now = np.array([_smallest_eigenvalue(matrix) for matrix in covariance])
                falling = moving & (now < VANISHING) & (now < 0.9 * smallest)
                singular |= set(np.flatnonzero(falling).tolist())
                moving &= ~falling
                smallest = now
            if not moving.any() or number == MOST_STEPS - 1:
                still = f"EM over the gaps still moved by {change.max():.1e} after {MOST_STEPS} steps"
                notes = (still,) if moving.any() else ()
                return Found(mean, tying.pooled(scatter), frozenset(singular), notes)
            progress.say(f"step {number + 1}, largest change {change.max():.1e} of {TOLERANCE:.0e}")
    raise AssertionError("the last step returns")


def _settled(before: Array, after: Array) -> bool:
    """Whether a step that changed Σ by next to nothing also kept what is left of its smallest eigenvalue."""
    left = _smallest_eigenvalue(after)
    return left >= VANISHING or left > 0.999 * _smallest_eigenvalue(before)


def _smallest_eigenvalue(covariance: Array) -> float:
    """Of the correlation matrix; constant columns aside."""
    variance = np.diag(covariance)
    held = variance > 0  # rounding leaves less than nothing of what was taken away again
    if not held.any():
        return 0.0
    spread = np.sqrt(variance[held])
    inside = covariance[np.ix_(held, held)] / np.outer(spread, spread)
    return float(np.linalg.eigvalsh(inside)[0])


def _available_case(cells: list[list[Pattern]], variance: Array) -> Array:
    """Covariance of each class over the rows in which both columns are observed, 0 where none are."""
    n_classes, d = variance.shape
    start = np.zeros((n_classes, d, d))
    for k, patterns in enumerate(cells):
        weight, scatter = np.zeros((d, d)), np.zeros((d, d))
        for pattern in patterns:
            weight[pattern.among] += pattern.sums.weight
            scatter[pattern.among] += pattern.sums.scatter
        start[k] = np.divide(scatter, weight, out=np.zeros_like(scatter), where=weight > 0)
        start[k][np.diag_indices(d)] = variance[k]
        start[k] = nearest_covariance(start[k])
    return start


def nearest_covariance(covariance: Array) -> Array:
    """The nearest matrix without negative eigenvalues that keeps the diagonal."""
    values, vectors = np.linalg.eigh(covariance)
    if values[0] >= 0:
        return covariance
    mended = (vectors * np.maximum(values, 0.0)) @ vectors.T
    now, wanted = np.diag(mended), np.diag(covariance)
    stretch = np.sqrt(np.divide(wanted, now, out=np.ones_like(now), where=now > 0))
    return np.asarray(mended * np.outer(stretch, stretch))


def regression(among: Array, across: Array) -> Array:
    """Σ_mo·Σ_oo⁻¹, also where Σ_oo has lost rank."""
    root, failed = linalg.lapack.dpotrf(among, lower=True)
    if not failed and (np.diag(root) ** 2 > 1e-10 * np.diag(among)).all():
        solution, _ = linalg.lapack.dpotrs(root, across.T, lower=True)
        return np.asarray(solution.T)
    return np.asarray(across @ np.linalg.pinv(among, rcond=1e-12, hermitian=True))
