"""Class priors of new rows without labels, by maximum likelihood (Saerens, Latinne and Decaestecker 2002).

Between training and use the classes may become rarer or commoner while each of them looks the same. Then
p(x) = Σ_k q_k·p(x | C_k) with the old densities and new priors q. A posterior divided by the old prior is a
density up to a factor of the row, so any classifier with posteriors will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from suffice.arrays import Array
from suffice.storage import Fields
from suffice.tables.wording import aligned

TOLERANCE = 1e-8
"""Nats that the log likelihood of all rows may lie below its maximum."""
MOST_ITERATIONS = 10_000


@dataclass(frozen=True, eq=False)
class PriorShift:
    """Priors re-estimated from rows without labels, and a test of whether they differ; prints as a table.

    Attributes
    ----------
    classes : ndarray of shape (k,)
    before : ndarray of shape (k,)
        The priors of the model.
    priors : ndarray of shape (k,)
        The maximum-likelihood priors of the new rows.
    n_iterations : int
        Steps of EM.
    statistic : float
        Twice the gain in log likelihood over the priors before.
    degrees_of_freedom : int
    p_value : float
        The probability of such a gain without a shift, by the χ² distribution of the likelihood ratio.
    """

    classes: NDArray[Any]
    before: Array
    priors: Array
    n_rows: int
    n_iterations: int
    statistic: float

    @property
    def degrees_of_freedom(self) -> int:
        """Classes that are possible, less one."""
        return int(np.sum(self.before > 0)) - 1

    @property
    def p_value(self) -> float:
        """The tail of χ² beyond the statistic."""
        freedom = self.degrees_of_freedom
        return float(stats.chi2.sf(self.statistic, freedom)) if freedom else 1.0

    def state(self) -> dict[str, Any]:
        """The same, as a file holds it; the classes are those of the model."""
        names = ("before", "priors", "n_rows", "n_iterations", "statistic")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_fields(cls, fields: Fields, classes: NDArray[Any]) -> Self:
        """The same from its state."""
        before, priors = (fields.array(name, np.float64, classes.shape) for name in ("before", "priors"))
        for name, given in (("before", before), ("priors", priors)):
            if (given < 0).any() or not np.isclose(given.sum(), 1.0):
                raise fields.error(name, "must be priors: not below 0, and 1 together.")
        n_rows, n_iterations = (fields.integer(name, 0, 1 << 53) for name in ("n_rows", "n_iterations"))
        statistic = fields.number("statistic")
        if not 0.0 <= statistic < np.inf:
            raise fields.error("statistic", "must not be below 0.")
        return cls(classes, before, priors, n_rows, n_iterations, statistic)

    def __repr__(self) -> str:
        pairs = zip(self.classes.tolist(), self.before, self.priors, strict=True)
        rows = [(str(label), f"{old:.4f}", f"{new:.4f}") for label, old, new in pairs]
        lines = [f"Priors of {self.n_rows} rows, after {self.n_iterations} iterations"]
        lines += aligned([("class", "before", "now"), *rows])
        test = f"χ²({self.degrees_of_freedom}) = {self.statistic:.4g}, p = {self.p_value:.3g}"
        return "\n".join([*lines, f"likelihood ratio against no shift: {test}"])


def estimate_shift(log_posterior: Array, before: Array, classes: NDArray[Any]) -> PriorShift:
    """The priors that make the rows most probable, given posteriors under the priors before."""
    if len(log_posterior) == 0:
        raise ValueError("there are no rows to estimate priors from.")
    possible = before > 0
    # p(x | C_k)/p(x) under the old priors, up to a factor of the row; a class ruled out stays so.
    log_ratio = log_posterior[:, possible] - np.log(before[possible])
    log_ratio[np.isneginf(log_ratio).all(axis=1)] = 0.0  # says nothing about the classes that are possible
    highest = log_ratio.max(axis=1)
    ratio = np.exp(log_ratio - highest[:, np.newaxis])
    found, n_iterations = _expectation_maximisation(ratio, before[possible])
    priors = np.zeros_like(before)
    priors[possible] = found
    gain = _log_likelihood(ratio, found) - _log_likelihood(ratio, before[possible])
    return PriorShift(
        classes=classes,
        before=before,
        priors=priors,
        n_rows=len(log_posterior),
        n_iterations=n_iterations,
        statistic=max(0.0, 2.0 * gain),
    )


def _log_likelihood(ratio: Array, priors: Array) -> float:
    return float(np.sum(np.log(ratio @ priors)))


def _expectation_maximisation(ratio: Array, priors: Array) -> tuple[Array, int]:
    """EM, whose steps are lengthened (Varadhan and Roland 2008) where that raises the likelihood."""

    def gradient(q: Array) -> Array:
        return np.asarray((ratio / (ratio @ q)[:, np.newaxis]).mean(axis=0))

    n_iterations = 0
    slope = gradient(priors)
    # The likelihood is concave in the priors, so this bounds what is left to gain.
    while len(ratio) * (slope.max() - 1.0) > TOLERANCE and n_iterations < MOST_ITERATIONS:
        one = priors * slope
        two = one * gradient(one)
        step, bend = one - priors, (two - one) - (one - priors)
        bent = float(np.linalg.norm(bend))
        length = float(np.linalg.norm(step)) / bent if bent > 0 else 1.0
        far = priors + 2.0 * length * step + length**2 * bend
        if (far > 0).all() and _log_likelihood(ratio, far) > _log_likelihood(ratio, two):
            two = far
        priors = two / two.sum()
        slope = gradient(priors)
        n_iterations += 2
    return priors, n_iterations
