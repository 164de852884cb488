"""A model of sums, fitted to rows of any source: batch by batch, or by sums that workers made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.engines.checkpoint import Checkpoint
from suffice.engines.partial_sums import cells_so_far, under, without_held_out
from suffice.estimators.generative import FittedState
from suffice.estimators.saved_sums import SavedSums
from suffice.kernels.choose import one_choice
from suffice.model.columns.schema import Schema
from suffice.model.statistics import Accumulator, Statistics
from suffice.tables.files.batches import Labelled, LabelledBatch


class FittedFromSources(SavedSums):
    """Learns from rows that come in batches, or that others have added up."""

    sums_batches: ClassVar[bool] = True

    def _learn(self, X: Any, y: Any, sample_weight: ArrayLike | None, *, afresh: bool) -> Any:
        """Add rows."""
        raise NotImplementedError

    def _knowing(self, learnt: FittedState, settings: dict[str, Any]) -> Self:
        """A model with other contents, and some settings changed."""
        raise NotImplementedError

    def _learn_files(self, files: Labelled) -> None:
        def learn(batches: Iterator[LabelledBatch]) -> None:
            for number, batch in enumerate(batches):
                n_cells = cells_so_far(self._learnt.accumulator, batch) if number else 0
                with one_choice(n_cells):
                    self._learn(*batch, afresh=number == 0)
                if files.checkpoint is not None:
                    if number == 0:
                        self._resume(files.checkpoint)
                    files.checkpoint.note(lambda: self.statistics_)

        def learn_all() -> None:
            sums = files.summed(self._begin)
            if sums is None:
                files.coded().through(learn)
            else:
                self._take_over(sums)
            self._check_priors(np.unique(self._learnt.accumulator.classes))

        self._atomically(learn_all)

    def _take_over(self, sums: Statistics) -> None:
        """Hold these sums, which others have made for the schema that is held."""
        known = self._learnt
        self._learnt = replace(known, accumulator=Accumulator.of(under(known.accumulator.schema, sums)))

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Go on from the sums of an earlier run, if there was one."""
        saved = checkpoint.sums(self._learnt.accumulator.schema)
        if saved is not None:
            self._take_over(saved)

    def _begin(self, first: LabelledBatch) -> _SumsOfModel:
        """Learn the columns from the first rows; what is returned adds up any rows."""
        self._learn(*first, afresh=True)
        schema = without_held_out(self._learnt.accumulator.schema)
        empty = FittedState(Accumulator.empty(schema), self._learnt.container)
        return _SumsOfModel(self._knowing(empty, {}))


@dataclass(frozen=True)
class _SumsOfModel:
    """Adds up batches as a model does; it is sent to workers."""

    model: Any
    """It knows the columns, and no rows."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        schema: Schema = self.model.statistics_.schema
        return schema

    def __call__(self, batches: Iterable[LabelledBatch]) -> Statistics:
        """The sums of all batches."""
        model = copy(self.model)
        for batch in batches:
            model._learn(*batch, afresh=False)  # noqa: SLF001, of this file
        statistics: Statistics = model.statistics_
        return statistics
