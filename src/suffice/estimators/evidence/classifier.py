"""EvidenceClassifier: generative evidence of many kinds, weighed by what it says on held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from suffice.engines.sources import is_lazy
from suffice.estimators.evidence.fitted import FittedEvidence, documents_as_table
from suffice.estimators.evidence.fitting import MOST_ROWS, Fitting, Options, Rows, fit_rows
from suffice.estimators.evidence.kept_rows import KeptRows
from suffice.estimators.evidence.learning import PENALTIES
from suffice.estimators.evidence.pieces import GROUPS, Group, Pieces
from suffice.estimators.evidence.saved import SavedEvidence
from suffice.estimators.evidence.sums import Parts, PieceSums
from suffice.estimators.settings import keep, with_kept_settings
from suffice.model.chosen_families import AllFamilies
from suffice.model.priors import Priors, PriorShift, class_priors, estimate_shift
from suffice.model.summarize import LabelledRows
from suffice.tables.container import Container
from suffice.tables.estimator_input import read_features, read_targets
from suffice.tables.files.batches import Labelled, LabelledBatch
from suffice.tables.notations import checked_marks
from suffice.tables.targets import labelled
from suffice.tables.wording import listed

TEXT = "text"
"""The name of the column that a list of documents is."""


class EvidenceClassifier(SavedEvidence):
    """Generative evidence of many kinds, each weighed by what it says on rows that it has not seen.

    A product of densities counts a fact as often as columns tell it. Here every piece of evidence has a
    weight: a_k(x) = log π_k + b_k + Σ_f w_f · log p_f(x | C_k). The densities come from sums, and the few
    weights from a softmax regression on held-out rows. Pieces are each column under its family, numbers once
    more in steps, whether cells are there, a joint Gaussian of all columns with one covariance and with one
    for each class, corrections of single cells, and pairs of columns. What does not pay on held-out rows
    counts less, or not at all: with few rows, all columns have one weight.

    Parameters
    ----------
    families : "infer", Family, dict or Schema, default="infer"
        The family of each column, as in BayesClassifier.
    priors : None, "uniform", array-like or dict, default=None
        Class priors: the class frequencies (None), equal ones, or the given ones (in the order of `classes_`,
        or by label).
    pieces : "all", list of str, or Pieces, default="all"
        The kinds of evidence to weigh: "columns" (always there), "steps", "presence", "joint", "cells" and
        "pairs". The `pieces_` of another model have the same sums, so that both can be merged.
    penalty : float, optional
        How much the weights of one kind of evidence are held together. By default held-out rows choose it.
    pairs : int, default=30
        The largest number of pairs of columns; 0 for none.
    cv : int, default=5
        The number of folds in which weights are judged.
    nonnegative : bool, default=False
        Whether no weight may be negative. A negative weight takes back what other evidence says too often.
    missing_marks : list of str, optional
        The texts that stand for a missing cell in columns of text, as in BayesClassifier.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class priors.
    weights_ : WeighedEvidence
        Every piece with its weight and the nats that it adds to held-out rows; prints as a table.
    bias_ : ndarray of shape (n_classes,)
        b_k, beside the log priors.
    pieces_ : Pieces
        What is weighed; pass it as `pieces=` to give another model the same.
    schema_ : Schema
        The family of each column and why it was chosen.
    generative_ : BayesClassifier
        The densities of the columns without weights: for `sample`, `novelty` and `score_samples`.
    statistics_ : Statistics
        The sums of the columns.
    prior_shift_ : PriorShift
        How `adapt_priors` found the priors; only on the model that it returns.

    Examples
    --------
    >>> import suffice
    >>> X, y = suffice.load_penguins()
    >>> model = suffice.EvidenceClassifier().fit(X, y)
    >>> model.predict(X.slice(0, 2)).tolist()
    ['Adelie', 'Adelie']
    """

    def __init__(
        self,
        families: AllFamilies = "infer",
        priors: Priors = None,
        *,
        pieces: Any = "all",
        penalty: float | None = None,
        pairs: int = 30,
        cv: int = 5,
        nonnegative: bool = False,
        missing_marks: Iterable[str] | None = None,
    ) -> None:
        self.families = families
        self.priors = priors
        self.pieces = pieces
        self.penalty = penalty
        self.pairs = pairs
        self.cv = cv
        self.nonnegative = nonnegative
        self.missing_marks = missing_marks

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model from scratch.

        Parameters
        ----------
        X : array-like, frame, dict of columns, list of dicts, or list of documents
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The fitted model.
        """
        if is_lazy(X):
            return self._fit_lazy(X, y, sample_weight)
        return self._atomically(lambda: self._learn(X, y, sample_weight))

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add rows to the sums; the weights stay as they are until `reweigh`. The first call is a `fit`.

        Parameters
        ----------
        X : array-like, frame, dict of columns, list of dicts, or list of documents
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        classes : array-like, optional
            Ignored: new classes may appear in any batch.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The changed model.
        """
        if not self._is_fitted():
            return self.fit(X, y, sample_weight)
        rows = self._rows(X, y, sample_weight)
        return self._atomically(lambda: self._replace(_sums_of(rows, self.pieces_), 1, "add these rows"))

    def forget(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Remove rows from the sums, as if they had never been fitted; the weights stay as they are.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or fitted model
            The rows to remove, or a model of them that has the same pieces.
        y : array-like of shape (n_samples,) or str, optional
            The class of each row, or the name of the column of X that holds it; leave it out for a model.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.

        Returns
        -------
        self : object
            The changed model.
        """
        self._require_fitted()
        if y is None:
            gone = self._sums_of_other(X, "forget")
        else:
            gone = _sums_of(self._rows(X, y, sample_weight), self.pieces_)
        return self._atomically(lambda: self._replace(gone, -1, "forget rows that were never fitted"))

    def merge(self, other: EvidenceClassifier) -> Self:
        """Add the rows of another model that has the same pieces; the weights of this model stay.

        Parameters
        ----------
        other : EvidenceClassifier
            A model that was fitted with `pieces=self.pieces_`.

        Returns
        -------
        self : object
            The changed model.
        """
        self._require_fitted()
        added = self._sums_of_other(other, "merge")
        return self._atomically(lambda: self._replace(added, 1, "merge"))

    def __add__(self, other: EvidenceClassifier) -> Self:
        if not isinstance(other, EvidenceClassifier):
            return NotImplemented
        return copy(self).merge(other)

    def reweigh(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, seen: bool = True) -> Self:
        """Learn the weights anew from some rows, and leave the sums as they are.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).
        y : array-like of shape (n_samples,) or str
            The class of each row, or the name of the column of X that holds it.
        sample_weight : array-like of shape (n_samples,), optional
            Weights ≥ 0; a row of weight k counts as k rows.
        seen : bool, default=True
            Whether the sums hold these rows. Then each fold is scored by the sums without it.

        Returns
        -------
        self : object
            The changed model.
        """
        rows = self._rows(X, y, sample_weight)
        return self._atomically(lambda: self._reweigh(rows, seen=seen))

    def _reweigh(self, rows: LabelledRows, *, seen: bool) -> None:
        """Learn the weights anew from rows, whose folds are subtracted if the sums hold them."""
        self._keep_settings(afresh=False)
        whole = self._learnt.sums.statistics()
        fitting = Fitting(Rows(rows), self.pieces_, self._options(), whole, subtracted=seen)
        learnt, sums = fitting.fitted().learnt, PieceSums.of(self.pieces_, whole)
        self._learnt = FittedEvidence(sums, learnt, rows.labels, self._learnt.container)

    def _learn(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        self._keep_settings()
        X, y = labelled(X, y)
        X, families = documents_as_table(X, self.families)
        table = read_features(self, X)
        rows = LabelledRows(table, read_targets(self, y), sample_weight)
        self._take_rows(rows, families, table.container)

    def _take_rows(self, rows: LabelledRows, families: AllFamilies, container: Container | None) -> None:
        """Fit to rows, from scratch."""
        options, given = self._options(), self.pieces if isinstance(self.pieces, Pieces) else None
        class_priors(self.priors, rows.labels, np.ones(len(rows.labels)))
        schema = rows.schema(families, checked_marks(self.missing_marks)) if given is None else given.schema
        fitted = fit_rows(rows, schema, options, given)
        self._learnt = FittedEvidence(fitted.sums, fitted.learnt, rows.labels, container)

    def _learn_files(self, files: Labelled) -> None:
        """Sum all batches; the weights are learnt again from rows of all of them, kept on the way."""

        def learn(batches: Iterator[LabelledBatch]) -> None:
            kept = KeptRows(MOST_ROWS)
            for number, batch in enumerate(batches):
                kept.add(batch)
                if number == 0:
                    self._learn(*batch)
                else:
                    rows = self._rows(*batch)
                    self._replace(_sums_of(rows, self.pieces_), 1, "add these rows")
            if kept.n_batches > 1:
                self._reweigh(self._rows(*kept.batch()), seen=True)

        self._atomically(lambda: files.through(learn))

    @with_kept_settings
    def _options(self) -> Options:
        """The settings, checked."""
        return Options(
            _checked_groups(self.pieces),
            PENALTIES if self.penalty is None else (_positive(self.penalty, "penalty"),),
            _whole(self.pairs, "pairs", 0),
            _whole(self.cv, "cv", 2),
            nonnegative=bool(self.nonnegative),
        )

    def _rows(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> LabelledRows:
        """Rows for a fitted model."""
        self._require_fitted()
        X, y = labelled(X, y)
        return LabelledRows(self._read(X, reset=False), read_targets(self, y), sample_weight)

    def _sums_of_other(self, other: Any, deed: str) -> Parts:
        """The sums of another model that has the same pieces."""
        if not isinstance(other, EvidenceClassifier):
            raise TypeError(f"{deed} takes a fitted EvidenceClassifier, got {type(other).__name__}.")
        difference = self.pieces_.difference(other.pieces_)
        if difference is not None:
            raise ValueError(
                f"cannot {deed} models with other pieces: {difference}; fit the other one with "
                "EvidenceClassifier(pieces=first.pieces_)."
            )
        return other._learnt.sums.statistics()  # noqa: SLF001, of the same class

    def _replace(self, parts: Parts, sign: int, deed: str) -> None:
        """Combine sums, and refuse those that no data could produce."""
        self._keep_settings(afresh=False)
        sums = PieceSums.of(self.pieces_, self._learnt.sums.statistics())
        sums.add(parts, sign)
        problem = sums.problem()
        if problem is not None:
            raise ValueError(f"cannot {deed}: {problem}.")
        self._learnt = replace(self._learnt, sums=sums, solution=None, shift=None)

    def __copy__(self) -> Self:
        model = type(self).__new__(type(self))
        model.__dict__ = dict(self.__dict__)
        if self._is_fitted():
            sums = PieceSums.of(self.pieces_, self._learnt.sums.statistics())
            model.__dict__["_learnt"] = replace(self._learnt, sums=sums)
        return model

    def with_priors(self, priors: Priors) -> Self:
        """Return a model with other class priors; nothing is refitted.

        Parameters
        ----------
        priors : "uniform", "empirical", array-like or dict
            The new priors, in the order of `classes_` or by label.

        Returns
        -------
        model : object
            A new model of the same class.
        """
        self._require_fitted()
        return self._under(priors, None)

    def adapt_priors(self, X: Any) -> Self:
        """Return a model whose class priors fit unlabelled rows, estimated by EM.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            The rows; cells may be missing (NaN, None or null).

        Returns
        -------
        model : object
            A new model of the same class; `prior_shift_` holds the priors and a test of the shift.
        """
        solved = self._solved_model()
        counted = float(solved.weight.sum()) if solved.estimated_priors else None
        shift = estimate_shift(self.predict_log_proba(X), solved.priors, solved.classes, counted, None)
        return self._under(shift.priors, shift)

    def _under(self, priors: Priors, shift: PriorShift | None) -> Self:
        solution = self._solved_model().with_priors(priors)
        model = copy(self)
        model.priors = priors
        learnt = replace(self._learnt, solution=solution, shift=shift)
        model.__dict__["_learnt"] = replace(learnt, sums=PieceSums.of(self.pieces_, learnt.sums.statistics()))
        model.__dict__["_kept"] = keep(model.get_params(deep=False), self._kept)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.categorical = True
        return tags


def _sums_of(rows: LabelledRows, pieces: Pieces) -> Parts:
    """The sums of some rows."""
    sums, labelled_rows = PieceSums.empty(pieces), Rows(rows)
    for some, table in labelled_rows.others(np.zeros(0, dtype=np.intp)):
        labelled_rows.add_to(sums, some, table)
    return sums.statistics()


def _checked_groups(pieces: Any) -> tuple[Group, ...]:
    """The kinds of evidence that a setting names."""
    if isinstance(pieces, Pieces) or (isinstance(pieces, str) and pieces in ("all", "given")):
        return GROUPS
    if isinstance(pieces, str) or not isinstance(pieces, Iterable):
        raise TypeError(f"pieces must be 'all' or a list of {listed(list(GROUPS))}, got {pieces!r}.")
    named = list(pieces)
    unknown = [one for one in named if one not in GROUPS]
    if unknown:
        raise ValueError(f"pieces must be of {listed(list(GROUPS))}, got {unknown[0]!r}.")
    return tuple(group for group in GROUPS if group in named)


def _positive(value: Any, name: str) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a positive number or None, got {value!r}.")
    return float(value)


def _whole(value: Any, name: str, least: int) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not is_whole or int(value) < least:
        raise ValueError(f"{name} must be a whole number ≥ {least}, got {value!r}.")
    return int(value)
