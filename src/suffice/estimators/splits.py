"""Models of the training rows of many splits, under many settings, from rows that are summed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import clone

from suffice.estimators.generative import Generative
from suffice.model.folds import SplitRows, Splits, TrainingSums, read_splits
from suffice.model.infer import Families
from suffice.model.schema import Schema
from suffice.model.statistics import Accumulator
from suffice.tables.notations import Marks
from suffice.tables.table import take_rows


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
    ) -> Iterator[tuple[int, int, Self]]:
        """Fit a new model to the training rows of each split under each of several settings.

        Settings that only matter when solving (alpha, shrinkage, covariance, priors, …) share one pass over
        the rows. Those that need other sums take one pass more.

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

        Returns
        -------
        models : iterator of (int, int, object)
            The number of the settings, the number of the split, and the fitted model; models that share sums
            come split by split.
        """
        listed = list(splits)
        for rows, group in self._alike(X, y, settings, sample_weight):
            if group[0].needs_rows:
                for split, (train, _) in enumerate(read_splits(listed, rows.table.n_rows)):
                    some = take_rows(X, train), *rows.take(train)
                    yield from ((one.number, split, clone(one.unfitted).fit(*some)) for one in group)
                continue
            training = enumerate(rows.training_sums(listed, group[0].schema))
            while True:
                try:
                    split, (train, sums) = next(training)
                except StopIteration:
                    break
                except ValueError:
                    group[0].unfitted.fit(X, y, sample_weight)  # the error of all rows names the right row
                    raise
                labels, weights = rows.take(train)
                for one in group:
                    accumulator = Accumulator.of(sums.with_schema(one.schema))
                    training_sums = TrainingSums(accumulator, rows.table.container)
                    yield one.number, split, copy(one.unfitted).fit(training_sums, labels, weights)

    def _alike(
        self, X: Any, y: Any, settings: Sequence[Mapping[str, Any]], sample_weight: ArrayLike | None
    ) -> list[tuple[SplitRows, list[_Candidate]]]:
        """Models with these settings that know the columns, in groups that share their sums."""
        read: list[tuple[Any, SplitRows, FittedToSplits]] = []
        groups: list[tuple[SplitRows, list[_Candidate]]] = []
        for number, changed in enumerate(settings):
            model: FittedToSplits = clone(self).set_params(**clone(dict(changed), safe=False))
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
            schema = rows.schema(model._chosen_families(), model._marks())
            candidate = _Candidate(number, model, schema, needs_rows=model._needs_rows())
            for held, group in groups:
                if held is rows and group[0].shares_sums(candidate):
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
    schema: Schema
    needs_rows: bool

    def shares_sums(self, other: _Candidate) -> bool:
        """Whether both have the same sums, up to settings for solving."""
        if self.needs_rows or other.needs_rows:
            return False
        if self.schema is other.schema or self.schema == other.schema:
            return True
        decided = not (self.schema.is_undecided or other.schema.is_undecided)
        return decided and self.schema.difference(other.schema) is None
