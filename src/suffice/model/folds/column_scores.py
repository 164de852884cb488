"""How any columns of a model score some rows, from the statistics of all its columns.

Given the class, columns are independent, or distributed jointly in a block. So the score of a row is the sum
of what its columns add, each computed once, and of what blocks add, solved for the columns that are selected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.arrays import Array
from suffice.factors import SolvedFactor
from suffice.factors.scores import Scores
from suffice.model.shared_sums import only_columns
from suffice.model.solved.solution import SolvedModel
from suffice.model.statistics import Statistics, joined
from suffice.tables.table import Table

Columns = frozenset[int]
"""Columns by position."""
Direction = Literal["forward", "backward"]


@dataclass(frozen=True)
class _Part:
    """What some columns add to the scores of the rows."""

    scores: Scores
    ignores_priors: bool

    def plus(self, other: _Part) -> _Part:
        """The sum of both."""
        mine, theirs = self.scores, other.scores
        orders = [scores.order for scores in (mine, theirs) if scores.order is not None]
        total = Scores(mine.finite + theirs.finite, sum(orders[1:], orders[0]) if orders else None)
        return _Part(total, self.ignores_priors and other.ignores_priors)


class ColumnScores:
    """The scores of some rows by any columns of a model, whose statistics are those of other rows."""

    def __init__(
        self,
        statistics: Statistics,
        table: Table,
        solve: Callable[[Statistics], SolvedModel],
        *,
        independent: bool,
    ) -> None:
        """Score the columns of the table that are solved independently; unless any are, all are one block."""
        self._statistics, self._table, self._solve = statistics, table, solve
        factors = [(frozenset(f.columns.tolist()), f.family.joint) for f in statistics.schema.factors]
        everything = frozenset[int]().union(*(columns for columns, _ in factors))
        joint = [columns for columns, is_joint in factors if is_joint] if independent else [everything]
        self._single = self._scored_singly(everything.difference(*joint))
        self._groups = [*self._single, *joint]
        self._latest: dict[Columns, tuple[Columns, _Part]] = {}

    @property
    def columns(self) -> Columns:
        """The columns that can be selected: those that have a family."""
        return frozenset[int]().union(*self._groups)

    @property
    def classes(self) -> NDArray[Any]:
        """The classes that the scores are of."""
        return self._model.classes

    @property
    def log_priors(self) -> Array:
        """Log p of each class without any cell."""
        return self._model.log_priors

    def of(self, selected: Columns) -> Array:
        """Scores by the selected columns, whose softmax is the posterior of each row."""
        return self._comparable(self._total([group for group in self._groups if group & selected], selected))

    def after_steps(self, selected: Columns, direction: Direction) -> Iterator[tuple[int, Array]]:
        """The same after each step: with one column more, or one fewer."""
        held = [group for group in self._groups if group & selected]
        if direction == "backward":
            for group, rest in self._without_each(held, selected, None):
                for j in group & selected:
                    yield j, self._comparable(self._with(rest, group, group & selected - {j}))
            return
        total = self._total(held, selected)
        for group in self._groups:
            rest = self._total([g for g in held if g != group], selected) if group in held else total
            for j in group - selected:
                yield j, self._comparable(self._with(rest, group, group & selected | {j}))

    def _without_each(
        self, held: Sequence[Columns], selected: Columns, others: _Part | None
    ) -> Iterator[tuple[Columns, _Part | None]]:
        """For each group, the sum of all others, found by adding: differences would leave rounding errors."""
        if len(held) == 1:
            yield held[0], others
            return
        middle = len(held) // 2
        for own, added in ((held[:middle], held[middle:]), (held[middle:], held[:middle])):
            yield from self._without_each(own, selected, self._total(added, selected, others))

    def _total(
        self, groups: Sequence[Columns], selected: Columns, start: _Part | None = None
    ) -> _Part | None:
        """What the selected columns of some groups add together."""
        for group in groups:
            start = self._with(start, group, group & selected)
        return start

    def _with(self, rest: _Part | None, group: Columns, chosen: Columns) -> _Part | None:
        """A sum and what the chosen columns of one more group add."""
        if not chosen:
            return rest
        part = self._single[group] if group in self._single else self._scored_jointly(group, chosen)
        return part if rest is None else rest.plus(part)

    def _comparable(self, part: _Part | None) -> Array:
        """The joint scores, with the class priors."""
        if part is None:
            raise ValueError("select at least one column.")
        offset = np.zeros(len(self.classes)) if part.ignores_priors else self._model.log_priors
        weight = self._model.evidence_weight
        return Scores(part.scores.finite + offset, part.scores.order, offset, weight).comparable()

    def _scored_singly(self, columns: Columns) -> dict[Columns, _Part]:
        """What each of some columns adds."""
        found: dict[Columns, _Part] = {}
        if columns:
            model = self._solved(columns)
            for at, factor in zip(model.schema.factors, model.factors, strict=True):
                for place, j in enumerate(at.columns.tolist()):
                    found[frozenset([j])] = self._part(factor.take_columns(np.array([place])), frozenset([j]))
        return found

    def _scored_jointly(self, block: Columns, chosen: Columns) -> _Part:
        """What the chosen columns of a block add; the latest choice of each block is remembered."""
        if self._latest.get(block, (None, None))[0] != chosen:
            self._latest[block] = chosen, self._part(self._solved(chosen).factors[0], chosen)
        return self._latest[block][1]

    def _solved(self, columns: Columns) -> SolvedModel:
        """The model of some columns."""
        schema = only_columns(self._statistics.schema, columns)
        self._model = self._solve(joined([self._statistics], schema))
        return self._model

    def _part(self, factor: SolvedFactor, columns: Columns) -> _Part:
        schema = only_columns(self._statistics.schema, columns)
        scores = Scores(np.zeros((self._table.n_rows, len(self.classes))))
        (block,), (labels,) = schema.blocks(self._table), schema.factor_labels
        factor.add_scores(block, labels, scores, base=False)
        return _Part(scores, factor.ignores_priors)
