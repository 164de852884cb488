"""What every estimator has: fitting that succeeds or changes nothing, locks, criteria, names of columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock, RLock
from typing import Any, ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from suffice.arrays import Array, Codes
from suffice.engines.labelled import How, OnError, labelled_arrays, labelled_rows
from suffice.engines.predictions import predicted
from suffice.estimators.settings import KeepsSettings
from suffice.export.exportable import Exportable
from suffice.lazy.scikit_learn import BaseEstimator, ClassifierMixin, NotFittedError
from suffice.model.columns.schema import Schema
from suffice.progress import Progress
from suffice.storage import Fields, Saved
from suffice.tables.files.batches import Labelled
from suffice.tables.targets import checked_weights, labelled
from suffice.tables.wording import counted

_LOCKS: WeakKeyDictionary[object, RLock] = WeakKeyDictionary()
_NEW_LOCK = Lock()


class Printed(BaseEstimator):  # type: ignore[misc]
    """Prints as scikit-learn's estimators do, with a schema among the settings in a few words."""

    _setting_names: ClassVar[list[str]]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The names of the settings, read off the constructor once: that takes long beside a few rows."""
        if "_setting_names" not in vars(cls):
            cls._setting_names = super()._get_param_names()
        return cls._setting_names

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return str(BaseEstimator.__repr__(_in_short(self), N_CHAR_MAX))


@dataclass(frozen=True)
class _Brief:
    """Something that prints as this text."""

    text: str

    def __repr__(self) -> str:
        return self.text


def _in_short(value: Any) -> Any:
    """A setting as it is printed: a schema in a few words, an estimator with its settings in short."""
    if isinstance(value, Schema):
        return _Brief(f"<schema of {counted(len(value), 'column')}>")
    if not isinstance(value, Printed):
        return value
    # scikit-learn breaks lines only for a class whose __repr__ is its own.
    plain: Any = type(type(value).__name__, (type(value),), {"__repr__": BaseEstimator.__repr__})
    twin = plain.__new__(plain)
    twin.__dict__ = {name: _in_short(one) for name, one in value.get_params(deep=False).items()}
    return twin


class Classifier(ClassifierMixin):  # type: ignore[misc]
    """A classifier whose labels may be a column of X, given by its name."""

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy of `predict` on rows whose classes are known.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        accuracy : float
        """
        X, y = labelled(X, y)
        return float(super().score(X, y, sample_weight))


class Estimator(Exportable, Saved, KeepsSettings, Classifier, Printed):
    """A classifier that can be fitted to tables and files, compared by information criteria, and saved."""

    sums_batches: ClassVar[bool] = False
    """Whether a fit is nothing but sums of batches, so that it can go on after an interruption."""
    reads_documents: ClassVar[bool] = False
    """Whether rows are single documents, without names of columns."""
    _learnt: Any
    """The result of fitting; absent before."""

    def fit_from(
        self,
        source: Any,
        *,
        target: str | int | None = None,
        weight: str | int | None = None,
        drop: Iterable[str | int] = (),
        how: How | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        on_error: OnError = "raise",
        progress: bool = False,
    ) -> Self:
        """Fit to rows that need not fit in memory: of files, streams, lazy frames, databases or a cluster.

        Parameters
        ----------
        source : path, glob or list of them, lazy frame, relation, stream or iterable
            Files (csv, tsv, jsonl, parquet, arrow, packed or not), SQL for DuckDB, Polars LazyFrames, DuckDB
            relations, Ibis tables, Dask and Spark DataFrames, Arrow streams and datasets, or an iterable of
            frames or of pairs (X, y). The first 100,000 rows (or the first 64 MB in memory) decide the family
            of each column, unless the model has a Schema as its `families`.
        target : str or int
            The column that holds the classes; only pairs (X, y) do without.
        weight : str or int, optional
            The column that holds the weights.
        drop : list of str or int, optional
            Columns to leave out.
        how : {"pushdown", "batches"}, optional
            Who adds up the rows, as in `summarize`.
        checkpoint : path, optional
            For files and models of sums: where sums and position are written every few seconds. After an
            interruption, the same call goes on from there, and ends in the same model; then the file is
            removed.
        on_error : {"raise", "skip"}, default="raise"
            For files: whether one that cannot be read is an error, or skipped with a warning. Rows that were
            read before the damage count.
        progress : bool, default=False
            For files: whether a line on the terminal shows rows a second and the time left.

        Returns
        -------
        self : object
            The fitted model.
        """
        with Progress("fitting", quiet=not progress) as line:
            files = labelled_rows(
                source,
                target,
                weight,
                drop,
                how,
                checkpoint=checkpoint,
                on_error=on_error,
                said=line.rows if progress else None,
            )
            asked = "checkpoint=" if files.checkpoint is not None else "how='pushdown'"
            if not self.sums_batches and (files.checkpoint is not None or how == "pushdown"):
                raise ValueError(
                    f"{asked} works for models of sums, such as BayesClassifier; {type(self).__name__} needs "
                    "rows too."
                )
            self._learn_files(files)
        return self

    def predict_from(
        self, source: Any, sink: Any = None, *, proba: bool = True, keep: Iterable[str] = ()
    ) -> Any:
        """Predict the rows of a source, where they are, without holding them in memory.

        Parameters
        ----------
        source : path, glob or list of them, lazy frame, relation, stream or iterable
            The rows, as in `fit_from`, with the columns of the model.
        sink : path or callable, optional
            A .parquet, .arrow or .csv file, which appears once it is complete, or a function that is called
            with each pyarrow Table of answers. For Dask and Spark, a folder of Parquet files.
        proba : bool, default=True
            Whether the answers have the posterior of each class, in columns p(CLASS).
        keep : list of str, optional
            Columns of the source to copy to the answers.

        Returns
        -------
        answers : RecordBatchReader, Dask or Spark DataFrame, or None
            Without a sink, the answers, which are made as they are read.
        """
        self._require_fitted()
        return predicted(self, source, sink, keep, proba=proba)

    def _fit_lazy(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit to rows that an engine holds."""
        self._learn_files(labelled_arrays(X, y, sample_weight))
        return self

    def _learn_files(self, files: Labelled) -> None:
        """Fit from scratch; if that fails, the model stays as it was."""
        raise NotImplementedError

    def _atomically(self, change: Callable[[], object]) -> Self:
        """Run a change; if it fails, the model stays as it was."""
        with self._lock():
            before = dict(self.__dict__)
            try:
                change()
            except BaseException:
                self.__dict__ = before
                raise
        return self

    def _lock(self) -> RLock:
        """The lock that threads take to fit or solve the model; it is neither copied nor saved."""
        with _NEW_LOCK:
            return _LOCKS.setdefault(vars(self).get("_copy_of", self), RLock())

    def _is_fitted(self) -> bool:
        return hasattr(self, "_learnt")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def _require_fitted(self) -> None:
        if not self._is_fitted():
            raise not_fitted(self)

    def _criterion_terms(self) -> tuple[float, int, float]:
        """The maximised log likelihood, the number of free parameters and the total weight of the rows."""
        raise NotImplementedError

    @property
    def aic_(self) -> float:
        """Akaike's information criterion, 2p − 2·log likelihood."""
        log_likelihood, n_parameters, _ = self._criterion_terms()
        return 2.0 * n_parameters - 2.0 * log_likelihood

    @property
    def bic_(self) -> float:
        """The Bayesian information criterion, p·log n − 2·log likelihood, n the total weight."""
        log_likelihood, n_parameters, weight = self._criterion_terms()
        return float(n_parameters * np.log(weight) - 2.0 * log_likelihood)

    def _note_columns(self, schema: Schema) -> None:
        """Note the number of columns, and their names as far as scikit-learn takes them."""
        self.n_features_in_ = len(schema)
        if schema.named and are_feature_names(schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _load_names(self, fields: Fields, names: Sequence[Hashable] | None) -> None:
        """Note the columns' names, where a file says that the model knew them."""
        if fields.flag("feature_names_in"):
            if not are_feature_names(names):
                raise fields.error("feature_names_in", "is true, but the columns have no names.")
            self.feature_names_in_ = np.array(names, dtype=object)


class NoSuchValueError(AttributeError, ValueError):
    """A value that a model cannot have, with the reason: for `hasattr` and `dir` it is not there."""


@contextmanager
def refused_as_absent() -> Iterator[None]:
    """Take what cannot be computed for an attribute that is not there: `hasattr` passes on other errors."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, AttributeError):
            raise
        raise NoSuchValueError(str(error)) from error


def are_feature_names(names: Sequence[Hashable] | None) -> bool:
    """Whether scikit-learn takes these for `feature_names_in_`: all of them are texts."""
    return names is not None and all(isinstance(name, str) for name in names)


def not_fitted(estimator: Any, besides: str = "") -> NotFittedError:
    """The error for an estimator that was used before it was fitted."""
    return NotFittedError(
        f"This {type(estimator).__name__} instance is not fitted yet{besides}. Call 'fit' with appropriate "
        "arguments before using this estimator."
    )


def sum_of_own(log_p: Array, codes: Codes, sample_weight: ArrayLike | None) -> float:
    """Σ w·log p of the class of each row; a row of weight 0 does not count, even if its probability is 0."""
    own = log_p[np.arange(len(codes)), codes]
    if sample_weight is None:
        return float(own.sum())
    weights = checked_weights(sample_weight, len(own))
    return float(np.sum(weights[weights > 0] * own[weights > 0]))


def _forget_locks() -> None:
    """After a fork: locks held by threads that the child does not have would never be released."""
    global _NEW_LOCK  # noqa: PLW0603, the lock itself may be held
    _LOCKS.clear()
    _NEW_LOCK = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
