"""A joint Gaussian block scored by its posterior predictive, a multivariate Student t.

t_ν(μ, Σ(1 + 1/n)) with ν as many degrees of freedom as Σ has rows. The marginal of a t is the t of the
submatrix with the same ν, so a row with gaps is scored on its observed columns. If Σ is diagonal, columns are
independent, and each has its own t.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes, Exponents
from suffice.export.expressions import Expression, Gaps, Score, log1p, mask, total
from suffice.factors.base import Block
from suffice.factors.checks import refuse_infinities
from suffice.factors.gaussian.export import block_scores, squared_distance
from suffice.factors.gaussian.parameters import Whitening
from suffice.factors.gaussian.scores import LARGEST, SolvedGaussian, runs
from suffice.factors.natural import NaturalForm, averaged
from suffice.factors.scores import Scores
from suffice.families.special import LOG_TWO, log_student_constant


def predictive_gaussian(solved: SolvedGaussian, _labels: list[str], _classes: NDArray[Any]) -> SolvedGaussian:
    """The block with predictive scores, and all else as it was solved."""
    made = PredictiveGaussian(solved.family, solved.labels, solved.active, len(solved.scale))
    known = {name: value for name, value in vars(solved).items() if name != "whitenings"}
    made.__dict__ |= known | {
        "standard": solved.standard,
        "plug_in": solved,
    }  # multiplied out, if it was thin
    return made


class PredictiveGaussian(SolvedGaussian):
    """The scores of a joint Gaussian block, averaged over the posterior of means and covariances."""

    is_predictive: ClassVar[bool] = True
    plug_in: SolvedGaussian
    """The same parameters with the scores of plug-in estimates."""

    def saved_search(self) -> dict[str, Any]:
        """What was found of the parameters."""
        return self.plug_in.saved_search()

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        raise averaged(names[0], self.family.name)

    @cached_property
    def spread(self) -> Array:
        """1 + 1/n of each class; 1 for a class without rows in the block, which keeps its plug-in score."""
        some = self.weight > 0
        return np.where(some, 1.0 + 1.0 / np.where(some, self.weight, 1.0), 1.0)

    @property
    def by_column(self) -> bool:
        """Whether each column has a variance, and a t, of its own."""
        return self.family.covariance in ("diagonal", "shared_diagonal")

    def _empty(self, labels: list[str], active: Codes, d: int) -> SolvedGaussian:
        return PredictiveGaussian(self.family, labels, active, d)

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        refuse_infinities(block, labels)
        for every, columns, whitenings in self._patterns(block):
            far = (np.abs(block[np.ix_(every, columns)]) > self._limit[columns]).any(axis=1)
            for rows, distant in ((every[~far], False), (every[far], True)):
                for at in runs(rows):
                    values = block[np.ix_(at, columns)]
                    larger = self._larger_units(values, columns) if distant else None
                    for k, g in enumerate(self.group):
                        z = self._standard(values, columns, k, larger)
                        terms = self._terms(z, whitenings[g], k, larger)
                        scores.finite[at, k] += self._constant(whitenings[g], k) + terms.sum(axis=1)

    def _constant(self, whitening: Whitening, k: int) -> float:
        """The log density of class k at its mean."""
        d = len(whitening.root)
        constant = whitening.constant - 0.5 * d * float(np.log(self.spread[k]))
        if not self.weight[k] > 0 or not d:
            return constant
        width, times = (1, d) if self.by_column else (d, 1)
        return constant + times * float(log_student_constant(self.degrees[k], width))

    def _terms(self, z: Array, whitening: Whitening, k: int, larger: Exponents | None) -> Array:
        """What standardised rows subtract from the constant: (n, 1), or (n, d) if each column has its own t.

        Rows far away come in units larger by powers of two, in which their squares do not overflow.
        """
        squares = np.square(z @ whitening.inverse.T)
        width = 1 if self.by_column else squares.shape[1]
        if not self.by_column:
            squares = squares.sum(axis=1, keepdims=True)
        twice = np.zeros((len(z), 1), dtype=np.int32) if larger is None else 2 * larger[:, np.newaxis]
        if not self.weight[k] > 0:
            with np.errstate(over="ignore"):
                return np.asarray(-0.5 * np.minimum(np.ldexp(squares, twice), LARGEST))
        degrees = self.degrees[k]
        ratio = squares / (degrees * self.spread[k])
        if larger is None:
            bent = np.log1p(ratio)
        else:  # log(1 + 2ᵉ·ratio): in the larger unit, 1 is 2⁻ᵉ
            away = ratio > 0
            bent = np.where(away, np.log(np.where(away, np.ldexp(1.0, -twice) + ratio, 1.0)), 0.0)
            bent += np.where(away, twice * LOG_TWO, 0.0)
        return np.asarray(-0.5 * (degrees + width) * bent)

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        """Constants are shared as in the Gaussian; the rest by column, or as z_j(Σ⁻¹z)_j shares zᵀΣ⁻¹z."""
        refuse_infinities(block, labels)
        result = np.zeros((*block.shape, len(self.group)))
        for rows, columns, whitenings in self._patterns(block):
            scale, values = self.scale[columns], block[np.ix_(rows, columns)]
            far = (np.abs(values) > self._limit[columns]).any()
            larger = self._larger_units(values, columns) if far else None
            for k, g in enumerate(self.group):
                whitening = whitenings[g]
                z = self._standard(values, columns, k, larger)
                terms, constants = self._terms(z, whitening, k, larger), whitening.cells(0.0 * z[:1], scale)
                if not self.by_column:
                    squares = constants - whitening.cells(z, scale)
                    whole = squares.sum(axis=1, keepdims=True)
                    terms = terms * np.divide(squares, whole, out=np.zeros_like(squares), where=whole > 0)
                rest = (self._constant(whitening, k) - constants.sum()) / len(columns)
                result[rows[:, np.newaxis], columns, k] = constants + rest + terms
        return result

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        some = self.weight > 0
        degrees = np.where(some, self.degrees, 1.0)
        times = 1.0 / (degrees * self.spread)

        def bent(seen: Codes) -> Expression:
            squares = squared_distance(self, columns, seen, times)
            score = log1p(squares) * (-0.5 * (degrees + len(seen)))
            if some.all():
                return score
            return total([score * mask(some), squares * (-0.5 * mask(~some))])

        def log_density(seen: Codes) -> Expression:
            whitenings = self.marginals(seen)
            constants = np.array([self._constant(whitenings[g], k) for k, g in enumerate(self.group)])
            parts = [np.array([j]) for j in seen.tolist()] if self.by_column else [seen][: len(seen)]
            return total([*map(bent, parts)]) + constants

        return block_scores(log_density, self.active, columns, labels, gaps, independent=self.by_column)

    def gaussian_peak(self, seen: NDArray[np.bool_]) -> tuple[int, Array] | None:
        return None

    def simulated_scores(self, seen: NDArray[np.bool_], classes: Codes, noise: Array) -> Array:
        raise ValueError(
            "novelty has no formula for the predictive score of a joint Gaussian block; use "
            "posterior='plug-in'."
        )

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        centre, drawn = self.mean[classes], np.stack(super().sample(classes, rng), axis=1)
        some, degrees = self.weight > 0, np.where(self.weight > 0, self.degrees, 1.0)
        width = len(self.scale) if self.by_column else 1
        bent = degrees[classes] / rng.chisquare(degrees[classes], (width, len(classes)))
        wider = np.sqrt(np.where(some[classes], self.spread[classes] * bent, 1.0))
        return list((centre + (drawn - centre) * wider.T).T)
