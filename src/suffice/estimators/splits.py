"""Models of the training rows of many splits, under many settings, from rows that are summed once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.arrays import Codes
from suffice.estimators.generative import Generative
from suffice.factors import KINDS
from suffice.factors.left_out import LeftOut
from suffice.lazy import scikit_learn
from suffice.model.columns.chosen_families import Families
from suffice.model.columns.schema import Schema
from suffice.model.folds.column_scores import ColumnScores
from suffice.model.folds.held_out import LabelledData
from suffice.model.folds.importances import column_importances
from suffice.model.folds.leave_one_out import EachRow, LeftOutPosteriors, can_be_left_out
from suffice.model.folds.training_sums import SplitRows, Splits, TrainingSums, iterated, read_splits
from suffice.model.folds.worse_than_shares import unchecked
from suffice.model.shared_sums import layers_of, need_same_sums, share_a_pass
from suffice.model.solved.solution import SolvedModel
from suffice.model.statistics import Accumulator, Statistics, joined
from suffice.tables.notations import Marks
from suffice.tables.table import read_table, take_rows


class FittedToSplits(Generative):
    """A model that `fit` can make from the sums of its training rows."""

    def _chosen_families(self) -> Families:
        """The setting that decides the family of each column."""
        raise NotImplementedError

    def _marks(self) -> Marks | None:
        """The texts that stand for a missing cell; None if text is never read as anything else."""
        raise NotImplementedError

    def _reading(self) -> Any:
        """The settings that change how cells are read."""
        return None

    def _needs_rows(self) -> bool:
        """Whether a setting needs the rows themselves, not only their sums."""
        return False

    _solves_columns_apart: ClassVar[bool] = True
    """Whether the parameters of a column do not depend on which other columns there are."""

    def _on_columns(self, columns: Sequence[int], names: Sequence[Hashable], *, named: bool) -> Self:
        """An unfitted model for a table of some columns, by position, of one with these names."""
        return scikit_learn.clone(self)  # type: ignore[no-any-return]

    def _column_scores(
        self, X: Any, y: Any, splits: Sequence[tuple[Codes, Codes]], sample_weight: ArrayLike | None
    ) -> list[ColumnScores] | None:
        """The scores of the test rows of each split by any columns of the model of its training rows.

        Each row is read once for its sums and once to be scored. None if there is no way around the rows:
        a setting needs them, or the sums of some columns cannot be taken from those of all.
        """
        ((rows, (one,)),) = self._alike(X, y, [{}], sample_weight)
        kinds = (KINDS[factor.family.factor].totals for factor in one.schema.factors)
        if one.needs_rows or not all(kind.divisible for kind in kinds):
            return None

        def solve(train: Codes, statistics: Statistics) -> SolvedModel:
            unfitted = copy(one.unfitted)
            unfitted.n_features_in_ = sum(len(factor.columns) for factor in statistics.schema.factors)
            model: FittedToSplits = _fitted(unfitted, rows, train, statistics)
            return model._solved_model()

        sums = (found for _, (found,) in rows.training_sums(splits, [one.schema]))
        table, apart = one.schema.read(rows.table), self._solves_columns_apart
        return [
            ColumnScores(of_rest, table.take(test), partial(solve, train), independent=apart)
            for of_rest, (train, test) in zip(sums, splits, strict=True)
        ]

    def importances(
        self, X: Any, y: Any, *, cv: Any = 5, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """How much each column by itself says about the classes, measured on rows that were held out.

        It is the mean of log p(class | cell) − log p(class) in nats: 0 for a column that says nothing, below
        0 for one that misleads, and at most the entropy of the classes. A missing cell says nothing. Columns
        that say the same each have the whole of it. Rows are read once for their sums and once to be scored.
        This model stays as it is.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        cv : int, splitter or iterable of (training rows, test rows), default=5
            The number of folds, stratified by class, or any splits as in scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        importances : ndarray of shape (n_features,)
            In nats; 0 for columns that are left out.
        """
        data = LabelledData.of(self, X, y, sample_weight)
        splits = list(data.splits(cv, None))
        reader = scikit_learn.clone(self)
        folds = reader._column_scores(data.X, data.labels, splits, data.weight)
        if folds is None:
            raise ValueError(
                "importances needs columns that can be told apart; those of a Multinomial block cannot, so "
                "choose another family for them, such as Poisson()."
            )
        return column_importances(data, splits, folds, read_table(data.X).n_columns)

    def fit_splits(
        self, X: Any, y: Any, splits: Splits, sample_weight: ArrayLike | None = None
    ) -> Iterator[Self]:
        """Fit a new model to the training rows of each split, reading each row once where folds are disjoint.

        The families of the columns are those of all rows; otherwise each model is what `fit` would make of
        its training rows. This model stays as it is.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,)
            The class of each row.
        splits : iterable of (training rows, test rows)
            Positions or masks, such as those of a scikit-learn splitter.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        models : iterator of objects
            A fitted model for each split, in their order; it is made when it is asked for.
        """
        return (model for _, _, model in self.fit_grid(X, y, splits, [{}], sample_weight))

    def fit_grid(
        self,
        X: Any,
        y: Any,
        splits: Splits,
        settings: Sequence[Mapping[str, Any]],
        sample_weight: ArrayLike | None = None,
        *,
        refit_schema: bool = False,
    ) -> Iterator[tuple[int, int, Self]]:
        """Fit a new model to the training rows of each split under each of several settings.

        All settings share one pass over the rows, which sums what any of them needs: other columns and
        families take more sums, and settings that only matter when solving (alpha, shrinkage, covariance,
        priors, …) take none. Only cells that are read in another way, such as other n-grams, take a pass
        more.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,)
            The class of each row.
        splits : iterable of (training rows, test rows)
            Positions or masks, such as those of a scikit-learn splitter.
        settings : sequence of dict
            Parameters to set, by name.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.
        refit_schema : bool, default=False
            Whether the families of the columns are those of the training rows of each split, not of all rows.
            A split with other families is fitted from its rows.

        Returns
        -------
        models : iterator of (int, int, object)
            The number of the settings, the number of the split, and the fitted model; models that share sums
            come split by split.
        """
        listed = list(iterated(splits))
        for rows, group in self._alike(X, y, settings, sample_weight):
            if group[0].needs_rows:
                for split, (train, _) in enumerate(read_splits(listed, rows.table.n_rows)):
                    some = take_rows(X, train), *rows.take(train)
                    yield from ((one.number, split, _refitted(one.unfitted, *some)) for one in group)
                continue
            layers = layers_of([one.schema for one in group])
            training = enumerate(rows.training_sums(listed, layers))
            while True:
                try:
                    split, (train, sums) = next(training)
                except StopIteration:
                    break
                except ValueError:
                    for one in group:  # the error of all rows names the right row
                        one.unfitted.fit(X, y, sample_weight)
                    raise
                labels, weights = rows.take(train)
                inside = refit_schema and len(train) < rows.table.n_rows
                chosen = SplitRows(rows.table.take(train), labels, weights) if inside else rows
                for one in group:
                    schema = chosen.schema(one.families, one.marks)
                    if need_same_sums(schema, one.schema):
                        accumulator = Accumulator.of(joined(sums, schema))
                        training_sums = TrainingSums(accumulator, rows.table.container)
                        fitted = copy(one.unfitted).fit(training_sums, labels, weights)
                    else:
                        fitted = _refitted(one.unfitted, take_rows(X, train), labels, weights)
                    yield one.number, split, fitted

    def _leave_out(self, rows: EachRow) -> LeftOut | None:
        """The joint scores of every row by the model of all others; None where each must be refitted."""
        return None

    def _without_each(
        self,
        X: Any,
        y: Any,
        settings: Sequence[Mapping[str, Any]],
        sample_weight: ArrayLike | None,
    ) -> list[LeftOutPosteriors | None]:
        """For each setting the posteriors of every row by the model of all others, without refits."""
        found: list[LeftOutPosteriors | None] = [None] * len(settings)
        for rows, group in self._alike(X, y, settings, sample_weight):
            each_row = None
            for one in group:
                if one.needs_rows or not can_be_left_out(one.schema):
                    continue
                # Refits raise the error where it is due.
                with suppress(ValueError, TypeError, NotImplementedError, ArithmeticError):
                    if each_row is None or not need_same_sums(each_row.statistics.schema, one.schema):
                        each_row = EachRow(rows, one.schema)
                    each = each_row.with_schema(one.schema)
                    sums = TrainingSums(Accumulator.of(each.statistics), rows.table.container)
                    checked: FittedToSplits = copy(one.unfitted).fit(sums, rows.labels, rows.weights)
                    joint = checked._leave_out(each)
                    if joint is not None:
                        found[one.number] = each.posteriors(joint, checked._solved_model)
        return found

    def _alike(
        self, X: Any, y: Any, settings: Sequence[Mapping[str, Any]], sample_weight: ArrayLike | None
    ) -> list[tuple[SplitRows, list[_Candidate]]]:
        """Models with these settings that know the columns, in groups that share their sums."""
        read: list[tuple[Any, SplitRows, FittedToSplits]] = []
        groups: list[tuple[SplitRows, list[_Candidate]]] = []
        for number, changed in enumerate(settings):
            model: FittedToSplits = scikit_learn.clone(self).set_params(
                **scikit_learn.clone(dict(changed), safe=False)
            )
            reading = model._reading()
            found = next((one for one in read if one[0] == reading), None)
            if found is None:
                rows = SplitRows(model._read(X, reset=True), model._labels(y), sample_weight)
                found = reading, rows, model
                read.append(found)
            _, rows, reader = found
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(reader, name):
                    setattr(model, name, getattr(reader, name))
            families, marks = model._chosen_families(), model._marks()
            schema = rows.schema(families, marks)
            candidate = _Candidate(number, model, families, marks, schema, needs_rows=model._needs_rows())
            for held, group in groups:
                if held is rows and candidate.joins(group):
                    group.append(candidate)
                    break
            else:
                groups.append((rows, [candidate]))
        return groups


@dataclass
class _Candidate:
    """A model with some settings, and the schema that they choose."""

    number: int
    unfitted: Any
    families: Families
    marks: Marks | None
    schema: Schema
    needs_rows: bool

    def joins(self, group: list[_Candidate]) -> bool:
        """Whether one pass over the rows sums what this model and those of a group need."""
        if self.needs_rows or group[0].needs_rows:
            return False
        return share_a_pass([self.schema, *(one.schema for one in group)])


def _refitted(unfitted: Any, X: Any, y: Any, weights: ArrayLike | None) -> Any:
    """A model that is fitted to training rows themselves."""
    with unchecked():
        return scikit_learn.clone(unfitted).fit(X, y, weights)


def _fitted(unfitted: Any, rows: SplitRows, train: Codes, statistics: Statistics) -> Any:
    """A model that is fitted to the statistics of training rows."""
    sums = TrainingSums(Accumulator.of(statistics), rows.table.container)
    return copy(unfitted).fit(sums, *rows.take(train))
