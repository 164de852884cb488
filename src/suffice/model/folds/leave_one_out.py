"""Leave-one-out: scores of every row by the model of all other rows, without a model for each of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array, Codes
from suffice.factors import KINDS
from suffice.factors.left_out import LabelledBlock, LeftOut, sums_of_others
from suffice.factors.presence import presence_left_out
from suffice.links import log_softmax_in_place
from suffice.model.columns.schema import Schema
from suffice.model.folds.training_sums import SplitRows
from suffice.model.priors import Priors, are_estimated, class_priors
from suffice.model.solved.solution import SolvedModel
from suffice.model.statistics import Accumulator, Statistics
from suffice.model.summarize import LabelledRows


@dataclass(frozen=True)
class LeftOutPosteriors:
    """Log posteriors (n, k) of the rows by the models without them, where these were found together."""

    classes: NDArray[Any]
    log_posteriors: Array
    exact: NDArray[np.bool_]
    """The rows whose posteriors were found; all others are to be refitted."""

    def posteriors(self, rows: Codes | NDArray[np.bool_]) -> Array:
        """The posteriors of some rows."""
        return np.exp(self.log_posteriors[rows])


def can_be_left_out(schema: Schema) -> bool:
    """Whether every factor has a way to leave out rows without refitting."""
    return all(KINDS[factor.family.factor].leave_out is not None for factor in schema.factors)


class EachRow:
    """The rows of positive weight, each of which is left out, and the sums of all of them."""

    def __init__(self, rows: SplitRows, schema: Schema) -> None:
        labelled = LabelledRows(rows.table, rows.labels, rows.weights)
        self.places: Codes = np.arange(rows.table.n_rows) if labelled.kept is None else labelled.kept
        accumulator = Accumulator.empty(schema)
        labelled.add_to(accumulator)
        self.statistics: Statistics = accumulator.statistics()
        self.blocks = schema.blocks(labelled.kept_table)
        self.codes = labelled.codes  # classes are sorted there, too
        self.weights = np.ones(len(self.codes)) if labelled.weights is None else labelled.weights
        self.table, self.n_rows = rows.table, rows.table.n_rows

    def with_schema(self, schema: Schema) -> EachRow:
        """The same rows with other settings for solving."""
        other = copy(self)
        other.statistics = self.statistics.with_schema(schema)
        return other

    @cached_property
    def class_weight(self) -> Array:
        """The weight of each class without each row, (n, k)."""
        n_classes = len(self.statistics.classes)
        weight = np.repeat(self.statistics.weight[np.newaxis], len(self.codes), axis=0)
        own = sums_of_others(self.weights, self.codes, n_classes)
        weight[np.arange(len(own)), self.codes] = own
        return weight

    @property
    def class_stays(self) -> NDArray[np.bool_]:
        """Whether the class of each row has other rows."""
        return np.asarray(self.statistics.support[self.codes] > 1)

    def block(self, factor: int, *, predictive: bool = False) -> LabelledBlock:
        """The cells of one factor."""
        labels = self.statistics.schema.factor_labels[factor]
        return LabelledBlock(
            self.blocks[factor], labels, self.codes, self.weights, self.statistics.classes, predictive
        )

    def log_priors(self, priors: Array | None) -> Array:
        """Log π_k without each row, (n, k): shares of the weight unless they are given."""
        with np.errstate(divide="ignore"):
            if priors is not None:
                return np.repeat(np.log(priors)[np.newaxis], len(self.codes), axis=0)
            return np.asarray(np.log(self.class_weight / self.class_weight.sum(axis=1, keepdims=True)))

    def joint(
        self,
        priors: Priors,
        evidence_weight: float,
        *,
        predictive: bool,
        presence: NDArray[np.bool_] | None = None,
    ) -> LeftOut | None:
        """The scores of a product of factors; None if a factor has no way but refitting.

        `presence` says in which columns it counts whether cells are there.
        """
        statistics = self.statistics
        given = None if are_estimated(priors) else class_priors(priors, statistics.classes, statistics.weight)
        scores, exact = self.log_priors(given), self.class_stays
        for f, totals in enumerate(statistics.totals):
            leave_out = KINDS[totals.family.factor].leave_out
            found = None if leave_out is None else leave_out(totals, self.block(f, predictive=predictive))
            if found is None:
                return None
            scores += evidence_weight * found.scores
            exact &= found.exact
            scored = None if presence is None else presence[statistics.schema.factors[f].columns]
            if scored is not None and scored.any():
                scores += evidence_weight * presence_left_out(self.block(f), totals, scored)
        return LeftOut(scores, exact)

    def posteriors(self, joint: LeftOut, model: Callable[[], SolvedModel]) -> LeftOutPosteriors:
        """The posteriors of all rows; those without weight are answered by the model of all others."""
        classes = self.statistics.classes
        joint = LeftOut.checked(joint.scores, joint.exact)
        log_posteriors = np.zeros((self.n_rows, len(classes)))
        exact = np.zeros(self.n_rows, dtype=np.bool_)
        rows = self.places[joint.exact]
        log_posteriors[rows] = log_softmax_in_place(joint.scores[joint.exact])
        exact[rows] = True
        unweighted = np.delete(np.arange(self.n_rows), self.places)
        if len(unweighted):
            log_posteriors[unweighted] = model().log_posteriors(self.table.take(unweighted))
            exact[unweighted] = True
        return LeftOutPosteriors(classes, log_posteriors, exact)
