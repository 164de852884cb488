"""Maps from the scores of a classifier to posteriors that agree with how often the classes occur.

Scores a_k are log posteriors up to a constant of the row. Each map is fitted to rows whose classes are known,
and to one pseudo-row: an average row, of the class that the classifier itself believes in. So scores that
separate the classes, which every sharper map would fit better, still have a finite best map.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.links import log_softmax, softmax
from suffice.storage import Fields

Method = Literal["temperature", "vector", "isotonic"]
CONVERGED = 1e-12
"""Nats per row that do not matter."""
MOST_STEPS = 100
FLATTEST = 1e-6
"""The largest difference of calibrated scores, in nats, where the scores do not tell the classes apart."""


@dataclass(frozen=True)
class CalibrationRows:
    """Scores (n, k) of rows, −inf for classes that are ruled out, with their classes and weights."""

    scores: Array
    codes: Codes
    weight: Array

    @classmethod
    def of(cls, scores: Array, codes: Codes, weight: Array) -> Self:
        """The rows that say something about a map; a row whose class is ruled out fits none."""
        kept = (weight > 0) & ~np.isneginf(scores[np.arange(len(codes)), codes])
        if not kept.any():
            raise ValueError(
                "there is no row to calibrate on: a model that has not seen the row must know its class."
            )
        return cls(scores[kept], codes[kept], weight[kept])


@dataclass(frozen=True, eq=False)
class Scaling:
    """p(C_k | x) ∝ exp(slope·a_k + bias_k), with slope = 1/T."""

    slope: float
    bias: Array

    @classmethod
    def fitted(cls, rows: CalibrationRows, *, biased: bool) -> Self:
        """Maximum likelihood over the rows and the pseudo-row, by Newton's method; biases are 0 or fitted."""
        search = _Search.of(rows, biased=biased)
        found = search.minimise(np.zeros(1 + search.n_classes), slope=True)
        unchanged = np.array([search.unit, *np.zeros(search.n_classes)])
        if search.value(unchanged) <= search.value(found) + search.negligible:
            found = unchanged
        least = FLATTEST / max(float(np.ptp(search.gaps)), FLATTEST)
        if found[0] < least:  # the scores are no better than chance; the order of the classes is kept
            found[0] = least
            found = search.minimise(found, slope=False)
        return cls(float(found[0] / search.unit), found[1:])

    def log_posteriors(self, scores: Array) -> Array:
        """Calibrated log posteriors."""
        return log_softmax(self.slope * scores + self.bias)

    def _to_fields(self) -> dict[str, Any]:
        return {"slope": self.slope, "bias": self.bias}

    @classmethod
    def _from_fields(cls, fields: Fields, n_classes: int) -> Self:
        slope = fields.number("slope")
        if not (np.isfinite(slope) and slope > 0):
            raise fields.error("slope", "must be positive.")
        return cls(slope, fields.array("bias", np.float64, (n_classes,)))


def slope_beside(bias: Array, rows: CalibrationRows) -> float:
    """The slope of p(C_k | x) ∝ exp(slope·a_k + bias_k) for given biases; negative if the scores mislead."""
    search = _Search.of(rows, biased=False)
    found = search.minimise(np.array([0.0, *bias]), slope=True)
    return float(found[0] / search.unit)


@dataclass(frozen=True)
class _Search:
    """The negative log likelihood of a slope and biases: convex, with its derivatives."""

    gaps: Array
    """Scores below the best of their row, in units; 0 where a class is ruled out."""
    possible: NDArray[np.bool_]
    expected: Array
    """Weights of the classes of each row, those of the pseudo-row included."""
    unit: float
    """Nats; scores of thousands of nats would leave all curvature to rounding."""
    biased: bool

    @classmethod
    def of(cls, rows: CalibrationRows, *, biased: bool) -> Self:
        possible = ~np.isneginf(rows.scores)
        below = rows.scores - rows.scores.max(axis=1, keepdims=True)
        gaps = np.where(possible, below, 0.0)
        unit = float(np.sqrt(np.average(np.square(gaps).mean(axis=1), weights=rows.weight))) or 1.0
        share = rows.weight / rows.weight.sum()
        expected = softmax(below) * share[:, np.newaxis]
        expected[np.arange(len(rows.codes)), rows.codes] += rows.weight
        return cls(gaps / unit, possible, expected, unit, biased)

    @property
    def n_classes(self) -> int:
        return int(self.gaps.shape[1])

    @property
    def negligible(self) -> float:
        """Nats in which two maps that fit equally well may differ."""
        return CONVERGED * float(self.expected.sum())

    def minimise(self, start: Array, *, slope: bool) -> Array:
        """Newton's method with halved steps, over the biases and, if asked, the slope."""
        free = np.array([slope, *[self.biased] * self.n_classes])
        at, value = start, self.value(start)
        for _ in range(MOST_STEPS if free.any() else 0):
            gradient, curvature = self._derivatives(at)
            step = np.zeros_like(at)
            # Equal biases change nothing, so the curvature is singular: the shortest step leaves their sum 0.
            step[free] = -np.linalg.lstsq(curvature[np.ix_(free, free)], gradient[free], rcond=1e-13)[0]
            decrease = float(-gradient @ step)
            if decrease <= self.negligible:
                return np.asarray(at + step)
            size = 1.0
            while (found := self.value(at + size * step)) > value - 0.25 * size * decrease and size > 1e-9:
                size *= 0.5
            if found >= value:
                break
            at, value = at + size * step, found
        return at

    def _scores(self, at: Array) -> Array:
        return np.where(self.possible, at[0] * self.gaps + at[1:], -np.inf)

    def value(self, at: Array) -> float:
        """The negative log likelihood, in nats."""
        logs = np.where(self.possible, log_softmax(self._scores(at)), 0.0)
        return float(-np.sum(self.expected * logs))

    def _derivatives(self, at: Array) -> tuple[Array, Array]:
        p = softmax(self._scores(at))
        weight = self.expected.sum(axis=1)
        excess = weight[:, np.newaxis] * p - self.expected
        gradient = np.array([np.sum(excess * self.gaps), *excess.sum(axis=0)])
        mean = np.einsum("ik,ik->i", p, self.gaps)
        weighted = weight[:, np.newaxis] * p
        away = self.gaps - mean[:, np.newaxis]
        curvature = np.empty((len(at), len(at)))
        curvature[0, 0] = np.sum(weighted * np.square(away))
        curvature[0, 1:] = curvature[1:, 0] = np.sum(weighted * away, axis=0)
        curvature[1:, 1:] = np.diag(weighted.sum(axis=0)) - weighted.T @ p
        return gradient, curvature


@dataclass(frozen=True, eq=False)
class Steps:
    """One non-decreasing function of the posterior of each class, normalised; of two classes the second."""

    posteriors: tuple[Array, ...]
    frequencies: tuple[Array, ...]
    """What the functions are at these posteriors; between them they are linear."""
    n_classes: int
    weight: float
    """The weight of the rows, to which the pseudo-row adds 1."""

    @classmethod
    def fitted(cls, rows: CalibrationRows) -> Self:
        """Isotonic regression, each class against the rest."""
        from sklearn.isotonic import IsotonicRegression

        p = softmax(rows.scores)
        n_classes = p.shape[1]
        fits = [
            IsotonicRegression(y_min=0.0, y_max=1.0).fit(p[:, k], rows.codes == k, rows.weight)
            for k in range(1 if n_classes == 2 else 0, n_classes)
        ]
        return cls(
            tuple(np.asarray(fit.X_thresholds_, dtype=np.float64) for fit in fits),
            tuple(np.asarray(fit.y_thresholds_, dtype=np.float64) for fit in fits),
            n_classes,
            float(rows.weight.sum()),
        )

    def log_posteriors(self, scores: Array) -> Array:
        """Calibrated log posteriors; the pseudo-row keeps a class possible that the model holds possible."""
        p = softmax(scores)
        found = np.empty_like(p)
        pairs = zip(self.posteriors, self.frequencies, strict=True)
        for k, (at, frequency) in enumerate(pairs, start=self.n_classes - len(self.posteriors)):
            found[:, k] = np.interp(p[:, k], at, frequency)
        if self.n_classes == 2:
            found[:, 0] = 1.0 - found[:, 1]
        found = self.weight * found + p
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(found / found.sum(axis=1, keepdims=True)))

    def _to_fields(self) -> dict[str, Any]:
        pairs = zip(self.posteriors, self.frequencies, strict=True)
        steps = [{"posteriors": at, "frequencies": frequency} for at, frequency in pairs]
        return {"steps": steps, "weight": self.weight}

    @classmethod
    def _from_fields(cls, fields: Fields, n_classes: int) -> Self:
        weight = fields.number("weight")
        if not (np.isfinite(weight) and weight > 0):
            raise fields.error("weight", "must be positive.")
        steps = []
        for part in fields.branches("steps", 1 if n_classes == 2 else n_classes):
            at = part.array("posteriors", np.float64, (None,))
            frequency = part.array("frequencies", np.float64, (len(at),))
            for name, values in (("posteriors", at), ("frequencies", frequency)):
                if not len(at) or values[0] < 0 or values[-1] > 1 or (np.diff(values) < 0).any():
                    raise part.error(name, "must rise within 0 and 1.")
            steps.append((at, frequency))
        return cls(tuple(at for at, _ in steps), tuple(found for _, found in steps), n_classes, weight)


Calibration = Scaling | Steps
FITTED: dict[Method, Callable[[CalibrationRows], Calibration]] = {
    "temperature": lambda rows: Scaling.fitted(rows, biased=False),
    "vector": lambda rows: Scaling.fitted(rows, biased=True),
    "isotonic": Steps.fitted,
}
"""How each method fits a map."""
