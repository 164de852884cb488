"""A solved model: parameters of every factor and the class priors. It scores rows and never sums them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from suffice import factors
from suffice.arrays import Array, Codes, read_only
from suffice.export.expressions import RULED_OUT, Gaps, Score, as_expression, total_score
from suffice.export.scoring import Scoring
from suffice.factors import Regularized, SolvedFactor
from suffice.factors.base import Block
from suffice.factors.bounded import BoundedFactor
from suffice.factors.levels.alike import Unseen, warn_of_unseen
from suffice.factors.presence import WithPresence, are_there_together
from suffice.factors.scores import Scores
from suffice.kernels import threads
from suffice.kernels.choose import one_choice, row_parts, whole_work
from suffice.links import FEW_CLASSES, difference, log_softmax_in_place, log_sum, softmax, softmax_in_place
from suffice.model.explaining.column_evidence import ColumnEvidence
from suffice.model.explaining.explanation import Explanation
from suffice.model.priors import Priors, are_estimated, class_priors
from suffice.model.statistics import Statistics
from suffice.storage import Fields
from suffice.tables.container import Container
from suffice.tables.table import Table

FEWEST_ROWS = 64
"""Rows that are scored together, at the least: to prepare parameters costs something too."""

Posterior = Literal["plug-in", "predictive"]
"""Whether rows are scored with the estimated parameters, or averaged over what they may be."""

SavedSearches = list[SolvedFactor | None]
"""For each factor its parameters, if they took a search."""


def solve_from_searches(statistics: Statistics, saved: list[Fields]) -> SavedSearches:
    """The parameters that took a search, from the results that were saved with the model."""
    labels = statistics.schema.factor_labels
    return [
        factors.solve_from_search(totals, names, statistics.classes, saved_search)
        for totals, names, saved_search in zip(statistics.totals, labels, saved, strict=True)
    ]


def check_posterior(posterior: Posterior) -> None:
    """Refuse an unknown kind of score."""
    if posterior not in get_args(Posterior):
        raise ValueError(f"posterior must be one of {get_args(Posterior)}, got {posterior!r}.")


class SolvedModel:
    """p(x, C_k) = π_k · Π_f p_f(x_f | λ_kf), ready to score."""

    def __init__(
        self, statistics: Statistics, factors: list[SolvedFactor], priors: Array, *, estimated: bool
    ) -> None:
        self.schema = statistics.schema
        self.evidence_weight = statistics.schema.evidence_weight
        self.classes = statistics.classes
        self.weight = statistics.weight
        self.presence = [totals.presence() for totals in statistics.totals]
        self.priors = priors
        self.estimated_priors = estimated
        self.factors = factors
        self.factor_labels = statistics.schema.factor_labels

    @classmethod
    def of(cls, statistics: Statistics, priors: Priors, saved: SavedSearches | None = None) -> Self:
        """Solve every factor by its own family, over the classes that have rows.

        Factors whose search was saved with the model are restored from it.
        """
        known = saved or [None] * len(statistics.totals)
        solved = [
            factor or factors.solve(totals, labels, statistics.classes)
            for totals, labels, factor in zip(
                statistics.totals, statistics.schema.factor_labels, known, strict=True
            )
        ]
        uniform = class_priors("uniform", statistics.classes, statistics.weight)
        return cls(statistics, solved, uniform, estimated=False).with_priors(priors)

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__ = dict(self.__dict__)
        return other

    def predictive(self) -> Self:
        """The same model, whose factors score by their posterior predictives."""
        other = copy(self)
        other.factors = [
            factors.predictive(factor, labels, self.classes)
            for factor, labels in zip(self.factors, self.factor_labels, strict=True)
        ]
        return other

    def with_presence(self, scored: NDArray[np.bool_]) -> Self:
        """The same model, which also scores whether the cells of some columns are there."""
        if not scored.any():
            return self
        other = copy(self)
        other.factors = [
            factors.with_presence(factor, present, self.weight, scored[at.columns])
            for at, factor, present in zip(self.schema.factors, self.factors, self.presence, strict=True)
        ]
        return other

    def of_values(self) -> Self:
        """The same model, which only scores what the cells hold, not whether they are there."""
        other = copy(self)
        other.factors = [
            factor.inner if isinstance(factor, WithPresence) else factor for factor in self.factors
        ]
        return other

    def bounded(self, alpha: float) -> Self:
        """The same model, whose cells say no more than the rows of a class warrant."""
        self.require_density("bound")
        other = copy(self)
        pairs = zip(self.factors, self.presence, strict=True)
        other.factors = [BoundedFactor.of(factor, presence, alpha) for factor, presence in pairs]
        return other

    def unbounded(self) -> Self:
        """The same model without a bound."""
        other = copy(self)
        values = self.of_values().factors
        other.factors = [one.factor if isinstance(one, BoundedFactor) else one for one in values]
        return other

    def with_priors(self, priors: Priors) -> Self:
        """The same parameters under other priors."""
        other = copy(self)
        # They are handed out, and the posteriors depend on them.
        other.priors = read_only(class_priors(priors, self.classes, self.weight).copy())
        other.estimated_priors = are_estimated(priors)
        if self._ignores_priors() and not are_estimated(priors) and not isinstance(priors, str):
            raise ValueError("event='complement' ignores priors, as published; pass priors=None.")
        return other

    def weighing(self, evidence_weight: float) -> Self:
        """The same parameters, whose evidence counts by another weight in posteriors."""
        other = copy(self)
        other.evidence_weight = evidence_weight
        return other

    def marginal(self, columns: Sequence[int]) -> Self:
        """The model of some columns, in ascending order, with all others marginalised out: it scores rows.

        A Multinomial is observed or missing as a whole, and so are its columns.
        """
        taken = np.asarray(columns, dtype=np.intp)
        other = copy(self)
        other.schema = replace(self.schema, columns=tuple(self.schema.columns[j] for j in columns))
        other.factors, other.factor_labels, other.presence = [], [], []
        for at in other.schema.factors:
            wanted = taken[at.columns]
            f = next(f for f, whole in enumerate(self.schema.factors) if wanted[0] in whole.columns)
            whole, factor = self.schema.factors[f], self.factors[f]
            index = np.searchsorted(whole.columns, wanted)
            other.factors.append(factor if len(index) == len(whole.columns) else factor.take_columns(index))
            other.factor_labels.append([self.factor_labels[f][i] for i in index.tolist()])
            other.presence.append(self.presence[f][:, index])
        return other

    @property
    def n_parameters(self) -> int:
        """Free parameters, priors included where they are estimated."""
        free = len(self.classes) - 1 if self.estimated_priors else 0
        return free + sum(factor.n_parameters for factor in self.factors)

    @property
    def log_priors(self) -> Array:
        """Log π_k, −inf for a class ruled out."""
        with np.errstate(divide="ignore"):
            return np.log(self.priors)

    @property
    def offset(self) -> Array:
        """The score of every row before its cells: log π_k, or 0 if all factors ignore priors."""
        return np.zeros(len(self.classes)) if self._ignores_priors() else self.log_priors

    def _ignores_priors(self) -> bool:
        return bool(self.factors) and all(factor.ignores_priors for factor in self.factors)

    @property
    def log_likelihood(self) -> float:
        """Log p of the summarized rows and labels, from the statistics alone."""
        self.require_density("log_likelihood_")
        present = self.weight > 0
        joint = float(self.weight[present] @ self.log_priors[present])
        return joint + sum(factor.log_likelihood for factor in self.factors)

    def require_density(self, deed: str) -> None:
        """Refuse what needs a density."""
        if not all(factor.has_density for factor in self.factors):
            raise ValueError(
                f"{deed} needs a density, but event='complement' and weight_norm=True have none; "
                "use event='multinomial'."
            )

    @property
    def regularized(self) -> list[Regularized]:
        """Parameters without a maximum likelihood estimate, and what was done instead."""
        return [entry for factor in self.factors for entry in factor.regularized]

    def scores(
        self, table: Table, *, base: bool, compared: bool = False, into: Array | None = None
    ) -> Scores:
        """Joint scores of every row; without `base` no log h(x), `compared` nothing that classes share."""
        finite = np.empty((table.n_rows, len(self.classes))) if into is None else into
        blocks = self.schema.blocks(table, self.factors)
        return self.scores_of_blocks(blocks, finite, base=base, compared=compared)

    def scores_of_blocks(
        self, blocks: list[Block], finite: Array, *, base: bool, compared: bool = False
    ) -> Scores:
        """The same from the cells of each factor, into an array (rows, classes)."""
        offset = self.offset
        if len(offset) <= FEW_CLASSES:  # class by class: rows of few numbers are slow to write
            for k, score in enumerate(offset.tolist()):
                finite[:, k] = score
        else:
            finite[:] = offset
        scores = Scores(finite, None, offset, self.evidence_weight, compared)
        for factor, labels, block in zip(self.factors, self.factor_labels, blocks, strict=True):
            factor.add_scores(block, labels, scores, base=base)
        return scores

    def read_off(
        self,
        table: Table,
        function: Callable[[Scores], NDArray[Any]],
        *,
        base: bool = False,
        compared: bool = False,
    ) -> NDArray[Any]:
        """Apply a function to the scores, in parallel over runs of rows, so that temporaries stay small.

        The function returns a result for every row, and may overwrite the scores.
        """
        table = self.schema.read(table)  # at once, so that one warning counts the cells of all parts
        per_row = len(self.classes) + table.cells_per_row
        n_cells = whole_work(table.n_rows * table.cells_per_row * len(self.classes))
        parts = row_parts(table.n_rows, per_row, FEWEST_ROWS)
        if len(parts) <= 1:
            with one_choice(n_cells):
                scores = self.scores(table, base=base, compared=compared)
                warn_of_unseen(scores.unseen)
                return function(scores)
        nothing = function(Scores(np.empty((0, len(self.classes)))))
        result = np.empty((table.n_rows, *nothing.shape[1:]), nothing.dtype)
        unseen: list[Unseen] = []

        def write(rows: slice) -> None:
            into = result[rows] if nothing.ndim == 2 else None
            with one_choice(n_cells):
                scores = self.scores(table.part(rows), base=base, compared=compared, into=into)
                found = function(scores)
            unseen.extend(scores.unseen)
            if found is not into:
                result[rows] = found

        try:
            with threads.one_thread_per_product():
                threads.run(write, parts)
        except ValueError:  # raised again over the whole table, so that it names the right row
            return function(self.scores(table, base=base, compared=compared))
        warn_of_unseen(unseen)
        return result

    def posteriors(self, table: Table) -> Array:
        """p(C_k | x) of every row."""
        return self.read_off(table, lambda scores: softmax_in_place(scores.comparable()), compared=True)

    def log_posteriors(self, table: Table) -> Array:
        """Log p(C_k | x) of every row."""
        return self.read_off(table, lambda scores: log_softmax_in_place(scores.comparable()), compared=True)

    def log_densities(self, table: Table) -> Array:
        """Log p(x | C_k) of what the observed cells of every row hold."""
        even = self.of_values().with_priors("uniform")
        return np.asarray(even.read_off(table, Scores.joint, base=True) + np.log(len(self.classes)))

    def expression(self, gaps: Gaps) -> Score:
        """The scores as an expression over the cells of a row."""
        offset = Score(as_expression(np.maximum(self.offset, RULED_OUT)))
        parts = zip(self.schema.factors, self.factors, self.factor_labels, strict=True)
        evidence = [factor.expression(at.columns.tolist(), labels, gaps) for at, factor, labels in parts]
        if self.evidence_weight != 1.0 and evidence:
            evidence = [total_score(evidence).rescaled(self.evidence_weight)]
        return total_score([offset, *evidence])

    def scoring(self, container: Container | None, gaps: Gaps) -> Scoring:
        """What an export needs: the columns, the classes and the scores."""
        if self.schema.factors and all(factor.reads == "documents" for factor in self.schema.factors):
            raise ValueError(
                "a model of text alone cannot be written as SQL or ONNX, which do not split text into words; "
                "score the documents in Python with predict_proba, or in files with suffice predict."
            )
        names, named = self.schema.names, self.schema.named
        kinds = (None,) * len(self.schema) if container is None else container.kinds()
        notations = self.schema.notations
        return Scoring(names, named, kinds, self.classes, self.expression(gaps), notations=notations)

    def contributions(self, table: Table, *, base: bool) -> Array:
        """Log p of each cell, (rows, columns, classes); columns left out contribute 0."""
        blocks = self.schema.blocks(table)
        result = self._of_cells(
            table.n_rows, blocks, lambda factor, *cells: factor.contributions(*cells, base=base)
        )
        # Beside an impossible cell, a cell of infinite density counts for nothing.
        ruled_out = np.isneginf(result).any(axis=1, keepdims=True)
        return np.where(ruled_out & np.isposinf(result), 0.0, result)

    def _of_cells(
        self, n_rows: int, blocks: list[Block], log_p: Callable[[SolvedFactor, Any, list[str]], Array]
    ) -> Array:
        """What each factor gives for its cells, (rows, columns, classes); 0 for columns left out."""
        result = np.zeros((n_rows, len(self.schema), len(self.classes)))
        for at, factor, labels, block in zip(
            self.schema.factors, self.factors, self.factor_labels, blocks, strict=True
        ):
            result[:, at.columns] = log_p(factor, block, labels)
        return result

    def observed(self, table: Table) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The cells that count in the scores, and those ignored because the model never produces them."""
        seen = np.zeros((table.n_rows, len(self.schema)), dtype=np.bool_)
        ignored = np.zeros_like(seen)
        blocks = self.schema.blocks(table)
        for at, factor, labels, block in zip(
            self.schema.factors, self.factors, self.factor_labels, blocks, strict=True
        ):
            seen[:, at.columns], ignored[:, at.columns] = factor.observed(block, labels)
        return seen, ignored

    def explain(self, table: Table, *, base: bool) -> Explanation:
        """Contributions of every cell to every class's joint score, with log h(x) or without."""
        scores = self.scores(table, base=base)
        # Far out, log p(x) has few digits left for the differences of the classes.
        compared = self.scores(table, base=False) if base else scores
        return Explanation(
            contributions=self.evidence_weight * self.contributions(table, base=base),
            prior=self.offset,
            total=scores.weighed_joint(),
            posterior=softmax(compared.comparable()),
            columns=self.schema.names,
            classes=self.classes,
            values=tuple(table.values(j) for j in range(table.n_columns)),
            container=table.container,
            rows=table.row_labels,
        )

    def separation(self, container: Container) -> ColumnEvidence:
        """How well the columns tell the classes apart."""
        self.require_density("evidence")
        d, k = len(self.schema), len(self.classes)
        kl, distance = np.zeros((d, k, k)), np.zeros((d, k, k))
        total_kl, total_distance = np.zeros((k, k)), np.zeros((k, k))
        for at, factor in zip(self.schema.factors, self.factors, strict=True):
            found = factor.separation()
            kl[at.columns], distance[at.columns] = found.kl, found.bhattacharyya
            total_kl += found.joint_kl
            total_distance += found.joint_bhattacharyya
        return ColumnEvidence(
            self.schema.names, self.classes, self.priors, kl, distance, total_kl, total_distance, container
        )

    def gains(self, table: Table, codes: Codes) -> tuple[Array, Array]:
        """The nats that each column, by itself, adds to rows of known classes, and is believed to add."""
        table = self.schema.read(table)
        sums = self.summed_gains(lambda rows: self.schema.blocks(table.part(rows)), codes)
        gained, believed = sums / table.n_rows
        return gained, believed

    def summed_gains(
        self, blocks: Callable[[slice], list[Block]], codes: Codes, weights: Array | None = None
    ) -> Array:
        """The sums of both over rows, (2, columns), whose cells come in parts."""
        sums = np.zeros((2, len(self.schema)))
        for rows in row_parts(len(codes), len(self.schema) * len(self.classes), FEWEST_ROWS):
            own = codes[rows]
            alone = self._of_cells(len(own), blocks(rows), lambda factor, *cells: factor.alone(*cells))
            n, d, k = alone.shape
            with np.errstate(invalid="ignore"):
                joint = (alone + self.log_priors).reshape(n * d, k)
            joint = np.where(np.isnan(joint), -np.inf, joint)
            evidence = difference(alone, log_sum(joint).reshape(n, d, 1))
            p = softmax(joint).reshape(n, d, k)
            found = evidence[np.arange(n), :, own], (p * np.where(p > 0, evidence, 0.0)).sum(axis=2)
            sums += [one.sum(axis=0) if weights is None else weights[rows] @ one for one in found]
        return sums

    def sample(self, codes: Codes, rng: np.random.Generator, *, missing: bool) -> list[NDArray[Any]]:
        """One row of each class in `codes`, column by column; columns left out are missing.

        With `missing`, cells are missing as often as in the class's training rows, column by column.
        """
        columns: list[NDArray[Any]] = [np.full(len(codes), np.nan) for _ in self.schema]
        for at, factor in zip(self.schema.factors, self.factors, strict=True):
            for j, values in zip(at.columns.tolist(), factor.sample(codes, rng), strict=True):
                columns[j] = values
        if missing:
            weight = np.where(self.weight > 0, self.weight, 1.0)[:, np.newaxis]
            for at, factor, present in zip(self.schema.factors, self.factors, self.presence, strict=True):
                share = present / weight
                if isinstance(factor, WithPresence):  # the model has a chance of its own
                    share = np.where(factor.scored, factor.chance, share)
                chance = rng.random((len(codes), 1 if are_there_together(at.family) else len(at.columns)))
                for j, gone in zip(at.columns.tolist(), (chance > share[codes]).T, strict=True):
                    columns[j] = np.where(gone, None if columns[j].dtype == object else np.nan, columns[j])
        return columns

    def parameters(self) -> dict[Any, dict[str, Any]]:
        """The usual parameters, by column."""
        named = {}
        for at, factor in zip(self.schema.factors, self.factors, strict=True):
            for j, values in zip(at.columns.tolist(), factor.conventional(), strict=True):
                named[self.schema.names[j]] = values
        return named
