"""Accelerated fixed-point iterations: plain steps, and squared extrapolation along them.

Steps of expectation–maximisation are small where much is hidden. So the iteration extrapolates the last two
steps (Varadhan and Roland 2008), and goes on with plain steps wherever the likelihood would fall.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from suffice.arrays import Array

MOST_STEPS = 20_000
WARM_UP = 10
"""Plain steps before the first extrapolation: they settle which maximum is climbed."""
LANDING = 4
"""Plain steps from an extrapolated iterate before it is judged."""
SHORT = 4.0
"""The first limit to the length of an extrapolation, and the lowest; it grows and shrinks with success."""

IterateT = TypeVar("IterateT")


@dataclass(frozen=True)
class Extrapolation:
    """The parabola through three iterates in a row."""

    start: Array
    velocity: Array
    turn: Array

    @classmethod
    def through(cls, start: Array, middle: Array, end: Array) -> Extrapolation:
        """From the coordinates of the iterates."""
        return cls(start, middle - start, end - 2.0 * middle + start)

    @property
    def length(self) -> float:
        """How many steps it looks ahead: the third scheme of Varadhan and Roland (2008)."""
        speed, turn = float(np.linalg.norm(self.velocity)), float(np.linalg.norm(self.turn))
        return speed / turn if turn > 0 else 1.0

    @property
    def left(self) -> float:
        """How far the iteration may still have to go, however small its steps are."""
        return self.length * float(np.abs(self.velocity).max(initial=0.0))

    def ahead(self, length: float) -> Array:
        """The coordinates that many steps ahead."""
        return self.start + 2.0 * length * self.velocity + length**2 * self.turn


@dataclass(frozen=True)
class Step(Generic[IterateT]):
    """One plain step: it never lowers the log likelihood, rounding aside."""

    start: IterateT
    end: IterateT
    log_likelihood: float
    """At the start, up to a constant; −inf where it has no maximum."""

    @property
    def rounding(self) -> float:
        """How much of the log likelihood may be rounding."""
        return 1e-12 * (abs(self.log_likelihood) + 1.0)


StepT = TypeVar("StepT", bound=Step[Any])


class Iteration(ABC, Generic[IterateT, StepT]):
    """The plain step of an iteration, the coordinates of its iterates, and when it ends."""

    @abstractmethod
    def step(self, start: IterateT) -> StepT:
        """One plain step."""

    @abstractmethod
    def coordinates(self, iterate: IterateT) -> Array | None:
        """The iterate as one vector; None where it cannot be extrapolated."""

    @abstractmethod
    def iterate(self, coordinates: Array) -> IterateT | None:
        """The iterate with these coordinates; None where there is none."""

    @abstractmethod
    def outcome(self, step: StepT, extrapolation: Extrapolation | None, last: StepT | None) -> str | None:
        """How the iteration ends with this step, or None if it goes on; `last` was judged before it."""


def fixed_point(
    iteration: Iteration[IterateT, StepT], start: IterateT, watch: Callable[[int, StepT], None]
) -> tuple[StepT, str | None]:
    """The last step and the outcome; None after too many steps.

    After two steps it looks ahead. A few steps from there lead back to the slope; unless the log likelihood
    is then as high as before, the extrapolation is dropped.
    """
    before = step = iteration.step(start)
    last, longest, number = None, SHORT, 1
    while number < MOST_STEPS:
        step = iteration.step(before.end)
        number += 1
        extrapolation = _extrapolation(iteration, before, step)
        outcome = iteration.outcome(step, extrapolation, last)
        if outcome is not None:
            return step, outcome
        last = before = step
        if extrapolation is not None and extrapolation.length > 1.0 and number > WARM_UP:
            length = min(extrapolation.length, longest)
            landed = _landed(iteration, extrapolation.ahead(length))
            number += LANDING
            if landed is not None and landed.log_likelihood >= step.log_likelihood - step.rounding:
                before, longest = landed, 4.0 * longest if length == longest else longest
            else:
                longest = max(length / 4.0, SHORT)
        watch(number, step)
    return step, None


def _extrapolation(
    iteration: Iteration[IterateT, StepT], first: StepT, second: StepT
) -> Extrapolation | None:
    if not np.isfinite(second.log_likelihood):
        return None
    start, middle, end = map(iteration.coordinates, (first.start, second.start, second.end))
    if start is None or middle is None or end is None:
        return None
    return Extrapolation.through(start, middle, end)


def _landed(iteration: Iteration[IterateT, StepT], coordinates: Array) -> StepT | None:
    """The last of a few steps from an extrapolated iterate; None where there is none."""
    start = iteration.iterate(coordinates)
    if start is None:
        return None
    step = iteration.step(start)
    for _ in range(LANDING - 1):
        step = iteration.step(step.end)
    return step
