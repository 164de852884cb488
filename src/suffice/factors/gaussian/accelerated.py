"""The climb to a maximum of the likelihood: steps of expectation–maximisation, and looks ahead.

Steps of EM are small where gaps hide much, so the climb looks ahead along the last ones (squared
extrapolation), and returns to the plain steps wherever the likelihood of the observed cells would fall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.arrays import Array
from suffice.factors.gaussian.gaps import Pattern, log_density, root_of
from suffice.progress import Progress

TOLERANCE = 1e-10
"""The change of a step, in deviations, from which on it may be the last."""
NEARLY = 1e-6
"""How far all further steps may lead together, then; the logarithms of Σ's pivots are part of the way."""
FAR = 0.1
"""How far steps lead that change next to nothing, and yet never end."""
MOST_STEPS = 20_000
WARM_UP = 10
"""Plain steps before the first look ahead: they settle which hill is climbed."""
LANDING = 4
"""Steps after a look ahead, before it is judged."""
VANISHING = 1e-8
"""A correlation matrix whose smallest eigenvalue is below this and still falling is losing its rank."""
NOTHING = 1e-12
"""The same, whether or not it falls: what is left is rounding."""
THIN = 1e-4
"""The same, where steps change next to nothing and their way has no end."""


@dataclass(frozen=True)
class Point:
    """Where the climb of a group stands: the means of its classes (k, d), and the Σ that they share."""

    mean: Array
    covariance: Array

    def free(self) -> Array | None:
        """The same as numbers without bounds: the Cholesky factor with logarithms on its diagonal.

        None where Σ has lost rank.
        """
        root = root_of(self.covariance)
        if root is None:
            return None
        at = np.diag_indices_from(root)
        root[at] = np.log(root[at])
        return np.concatenate([self.mean.ravel(), root[np.tril_indices_from(root)]])

    def at(self, free: Array) -> Point:
        """The point of other numbers, of the same size."""
        root = np.zeros_like(self.covariance)
        root[np.tril_indices_from(root)] = free[self.mean.size :]
        at = np.diag_indices_from(root)
        with np.errstate(over="ignore", invalid="ignore"):  # what is too far is seen to be
            root[at] = np.exp(root[at])
            return Point(free[: self.mean.size].reshape(self.mean.shape), root @ root.T)


@dataclass(frozen=True)
class Step:
    """One step of EM."""

    start: Point
    end: Point
    scatter: Array
    """Expected scatter about the means at the end."""
    log_likelihood: float
    """What EM raises, at the start, up to a constant; −inf where Σ has lost rank."""

    @property
    def rounding(self) -> float:
        """What of the log likelihood may be rounding."""
        return 1e-12 * (abs(self.log_likelihood) + 1.0)

    def change(self) -> float:
        """The largest change, in deviations."""
        variance = np.diag(self.end.covariance)
        spread = np.sqrt(np.where(variance > 0, variance, 1.0))
        of_means = np.abs(self.end.mean - self.start.mean) / spread
        of_products = np.abs(self.end.covariance - self.start.covariance) / np.outer(spread, spread)
        return float(max(of_means.max(initial=0.0), of_products.max(initial=0.0)))


@dataclass(frozen=True)
class Beside:
    """What counts beside the rows: pseudo-observations of this weight and scatter, or (below 0) rows less."""

    weight: float
    scatter: Array

    def log_likelihood(self, covariance: Array) -> float:
        """Log p of the pseudo-observations, up to a constant."""
        root = root_of(covariance)
        return -np.inf if root is None else log_density(root, self.weight, self.scatter)


class Group:
    """Classes that share one Σ: the sums of their patterns, and the step of EM."""

    def __init__(
        self, cells: list[list[Pattern]], weight: Array, beside: Beside, shaped: Callable[[Array], Array]
    ) -> None:
        self.cells, self.weight, self.beside, self.shaped = cells, weight, beside, shaped

    def covariance(self, scatter: Array) -> Array:
        """Σ from the scatter of the rows."""
        return self.shaped((scatter + self.beside.scatter) / (self.weight.sum() + self.beside.weight))

    def step(self, start: Point) -> Step:
        """Expected sums at one point give the next."""
        shift, scatter = np.zeros_like(start.mean), np.zeros_like(start.covariance)
        log_likelihood = self.beside.log_likelihood(start.covariance)
        for k, patterns in enumerate(self.cells):
            total = np.zeros(len(scatter))
            for pattern in patterns:
                first, second, log_p = pattern.expected(start.mean[k], start.covariance)
                total += first
                scatter += second
                log_likelihood += log_p
            if self.weight[k] > 0:
                shift[k] = total / self.weight[k]
                scatter -= np.outer(shift[k], total)
        end = Point(start.mean + shift, self.covariance(scatter))
        return Step(start, end, scatter, log_likelihood)


@dataclass(frozen=True)
class Course:
    """The parabola through two steps in a row, in numbers without bounds."""

    start: Array
    velocity: Array
    turn: Array

    @classmethod
    def of(cls, first: Step, second: Step) -> Course | None:
        """None where Σ has lost rank."""
        start, middle, end = first.start.free(), second.start.free(), second.end.free()
        if start is None or middle is None or end is None or not np.isfinite(second.log_likelihood):
            return None
        return cls(start, middle - start, end - 2.0 * middle + start)

    @property
    def length(self) -> float:
        """How many steps it leads ahead: the third scheme of Varadhan and Roland (2008)."""
        speed, turn = float(np.linalg.norm(self.velocity)), float(np.linalg.norm(self.turn))
        return speed / turn if turn > 0 else 1.0

    @property
    def left(self) -> float:
        """How far the climb may still have to go, however small its steps are."""
        return self.length * float(np.abs(self.velocity).max(initial=0.0))

    def ahead(self, length: float) -> Array:
        """Where so many steps lead to."""
        return self.start + 2.0 * length * self.velocity + length**2 * self.turn


@dataclass(frozen=True)
class Summit:
    """Where the climb of one group ended."""

    step: Step
    is_singular: bool = False
    note: str | None = None


def climb(group: Group, start: Point, progress: Progress) -> Summit:
    """EM from a start until it settles, loses rank or has made too many steps.

    After two steps it looks ahead. A few steps from there lead back to the slope; where that is no higher
    than before the look, the climb goes on from there as if it had not looked.
    """
    before = step = group.step(start)
    smallest, longest, number = np.inf, 4.0, 1
    while number < MOST_STEPS:
        step = group.step(before.end)
        number += 1
        course = Course.of(before, step)
        if loses_rank(step, course, smallest):
            return Summit(step, is_singular=True)
        if has_settled(step, course):
            return Summit(step)
        smallest = _smallest_eigenvalue(step.end.covariance)
        before = step
        if course is not None and course.length > 1.0 and number > WARM_UP:
            length = min(course.length, longest)
            landed = _landed(group, step.end.at(course.ahead(length)))
            number += LANDING
            if landed is not None and landed.log_likelihood >= step.log_likelihood - step.rounding:
                before, longest = landed, 4.0 * longest if length == longest else longest
            else:
                longest = max(length / 4.0, 4.0)
        progress.say(f"step {number}, largest change {step.change():.1e} of {TOLERANCE:.0e}")
    still = f"EM over the gaps still moved by {step.change():.1e} after {MOST_STEPS} steps"
    return Summit(step, note=still)


def has_settled(step: Step, course: Course | None) -> bool:
    """Whether a step changed next to nothing, and all steps to come together little more."""
    if step.change() > TOLERANCE:
        return False
    left = _smallest_eigenvalue(step.end.covariance)
    if course is not None:
        return left >= THIN or course.left <= NEARLY
    return left >= VANISHING or left > 0.999 * _smallest_eigenvalue(step.start.covariance)


def loses_rank(step: Step, course: Course | None, smallest: float) -> bool:
    """Whether Σ is singular or on its way to be: next to it, or thin and without an end to its way.

    `smallest` was the smallest eigenvalue of the correlations before.
    """
    left = _smallest_eigenvalue(step.end.covariance)
    if left < VANISHING:
        return left < NOTHING or left < 0.9 * smallest
    return left < THIN and course is not None and course.left > FAR and step.change() <= TOLERANCE


def _landed(group: Group, point: Point) -> Step | None:
    """The last of a few steps from a point; None where it is none."""
    if not np.isfinite(point.covariance).all():
        return None
    step = group.step(point)
    for _ in range(LANDING - 1):
        step = group.step(step.end)
    return step


def _smallest_eigenvalue(covariance: Array) -> float:
    """Of the correlation matrix; constant columns aside."""
    variance = np.diag(covariance)
    held = variance > 0  # rounding leaves less than nothing of what was taken away again
    if not held.any():
        return 0.0
    spread = np.sqrt(variance[held])
    inside = covariance[np.ix_(held, held)] / np.outer(spread, spread)
    return float(np.linalg.eigvalsh(inside)[0])
