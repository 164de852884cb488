"""A bound on what one cell says: every class's density is mixed with a little of the pooled density.

    p̃_k(x) = (N_k·p_k(x) + α·p̄(x)) / (N_k + α),   p̄(x) = Σ_j N_j·p_j(x) / N

N_k is the weight of the observed cells of class k, and N that of all classes: the mixture is what α cells of
no known class would add to each class. So a cell never says more against a class of N_k cells, and for one of
N_j, than log((N_k + α)/α · (N + α)/(N_j + α)), however far out it lies. A joint block is one cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.export.expressions import (
    RULED_OUT,
    AcrossClasses,
    Clip,
    Expression,
    Gaps,
    Score,
    Where,
    as_expression,
    exp,
    log,
    total,
    total_score,
)
from suffice.factors.base import Block, Separation, SolvedFactor
from suffice.factors.blocks import take_columns
from suffice.factors.natural import NaturalForm, not_linear
from suffice.factors.scores import Scores

NEGLIGIBLE = -600.0
"""Log of a share that changes no sum. Smaller ones are cut off: some databases raise where exp underflows."""


def check_bound(bound: Any) -> None:
    """Refuse what is neither None nor a number of cells."""
    is_number = isinstance(bound, Real) and not isinstance(bound, (bool, np.bool_))
    if bound is not None and not (is_number and 0.0 < float(bound) < np.inf):
        raise ValueError(f"bound must be None or a number above 0, such as 1.0, got {bound!r}.")


@dataclass(frozen=True)
class Mixture:
    """The densities of one cell in all classes, each mixed with α cells of the pooled density."""

    factor: SolvedFactor
    """The densities, of one column or of a joint block."""
    columns: list[int]
    """The columns, by position in the block."""
    weight: Array
    """N_k: the weight of the observed cells of each class."""
    alpha: float

    def scores(self, block: Block, labels: list[str], n_rows: int, *, base: bool) -> tuple[Scores, Scores]:
        """The scores of the cells, without the bound and with it."""
        plain = Scores(np.zeros((n_rows, len(self.weight))))
        own = [labels[j] for j in self.columns]
        self.factor.add_scores(take_columns(block, self.columns), own, plain, base=base)
        return plain, self._mixed(plain, base=base)

    def _mixed(self, plain: Scores, *, base: bool) -> Scores:
        """log p̃ from log p. Where a density vanishes with alpha, so do the mixtures, at the lowest order.

        Cells of the same density in all classes keep it to the last bit; a missing cell is one of them.
        `base=False` leaves out the highest log p, so that far out, too, the rest keeps its digits.
        """
        known = self.weight > 0
        if not known.any():
            return plain
        order, counted = None, known
        if plain.order is not None:
            lowest = np.where(known, plain.order, np.inf).min(axis=1, keepdims=True)
            counted = known & (plain.order == lowest)
            order = np.repeat(lowest, len(known), axis=1)
        finite = np.where(counted, plain.finite, -np.inf)
        highest = finite.max(axis=1, keepdims=True)
        ratio = np.exp(finite - highest)
        # Not a matrix product: its digits may depend on the number of rows.
        pooled = np.einsum("nk,k->n", ratio, self.weight / self.weight.sum())[:, np.newaxis]
        mixed = np.log((self.weight * ratio + self.alpha * pooled) / (self.weight + self.alpha))
        alike = ((finite == highest) | ~known).all(axis=1, keepdims=True)
        mixed = np.where(alike, 0.0, mixed)
        return Scores(highest + mixed if base else mixed, order)

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        """The same as an expression; what all classes share, such as the order, is left out."""
        own = [columns[j] for j in self.columns]
        plain = self.factor.expression(own, [labels[j] for j in self.columns], gaps)
        known = self.weight > 0
        if not known.any() or not any(part.is_vector for part in plain.parts):
            return plain
        out = as_expression(RULED_OUT)
        finite: Expression = plain.finite if known.all() else plain.finite + np.where(known, 0.0, RULED_OUT)
        if plain.order is not None:
            unlikely = 0.0 - (plain.order + np.where(known, 0.0, -RULED_OUT))
            finite = Where(AcrossClasses("max", unlikely) <= unlikely, finite, out)
        highest = AcrossClasses("max", finite)
        ratio = exp(Clip(finite - highest, NEGLIGIBLE, 0.0))
        share = self.weight / (self.weight + self.alpha)
        pooled = AcrossClasses("sum", ratio * (self.weight / self.weight.sum()))
        return Score(log(total([ratio * share, pooled * (self.alpha / (self.weight + self.alpha))])))

    def draw(self, classes: Codes, rng: np.random.Generator) -> Codes:
        """The class whose density each cell is drawn from: mostly its own."""
        if not self.weight.any():
            return classes
        anyone = rng.choice(len(self.weight), size=len(classes), p=self.weight / self.weight.sum())
        own = rng.random(len(classes)) * (self.weight + self.alpha)[classes] < self.weight[classes]
        return np.where(own, classes, anyone)


class BoundedFactor(SolvedFactor):
    """A factor whose cells say no more than the rows of a class warrant."""

    def __init__(self, factor: SolvedFactor, mixtures: list[Mixture]) -> None:
        self.factor = factor
        self.mixtures = mixtures
        self.family = factor.family
        self.n_parameters = factor.n_parameters
        self.is_given_length = factor.is_given_length
        self.regularized = factor.regularized

    @classmethod
    def of(cls, factor: SolvedFactor, presence: Array, alpha: float) -> Self:
        """The bounded factor, from the weight of the observed cells by class and column."""
        n_columns = presence.shape[1]
        if factor.family.joint:
            weight = presence.max(axis=1, initial=0.0)
            return cls(factor, [Mixture(factor, list(range(n_columns)), weight, alpha)])
        each = [
            Mixture(factor.take_columns(np.array([j])), [j], presence[:, j], alpha) for j in range(n_columns)
        ]
        return cls(factor, each)

    def saved_search(self) -> dict[str, Any]:
        return self.factor.saved_search()

    @property
    def log_likelihood(self) -> float:
        raise ValueError(
            "log_likelihood_ cannot be computed from the statistics of a model with bound=; add up "
            "predict_joint_log_proba over the rows, or use bound=None."
        )

    def add_scores(self, block: Block, labels: list[str], scores: Scores, *, base: bool) -> None:
        for mixture in self.mixtures:
            plain, bounded = mixture.scores(block, labels, len(scores.finite), base=base)
            scores.finite += bounded.finite
            scores.unseen += plain.unseen
            if bounded.order is not None:
                scores.add_orders(slice(None), bounded.order)

    def expression(self, columns: list[int], labels: list[str], gaps: Gaps) -> Score:
        return total_score([mixture.expression(columns, labels, gaps) for mixture in self.mixtures])

    def contributions(self, block: Block, labels: list[str], *, base: bool) -> Array:
        """Log p̃ of each cell; in a joint block, what the bound takes is shared by the observed cells."""
        seen, _ = self.observed(block, labels)
        result = np.zeros((*seen.shape, len(self.mixtures[0].weight) if self.mixtures else 0))
        for mixture in self.mixtures:
            plain, bounded = (
                scores.joint() for scores in mixture.scores(block, labels, len(seen), base=base)
            )
            if not self.family.joint:
                result[:, mixture.columns[0]] = bounded
                continue
            cells = self.factor.contributions(block, labels, base=base)
            number = np.maximum(seen.sum(axis=1), 1)[:, np.newaxis, np.newaxis]
            finite = np.isfinite(plain) & np.isfinite(bounded)
            taken = np.subtract(bounded, plain, out=np.zeros_like(plain), where=finite)
            moved = cells + taken[:, np.newaxis] / number
            shared = np.where(finite[:, np.newaxis], moved, bounded[:, np.newaxis] / number)
            result = np.where(seen[:, :, np.newaxis], shared, 0.0)
        return result

    def where_there(self, j: int, column: int, there: Array, gone: Array) -> Expression:
        return self.factor.where_there(j, column, there, gone)

    def observed(self, block: Block, labels: list[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        return self.factor.observed(block, labels)

    def take_columns(self, index: Codes) -> BoundedFactor:
        factor = self.factor.take_columns(index)
        if self.family.joint:
            (whole,) = self.mixtures
            columns = list(range(len(index)))
            return BoundedFactor(factor, [Mixture(factor, columns, whole.weight, whole.alpha)])
        taken = [self.mixtures[j] for j in index.tolist()]
        return BoundedFactor(
            factor, [Mixture(one.factor, [place], one.weight, one.alpha) for place, one in enumerate(taken)]
        )

    def log_power_sums(self, powers: Array) -> Array:
        """Not known."""
        n_columns = sum(len(mixture.columns) for mixture in self.mixtures)
        return np.full((len(powers), n_columns, len(self.mixtures[0].weight)), np.nan)

    def simulated_scores(self, seen: NDArray[np.bool_], classes: Codes, noise: Array) -> Array:
        raise ValueError(
            f"novelty has no way to draw rows of a {self.family.name} block with bound=; use bound=None."
        )

    def sample(self, classes: Codes, rng: np.random.Generator) -> list[NDArray[Any]]:
        drawn = (mixture.factor.sample(mixture.draw(classes, rng), rng) for mixture in self.mixtures)
        return [column for columns in drawn for column in columns]

    def separation(self) -> Separation:
        raise ValueError(
            "evidence has no formula for the densities of a model with bound=; ask a model with bound=None, "
            "which fit_statistics makes of the same statistics_."
        )

    def natural_forms(self, names: list[str], about: int | None = None) -> list[NaturalForm]:
        why = "bound= mixes each class with all others"
        raise not_linear(names[0], self.family.name, why, "use bound=None")

    def conventional(self) -> list[dict[str, Any]]:
        return self.factor.conventional()
