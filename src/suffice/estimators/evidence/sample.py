"""The rows that weights are learnt from, dealt to folds."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np

from suffice.arrays import Array, Codes
from suffice.estimators.evidence.inputs import JudgedRows
from suffice.estimators.evidence.learning import Learnt
from suffice.estimators.evidence.pieces import Pieces
from suffice.estimators.evidence.read_cells import ReadCells, SchemaCells
from suffice.estimators.evidence.rows import MOST_ROWS, Rows
from suffice.model.dealt import deal_by_content, splits_of, spread_rows
from suffice.model.statistics import Accumulator
from suffice.model.summarize import LabelledRows
from suffice.model.weighing.known_rows import KnownRows
from suffice.tables.wording import counted, warn

FEWEST_ROWS = 10
"""Rows from which weights are learnt: two in each fold. A row of weight k counts as k rows."""
FEWEST_TAKEN = 5_000
MOST_WORK = 2.5e8
"""Operations of one Hessian, rows × classes × pieces², which bound these rows further."""
ROUNDING = 1e-9


class TooLightWarning(UserWarning):
    """Rows weigh too little to weigh evidence."""

    about = "the weights of rows"
    """For whoever shows such a warning once for all folds."""


class Sample:
    """Some of the rows, each of them in a fold, and their cells.

    Rows of large weight lie in several folds, a part in each. A row is known if its class has rows in other
    folds.
    """

    def __init__(self, rows: Rows, pieces: Pieces, n_folds: int) -> None:
        self.all = rows
        taken = spread_rows(len(rows.codes), _most_rows(pieces, len(rows.labels)))
        table = rows.table.take(taken) if len(taken) < len(rows.codes) else rows.table
        read = pieces.schema.read(table)
        keys = pieces.schema.keys(read) if rows.keys is None else rows.keys.take(taken)
        weights = None if rows.weights is None else rows.weights[taken]
        dealt = deal_by_content(rows.codes[taken], weights, keys, n_folds)
        self.places = taken[dealt.rows]
        """Where each row is among all; of rows in several folds, each part."""
        self.rows = rows.labelled(self.places, dealt.weights)
        self.independent = dealt.independent * self.rows.weight
        """The weight of each row where weights are learnt: copies of a row show no more than one."""
        self.has_parts = len(self.places) > len(taken)
        self.cells = ReadCells(pieces, table.take(dealt.rows) if self.has_parts else read)
        self._once = np.unique(dealt.rows, return_index=True)[1] if self.has_parts else np.arange(len(taken))
        self.fold = np.unique(dealt.fold, return_inverse=True)[1]
        self.folds = [held for _, held in splits_of(self.fold, int(self.fold.max(initial=-1)) + 1)]

    def __len__(self) -> int:
        return len(self.places)

    @property
    def pairs_of_folds(self) -> list[tuple[int, int]]:
        """All pairs of folds."""
        return [*combinations(range(len(self.folds)), 2)]

    def add(self, accumulator: Accumulator, cells: SchemaCells) -> None:
        """Add all rows to sums, a row in parts as so many rows."""
        if len(self):
            some = np.arange(len(self))
            accumulator.update(cells.to_sum(some), *self.rows.labels_of(some))

    def add_once(self, accumulator: Accumulator, cells: SchemaCells) -> None:
        """Add all rows to sums, each once."""
        if len(self):
            accumulator.update(cells.to_sum(self._once), *self.all.labels_of(self.places[self._once]))

    @property
    def are_enough(self) -> bool:
        """Whether weights can be learnt."""
        return bool(self.independent[self.known].sum() >= FEWEST_ROWS and len(self.all.labels) > 1)

    @cached_property
    def known(self) -> Codes:
        """The rows that are known."""
        left, of_folds = self._weight_of_classes
        own = of_folds[self.rows.codes, self.fold]
        return np.flatnonzero(left[self.rows.codes] > own * (1.0 + ROUNDING))

    @cached_property
    def _weight_of_classes(self) -> tuple[Array, Array]:
        """The weight of all rows of each class, and of those in each fold, (classes, folds)."""
        k, m = len(self.all.labels), len(self.folds)
        of_class = np.asarray(np.bincount(self.all.codes, self.all.weight, k), dtype=np.float64)
        of_folds = np.bincount(m * self.rows.codes + self.fold, self.rows.weight, k * m)
        return of_class, np.asarray(of_folds.reshape(k, m), dtype=np.float64)

    def judged(self, *, twice: bool) -> JudgedRows:
        """The known rows.

        If their evidence is held out twice, from a fold that judges as well, that fold does not judge weights
        of rows whose class is unknown then.
        """
        k = len(self.all.labels)
        rows, fold = KnownRows(self.rows.codes, self.independent, k).take(self.known), self.fold[self.known]
        left, of_folds = self._weight_of_classes
        left, training = left[rows.codes] - of_folds[rows.codes, fold], []
        for one in range(len(self.folds)):
            is_learnt = fold != one
            if twice:
                is_learnt &= left > of_folds[rows.codes, one] * (1.0 + ROUNDING) + ROUNDING
            training.append(np.where(is_learnt, rows.weight, 0.0))
        unknown = self.independent.copy()
        unknown[self.known] = 0.0
        unseen = np.asarray(np.bincount(self.rows.codes, unknown, k), dtype=np.float64)
        return JudgedRows(rows, [held for _, held in splits_of(fold, len(self.folds))], training, unseen)


def why_not_reweighed(rows: LabelledRows) -> str:
    """Why no weights were learnt from some rows, and the cure."""
    light = _too_light(rows)
    if light is not None:
        return f"reweigh cannot learn weights: {light}."
    return (
        f"to learn weights, reweigh needs at least {FEWEST_ROWS} rows of two or more classes, where the only "
        f"row of a class does not count; got {counted(len(rows.codes), 'row')} of "
        f"{counted(len(rows.labels), 'class')}. Pass more rows."
    )


def warn_if_too_light(rows: LabelledRows, learnt: Learnt) -> None:
    """Say so if no weights were learnt since rows that are many enough weigh too little."""
    light = None if learnt.levels else _too_light(rows)
    if light is not None:
        warn(f"evidence was not weighed, so all columns have the same weight: {light}.", TooLightWarning)


def _too_light(rows: LabelledRows) -> str | None:
    """Where only the weights of rows are too small to learn from, what they are and the cure; else None."""
    known = rows.counts[rows.counts > 1].sum()
    if rows.weights is None or len(rows.labels) < 2 or known < FEWEST_ROWS:
        return None
    n_rows, weight = len(rows.codes), float(rows.weights.sum())
    if weight >= n_rows:
        return None
    return (
        f"{counted(n_rows, 'row')} have a total weight of {weight:.3g}, and a row of weight w counts as w "
        "rows; scale the weights to a mean of 1"
    )


def _most_rows(pieces: Pieces, n_classes: int) -> int:
    """How many rows weights are learnt from."""
    k, f = n_classes, len(pieces.listed)
    # Corrections of words are many, and need more rows than weights: the biases take little work.
    work = k * f**2 + k**2 if pieces.words else k * (f + k) ** 2
    return int(np.clip(MOST_WORK // work, FEWEST_TAKEN, MOST_ROWS))
