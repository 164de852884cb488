"""Maximum likelihood of Gaussians from sums per pattern of gaps, by expectation–maximisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from suffice.arrays import Array
from suffice.factors.gaussian.accelerated import Beside, Group, Point, climb
from suffice.factors.gaussian.gaps import Pattern
from suffice.factors.gaussian.scores import ScatterPart
from suffice.progress import Progress
from suffice.storage import Fields, Scalars

if TYPE_CHECKING:
    from suffice.factors.gaussian.moments import Moments, Standardised
    from suffice.factors.gaussian.tying import Tying


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


def maximize(data: Standardised, tying: Tying, saved_search: Fields | None = None) -> Moments:
    """Means and scatters by EM, or those that it found when the model was saved."""
    from suffice.factors.gaussian.moments import Moments

    n_classes, d = data.weight.shape
    cells = [[Pattern(cell.columns, cell.sums, d) for cell in patterns] for patterns in data.cells]
    weight = np.array([sum(float(pattern.sums.weight) for pattern in patterns) for patterns in cells])
    if saved_search is None:
        found = search(cells, weight, data.variance, tying)
    else:
        found = Found.from_fields(saved_search.branch("em"), n_classes, tying.n_groups, d)
    evidence = [
        ScatterPart(
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
    """EM from the available-case start, so that any batching of the rows gives the same answer.

    A group that loses rank has no maximum, only a way without an end; the answer is then the maximum with one
    pseudo-observation of the available-case covariance that all classes share.
    """
    n_classes, d = variance.shape
    start = tying.pooled(weight[:, np.newaxis, np.newaxis] * _available_case(cells, variance))
    shared = start.sum(axis=0)
    shared = (shared + np.diag(np.diag(shared)) / weight.sum()) / (weight.sum() + 1.0)
    mean, scatter = np.zeros((n_classes, d)), np.zeros((tying.n_groups, d, d))
    singular, notes = set(), []
    with Progress("EM over the gaps") as progress:
        for g, less in enumerate(tying.divisors(weight) - tying.pooled(weight)):
            members = np.flatnonzero(tying.group == g)
            kept = np.flatnonzero(np.diag(tying.shaped_one(start[g])) > 0)  # others never vary in the group
            inside = np.ix_(kept, kept)
            patterns = [[pattern.among_columns(kept) for pattern in cells[k]] for k in members]
            none = np.zeros((len(kept), len(kept)))
            for beside in (Beside(less, none), Beside(less + 1.0, shared[inside])):
                group = Group(patterns, weight[members], beside, tying.shaped_one)
                at = Point(np.zeros((len(members), len(kept))), group.covariance(start[g][inside]))
                summit = climb(group, at, progress)
                if not summit.is_singular:
                    break
                singular.add(g)
            mean[np.ix_(members, kept)], scatter[g][inside] = summit.step.end.mean, summit.step.scatter
            if summit.note is not None:
                notes.append(summit.note)
    return Found(mean, scatter, frozenset(singular), tuple(notes))


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
    """The nearest matrix without negative eigenvalues, but for rounding, that keeps the diagonal."""
    rounding = len(covariance) ** 2 * np.finfo(np.float64).eps * np.diag(covariance)
    if len(covariance) and not linalg.lapack.dpotrf(covariance + np.diag(rounding), lower=True)[1]:
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    if values[0] >= 0:
        return covariance
    mended = (vectors * np.maximum(values, 0.0)) @ vectors.T
    now, wanted = np.diag(mended), np.diag(covariance)
    stretch = np.sqrt(np.divide(wanted, now, out=np.ones_like(now), where=now > 0))
    return np.asarray(mended * np.outer(stretch, stretch))
