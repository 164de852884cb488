"""Gaussians with gaps: maximum likelihood from sums per pattern of gaps, by expectation–maximisation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from suffice.arrays import Array, Codes
from suffice.factors.gaussian.accelerated import MOST_STEPS, Extrapolation, Iteration, Step, fixed_point
from suffice.factors.gaussian.moments import Moments, ScatterPart, Standardised, nearest_covariance
from suffice.factors.gaussian.saved import SavedSearch
from suffice.factors.gaussian.sums import Sums
from suffice.factors.gaussian.tying import Tying
from suffice.kernels import threads
from suffice.progress import Progress
from suffice.storage import Fields

TOLERANCE = 1e-10
"""The largest change of a step, in deviations, that may be the last."""
NEARLY = 1e-6
"""The largest total change of all further steps after it, in the coordinates of `Group`."""
FAR = 0.1
"""How far ahead an extrapolation lies if the steps, small as they are, have no end."""
VANISHING = 1e-8
"""A correlation matrix whose smallest eigenvalue is below this and still falling is losing its rank."""
NOTHING = 1e-12
"""Below this it has lost its rank, whether or not it falls: the rest is rounding."""
THIN = 1e-4
"""Below this it is losing its rank if the steps are tiny but have no end."""

MANY_COLUMNS = 1024
"""From here on, matrix products are worth several threads."""


def maximize(data: Standardised, tying: Tying, saved_search: Fields | None = None) -> Moments:
    """Means and scatters by EM, or from the end of the search that a file holds."""
    n_classes, d = data.weight.shape
    cells = [[Pattern(cell.columns, cell.sums, d) for cell in patterns] for patterns in data.cells]
    weight = np.array([sum(float(pattern.sums.weight) for pattern in patterns) for patterns in cells])
    if saved_search is None:
        end = search(cells, weight, data.variance, tying)
    else:
        end = SavedSearch.from_fields(saved_search.branch("em"), n_classes, tying.n_groups, d)
    parts = [
        ScatterPart(
            int(tying.group[k]),
            pattern.columns,
            float(pattern.sums.weight),
            pattern.sums.moved(-end.mean[k, pattern.columns]).scatter,
        )
        for k, patterns in enumerate(cells)
        for pattern in patterns
    ]
    return Moments(end.mean, end.scatter, weight, data.total_variance, parts, saved_search=end)


def search(cells: list[list[Pattern]], weight: Array, variance: Array, tying: Tying) -> SavedSearch:
    """EM from the available-case start, so that any batching of the rows gives the same answer.

    A group that loses rank has no maximum, and EM would never end; the answer is then the maximum with one
    pseudo-observation of the available-case covariance that all classes share.
    """
    # The threads of small products wait for each other longer than they work.
    small = variance.shape[1] < MANY_COLUMNS
    with threads.one_thread_per_product() if small else nullcontext():
        return _search(cells, weight, variance, tying)


def _search(cells: list[list[Pattern]], weight: Array, variance: Array, tying: Tying) -> SavedSearch:
    n_classes, d = variance.shape
    start = tying.pooled(weight[:, np.newaxis, np.newaxis] * _available_case(cells, variance))
    shared = start.sum(axis=0)
    shared = (shared + np.diag(np.diag(shared)) / weight.sum()) / (weight.sum() + 1.0)
    mean, scatter = np.zeros((n_classes, d)), np.zeros((tying.n_groups, d, d))
    singular, notes = set(), []
    with Progress("EM over the gaps") as progress:

        def watch(number: int, step: ExpectationStep) -> None:
            progress.say(f"step {number}, largest change {step.change():.1e} of {TOLERANCE:.0e}")

        for g, less in enumerate(tying.divisors(weight) - tying.pooled(weight)):
            members = np.flatnonzero(tying.group == g)
            kept = np.flatnonzero(np.diag(tying.shaped_one(start[g])) > 0)  # others are constant
            inside = np.ix_(kept, kept)
            patterns = [[pattern.among_columns(kept) for pattern in cells[k]] for k in members]
            none = np.zeros((len(kept), len(kept)))
            for pseudo_rows in (PseudoRows(less, none), PseudoRows(less + 1.0, shared[inside])):
                group = Group(patterns, weight[members], pseudo_rows, tying.shaped_one)
                first = Iterate(np.zeros((len(members), len(kept))), group.covariance(start[g][inside]))
                step, outcome = fixed_point(group, first, watch)
                if outcome != "singular":
                    break
                singular.add(g)
            mean[np.ix_(members, kept)], scatter[g][inside] = step.end.mean, step.scatter
            if outcome is None:
                notes.append(f"EM has not converged: step {MOST_STEPS} still changed by {step.change():.1e}")
    return SavedSearch(mean, scatter, frozenset(singular), tuple(notes))


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


@dataclass(frozen=True)
class Iterate:
    """The means of the classes in a group, (k, d), and the Σ that they share."""

    mean: Array
    covariance: Array


@dataclass(frozen=True)
class ExpectationStep(Step[Iterate]):
    """One step of EM."""

    scatter: Array
    """Expected scatter about the means at the end."""

    def change(self) -> float:
        """The largest change, in deviations."""
        variance = np.diag(self.end.covariance)
        spread = np.sqrt(np.where(variance > 0, variance, 1.0))
        of_means = np.abs(self.end.mean - self.start.mean) / spread
        of_products = np.abs(self.end.covariance - self.start.covariance) / np.outer(spread, spread)
        return float(max(of_means.max(initial=0.0), of_products.max(initial=0.0)))

    @cached_property
    def smallest_eigenvalue(self) -> float:
        """Of the correlations at the end."""
        return _smallest_eigenvalue(self.end.covariance)


@dataclass(frozen=True)
class PseudoRows:
    """Pseudo-observations that count with the rows: their weight (negative for ddof) and their scatter."""

    weight: float
    scatter: Array


class Group(Iteration[Iterate, ExpectationStep]):
    """Classes that share one Σ: the sums of their patterns, and the step of EM."""

    def __init__(
        self,
        cells: list[list[Pattern]],
        weight: Array,
        pseudo_rows: PseudoRows,
        shaped: Callable[[Array], Array],
    ) -> None:
        self.weight, self.pseudo_rows, self.shaped = weight, pseudo_rows, shaped
        self.alike: dict[bytes, list[tuple[int, Pattern]]] = {}
        """Classes and their patterns, by the columns observed."""
        for k, patterns in enumerate(cells):
            for pattern in patterns:
                self.alike.setdefault(pattern.columns.tobytes(), []).append((k, pattern))

    def covariance(self, scatter: Array) -> Array:
        """Σ from the scatter of the rows."""
        pseudo_rows = self.pseudo_rows
        return self.shaped((scatter + pseudo_rows.scatter) / (self.weight.sum() + pseudo_rows.weight))

    def step(self, start: Iterate) -> ExpectationStep:
        """Expected sums under one iterate give the next."""
        total, scatter = np.zeros_like(start.mean), np.zeros_like(start.covariance)
        everywhere = np.arange(len(scatter)).tobytes()
        log_likelihood = 0.0
        if everywhere not in self.alike:
            log_likelihood = log_density(
                root_of(start.covariance), self.pseudo_rows.weight, self.pseudo_rows.scatter
            )
        for columns, patterns in self.alike.items():
            pseudo_rows = self.pseudo_rows if columns == everywhere else None
            second, log_p = expected(patterns, start, pseudo_rows, total)
            scatter += second
            log_likelihood += log_p
        shift = np.divide(
            total, self.weight[:, np.newaxis], out=np.zeros_like(total), where=self.weight[:, np.newaxis] > 0
        )
        scatter -= shift.T @ total
        end = Iterate(start.mean + shift, self.covariance(scatter))
        return ExpectationStep(start, end, log_likelihood, scatter)

    def coordinates(self, iterate: Iterate) -> Array | None:
        """Numbers without bounds: the means, and Σ's Cholesky factor with logarithms on its diagonal.

        None where Σ has lost rank.
        """
        root = root_of(iterate.covariance)
        if root is None:
            return None
        at = np.diag_indices_from(root)
        root[at] = np.log(root[at])
        return np.concatenate([iterate.mean.ravel(), root[np.tril_indices_from(root)]])

    def iterate(self, coordinates: Array) -> Iterate | None:
        """None where Σ would leave the floats."""
        root = np.zeros_like(self.pseudo_rows.scatter)
        k, d = len(self.weight), len(root)
        root[np.tril_indices(d)] = coordinates[k * d :]
        at = np.diag_indices(d)
        with np.errstate(over="ignore", invalid="ignore"):
            root[at] = np.exp(root[at])
            covariance = root @ root.T
        if not np.isfinite(covariance).all():
            return None
        return Iterate(coordinates[: k * d].reshape(k, d), covariance)

    def outcome(
        self, step: ExpectationStep, extrapolation: Extrapolation | None, last: ExpectationStep | None
    ) -> str | None:
        """Whether EM has settled, or the group loses rank (it is "singular")."""
        if loses_rank(step, extrapolation, np.inf if last is None else last.smallest_eigenvalue):
            return "singular"
        return "settled" if has_settled(step, extrapolation) else None


def has_settled(step: ExpectationStep, extrapolation: Extrapolation | None) -> bool:
    """Whether a step changed almost nothing, and all remaining steps together would change little more."""
    if step.change() > TOLERANCE:
        return False
    left = step.smallest_eigenvalue
    if extrapolation is not None:
        return left >= THIN or extrapolation.left <= NEARLY
    return left >= VANISHING or left > 0.999 * _smallest_eigenvalue(step.start.covariance)


def loses_rank(step: ExpectationStep, extrapolation: Extrapolation | None, smallest: float) -> bool:
    """Whether Σ is singular or will be: next to it already, or thin while the steps have no end.

    `smallest` was the smallest eigenvalue of the correlations before.
    """
    left = step.smallest_eigenvalue
    if left < VANISHING:
        return left < NOTHING or left < 0.9 * smallest
    endless = extrapolation is not None and extrapolation.left > FAR
    return left < THIN and endless and step.change() <= TOLERANCE


def _smallest_eigenvalue(covariance: Array) -> float:
    """Of the correlation matrix; constant columns aside."""
    variance = np.diag(covariance)
    held = variance > 0  # after subtraction, rounding may leave negative variances
    if not held.any():
        return 0.0
    spread = np.sqrt(variance[held])
    inside = covariance[np.ix_(held, held)] / np.outer(spread, spread)
    return float(np.linalg.eigvalsh(inside)[0])


class Pattern:
    """Sums of the rows in which the same columns are observed, and where those stand among all columns."""

    def __init__(self, columns: Codes, sums: Sums, d: int) -> None:
        hidden = np.setdiff1d(np.arange(d), columns)
        self.columns, self.hidden, self.sums = columns, hidden, sums
        self.among, self.across = np.ix_(columns, columns), np.ix_(hidden, columns)
        self.crosswise, self.within = np.ix_(columns, hidden), np.ix_(hidden, hidden)

    def among_columns(self, kept: Codes) -> Pattern:
        """The same rows and only some of the columns."""
        inside = np.isin(self.columns, kept)
        return Pattern(np.searchsorted(kept, self.columns[inside]), self.sums.restricted(inside), len(kept))


def expected(
    patterns: list[tuple[int, Pattern]], at: Iterate, pseudo_rows: PseudoRows | None, total: Array
) -> tuple[Array, float]:
    """E[Σ(x − μ)(x − μ)ᵀ] over all columns, given the observed ones, which are the same in all patterns.

    E[Σ(x − μ)] of each class is added to `total`. The log p of the observed cells, and of pseudo-observations
    beside them, leaves out what does not depend on μ and Σ; it is −inf where Σ has lost rank.
    """
    pattern, covariance = patterns[0][1], at.covariance
    among, across = covariance[pattern.among], covariance[pattern.across]
    root = root_of(among)
    slope = _slope(root, among, across) if len(pattern.hidden) else None
    weight, scatter = 0.0, np.zeros_like(among)
    for k, own in patterns:
        about = own.sums.moved(-at.mean[k, own.columns])
        total[k, own.columns] += about.total
        if slope is not None:
            total[k, own.hidden] += slope @ about.total
        weight += float(about.weight)
        scatter += about.scatter
    if slope is None:
        of_all = weight, scatter
        if pseudo_rows is not None:
            of_all = weight + pseudo_rows.weight, scatter + pseudo_rows.scatter
        return scatter, log_density(root, *of_all)
    second = np.empty(covariance.shape)
    cross = slope @ scatter
    left_over = covariance[pattern.within] - slope @ across.T
    second[pattern.among] = scatter
    second[pattern.across] = cross
    second[pattern.crosswise] = cross.T
    second[pattern.within] = cross @ slope.T + weight * left_over
    return second, log_density(root, weight, scatter)


def regression(among: Array, across: Array) -> Array:
    """Σ_mo·Σ_oo⁻¹, also where Σ_oo has lost rank."""
    return _slope(root_of(among), among, across)


def root_of(covariance: Array) -> Array | None:
    """The lower Cholesky factor, or None where Σ has lost rank."""
    if len(covariance) == 0:
        return covariance.copy()
    root, failed = linalg.lapack.dpotrf(covariance, lower=True)
    if failed or not (np.diag(root) ** 2 > 1e-10 * np.diag(covariance)).all():
        return None
    return np.asarray(root)


def _slope(root: Array | None, among: Array, across: Array) -> Array:
    if root is None:
        return np.asarray(across @ np.linalg.pinv(among, rcond=1e-12, hermitian=True))
    if not across.size:
        return across
    solution, _ = linalg.lapack.dpotrs(root, across.T, lower=True)
    return np.asarray(solution.T)


def log_density(root: Array | None, weight: float, scatter: Array) -> float:
    """−½(W·log|Σ| + tr Σ⁻¹S): log p of rows of this weight and scatter, up to a constant, or −inf."""
    if root is None:
        return -np.inf
    if len(root) == 0:
        return 0.0
    log_determinant = 2.0 * float(np.sum(np.log(np.diag(root))))
    distance = float(np.trace(linalg.lapack.dpotrs(root, scatter, lower=True)[0]))
    return -0.5 * (weight * log_determinant + distance)
