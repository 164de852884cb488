"""Number columns scored by their posterior predictive ∫ p(x | λ)·p(λ | rows) dλ, in closed form.

The prior is what the smoothing says: alpha pseudo-observations. A Normal becomes a Student t, a Poisson a
negative binomial, an Exponential a Lomax distribution. All is read off the plug-in parameters and the weights
of the classes. Where no posterior exists, since nothing was observed, the plug-in score stays.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.arrays import Array, Codes
from suffice.export.expressions import Expression, Gaps, Linear, Score, log1p, mask, square, total
from suffice.factors.base import Block, Regularized
from suffice.factors.columns.export import column_scores
from suffice.factors.columns.large_counts import psi
from suffice.factors.columns.parameters import PER_COLUMN
from suffice.factors.columns.scores import CELLS_AT_ONCE, Prepared, SolvedColumns
from suffice.factors.columns.sparse import with_gaps_apart
from suffice.factors.natural import NaturalForm, averaged
from suffice.factors.scores import Scores
from suffice.families import Exponential, Family, LogNormal, Normal, Poisson
from suffice.families.elementary import evaluate
from suffice.families.special import HALF_LOG_TWO_PI, log_student_constant, stirling_remainder


def predictive_columns(solved: SolvedColumns, labels: list[str], classes: NDArray[Any]) -> SolvedColumns:
    """The columns with predictive scores; families without such a score of their own are left as they are."""
    kind = PREDICTIVE.get(type(solved.family))
    if kind is None:
        return solved
    made = kind(solved.family, *solved.constant.shape)
    for name in PER_COLUMN:
        setattr(made, name, getattr(solved, name))
    made.n_parameters, made.log_p_of_rows = solved.n_parameters, solved.log_p_of_rows
    without = (made.weight > 0) & ~made.proper & made.active & ~made.point
    made.regularized = solved.regularized + [
        Regularized(
            labels[j],
            classes.tolist()[k],
            "alpha and ddof leave no degrees of freedom, so it keeps its plug-in score",
        )
        for k, j in np.argwhere(without)
    ]
    return made


class PredictiveColumns(SolvedColumns):
    """The scores of number columns, averaged over the posterior of the parameters."""

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        raise averaged(names[0], self.family.name)

    @cached_property
    @abstractmethod
    def size(self) -> Array:
        """How many observations the posterior holds, pseudo-observations included: (k, d)."""

    @cached_property
    def proper(self) -> NDArray[np.bool_]:
        """Where there is a posterior; elsewhere the plug-in score stays."""
        return self.size > 0

    @abstractmethod
    def _predictive(self, u: Array, k: int) -> Array:
        """Log p of cells in class k without log h, from their first statistic; any number where improper."""

    @abstractmethod
    def _posterior_members(self, classes: Codes, rng: np.random.Generator) -> Array:
        """λ drawn from the posterior of the class of each row, (m, rows, columns); any where improper."""

    @property
    def quadratic(self) -> None:
        """No score is a sum of squares."""
        return

    @property
    def large_counts(self) -> None:
        """No score is a deviance."""
        return

    def _is_linear(self, outside: NDArray[np.bool_] | None) -> bool:
        return False

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        if not sparse.issparse(block):
            super().add_scores(block, labels, scores, base=base)
            return
        with_gaps_apart(self.family, block, labels)  # which names the row that it refuses
        by_row, step = block.tocsr(), max(1, CELLS_AT_ONCE // max(block.shape[1], 1))
        for start in range(0, block.shape[0], step):
            rows = slice(start, start + step)
            part = Scores(scores.finite[rows])
            super().add_scores(by_row[rows].toarray(), labels, part, base=base)
            if part.order is not None:
                scores.add_orders(rows, part.order)

    def _log_p(self, values: Array, k: int) -> Array:
        on = self.active
        u = evaluate(self.family.functions[0], values, self.origin[k, on], self.exponent[on])
        proper = self.proper[k, on]
        cells = self._predictive(u, k)
        return cells if proper.all() else np.where(proper, cells, super()._log_p(values, k))

    def _empty(self, n_columns: int) -> SolvedColumns:
        return type(self)(self.family, len(self.constant), n_columns)

    def log_power_sums(self, powers: Array) -> Array:
        unknown = np.where(self.active & ~self.point, np.nan, 0.0)
        return np.broadcast_to(unknown.T, (len(powers), *unknown.T.shape))

    def _drawn_members(
        self, degenerate: NDArray[np.bool_], classes: Codes, rng: np.random.Generator
    ) -> Array:
        usable = self.proper & ~degenerate
        drawn = self._posterior_members(classes, rng)
        return np.where(usable[classes], drawn, self._members(degenerate)[:, classes])

    def _safe(self, values: Array) -> Array:
        """Parameters, with 1 where there is no posterior, or the class is a single value."""
        return np.where(self.proper & ~self.point & self.active, values, 1.0)


class StudentColumns(PredictiveColumns):
    """Normal and LogNormal: a Student t of ν degrees of freedom about the mean, of scale² = σ²(1 + 1/n).

    ν is what σ² was divided by: n + alpha − ddof, summed over the classes if they share σ².
    """

    family: Normal

    @cached_property
    def size(self) -> Array:
        degrees = self.family.smoothed_weight(self.weight)
        if self.family.dispersion == "shared":
            degrees = np.broadcast_to(degrees.sum(axis=0), degrees.shape)
        return np.where(self.weight > 0, degrees, 0.0)

    @cached_property
    def _parameters(self) -> tuple[Array, Array, Array, Array]:
        """ν, the mean, scale² and the constant, in the units of λ."""
        degrees = self._safe(self.size)
        linear, curve = self.natural
        variance = self._safe(-0.5 / np.where(curve < 0, curve, -1.0))
        mean = linear * variance
        spread = 1.0 + 1.0 / self._safe(self.weight)
        constant = self.constant + 0.5 * mean**2 / variance - 0.5 * np.log(spread)
        return degrees, mean, variance * spread, constant + log_student_constant(degrees, 1)

    def _predictive(self, u: Array, k: int) -> Array:
        degrees, mean, square_scale, constant = (each[k, self.active] for each in self._parameters)
        squares = np.square(u - mean) / square_scale
        return np.asarray(constant - 0.5 * (degrees + 1.0) * np.log1p(squares / degrees))

    def _posterior_members(self, classes: Codes, rng: np.random.Generator) -> Array:
        degrees, mean, square_scale, _ = (each[classes] for each in self._parameters)
        n = self._safe(self.weight)[classes]
        variance = square_scale / (1.0 + 1.0 / n) * degrees / rng.chisquare(degrees)
        drawn = rng.normal(mean, np.sqrt(variance / n))
        return np.stack([drawn / variance, -0.5 / variance])

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        degrees, mean, square_scale, constant = self._parameters
        proper = self.proper

        def log_p(j: int, u: Expression) -> Expression:
            squares = square((u - mean[:, j]) * (1.0 / np.sqrt(square_scale[:, j])))
            bent = log1p(squares * (1.0 / degrees[:, j])) * (-0.5 * (degrees[:, j] + 1.0))
            if proper[:, j].all():
                return bent + constant[:, j]
            plain = Linear((u, square(u)), self.natural[:, :, j]) + self.constant[:, j]
            return total([(bent + constant[:, j]) * mask(proper[:, j]), plain * mask(~proper[:, j])])

        return column_scores(self, columns, labels, None, log_p)


class LomaxColumns(PredictiveColumns):
    """Exponential: p(x) = (1/μ)·(1 + x/aμ)^−(a + 1), a = n + alpha and μ the smoothed mean."""

    @cached_property
    def size(self) -> Array:
        return self.weight + self.family.alpha

    @cached_property
    def _parameters(self) -> tuple[Array, Array]:
        """The shape a and the scale aμ, in the units of λ."""
        shape, rate = self._safe(self.size), self._safe(-self.natural[0])
        return shape, shape / rate

    def _predictive(self, u: Array, k: int) -> Array:
        shape, scale = (each[k, self.active] for each in self._parameters)
        return np.asarray(self.constant[k, self.active] - (shape + 1.0) * np.log1p(u / scale))

    def _posterior_members(self, classes: Codes, rng: np.random.Generator) -> Array:
        shape, scale = self._parameters
        tiny = np.finfo(np.float64).tiny  # a rate that underflows has no distribution
        return -np.maximum(rng.gamma(shape[classes]), tiny)[np.newaxis] / scale[classes]

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        shape, scale = self._parameters
        proper = self.proper

        def log_p(j: int, u: Expression) -> Expression:
            bent = log1p(u * (1.0 / scale[:, j])) * -(shape[:, j] + 1.0)
            if not proper[:, j].all():
                bent = bent * mask(proper[:, j]) + u * (self.natural[0, :, j] * mask(~proper[:, j]))
            return bent + self.constant[:, j]

        return column_scores(self, columns, labels, None, log_p)


class NegativeBinomialColumns(PredictiveColumns):
    """Poisson: p(x) = Γ(x + r)/(Γ(r)·x!)·πʳ(1 − π)ˣ, r = bμ and π = b/(b + 1), b = n + alpha."""

    @cached_property
    def size(self) -> Array:
        return self.weight + self.family.alpha

    def _prepared(self, block: Array, labels: list[str], *, base: bool, first_row: int = 0) -> Prepared:
        # log h = −log x! is part of `_predictive`: apart, both would be large and cancel.
        return super()._prepared(block, labels, base=False, first_row=first_row)

    def _predictive(self, u: Array, k: int) -> Array:
        rate = self._safe(self.size)[k, self.active]
        r = rate * self._safe(np.exp(self.natural[0]))[k, self.active]
        return _log_negative_binomial(u, r, rate)

    def _log_p(self, values: Array, k: int) -> Array:
        cells = super()._log_p(values, k)
        proper = self.proper[k, self.active]
        return cells if proper.all() else cells + np.where(proper, 0.0, self.family.log_base_measure(values))

    def log_power_sums(self, powers: Array) -> Array:
        return self._log_power_sums_of_counts(powers)

    def _posterior_members(self, classes: Codes, rng: np.random.Generator) -> Array:
        rate = self._safe(self.size)
        mean = rng.gamma((rate * self._safe(np.exp(self.natural[0])))[classes]) / rate[classes]
        return np.log(np.maximum(mean, np.finfo(np.float64).tiny))[np.newaxis]

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        raise ValueError(
            f"{labels[0]}: the predictive score of Poisson, a negative binomial, needs log Γ(x), which SQL "
            "and ONNX do not have; use posterior='plug-in', or score the rows in Python."
        )


def _log_negative_binomial(x: Array, r: Array, b: Array) -> Array:
    """Log of Γ(x + r)/(Γ(r)·x!)·(b/(b + 1))ʳ·(1/(b + 1))ˣ, by deviances (Loader 2000)."""
    at_zero = -r * np.log1p(1.0 / b)
    count = np.where(x > 0, x, 1.0)
    every = count + r
    far = psi(r, every * (b / (b + 1.0))) + psi(count, every / (b + 1.0))
    rest = stirling_remainder(every) - stirling_remainder(r) - stirling_remainder(count)
    shape = 0.5 * (np.log(r) - np.log(every) - np.log(count)) - HALF_LOG_TWO_PI
    return np.where(np.isnan(x), np.nan, np.where(x > 0, shape + rest - far, at_zero))


PREDICTIVE: dict[type[Family], type[PredictiveColumns]] = {
    Normal: StudentColumns,
    LogNormal: StudentColumns,
    Exponential: LomaxColumns,
    Poisson: NegativeBinomialColumns,
}
"""Families whose predictive distribution differs from the plug-in one, and has a closed form here.

Bernoulli is not among them: its predictive probability is (n₁ + alpha)/(n + 2·alpha), the plug-in one.
"""
